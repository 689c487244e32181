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
#include "trace/process.h"

#define SCAN_BYTES 65536 /* a signal frame is 1 to 12 KiB, and near the frame that it interrupts */
#define SCAN_STEP 16	 /* alignment of ucontext_t in a signal frame */
#define PAGE_BYTES 4096
#define FIRST PX_FRAMES	 /* number of the first call, where nested[i] is number i */
#define CALLS (PX_FRAMES + 1)
#define FIRST_STACK (64 << 20) /* nothing else is mapped so near to the top of the first stack */
#define OTHER_STACK (1 << 20)  /* most stacks of threads are larger; frames beyond count as on another stack */

/* The sanitizers do not let a function read the frames of others. */
#define READS_ANY_STACK __attribute__((no_sanitize("address"), no_sanitize("thread")))

void px_frames_note_stack(bool is_first_thread)
{
	struct px_inside *entry = px_inside_own();

	if (!entry || entry->stack_top != 0)
		return; /* the thread of a child runs on the same stack as its parent's */
	entry->stack_size = is_first_thread ? FIRST_STACK : OTHER_STACK;
	entry->stack_top = is_first_thread ? getauxval(AT_RANDOM) :
					     (uintptr_t)__builtin_thread_pointer();
}

static bool is_on_usual_stack(uintptr_t address)
{
	const struct px_inside *entry = px_inside_own();

	return entry && entry->stack_top - address < entry->stack_size;
}

/*
 * The kernel sets uc_link to 0, and uc_flags to a few low bits.  The other tests exclude most memory that is not a
 * signal frame.  If such memory passes all tests, the only effect is that slots are freed later.
 */
READS_ANY_STACK static bool is_signal_frame(uintptr_t at, uintptr_t above)
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

/* Return true if a signal handler may run that has interrupted the call with this frame (F2). */
READS_ANY_STACK static bool is_interrupted(uintptr_t above, uintptr_t below)
{
	struct px_inside *entry = px_inside_own();

	if (above - below > SCAN_BYTES - sizeof(ucontext_t))
		return true;
	/* The check is a system call, so only each eighth event of a handler makes it. */
	if (entry->stack_size != FIRST_STACK &&
	    (++entry->nr_doubts % 8 != 0 || !is_readable(below, above)))
		return true;
	for (uintptr_t at = above & ~(uintptr_t)(SCAN_STEP - 1); at >= below + SCAN_STEP; at -= SCAN_STEP)
		if (at + sizeof(ucontext_t) <= above && is_signal_frame(at, above))
			return true;
	return false;
}

enum verdict { RUNS, SEEMS_LEFT, WAS_LEFT };

static enum verdict judge(uintptr_t older, uintptr_t newer)
{
	bool is_usual = is_on_usual_stack(newer), was_usual = is_on_usual_stack(older);
	stack_t stack;
	bool is_alternate, was_alternate;

	if (was_usual && (!is_usual || older > newer))
		return is_usual && !is_interrupted(older, newer) ? SEEMS_LEFT : RUNS; /* F2 F4 */
	if (syscall(SYS_sigaltstack, NULL, &stack) != 0)
		return RUNS;
	is_alternate = stack.ss_flags & SS_ONSTACK;
	was_alternate = !(stack.ss_flags & SS_DISABLE) &&
			older - 1 - (uintptr_t)stack.ss_sp < stack.ss_size;
	if (was_alternate)
		return (is_alternate ? older <= newer : is_usual) ? WAS_LEFT : RUNS; /* F3 */
	return is_usual && was_usual && !is_alternate ? WAS_LEFT : RUNS; /* F1 F4 */
}

/* A thread without an entry has only its first call. */
static uintptr_t address_of(uint32_t i)
{
	const struct px_inside *entry = px_inside_own();

	if (i == FIRST)
		return px_read_once(px_thread.word) & ~PX_FRAMES_BITS;
	return entry ? px_read_once(&entry->nested[i].address) : 0;
}

static struct px_claim *claim_of(uint32_t i)
{
	return i == FIRST ? &px_first_claim : &px_inside_own()->nested[i].claim;
}

/*
 * Two calls may have claims at the same position of two rings.  A note does not name the ring, so it cannot tell these
 * claims apart.
 */
static bool is_shared_position(const struct px_claim *claim, uint32_t left)
{
	for (uint32_t i = 0; i < CALLS; i++) {
		const struct px_claim *other;

		if (address_of(i) == 0 || left >> i & 1)
			continue;
		other = claim_of(i);
		if (claim->position - other->position <= other->nr_slots ||
		    other->position - claim->position <= claim->nr_slots)
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
}

/* Doubt a call before its mark goes away. */
static void free_left(uint32_t left, uint32_t doubted, const uintptr_t address[])
{
	for (uint32_t i = 0; i < CALLS; i++) {
		if (!(left >> i & 1) || address_of(i) != address[i] ||
		    is_shared_position(claim_of(i), left))
			continue;
		free_claim(claim_of(i));
		if (doubted >> i & 1)
			px_inside_doubt(address[i]);
		if (i == FIRST)
			px_fetch_and(px_thread.word, PX_FRAMES_BITS);
		else
			px_frame_leave(&px_inside_own()->nested[i]);
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
	uint32_t left = 0, doubted = 0;

	if (px_thread.is_shared || px_is_confined())
		return;
	for (uint32_t i = 0; i < CALLS; i++) {
		enum verdict verdict;

		older[i] = address_of(i);
		verdict = older[i] != 0 ? judge(older[i], address) : RUNS;
		left |= (uint32_t)(verdict != RUNS) << i;
		doubted |= (uint32_t)(verdict == SEEMS_LEFT) << i;
	}
	PX_TESTPOINT("frame.left.found");
	if (left != 0 && syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all)) == 0) {
		px_inside_enter_unnoted();
		free_left(left, doubted, older);
		px_inside_leave_unnoted();
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	}
	errno = saved_errno;
}

/* If a call without a note is left, its claim stays until the thread ends. */
struct px_frame *px_frame_enter(uintptr_t address)
{
	if (px_thread.word && px_read_once(px_thread.word) != 0)
		px_calls_free_left(address);
	return px_frame_take(address);
}
