/* SPDX-License-Identifier: MIT */
/*
 * A ring that belongs to one CPU: its writers are the threads of any process that run on that CPU, so no two of them
 * are at it at the same time, and what would take locked instructions in ring.h takes none here.  Behind config.h.
 *
 * Reserve and claim are one *restartable sequence* (rseq(2)): a few instructions whose last one, the store of head,
 * makes them count.  A thread that is interrupted among them by another thread or by a handler, or is moved to
 * another CPU, finds itself behind them, and begins anew.  Everything else is as in ring.h, for writers and readers:
 * the record is written and committed outside of the sequence, by the owner of the claim, wherever it runs then.
 *
 * What is different:
 *
 *	C1  Only sequences on its CPU move head and claim slots.  Nobody exchanges these words: who has no such
 *	    area, or runs on a CPU without a ring, writes elsewhere (segment.h).
 *	C2  A sequence that was not finished leaves claims behind, or void slots, at head and beyond.  Nobody has
 *	    reserved there, so they hold nothing, and the next sequence takes the slots: their position tells.
 *	C3  Such a slot may stand where the oldest record of a ring that loops was.  So a reader can find that one
 *	    lapped though head is not beyond it yet: it is lost as if head were.
 *	C4  first_lost is kept ahead of the sequence that overwrites (R5).
 *	C5  The store of head is no barrier for loads behind it.  So a writer that finds the stream running may have
 *	    a reservation that nobody sees yet; who stops a stream, or changes its filter, has all CPUs pass a barrier
 *	    (membarrier.h), and then it is seen.
 *
 * A child of vfork() has the memory of its parent, and that thread's area, but the kernel does not watch it there
 * until it is told to: px_cpu_area_ensure().
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

/* The area of the calling thread, as its C library has registered it; NULL: there is none. */
PX_INLINE struct rseq *px_cpu_area(void)
{
#if PX_HAS_CPURINGS
	if (__rseq_size > 0) {
		char *thread = __builtin_thread_pointer();
		struct rseq *area = (struct rseq *)(void *)(thread + __rseq_offset);

		if ((int32_t)px_read_once(&area->cpu_id) >= 0)
			return area;
	}
#endif
	return NULL;
}

/*
 * The same, and the kernel watches it: also in a child of vfork(), and in what that makes by fork().
 * Async-signal-safe; errno is kept.  A system call.
 */
struct rseq *px_cpu_area_ensure(void);

/* Where a thread runs.  With an area, a sequence checks the number; without one, it may be wrong the next moment. */
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
	PX_TAKEN,    /* reserved, and claimed */
	PX_NO_ROOM,  /* the ring is bounded */
	PX_HELD,     /* reserved, but a sleeper has one of the slots: none is claimed */
	PX_DISTURBED /* nothing was done: look again where the thread runs */
};

/*
 * Reserve n slots of the ring of this CPU, and claim them for tid.  limit as of px_ring_reserve().  The counter is
 * that of the hardware.
 */
enum px_outcome px_cpuring_take(const struct px_ring *ring, struct px_cpu cpu, uint32_t n,
				uint64_t limit, uint32_t tid, struct px_reservation *reservation);

/* One slot, where nothing is in the way.  False: nothing was done. */
PX_INLINE bool px_cpuring_take_one(const struct px_ring *ring, struct px_cpu cpu, uint64_t limit,
				   uint32_t tid, struct px_reservation *reservation);

/*
 * When head - tail is so much that it is not simply taken: from `least` on, for `width` values, unsigned.  A bounded
 * ring has no room there; in one that loops the record at tail is the next to go, and C4 comes first.
 */
struct px_bound {
	uint64_t least, width;
};

PX_INLINE struct px_bound px_bound_of(const struct px_ring *ring, uint32_t n, uint64_t limit)
{
	if (limit != 0)
		return (struct px_bound){limit - n + 1, UINT64_C(1) << 63};
	return (struct px_bound){(uint64_t)ring->mask + 2 - n, n};
}

#if PX_HAS_CPURINGS

/* Test builds list the instructions ahead of which a thread may be disturbed: check_cpuring.c puts traps there. */
#ifdef PX_TESTPOINTS
#define PX_STEP "77:\n\t.pushsection px_steps, \"aw\"\n\t.quad 77b\n\t.popsection\n\t"
#else
#define PX_STEP
#endif

/*
 * A sequence is what stands from 1 to 2, and 4 is where the kernel lets go on who was disturbed in it.  The counter
 * comes first: until the end nobody can reserve ahead of us, so along the ring counters do not fall (R2), and what
 * follows need not wait for it.  It is fenced against what was loaded before, as in clock.h.
 *
 * Registers: rdx:rax has the counter from the begin on, unless the user of these pieces puts it elsewhere.
 */
/* clang-format off */
#define PX_SEQUENCE_BEGIN                                                                          \
	".pushsection __rseq_cs, \"aw\"\n\t"                                                       \
	".balign 32\n"                                                                             \
	"3:\n\t"                                                                                   \
	".long 0, 0\n\t"                                                                           \
	".quad 1f, 2f - 1f, 4f\n\t"                                                                \
	".popsection\n\t"                                                                          \
	"leaq 3b(%%rip), %%rax\n\t"                                                                \
	"movq %%rax, %c[sequence_at](%[area])\n"                                                   \
	"1:\n\t"                                                                                   \
	PX_STEP "lfence\n\t"                                                                       \
	PX_STEP "rdtsc\n\t"                                                                        \
	PX_STEP "movl %[cpu], %k[scratch]\n\t"                                                     \
	PX_STEP "cmpl %k[scratch], %c[cpu_at](%[area])\n\t"                                        \
	"jne 5f\n\t"                                                                               \
	PX_STEP "movq %c[head_at](%[control]), %[head]\n\t"

