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
#define FIRST PX_FRAMES	 /* number of the first call; nested[i] has the number i */
#define CALLS (PX_FRAMES + 1)
#define NEAR_ABOVE 2048	 /* a signal frame, a handler and a trace point together need more (F1) */
/* F1: the smallest signal frame is larger.  On ARM it has 752 bytes, on s390x without vector registers about 800. */
#if defined(__x86_64__) || defined(__aarch64__)
#define NEAR_BELOW 1024
#else
#define NEAR_BELOW 640
#endif
#define USUAL_ABOVE 8192 /* F2: a coroutine inside the usual stack has more room left than this */
#define STACK_MAX (64 << 20) /* nothing else is mapped so near to the top of the first stack */

/* The sanitizers do not let a function read the stack frames of other functions. */
#define READS_ANY_STACK __attribute__((no_sanitize("address"), no_sanitize("thread")))

void px_frames_note_stack(bool is_first_thread)
{
	struct px_inside *entry = px_inside_own();

	if (!entry || entry->stack_top != 0)
		return; /* the thread of a child runs on the same stack as its parent's */
	entry->stack_top = is_first_thread ? getauxval(AT_RANDOM) :
					     (uintptr_t)px_thread_pointer();
	entry->stack_low = entry->stack_top - (is_first_thread ? STACK_MAX : 0);
	entry->stack_ends = is_first_thread;
	entry->interruption = 0;
}

/*
 * Find out how far down memory can be read: from `from` to *lowest_readable, which is not below `to`.  Return false if
 * the kernel does not tell: a filter may refuse the call, and an emulator may not have it.
 */
static bool find_readable(uintptr_t from, uintptr_t to, uintptr_t *lowest_readable)
{
	struct iovec page[SCAN_BYTES / PAGE_BYTES + 2];
	char bytes[sizeof(page) / sizeof(page[0])];
	struct iovec here = {bytes, 0};
	uintptr_t lowest = (from - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
	unsigned long n = 0;
	long nr_read;

	for (page[n++] = (struct iovec){(void *)lowest, 1}; lowest > to; n++) {
		lowest -= PAGE_BYTES;
		page[n] = (struct iovec){(void *)lowest, 1};
	}
	here.iov_len = n;
	nr_read = syscall(SYS_process_vm_readv, (pid_t)px_read_once(&px_gate.self.pid), &here, 1UL,
			  page, n, 0UL);
	*lowest_readable = from;
	if (nr_read <= 0)
		return nr_read == 0 || errno == EFAULT;
	lowest = (uintptr_t)page[nr_read - 1].iov_base;
	*lowest_readable = lowest > to ? lowest : to;
	return true;
}

/* The stack of a thread ends above the first page that cannot be read.  Look only as far down as needed. */
static bool is_on_usual_stack(uintptr_t address)
{
	struct px_inside *entry = px_inside_own();

	if (!entry || entry->stack_top - address - 1 >= STACK_MAX)
		return false;
	while (address < entry->stack_low && !entry->stack_ends) {
		uintptr_t to = entry->stack_low - SCAN_BYTES;

		find_readable(entry->stack_low, to, &entry->stack_low);
		entry->stack_ends = entry->stack_low != to;
	}
	return address >= entry->stack_low;
}

uintptr_t px_frames_top_above(uintptr_t address)
{
	return is_on_usual_stack(address) ? px_inside_own()->stack_top : 0;
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
		return false; /* in the flags register, bit 1 is always set, and the bits above 21 never are */
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
 * Return true if there is a signal frame above `below` whose handler has interrupted the call with this frame.  A
 * thread that has left such a call searches at each event, until other frames have overwritten the signal frame.  So
 * look first at the place where the last search found it.
 */
__attribute__((no_sanitize("address"), no_sanitize("thread"))) static bool
is_interrupted(uintptr_t above, uintptr_t below)
{
	struct px_inside *entry = px_inside_own();
	uintptr_t at = entry->interruption, lowest;

	if (at > below && at < above && above - at >= sizeof(ucontext_t) && is_signal_frame(at, above))
		return true;
	if (!find_readable(above, below, &lowest))
		return true;
	for (at = above & ~(uintptr_t)(SCAN_STEP - 1); at >= lowest + SCAN_STEP; at -= SCAN_STEP) {
		if (at + sizeof(ucontext_t) > above || !is_signal_frame(at, above))
			continue;
		entry->interruption = at;
		return true;
	}
	return false;
}

enum verdict { RUNS, SEEMS_LEFT, WAS_LEFT };

/* Call this if both frames are on the usual stack, and not near each other. */
static bool may_be_interrupted(uintptr_t older, uintptr_t newer)
{
	if (older < newer)
		return newer - older >= USUAL_ABOVE && is_interrupted(older, older - SCAN_BYTES);
	return older - newer > SCAN_BYTES - sizeof(ucontext_t) || is_interrupted(older, newer);
}

static enum verdict judge(uintptr_t older, uintptr_t newer)
{
	bool is_near = newer - older < NEAR_ABOVE || older - newer < NEAR_BELOW;
	bool is_usual = is_near || is_on_usual_stack(newer), was_usual = is_near || is_on_usual_stack(older);
	bool is_alternate, was_alternate;
	stack_t stack;

	if (!is_near && is_usual && was_usual && may_be_interrupted(older, newer))
		return RUNS;
	if (syscall(SYS_sigaltstack, NULL, &stack) != 0)
		return RUNS;
	is_alternate = stack.ss_flags & SS_ONSTACK;
	was_alternate = !(stack.ss_flags & SS_DISABLE) &&
			older - 1 - (uintptr_t)stack.ss_sp < stack.ss_size;
	if (was_alternate)
		return (is_alternate ? older <= newer : is_on_usual_stack(newer)) ? WAS_LEFT : RUNS; /* F3 */
	if (is_alternate || !is_usual || !was_usual)
		return RUNS;			       /* F4 */
	return older <= newer ? WAS_LEFT : SEEMS_LEFT; /* F1 F2 */
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

/* Call px_inside_doubt() for a call before the mark of the call goes away. */
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

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

static bool block_signals(uint64_t *before)
{
	uint64_t blocked = ~UINT64_C(0);

	for (size_t i = 0; i < PX_ARRAY_SIZE(faults); i++)
		blocked &= ~(UINT64_C(1) << (faults[i] - 1));
	return syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, before, sizeof(blocked)) == 0;
}

/* Block signals before the call begins: a handler in between could leave it. */
struct px_claiming px_calls_enter_nested(uintptr_t address)
{
	struct px_claiming call = {0};
	int saved_errno = errno;

	if (px_thread.word && px_read_once(px_thread.word) != 0)
		px_calls_free_left(address);
	call.running.frame = px_frame_find(address);
	if (call.running.frame)
		return call;
	call.has_blocked = !px_is_confined() && block_signals(&call.signals);
	call.running.frame = px_frame_take(address);
	errno = saved_errno;
	return call;
}

void px_calls_leave_nested(struct px_claiming call)
{
	int saved_errno = errno;

	px_frame_leave(call.running.frame);
	if (call.has_blocked)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &call.signals, NULL, sizeof(call.signals));
	errno = saved_errno;
}
