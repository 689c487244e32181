/* SPDX-License-Identifier: MIT */
/*
 * The restartable sequences of sequence.h for aarch64.  Include config.h first.
 *
 * The processor is weakly ordered.  Two threads that run on one CPU see each other's accesses in the order of their
 * programs, because the kernel orders them when it switches.  So C1 ...  C4, C6 and C7 of cpuring.h, and counters
 * that do not fall (R2), need no barrier in the sequence.  These orders reach other CPUs:
 *
 *	state word, then counter	The caller has branched on the state word.  An ISB after a branch is also after
 *			the load that the branch depends on.
 *	tail, then claim	The sequence branches on tail, and a store does not overtake a branch (R4, edge free).
 *			The load of the slot word may overtake it.  Then it finds an older word: the claim of a
 *			sleeping thread, which the general sequence passes, or a slot that was freed.  Only this
 *			CPU claims slots.
 *	claims, then head	The last instruction is a store with release (STLR, STLXP).
 *	first_lost, then claim	px_cpuring_take() puts a fence between them (R5, edge lost).
 *	claims, then data	The fence after the sequence (R3, edge claim).
 *	head, then state word	Nothing orders them here, as on x86-64: the barrier of C5 does.  It is an interrupt on
 *			this CPU, so all instructions before it are complete, the read of the counter, too.
 *
 * STP is not one access on all processors, so an interrupt could divide it.  STLXP stores head and `further` at once
 * (R7).  If it fails, it has stored nothing, and the thread counts as disturbed.  A debugger that steps through the
 * sequence makes it fail each time: see PX_TAKE_DISTURBED_MAX in take.h.
 */
#ifndef PX_RING_SEQUENCE_AARCH64_H
#define PX_RING_SEQUENCE_AARCH64_H

#include "ring/sequence.h"

#if PX_HAS_CPURINGS && defined(__aarch64__)

/*
 * The sequence is between labels 1 and 2.  If a thread was disturbed in the sequence, the kernel resumes it at label 4.
 * The sequence reads the counter first.  No other thread can reserve slots before the sequence ends, so counters do not
 * fall along the ring (R2).  See clock.h for the two ways to read the counter.
 */
/* clang-format off */
#define PX_SEQUENCE_COUNTER                                                                        \
	PX_STEP "cbnz %w[synchronized], 78f\n\t"                                                   \
	PX_STEP "isb\n\t"                                                                          \
	PX_STEP "mrs %x[counter], cntvct_el0\n\t"                                                  \
	PX_STEP "b 79f\n"                                                                          \
	"78:\n\t"                                                                                  \
	PX_STEP "mrs %x[counter], " PX_CLOCK_SYNCHRONIZED "\n"                                     \
	"79:\n\t"

#define PX_SEQUENCE_BEGIN(counter)                                                                 \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
	".balign 32\n"                                                                             \
	"3:\n\t"                                                                                   \
	".long 0, 0\n\t"                                                                           \
	".quad 1f, 2f - 1f, 4f\n\t"                                                                \
	".popsection\n\t"                                                                          \
	"adrp %x[scratch], 3b\n\t"                                                                 \
	"add %x[scratch], %x[scratch], :lo12:3b\n\t"                                               \
	"str %x[scratch], [%x[area], %c[sequence_at]]\n"                                           \
	"1:\n\t"                                                                                   \
	counter                                                                                    \
	PX_STEP "ldr %w[scratch], [%x[area], %c[cpu_at]]\n\t"                                      \
	PX_STEP "cmp %w[scratch], %w[cpu]\n\t"                                                     \
	PX_STEP "b.ne 5f\n\t"                                                                      \
	PX_STEP "ldr %x[head], [%x[control]]\n\t"

/*
 * Store head, which completes the sequence.  The instruction `check` after it makes sure that it did.  The code for a
 * sequence that was not completed is behind the function, out of the way of the usual case.
 */
