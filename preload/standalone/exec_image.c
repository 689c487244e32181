/* SPDX-License-Identifier: MIT */
#include "direct.h"
#include "standalone/exec_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/decimal.h"
#include "base/file_at.h"
#include "base/other_size.h"
#include "file_status.h"

#define SCRIPTS_MAX 5	/* Linux allows at most this number of nested interpreters */
#define SEGMENTS_MAX 64 /* maximum number of segments of a program */
#define HEAD_BYTES 256	/* number of bytes of a script that the kernel reads */

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

/* The start of a file. */
union head {
	Elf32_Ehdr small;
	Elf64_Ehdr large;
	char text[HEAD_BYTES];
};

/* A program header, of either size. */
struct segment {
	uint32_t type;
	uint64_t offset, size;
};

static bool read_segment(int fd, const union head *head, uint32_t i, struct segment *segment)
{
	bool is_large = head->small.e_ident[EI_CLASS] == ELFCLASS64;
	union {
		Elf32_Phdr small;
		Elf64_Phdr large;
	} header;
	uint64_t size = is_large ? sizeof(header.large) : sizeof(header.small);
	uint64_t at = is_large ? head->large.e_phoff : head->small.e_phoff;

	if ((is_large ? head->large.e_phentsize : head->small.e_phentsize) != size ||
	    i >= (is_large ? head->large.e_phnum : head->small.e_phnum) ||
	    read_at(fd, &header, size, at + i * size) != (long)size)
		return false;
	segment->type = is_large ? header.large.p_type : header.small.p_type;
	segment->offset = is_large ? header.large.p_offset : header.small.p_offset;
	segment->size = is_large ? header.large.p_filesz : header.small.p_filesz;
	return true;
}

static bool is_for_foreign_loader(int fd, const union head *head)
{
	struct segment segment;
	char loader[HEAD_BYTES];
	long got;

	for (uint32_t i = 0; i < SEGMENTS_MAX && read_segment(fd, head, i, &segment); i++) {
		if (segment.type != PT_INTERP)
			continue;
		if (segment.size >= sizeof(loader))
			return false;
		got = read_at(fd, loader, segment.size, segment.offset);
		loader[got > 0 ? got : 0] = '\0';
		return is_foreign_loader(loader);
	}
	return false;
}

static bool is_of_our_size(const union head *head)
{
	return head->small.e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
	       head->small.e_ident[EI_DATA] == __ehdr_start.e_ident[EI_DATA] &&
	       head->small.e_machine == __ehdr_start.e_machine;
}

static bool is_of_other_size(const union head *head)
{
	return px_is_other_size(head->small.e_ident[EI_CLASS], head->small.e_ident[EI_DATA], head->small.e_machine);
}

/*
 * A program without a dynamic linker does not load this object, but its children may load it.  So do not refuse such a
 * program.
 */
static enum px_image judge(int fd, const union head *head)
{
	if (!is_of_our_size(head) && !is_of_other_size(head))
		return PX_IMAGE_REFUSES;
	if (is_for_foreign_loader(fd, head))
		return PX_IMAGE_REFUSES;
	return is_of_our_size(head) ? PX_IMAGE_FINE : PX_IMAGE_OTHER_SIZE;
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
	px_status status;

	if (px_status_at(directory, path, &status, 0) != 0 || !S_ISREG(status.st_mode))
		return -1;
	return syscall(SYS_openat, directory, path, O_RDONLY | O_CLOEXEC | O_LARGEFILE);
}

/* Read the start of a file.  Return its length. */
static long read_head(long fd, union head *head)
{
	long got = read_at((int)fd, head->text, sizeof(*head) - 1, 0);

	head->text[got > 0 ? got : 0] = '\0';
	return got;
}

static bool is_elf(const union head *head, long length)
{
	return length >= (long)sizeof(head->large) && memcmp(head->text, ELFMAG, SELFMAG) == 0;
}

static PX_NOINLINE enum px_image inspect_open(long fd)
{
	union head head;

	for (int i = 0; i <= SCRIPTS_MAX && fd >= 0; i++) {
		long length = read_head(fd, &head);
		bool ends = is_elf(&head, length);
		enum px_image image = ends ? judge((int)fd, &head) : PX_IMAGE_FINE;

		syscall(SYS_close, fd);
		if (ends || !take_interpreter(head.text))
			return image;
		fd = open_file(AT_FDCWD, head.text);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return PX_IMAGE_FINE;
}

enum px_image px_exec_image(int directory, const char *path)
{
	char link[16 + PX_DECIMAL_DIGITS] = "/proc/self/fd/";
	int saved_errno = errno;
	enum px_image image;

	if (!path) { /* the descriptor may have no permission to read */
		*px_decimal_put(link + strlen(link), (uint32_t)directory) = '\0';
		path = link;
	}
	image = inspect_open(open_file(directory, path));
	errno = saved_errno;
	return image;
}

bool px_exec_image_other_object(const char *own, char path[PX_IMAGE_PATH_MAX])
{
	int saved_errno = errno;
	bool found = false;
	union head head;

	for (unsigned int i = 0; !found && px_other_size_path(own, i, path, PX_IMAGE_PATH_MAX); i++) {
		long fd = open_file(AT_FDCWD, path);

		if (fd < 0)
			continue;
		found = is_elf(&head, read_head(fd, &head)) && is_of_other_size(&head);
		syscall(SYS_close, fd);
	}
	errno = saved_errno;
	return found;
}

static const char *search_path(void)
{
	for (char *const *entry = environ; entry && *entry; entry++)
		if (strncmp(*entry, "PATH=", 5) == 0)
			return *entry + 5;
	return "/bin:/usr/bin";
}

enum px_image px_exec_image_found(const char *file)
{
	size_t length = strnlen(file, PX_IMAGE_PATH_MAX);
	int saved_errno = errno;
	bool found = false;
	char path[PX_IMAGE_PATH_MAX];

	if (strchr(file, '/'))
		return px_exec_image(AT_FDCWD, file);
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
	return found ? px_exec_image(AT_FDCWD, path) : PX_IMAGE_FINE;
}
