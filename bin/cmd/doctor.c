/* SPDX-License-Identifier: MIT */
/*
 * txtrace doctor: print whether a program can be traced. If it cannot, print the reason. Also print which of its calls
 * would be visible.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/fields.h"
#include "cli/terminal.h"
#include "live/preload.h"
#include "live/sched_refusal.h"
#include "live/session.h"
#include "live/target.h"
#include "trace/wrappers.h"

#define SENTENCES 16

static const struct option_row options[] = {
	OPTION_ROW_TEXT_OR_JSON,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

struct sentences {
	char *text[SENTENCES];
	size_t nr;
};

struct diagnosis {
	struct fields fields;
	struct sentences obstacles;   /* the reasons why the program cannot be traced; without a reason, it can */
	struct sentences annotations; /* other remarks */
	struct imports imports;
	bool has_switches; /* the kernel reports the switches of the program, also if it cannot be traced */
	bool lacks_library;
	char switches[PATH_MAX + 64]; /* the command that records only these */
	char advice[PATH_MAX + 64]; /* the commands that trace the program */
};

__attribute__((format(printf, 2, 3))) static void add(struct sentences *sentences,
						      const char *format, ...)
{
	va_list arguments;

	if (sentences->nr == SENTENCES)
		return;
	va_start(arguments, format);
	if (vasprintf(&sentences->text[sentences->nr], format, arguments) >= 0)
		sentences->nr++;
	va_end(arguments);
}

static void sentences_free(struct sentences *sentences)
{
	for (size_t i = 0; i < sentences->nr; i++)
		free(sentences->text[i]);
}

/* Resources of the machine. */

static void check_limit(struct diagnosis *diagnosis, pid_t pid, const char *label,
			enum __rlimit_resource resource, rlim_t least)
{
	struct rlimit limit;

	if (prlimit(pid, resource, NULL, &limit) != 0) {
		fields_text(&diagnosis->fields, label, "not known");
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY)
		fields_text(&diagnosis->fields, label, "none");
	else
		fields_number(&diagnosis->fields, label, limit.rlim_cur);
	if (limit.rlim_cur < least)
		add(&diagnosis->annotations,
		    "the %s is %llu bytes, and all rings of a stream take %llu", label,
		    (unsigned long long)limit.rlim_cur, (unsigned long long)least);
}

/* The directory may not exist yet, so get the free space of its parent. */
static void check_shared_memory(struct diagnosis *diagnosis, uid_t uid, rlim_t needed)
{
	char *directory = must(directory_of(target_registry(uid)));
	struct statvfs status;
	const char *there = directory;
	unsigned long long room;

	fields_text(&diagnosis->fields, "shared memory", directory);
	if (access(there, F_OK) != 0)
		there = "/dev/shm";
	if (statvfs(there, &status) != 0) {
		add(&diagnosis->obstacles, "there is no shared memory: %s: %s", there,
		    strerror(errno));
		free(directory);
		return;
	}
	room = (unsigned long long)status.f_bavail * status.f_frsize;
	fields_number(&diagnosis->fields, "shared memory size",
		      (unsigned long long)status.f_blocks * status.f_frsize);
	fields_number(&diagnosis->fields, "shared memory free", room);
	fields_number(&diagnosis->fields, "rings take", needed);
	if (room < SESSION_STREAM_SIZE)
		add(&diagnosis->obstacles, "there is no room for a ring in %s: see record --size",
		    directory);
	else if (room < needed)
		add(&diagnosis->annotations,
		    "there is not enough room in %s for a ring for each CPU: there will be fewer rings",
		    directory);
	free(directory);
}

/* Try it with this process, if there is no other. */
static void check_sched(struct diagnosis *diagnosis, pid_t pid)
{
	char text[SCHED_REFUSAL_BYTES];
	int error;

	if (txtrace_check_sched(pid, &error) != 0)
		return;
	diagnosis->has_switches = error == 0;
	if (error == 0)
		return;
	sched_refusal(error, text);
	add(&diagnosis->annotations, "record cannot say which thread has a CPU: %s", text);
}

static void check_machine(struct diagnosis *diagnosis, uid_t uid, pid_t pid)
{
	/* A stream has one ring for each CPU and a shared ring. Without rseq it has only one ring for each CPU. */
	rlim_t nr_rings = (rlim_t)sysconf(_SC_NPROCESSORS_CONF) + 1;
	rlim_t needed = session_ring_size(pid == 0) * nr_rings;

	check_shared_memory(diagnosis, uid, needed);
	check_limit(diagnosis, pid, "limit of files", RLIMIT_FSIZE, needed);
	check_limit(diagnosis, pid, "limit of addresses", RLIMIT_AS, 2 * needed);
	check_sched(diagnosis, pid);
}