#define PX_SEQUENCE_END(store, check)                                                              \
	PX_STEP store "\n"                                                                         \
	"2:\n\t"                                                                                   \
	check                                                                                      \
	"mov %w[outcome], wzr\n"                                                                   \
	"9:\n\t"                                                                                   \
	"str xzr, [%x[area], %c[sequence_at]]\n\t" /* the descriptor may be unmapped later */      \
	".subsection 1\n\t"                                                                        \
	".balign 4\n\t"                                                                            \
	".long %c[signature]\n" /* a BRK, which the kernel requires before label 4 */              \
	"4:\n"                                                                                     \
	"5:\n\t"                                                                                   \
	"mov %w[outcome], %[disturbed]\n\t"                                                        \
	"b 9b\n"                                                                                   \
	"6:\n\t"                                                                                   \
	"mov %w[outcome], %[no_room]\n\t"                                                          \
	"b 9b\n"                                                                                   \
	"7:\n\t"                                                                                   \
	"mov %w[outcome], %[held]\n\t"                                                             \
	"b 9b\n\t"                                                                                 \
	".previous\n\t"

#define PX_SEQUENCE_INPUTS                                                                         \
	[control] "r"(ring->control), [slots] "r"(ring->slots), [area] "r"(cpu.area),              \
	[cpu] "r"(cpu.number), [mask] "r"((uint64_t)ring->mask),                                   \
	[least] "r"(bound.least), [width] "r"(bound.width),                                        \
	[claimed] "i"(PX_SLOT_CLAIMED), [disturbed] "i"(PX_DISTURBED),                             \
	[no_room] "i"(PX_NO_ROOM), [held] "i"(PX_HELD), [signature] "i"(RSEQ_SIG),                 \
	[cpu_at] "i"(offsetof(struct rseq, cpu_id)),                                               \
	[sequence_at] "i"(offsetof(struct rseq, rseq_cs)),                                         \
	[extra_at] "i"(offsetof(struct px_ring_control, extra)),                                   \
	[further_at] "i"(offsetof(struct px_ring_control, further)),                               \
	[tail_at] "i"(offsetof(struct px_ring_control, tail))

/* Check that there is room. */
#define PX_SEQUENCE_ROOM                                                                           \
	PX_STEP "ldr %x[scratch], [%x[control], %c[tail_at]]\n\t"                                  \
	PX_STEP "sub %x[scratch], %x[head], %x[scratch]\n\t"                                       \
	PX_STEP "sub %x[scratch], %x[scratch], %x[least]\n\t"                                      \
	PX_STEP "cmp %x[scratch], %x[width]\n\t"                                                   \
	PX_STEP "b.lo 6f\n\t"

/* The address of a slot from its index, both in this register. */
#define PX_SEQUENCE_SLOT(slot)                                                                     \
	"add " slot ", " slot ", " slot ", lsl #1\n\t"                                             \
	PX_STEP "add " slot ", %x[slots], " slot ", lsl #4\n\t"

/* Store head + n, and further + n - 1 beside it. */
#define PX_SEQUENCE_END_OF(n, next, further)                                                       \
	PX_STEP "ldr %x[extra], [%x[control], %c[extra_at]]\n\t"                                   \
	PX_STEP "add " next ", %x[head], " n "\n\t"                                                \
	PX_STEP "ldxp %x[scratch], " further ", [%x[control]]\n\t"                                 \
	PX_STEP "add %x[extra], %x[extra], " further "\n\t"                                        \
	"add " further ", " further ", " n "\n\t"                                                  \
	"sub " further ", " further ", #1\n\t"                                                     \
	PX_SEQUENCE_END("stlxp %w[outcome], " next ", " further ", [%x[control]]", "cbnz %w[outcome], 5f\n\t")

