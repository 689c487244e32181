/* SPDX-License-Identifier: MIT */
/*
 * Recorded stacks.  The preloaded object records an event txtrace_stack directly after the event of the call to which
 * the stack belongs, in the same thread.
 */
#ifndef TXTRACE_TRACE_STACK_H
#define TXTRACE_TRACE_STACK_H

#include "trace/source.h"
#include "trace/symbols.h"

#define STACK_FRAMES 32

struct stack {
	uint64_t id; /* equal stacks have the same number */
	unsigned int nr;
	unsigned int end;	     /* why it ends: 0: the thread began there */
	bool is_unlisted;	     /* the log does not list the modules of this program, so its code has no names */
	uint64_t frame[STACK_FRAMES]; /* return addresses; the caller of the recorded call is the first */
};

/* Return true if the event is a stack.  Store it. */
bool stack_read(const struct event *event, struct stack *stack);

/* Return the reason why a stack ends, such as "the code has no unwind table", or NULL if the stack is whole. */
const char *stack_cut(unsigned int end);

/*
 * Leave out the outermost functions that are not in the program itself, such as _start() and those of the C library
 * that call main().  If no function is in the program, change nothing.
 */
void stack_trim(struct symbols *symbols, struct stack *stack);

/*
 * Return the stack in one line, with the outermost function first: "main;run;take".  If the stack is cut, it begins
 * with "[cut]".  This is the form for flame graphs.  symbols: NULL if there are none.  The caller frees the text.
 */
char *stack_fold(struct symbols *symbols, const struct stack *stack);

/* Call a function for each line of a stack as text, the caller of the recorded call first: "take (pool.c:12)". */
void stack_lines(struct symbols *symbols, const struct stack *stack, void (*line)(void *arg, const char *text),
		 void *arg);

#endif