/* The calls of the program. */

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
			add(&diagnosis->obstacles, "a library is missing: %s",
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

static void list_libraries(struct diagnosis *diagnosis, const char *loader, const char *program)
{
	int ends[2];
	FILE *lines;
	pid_t pid;

	if (!is_own_loader(loader) || pipe2(ends, O_CLOEXEC) != 0) {
		add(&diagnosis->annotations,
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

/* List each library of a process once. A file has several consecutive mappings. */
static void list_mapped(struct diagnosis *diagnosis, pid_t pid)
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
static void add_language(struct diagnosis *diagnosis)
{
	const struct imports *imports = &diagnosis->imports;

	if (!imports->language)
		return;
	if (strcmp(imports->language, "Rust") == 0 && imports->calls_system)
		add(&diagnosis->annotations,
		    "the program is written in Rust: its own locks use futexes, of which waits and wake-ups are "
		    "recorded");
	else
		add(&diagnosis->annotations,
		    "the program is written in %s: its own locks and waits are not recorded%s", imports->language,
		    diagnosis->has_switches ? "; its switches show when it was blocked, but not for what" : "");
}

static void add_imports(struct diagnosis *diagnosis)
{
	const struct imports *imports = &diagnosis->imports;
	unsigned int nr_locks = 0;

	for (size_t i = 0; i < nr_wrappers; i++) {
		nr_locks += wrapper_get(i).is_lock && imports_has_any(imports, i);
		if (imports->nr_files > 0 && imports->defines[i])
			add(&diagnosis->annotations,
			    "the program has its own %s: calls of this function are not recorded",
			    wrapper_get(i).symbol);
	}
	for (size_t i = 0; i < imports->nr_files; i++)
		if (calls_kernel(imports->file[i]))
			add(&diagnosis->annotations,
			    "it uses %s, which makes its system calls itself: waits in functions of this library are "
			    "not recorded",
			    imports->file[i]);
	if (nr_locks == 0 && imports->nr_files > 0)
		add(&diagnosis->annotations,
		    imports->calls_system ? "no lock of pthreads is called, but %s calls "
					    "syscall(): it may use futexes directly" :
					    "no lock of pthreads is called",
		    imports->calls_system);
	if (imports->opens_libraries)
		add(&diagnosis->annotations,
		    "it opens libraries while it runs: they are not listed here, and calls of a library opened with "
		    "RTLD_DEEPBIND are not recorded");
}

/* The result. */

static void put_sentences(struct fields *fields, const char *label,
			  const struct sentences *sentences)
{
	if (!fields->is_json) {
		for (size_t i = 0; i < sentences->nr; i++)
			fields_text(fields, label, sentences->text[i]);
		return;
	}
	json_array(&fields->json, label);
	for (size_t i = 0; i < sentences->nr; i++)
		json_string(&fields->json, NULL, sentences->text[i]);
	json_close(&fields->json);
}

static void put_wrapper_json(struct diagnosis *diagnosis, size_t i)
{
	const struct imports *imports = &diagnosis->imports;
	struct json *json = &diagnosis->fields.json;
	struct wrapper wrapper = wrapper_get(i);

	json_object(json, NULL);
	json_string(json, "symbol", wrapper.symbol);
	json_string(json, "call", wrapper.call);
	json_string(json, "group", wrapper.group);
	json_bool(json, "usual", wrapper.is_usual);
	json_array(json, "by");
	for (size_t k = 0; k < imports->nr_files; k++)
		if (imports_has(imports, k, i))
			json_string(json, NULL, imports->file[k]);
	json_close(json);
	json_close(json);
}

static void put_wrapper(const struct diagnosis *diagnosis, size_t i, bool is_first)
{
	const struct imports *imports = &diagnosis->imports;
	struct text *text = diagnosis->fields.text;
	struct wrapper wrapper = wrapper_get(i);
	const char *gap = "";

	if (is_first)
		text_printf(text, "\n%-26s  %-26s  %-8s  %-5s  %s\n", "function", "recorded as",
			    "group", "usual", "called by");
	text_printf(text, "%-26s  %-26s  %-8s  %-5s  ", wrapper.symbol, wrapper.call, wrapper.group,
		    wrapper.is_usual ? "yes" : "no");
	for (size_t k = 0; k < imports->nr_files; k++) {
		if (!imports_has(imports, k, i))
			continue;
		text_string(text, gap);
		text_plain(text, imports->file[k], 0);
		gap = " ";
	}
	text_char(text, '\n');
}

static void put_wrappers(struct diagnosis *diagnosis)
{
	bool is_json = diagnosis->fields.is_json, is_first = true;

	if (is_json)
		json_array(&diagnosis->fields.json, "wrappers");
	for (size_t i = 0; i < nr_wrappers; i++) {
		if (!imports_has_any(&diagnosis->imports, i))
			continue;
		if (is_json)
			put_wrapper_json(diagnosis, i);
		else
			put_wrapper(diagnosis, i, is_first);
		is_first = false;
	}
	if (is_json)
		json_close(&diagnosis->fields.json);
}

static void put_result(struct diagnosis *diagnosis)
{
	struct fields *fields = &diagnosis->fields;

	put_sentences(fields, "note", &diagnosis->annotations);
	if (diagnosis->obstacles.nr == 0)
		fields_text(fields, "trace it by", diagnosis->advice);
	else if (diagnosis->has_switches && diagnosis->lacks_library && diagnosis->obstacles.nr == 1)
		fields_text(fields, "switches by", diagnosis->switches);
	fields_bool(fields, "can be traced", diagnosis->obstacles.nr == 0);
	put_sentences(fields, "because", &diagnosis->obstacles);
	put_wrappers(diagnosis);
}

/* A program. */

static bool needs_library(const struct elffile *elf)
{
	const char *needed;
	size_t i = 0;

	while ((needed = elffile_next_needed(elf, &i)))
		if (strncmp(needed, "libposixtrace.so", strlen("libposixtrace.so")) == 0)
			return true;
	return false;
}

static void check_environment(struct diagnosis *diagnosis)
{
	const char *others = getenv("LD_PRELOAD"), *disabled = getenv("TXTRACE_DISABLE");

	fields_text(&diagnosis->fields, "LD_PRELOAD", others && *others ? others : "not set");
	if (disabled && *disabled && strcmp(disabled, "0") != 0)
		add(&diagnosis->annotations, "TXTRACE_DISABLE is set: the object records nothing");
}

static void check_program(struct diagnosis *diagnosis, const struct preload_program *program)
{
	struct fields *fields = &diagnosis->fields;
	const struct elffile *elf = &program->elf;

	fields_text(fields, "program", program->file);
	if (strcmp(program->file, program->program) != 0)
		fields_text(fields, "is a script of", program->program);
	if (!elf->elf)
		return;
	fields_text(fields, "kind", elffile_kind(elf));
	fields_text(fields, "loader", elf->interpreter ? elf->interpreter : "none: it is static");
	fields_bool(fields, "rights from its file", target_gives_rights(program->program));
	if (program->sanitizer[0])
		fields_text(fields, "needs to be first", program->sanitizer);
}

static void examine_program(struct diagnosis *diagnosis, struct preload_program *program,
			    const char *command, const char *object)
{
	struct fields *fields = &diagnosis->fields;
	bool has_library = needs_library(&program->elf);

	check_program(diagnosis, program);
	fields_bool(fields, "uses libposixtrace", has_library);
	fields_text(fields, "object to preload", *object ? object : "none");
	check_environment(diagnosis);
	check_machine(diagnosis, geteuid(), 0);
	/* A program linked with the library does not need the preloaded object. */
	diagnosis->lacks_library = program->why_not[0] && !has_library && !target_gives_rights(program->program);
	if (program->why_not[0] && !has_library)
		add(&diagnosis->obstacles, "%s", program->why_not);
	if (access(program->file, X_OK) != 0)
		add(&diagnosis->obstacles, "%s: %s", program->file, strerror(errno));
	imports_add(&diagnosis->imports, program->program);
	add_language(diagnosis);
	if (program->elf.interpreter && diagnosis->obstacles.nr == 0) {
		list_libraries(diagnosis, program->elf.interpreter, program->program);
		add_imports(diagnosis);
	}
	snprintf(diagnosis->advice, sizeof(diagnosis->advice), "txtrace record %s%s",
		 has_library ? "" : "--preload ", command);
	snprintf(diagnosis->switches, sizeof(diagnosis->switches), "txtrace record --sched-only %s", command);
}

static bool diagnose_program(struct diagnosis *diagnosis, const char *command)
{
	static struct preload_program program;
	char object[PATH_MAX], why[PATH_MAX + 128] = "";

	if (!preload_find(object, why, sizeof(why)))
		object[0] = '\0';
	preload_inspect(&program, command, *object ? object : "/proc/self/exe");
	if (!program.file[0]) {
		message("%s", program.why_not);
		return false;
	}
	if (!*object && !program.why_not[0])
		snprintf(program.why_not, sizeof(program.why_not), "%s", why);
	fields_begin(&diagnosis->fields);
	examine_program(diagnosis, &program, command, object);
	preload_end(&program);
	return true;
}

/* A process. */

/* Check the environment that the process had at its start. Later changes are not visible. */
static void check_preloads(struct diagnosis *diagnosis, pid_t pid)
{
	char path[64], *entry = NULL;
	const char *found = "not set";
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	while (file && getdelim(&entry, &size, '\0', file) > 0) {
		if (strncmp(entry, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0)
			continue;
		found = entry + strlen("LD_PRELOAD=");
		break;
	}
	fields_text(&diagnosis->fields, "LD_PRELOAD", file ? found : "not known");
	free(entry);
	if (file)
		fclose(file);
}

static void check_seccomp(struct diagnosis *diagnosis, pid_t pid)
{
	static const char *const modes[] = {"off", "strict", "filter"};
	char path[64], line[256];
	unsigned int mode = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "Seccomp: %u", &mode);
	if (file)
		fclose(file);
	fields_text(&diagnosis->fields, "seccomp", mode < 3 ? modes[mode] : "?");
	if (mode != 0)
		add(&diagnosis->annotations,
		    "seccomp is on: the process cannot find a stream that it may not open, and its calls are recorded "
		    "only if it searched for streams before seccomp was on");
}

static void judge_process(struct diagnosis *diagnosis, const struct target *target)
{
	if (target->uid != geteuid() && geteuid() != 0)
		add(&diagnosis->obstacles,
		    "it is another user's: only that user and root can trace it");
	else if (target->is_secure || target->is_hidden)
		add(&diagnosis->obstacles,
		    "it has rights from its file, or does not allow others to read its memory");
	else if (target->has_other_registry)
		add(&diagnosis->obstacles,
		    "it was started with another TXTRACE_DIR, so it does not find a trace");
	else if ((diagnosis->lacks_library = !target->has_library))
		add(&diagnosis->obstacles,
		    target->is_static ? "it is linked statically, without libposixtrace" :
					"it does not use libposixtrace, and was not started "
					"with " PRELOAD_OBJECT
					": txtrace record --preload does so");
}

static bool diagnose_process(struct diagnosis *diagnosis, pid_t pid)
{
	struct fields *fields = &diagnosis->fields;
	struct target target;
	bool is_preloaded = false;

	if (!target_inspect(&target, pid)) {
		message("there is no process %d", (int)pid);
		return false;
	}
	list_mapped(diagnosis, pid);
	is_preloaded = target_has_object(pid, PRELOAD_OBJECT);
	fields_begin(fields);
	fields_text(fields, "program", target.program[0] ? target.program : target.name);
	fields_number(fields, "process", (unsigned long long)pid);
	if (fields->is_json)
		fields_bool(fields, "preloaded", is_preloaded);
	if (is_preloaded && !fields->is_json)
		fields_text(fields, "uses libposixtrace", "preloaded");
	else
		fields_bool(fields, "uses libposixtrace", is_preloaded || target.has_library);
	fields_bool(fields, "is traced", target_has_stream(pid));
	check_seccomp(diagnosis, pid);
	check_preloads(diagnosis, pid);
	check_machine(diagnosis, target.uid, pid);
	judge_process(diagnosis, &target);
	add_language(diagnosis);
	add_imports(diagnosis);
	snprintf(diagnosis->advice, sizeof(diagnosis->advice), "txtrace record -p %d", (int)pid);
	snprintf(diagnosis->switches, sizeof(diagnosis->switches), "txtrace record --sched-only -p %d", (int)pid);
	return true;
}

static int run(int argc, char **argv)
{
	static struct text text;
	struct diagnosis diagnosis = {.fields = {.text = &text}};
	const char *what;
	bool is_done;
	pid_t pid;
	int code;

	while ((code = options_next(&cmd_doctor, argc, argv)) != -1)
		if (!(code == OPTION_FORMAT ? options_is_json(optarg, &diagnosis.fields.is_json) :
					      terminal_option(code, optarg)))
			return EXIT_TROUBLE;
	if (optind + 1 != argc) {
		message("doctor needs one program or one process; see txtrace doctor --help");
		return EXIT_TROUBLE;
	}
	what = argv[optind];
	terminal_page();
	text_open(&text, NULL, false);
	if (what[strspn(what, "0123456789")] == '\0')
		is_done = session_parse_pid(what, &pid) && diagnose_process(&diagnosis, pid);
	else
		is_done = diagnose_program(&diagnosis, what);
	if (is_done) {
		put_result(&diagnosis);
		fields_end(&diagnosis.fields);
	}
	imports_free(&diagnosis.imports);
	sentences_free(&diagnosis.obstacles);
	sentences_free(&diagnosis.annotations);
	if (!text_close(&text, true) || !is_done)
		return EXIT_TROUBLE;
	return diagnosis.obstacles.nr == 0 ? EXIT_FINE : EXIT_FOUND;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.arguments = "(COMMAND | PID)",
	.summary = "check whether a program can be traced, and which of its calls would be recorded",
	.options = options,
	.run = run,
};