/* head is what the ring's becomes: only now it counts.  Behind it, the ways out that lead here without that. */
#define PX_SEQUENCE_END(head)                                                                      \
	PX_STEP "movq " head ", %c[head_at](%[control])\n"                                         \
	"2:\n\t"                                                                                   \
	"movl %[done], %[outcome]\n\t"                                                             \
	"jmp 9f\n\t"                                                                               \
	".byte 0x0f, 0xb9, 0x3d\n\t" /* ud1: with this in front, who jumps here is the kernel */   \
	".long %c[signature]\n"                                                                    \
	"4:\n"                                                                                     \
	"5:\n\t"                                                                                   \
	"movl %[disturbed], %[outcome]\n\t"                                                        \
	"jmp 9f\n"                                                                                 \
	"6:\n\t"                                                                                   \
	"movl %[no_room], %[outcome]\n\t"                                                          \
	"jmp 9f\n"                                                                                 \
	"7:\n\t"                                                                                   \
	"movl %[held], %[outcome]\n"                                                               \
	"9:\n\t"                                                                                   \
	"movq $0, %c[sequence_at](%[area])\n\t" /* its memory may go */

#define PX_SEQUENCE_INPUTS                                                                         \
	[control] "r"(ring->control), [slots] "r"(ring->slots), [area] "r"(cpu.area),              \
	[cpu] "rm"(cpu.number), [mask] "rm"((uint64_t)ring->mask),                                \
	[least] "rm"(bound.least), [width] "rm"(bound.width),                                      \
	[claimed] "i"(PX_SLOT_CLAIMED), [done] "i"(PX_TAKEN), [disturbed] "i"(PX_DISTURBED),       \
	[no_room] "i"(PX_NO_ROOM), [held] "i"(PX_HELD), [signature] "i"(RSEQ_SIG),                 \
	[cpu_at] "i"(offsetof(struct rseq, cpu_id)),                                               \
	[sequence_at] "i"(offsetof(struct rseq, rseq_cs)),                                         \
	[head_at] "i"(offsetof(struct px_ring_control, head)),                                     \
	[extra_at] "i"(offsetof(struct px_ring_control, extra)),                                   \
	[tail_at] "i"(offsetof(struct px_ring_control, tail))

_Static_assert(PX_WORD_POSITION_SHIFT == 25 && sizeof(struct px_slot) == 3 << 4, "sequences know that");

/*
 * One slot.  `low` is its word but for the position.  A claim of another position is somebody's; one of this position
 * is left over (C2).  With PX_HELD nothing was done, not even reserved: px_cpuring_take() is for that.
 */
PX_INLINE enum px_outcome px_sequence_one(const struct px_ring *ring, struct px_cpu cpu,
					  uint64_t low, struct px_bound bound,
					  struct px_reservation *at)
{
	uint64_t word, tag, scratch, high;
	uint32_t outcome;

	__asm__ __volatile__(
		PX_SEQUENCE_BEGIN
		/* Is there room? */
		PX_STEP "movq %[head], %[scratch]\n\t"
		PX_STEP "subq %c[tail_at](%[control]), %[scratch]\n\t"
		PX_STEP "subq %[least], %[scratch]\n\t"
		"cmpq %[width], %[scratch]\n\t"
		"jb 6f\n\t"
		/* Where the slot is, and its new word. */
		PX_STEP "movq %[head], %[word]\n\t"
		"andq %[mask], %[word]\n\t"
		"leaq (%[word],%[word],2), %[word]\n\t"
		"shlq $4, %[word]\n\t"
		"addq %[slots], %[word]\n\t"
		"movq %[head], %[tag]\n\t"
		"shlq $25, %[tag]\n\t"
		/* Is it free? */
		PX_STEP "movq (%[word]), %[scratch]\n\t"
		PX_STEP "movq %[scratch], %[extra]\n\t"
		"xorq %[tag], %[extra]\n\t"
		"orq %[low], %[tag]\n\t"
		"andl $7, %k[scratch]\n\t"
		"cmpl %[claimed], %k[scratch]\n\t"
		"jne 8f\n\t"
		"shrq $25, %[extra]\n\t"
		"jnz 7f\n"
		"8:\n\t"
		PX_STEP "movq %c[extra_at](%[control]), %[extra]\n\t"
		PX_STEP "leaq 1(%[head]), %[scratch]\n\t"
		PX_STEP "movq %[tag], (%[word])\n\t"
		PX_SEQUENCE_END("%[scratch]")
		: [head] "=&r"(at->position), [extra] "=&r"(at->extra), "=&a"(at->counter),
		  "=&d"(high), [word] "=&r"(word), [tag] "=&r"(tag), [scratch] "=&r"(scratch),
		  [outcome] "=&r"(outcome)
		: PX_SEQUENCE_INPUTS, [low] "rm"(low)
		: "memory", "cc");
	at->counter |= high << 32;
	return (enum px_outcome)outcome;
}
/* clang-format on */
#endif

PX_INLINE bool px_cpuring_take_one(const struct px_ring *ring, struct px_cpu cpu, uint64_t limit,
				   uint32_t tid, struct px_reservation *reservation)
{
#if PX_HAS_CPURINGS
	if (px_unlikely(px_sequence_one(ring, cpu, px_word(0, tid, PX_SLOT_CLAIMED),
					px_bound_of(ring, 1, limit), reservation) != PX_TAKEN))
		return false;
	PX_TESTPOINT("ring.reserve.done");
	PX_TESTPOINT("ring.claim.done");
	px_write_fence(); /* EDGE claim release */
	return true;
#else
	(void)ring, (void)cpu, (void)limit, (void)tid, (void)reservation;
	return false; /* nobody has an area */
#endif
}

#endif
