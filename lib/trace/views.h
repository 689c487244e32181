/* SPDX-License-Identifier: MIT */
/*
 * The memory of the views of this process.  When a stream has ended, the process retires its view: it frees the view as
 * soon as no thread can be using it (inside.h).  All functions are async-signal-safe.  Include config.h first.
 */
#ifndef PX_TRACE_VIEWS_H
#define PX_TRACE_VIEWS_H

#include "ring/segment.h"

/* Get memory for a view, or NULL. */
struct px_view *px_views_allocate(void);

/* Free a view that no other thread has seen. */
void px_views_free(struct px_view *view);

/*
 * The caller has taken the view out of the table of the process.  Replace its memory by private memory, and free both
 * the view and the memory as soon as no thread can be using them.  Any number of threads may call this for the same
 * view.  They call it between px_inside_enter() and px_inside_leave().
 */
void px_views_retire(struct px_view *view);

/* Free retired views if possible.  Do not call this between px_inside_enter() and px_inside_leave(). */
void px_views_reclaim(void);

/*
 * If many retired views are not freed yet, wait for at most 50 ms until some are free: a thread that was preempted
 * inside a trace point may soon leave it.  Trace points must not call this.
 */
void px_views_settle(void);

/* The fork handler calls this in the child, after px_inside_after_fork(). */
void px_views_after_fork(void);

#endif