/* Take the slot at head: from the check that there is room to the end. */
#define PX_SEQUENCE_ONE                                                                            \
	PX_SEQUENCE_ROOM                                                                           \
	/* Compute the address of the slot and its new word. */                                    \
	PX_STEP "and %x[word], %x[head], %x[mask]\n\t"                                             \
	PX_SEQUENCE_SLOT("%x[word]")                                                               \
	PX_STEP "lsl %x[tag], %x[head], #25\n\t"                                                   \
	/* Check that the slot is free. */                                                         \
	PX_STEP "ldr %x[scratch], [%x[word]]\n\t"                                                  \
	PX_STEP "eor %x[extra], %x[scratch], %x[tag]\n\t"                                          \
	PX_STEP "orr %x[tag], %x[tag], %x[low]\n\t"                                                \
	PX_STEP "and %x[scratch], %x[scratch], #7\n\t"                                             \
	PX_STEP "cmp %x[scratch], %[claimed]\n\t"                                                  \
	PX_STEP "b.ne 8f\n\t"                                                                      \
	PX_STEP "lsr %x[extra], %x[extra], #25\n\t"                                                \
	PX_STEP "cbnz %x[extra], 7f\n"                                                             \
	"8:\n\t"                                                                                   \
	PX_STEP "ldr %x[extra], [%x[control], %c[extra_at]]\n\t"                                   \
	PX_STEP "ldr %x[scratch], [%x[control], %c[further_at]]\n\t"                               \
	PX_STEP "add %x[extra], %x[extra], %x[scratch]\n\t"                                        \
	PX_STEP "add %x[scratch], %x[head], #1\n\t"                                                \
	PX_STEP "str %x[tag], [%x[word]]\n\t"                                                      \
	PX_STEP "str %x[head], [%x[note]]\n\t" /* C6 */                                            \
	PX_SEQUENCE_END("stlr %x[scratch], [%x[control]]", "")

_Static_assert(PX_TAKEN == 0 && PX_WORD_POSITION_SHIFT == 25 && sizeof(struct px_slot) == 3 << 4 &&
		       offsetof(struct px_ring_control, head) == 0,
	       "the sequences depend on it");

PX_INLINE enum px_outcome px_sequence_one(const struct px_ring *ring, struct px_cpu cpu,
					  uint64_t low, struct px_bound bound,
					  struct px_reservation *at)
{
	uint64_t word, tag, scratch;
	uint32_t outcome;

	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN(PX_SEQUENCE_COUNTER)
		PX_SEQUENCE_ONE
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), [counter] "=&r"(at->counter),
		  [word] "=&r"(word), [tag] "=&r"(tag), [scratch] "=&r"(scratch), [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [low] "r"(low), [note] "r"(&px_first_claim.position),
		  [synchronized] "r"(px_read_once(&px_clock_is_synchronized))
		: "memory", "cc");
	return (enum px_outcome)outcome;
}

PX_INLINE enum px_outcome px_sequence_again(const struct px_ring *ring, struct px_cpu cpu,
					    uint64_t low, struct px_bound bound,
					    const struct px_earlier *earlier,
					    struct px_reservation *at)
{
	uint64_t word, tag, scratch;
	uint32_t outcome;

	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN("")
		/* Check that no later counter can be in the ring, and that no reader has passed this one. */
		PX_STEP "cmp %x[head], %x[expected]\n\t"
		PX_STEP "b.ne 7f\n\t"
		PX_STEP "ldr %x[scratch], [%x[horizon]]\n\t"
		PX_STEP "cmp %x[scratch], %x[counter]\n\t"
		PX_STEP "b.gt 7f\n\t"
		PX_SEQUENCE_ONE
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), [word] "=&r"(word),
		  [tag] "=&r"(tag), [scratch] "=&r"(scratch), [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [low] "r"(low), [expected] "r"(earlier->head),
		  [counter] "r"(earlier->counter), [horizon] "r"(earlier->horizon),
		  [note] "r"(&px_first_claim.position)
		: "memory", "cc");
	at->counter = earlier->counter;
	return (enum px_outcome)outcome;
}

/*
 * One loop checks the slots and claims them.  If it finds a claim, it leaves those behind that it has stored (C2).  A
 * claim with this position is not taken here, to keep the loop short.
 */
