/* SPDX-License-Identifier: MIT */
/* txtrace why: which thread ended a wait, or signalled its object too early. */
#ifndef TXTRACE_WAITS_WHY_WAKERS_H
#define TXTRACE_WAITS_WHY_WAKERS_H

#include "waits/why_chain.h"

/* Print the signals of the object during the wait, or that there was none. */
void why_wakers_print(const struct why_chain *why, const struct kept_wait *is, unsigned int depth);

/* Print how the wait ended. */
void why_wakers_print_end(const struct why_chain *why, const struct wait *wait, unsigned int depth);

#endif
