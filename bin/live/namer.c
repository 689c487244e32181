/* SPDX-License-Identifier: MIT */
#include "live/namer.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "live/shared_memory.h"
#include "trace/symbols.h"

#define NAME_ROOM 54 /* a longer name would lose its end, and a suffix has to fit too */

/* Read /proc at most this often for a process, because a program may load a library for each object. */
#define READS_MAX 64

/* Symbols of so many programs are kept: a build executes thousands.  Those of another one are read again. */
#define PROGRAMS_KEPT 128

/* A program that a process executed, and stored the modules of. */
struct program {
	pid_t pid;
	unsigned int first;	 /* handle: it has the threads from this one on */
	struct symbols *symbols; /* NULL: the place is free */
	unsigned long used_at;	 /* namer.nr_uses then */
};

struct process {
	pid_t pid;
	bool has_stored;	 /* at least one of its programs has stored its modules */
	bool is_of_other_user;	 /* it stores nothing, so the modules come from /proc */
	unsigned int nr_reads;
	bool is_final;		 /* the modules were read after the end */
	struct symbols *symbols; /* of /proc; NULL if the modules were never read */
	struct symbols **former; /* of the programs that were seen before */
	unsigned int nr_former;
	dev_t device;		 /* the program whose modules were read */
	ino_t inode;
	bool has_objects;	 /* a name was asked for */
	struct shared_memory memory;
};

/* `mutex` protects all members. A thread that holds it takes no other lock. */
struct namer {
	pthread_mutex_t mutex;
	struct process *process;
	size_t nr, room;
	struct program program[PROGRAMS_KEPT];
	unsigned long nr_uses;
};

struct namer *namer_new(void)
{
	struct namer *namer = must(calloc(1, sizeof(*namer)));

	pthread_mutex_init(&namer->mutex, NULL);
	return namer;
}

static struct process *find(struct namer *namer, pid_t pid)
{
	for (size_t i = 0; i < namer->nr; i++)
		if (namer->process[i].pid == pid)
			return &namer->process[i];
	if (namer->nr == namer->room) {
		namer->room = namer->room ? 2 * namer->room : 8;
		namer->process =
			must(reallocarray(namer->process, namer->room, sizeof(*namer->process)));
	}
	namer->process[namer->nr] = (struct process){.pid = pid};
	return &namer->process[namer->nr++];
}

/* Store the device and the inode of the program that the process runs.  Return false if it has ended. */
static bool find_program(pid_t pid, struct stat *program)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, program) == 0;
}

/* Objects that the process had before it executed another program may get their names only now. */
static void replace(struct process *process, struct symbols *symbols)
{
	if (process->symbols && !symbols_is_same_program(process->symbols, symbols)) {
		process->former = must(reallocarray(process->former, process->nr_former + 1, sizeof(*process->former)));
		process->former[process->nr_former++] = process->symbols;
	} else if (process->symbols) {
		symbols = symbols_renew(process->symbols, symbols);
	}
	process->symbols = symbols;
}

/*
 * Read the modules again.  A process that has ended may have stored them.  If it has not, keep the modules that were
 * read last.
 */
static bool inspect_again(struct process *process)
{
	struct symbols *symbols;
	struct stat program;
	bool has_ended = !find_program(process->pid, &program);

	if (process->nr_reads == READS_MAX || process->is_final)
		return false;
	process->nr_reads++;
	process->is_final = has_ended;
	if (has_ended) {
		program.st_dev = process->device;
		program.st_ino = process->inode;
	}
	symbols = symbols_of_process(process->pid, true);
	if (!symbols)
		return false;
	replace(process, symbols);
	process->device = program.st_dev;
	process->inode = program.st_ino;
	return true;
}

/*
 * The process may have executed another program since its modules were read, and may have ended.  Return false if the
 * modules of that program are not known.
 */
static bool is_up_to_date(struct process *process)
{
	struct stat program;

	if (!process->symbols || process->is_final)
		return true;
	if (!find_program(process->pid, &program)) {
		inspect_again(process);
		return true;
	}
	return (program.st_dev == process->device && program.st_ino == process->inode) || inspect_again(process);
}

static bool is_of_other_user(pid_t pid)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &status) == 0 && status.st_uid != geteuid();
}

