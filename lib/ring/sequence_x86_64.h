/* SPDX-License-Identifier: MIT */
/* The restartable sequences of sequence.h for x86-64.  Include config.h first. */
#ifndef PX_RING_SEQUENCE_X86_64_H
#define PX_RING_SEQUENCE_X86_64_H

#include "ring/sequence.h"

#if PX_HAS_CPURINGS && defined(__x86_64__)

/*
 * The sequence is between labels 1 and 2.  If a thread was disturbed in the sequence, the kernel resumes it at label 4.
 * The sequence reads the counter first.  No other thread can reserve slots before the sequence ends, so counters do not
 * fall along the ring (R2), and the later instructions need not wait for the counter.  A fence orders the read of the
 * counter after earlier loads, as in clock.h.  RDTSCP would give the same order, but it is slower where this was
 * measured (doc/performance.md).
 *
 * rdx:rax holds the counter until the end of the sequence, unless the code between these macros moves it.
 */
/* clang-format off */
#define PX_SEQUENCE_COUNTER                                                                        \
	PX_STEP "lfence\n\t"                                                                       \
	PX_STEP "rdtsc\n\t"

#define PX_SEQUENCE_BEGIN(counter)                                                                 \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
	".balign 32\n"                                                                             \
	"3:\n\t"                                                                                   \
	".long 0, 0\n\t"                                                                           \
	".quad 1f, 2f - 1f, 4f\n\t"                                                                \
	".popsection\n\t"                                                                          \
	"leaq 3b(%%rip), %[scratch]\n\t"                                                           \
	"movq %[scratch], %c[sequence_at](%[area])\n"                                              \
	"1:\n\t"                                                                                   \
	counter                                                                                    \
	PX_STEP "movl %[cpu], %k[scratch]\n\t"                                                     \
	PX_STEP "cmpl %k[scratch], %c[cpu_at](%[area])\n\t"                                        \
	"jne 5f\n\t"                                                                               \
	PX_STEP "movq %c[head_at](%[control]), %[head]\n\t"

/*
 * Store head, which completes the sequence.  The code for a sequence that was not completed is behind the function,
 * out of the way of the usual case.
 */
#define PX_SEQUENCE_END(store)                                                                     \
	PX_STEP store "\n"                                                                         \
	"2:\n\t"                                                                                   \
	"xorl %[outcome], %[outcome]\n"                                                            \
	"9:\n\t"                                                                                   \
	"movq $0, %c[sequence_at](%[area])\n\t" /* the descriptor may be unmapped later */         \
	".subsection 1\n\t"                                                                        \
	".byte 0x0f, 0xb9, 0x3d\n\t" /* ud1, and the signature that the kernel requires before label 4 */ \
	".long %c[signature]\n"                                                                    \
	"4:\n"                                                                                     \
	"5:\n\t"                                                                                   \
	"movl %[disturbed], %[outcome]\n\t"                                                        \
	"jmp 9b\n"                                                                                 \
	"6:\n\t"                                                                                   \
	"movl %[no_room], %[outcome]\n\t"                                                          \
	"jmp 9b\n"                                                                                 \
	"7:\n\t"                                                                                   \
	"movl %[held], %[outcome]\n\t"                                                             \
	"jmp 9b\n\t"                                                                               \
	".previous\n\t"

#define PX_SEQUENCE_INPUTS                                                                         \
	[control] "r"(ring->control), [slots] "r"(ring->slots), [area] "r"(cpu.area),              \
	[cpu] "rm"(cpu.number), [mask] "rm"((uint64_t)ring->mask),                                \
	[least] "rm"(bound.least), [width] "rm"(bound.width),                                      \
	[claimed] "i"(PX_SLOT_CLAIMED), [disturbed] "i"(PX_DISTURBED),       \
	[no_room] "i"(PX_NO_ROOM), [held] "i"(PX_HELD), [signature] "i"(RSEQ_SIG),                 \
	[cpu_at] "i"(offsetof(struct rseq, cpu_id)),                                               \
	[sequence_at] "i"(offsetof(struct rseq, rseq_cs)),                                         \
	[head_at] "i"(offsetof(struct px_ring_control, head)),                                     \
	[further_at] "i"(offsetof(struct px_ring_control, further)),                               \
	[extra_at] "i"(offsetof(struct px_ring_control, extra)),                                   \
	[tail_at] "i"(offsetof(struct px_ring_control, tail))

