/* SPDX-License-Identifier: MIT */
#include "live/target.h"
#include "../lib/base/layout.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"

#define LINE_BYTES (PATH_MAX + 256)
#define FLAG_EXITING 4U /* PF_EXITING; no header of the C library defines this */

static FILE *open_of(pid_t pid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	return fopen(path, "re");
}

const char *target_registry(uid_t uid)
{
	static char path[PATH_MAX + sizeof("/" PX_LAYOUT_REGISTRY)];
	const char *own = getenv("TXTRACE_DIR");
	char real[PATH_MAX];

	if (uid == geteuid() && own && *own && realpath(own, real))
		snprintf(path, sizeof(path), "%s/" PX_LAYOUT_REGISTRY, real);
	else
		snprintf(path, sizeof(path), "/dev/shm/posixtrace-%u/" PX_LAYOUT_REGISTRY, (unsigned int)uid);
	return path;
}

/* Return true for the name of a registry of any layout.  The first ones had no number. */
static bool is_registry(const char *name)
{
	static const char begin[] = "registry";
	const size_t length = sizeof(begin) - 1;

	return strncmp(name, begin, length) == 0 &&
	       (!name[length] || (name[length] == '.' && name[length + 1] &&
				  !name[length + 1 + strspn(name + length + 1, "0123456789")]));
}

/*
 * A program that is linked with the static library maps only the registry. A program that has no shared memory maps
 * only the shared library.
 */
static void read_mappings(struct target *target)
{
	FILE *maps = open_of(target->pid, "maps");
	bool is_ours = false, has_our_layout = false;
	char line[LINE_BYTES];

	while (maps && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (strstr(path, "/libposixtrace.so"))
			target->has_library = true;
		if (!strstr(line, " rw-s ") || !is_registry(name_of(path)))
			continue;
		target->has_registry = target->has_library = true;
		is_ours |= strcmp(path, target_registry(target->uid)) == 0;
		has_our_layout |= strcmp(name_of(path), PX_LAYOUT_REGISTRY) == 0;
	}
	target->has_other_registry = target->has_registry && !is_ours;
	target->has_other_layout = target->has_registry && !has_our_layout;
	if (maps)
		fclose(maps);
}

/*
 * Return true for an ELF file without an interpreter. Such a file uses no shared libraries. p_type is the first member
 * of a program header, in 32-bit and in 64-bit files.
 */
static bool is_static_elf(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr small;
		Elf64_Ehdr large;
	} header;
	bool is_large;
	uint64_t offset;
	uint32_t type;
	int nr, size;

	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.ident, ELFMAG, SELFMAG) != 0)
		return false;
	is_large = header.ident[EI_CLASS] == ELFCLASS64;
	offset = is_large ? header.large.e_phoff : header.small.e_phoff;
	nr = is_large ? header.large.e_phnum : header.small.e_phnum;
	size = is_large ? header.large.e_phentsize : header.small.e_phentsize;
	for (int i = 0; i < nr; i++) {
		uint64_t at = offset + (uint64_t)i * (uint64_t)size;

		if (pread(fd, &type, sizeof(type), (off_t)at) != sizeof(type))
			return false;
		if (type == PT_INTERP)
			return false;
	}
	return true;
}

static void inspect_program(struct target *target)
{
	char link[64];
	ssize_t length;
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)target->pid);
	length = readlink(link, target->program, sizeof(target->program) - 1);
	target->is_hidden = length < 0 && errno == EACCES;
	target->program[length < 0 ? 0 : length] = '\0';
	fd = length < 0 ? -1 : open(link, O_RDONLY | O_CLOEXEC);
	target->is_static = fd >= 0 && is_static_elf(fd);
	if (fd >= 0)
		close(fd);
}

static bool is_secure(const struct target *target)
{
	FILE *file = open_of(target->pid, "auxv");
	unsigned long pair[2];
	bool found = false;

	while (file && fread(pair, sizeof(pair), 1, file) == 1 && pair[0] != AT_NULL)
		found |= pair[0] == AT_SECURE && pair[1] != 0;
	if (file)
		fclose(file);
	return found;
}

/* Read the status of the process. Return false for a zombie: it has no memory, so nothing else can be read. */
static bool read_status(struct target *target)
{
	FILE *file = open_of(target->pid, "status");
	char line[LINE_BYTES], name[NAME_MAX + 1] = "?", state = 'Z';
	unsigned int uid = 0, seccomp = 0;

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "Name: %255[^\n]", name);
		sscanf(line, "State: %c", &state);
		sscanf(line, "Uid: %*u %u", &uid);
		sscanf(line, "Seccomp: %u", &seccomp);
	}
	if (file)
		fclose(file);
	if (!file || state == 'Z' || state == 'X')
		return false;
	snprintf(target->name, sizeof(target->name), "%s", name);
	target->uid = uid;
	target->is_filtered = seccomp == 2; /* SECCOMP_MODE_FILTER */
	return true;
}

/*
 * Return true if the process is exiting. The flags in /proc/PID/stat show this first. The state stays "running" until
 * the process is a zombie, which takes a long time if the process has much memory to free. The name in that file may
 * contain any characters, so search for the last parenthesis.
 */
