/* SPDX-License-Identifier: MIT */
/*
 * A call with a text after its data: a name, a path or a command.  If the text is too long, record only its beginning.
 * If the text cannot be read, record no text.
 */
#ifndef PX_PRELOAD_WRAP_TEXT_ARG_H
#define PX_PRELOAD_WRAP_TEXT_ARG_H

#include <string.h>

#include "hook.h"
#include "wrap/probe.h"

struct px_text_arg {
	union px_call_data data;
	char text[PX_CALL_PATH_MAX];
};

/* text is NULL if the call has no text. */
PX_INLINE void px_text_arg_record(struct px_site site, uint32_t flags, struct px_text_arg *arg,
				  const char *text)
{
	size_t length = px_probe_length(text, sizeof(arg->text));

	if (length > 0)
		memcpy(arg->text, text, length);
	px_hook_record_long(site, flags, arg, sizeof(arg->data) + length);
}

#endif
