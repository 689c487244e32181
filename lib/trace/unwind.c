/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "base/atomic.h"
#include "trace/eh_frame.h"
#include "trace/unwind_memory.h"

#define OWN_FRAMES 16 /* there are fewer frames of this object below the caller */

/* A module whose code is on the stack. */
struct module {
	uintptr_t start, end;
	uintptr_t header; /* its .eh_frame_hdr */
	uint32_t print;	  /* 16 bits that differ for another module at the same place */
};

#define MODULES 4

struct walk {
	uintptr_t pc, sp, fp;
	bool is_exact;	     /* the pc is not a return address */
	struct px_unwind_memory memory;
	struct module module[MODULES];
	unsigned int nr_modules;
};

#if PX_HAS_EH_FRAME

/* On older systems the loader lacks this function, and stacks have only the caller. */
#pragma weak _dl_find_object

/*
 * The rules of addresses that were seen before.  Two stores of different threads may mix in an entry.  So the value has
 * a check of the key.
 */
#define CACHE_ENTRIES 4096
#define ADDRESS_BITS 47

static struct known {
	uint64_t key;	/* address, print of the module << ADDRESS_BITS; 0: empty */
	uint64_t value; /* rule << 32 | check */
} known[CACHE_ENTRIES];

PX_INLINE uint64_t hash_of(uint64_t key)
{
	key *= UINT64_C(0x9E3779B97F4A7C15);
	return key ^ key >> 29;
}

PX_INLINE uint32_t check_of(uint64_t hash)
{
	return (uint32_t)(hash >> 24);
}

/* Modules that stay until the process ends: the program, the C library, the loader, and this object. */
static uintptr_t lasting[4];

PX_INLINE bool is_lasting(uintptr_t start)
{
	for (unsigned int i = 0; i < PX_ARRAY_SIZE(lasting); i++)
		if (px_read_once(&lasting[i]) == start)
			return true;
	return false;
}

static PX_COLD void find_lasting(void)
{
	const uintptr_t inside[] = {getauxval(AT_ENTRY), (uintptr_t)&getauxval, getauxval(AT_BASE),
				    (uintptr_t)&px_unwind};
	struct dl_find_object found;

	for (unsigned int i = 0; i < PX_ARRAY_SIZE(inside); i++)
		if (inside[i] && _dl_find_object((void *)inside[i], &found) == 0)
			px_write_once(&lasting[i], (uintptr_t)found.dlfo_map_start);
}

/* Find the module of an address.  Return NULL if there is none with a table. */
static PX_NOINLINE const struct module *find_module(struct walk *walk, uintptr_t address)
{
	struct module *module = &walk->module[walk->nr_modules % MODULES];
	struct dl_find_object found;
	uint64_t print;

	if (!_dl_find_object || address >> ADDRESS_BITS != 0 || _dl_find_object((void *)address, &found) != 0 ||
	    !found.dlfo_eh_frame) {
		walk->memory.end = PX_UNWIND_NO_TABLE;
		return NULL;
	}
	print = (uint64_t)(uintptr_t)found.dlfo_map_start >> 12 ^ (uintptr_t)found.dlfo_eh_frame;
	if (!is_lasting((uintptr_t)found.dlfo_map_start)) {
		if (!px_unwind_fill(&walk->memory, (uintptr_t)found.dlfo_eh_frame))
			return NULL;
		for (uint32_t i = 0; i + 8 <= walk->memory.window.length; i += 8) {
			uint64_t word;

			memcpy(&word, walk->memory.window.bytes + i, sizeof(word));
			print = hash_of(print ^ word);
		}
	}
	*module = (struct module){.start = (uintptr_t)found.dlfo_map_start,
				  .end = (uintptr_t)found.dlfo_map_end,
				  .header = (uintptr_t)found.dlfo_eh_frame,
				  .print = (uint32_t)(hash_of(print) & 0xFFFF)};
	walk->nr_modules++;
	return module;
}

