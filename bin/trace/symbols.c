/* SPDX-License-Identifier: MIT */
#include "trace/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_ext.h>
#include <unistd.h>

#include "base/files.h"
#include "base/map.h"
#include "base/memory.h"
#include "trace/debuginfo.h"
#include "trace/demangle.h"
#include "trace/elffile.h"
#include "trace/programs.h"

#define MODULES_BYTES (1 << 20)

struct module {
	uint64_t base, begin, end;
	uint64_t shift; /* of these addresses, from those that the program had: its number is above them (programs.h) */
	char build_id[72];
	char *path;
	bool is_program; /* the first module of its process */
	bool is_asked; /* the file was read: `info` is set, or the file has no symbols */
	struct debuginfo_module *info;
};

struct frames {
	struct frames *next;
	unsigned int nr;
	struct symbols_frame frame[DEBUGINFO_INLINES + 1];
};

struct symbols {
	struct module *module;
	size_t nr, room;
	/* the keys are addresses; a value is 2 + the index of the name, or 1 if its module has no name for it */
	struct map code, site, data;
	struct map frames; /* the key is a return address, the value a pointer to struct frames */
	struct frames *first_frames;
	char **name;
	size_t nr_names, room_of_names;
	struct debuginfo **info; /* of each program; NULL: no file was read */
	size_t nr_infos;
	bool is_local; /* see debuginfo_new() */
};

/* Modules. */

static struct module *add_module(struct symbols *symbols, const struct module *module,
				 const char *path)
{
	if (symbols->nr == symbols->room) {
		symbols->room = symbols->room ? 2 * symbols->room : 16;
		symbols->module = must(
			reallocarray(symbols->module, symbols->room, sizeof(*symbols->module)));
	}
	symbols->module[symbols->nr] = *module;
	symbols->module[symbols->nr].path = must(strdup(path));
	return &symbols->module[symbols->nr++];
}

/* Read a line of a log: "BASE BEGIN END BUILD-ID PATH".  `program`: the number of the program (programs.h). */
static void read_line(struct symbols *symbols, const char *line, uint64_t program)
{
	struct module module = {0};
	int path = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %71s %n", &module.base, &module.begin,
		   &module.end, module.build_id, &path) == 4 &&
	    path > 0 && (program == 0 || module.end >> CODE_ADDRESS_BITS == 0)) {
		module.is_program = symbols->nr == 0 ||
				    symbols->module[symbols->nr - 1].begin >> CODE_ADDRESS_BITS != program;
		module.shift = program << CODE_ADDRESS_BITS;
		module.base += module.shift;
		module.begin += module.shift;
		module.end += module.shift;
		add_module(symbols, &module, line + path);
	}
}

/* text: the lines of all modules; this function changes it. */
static void read_lines(struct symbols *symbols, char *text, uint64_t program)
{
	for (char *line; (line = strsep(&text, "\n"));)
		read_line(symbols, line, program);
}

struct symbols *symbols_of_log(trace_id_t trace)
{
	struct symbols *symbols = must(calloc(1, sizeof(*symbols)));
	size_t length = 0;
	char *text;
	int error;

	for (unsigned int i = 0; i < CODE_PROGRAMS_MAX; i++) {
		error = txtrace_get_origin_modules(trace, i, NULL, 0, &length);
		if (error && error != ENOSPC)
			break;
		text = must(calloc(length + 1, 1));
		txtrace_get_origin_modules(trace, i, text, length, &length);
		read_lines(symbols, text, i);
		free(text);
	}
	return symbols;
}

/* thread: NULL: the program that the process runs, or ran last. */
static struct symbols *read_process(pid_t pid, const unsigned int *thread)
{
	char *text = must(malloc(MODULES_BYTES + 1));
	struct symbols *symbols = NULL;
	unsigned int first;
	size_t length;
	int error;

	error = thread ? txtrace_get_program_modules(pid, *thread, text, MODULES_BYTES, &length, &first) :
			 txtrace_get_process_modules(pid, text, MODULES_BYTES, &length);
	if (!error) {
		text[length] = '\0';
		symbols = must(calloc(1, sizeof(*symbols)));
		read_lines(symbols, text, 0);
	}
	free(text);
	return symbols;
}

