/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/frames.h"

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/confined.h"
#include "trace/inside.h"
#include "trace/process.h"

#define SCAN_BYTES 65536 /* a signal frame is 1 to 12 KiB, and near the frame that it interrupts */
#define SCAN_STEP 16	 /* alignment of ucontext_t in a signal frame */
#define PAGE_BYTES 4096
#define SPARE PX_FRAMES	 /* nothing reads the claim in this element */
#define FIRST PX_FRAMES	 /* number of the first call, where nested[i] is number i */
#define CALLS (PX_FRAMES + 1)
#define NESTED (((uintptr_t)1 << PX_FRAMES) - 1)
#define FIRST_STACK (64 << 20) /* no other mapping is this near to the top of the first stack */
#define OTHER_STACK (1 << 20)  /* most stacks of threads are larger; frames farther away count as on another stack */

void px_frames_note_stack(bool is_first_thread)
{
	if (px_thread.stack_top != 0)
		return; /* the thread of a child runs on the same stack as its parent's */
	px_thread.stack_size = is_first_thread ? FIRST_STACK : OTHER_STACK;
	px_thread.stack_top = is_first_thread ? getauxval(AT_RANDOM) :
						(uintptr_t)__builtin_thread_pointer();
}

static bool is_on_usual_stack(uintptr_t address)
{
	return px_thread.stack_top - address < px_thread.stack_size;
}

static bool is_on_first_stack(void)
{
	return px_thread.stack_size == FIRST_STACK;
}

/*
 * The kernel sets uc_link to 0, and uc_flags to a few low bits.  The other tests exclude most memory that is not a
 * signal frame.  If such memory passes all tests, the only effect is that slots are freed later.
 */
static bool is_signal_frame(uintptr_t at, uintptr_t above)
{
#if defined(__x86_64__) || defined(__aarch64__)
	const volatile ucontext_t *context = (const volatile ucontext_t *)at;
	uintptr_t sp;

#if defined(__x86_64__)
	if ((context->uc_mcontext.gregs[REG_EFL] & ~INT64_C(0x3FFFFD)) != 2)
		return false; /* in the flags register, bit 1 is always set, and no bit above 21 */
	sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
	sp = (uintptr_t)context->uc_mcontext.sp;
#endif
	return context->uc_flags < 256 && context->uc_link == NULL && sp > at && sp <= above;
#else
	(void)at, (void)above;
	return true; /* the layout is unknown, so this may be a signal frame */
#endif
}

/*
 * Return true if all pages from `from` to `to` can be read.  The guard page at the lower end of a thread's stack
 * cannot.  So an unreadable page may separate two stacks.
 */
static bool is_readable(uintptr_t from, uintptr_t to)
{
	struct iovec page[SCAN_BYTES / PAGE_BYTES + 2];
	char bytes[sizeof(page) / sizeof(page[0])];
	struct iovec here = {bytes, 0};
	unsigned long n = 0;

	for (uintptr_t at = from; at < to; at = (at & ~(uintptr_t)(PAGE_BYTES - 1)) + PAGE_BYTES)
		page[n++] = (struct iovec){(void *)at, 1};
	here.iov_len = n;
	return syscall(SYS_process_vm_readv, (pid_t)px_read_once(&px_gate.self.pid), &here, 1UL, page,
		       n, 0UL) == (long)n;
}

/* Return true if a signal handler that has interrupted the call with the frame `above` may still be running (F2). */
__attribute__((no_sanitize("address"), no_sanitize("thread"))) static bool
is_interrupted(uintptr_t above, uintptr_t below)
{
	if (above - below > SCAN_BYTES - sizeof(ucontext_t))
		return true;
	/* is_readable() makes a system call, so a thread calls it only in every eighth such case. */
	if (!is_on_first_stack() &&
	    (++px_thread.nr_doubts % 8 != 0 || !is_readable(below, above)))
		return true;
	for (uintptr_t at = above & ~(uintptr_t)(SCAN_STEP - 1); at >= below + SCAN_STEP; at -= SCAN_STEP)
		if (at + sizeof(ucontext_t) <= above && is_signal_frame(at, above))
			return true;
	return false;
}