/* Take the slot at head: from the check that there is room to the store of the note. */
#define PX_SEQUENCE_ONE                                                                            \
	/* Check that there is room. */                                                            \
	PX_STEP "movq %[head], %[scratch]\n\t"                                                     \
	PX_STEP "subq %c[tail_at](%[control]), %[scratch]\n\t"                                     \
	PX_STEP "subq %[least], %[scratch]\n\t"                                                    \
	"cmpq %[width], %[scratch]\n\t"                                                            \
	"jb 6f\n\t"                                                                                \
	/* Compute the address of the slot and its new word. */                                    \
	PX_STEP "movq %[head], %[word]\n\t"                                                        \
	"andq %[mask], %[word]\n\t"                                                                \
	"leaq (%[word],%[word],2), %[word]\n\t"                                                    \
	"shlq $4, %[word]\n\t"                                                                     \
	"addq %[slots], %[word]\n\t"                                                               \
	"movq %[head], %[tag]\n\t"                                                                 \
	"shlq $25, %[tag]\n\t"                                                                     \
	/* Check that the slot is free. */                                                         \
	PX_STEP "movq (%[word]), %[scratch]\n\t"                                                   \
	PX_STEP "movq %[scratch], %[extra]\n\t"                                                    \
	"xorq %[tag], %[extra]\n\t"                                                                \
	"orq %[low], %[tag]\n\t"                                                                   \
	"andl $7, %k[scratch]\n\t"                                                                 \
	"cmpl %[claimed], %k[scratch]\n\t"                                                         \
	"jne 8f\n\t"                                                                               \
	"shrq $25, %[extra]\n\t"                                                                   \
	"jnz 7f\n"                                                                                 \
	"8:\n\t"                                                                                   \
	PX_STEP "movq %c[extra_at](%[control]), %[extra]\n\t"                                      \
	"addq %c[further_at](%[control]), %[extra]\n\t"                                            \
	PX_STEP "leaq 1(%[head]), %[scratch]\n\t"                                                  \
	PX_STEP "movq %[tag], (%[word])\n\t"                                                       \
	/* Note the position (C6).  Use a register that is free now. */                            \
	PX_STEP "movq px_first_claim@gottpoff(%%rip), %[word]\n\t"                                 \
	PX_STEP "movq %[head], %%fs:%c[position_at](%[word])\n\t"

_Static_assert(PX_TAKEN == 0 && PX_WORD_POSITION_SHIFT == 25 && sizeof(struct px_slot) == 3 << 4,
	       "the sequences depend on it");

PX_INLINE enum px_outcome px_sequence_one(const struct px_ring *ring, struct px_cpu cpu,
					  uint64_t low, struct px_bound bound,
					  struct px_reservation *at)
{
	uint64_t word, tag, scratch, high;
	uint32_t outcome;

	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN(PX_SEQUENCE_COUNTER)
		PX_SEQUENCE_ONE
		PX_SEQUENCE_END("movq %[scratch], %c[head_at](%[control])")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), "=&a"(at->counter),
		  "=&d"(high), [word] "=&r"(word), [tag] "=&r"(tag), [scratch] "=&r"(scratch),
		  [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [low] "rm"(low),
		  [position_at] "i"(offsetof(struct px_claim, position))
		: "memory", "cc");
	at->counter |= high << 32;
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
		PX_STEP "cmpq %[expected], %[head]\n\t"
		"jne 7f\n\t"
		PX_STEP "movq %[horizon], %[scratch]\n\t"
		PX_STEP "subq %[counter], %[scratch]\n\t"
		"jg 7f\n\t"
		PX_SEQUENCE_ONE
		PX_SEQUENCE_END("movq %[scratch], %c[head_at](%[control])")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), [word] "=&r"(word),
		  [tag] "=&r"(tag), [scratch] "=&r"(scratch), [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [low] "rm"(low), [expected] "rm"(earlier->head),
		  [counter] "rm"(earlier->counter), [horizon] "m"(*earlier->horizon),
		  [position_at] "i"(offsetof(struct px_claim, position))
		: "memory", "cc");
	at->counter = earlier->counter;
	return (enum px_outcome)outcome;
}

/*
 * Take a few slots that are next to each other.  One loop checks the slots and claims them.  If it finds a claim, it
 * leaves those behind that it has stored (C2).  A claim with this position is not taken here, to keep the loop short.
 */
