/* SPDX-License-Identifier: MIT */
#include "direct.h"
#include "standalone/exec_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/decimal.h"
#include "base/file_at.h"

#define SCRIPTS_MAX 5	/* Linux allows at most this number of nested interpreters */
#define SEGMENTS_MAX 64 /* maximum number of segments of a program */
#define HEAD_BYTES 256	/* number of bytes of a script that the kernel reads */
#define PATH_BYTES 1024

/* The ELF header of this object.  The linker defines its address. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Return true if this dynamic linker belongs to another C library. */
static bool is_foreign_loader(const char *path)
{
	const char *name = strrchr(path, '/');
	bool is_musl;

	name = name ? name + 1 : path;
	is_musl = strncmp(name, "ld-musl", 7) == 0;
#ifdef __GLIBC__
	return is_musl || strncmp(name, "linker", 6) == 0;
#else
	return !is_musl;
#endif
}

static long read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return px_read_at(fd, to, size, offset);
}

/*
 * A program without a dynamic linker does not load this object, but its children may load it.  So do not refuse such a
 * program.
 */
static bool refuses_elf(int fd, const ElfW(Ehdr) * header)
{
	ElfW(Phdr) segment;
	char loader[HEAD_BYTES];

	if (header->e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
	    header->e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
	    header->e_machine != __ehdr_start.e_machine)
		return true;
	if (header->e_phentsize != sizeof(segment))
		return false;
	for (uint32_t i = 0; i < header->e_phnum && i < SEGMENTS_MAX; i++) {
		long got;

		if (read_at(fd, &segment, sizeof(segment), header->e_phoff + i * sizeof(segment)) !=
		    sizeof(segment))
			return false;
		if (segment.p_type != PT_INTERP)
			continue;
		if (segment.p_filesz >= sizeof(loader))
			return false;
		got = read_at(fd, loader, segment.p_filesz, segment.p_offset);
		loader[got > 0 ? got : 0] = '\0';
		return is_foreign_loader(loader);
	}
	return false;
}

/* Put the path of the interpreter of a script at the start of `head`.  Return false if the file is not a script. */
static bool take_interpreter(char head[HEAD_BYTES])
{
	const char *from = head + 2;
	size_t length;

	if (head[0] != '#' || head[1] != '!')
		return false;
	from += strspn(from, " \t");
	length = strcspn(from, " \t\n");
	memmove(head, from, length);
	head[length] = '\0';
	return length > 0;
}

/* Open the file only if it is a regular file, because opening a device or a pipe may have an effect. */
static long open_file(int directory, const char *path)
{
	struct stat status;

	if (fstatat(directory, path, &status, 0) != 0 || !S_ISREG(status.st_mode))
		return -1;
	return syscall(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC);
}

static PX_NOINLINE bool refuses_open(long fd)
{
	union {
		ElfW(Ehdr) elf;
		char text[HEAD_BYTES];
	} head;

	for (int i = 0; i <= SCRIPTS_MAX && fd >= 0; i++) {
		long got = read_at((int)fd, head.text, sizeof(head) - 1, 0);
		bool is_elf = got >= (long)sizeof(head.elf) &&
			      memcmp(head.text, ELFMAG, SELFMAG) == 0;
		bool refuses = is_elf && refuses_elf((int)fd, &head.elf);

		syscall(SYS_close, fd);
		head.text[got > 0 ? got : 0] = '\0';
		if (is_elf || !take_interpreter(head.text))
			return refuses;
		fd = open_file(AT_FDCWD, head.text);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return false;
}

bool px_exec_image_refuses(int directory, const char *path)
{
	char link[16 + PX_DECIMAL_DIGITS] = "/proc/self/fd/";
	int saved_errno = errno;
	bool refuses;

	if (!path) { /* the descriptor may have no permission to read */
		*px_decimal_put(link + strlen(link), (uint32_t)directory) = '\0';
		path = link;
	}
	refuses = refuses_open(open_file(directory, path));
	errno = saved_errno;
	return refuses;
}

static const char *search_path(void)
{
	for (char *const *entry = environ; entry && *entry; entry++)
		if (strncmp(*entry, "PATH=", 5) == 0)
			return *entry + 5;
	return "/bin:/usr/bin";
}

bool px_exec_image_refuses_found(const char *file)
{
	size_t length = strnlen(file, PATH_BYTES);
	int saved_errno = errno;
	bool found = false;
	char path[PATH_BYTES];

	if (strchr(file, '/'))
		return px_exec_image_refuses(AT_FDCWD, file);
	for (const char *at = search_path(); !found; at++) {
		size_t directory = strcspn(at, ":");

		if (length > 0 && directory + length + 2 <= sizeof(path)) {
			char *end = mempcpy(path, at, directory);

			if (directory > 0)
				*end++ = '/';
			memcpy(end, file, length + 1);
			found = syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0;
		}
		at += directory;
		if (!*at)
			break;
	}
	errno = saved_errno;
	return found && px_exec_image_refuses(AT_FDCWD, path);
}