PX_INLINE enum px_outcome px_sequence_few(const struct px_ring *ring, struct px_cpu cpu,
					  uint64_t n, uint64_t low, struct px_bound bound,
					  struct px_reservation *at)
{
	uint64_t slot, word, scratch;
	uint32_t outcome;

	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN(PX_SEQUENCE_COUNTER)
		PX_SEQUENCE_ROOM
		/* Check that the ring does not end between the slots. */
		PX_STEP "and %x[slot], %x[head], %x[mask]\n\t"
		PX_STEP "add %x[scratch], %x[slot], %x[n]\n\t"
		PX_STEP "sub %x[scratch], %x[scratch], #1\n\t"
		PX_STEP "cmp %x[scratch], %x[mask]\n\t"
		PX_STEP "b.hi 7f\n\t"
		/* Compute the address of the first slot, its new word, and the address after the last slot. */
		PX_SEQUENCE_SLOT("%x[slot]")
		PX_STEP "lsl %x[word], %x[head], #25\n\t"
		PX_STEP "orr %x[word], %x[word], %x[low]\n\t"
		PX_STEP "add %x[extra], %x[n], %x[n], lsl #1\n\t"
		PX_STEP "add %x[extra], %x[slot], %x[extra], lsl #4\n"
		/* Claim the slots that are free. */
		"70:\n\t"
		PX_STEP "ldr %w[scratch], [%x[slot]]\n\t"
		PX_STEP "and %w[scratch], %w[scratch], #7\n\t"
		PX_STEP "cmp %w[scratch], %[claimed]\n\t"
		PX_STEP "b.eq 7f\n\t"
		PX_STEP "str %x[word], [%x[slot]], #48\n\t"
		PX_STEP "add %x[word], %x[word], %x[position_one]\n\t"
		PX_STEP "cmp %x[slot], %x[extra]\n\t"
		PX_STEP "b.ne 70b\n\t"
		PX_STEP "str %x[head], [%x[note]]\n\t" /* C6 */
		PX_SEQUENCE_END_OF("%x[n]", "%x[word]", "%x[slot]")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), [counter] "=&r"(at->counter),
		  [slot] "=&r"(slot), [word] "=&r"(word), [scratch] "=&r"(scratch), [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [n] "r"(n), [low] "r"(low), [note] "r"(&px_first_claim.position),
		  [position_one] "r"(UINT64_C(1) << PX_WORD_POSITION_SHIFT),
		  [synchronized] "r"(px_read_once(&px_clock_is_synchronized))
		: "memory", "cc");
	return (enum px_outcome)outcome;
}

_Static_assert(offsetof(struct px_sequence_request, low) == 8 && offsetof(struct px_sequence_request, advance) == 16 &&
		       offsetof(struct px_sequence_request, saved) == 24 &&
		       offsetof(struct px_sequence_request, has_saved) == 32 && PX_SLOT_VOID == 4,
	       "the sequence below");