void namer_inspect(struct namer *namer, pid_t pid)
{
	struct process *process;

	pthread_mutex_lock(&namer->mutex);
	process = find(namer, pid);
	process->is_of_other_user |= is_of_other_user(pid);
	inspect_again(process);
	shared_memory_read(&process->memory, pid);
	pthread_mutex_unlock(&namer->mutex);
}

/*
 * Return the length of "queue::push(int) const" without its parameters, or the whole length.  The parameters of a
 * template, or a cast, may contain parentheses, too, so go back from the end.
 */
static size_t length_without_parameters(const char *function, size_t length)
{
	size_t at = length, depth = 0;

	while (at > 0 && function[at - 1] != ')' && function[at - 1] != '>')
		at--;
	if (at == 0 || function[at - 1] != ')')
		return length;
	while (at > 0) {
		depth += function[--at] == ')';
		depth -= function[at] == '(';
		if (depth == 0)
			return at > 0 ? at : length;
	}
	return length;
}

/*
 * Copy a code location such as "worker+0x1c".  The names of C++ contain blanks.  If the name is too long, leave out the
 * parameters of the function, because the offset is more important.
 */
static bool put_site(const char *site, char *text, size_t size)
{
	const char *offset = NULL;
	int length, digits;

	for (const char *at = site; at && (at = strstr(at, "+0x")); at++)
		offset = at;
	if (!offset) {
		if (site)
			snprintf(text, size, "%s", site);
		return site != NULL;
	}
	length = (int)(offset - site);
	digits = 3 + (int)strspn(offset + 3, "0123456789abcdef");
	if (length + digits > NAME_ROOM)
		length = (int)length_without_parameters(site, (size_t)length);
	snprintf(text, size, "%.*s%.*s", length, site, digits, offset);
	return true;
}

static bool is_last(const struct program *program)
{
	unsigned int first;
	size_t length;

	return txtrace_get_program_modules(program->pid, 0, NULL, 0, &length, &first) == 0 && first == program->first;
}

/*
 * The mappings of a process are those of the program that it executes now.  program: NULL if the symbols come from
 * /proc.
 */
static bool has_mappings_of(const struct process *process, const struct program *program, const struct symbols *symbols)
{
	return program ? is_last(program) : symbols == process->symbols;
}

static bool put_name_by(struct process *process, const struct program *program, struct symbols *symbols,
			const struct txtrace_object *object, char *text, size_t size)
{
	const char *name = symbols_data(symbols, object->address);
	char place[96];
	size_t used;

	if (name) {
		snprintf(text, size, "%s", name);
		return true;
	}
	if (!put_site(symbols_site(symbols, object->site), text, size))
		return false;
	used = strlen(text);
	if (shared_memory_place(&process->memory, process->pid, object->address, place, sizeof(place)) &&
	    used + strlen(" in ") + strlen(place) < NAME_ROOM && used + strlen(place) + 5 < size &&
	    has_mappings_of(process, program, symbols))
		snprintf(text + used, size - used, " in %s", place);
	return true;
}

/* Return the program that was kept, or the place for it. */
static struct program *place_of(struct namer *namer, pid_t pid, unsigned int first)
{
	struct program *oldest = &namer->program[0];

	for (unsigned int i = 0; i < PROGRAMS_KEPT; i++) {
		struct program *program = &namer->program[i];

		if (program->symbols && program->pid == pid && program->first == first)
			return program;
		if (program->used_at < oldest->used_at)
			oldest = program;
	}
	return oldest;
}

/* Return the program to which the thread with this handle belonged, or NULL if it is not known. */
static struct program *program_of(struct namer *namer, struct process *process, unsigned int thread)
{
	struct program *program;
	unsigned int first;
	size_t length;

	if (txtrace_get_program_modules(process->pid, thread, NULL, 0, &length, &first) != 0)
		return NULL;
	program = place_of(namer, process->pid, first);
	if (!program->symbols || program->pid != process->pid || program->first != first) {
		symbols_free(program->symbols);
		*program = (struct program){process->pid, first, symbols_of_program(process->pid, thread), 0};
	}
	program->used_at = program->symbols ? ++namer->nr_uses : 0;
	process->has_stored |= program->symbols != NULL;
	return program->symbols ? program : NULL;
}