static bool was_left(uintptr_t older, uintptr_t newer)
{
	bool is_usual = is_on_usual_stack(newer), was_usual = is_on_usual_stack(older);
	stack_t stack;
	bool is_alternate, was_alternate;

	if (was_usual && (!is_usual || older > newer))
		return is_usual && !is_interrupted(older, newer); /* F2 F4 */
	if (syscall(SYS_sigaltstack, NULL, &stack) != 0)
		return false;
	is_alternate = stack.ss_flags & SS_ONSTACK;
	was_alternate = !(stack.ss_flags & SS_DISABLE) &&
			older - 1 - (uintptr_t)stack.ss_sp < stack.ss_size;
	if (was_alternate)
		return is_alternate ? older <= newer : is_usual; /* F3 */
	return is_usual && was_usual && !is_alternate; /* F1 F4 */
}

static uintptr_t address_of(uint32_t i)
{
	return i == FIRST ? px_read_once(&px_thread.calls) & ~NESTED :
			    px_read_once(&px_thread.nested[i].address);
}

static struct px_claim *claim_of(uint32_t i)
{
	return i == FIRST ? &px_first_claim : &px_thread.nested[i].claim;
}

/*
 * Two calls may have claims at the same position of two rings.  A note does not name the ring, so it cannot tell these
 * claims apart.
 */
static bool is_shared_position(const struct px_claim *claim, uint32_t left)
{
	for (uint32_t i = 0; i < CALLS; i++) {
		const struct px_claim *other = claim_of(i);

		if (address_of(i) != 0 && !(left >> i & 1) &&
		    (claim->position - other->position <= other->nr_slots ||
		     other->position - claim->position <= claim->nr_slots))
			return true;
	}
	return false;
}

static void free_claim(struct px_claim *claim)
{
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_view *view = px_load_acquire(&px_gate.self.view[i]);

		for (uint32_t k = 0; view && k < view->rings.nr_rings; k++) {
			struct px_ring ring = px_rings_get(&view->rings, k);

			px_ring_free_left(&ring, claim, px_thread.tid, k >= view->rings.nr_shared);
		}
	}
	claim->unclaimed = claim->kept = NULL;
	claim->uncounted = 0;
}

static void free_left(uint32_t left, const uintptr_t address[])
{
	for (uint32_t i = 0; i < CALLS; i++) {
		if (!(left >> i & 1) || address_of(i) != address[i] ||
		    is_shared_position(claim_of(i), left))
			continue;
		free_claim(claim_of(i));
		if (i == FIRST) {
			px_fetch_and(&px_thread.calls, NESTED);
		} else {
			px_fetch_and(&px_thread.calls, ~((uintptr_t)1 << i));
			px_write_once(&px_thread.nested[i].address, (uintptr_t)0);
		}
		PX_TESTPOINT("frame.left.freed");
	}
}

/*
 * Block signals while claims are freed: otherwise a handler could reuse a note for a call of its own, and leave that
 * call too.
 */
void px_calls_free_left(uintptr_t address)
{
	uint64_t all = ~UINT64_C(0), before;
	uintptr_t older[CALLS];
	int saved_errno = errno;
	uintptr_t *inside;
	uint32_t left = 0;

	if (px_thread.is_shared || px_is_confined())
		return;
	for (uint32_t i = 0; i < CALLS; i++) {
		older[i] = address_of(i);
		if (older[i] != 0 && was_left(older[i], address))
			left |= UINT32_C(1) << i;
	}
	PX_TESTPOINT("frame.left.found");
	if (left != 0 && syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all)) == 0) {
		inside = px_inside_enter();
		free_left(left, older);
		px_inside_leave(inside);
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	}
	errno = saved_errno;
}

/*
 * If two threads use this storage at once, each would believe that the calls of the other were left.  So these threads
 * use the spare element, and so does a call that finds all notes in use.  If such a call is left, its claim stays until
 * the thread ends.
 */
struct px_frame *px_frame_enter(uintptr_t address)
{
	if (px_read_once(&px_thread.calls) != 0)
		px_calls_free_left(address);
	for (uint32_t i = 0; i < PX_FRAMES && !px_thread.is_shared; i++) {
		struct px_frame *frame = &px_thread.nested[i];

		if (!px_compare_exchange(&frame->address, (uintptr_t)0, address))
			continue;
		PX_TESTPOINT("frame.nested.entered");
		px_fetch_or(&px_thread.calls, (uintptr_t)1 << i);
		return frame;
	}
	return &px_thread.nested[SPARE];
}

/* Clear the bit first.  The element is in use until its address is 0, so no handler takes it between the two steps. */
void px_frame_leave(struct px_frame *frame)
{
	if (frame == &px_thread.nested[SPARE])
		return;
	px_fetch_and(&px_thread.calls, ~((uintptr_t)1 << (frame - px_thread.nested)));
	PX_TESTPOINT("frame.nested.left");
	px_write_once(&frame->address, (uintptr_t)0);
}