PX_INLINE enum px_outcome px_sequence_few(const struct px_ring *ring, struct px_cpu cpu,
					  uint64_t n, uint64_t low, struct px_bound bound,
					  struct px_reservation *at)
{
	uint64_t slot, word, scratch, high;
	uint32_t outcome;

	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN(PX_SEQUENCE_COUNTER)
		/* Check that there is room. */
		PX_STEP "movq %[head], %[scratch]\n\t"
		PX_STEP "subq %c[tail_at](%[control]), %[scratch]\n\t"
		PX_STEP "subq %[least], %[scratch]\n\t"
		"cmpq %[width], %[scratch]\n\t"
		"jb 6f\n\t"
		/* Check that the ring does not end between the slots. */
		PX_STEP "movq %[head], %[slot]\n\t"
		"andq %[mask], %[slot]\n\t"
		"leaq -1(%[slot],%[n]), %[scratch]\n\t"
		"cmpq %[mask], %[scratch]\n\t"
		"ja 7f\n\t"
		/* Compute the address of the first slot, its new word, and the address after the last slot. */
		"leaq (%[slot],%[slot],2), %[slot]\n\t"
		"shlq $4, %[slot]\n\t"
		"addq %[slots], %[slot]\n\t"
		"movq %[head], %[word]\n\t"
		"shlq $25, %[word]\n\t"
		"orq %[low], %[word]\n\t"
		"leaq (%[n],%[n],2), %[extra]\n\t"
		"shlq $4, %[extra]\n\t"
		"addq %[slot], %[extra]\n"
		/* Claim the slots that are free. */
		"70:\n\t"
		PX_STEP "movl (%[slot]), %k[scratch]\n\t"
		PX_STEP "andl $7, %k[scratch]\n\t"
		"cmpl %[claimed], %k[scratch]\n\t"
		"je 7f\n\t"
		PX_STEP "movq %[word], (%[slot])\n\t"
		PX_STEP "addq $48, %[slot]\n\t"
		"addq $1 << 25, %[word]\n\t"
		"cmpq %[extra], %[slot]\n\t"
		"jne 70b\n\t"
		/* The new head and, beside it, the new `further` (R7). */
		PX_STEP "movq %c[further_at](%[control]), %[scratch]\n\t"
		PX_STEP "movq %c[extra_at](%[control]), %[extra]\n\t"
		"addq %[scratch], %[extra]\n\t"
		"leaq (%[head],%[n]), %[slot]\n\t"
		"leaq -1(%[scratch],%[n]), %[scratch]\n\t"
		"movq %[slot], %%xmm0\n\t"
		"movq %[scratch], %%xmm1\n\t"
		"punpcklqdq %%xmm1, %%xmm0\n\t"
		/* Note the position (C6). */
		PX_STEP "movq px_first_claim@gottpoff(%%rip), %[word]\n\t"
		PX_STEP "movq %[head], %%fs:%c[position_at](%[word])\n\t"
		PX_SEQUENCE_END("movaps %%xmm0, %c[head_at](%[control])")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), "=&a"(at->counter),
		  "=&d"(high), [slot] "=&r"(slot), [word] "=&r"(word), [scratch] "=&r"(scratch),
		  [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [n] "r"(n), [low] "rm"(low),
		  [position_at] "i"(offsetof(struct px_claim, position))
		: "memory", "cc", "xmm0", "xmm1");
	at->counter |= high << 32;
	return (enum px_outcome)outcome;
}
/* clang-format on */

_Static_assert(offsetof(struct px_sequence_request, low) == 8 && offsetof(struct px_sequence_request, advance) == 16 &&
		       offsetof(struct px_sequence_request, saved) == 24 &&
		       offsetof(struct px_sequence_request, has_saved) == 32 && PX_SLOT_VOID == 4,
	       "the sequence below");

/*
 * Take any number of slots.  If another thread holds a slot, the sequence changes the request and continues.  It then
 * reserves the slots up to and including the held slot, and makes the slots before the held slot void.  Two sequences
 * would not be enough.  Between them, the owner may free the slot, and a leftover claim may be in it.  The second
 * sequence would have to check the slot again: otherwise, the leftover claim would hold the slot until its owner exits.
 */
PX_INLINE enum px_outcome px_sequence_any(const struct px_ring *ring, struct px_cpu cpu,
					  struct px_sequence_request *request, struct px_bound bound,
					  struct px_reservation *at, uint64_t *claimed_at)
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

/* clang-format off */
PX_INLINE enum px_outcome px_sequence_try(struct rseq *area, const uint32_t *turn, uint64_t rounds)
{
	uint64_t scratch;
	uint32_t outcome;

	__asm__ __volatile__(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"3:\n\t"
		".long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		"leaq 3b(%%rip), %[scratch]\n\t"
		"movq %[scratch], %c[sequence_at](%[area])\n"
		"1:\n\t"
		"movl %[turn], %k[scratch]\n"
		"70:\n\t"
		"cmpl %[turn], %k[scratch]\n\t"
		"jne 7f\n\t"
		"decq %[rounds]\n\t"
		"jnz 70b\n"
		"2:\n\t"
		"xorl %[outcome], %[outcome]\n"
		"9:\n\t"
		"movq $0, %c[sequence_at](%[area])\n\t"
		".subsection 1\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t" /* as in PX_SEQUENCE_END */
		".long %c[signature]\n"
		"4:\n\t"
		"movl %[disturbed], %[outcome]\n\t"
		"jmp 9b\n"
		"7:\n\t"
		"movl %[held], %[outcome]\n\t"
		"jmp 9b\n\t"
		".previous\n\t"
		: [scratch] "=&r"(scratch), [outcome] "=&r"(outcome), [rounds] "+r"(rounds)
		: [area] "r"(area), [turn] "m"(*turn), [disturbed] "i"(PX_DISTURBED), [held] "i"(PX_HELD),
		  [signature] "i"(RSEQ_SIG), [sequence_at] "i"(offsetof(struct rseq, rseq_cs))
		: "memory", "cc");
	return (enum px_outcome)outcome;
}
/* clang-format on */
#endif

#endif
