/* SPDX-License-Identifier: MIT */
#include "wrap/vfork_exec.h"

#include <errno.h>

#include "hook.h"
#include "wrap/text_arg.h"

#define NOTES_MAX 8 /* threads that can be in vfork() at the same time */

enum note_state { FREE, IN_USE, NOTED };

static struct note {
	uint32_t state; /* enum note_state */
	pid_t pid;
	void *caller;
	char path[256];
} notes[NOTES_MAX];

uint32_t px_vfork_exec_nr_noted;

void px_vfork_exec_note(const char *path, void *caller)
{
	size_t length = px_probe_length(path, sizeof(notes[0].path) - 1);

	for (int i = 0; i < NOTES_MAX; i++) {
		struct note *note = &notes[i];

		if (!px_compare_exchange(&note->state, (uint32_t)FREE, (uint32_t)IN_USE))
			continue;
		note->pid = (pid_t)syscall(SYS_getpid);
		note->caller = caller;
		memcpy(note->path, path, length);
		note->path[length] = '\0';
		px_store_release(&note->state, (uint32_t)NOTED);
		px_fetch_add(&px_vfork_exec_nr_noted, 1);
		return;
	}
}

void px_vfork_exec_withdraw(void)
{
	pid_t pid = (pid_t)syscall(SYS_getpid);

	for (int i = 0; i < NOTES_MAX; i++) {
		struct note *note = &notes[i];

		if (px_read_once(&note->state) == NOTED && note->pid == pid &&
		    px_compare_exchange(&note->state, (uint32_t)NOTED, (uint32_t)FREE)) {
			px_fetch_add(&px_vfork_exec_nr_noted, (uint32_t)-1);
			return;
		}
	}
}

static void record(const struct note *note)
{
	struct px_text_arg arg = {.data.of_fd = {.fd = note->pid}};

	if (!PX_NOT_TRACED(process))
		px_text_arg_record(PX_SITE_WITHOUT_WRAPPER(VFORK_EXEC, txtrace_vfork_exec, note->caller),
				   PX_RECORD_WHOLE, &arg, note->path);
}

void px_vfork_exec_record_noted(void)
{
	int saved_errno = errno;

	if (px_in_vfork_child())
		return;
	for (int i = 0; i < NOTES_MAX; i++) {
		if (!px_compare_exchange(&notes[i].state, (uint32_t)NOTED, (uint32_t)IN_USE))
			continue;
		px_fetch_add(&px_vfork_exec_nr_noted, (uint32_t)-1);
		record(&notes[i]);
		px_store_release(&notes[i].state, (uint32_t)FREE);
	}
	errno = saved_errno;
}

void px_vfork_exec_forget(void)
{
	for (int i = 0; i < NOTES_MAX; i++)
		px_write_once(&notes[i].state, (uint32_t)FREE);
	px_write_once(&px_vfork_exec_nr_noted, 0);
}
