/* SPDX-License-Identifier: MIT */
/*
 * The unwind table of a module (.eh_frame_hdr, .eh_frame): where the caller of the code at an address is.
 *
 * The kernel reads the tables (unwind_memory.h).  What another module could have put there meanwhile is checked as any
 * other input.  Only forms that compilers and linkers write are known; all others count as "no rule".
 */
#ifndef PX_TRACE_EH_FRAME_H
#define PX_TRACE_EH_FRAME_H

#include <features.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/unwind_memory.h"

/* Older C libraries cannot find the table of an address without a lock. */
#if defined(__x86_64__) && defined(__GLIBC__)
#define PX_HAS_EH_FRAME __GLIBC_PREREQ(2, 35)
#else
#define PX_HAS_EH_FRAME 0
#endif

/*
 * The rule for one step: how to find the CFA, which is the stack pointer of the caller.  The return address is in the
 * word below the CFA.
 */
enum px_cfa_kind {
	PX_CFA_NONE, /* no table, or a rule that this code does not know */
	PX_CFA_RSP,
	PX_CFA_RBP,
	PX_CFA_AT_RBP, /* the CFA is in the stack, at rbp + offset: functions that align their stack */
	PX_CFA_SIGNAL, /* the kernel has stored the registers of the interrupted code */
	PX_CFA_END     /* there is no caller */
};

/* The rbp of the caller. */
enum px_fp_kind { PX_FP_SAME, PX_FP_SAVED, PX_FP_AT_RBP, PX_FP_LOST };

/*
 * A rule is a word: 3 bits enum px_cfa_kind, 2 bits enum px_fp_kind, 6 bits for the words from the saved rbp up to the
 * CFA, 21 bits for the words of the offset.
 */
#define PX_RULE_FP_BIT 3
#define PX_RULE_SAVED_BIT 5
#define PX_RULE_OFFSET_BIT 11
#define PX_RULE_OFFSET_MAX ((int64_t)1 << 20)

/*
 * Find the rule for an address in the table of its module.  Return false if the table cannot be read; memory->end then
 * may have the reason.
 */
bool px_eh_frame_rule(struct px_unwind_memory *memory, uintptr_t header, uintptr_t address, uint32_t *rule);

#endif