/*
 * The program may have loaded libraries since it stored its modules.  Return true if the modules were read again.  If
 * it executes itself meanwhile, it is the last program only before.
 */
static bool read_again(struct process *process, struct program *program)
{
	struct symbols *symbols;
	bool is_same;

	if (process->nr_reads == READS_MAX || !is_last(program))
		return false;
	process->nr_reads++;
	symbols = symbols_of_process(process->pid, true);
	if (!symbols)
		return false;
	is_same = symbols_is_same_program(program->symbols, symbols) && is_last(program);
	if (is_same)
		program->symbols = symbols_renew(program->symbols, symbols);
	else
		symbols_free(symbols);
	return is_same;
}

static bool put_stored_name(struct namer *namer, struct process *process, const struct txtrace_object *object,
			    char *text, size_t size)
{
	struct program *program = program_of(namer, process, object->thread);

	return program && (put_name_by(process, program, program->symbols, object, text, size) ||
			   (read_again(process, program) &&
			    put_name_by(process, program, program->symbols, object, text, size)));
}

/*
 * Nothing says which of its programs the process executed when it used the object first.  So the name is known if only
 * one of those that have the code of that use gives one.  owned: ask only those; code that is compiled at run time
 * belongs to none.
 */
static bool put_name_of_one(struct process *process, bool owned, const struct txtrace_object *object, char *text,
			    size_t size)
{
	char other[512];
	size_t room = size < sizeof(other) ? size : sizeof(other);
	unsigned int nr_names = 0;

	for (unsigned int i = 0; i <= process->nr_former; i++) {
		struct symbols *symbols = i < process->nr_former ? process->former[i] : process->symbols;
		char *to = nr_names == 0 ? text : other;

		if ((owned && !symbols_has(symbols, object->site)) ||
		    !put_name_by(process, NULL, symbols, object, to, room))
			continue;
		if (nr_names == 0 || strcmp(text, other) != 0)
			nr_names++;
	}
	return nr_names == 1;
}

static bool put_name(struct process *process, const struct txtrace_object *object, char *text, size_t size)
{
	bool is_owned = false;

	if (!process->symbols)
		return false;
	for (unsigned int i = 0; i < process->nr_former; i++)
		is_owned |= symbols_has(process->former[i], object->site);
	is_owned |= symbols_has(process->symbols, object->site);
	return put_name_of_one(process, is_owned, object, text, size);
}

static bool guess_name(struct process *process, const struct txtrace_object *object, char *text, size_t size)
{
	if (!is_up_to_date(process))
		return false;
	/*
	 * The name is unknown if the library with the address was loaded later, or if the process executed the
	 * same program again.
	 */
	return put_name(process, object, text, size) ||
	       (inspect_again(process) && put_name(process, object, text, size));
}

int namer_name(void *argument, const struct txtrace_object *object, char *text, size_t size)
{
	struct namer *namer = argument;
	struct process *process;
	bool is_named;

	pthread_mutex_lock(&namer->mutex);
	process = find(namer, object->pid);
	process->has_objects = true;
	is_named = process->is_of_other_user ? guess_name(process, object, text, size) :
					       put_stored_name(namer, process, object, text, size);
	pthread_mutex_unlock(&namer->mutex);
	return is_named ? 0 : ENOENT;
}

unsigned int namer_count_unread(struct namer *namer)
{
	unsigned int nr = 0;

	pthread_mutex_lock(&namer->mutex);
	for (size_t i = 0; i < namer->nr; i++)
		nr += namer->process[i].has_objects && !namer->process[i].symbols && !namer->process[i].has_stored;
	pthread_mutex_unlock(&namer->mutex);
	return nr;
}

void namer_free(struct namer *namer)
{
	for (size_t i = 0; i < namer->nr; i++) {
		symbols_free(namer->process[i].symbols);
		for (unsigned int k = 0; k < namer->process[i].nr_former; k++)
			symbols_free(namer->process[i].former[k]);
		free(namer->process[i].former);
		shared_memory_free(&namer->process[i].memory);
	}
	for (unsigned int i = 0; i < PROGRAMS_KEPT; i++)
		symbols_free(namer->program[i].symbols);
	free(namer->process);
	pthread_mutex_destroy(&namer->mutex);
	free(namer);
}