struct symbols *symbols_of_process(pid_t pid, bool is_local)
{
	struct symbols *symbols = read_process(pid, NULL);

	if (symbols)
		symbols->is_local = is_local;
	return symbols;
}

struct symbols *symbols_of_program(pid_t pid, unsigned int thread)
{
	struct symbols *symbols = read_process(pid, &thread);

	if (symbols)
		symbols->is_local = true;
	return symbols;
}

static bool is_same_module(const struct module *a, const struct module *b)
{
	return a->base == b->base && strcmp(a->path, b->path) == 0;
}

/*
 * The program is the first module, because the kernel loads it at the lowest addresses, and the dynamic loader is the
 * last one.  A program without an address of its own choice is always at the same one, but the loader is not.
 */
bool symbols_is_same_program(const struct symbols *former, const struct symbols *symbols)
{
	return former->nr > 0 && symbols->nr > 0 && is_same_module(&former->module[0], &symbols->module[0]) &&
	       is_same_module(&former->module[former->nr - 1], &symbols->module[symbols->nr - 1]);
}

/* Return the same module of another list, or NULL. */
static struct module *same_module(struct symbols *symbols, const struct module *module)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		struct module *other = &symbols->module[i];

		if (is_same_module(other, module) && other->begin == module->begin && other->end == module->end &&
		    strcmp(other->build_id, module->build_id) == 0)
			return other;
	}
	return NULL;
}

struct symbols *symbols_renew(struct symbols *former, struct symbols *symbols)
{
	struct module *modules = former->module;
	size_t nr = former->nr;

	for (size_t i = 0; i < nr; i++) {
		if (!same_module(symbols, &modules[i])) {
			symbols_free(former);
			return symbols;
		}
	}
	for (size_t i = 0; i < nr; i++) {
		struct module *module = same_module(symbols, &modules[i]);

		module->is_asked = modules[i].is_asked;
		module->info = modules[i].info;
	}
	former->module = symbols->module;
	former->nr = symbols->nr;
	former->room = symbols->room;
	symbols->module = modules;
	symbols->nr = nr;
	symbols_free(symbols);
	map_free(&former->frames); /* an address without a module may have one now */
	former->frames = (struct map){0};
	return former;
}

struct symbols *symbols_of_file(const char *path)
{
	struct symbols *symbols = must(calloc(1, sizeof(*symbols)));
	struct module module = {.build_id = "-"}, *added = add_module(symbols, &module, path);
	struct elffile elf;

	if (elffile_open(&elf, path)) {
		elffile_build_id(&elf, added->build_id, sizeof(added->build_id));
		elffile_close(&elf);
	}
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->nr; i++)
		free(symbols->module[i].path);
	for (size_t i = 0; i < symbols->nr_names; i++)
		free(symbols->name[i]);
	for (struct frames *frames = symbols->first_frames, *next; frames; frames = next) {
		next = frames->next;
		for (unsigned int i = 0; i < frames->nr; i++)
			free((char *)frames->frame[i].function);
		free(frames);
	}
	map_free(&symbols->frames);
	for (size_t i = 0; i < symbols->nr_infos; i++)
		debuginfo_free(symbols->info[i]);
	free(symbols->info);
	map_free(&symbols->code);
	map_free(&symbols->site);
	map_free(&symbols->data);
	free(symbols->module);
	free(symbols->name);
	free(symbols);
}

static struct module *find_module(struct symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->nr; i++)
		if (address >= symbols->module[i].begin && address < symbols->module[i].end)
			return &symbols->module[i];
	return NULL;
}

bool symbols_has(struct symbols *symbols, uint64_t address)
{
	return find_module(symbols, address) != NULL;
}

/* Names. */

static struct debuginfo *info_of_program(struct symbols *symbols, size_t program)
{
	if (program >= symbols->nr_infos) {
		symbols->info = must(reallocarray(symbols->info, program + 1, sizeof(*symbols->info)));
		while (symbols->nr_infos <= program)
			symbols->info[symbols->nr_infos++] = NULL;
	}
	if (!symbols->info[program])
		symbols->info[program] = debuginfo_new(symbols->is_local);
	return symbols->info[program];
}

