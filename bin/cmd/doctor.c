/* SPDX-License-Identifier: MIT */
/*
 * txtrace doctor: print whether a program can be traced. If it cannot, print the reason. Also print which of its calls
 * would be visible.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/output.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "cmd/diagnosis.h"
#include "cmd/doctor_calls.h"
#include "cmd/doctor_machine.h"
#include "cmd/doctor_self.h"
#include "live/preload.h"
#include "live/session.h"
#include "live/target.h"

enum {
	OPTION_SELF = OPTION_OWN,
};

static const struct option_row options[] = {
	{OPTION_SELF, "self", NULL, "check what this system lets txtrace and the library do, and what that costs"},
	OPTION_ROW_TEXT_OR_JSON,
	OPTION_ROW_COLOR,
	OPTION_ROW_NO_PAGER,
	OPTIONS_END,
};

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
		diagnosis_add(&diagnosis->annotations, "TXTRACE_DISABLE is set: the object records nothing");
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

/* A recorded program waits at a pipe until the stream is there. */
static void check_start(struct diagnosis *diagnosis)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		diagnosis_add(&diagnosis->obstacles, "record cannot start a program: pipe2: %s", strerror(errno));
		return;
	}
	close(ends[0]);
	close(ends[1]);
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
	doctor_check_machine(diagnosis, geteuid(), 0, true, false);
	/* A program linked with the library does not need the preloaded object. */
	diagnosis->lacks_library = program->why_not[0] && !has_library && !target_gives_rights(program->program);
	if (program->why_not[0] && !has_library)
		diagnosis_add(&diagnosis->obstacles, "%s", program->why_not);
	if (may_access(program->file, X_OK) != 0)
		diagnosis_add(&diagnosis->obstacles, "%s: %s", program->file, strerror(errno));
	check_start(diagnosis);
	imports_add(&diagnosis->imports, program->program);
	doctor_add_language(diagnosis);
	if (program->elf.interpreter && diagnosis->obstacles.nr == 0) {
		doctor_list_libraries(diagnosis, program->elf.interpreter, program->program);
		doctor_add_imports(diagnosis);
	}
	snprintf(diagnosis->advice, sizeof(diagnosis->advice), "txtrace record %s%s",
		 has_library ? "" : "--preload ", command);
	snprintf(diagnosis->switches, sizeof(diagnosis->switches), "txtrace record --sched-only %s", command);
}

/* A directory may have permission to be searched, which looks as that to be executed. */
static bool is_regular(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
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
	if (!is_regular(program.file)) {
		message("%s is no regular file, so it is no program", program.file);
		preload_end(&program);
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

static void judge_process(struct diagnosis *diagnosis, const struct target *target)
{
	if (target->uid != geteuid() && geteuid() != 0)
		diagnosis_add(&diagnosis->obstacles,
		    "it is another user's: only that user and root can trace it");
	else if (target->is_secure || target->is_hidden)
		diagnosis_add(&diagnosis->obstacles,
		    "it has rights from its file, or does not allow others to read its memory");
	else if (target->has_other_registry)
		diagnosis_add(&diagnosis->obstacles,
		    "it %s, so it does not find a trace", target_other_registry(target));
	else if ((diagnosis->lacks_library = !target->has_library))
		diagnosis_add(&diagnosis->obstacles,
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
	doctor_list_mapped(diagnosis, pid);
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
	if (doctor_check_seccomp(diagnosis, pid) != 0)
		diagnosis_add(&diagnosis->annotations,
		    "seccomp is on: the process cannot find a stream that it may not open, and its calls are recorded "
		    "only if it searched for streams before seccomp was on");
	check_preloads(diagnosis, pid);
	doctor_check_machine(diagnosis, target.uid, pid, false, false);
	judge_process(diagnosis, &target);
	doctor_add_language(diagnosis);
	doctor_add_imports(diagnosis);
	snprintf(diagnosis->advice, sizeof(diagnosis->advice), "txtrace record -p %d", (int)pid);
	snprintf(diagnosis->switches, sizeof(diagnosis->switches), "txtrace record --sched-only -p %d", (int)pid);
	return true;
}

static bool diagnose(struct diagnosis *diagnosis, const char *what)
{
	pid_t pid;

	if (what[strspn(what, "0123456789")] == '\0')
		return session_parse_pid(what, &pid) && diagnose_process(diagnosis, pid);
	return diagnose_program(diagnosis, what);
}

static int run(int argc, char **argv)
{
	static struct text text;
	struct diagnosis diagnosis = {.fields = {.text = &text}};
	bool is_done = true, is_self = false;
	int code;

	while ((code = options_next(&cmd_doctor, argc, argv)) != -1) {
		if (code == OPTION_SELF)
			is_self = true;
		else if (!(code == OPTION_FORMAT ? options_is_json(optarg, &diagnosis.fields.is_json) :
						   terminal_option(code, optarg)))
			return EXIT_TROUBLE;
	}
	if (optind + (is_self ? 0 : 1) != argc) {
		message(is_self ? "doctor --self takes no argument; see txtrace doctor --help" :
				  "doctor needs one program or one process; see txtrace doctor --help");
		return EXIT_TROUBLE;
	}
	terminal_page();
	text_open(&text, NULL, false);
	if (is_self)
		doctor_self(&diagnosis);
	else if ((is_done = diagnose(&diagnosis, argv[optind])))
		diagnosis_put(&diagnosis);
	if (is_done)
		fields_end(&diagnosis.fields);
	diagnosis_free(&diagnosis);
	if (!text_close(&text, true) || !is_done)
		return EXIT_TROUBLE;
	return diagnosis.obstacles.nr == 0 ? EXIT_FINE : EXIT_FOUND;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.arguments = "(COMMAND | PID | --self)",
	.summary = "check whether a program can be traced, and which of its calls would be recorded",
	.options = options,
	.run = run,
};
