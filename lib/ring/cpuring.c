/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ring/cpuring.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#if PX_HAS_CPURINGS

/* Every kernel accepts the size 32.  If the area is already registered, the call fails and does no harm. */
struct rseq *px_cpu_area_ensure(void)
{
	struct rseq *area = px_cpu_area();
	int saved_errno = errno;

	if (area)
		syscall(SYS_rseq, area, 32, 0, RSEQ_SIG);
	errno = saved_errno;
	return area;
}

/* Input of a sequence.  The sequence changes these members if another thread holds a slot. */
struct request {
	uint64_t nr_claims; /* slots to write, from head on */
	uint64_t low;	    /* new word of these slots, without the position */
	uint64_t advance;   /* slots to reserve */
	uint64_t saved;	    /* the tail for which first_lost is saved */
	uint64_t has_saved; /* 1: the sequence does not stop at the tail in `saved` */
};

_Static_assert(offsetof(struct request, low) == 8 && offsetof(struct request, advance) == 16 &&
		       offsetof(struct request, saved) == 24 &&
		       offsetof(struct request, has_saved) == 32 && PX_SLOT_VOID == 4,
	       "the sequence below");

/*
 * Take any number of slots.  If another thread holds a slot, the sequence changes the request and continues.  It then
 * reserves the slots up to and including the held slot, and makes the slots before the held slot void.  Two sequences
 * would not be enough.  Between them, the owner may free the slot, and a leftover claim may be in it.  The second
 * sequence would have to check the slot again: otherwise, the leftover claim would hold the slot until its owner exits.
 */
PX_INLINE enum px_outcome run(const struct px_ring *ring, struct px_cpu cpu, struct request *request,
			      struct px_bound bound, struct px_reservation *at, uint64_t *claimed_at)
{
	uint64_t high, slot, scratch;
	uint32_t outcome;

	/* clang-format off */
	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN(PX_SEQUENCE_COUNTER)
		/* Continue if there is room, or if first_lost was saved for this tail. */
		PX_STEP "movq %c[tail_at](%[control]), %[slot]\n\t"
		PX_STEP "movq %[head], %[scratch]\n\t"
		"subq %[slot], %[scratch]\n\t"
		"subq %[least], %[scratch]\n\t"
		"cmpq %[width], %[scratch]\n\t"
		"jae 69f\n\t"
		"subq 24+%[request], %[slot]\n\t"
		"cmpq 32+%[request], %[slot]\n\t"
		"jae 6f\n"
		"69:\n\t"
		/* Put the counter into one register, which frees the other. */
		PX_STEP "shlq $32, %%rdx\n\t"
		"orq %%rdx, %%rax\n\t"
		/* Check that the slots are free. */
		"xorl %k[slot], %k[slot]\n"
		"70:\n\t"
		"cmpq %[request], %[slot]\n\t"
		"jae 73f\n\t"
		"leaq (%[head],%[slot]), %[scratch]\n\t"
		"movq %[scratch], %%rdx\n\t"
		"shlq $25, %[scratch]\n\t"
		"andq %[mask], %%rdx\n\t"
		"leaq (%%rdx,%%rdx,2), %%rdx\n\t"
		"shlq $4, %%rdx\n\t"
		PX_STEP "movq (%[slots],%%rdx), %%rdx\n\t"
		PX_STEP "xorq %%rdx, %[scratch]\n\t"
		"andl $7, %%edx\n\t"
		"cmpl %[claimed], %%edx\n\t"
		"jne 71f\n\t"
		"shrq $25, %[scratch]\n\t"
		"jnz 72f\n"
		"71:\n\t"
		PX_STEP "incq %[slot]\n\t"
		"jmp 70b\n"
		/* This slot is held. */
		"72:\n\t"
		PX_STEP "movq %[slot], %[request]\n\t"
		"movq $4, 8+%[request]\n\t"
		"leaq 1(%[slot]), %[scratch]\n\t"
		"movq %[scratch], 16+%[request]\n"
		/* Write the slot words. */
		"73:\n\t"
		"xorl %k[slot], %k[slot]\n"
		"74:\n\t"
		"cmpq %[request], %[slot]\n\t"
		"jae 75f\n\t"
		"leaq (%[head],%[slot]), %[scratch]\n\t"
		"movq %[scratch], %%rdx\n\t"
		"shlq $25, %[scratch]\n\t"
		"orq 8+%[request], %[scratch]\n\t"
		"andq %[mask], %%rdx\n\t"
		"leaq (%%rdx,%%rdx,2), %%rdx\n\t"
		"shlq $4, %%rdx\n\t"
		PX_STEP "movq %[scratch], (%[slots],%%rdx)\n\t"
		PX_STEP "incq %[slot]\n\t"
		"jmp 74b\n"
		"75:\n\t"
		"movq %c[further_at](%[control]), %[slot]\n\t"
		"movq %c[extra_at](%[control]), %[extra]\n\t"
		"addq %[slot], %[extra]\n\t"
		/* The new head and, beside it, the new `further` (R7). */
		"movq %[head], %[scratch]\n\t"
		"addq 16+%[request], %[scratch]\n\t"
		"addq 16+%[request], %[slot]\n\t"
		"decq %[slot]\n\t"
		"movq %[scratch], %%xmm0\n\t"
		"movq %[slot], %%xmm1\n\t"
		"punpcklqdq %%xmm1, %%xmm0\n\t"
		PX_STEP "movq %[head], %[claim]\n\t" /* C6 */
		PX_SEQUENCE_END("movaps %%xmm0, %c[head_at](%[control])")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), "=&a"(at->counter),
		  "=&d"(high), [slot] "=&r"(slot), [scratch] "=&r"(scratch),
		  [outcome] "=&r"(outcome), [request] "+m"(*request), [claim] "=m"(*claimed_at)
		: PX_SEQUENCE_INPUTS
		: "memory", "cc", "xmm0", "xmm1");
	/* clang-format on */
	return (enum px_outcome)outcome;
}

/*
 * If the sequence would overwrite the record at tail, save the counter of that record and repeat the sequence.  The
 * sequence goes on only if tail is still the same, because the saved counter belongs to that record (C4).
 */
enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation,
				struct px_claim *claim)
{
	struct px_bound bound = px_bound_of(px_bound_of_one(ring->mask + 1, limit), n);
	struct request request = {
		.nr_claims = n, .low = px_word(0, tid, PX_SLOT_CLAIMED), .advance = n};
	enum px_outcome outcome;

	px_write_once(&claim->nr_slots, n);
	while ((outcome = run(ring, cpu, &request, bound, reservation, &claim->position)) == PX_NO_ROOM &&
	       limit == 0) {
		request.saved = px_load_acquire(&ring->control->tail);
		request.has_saved = 1;
		px_ring_save_first_lost(ring, request.saved);
	}
	if (outcome != PX_TAKEN)
		return outcome;
	PX_TESTPOINT("ring.reserve.done");
	if (request.nr_claims < n) {
		px_ring_skip(ring, reservation->position + request.nr_claims);
		return PX_HELD;
	}
	PX_TESTPOINT("ring.claim.done");
	px_write_fence(); /* EDGE claim release */
	return PX_TAKEN;
}

#else

struct rseq *px_cpu_area_ensure(void)
{
	return NULL;
}

enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation,
				struct px_claim *claim)
{
	(void)ring, (void)cpu, (void)n, (void)limit, (void)tid, (void)reservation, (void)claim;
	return PX_DISTURBED; /* no thread has an area */
}

#endif