/* libdw keeps a descriptor of each file.  Say once that there is none for this one. */
static void report_limit(const char *path)
{
	static bool is_reported;
	int fd = is_reported ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	if (!is_reported && fd < 0 && errno == EMFILE) {
		message("the limit of open files (ulimit -n) is too low for the symbols of %s, and of more files",
			path);
		is_reported = true;
	}
	if (fd >= 0)
		close(fd);
}

/*
 * Read the symbols of a file at the first use, because most files are never used.  They have the addresses of the
 * program, because those of an executable that is not position-independent cannot be shifted.
 */
static struct debuginfo_module *info_of(struct symbols *symbols, struct module *module)
{
	enum debuginfo_state state;

	if (module->is_asked)
		return module->info;
	module->is_asked = true;
	state = debuginfo_add(info_of_program(symbols, module->shift >> CODE_ADDRESS_BITS), module->path,
			      module->base - module->shift, module->build_id, &module->info);
	if (state == DEBUGINFO_CHANGED)
		message("%s is not the file that was traced: its symbols are not used",
			module->path);
	else if (state == DEBUGINFO_NONE)
		report_limit(module->path);
	return module->info;
}

/* What an address is: of a variable, or a return address, with or without the source line. */
enum kind { KIND_DATA, KIND_SITE, KIND_CODE };

static bool describe(struct symbols *symbols, struct module *module, uint64_t address, enum kind kind,
		     char *text, size_t size)
{
	bool is_code = kind != KIND_DATA;
	struct debuginfo_module *info = info_of(symbols, module);
	const char *name, *file;
	uint64_t offset;
	int line, length;
	char *shown;

	/*
	 * If a function ends with a call, the return address is in the next function.  So look up an address within the
	 * call.
	 */
	address -= module->shift;
	if (!info || !debuginfo_symbol(info, address - is_code, &name, &offset))
		return false;
	offset += is_code;
	shown = demangle(name);
	length = snprintf(text, size, "%s", shown);
	free(shown);
	if (offset > 0 && (size_t)length < size)
		length += snprintf(text + length, size - (size_t)length, "+0x%" PRIx64, offset);
	if (kind == KIND_CODE && (size_t)length < size && debuginfo_line(info, address - 1, &file, &line))
		snprintf(text + length, size - (size_t)length, " (%s:%d)", name_of(file), line);
	return true;
}

static uint64_t add_name(struct symbols *symbols, const char *name)
{
	if (symbols->nr_names == symbols->room_of_names) {
		symbols->room_of_names = symbols->room_of_names ? 2 * symbols->room_of_names : 64;
		symbols->name =
			must(reallocarray(symbols->name, symbols->room_of_names, sizeof(char *)));
	}
	symbols->name[symbols->nr_names++] = must(strdup(name));
	return symbols->nr_names + 1;
}

static uint64_t make_name(struct symbols *symbols, uint64_t address, enum kind kind)
{
	struct module *module = find_module(symbols, address);
	char text[512];

	if (!module)
		return 0;
	if (!describe(symbols, module, address, kind, text, sizeof(text))) {
		if (kind == KIND_DATA)
			return 1;
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, name_of(module->path),
			 address - module->base);
	}
	return add_name(symbols, text);
}

static const char *name_at(struct symbols *symbols, struct map *known, uint64_t address,
			   enum kind kind)
{
	uint64_t *number = map_get(known, address);

	if (*number == 0)
		*number = make_name(symbols, address, kind);
	return *number > 1 ? symbols->name[*number - 2] : NULL;
}

const char *symbols_code(struct symbols *symbols, uint64_t address)
{
	return name_at(symbols, &symbols->code, address, KIND_CODE);
}

const char *symbols_site(struct symbols *symbols, uint64_t address)
{
	return name_at(symbols, &symbols->site, address, KIND_SITE);
}

const char *symbols_data(struct symbols *symbols, uint64_t address)
{
	return name_at(symbols, &symbols->data, address, KIND_DATA);
}

/* Stacks. */

/* The program is the first module that its process has loaded. */
bool symbols_is_program(const struct symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->nr; i++)
		if (address - 1 >= symbols->module[i].begin && address - 1 < symbols->module[i].end)
			return symbols->module[i].is_program;
	return false;
}