PX_INLINE const struct module *module_of(struct walk *walk, uintptr_t address)
{
	for (unsigned int i = 0; i < MODULES && i < walk->nr_modules; i++)
		if (address - walk->module[i].start < walk->module[i].end - walk->module[i].start)
			return &walk->module[i];
	return find_module(walk, address);
}

/* Find the rule for the present place.  Return false, with the reason, if there is none. */
PX_INLINE bool find_rule(struct walk *walk, uint32_t *found)
{
	uintptr_t address = walk->is_exact ? walk->pc : walk->pc - 1;
	const struct module *module = module_of(walk, address);
	uint64_t key, hash, value;
	struct known *entry;

	if (px_unlikely(!module))
		return false;
	key = address | (uint64_t)module->print << ADDRESS_BITS;
	hash = hash_of(key);
	entry = &known[hash % CACHE_ENTRIES];
	value = px_read_once(&entry->value);
	if (px_likely(px_read_once(&entry->key) == key && (uint32_t)value == check_of(hash))) {
		*found = (uint32_t)(value >> 32);
		return true;
	}
	if (!px_eh_frame_rule(&walk->memory, module->header, address, found)) {
		if (walk->memory.end != PX_UNWIND_CONFINED)
			walk->memory.end = PX_UNWIND_UNREADABLE;
		return false;
	}
	px_write_once(&entry->value, (uint64_t)*found << 32 | check_of(hash));
	px_write_once(&entry->key, key);
	return true;
}

/* Go to the code that a signal has interrupted.  The stack pointer is at the context that the kernel has stored. */
static bool step_signal(struct walk *walk)
{
	uintptr_t context = walk->sp + offsetof(ucontext_t, uc_mcontext.gregs);
	uintptr_t pc, sp, fp;

	if (!px_unwind_word(&walk->memory, context + REG_RIP * sizeof(greg_t), &pc) ||
	    !px_unwind_word(&walk->memory, context + REG_RSP * sizeof(greg_t), &sp) ||
	    !px_unwind_word(&walk->memory, context + REG_RBP * sizeof(greg_t), &fp))
		return false;
	walk->pc = pc;
	walk->fp = fp;
	walk->sp = sp;
	walk->is_exact = true;
	px_unwind_enter_stack(&walk->memory, sp);
	return true;
}

/* Find the caller.  Return false, with the reason, if there is none. */
PX_INLINE bool step(struct walk *walk, bool *was_signal)
{
	uintptr_t cfa, fp = walk->fp, pc;
	enum px_fp_kind kind;
	int64_t offset;
	uint32_t rule;

	if (!find_rule(walk, &rule))
		return false;
	offset = ((int64_t)(rule >> PX_RULE_OFFSET_BIT) - PX_RULE_OFFSET_MAX) * 8;
	*was_signal = false;
	switch (rule & 7) {
	case PX_CFA_RSP:
		cfa = walk->sp + (uintptr_t)offset;
		break;
	case PX_CFA_RBP:
		cfa = walk->fp + (uintptr_t)offset;
		break;
	case PX_CFA_AT_RBP:
		if (!px_unwind_word(&walk->memory, walk->fp + (uintptr_t)offset, &cfa))
			return false;
		break;
	case PX_CFA_SIGNAL:
		*was_signal = true;
		return step_signal(walk);
	case PX_CFA_END:
		walk->memory.end = PX_UNWIND_WHOLE;
		return false;
	default:
		walk->memory.end = PX_UNWIND_NO_TABLE;
		return false;
	}
	/* a signal may interrupt a function before it has pushed anything, and then the CFA is one word above */
	if (cfa <= walk->sp) {
		walk->memory.end = PX_UNWIND_WRONG;
		return false;
	}
	kind = (enum px_fp_kind)(rule >> PX_RULE_FP_BIT & 3);
	if (kind == PX_FP_SAVED && !px_unwind_word(&walk->memory, cfa - (rule >> PX_RULE_SAVED_BIT & 63) * 8, &fp))
		return false;
	if (kind == PX_FP_AT_RBP && !px_unwind_word(&walk->memory, walk->fp, &fp))
		return false;
	if (!px_unwind_word(&walk->memory, cfa - 8, &pc))
		return false;
	walk->fp = kind == PX_FP_LOST ? 0 : fp;
	walk->sp = cfa;
	walk->pc = pc;
	walk->is_exact = false;
	return true;
}

