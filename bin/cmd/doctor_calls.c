/* SPDX-License-Identifier: MIT */
#include "cmd/doctor_calls.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/elffile.h"

/*
 * Read the libraries of a program from the output of its loader. A line is NAME => PATH (ADDRESS), or PATH (ADDRESS).
 */
static void read_libraries(struct diagnosis *diagnosis, FILE *lines)
{
	static const char failure[] = "error while loading shared libraries: ";
	char line[PATH_MAX + 256];

	while (fgets(line, sizeof(line), lines)) {
		char *path = strstr(line, " => "), *wrong = strstr(line, failure);

		line[strcspn(line, "\n")] = '\0';
		if (wrong) {
			diagnosis_add(&diagnosis->obstacles, "a library is missing: %s",
			    wrong + strlen(failure));
			continue;
		}
		path = path ? path + strlen(" => ") : line + strspn(line, " \t");
		path[strcspn(path, " ")] = '\0';
		if (*path == '/')
			imports_add(&diagnosis->imports, path);
	}
}

/*
 * Return true if this is the loader that also loaded this tool. The tool runs no other loader, because another loader
 * could be code of the program.
 */
static bool is_own_loader(const char *loader)
{
	struct elffile own;
	bool is_own = elffile_open(&own, "/proc/self/exe") && own.interpreter &&
		      strcmp(own.interpreter, loader) == 0;

	elffile_close(&own);
	return is_own;
}

/* The program may have libraries beside its file.  The loader finds them only if the path has no links. */
static bool spawn_loader(const char *loader, const char *program, int output, pid_t *pid)
{
	char real[PATH_MAX];
	char *const arguments[] = {(char *)(uintptr_t)loader, (char *)(uintptr_t) "--list",
				   (char *)(uintptr_t)(realpath(program, real) ?: program), NULL};
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	error = posix_spawn(pid, loader, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error == 0;
}

void doctor_list_libraries(struct diagnosis *diagnosis, const char *loader, const char *program)
{
	int ends[2];
	FILE *lines;
	pid_t pid;

	if (!is_own_loader(loader) || pipe2(ends, O_CLOEXEC) != 0) {
		diagnosis_add(&diagnosis->annotations,
		    "cannot find out which libraries it needs: %s is not run", loader);
		return;
	}
	unsetenv("LD_PRELOAD");
	lines = fdopen(ends[0], "re");
	if (lines && spawn_loader(loader, program, ends[1], &pid)) {
		close(ends[1]);
		read_libraries(diagnosis, lines);
		waitpid(pid, NULL, 0);
	} else {
		close(ends[1]);
	}
	if (lines)
		fclose(lines);
}

/* A file has several consecutive mappings. */
void doctor_list_mapped(struct diagnosis *diagnosis, pid_t pid)
{
	char path[64], line[PATH_MAX + 256], last[PATH_MAX] = "";
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	imports_add(&diagnosis->imports, path);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		char *name = strchr(line, '/');

		if (!name || !strstr(line, " r-xp "))
			continue;
		name[strcspn(name, "\n")] = '\0';
		if (strcmp(name, last) != 0)
			imports_add(&diagnosis->imports, name);
		snprintf(last, sizeof(last), "%s", name);
	}
	if (maps)
		fclose(maps);
}

/* Such a library makes system calls without a function of the C library. */
static bool calls_kernel(const char *file)
{
	return strncmp(file, "liburing.so", 11) == 0 || strncmp(file, "libaio.so", 9) == 0;
}

/* Rust makes system calls by a function of the C library, and Go does not. */
void doctor_add_language(struct diagnosis *diagnosis)
{
	const struct imports *imports = &diagnosis->imports;

	if (!imports->language)
		return;
	if (strcmp(imports->language, "Rust") == 0 && imports->calls_system)
		diagnosis_add(&diagnosis->annotations,
		    "the program is written in Rust: its own locks use futexes, of which waits and wake-ups are "
		    "recorded");
	else
		diagnosis_add(&diagnosis->annotations,
		    "the program is written in %s: its own locks and waits are not recorded%s", imports->language,
		    diagnosis->has_switches ? "; its switches show when it was blocked, but not for what" : "");
}

void doctor_add_imports(struct diagnosis *diagnosis)
{
	const struct imports *imports = &diagnosis->imports;
	unsigned int nr_locks = 0;

	for (size_t i = 0; i < nr_wrappers; i++) {
		nr_locks += wrapper_get(i).is_lock && imports_has_any(imports, i);
		if (imports->nr_files > 0 && imports->defines[i])
			diagnosis_add(&diagnosis->annotations,
			    "the program has its own %s: calls of this function are not recorded",
			    wrapper_get(i).symbol);
	}
	for (size_t i = 0; i < imports->nr_files; i++)
		if (calls_kernel(imports->file[i]))
			diagnosis_add(&diagnosis->annotations,
			    "it uses %s, which makes its system calls itself: waits in functions of this library are "
			    "not recorded",
			    imports->file[i]);
	if (nr_locks == 0 && imports->nr_files > 0)
		diagnosis_add(&diagnosis->annotations,
		    imports->calls_system ? "no lock of pthreads is called, but %s calls "
					    "syscall(): it may use futexes directly" :
					    "no lock of pthreads is called",
		    imports->calls_system);
	if (imports->opens_libraries)
		diagnosis_add(&diagnosis->annotations,
		    "it opens libraries while it runs: they are not listed here, and calls of a library opened with "
		    "RTLD_DEEPBIND are not recorded");
}