static const char *file_of(const char *path)
{
	return path ? name_of(path) : NULL;
}

/* The functions at an address whose module has symbols.  The place in each one comes from the one that it contains. */
static void find_frames(struct debuginfo_module *info, uint64_t address, struct frames *frames)
{
	struct debuginfo_inline inlines[DEBUGINFO_INLINES];
	unsigned int nr = debuginfo_inlines(info, address - 1, inlines);
	const char *name, *file = NULL;
	uint64_t offset;
	int line = 0;

	if (!debuginfo_symbol(info, address - 1, &name, &offset))
		return;
	if (!debuginfo_line(info, address - 1, &file, &line))
		file = NULL;
	for (unsigned int i = 0; i <= nr; i++) {
		frames->frame[i] = (struct symbols_frame){.function = demangle(i < nr ? inlines[i].name : name),
							  .file = file_of(file),
							  .line = line,
							  .is_inlined = i < nr};
		if (i < nr) {
			file = inlines[i].file;
			line = inlines[i].line;
		}
	}
	frames->nr = nr + 1;
}

static struct frames *make_frames(struct symbols *symbols, uint64_t address)
{
	struct frames *frames = must(calloc(1, sizeof(*frames)));
	struct module *module = find_module(symbols, address - 1);
	struct debuginfo_module *info = module ? info_of(symbols, module) : NULL;

	frames->next = symbols->first_frames;
	symbols->first_frames = frames;
	if (info)
		find_frames(info, address - module->shift, frames);
	if (module && frames->nr == 0) {
		char *text;

		if (asprintf(&text, "%s+0x%" PRIx64, name_of(module->path), address - module->base) < 0)
			must(NULL);
		frames->frame[frames->nr++].function = text;
	}
	return frames;
}

const struct symbols_frame *symbols_frames(struct symbols *symbols, uint64_t address, unsigned int *nr)
{
	uint64_t *known = map_get(&symbols->frames, address);
	struct frames *frames = (struct frames *)(uintptr_t)*known;

	if (!frames) {
		frames = make_frames(symbols, address);
		*known = (uintptr_t)frames;
	}
	*nr = frames->nr;
	return frames->frame;
}

/* Types. */

bool symbols_type(struct symbols *symbols, const char *reference, const struct px_fields_model *model,
		  char text[PX_FIELDS_TEXT_MAX + 1], char why[SYMBOLS_WHY_BYTES])
{
	enum dwarf_type_result result = DWARF_TYPE_ABSENT;
	const char *first = NULL, *reason = NULL;
	bool is_declared = false, program_has_types = false;
	unsigned int nr = 0;

	for (size_t i = 0; i < symbols->nr && result != DWARF_TYPE_FOUND && result != DWARF_TYPE_UNFIT; i++) {
		struct module *module = &symbols->module[i];
		struct debuginfo_module *info = *module->path != '[' ? info_of(symbols, module) : NULL;
		bool has_types = false;

		if (info)
			result = debuginfo_type(info, reference, model, text, &reason, &has_types);
		is_declared |= result == DWARF_TYPE_INCOMPLETE;
		nr += has_types;
		if (i == 0) {
			first = module->path;
			program_has_types = has_types;
		}
	}
	if (result == DWARF_TYPE_FOUND)
		return true;
	if (!HAVE_SYMBOLS)
		snprintf(why, SYMBOLS_WHY_BYTES,
			 "is not known: this txtrace cannot read debugging information (it has no libdw)");
	else if (result == DWARF_TYPE_UNFIT)
		snprintf(why, SYMBOLS_WHY_BYTES, "%s", reason);
	else if (is_declared)
		snprintf(why, SYMBOLS_WHY_BYTES, "is incomplete: the program only declares it");
	else if (symbols->nr == 0)
		snprintf(why, SYMBOLS_WHY_BYTES, "is not known: the log does not list the files of the program");
	else if (!program_has_types)
		snprintf(why, SYMBOLS_WHY_BYTES, "is not known: %s has no debugging information here (compile with -g)",
			 first);
	else
		snprintf(why, SYMBOLS_WHY_BYTES, "is not in the debugging information of %s%s",
			 first, nr > 1 ? " or of its shared objects" : "");
	return false;
}
