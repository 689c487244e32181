/* SPDX-License-Identifier: MIT */
#include "live/preload.h"
#include "../lib/base/other_size.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/message.h"
#include "live/preload_sizes.h"
#include "live/target.h"
#include "trace/calltable.h"
#include "trace/elffile.h"

#define SCRIPTS_MAX 5 /* Linux allows at most this number of nested interpreters */
#define LINE_BYTES 256

/* Find the preloaded object. */

static void find_tool(char program[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", program, PATH_MAX - 1);

	program[length < 0 ? 0 : length] = '\0';
}

/* Cut the last component of a path, if it is this one, or any one. */
static bool cut_component(char *path, const char *name)
{
	char *slash = strrchr(path, '/');

	if (!slash || (name && strcmp(slash + 1, name) != 0))
		return false;
	*slash = '\0';
	return true;
}

/* The object of the build, if the tool is not installed: it is in bin/.libs if libtool made a script in bin. */
static bool find_in_build(char object[PATH_MAX])
{
	char program[PATH_MAX];

	find_tool(program);
	cut_component(program, NULL);
	cut_component(program, ".libs");
	return cut_component(program, "bin") &&
	       snprintf(object, PATH_MAX, "%.*s/preload/.libs/" PRELOAD_OBJECT, PATH_MAX - 64, program) > 0 &&
	       may_access(object, R_OK) == 0;
}

/*
 * If what was installed was moved as a whole, find the object: the way from the tool to it is that from BINDIR to
 * LIBDIR.
 */
static bool find_moved(char object[PATH_MAX])
{
	char program[PATH_MAX], *end;
	size_t shared = 0, length;

	for (size_t i = 0; BINDIR[i] && BINDIR[i] == LIBDIR[i]; i++)
		if (BINDIR[i] == '/')
			shared = i + 1;
	find_tool(program);
	end = strrchr(program, '/');
	length = strlen(BINDIR) - shared;
	if (!end || (size_t)(end - program) <= length || memcmp(end - length, &BINDIR[shared], length) != 0 ||
	    end[-(ptrdiff_t)length - 1] != '/')
		return false;
	end[-(ptrdiff_t)length] = '\0';
	return snprintf(object, PATH_MAX, "%.*s%s/" PRELOAD_OBJECT, PATH_MAX / 2, program, &LIBDIR[shared]) <
		       PATH_MAX &&
	       may_access(object, R_OK) == 0;
}

/* The user may name the objects of both sizes, with $LIB as the dynamic loader replaces it. */
static bool real_object(const char *own, char object[PATH_MAX])
{
	static const char *const libs[] = {PX_LIBS};
	const char *lib = strstr(own, "$LIB");
	char path[PATH_MAX];

	if (!lib)
		return realpath(own, object) != NULL;
	for (size_t i = 0; i < sizeof(libs) / sizeof(libs[0]); i++)
		if (snprintf(path, sizeof(path), "%.*s%s%s", (int)(lib - own), own, libs[i], lib + strlen("$LIB")) <
			    (int)sizeof(path) &&
		    realpath(path, object))
			return true;
	return false;
}

/* With another object, no call would be recorded.  A file that is no ELF file is refused later. */
static bool is_another(const char *object)
{
	struct elffile_symbol symbol;
	struct elffile file;
	bool wraps = false, is_library = false;

	if (!elffile_open(&file, object))
		return false;
	for (size_t i = 0; elffile_next_symbol(&file, &i, &symbol);) {
		wraps |= symbol.is_defined && strcmp(symbol.name, "pthread_mutex_lock") == 0;
		is_library |= symbol.is_defined && strcmp(symbol.name, "txtrace_get_loss") == 0;
	}
	elffile_close(&file);
	return !wraps || !is_library;
}

bool preload_find(char object[PATH_MAX], char *why_not, size_t size)
{
	const char *own = getenv("TXTRACE_PRELOAD");

	if (own && *own) {
		if (!real_object(own, object)) {
			snprintf(why_not, size, "TXTRACE_PRELOAD, %s: %s", own, strerror(errno));
			return false;
		}
		if (is_another(object)) {
			snprintf(why_not, size, "TXTRACE_PRELOAD, %s: this is another object than " PRELOAD_OBJECT,
				 own);
			return false;
		}
	} else if (!find_in_build(object) && !find_moved(object)) {
		snprintf(object, PATH_MAX, "%s", LIBDIR "/" PRELOAD_OBJECT);
		if (may_access(object, R_OK) != 0) {
			snprintf(why_not, size, "%s: %s; set TXTRACE_PRELOAD to its path", object,
				 strerror(errno));
			return false;
		}
	}
	if (!strpbrk(object, ": \t\n"))
		return true;
	snprintf(why_not, size, "%s: a path with a blank or a colon cannot be preloaded", object);
	return false;
}

/* The program that a command executes. */

__attribute__((format(printf, 2, 3))) static void refuse(struct preload_program *program,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(program->why_not, sizeof(program->why_not), format, arguments);
	va_end(arguments);
}

/*
 * If the first line of a script runs env(1), find the program that env executes. This is the first word that is neither
 * an option nor an assignment.
 */
static bool follow_env(char *words, char path[PATH_MAX])
{
	for (char *word; (word = strsep(&words, " \t"));)
		if (*word && *word != '-' && !strchr(word, '='))
			return target_find_command(word, path);
	return false;
}

/* Get the text after #! in the first line of a file. Return false if the file is not a script. */
static bool find_interpreter(const char *file, char path[PATH_MAX], bool *is_by_env)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[LINE_BYTES + 1] = "", *word, *rest;
	ssize_t length = fd < 0 ? -1 : read(fd, line, LINE_BYTES);

	if (fd >= 0)
		close(fd);
	if (length < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[strcspn(line, "\n")] = '\0';
	rest = line + 2 + strspn(line + 2, " \t");
	word = strsep(&rest, " \t");
	if (strcmp(name_of(word), "env") == 0 && rest && follow_env(rest, path))
		return *is_by_env = true;
	snprintf(path, PATH_MAX, "%s", word);
	return true;
}

/* Find the file that the kernel executes in the end. If a file is neither ELF nor a script, a shell reads the file. */
static bool open_program(struct preload_program *program)
{
	char interpreter[PATH_MAX];

	snprintf(program->program, sizeof(program->program), "%s", program->file);
	for (int i = 0; i <= SCRIPTS_MAX; i++) {
		if (elffile_open(&program->elf, program->program))
			return true;
		if (errno != ENOEXEC) {
			refuse(program, "%s: %s", program->program, strerror(errno));
			return false;
		}
		snprintf(interpreter, sizeof(interpreter), "/bin/sh");
		find_interpreter(program->program, interpreter, &program->is_by_env);
		memcpy(program->program, interpreter, sizeof(interpreter));
	}
	refuse(program, "%s: there are too many scripts that interpret each other", program->file);
	return false;
}

/*
 * Return true for the loader of musl. The object works only with the C library for which it was built. Other C
 * libraries have loaders with other names.
 */
static bool is_musl(const char *loader)
{
	return strncmp(name_of(loader), "ld-musl", strlen("ld-musl")) == 0;
}

static bool is_of_other_c_library(const char *loader)
{
#ifdef __GLIBC__
	return is_musl(loader) || strncmp(name_of(loader), "linker", strlen("linker")) == 0;
#else
	return !is_musl(loader);
#endif
}

static void find_sanitizer(struct preload_program *program)
{
	const char *needed;
	size_t i = 0;

	while ((needed = elffile_next_needed(&program->elf, &i)))
		if (strncmp(needed, "libasan.so", strlen("libasan.so")) == 0 ||
		    strncmp(needed, "libclang_rt.asan", strlen("libclang_rt.asan")) == 0)
			snprintf(program->sanitizer, sizeof(program->sanitizer), "%s", needed);
}

/* Choose the object for the program. Return false if there is none for a program of this kind. */
static bool choose_object(struct preload_program *program, const struct elffile *own, const char *object)
{
	const struct elffile *elf = &program->elf;
	bool is_same = elf->elf_class == own->elf_class && elf->order == own->order && elf->machine == own->machine;
	bool is_other = px_is_other_size(elf->elf_class, elf->order, elf->machine), has_other;
	char other[PATH_MAX];

	has_other = preload_other_size(object, other);
	if (is_same || (is_other && has_other))
		preload_entry(object, has_other ? other : NULL, !is_same, program->entry);
	else
		refuse(program, "%s is %s, and " PRELOAD_OBJECT " is %s%s", program->program, elffile_kind(elf),
		       elffile_kind(own), is_other ? "; the one for such programs is not installed" : "");
	return !program->why_not[0];
}

static void judge(struct preload_program *program, const char *object)
{
	const struct elffile *elf = &program->elf;
	struct elffile own;

	if (!elffile_open(&own, object)) {
		refuse(program, "%s: %s", object, strerror(errno));
		return;
	}
	if (!choose_object(program, &own, object)) {
		elffile_close(&own);
		return;
	}
	if (!elf->is_program)
		refuse(program, "%s is no program", program->program);
	else if (!elf->interpreter)
		refuse(program,
		       "%s is linked statically: nothing is loaded into it, so it has to use "
		       "libposixtrace itself; record --sched-only shows which of its threads have a CPU",
		       program->program);
	else if (is_of_other_c_library(elf->interpreter))
		refuse(program,
		       "%s is loaded by %s, of another C library than " PRELOAD_OBJECT " is for",
		       program->program, elf->interpreter);
	else if (target_gives_rights(program->program))
		refuse(program,
		       "%s has rights from its file (set-user-ID, set-group-ID or capabilities): the dynamic loader "
		       "does not load the object into it",
		       program->program);
	elffile_close(&own);
}

void preload_inspect(struct preload_program *program, const char *command, const char *object)
{
	*program = (struct preload_program){0};
	if (!target_find_command(command, program->file) || may_access(program->file, F_OK) != 0) {
		program->file[0] = '\0';
		refuse(program, "%s: %s", command, strerror(ENOENT));
		return;
	}
	if (!open_program(program))
		return;
	find_sanitizer(program);
	judge(program, object);
}

void preload_end(struct preload_program *program)
{
	elffile_close(&program->elf);
}

/* The environment of the program. */

const char *preload_match(const struct preload_program *program)
{
	char real[PATH_MAX], *text;
	size_t length = strlen("match=^");

	if (!realpath(program->program, real))
		return "no";
	text = malloc(length + 2 * strlen(real) + sizeof("$"));
	if (!text)
		return NULL;
	memcpy(text, "match=^", length);
	for (const char *at = real; *at; at++) {
		if (strchr("\\.[]()*+?{}|^$", *at))
			text[length++] = '\\';
		text[length++] = *at;
	}
	memcpy(text + length, "$", sizeof("$"));
	return text;
}

static bool is_group(const char *word, size_t length)
{
	return calltable_is_group(word, length) ||
	       (length == strlen("all") && strncmp(word, "all", length) == 0);
}

static bool check_events(const char *events)
{
	do {
		const char *word = events + (*events == '+' || *events == '-');
		size_t length = strcspn(word, ",");

		if (!is_group(word, length)) {
			message("--events does not know %.*s; groups of calls are in "
				"txtrace-record(1)",
				(int)length, word);
			return false;
		}
		events = word + length + (word[length] == ',');
	} while (*events);
	return true;
}

static bool check_children(const char *children)
{
	const char *pattern = children + strlen("match=");
	char why[128];
	regex_t regex;
	int error;

	if (strcmp(children, "no") == 0 || strcmp(children, "yes") == 0)
		return true;
	if (strncmp(children, "match=", strlen("match=")) != 0) {
		message("--children takes no, yes or match=REGEX, not %s", children);
		return false;
	}
	error = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &regex, why, sizeof(why));
		message("--children=%s: %s", children, why);
		return false;
	}
	regfree(&regex);
	return true;
}

bool preload_check(const struct preload_options *order)
{
	return (!order->events || check_events(order->events)) &&
	       (!order->children || check_children(order->children));
}

bool preload_enter(const struct preload_options *order, const struct preload_program *program)
{
	const char *others = getenv("LD_PRELOAD");
	const char *first = program->entry, *last = others && *others ? others : "";
	char *list = NULL;

	if (strstr(last, "libasan.so") || strstr(last, "libclang_rt.asan")) {
		/* The runtime of the sanitizer must come first. Otherwise it ends the program. */
		first = last;
		last = program->entry;
	}
	if (asprintf(&list, "%s%s%s%s%s", program->sanitizer, program->sanitizer[0] ? ":" : "",
		     first, *last ? ":" : "", last) < 0 ||
	    setenv("LD_PRELOAD", list, 1) != 0)
		return false;
	free(list);
	/* The recorder writes the log, so the object must not write a log. */
	unsetenv("TXTRACE_OUT");
	return (!order->events || setenv("TXTRACE_EVENTS", order->events, 1) == 0) &&
	       (!order->children || setenv("TXTRACE_CHILDREN", order->children, 1) == 0);
}
