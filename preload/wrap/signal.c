/* SPDX-License-Identifier: MIT */
/*
 * A trace shows signal handlers as interrupts.  The kernel calls one of our handlers.  Our handler records an event,
 * calls the program's handler, and records another event.  The wrappers install our handlers only if TXTRACE_EVENTS
 * turns on the group signal.  If the program asks for its old handler, it gets its own handler, not ours.
 *
 * We have one handler for handlers with one argument and another for handlers with three arguments.  Each has its own
 * table of the program's handlers.  So even if a signal comes between two calls of sigaction(), each of our handlers
 * finds a handler of the right kind.
 */
#include "hook.h"

typedef void (*plain_handler)(int number);
typedef void (*full_handler)(int number, siginfo_t *info, void *context);

static plain_handler plain[NSIG];
static full_handler full[NSIG];

static void record_enter(uintptr_t handler, int number)
{
	struct px_site site = PX_SITE_WITHOUT_WRAPPER(HANDLER_ENTER, txtrace_handler_enter,
						      (void *)handler);

	if (!PX_NOT_TRACED(signal))
		px_hook_record(site, PX_RECORD_WHOLE, (void *)handler, (uint32_t)number, 0, 0);
}

static void record_exit(uintptr_t handler, int number)
{
	struct px_site site = PX_SITE_WITHOUT_WRAPPER(HANDLER_EXIT, txtrace_handler_exit,
						      (void *)handler);

	if (!PX_NOT_TRACED(signal))
		px_hook_record(site, PX_RECORD_WHOLE, (void *)handler, (uint32_t)number, 0, 0);
}

static void on_plain(int number)
{
	plain_handler handler = px_load_acquire(&plain[number]);

	record_enter((uintptr_t)handler, number);
	handler(number);
	record_exit((uintptr_t)handler, number);
}

static void on_full(int number, siginfo_t *info, void *context)
{
	full_handler handler = px_load_acquire(&full[number]);

	record_enter((uintptr_t)handler, number);
	handler(number, info, context);
	record_exit((uintptr_t)handler, number);
}

/* True after we have installed a handler.  From then on, always translate the results of sigaction(). */
static bool is_used;

static bool is_left_alone(int number)
{
	if (number <= 0 || number >= NSIG)
		return true;
	if (!PX_NOT_TRACED(signal))
		px_write_once(&is_used, true);
	return !px_read_once(&is_used);
}

static bool is_function(plain_handler handler)
{
	return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR
#ifdef SIG_HOLD
	       && handler != SIG_HOLD
#endif
		;
}

/* If the installed handler is ours, return the program's former handler. */
static plain_handler handler_of_program(plain_handler installed, plain_handler former_plain,
					full_handler former_full)
{
	if (installed == on_plain)
		return former_plain;
	if ((uintptr_t)installed == (uintptr_t)on_full)
		return (plain_handler)(uintptr_t)former_full;
	return installed;
}

static int traced_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	plain_handler former_plain = px_load_acquire(&plain[number]);
	full_handler former_full = px_load_acquire(&full[number]);
	struct sigaction ours;
	int result;

	if (action && is_function(action->sa_handler)) {
		ours = *action;
		if (action->sa_flags & SA_SIGINFO) {
			px_store_release(&full[number], action->sa_sigaction);
			ours.sa_sigaction = on_full;
		} else {
			px_store_release(&plain[number], action->sa_handler);
			ours.sa_handler = on_plain;
		}
		action = &ours;
	}
	result = px_real.sigaction(number, action, old);
	if (result == 0 && old)
		old->sa_handler = handler_of_program(old->sa_handler, former_plain, former_full);
	return result;
}

PX_WRAP int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
	if (is_left_alone(number))
		return px_real.sigaction(number, action, old);
	return traced_sigaction(number, action, old);
}

static plain_handler traced_signal(plain_handler (*real)(int, plain_handler), int number,
				   plain_handler handler)
{
	plain_handler former_plain = px_load_acquire(&plain[number]);
	full_handler former_full = px_load_acquire(&full[number]);

	if (is_function(handler)) {
		px_store_release(&plain[number], handler);
		handler = on_plain;
	}
	return handler_of_program(real(number, handler), former_plain, former_full);
}

#define SIGNAL(name)                                                                               \
	PX_WRAP plain_handler name(int number, plain_handler handler)                              \
	{                                                                                          \
		if (is_left_alone(number))                                                         \
			return px_real.name(number, handler);                                      \
		return traced_signal(px_real.name, number, handler);                               \
	}

SIGNAL(signal)
SIGNAL(ssignal)
SIGNAL(sysv_signal)
SIGNAL(__sysv_signal)
SIGNAL(bsd_signal)
SIGNAL(sigset)
