/* SPDX-License-Identifier: MIT */
/*
 * Which processes of a log run a program whose modules the log lists.  These are the modules of the first process, and
 * of the last program that it executed.  A child by fork has the same modules until it executes another program.  A
 * merged log lists the modules of the first process of each log that it was made of.
 *
 * The addresses of two programs overlap.  So a *code* is an address with the number of its program in the bits above
 * CODE_ADDRESS_BITS.  The first program of a log has the number 0, so in a log that is not merged a code is an address.
 */
#ifndef TXTRACE_TRACE_PROGRAMS_H
#define TXTRACE_TRACE_PROGRAMS_H

#include <stdint.h>

#include "trace/source.h"

#define CODE_ADDRESS_BITS 48
#define CODE_PROGRAMS_MAX (1 << 15)

/* Return the address of a code, as the program has it. */
static inline uint64_t code_address(uint64_t code)
{
	return code >> 63 ? code : code & ((UINT64_C(1) << CODE_ADDRESS_BITS) - 1);
}

/*
 * Return the code of the event's address, or 0 if the log does not list the modules of its process at this event.  Call
 * this for each event, in order.
 */
uint64_t programs_code(struct programs *programs, struct source *source, const struct event *event);

/* Return the code of an address of a process, or 0 if the process ran another program at any of the events. */
uint64_t programs_code_at(const struct programs *programs, pid_t pid, uint64_t address);

/* The events begin again. */
void programs_rewind(struct programs *programs);

void programs_free(struct programs *programs);

#endif