static bool is_ending(pid_t pid)
{
	FILE *file = open_of(pid, "stat");
	char text[1024], *end;
	unsigned int flags;
	size_t length = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[length] = '\0';
	end = strrchr(text, ')');
	if (!end || sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return true;
	return (flags & FLAG_EXITING) != 0;
}

bool target_inspect(struct target *target, pid_t pid)
{
	struct target seen = {.pid = pid};

	if (!read_status(&seen))
		return false;
	inspect_program(&seen);
	read_mappings(&seen);
	seen.is_secure = is_secure(&seen);
	/* If the process has ended in the meantime, all its files in /proc are empty. */
	if (!read_status(&seen) || is_ending(pid))
		return false;
	*target = seen;
	return true;
}

bool target_find_command(const char *command, char path[PATH_MAX])
{
	const char *directory = getenv("PATH");

	if (strchr(command, '/')) {
		snprintf(path, PATH_MAX, "%s", command);
		return true;
	}
	while (directory && *directory) {
		int length = (int)strcspn(directory, ":");

		snprintf(path, PATH_MAX, "%.*s/%s", length, directory, command);
		if (may_access(path, X_OK) == 0)
			return true;
		directory += length + (directory[length] == ':');
	}
	return false;
}

bool target_gives_rights(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	if (((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
	    ((status.st_mode & S_ISGID) && status.st_gid != getegid()))
		return true;
	return geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

void target_expect(struct target *target, const char *command)
{
	int fd;

	*target = (struct target){.uid = geteuid()};
	snprintf(target->name, sizeof(target->name), "%s", name_of(command));
	if (!target_find_command(command, target->program)) {
		target->program[0] = '\0';
		return;
	}
	target->is_secure = target_gives_rights(target->program);
	fd = open(target->program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	target->is_static = fd >= 0 && is_static_elf(fd);
	if (fd >= 0)
		close(fd);
}

bool target_has_object(pid_t pid, const char *object)
{
	FILE *maps = open_of(pid, "maps");
	char line[LINE_BYTES];
	bool has = false;

	while (maps && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		has |= strchr(line, '/') && strcmp(name_of(line), object) == 0;
	}
	if (maps)
		fclose(maps);
	return has;
}

bool target_maps(pid_t pid, const char *path)
{
	FILE *maps = open_of(pid, "maps");
	char line[LINE_BYTES];
	bool has = false;

	while (maps && !has && fgets(line, sizeof(line), maps)) {
		const char *mapped = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		has = mapped && strcmp(mapped, path) == 0;
	}
	if (maps)
		fclose(maps);
	return has;
}

bool target_has_stream(pid_t pid)
{
	FILE *maps = open_of(pid, "maps");
	char line[LINE_BYTES];
	bool has = false;

	while (maps && fgets(line, sizeof(line), maps)) {
		const char *name = strrchr(line, '/');
		unsigned int slot, generation;

		if (name && strstr(line, " rw-s ") &&
		    sscanf(name, "/" PX_LAYOUT_PREFIX("stream") "%u.%u", &slot, &generation) == 2)
			has = true;
	}
	if (maps)
		fclose(maps);
	return has;
}

static const char *shown_program(const struct target *target)
{
	return target->program[0] ? target->program : target->name;
}

bool target_is_traceable(const struct target *target)
{
	return target->has_library && !target->has_other_registry && !target->is_secure &&
	       !target->is_hidden;
}

bool target_is_plain(const struct target *target)
{
	return !target->has_library && !target->has_other_registry && !target->is_secure && !target->is_hidden &&
	       !target->is_static;
}

const char *target_other_registry(const struct target *target)
{
	return target->has_other_layout ? "still runs with another version of libposixtrace than this tool, until you "
					  "start it again"
					: "was started with another TXTRACE_DIR";
}

void target_explain_waiting(const struct target *target)
{
	if (target->has_other_registry)
		message("process %d (%s) %s; waiting until it executes another program", (int)target->pid, target->name,
			target_other_registry(target));
	else
		message("process %d (%s) does not use libposixtrace; waiting until it executes a "
			"program that does; to record "
			"this one, start it with LD_PRELOAD=libtxtrace-preload.so, and attach then, or record only "
			"which threads have a CPU, with --sched-only",
			(int)target->pid, target->name);
}

const char *target_file_name(struct target *target)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(target->program), end = sizeof(deleted) - 1;

	if (length > end && strcmp(target->program + length - end, deleted) == 0)
		target->program[length - end] = '\0';
	return target->program[0] ? name_of(target->program) : target->name;
}

void target_explain_attached(const struct target *target)
{
	message("%s did not use libposixtrace, as far as is known; start it with LD_PRELOAD=libtxtrace-preload.so, and "
		"attach then, or record only which threads have a CPU, with --sched-only",
		shown_program(target));
}

void target_explain(const struct target *target, bool inherits)
{
	const char *program = shown_program(target);

	if (target->is_secure)
		message("%s has rights from its file (set-user-ID, set-group-ID or capabilities): other processes "
			"cannot trace it",
			program);
	else if (target->is_hidden)
		message("%s does not allow others to read its memory, like a program with rights "
			"from its file (set-user-ID, ...)",
			program);
	else if (target->has_other_registry)
		message("%s cannot find this trace: it %s", program, target_other_registry(target));
	else if (target->has_library)
		message("%s uses libposixtrace, but recorded no event%s", program,
			target->is_filtered ? ". A system call filter is active; a process that set one that may kill "
					      "it cannot attach to a later trace" :
					      "");
	else if (target->is_static)
		message("%s is linked statically, without libposixtrace", program);
	else if (inherits)
		message("neither %s nor the programs that it started used libposixtrace, as far as is known; --preload "
			"records programs that do not use it",
			program);
	else
		message("%s did not use libposixtrace, as far as is known; --preload records a program that does not "
			"use "
			"it, and --inherit also traces the programs that it starts",
			program);
}