#define PREPARE()                                                                                                      \
	do {                                                                                                           \
		if (px_unlikely(px_read_once(&lasting[0]) == 0) && _dl_find_object)                                    \
			find_lasting();                                                                                \
	} while (0)
#define HERE(walk)                                                                                                     \
	__asm__ __volatile__("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"                                   \
			     : "=r"((walk)->pc), "=r"((walk)->sp), "=r"((walk)->fp))

#elif defined(__aarch64__)

/*
 * The frame record at the frame pointer: the frame pointer of the caller, and the return address, which may be signed
 * (the bits above 48).
 */
static bool step(struct walk *walk, bool *was_signal)
{
	uintptr_t fp, pc;

	*was_signal = false;
	if (walk->fp == 0) {
		walk->memory.end = PX_UNWIND_WHOLE;
		return false;
	}
	if (walk->fp < walk->sp || walk->fp % 16 != 0) {
		walk->memory.end = PX_UNWIND_WRONG;
		return false;
	}
	if (!px_unwind_word(&walk->memory, walk->fp, &fp) || !px_unwind_word(&walk->memory, walk->fp + 8, &pc))
		return false;
	walk->sp = walk->fp + 16;
	walk->fp = fp;
	walk->pc = pc & 0xFFFFFFFFFFFF;
	return true;
}

#define PREPARE() ((void)0)
#define HERE(walk)                                                                                 \
	__asm__ __volatile__("adr %0, .\n\tmov %1, sp\n\tmov %2, x29"                              \
			     : "=r"((walk)->pc), "=r"((walk)->sp), "=r"((walk)->fp))

#else

static bool step(struct walk *walk, bool *was_signal)
{
	*was_signal = false;
	walk->memory.end = PX_UNWIND_NO_TABLE;
	return false;
}

#define PREPARE() ((void)0)
#define HERE(walk) ((void)((walk)->pc = (walk)->sp = (walk)->fp = 0)) /* no stack: step() fails at once */

#endif

PX_NOINLINE unsigned int px_unwind(uintptr_t caller, uint64_t frame[PX_UNWIND_DEPTH],
						   enum px_unwind_end *end)
{
	unsigned int nr = 0, nr_own = 0;
	int saved_errno = errno;
	bool was_signal;
	struct walk walk;

	walk.memory.window.at = walk.memory.window.length = walk.nr_modules = 0;
	walk.is_exact = true;
	walk.memory.end = PX_UNWIND_WRONG;
	PREPARE();
	HERE(&walk);
	px_unwind_enter_stack(&walk.memory, walk.sp);
	while (step(&walk, &was_signal)) {
		if (nr == 0 && walk.pc != caller) {
			if (++nr_own < OWN_FRAMES)
				continue;
			walk.memory.end = PX_UNWIND_WRONG;
			break;
		}
		if (was_signal && nr > 0)
			frame[nr - 1]++; /* the handler returns to the first instruction of its function */
		if (walk.pc == 0) {
			walk.memory.end = PX_UNWIND_WHOLE;
			break;
		}
		if (nr == PX_UNWIND_DEPTH) {
			walk.memory.end = PX_UNWIND_DEEP;
			break;
		}
		frame[nr++] = walk.pc + was_signal;
	}
	if (nr == 0)
		frame[nr++] = caller;
	errno = saved_errno;
	*end = walk.memory.end;
	return nr;
}
