/* SPDX-License-Identifier: MIT */
#include "calls/processes.h"

#include <string.h>
#include <sys/wait.h>

#include "calls/descriptors.h"

/*
 * The first record of a thread of another program says that the process has executed this program, or that this is
 * another process with the same pid, unless both are forks of one program.  The thread may be known from other records,
 * or from the log that goes on.  Return true if the process is new.
 */
static bool follow_program(struct px_call_objects *objects, const struct px_threadmap *threads,
			   const struct px_record *record)
{
	struct px_call_object *current = px_descriptors_process(objects, record->pid);
	bool is_new = !current || current->process.has_ended;
	struct px_object thread;

	if (!px_threadmap_find(threads, record->context, &thread) || thread.type != PX_TXTB_THREAD ||
	    thread.program == 0)
		return is_new;
	current = px_descriptors_make_process(objects, record->pid);
	if (current->object.program != 0 && current->object.program != thread.program) {
		px_call_objects_end_program(objects, record->pid);
		px_descriptors_execute(objects, record->pid);
	}
	current->object.program = thread.program;
	return is_new;
}

/* Return the time of the fork() that the record is of, rounded down (calls.h).  Without it, take that of the record. */
static uint64_t fork_ticks(const struct px_call_read *call)
{
	const uint64_t now = call->record->counter >> PX_FORK_TICKS_SHIFT;
	const uint32_t ago = (uint32_t)now - call->first.of_fd.value;

	return call->first.of_fd.value && ago <= now ? (now - ago) << PX_FORK_TICKS_SHIFT : call->record->counter;
}

/*
 * The first record of a process, or of a program that it has executed.  A child of fork() goes on with the program of
 * its parent.
 */
static void start_process(struct px_call_objects *objects, const struct px_call_read *call, bool is_new)
{
	const uint32_t pid = call->record->pid, parent = (uint32_t)call->first.of_fd.fd;
	const struct px_call_object *own = px_descriptors_process(objects, pid);
	const struct px_call_object *other = px_descriptors_process(objects, parent);
	bool executes = call->first.of_fd.value == 0; /* no fork (calls.h) */
	bool is_other = own && other && own->object.program != 0 && other->object.program != 0 &&
			own->object.program != other->object.program;

	if (executes && !is_new)
		px_descriptors_execute_as(objects, pid, (uint64_t)call->first.of_fd.result);
	else
		px_descriptors_begin_process(objects,
					     &(struct px_descriptors_child){.parent = parent,
									    .pid = pid,
									    .began_ticks = fork_ticks(call),
									    .inherits = !executes && !is_other},
					     PX_TOLD_BY_CHILD);
}

/* The data of waitpid() after the first 16 bytes. */
struct waited {
	int32_t child, status;
};

/* Return the child that has ended by the status of waitpid(), or 0. */
static uint32_t ended_child(const struct px_call_read *call)
{
	struct waited waited;

	if (call->begins || call->has_failed || call->length < sizeof(call->first) + sizeof(waited))
		return 0;
	memcpy(&waited, (const char *)call->data + sizeof(call->first), sizeof(waited));
	if (waited.child <= 0 || !(WIFEXITED(waited.status) || WIFSIGNALED(waited.status)))
		return 0;
	return (uint32_t)waited.child;
}

static void note_child(struct px_call_objects *objects, const struct px_call_read *call, int64_t pid, bool inherits)
{
	if (!call->begins && !call->has_failed && pid > 0 && pid <= INT32_MAX)
		px_descriptors_begin_process(objects,
					     &(struct px_descriptors_child){.parent = call->record->pid,
									    .pid = (uint32_t)pid,
									    .began_ticks = fork_ticks(call),
									    .inherits = inherits},
					     PX_TOLD_BY_PARENT);
}

/* The call executes a program by its path, or has failed.  A program by its descriptor has another name later. */
static void note_execution(struct px_call_objects *objects, const struct px_call_read *call)
{
	struct px_call_object *process = px_descriptors_make_process(objects, call->record->pid);
	size_t length;
	const char *path = px_call_read_text(call, &length);

	process->process.executes = 0;
	process->process.executes_by_name = path && !memchr(path, '/', length);
	if (call->begins && path && call->first.of_fd.fd < 0 && !(call->record->flags & PX_RECORD_TRUNCATED))
		process->process.executes = px_call_hash_path(path, length);
}

/* Which descriptors the child changes before it executes a program is not recorded, so nothing is known of them. */
static void note_vfork(struct px_call_objects *objects, const struct px_call_read *call)
{
	const struct px_descriptors_child child = {.pid = call->record->pid | PX_VFORK_CHILD};

	call->self->vforked = call->begins ? px_call_objects_advance(objects) : 0;
	if (call->begins)
		px_descriptors_begin_process(objects, &child, PX_TOLD_BY_NOBODY);
	else
		note_child(objects, call, call->first.of_fd.result, false);
}

uint32_t px_processes_of_descriptors(const struct px_call_objects *objects, const struct px_call_object *thread,
				     uint32_t pid)
{
	/* The end of vfork() may be among lost events. */
	return thread->vforked > px_call_objects_lost_at(objects) ? pid | PX_VFORK_CHILD : pid;
}

void px_processes_start(struct px_call_objects *objects, const struct px_threadmap *threads,
			const struct px_call_read *call)
{
	bool is_new = follow_program(objects, threads, call->record);

	if (call->call == PX_CALL_txtrace_process_start)
		start_process(objects, call, is_new);
}

void px_processes_follow(struct px_call_objects *objects, const struct px_call_read *call)
{
	const uint32_t pid = call->record->pid;

	switch (call->call) {
	case PX_CALL_fork:
		note_child(objects, call, call->first.of_fd.result, true);
		break;
	case PX_CALL_vfork:
		note_vfork(objects, call);
		break;
	case PX_CALL_posix_spawn:
		note_child(objects, call, call->first.of_fd.fd, false);
		break;
	case PX_CALL_execve:
		note_execution(objects, call);
		break;
	case PX_CALL_daemon: /* the C library opens /dev/null as these descriptors */
		for (int fd = 0; fd <= 2 && call->first.of_fd.value == 0; fd++)
			px_descriptors_close(objects, pid, fd);
		break;
	case PX_CALL_waitpid:
		px_descriptors_reap_process(objects, ended_child(call));
		break;
	case PX_CALL__exit:
	case PX_CALL_txtrace_process_end:
		px_descriptors_end_process(objects, pid);
		break;
	default:
		break;
	}
}