/* If another thread holds a slot, the sequence changes the request and continues, as on x86-64. */
PX_INLINE enum px_outcome px_sequence_any(const struct px_ring *ring, struct px_cpu cpu,
					  struct px_sequence_request *request, struct px_bound bound,
					  struct px_reservation *at, uint64_t *claimed_at)
{
	uint64_t slot, word, nr, scratch;
	uint32_t outcome;

	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN(PX_SEQUENCE_COUNTER)
		/* Continue if there is room, or if first_lost was saved for this tail. */
		PX_STEP "ldr %x[slot], [%x[control], %c[tail_at]]\n\t"
		PX_STEP "sub %x[scratch], %x[head], %x[slot]\n\t"
		PX_STEP "sub %x[scratch], %x[scratch], %x[least]\n\t"
		PX_STEP "cmp %x[scratch], %x[width]\n\t"
		PX_STEP "b.hs 69f\n\t"
		PX_STEP "ldp %x[scratch], %x[word], [%x[request], #24]\n\t"
		PX_STEP "sub %x[slot], %x[slot], %x[scratch]\n\t"
		PX_STEP "cmp %x[slot], %x[word]\n\t"
		PX_STEP "b.hs 6f\n"
		"69:\n\t"
		/* Check that the slots are free. */
		PX_STEP "mov %x[slot], xzr\n\t"
		PX_STEP "ldr %x[nr], [%x[request]]\n"
		"70:\n\t"
		PX_STEP "cmp %x[slot], %x[nr]\n\t"
		PX_STEP "b.hs 73f\n\t"
		PX_STEP "add %x[scratch], %x[head], %x[slot]\n\t"
		PX_STEP "and %x[word], %x[scratch], %x[mask]\n\t"
		PX_STEP "lsl %x[scratch], %x[scratch], #25\n\t"
		PX_SEQUENCE_SLOT("%x[word]")
		PX_STEP "ldr %x[word], [%x[word]]\n\t"
		PX_STEP "eor %x[scratch], %x[scratch], %x[word]\n\t"
		PX_STEP "and %x[word], %x[word], #7\n\t"
		PX_STEP "cmp %x[word], %[claimed]\n\t"
		PX_STEP "b.ne 71f\n\t"
		PX_STEP "lsr %x[scratch], %x[scratch], #25\n\t"
		PX_STEP "cbnz %x[scratch], 72f\n"
		"71:\n\t"
		PX_STEP "add %x[slot], %x[slot], #1\n\t"
		PX_STEP "b 70b\n"
		/* This slot is held. */
		"72:\n\t"
		PX_STEP "str %x[slot], [%x[request]]\n\t"
		PX_STEP "mov %x[nr], %x[slot]\n\t"
		PX_STEP "mov %x[word], %[voided]\n\t"
		PX_STEP "add %x[scratch], %x[slot], #1\n\t"
		PX_STEP "stp %x[word], %x[scratch], [%x[request], #8]\n"
		/* Write the slot words. */
		"73:\n\t"
		PX_STEP "mov %x[slot], xzr\n"
		"74:\n\t"
		PX_STEP "cmp %x[slot], %x[nr]\n\t"
		PX_STEP "b.hs 75f\n\t"
		PX_STEP "add %x[scratch], %x[head], %x[slot]\n\t"
		PX_STEP "ldr %x[extra], [%x[request], #8]\n\t"
		PX_STEP "orr %x[extra], %x[extra], %x[scratch], lsl #25\n\t"
		PX_STEP "and %x[word], %x[scratch], %x[mask]\n\t"
		PX_SEQUENCE_SLOT("%x[word]")
		PX_STEP "str %x[extra], [%x[word]]\n\t"
		PX_STEP "add %x[slot], %x[slot], #1\n\t"
		PX_STEP "b 74b\n"
		"75:\n\t"
		PX_STEP "ldr %x[nr], [%x[request], #16]\n\t"
		PX_STEP "str %x[head], [%x[note]]\n\t" /* C6 */
		PX_SEQUENCE_END_OF("%x[nr]", "%x[word]", "%x[slot]")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), [counter] "=&r"(at->counter),
		  [slot] "=&r"(slot), [word] "=&r"(word), [nr] "=&r"(nr), [scratch] "=&r"(scratch),
		  [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [request] "r"(request), [note] "r"(claimed_at), [voided] "i"(PX_SLOT_VOID),
		  [synchronized] "r"(px_read_once(&px_clock_is_synchronized))
		: "memory", "cc");
	return (enum px_outcome)outcome;
}

PX_INLINE enum px_outcome px_sequence_try(struct rseq *area, const uint32_t *turn, uint64_t rounds)
{
	uint64_t scratch, seen;
	uint32_t outcome;

	__asm__ __volatile__(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"3:\n\t"
		".long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		"adrp %x[scratch], 3b\n\t"
		"add %x[scratch], %x[scratch], :lo12:3b\n\t"
		"str %x[scratch], [%x[area], %c[sequence_at]]\n"
		"1:\n\t"
		"ldr %w[seen], [%x[turn]]\n"
		"70:\n\t"
		"ldr %w[scratch], [%x[turn]]\n\t"
		"cmp %w[scratch], %w[seen]\n\t"
		"b.ne 7f\n\t"
		"subs %x[rounds], %x[rounds], #1\n\t"
		"b.ne 70b\n"
		"2:\n\t"
		"mov %w[outcome], wzr\n"
		"9:\n\t"
		"str xzr, [%x[area], %c[sequence_at]]\n\t"
		".subsection 1\n\t"
		".balign 4\n\t"
		".long %c[signature]\n" /* as in PX_SEQUENCE_END */
		"4:\n\t"
		"mov %w[outcome], %[disturbed]\n\t"
		"b 9b\n"
		"7:\n\t"
		"mov %w[outcome], %[held]\n\t"
		"b 9b\n\t"
		".previous\n\t"
		: [scratch] "=&r"(scratch), [seen] "=&r"(seen), [outcome] "=&r"(outcome), [rounds] "+r"(rounds)
		: [area] "r"(area), [turn] "r"(turn), [disturbed] "i"(PX_DISTURBED), [held] "i"(PX_HELD),
		  [signature] "i"(RSEQ_SIG), [sequence_at] "i"(offsetof(struct rseq, rseq_cs))
		: "memory", "cc");
	return (enum px_outcome)outcome;
}
/* clang-format on */
#endif

#endif
