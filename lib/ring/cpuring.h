/* SPDX-License-Identifier: MIT */
/*
 * A ring that belongs to one CPU.  Its writers are the threads of any process that run on that CPU, so no two of them
 * write head at the same time.  Reserve and claim need no locked instructions here.  Include config.h first.
 *
 * Reserve and claim are one *restartable sequence* (rseq(2)): a few instructions.  The last of them stores head, and so
 * makes the reservation.  If the kernel preempts the thread in the sequence, moves it to another CPU, or runs a signal
 * handler, the thread leaves the sequence and begins again.  Everything else is as in ring.h, for writers and readers.
 * The owner of the claim writes and commits the record outside of the sequence, on any CPU.
 *
 * The differences from ring.h:
 *
 *	C1  Only restartable sequences on this CPU move head and claim slots.  They use plain stores.  A thread without
 *	    an rseq area, or on a CPU without a ring, writes to a shared ring (take.h).
 *	C2  An unfinished sequence leaves claims or void slots behind, at head and beyond.  These positions are not
 *	    reserved, so such slots hold no event.  The next sequence recognises them by their position and takes them.
 *	C3  Such a slot may have replaced the oldest record of a ring that loops.  A reader can then find that record
 *	    lapped although no writer has reserved its slot again.  The record is lost, as when a writer laps it.
 *	C4  A writer saves first_lost before it runs the sequence that overwrites the record at tail (R5).
 *	C5  The store of head is not a barrier for later loads.  So a writer that finds the stream running may have a
 *	    reservation that other threads do not see yet.  A thread that stops a stream, or changes its filter, makes
 *	    all CPUs pass a barrier (membarrier.h).  After that it sees the reservation.
 *	    Nothing orders the second load of the state after the read of the counter, either.  But the barrier is an
 *	    interrupt, so it comes between two instructions of the writer.  If it comes before that load, the load finds
 *	    the new state.  If it comes after it, the counter was read before the barrier, so STOP has a later one.
 *	C6  The sequence notes the position (px_claim) before it stores head.  So if a handler leaves the writer by
 *	    siglongjmp(), each claim below head is noted.  A note that an unfinished sequence made is out of date.
 *	C7  A sequence may use a counter that was read earlier, if head is the same as before that read.  Then all
 *	    counters in the ring are older (R2).
 *
 * A child of vfork() uses the memory of its parent, including the rseq area of the calling thread.  The kernel does not
 * watch that area for the child until the child registers it: px_cpu_area_ensure().
 */
#ifndef PX_RING_CPURING_H
#define PX_RING_CPURING_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"

#if defined(HAVE_RSEQ_ABI) && HAVE_RSEQ_ABI && defined(__x86_64__)
#define PX_HAS_CPURINGS 1
#include <sys/rseq.h>
#else
#define PX_HAS_CPURINGS 0
struct rseq;
#endif

/* Return false if the C library registers no rseq areas in this process. */
PX_INLINE bool px_cpu_may_have_area(void)
{
#if PX_HAS_CPURINGS
	return __rseq_size > 0;
#else
	return false;
#endif
}

/* Return the rseq area that the C library has registered for the calling thread, or NULL. */
PX_INLINE struct rseq *px_cpu_area(void)
{
#if PX_HAS_CPURINGS
	if (px_cpu_may_have_area()) {
		char *thread = __builtin_thread_pointer();
		struct rseq *area = (struct rseq *)(void *)(thread + __rseq_offset);

		if ((int32_t)px_read_once(&area->cpu_id) >= 0)
			return area;
	}
#endif
	return NULL;
}

/*
 * Return the same area as px_cpu_area(), and make sure that the kernel watches it.  A child of vfork() and its own
 * children must call this.  Async-signal-safe; keeps errno.  Makes a system call.
 */
struct rseq *px_cpu_area_ensure(void);

/*
 * The CPU of a thread.  If the thread has an rseq area, the sequence checks that the thread still runs on this CPU.
 * Otherwise the number may be out of date.
 */
struct px_cpu {
	uint32_t number;
	struct rseq *area;
};

PX_INLINE struct px_cpu px_cpu_of(struct rseq *area)
{
	int number;

#if PX_HAS_CPURINGS
	if (px_likely(area))
		return (struct px_cpu){px_read_once(&area->cpu_id), area};
#else
	(void)area;
#endif
	number = sched_getcpu();
	return (struct px_cpu){number < 0 ? 0 : (uint32_t)number, NULL};
}

enum px_outcome {
	PX_TAKEN,    /* reserved and claimed */
	PX_NO_ROOM,  /* the ring is bounded and full */
	PX_HELD,     /* the slots are reserved, but not claimed: another thread holds one of them */
	PX_DISTURBED /* nothing was done: read the CPU again and retry */
};

