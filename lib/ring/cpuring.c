/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "ring/cpuring.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#if PX_HAS_CPURINGS

/* Of the size that every kernel takes.  Who is watched already is told so by an error. */
struct rseq *px_cpu_area_ensure(void)
{
	struct rseq *area = px_cpu_area();
	int saved_errno = errno;

	if (area)
		syscall(SYS_rseq, area, 32, 0, RSEQ_SIG);
	errno = saved_errno;
	return area;
}

/* What a sequence is to do, and has done. */
struct order {
	uint64_t nr_claims; /* slots from head on that get this word but for the position, */
	uint64_t low;
	uint64_t advance;   /* and that are reserved */
	uint64_t saved;	    /* this tail is no bound any more, */
	uint64_t has_saved; /* if this is 1 */
};

_Static_assert(offsetof(struct order, low) == 8 && offsetof(struct order, advance) == 16 &&
		       offsetof(struct order, saved) == 24 &&
		       offsetof(struct order, has_saved) == 32 && PX_SLOT_VOID == 4,
	       "the sequence below");

/*
 * Any number of slots.  Where one is held, the order becomes: reserve up to it, and make those ahead of it void.
 * That is in the same sequence: until another one came to it the slot could be free, and a claim be left over there,
 * of somebody who knows nothing of it; reserved without another look, it would be his for as long as he lives.
 */
static enum px_outcome run(const struct px_ring *ring, struct px_cpu cpu, struct order *given,
			   struct px_bound bound, struct px_reservation *at)
{
	struct order order = *given;
	uint64_t high, slot, scratch;
	uint32_t outcome;

	/* clang-format off */
	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN
		/* Is there room, or is this the tail that is no bound any more? */
		PX_STEP "movq %c[tail_at](%[control]), %[slot]\n\t"
		PX_STEP "movq %[head], %[scratch]\n\t"
		"subq %[slot], %[scratch]\n\t"
		"subq %[least], %[scratch]\n\t"
		"cmpq %[width], %[scratch]\n\t"
		"jae 69f\n\t"
		"subq 24+%[order], %[slot]\n\t"
		"cmpq 32+%[order], %[slot]\n\t"
		"jae 6f\n"
		"69:\n\t"
		/* The counter into one register, so that there is another to work with. */
		PX_STEP "shlq $32, %%rdx\n\t"
		"orq %%rdx, %%rax\n\t"
		/* Are the slots free? */
		"xorl %k[slot], %k[slot]\n"
		"70:\n\t"
		"cmpq %[order], %[slot]\n\t"
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
		/* This one is not. */
		"72:\n\t"
		PX_STEP "movq %[slot], %[order]\n\t"
		"movq $4, 8+%[order]\n\t"
		"leaq 1(%[slot]), %[scratch]\n\t"
		"movq %[scratch], 16+%[order]\n"
		/* Their words. */
		"73:\n\t"
		"xorl %k[slot], %k[slot]\n"
		"74:\n\t"
		"cmpq %[order], %[slot]\n\t"
		"jae 75f\n\t"
		"leaq (%[head],%[slot]), %[scratch]\n\t"
		"movq %[scratch], %%rdx\n\t"
		"shlq $25, %[scratch]\n\t"
		"orq 8+%[order], %[scratch]\n\t"
		"andq %[mask], %%rdx\n\t"
		"leaq (%%rdx,%%rdx,2), %%rdx\n\t"
		"shlq $4, %%rdx\n\t"
		PX_STEP "movq %[scratch], (%[slots],%%rdx)\n\t"
		PX_STEP "incq %[slot]\n\t"
		"jmp 74b\n"
		"75:\n\t"
		"movq %c[extra_at](%[control]), %[extra]\n\t"
		"movq %[head], %[scratch]\n\t"
		"addq 16+%[order], %[scratch]\n\t"
		PX_SEQUENCE_END("%[scratch]")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), "=&a"(at->counter),
		  "=&d"(high), [slot] "=&r"(slot), [scratch] "=&r"(scratch),
		  [outcome] "=&r"(outcome), [order] "+m"(order)
		: PX_SEQUENCE_INPUTS
		: "memory", "cc");
	/* clang-format on */
	*given = order;
	return (enum px_outcome)outcome;
}

/*
 * Where the record at tail is the next to go, its counter is saved, and the sequence goes on while the tail is the
 * same: else another one may have come to be the next (C4).
 */
enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation)
{
	struct px_bound bound = px_bound_of(ring, n, limit);
	struct order order = {.nr_claims = n, .low = px_word(0, tid, PX_SLOT_CLAIMED), .advance = n};
	enum px_outcome outcome = run(ring, cpu, &order, bound, reservation);

	while (outcome == PX_NO_ROOM && limit == 0) {
		order.saved = px_load_acquire(&ring->control->tail);
		order.has_saved = 1;
		px_ring_save_first_lost(ring, order.saved);
		outcome = run(ring, cpu, &order, bound, reservation);
	}
	if (outcome != PX_TAKEN)
		return outcome;
	PX_TESTPOINT("ring.reserve.done");
	if (order.advance > 1)
		px_fetch_add(&ring->control->extra, order.advance - 1);
	if (order.nr_claims < n) {
		px_ring_skip(ring, reservation->position + order.nr_claims);
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
				uint64_t limit, uint32_t tid, struct px_reservation *reservation)
{
	(void)ring, (void)cpu, (void)n, (void)limit, (void)tid, (void)reservation;
	return PX_DISTURBED; /* nobody has an area */
}

#endif
