/* SPDX-License-Identifier: MIT */
#include "trace/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "trace/programs.h"

bool stack_read(const struct event *event, struct stack *stack)
{
	uint16_t nr, end;

	if (!event->is_call || event->size < LAYOUT_BYTES || !event->row ||
	    strcmp(event->row->name, "txtrace_stack") != 0)
		return false;
	memset(stack, 0, sizeof(*stack));
	memcpy(&stack->id, event->data, sizeof(stack->id));
	memcpy(&nr, event->data + 12, sizeof(nr));
	memcpy(&end, event->data + 14, sizeof(end));
	stack->nr = nr < STACK_FRAMES ? nr : STACK_FRAMES;
	if (stack->nr > (event->size - LAYOUT_BYTES) / sizeof(stack->frame[0]))
		stack->nr = (unsigned int)((event->size - LAYOUT_BYTES) / sizeof(stack->frame[0]));
	stack->end = end;
	stack->is_unlisted = event->code == 0 && event->address != 0;
	memcpy(stack->frame, event->data + LAYOUT_BYTES, stack->nr * sizeof(stack->frame[0]));
	/* The frames are of the program that recorded the stack. */
	for (unsigned int i = 0; event->code != event->address && event->code != 0 && i < stack->nr; i++)
		if (stack->frame[i] >> CODE_ADDRESS_BITS == 0)
			stack->frame[i] |= event->code - code_address(event->code);
	/* Programs of a merged log can have the same addresses. */
	if (event->code != 0)
		stack->id ^= (event->code - code_address(event->code)) * UINT64_C(0x9E3779B97F4A7C15);
	return true;
}

const char *stack_cut(unsigned int end)
{
	static const char *const reasons[] = {
		NULL,
		"there are more frames",
		"the code has no unwind table",
		"the stack or an unwind table could not be read",
		"the stack does not agree with the unwind tables",
		"the program filters its system calls",
	};

	return end < sizeof(reasons) / sizeof(reasons[0]) ? reasons[end] : "unknown reason";
}

/* Return the function of a frame, with the functions that are inlined there.  Their number is 0 if no name is known. */
static const struct symbols_frame *frames_of(struct symbols *symbols, const struct stack *stack, unsigned int i,
					     unsigned int *nr)
{
	*nr = 0;
	return symbols && !stack->is_unlisted ? symbols_frames(symbols, stack->frame[i], nr) : NULL;
}

void stack_trim(struct symbols *symbols, struct stack *stack)
{
	for (unsigned int i = stack->nr; symbols && !stack->is_unlisted && i-- > 0;) {
		unsigned int nr;
		const struct symbols_frame *frame = symbols_frames(symbols, stack->frame[i], &nr);

		if (!symbols_is_program(symbols, stack->frame[i]) ||
		    (nr > 0 && strcmp(frame[0].function, "_start") == 0))
			continue;
		if (i + 1 < stack->nr)
			stack->end = 0;
		stack->nr = i + 1;
		return;
	}
}

/* In a line of a flame graph, ';' separates functions, and the last blank is before the number. */
static void put_name(FILE *to, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? '?' : *name, to);
}

char *stack_fold(struct symbols *symbols, const struct stack *stack)
{
	const char *separator = "";
	char *text = NULL;
	size_t size;
	FILE *to = must(open_memstream(&text, &size));

	if (stack_cut(stack->end)) {
		fputs("[cut]", to);
		separator = ";";
	}
	for (unsigned int i = stack->nr; i-- > 0;) {
		unsigned int nr;
		const struct symbols_frame *frame = frames_of(symbols, stack, i, &nr);

		for (unsigned int k = nr; k-- > 0; separator = ";") {
			fputs(separator, to);
			put_name(to, frame[k].function);
		}
		if (nr == 0)
			fprintf(to, "%s0x%" PRIx64, separator, code_address(stack->frame[i]));
		separator = ";";
	}
	fclose(to);
	return must(text);
}

void stack_lines(struct symbols *symbols, const struct stack *stack, void (*line)(void *arg, const char *text),
		 void *arg)
{
	const char *cut = stack_cut(stack->end);
	char text[512];

	for (unsigned int i = 0; i < stack->nr; i++) {
		unsigned int nr;
		const struct symbols_frame *frame = frames_of(symbols, stack, i, &nr);

		for (unsigned int k = 0; k < nr; k++) {
			int used = snprintf(text, sizeof(text), "%.400s", frame[k].function);

			if (frame[k].file)
				used += snprintf(text + used, sizeof(text) - (size_t)used, " (%.60s:%d)", frame[k].file,
						 frame[k].line);
			if (frame[k].is_inlined)
				snprintf(text + used, sizeof(text) - (size_t)used, " [inlined]");
			line(arg, text);
		}
		if (nr == 0) {
			snprintf(text, sizeof(text), "0x%" PRIx64, code_address(stack->frame[i]));
			line(arg, text);
		}
	}
	if (cut) {
		snprintf(text, sizeof(text), "(cut here: %s)", cut);
		line(arg, text);
	}
}