/*
 * Reserve n slots of the ring of this CPU, and claim them for tid.  For limit, see px_ring_reserve().  The clock is
 * always PX_CLOCK_HARDWARE.
 */
enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation,
				struct px_claim *claim);

/*
 * Take one slot in the usual case, and note it in px_first_claim.  In any other case, return false and do nothing
 * else.  bound: px_bound_of() for this number of slots.
 */
PX_INLINE bool px_cpuring_take_one(const struct px_ring *ring, struct px_cpu cpu,
				   struct px_bound bound, uint32_t tid, struct px_reservation *reservation);

/*
 * The same for n slots, at most PX_CPURING_FEW.  It also returns false if the slots are not next to each other, because
 * the ring ends between them.
 */
PX_INLINE bool px_cpuring_take_few(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				   struct px_bound bound, uint32_t tid,
				   struct px_reservation *reservation);

/* An event that was recorded in another ring of this CPU, and may be recorded in this ring with the same counter. */
struct px_earlier {
	uint64_t head; /* head of this ring, loaded before the counter was read */
	uint64_t counter;
	const uint64_t *horizon; /* `horizon` of the ring's stream */
};

/*
 * Take one slot for an event that has its counter already, in the usual case.  Return false if head has moved since,
 * because this ring may then have a later counter (R2).  Also return false if a reader of this stream may have passed
 * the counter.
 */
PX_INLINE bool px_cpuring_take_again(const struct px_ring *ring, struct px_cpu cpu,
				     struct px_bound bound, uint32_t tid, const struct px_earlier *earlier,
				     struct px_reservation *reservation);

#define PX_CPURING_FEW 8 /* with more slots, the general sequence costs little in comparison */

#if PX_HAS_CPURINGS

/*
 * Test builds store the addresses of these instructions.  tests/support/traps.c disturbs a thread before each of them.
 */
#ifdef PX_TESTPOINTS
#define PX_STEP "77:\n\t.pushsection px_steps, \"aw\"\n\t.quad 77b\n\t.popsection\n\t"
#else
#define PX_STEP
#endif

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

/*
 * Take one slot.  `low` is the slot word without the position.  If a slot has a claim with another position, its owner
 * still uses it.  A claim with this position is a leftover (C2).  PX_HELD means that the sequence did nothing and
 * reserved nothing: then call px_cpuring_take().
 */
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

/* Take one slot for an event that has its counter: see px_cpuring_take_again(). */
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
/* The end of each sequence that reserves and claims at once. */
PX_INLINE bool px_cpuring_is_taken(enum px_outcome outcome)
{
	if (px_unlikely(outcome != PX_TAKEN))
		return false;
	PX_TESTPOINT("ring.reserve.done");
	PX_TESTPOINT("ring.claim.done");
	px_write_fence(); /* EDGE claim release */
	return true;
}
#endif

PX_INLINE bool px_cpuring_take_one(const struct px_ring *ring, struct px_cpu cpu,
				   struct px_bound bound, uint32_t tid, struct px_reservation *reservation)
{
#if PX_HAS_CPURINGS
	return px_cpuring_is_taken(px_sequence_one(ring, cpu, px_word(0, tid, PX_SLOT_CLAIMED), bound, reservation));
#else
	(void)ring, (void)cpu, (void)bound, (void)tid, (void)reservation;
	return false; /* no thread has an area */
#endif
}

PX_INLINE bool px_cpuring_take_again(const struct px_ring *ring, struct px_cpu cpu,
				     struct px_bound bound, uint32_t tid, const struct px_earlier *earlier,
				     struct px_reservation *reservation)
{
#if PX_HAS_CPURINGS
	return px_cpuring_is_taken(px_sequence_again(ring, cpu, px_word(0, tid, PX_SLOT_CLAIMED), bound,
						     earlier, reservation));
#else
	(void)ring, (void)cpu, (void)bound, (void)tid, (void)earlier, (void)reservation;
	return false; /* no thread has an area */
#endif
}

PX_INLINE bool px_cpuring_take_few(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				   struct px_bound bound, uint32_t tid,
				   struct px_reservation *reservation)
{
#if PX_HAS_CPURINGS
	px_write_once(&px_first_claim.nr_slots, n);
	return px_cpuring_is_taken(px_sequence_few(ring, cpu, n, px_word(0, tid, PX_SLOT_CLAIMED), bound, reservation));
#else
	(void)ring, (void)cpu, (void)n, (void)bound, (void)tid, (void)reservation;
	return false; /* no thread has an area */
#endif
}

#endif
