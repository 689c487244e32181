/* SPDX-License-Identifier: MIT */
#include "trace/wait_status.h"

#include <stdio.h>
#include <sys/wait.h>

#include "base/number_names.h"

static void put_signal(int number, const char *before, const char *behind, char *text, size_t size)
{
	const char *name = signal_number_name(number);

	if (name)
		snprintf(text, size, "%sSIG%s%s", before, name, behind);
	else
		snprintf(text, size, "%ssignal %d%s", before, number, behind);
}

void wait_status_text(int status, char *text, size_t size)
{
	if (WIFEXITED(status))
		snprintf(text, size, "exit %d", WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		put_signal(WTERMSIG(status), "", WCOREDUMP(status) ? ", core dumped" : "", text, size);
	else if (WIFSTOPPED(status))
		put_signal(WSTOPSIG(status), "stopped by ", "", text, size);
	else
		snprintf(text, size, "continued");
}
