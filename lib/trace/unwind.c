/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/confined.h"
#include "trace/frames.h"
#include "trace/process.h"

/* The sanitizers do not let a function read the stack frames of other functions. */
#define READS_ANY_STACK __attribute__((no_sanitize("address"), no_sanitize("thread")))

#define PAGE_BYTES 4096
#define WINDOW_BYTES 256
#define ENTRY_MAX 65536 /* a longer entry of a table is none: another module is there now */
#define OWN_FRAMES 16 /* there are fewer frames of this object below the caller */

/* Memory that the kernel has read last. */
struct window {
	uintptr_t at;
	uint32_t length;
	unsigned char bytes[WINDOW_BYTES] __attribute__((aligned(8)));
};

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
	uintptr_t low, high; /* the thread may read this part of the stack (U1) */
	enum px_unwind_end end;
	struct window window;
	struct module module[MODULES];
	unsigned int nr_modules;
};

/* Memory. */

/* Let the kernel read memory, at most up to the end of the page.  Return false if it cannot. */
static bool fill_window(struct walk *walk, uintptr_t at)
{
	size_t room = PAGE_BYTES - at % PAGE_BYTES;
	struct iovec here = {walk->window.bytes, room < WINDOW_BYTES ? room : WINDOW_BYTES};
	struct iovec there = {(void *)at, here.iov_len};
	long length;

	walk->window.length = 0;
	if (px_is_confined()) {
		walk->end = PX_UNWIND_CONFINED;
		return false;
	}
	length = syscall(SYS_process_vm_readv, (pid_t)px_read_once(&px_gate.self.pid), &here, 1UL, &there, 1UL, 0UL);
	if (length <= 0) {
		walk->end = PX_UNWIND_UNREADABLE;
		return false;
	}
	walk->window.at = at;
	walk->window.length = (uint32_t)length;
	return true;
}

/* Read a word of a stack. */
READS_ANY_STACK static bool read_stack(struct walk *walk, uintptr_t at, uintptr_t *word)
{
	if (at % sizeof(*word) != 0) {
		walk->end = PX_UNWIND_WRONG;
		return false;
	}
	if (px_likely(at >= walk->low && at < walk->high)) {
		*word = *(const volatile uintptr_t *)at;
		return true;
	}
	if ((at - walk->window.at >= walk->window.length || walk->window.at + walk->window.length - at < sizeof(*word)) &&
	    (!fill_window(walk, at) || walk->window.length < sizeof(*word)))
		return false;
	memcpy(word, walk->window.bytes + (at - walk->window.at), sizeof(*word));
	return true;
}

/* Find the part of the stack that can be loaded directly. */
static void enter_stack(struct walk *walk, uintptr_t sp)
{
	walk->low = sp;
	walk->high = px_frames_top_above(sp);
}

#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)

/* On older systems the loader lacks this function, and stacks have only the caller. */
#pragma weak _dl_find_object

/* Numbers of registers in the tables. */
enum { DWARF_RBP = 6, DWARF_RSP = 7, DWARF_PC = 16 };

/*
 * The rule for one step: how to find the CFA, which is the stack pointer of the caller.  The return address is in the
 * word below the CFA.
 */
enum cfa_kind {
	CFA_NONE, /* no table, or a rule that this code does not know */
	CFA_RSP,
	CFA_RBP,
	CFA_AT_RBP, /* the CFA is in the stack, at rbp + offset: functions that align their stack */
	CFA_SIGNAL, /* the kernel has stored the registers of the interrupted code */
	CFA_END	    /* there is no caller */
};

enum fp_kind { FP_SAME, FP_SAVED, FP_AT_RBP, FP_LOST };

/*
 * A rule is a word: 3 bits enum cfa_kind, 2 bits enum fp_kind, 6 bits for the words from the saved rbp up to the CFA,
 * 21 bits for the words of the offset.
 */
#define RULE_FP_BIT 3
#define RULE_SAVED_BIT 5
#define RULE_OFFSET_BIT 11
#define RULE_OFFSET_MAX ((int64_t)1 << 20)

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
	const uintptr_t inside[] = {getauxval(AT_ENTRY), (uintptr_t)&getauxval, getauxval(AT_BASE), (uintptr_t)&px_unwind};
	struct dl_find_object found;

	for (unsigned int i = 0; i < PX_ARRAY_SIZE(inside); i++)
		if (inside[i] && _dl_find_object((void *)inside[i], &found) == 0)
			px_write_once(&lasting[i], (uintptr_t)found.dlfo_map_start);
}

/* Input from a table. */

struct input {
	struct walk *walk;
	uintptr_t at, end;
	bool is_bad;
};

PX_INLINE uint8_t get_byte(struct input *in)
{
	struct window *window = &in->walk->window;

	if (px_unlikely(in->is_bad || in->at >= in->end)) {
		in->is_bad = true;
		return 0;
	}
	if (px_unlikely(in->at - window->at >= window->length) && !fill_window(in->walk, in->at)) {
		in->is_bad = true;
		return 0;
	}
	return window->bytes[in->at++ - window->at];
}

static uint64_t get_bytes(struct input *in, unsigned int size)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < size; i++)
		n |= (uint64_t)get_byte(in) << 8 * i;
	return n;
}

static uint64_t get_leb(struct input *in, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t n = 0;
	uint8_t byte;

	do {
		byte = get_byte(in);
		if (shift < 64)
			n |= (uint64_t)(byte & 0x7F) << shift;
		shift += 7;
	} while (byte & 0x80 && !in->is_bad);
	if (is_signed && byte & 0x40 && shift < 64)
		n |= ~UINT64_C(0) << shift;
	return n;
}

/* An encoded address.  Only the forms that compilers write into .eh_frame. */
static uintptr_t get_address(struct input *in, uint8_t encoding)
{
	uintptr_t from = (encoding & 0x70) == 0x10 ? in->at : 0;

	if ((encoding & 0x70) != 0 && (encoding & 0x70) != 0x10) {
		in->is_bad = true;
		return 0;
	}
	switch (encoding & 0x0F) {
	case 0x00: /* absptr */
	case 0x04: /* udata8 */
	case 0x0C: /* sdata8 */
		return from + get_bytes(in, 8);
	case 0x03: /* udata4 */
		return from + get_bytes(in, 4);
	case 0x0B: /* sdata4 */
		return from + (uintptr_t)(int64_t)(int32_t)get_bytes(in, 4);
	default:
		in->is_bad = true;
		return 0;
	}
}

/* The state of the table's little machine at one address. */
struct frame_state {
	uint64_t cfa_register;
	int64_t cfa_offset;
	bool cfa_is_at;	 /* the CFA is in the stack at this place */
	bool cfa_is_odd; /* an expression that this code does not know */
	enum fp_kind fp;
	int64_t fp_offset;
	bool has_pc, pc_is_undefined;
};

#define STATES 4 /* states that a table can remember */

struct machine {
	struct frame_state now, initial, remembered[STATES];
	unsigned int nr_remembered;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t encoding;
	bool is_signal;
};

static void set_register(struct machine *machine, struct input *in, uint64_t number, int64_t offset)
{
	if (number == DWARF_RBP) {
		machine->now.fp = FP_SAVED;
		machine->now.fp_offset = offset;
	} else if (number == DWARF_PC) {
		machine->now.has_pc = true;
		machine->now.pc_is_undefined = false;
		in->is_bad |= offset != -8;
	} else if (number == DWARF_RSP) {
		in->is_bad = true;
	}
}

static void restore_register(struct machine *machine, uint64_t number)
{
	if (number == DWARF_RBP) {
		machine->now.fp = machine->initial.fp;
		machine->now.fp_offset = machine->initial.fp_offset;
	} else if (number == DWARF_PC) {
		machine->now.has_pc = machine->initial.has_pc;
		machine->now.pc_is_undefined = machine->initial.pc_is_undefined;
	}
}

/* A register whose value this code cannot find. */
static void lose_register(struct machine *machine, struct input *in, uint64_t number, bool is_undefined)
{
	if (number == DWARF_RBP)
		machine->now.fp = FP_LOST;
	else if (number == DWARF_PC && is_undefined)
		machine->now.pc_is_undefined = true;
	else if (number == DWARF_PC || number == DWARF_RSP)
		in->is_bad = true;
}

#define OP_BREG6 0x76 /* rbp + offset */
#define OP_DEREF 0x06

static void set_cfa_expression(struct machine *machine, struct input *in)
{
	uint64_t size = get_leb(in, false);
	uintptr_t end = in->at + size;
	bool is_known = size >= 3 && size < 16 && get_byte(in) == OP_BREG6;

	machine->now.cfa_offset = is_known ? (int64_t)get_leb(in, true) : 0;
	machine->now.cfa_is_at = is_known && get_byte(in) == OP_DEREF && in->at == end;
	machine->now.cfa_is_odd = !machine->now.cfa_is_at;
	in->at = end;
}

/* A register is saved where an expression says.  Functions that align their stack have rbp saved at rbp. */
static void set_expression(struct machine *machine, struct input *in, bool is_value)
{
	uint64_t number = get_leb(in, false), size = get_leb(in, false);
	uintptr_t end = in->at + size;

	if (number == DWARF_RBP && !is_value && size == 2 && get_byte(in) == OP_BREG6 && get_byte(in) == 0)
		machine->now.fp = FP_AT_RBP;
	else
		lose_register(machine, in, number, false);
	in->at = end;
}

static void set_cfa(struct frame_state *state, uint64_t number, int64_t offset)
{
	state->cfa_register = number;
	state->cfa_offset = offset;
	state->cfa_is_at = state->cfa_is_odd = false;
}

/* One instruction after the first ones, which advance and set registers. */
static void run_other(struct machine *machine, struct input *in, uint8_t code)
{
	struct frame_state *now = &machine->now;
	uint64_t number;

	switch (code) {
	case 0x05: /* offset_extended */
		number = get_leb(in, false);
		set_register(machine, in, number, (int64_t)get_leb(in, false) * machine->data_factor);
		return;
	case 0x06: /* restore_extended */
		restore_register(machine, get_leb(in, false));
		return;
	case 0x07: /* undefined */
		lose_register(machine, in, get_leb(in, false), true);
		return;
	case 0x08: /* same_value */
		number = get_leb(in, false);
		if (number == DWARF_RBP)
			now->fp = FP_SAME;
		else if (number == DWARF_PC)
			in->is_bad = true;
		return;
	case 0x09: /* register */
		number = get_leb(in, false);
		get_leb(in, false);
		lose_register(machine, in, number, false);
		return;
	case 0x0A: /* remember_state */
		if (machine->nr_remembered < STATES)
			machine->remembered[machine->nr_remembered++] = *now;
		else
			in->is_bad = true;
		return;
	case 0x0B: /* restore_state */
		if (machine->nr_remembered > 0)
			*now = machine->remembered[--machine->nr_remembered];
		else
			in->is_bad = true;
		return;
	case 0x0C: /* def_cfa */
		number = get_leb(in, false);
		set_cfa(now, number, (int64_t)get_leb(in, false));
		return;
	case 0x0D: /* def_cfa_register */
		set_cfa(now, get_leb(in, false), now->cfa_offset);
		return;
	case 0x0E: /* def_cfa_offset */
		set_cfa(now, now->cfa_register, (int64_t)get_leb(in, false));
		return;
	case 0x0F: /* def_cfa_expression */
		set_cfa_expression(machine, in);
		return;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		set_expression(machine, in, code == 0x16);
		return;
	case 0x11: /* offset_extended_sf */
		number = get_leb(in, false);
		set_register(machine, in, number, (int64_t)get_leb(in, true) * machine->data_factor);
		return;
	case 0x12: /* def_cfa_sf */
		number = get_leb(in, false);
		set_cfa(now, number, (int64_t)get_leb(in, true) * machine->data_factor);
		return;
	case 0x13: /* def_cfa_offset_sf */
		set_cfa(now, now->cfa_register, (int64_t)get_leb(in, true) * machine->data_factor);
		return;
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		number = get_leb(in, false);
		get_leb(in, false);
		lose_register(machine, in, number, false);
		return;
	case 0x2E: /* GNU_args_size */
		get_leb(in, false);
		return;
	default:
		in->is_bad = true;
	}
}

/* Run the instructions up to the address. */
static void run(struct machine *machine, struct input *in, uintptr_t location, uintptr_t address)
{
	while (in->at < in->end && !in->is_bad) {
		uint8_t code = get_byte(in), low = code & 0x3F;

		if (code == 0)
			continue;
		if (code >> 6 == 2)
			set_register(machine, in, low, (int64_t)get_leb(in, false) * machine->data_factor);
		else if (code >> 6 == 3)
			restore_register(machine, low);
		else if (code >> 6 == 1)
			location += low * machine->code_factor;
		else if (code >= 0x02 && code <= 0x04)
			location += get_bytes(in, 1U << (code - 2)) * machine->code_factor;
		else
			run_other(machine, in, code);
		if (location > address)
			return;
	}
}

/* Begin to read the entry of .eh_frame at this address.  *id is 0 for a CIE. */
static struct input begin_entry(struct walk *walk, uintptr_t at, uint32_t *id, uintptr_t *id_at)
{
	struct input in = {.walk = walk, .at = at, .end = at + 4};
	uint64_t length = get_bytes(&in, 4);

	in.end = at + 4 + length;
	in.is_bad |= length < 4 || length > ENTRY_MAX;
	*id_at = in.at;
	*id = (uint32_t)get_bytes(&in, 4);
	return in;
}

static void read_augmentation(struct machine *machine, struct input *in, char letter)
{
	uint8_t encoding;

	switch (letter) {
	case 'z': /* the length was read before */
	case 'B':
		return;
	case 'R':
		machine->encoding = get_byte(in);
		return;
	case 'L':
		get_byte(in);
		return;
	case 'S':
		machine->is_signal = true;
		return;
	case 'P':
		encoding = get_byte(in) & 0x0F;
		get_bytes(in, encoding == 0x03 || encoding == 0x0B ? 4 : 8);
		return;
	default:
		in->is_bad = true;
	}
}

/* Read a CIE, and run its instructions.  Return false if it is bad. */
static bool read_cie(struct walk *walk, struct machine *machine, uintptr_t at)
{
	uintptr_t id_at, data, length = 0;
	char text[8] = "";
	uint32_t id;
	struct input in = begin_entry(walk, at, &id, &id_at);
	uint8_t version = get_byte(&in);

	for (unsigned int i = 0; i < sizeof(text); i++)
		if ((text[i] = (char)get_byte(&in)) == '\0')
			break;
	if (id != 0 || (version != 1 && version != 3) || text[sizeof(text) - 1] != '\0' ||
	    (text[0] != 'z' && text[0] != '\0'))
		return false;
	machine->code_factor = get_leb(&in, false);
	machine->data_factor = (int64_t)get_leb(&in, true);
	in.is_bad |= (version == 1 ? get_byte(&in) : get_leb(&in, false)) != DWARF_PC;
	if (text[0] == 'z')
		length = get_leb(&in, false);
	data = in.at;
	for (const char *letter = text; *letter && !in.is_bad; letter++)
		read_augmentation(machine, &in, *letter);
	if (text[0] == 'z')
		in.at = data + length;
	if (!machine->is_signal)
		run(machine, &in, 0, 0);
	machine->initial = machine->now;
	machine->nr_remembered = 0;
	return !in.is_bad;
}

static uint32_t rule_of_state(const struct machine *machine)
{
	const struct frame_state *state = &machine->now;
	enum cfa_kind kind = state->cfa_is_odd			   ? CFA_NONE :
			     state->cfa_is_at			   ? CFA_AT_RBP :
			     state->cfa_register == DWARF_RSP ? CFA_RSP :
			     state->cfa_register == DWARF_RBP ? CFA_RBP :
								   CFA_NONE;
	int64_t saved = state->fp == FP_SAVED ? -state->fp_offset / 8 : 0;
	int64_t offset = state->cfa_offset / 8;

	if (state->pc_is_undefined)
		return CFA_END;
	if (!state->has_pc || state->cfa_offset % 8 != 0 || offset < -RULE_OFFSET_MAX || offset >= RULE_OFFSET_MAX ||
	    saved < 0 || saved > 63 || (state->fp == FP_SAVED && state->fp_offset % 8 != 0))
		return CFA_NONE;
	return (uint32_t)kind | (uint32_t)state->fp << RULE_FP_BIT | (uint32_t)saved << RULE_SAVED_BIT |
	       (uint32_t)(offset + RULE_OFFSET_MAX) << RULE_OFFSET_BIT;
}

/* Find the rule in the entry (FDE) of a function.  Return false if the table cannot be read. */
static bool read_fde(struct walk *walk, uintptr_t at, uintptr_t address, uint32_t *found)
{
	struct machine machine = {.encoding = 0};
	uintptr_t id_at, start, length;
	uint32_t id;
	struct input in = begin_entry(walk, at, &id, &id_at);

	*found = CFA_NONE;
	if (in.is_bad || id == 0 || !read_cie(walk, &machine, id_at - id))
		return !in.is_bad;
	start = get_address(&in, machine.encoding);
	length = get_address(&in, machine.encoding & 0x0F);
	if (in.is_bad || address - start >= length)
		return !in.is_bad;
	if (machine.is_signal) {
		*found = CFA_SIGNAL;
		return true;
	}
	length = get_leb(&in, false); /* of the augmentation; all entries that compilers write have one */
	in.at += length;
	run(&machine, &in, start, address);
	if (!in.is_bad)
		*found = rule_of_state(&machine);
	return walk->end != PX_UNWIND_UNREADABLE && walk->end != PX_UNWIND_CONFINED;
}

#define TABLE_ENTRY 8

/* Read the entry i of the search table: where a function and its FDE are, relative to the header. */
static bool read_table(struct walk *walk, uintptr_t header, uint64_t i, int32_t *function, int32_t *fde)
{
	struct input in = {.walk = walk, .at = header + 12 + i * TABLE_ENTRY, .end = UINTPTR_MAX};

	*function = (int32_t)get_bytes(&in, 4);
	*fde = (int32_t)get_bytes(&in, 4);
	return !in.is_bad;
}

/* Find the rule for an address in the table of its module.  Return false if the table cannot be read. */
static PX_COLD bool read_rule(struct walk *walk, const struct module *module, uintptr_t address, uint32_t *found)
{
	int64_t wanted = (int64_t)(address - module->header);
	struct input in = {.walk = walk, .at = module->header, .end = UINTPTR_MAX};
	uint64_t form = get_bytes(&in, 4), nr, low = 0, high;
	int32_t function, fde;

	get_bytes(&in, 4);
	nr = high = get_bytes(&in, 4);
	*found = CFA_NONE;
	if (in.is_bad)
		return false;
	/* version 1, the table has 4 bytes relative to the header, as all linkers write it */
	if ((form & 0xFF) != 1 || (form >> 16) != 0x3B03 || (form >> 8 & 0x0F) != 0x0B || nr == 0 || nr > 1 << 26)
		return true;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_table(walk, module->header, middle, &function, &fde))
			return false;
		if (function <= wanted)
			low = middle;
		else
			high = middle;
	}
	if (!read_table(walk, module->header, low, &function, &fde))
		return false;
	if (function > wanted)
		return true;
	return read_fde(walk, module->header + (uintptr_t)(int64_t)fde, address, found);
}

/* Find the module of an address.  Return NULL if there is none with a table. */
static PX_NOINLINE const struct module *find_module(struct walk *walk, uintptr_t address)
{
	struct module *module = &walk->module[walk->nr_modules % MODULES];
	struct dl_find_object found;
	uint64_t print;

	if (!_dl_find_object || address >> ADDRESS_BITS != 0 || _dl_find_object((void *)address, &found) != 0 ||
	    !found.dlfo_eh_frame) {
		walk->end = PX_UNWIND_NO_TABLE;
		return NULL;
	}
	print = (uint64_t)(uintptr_t)found.dlfo_map_start >> 12 ^ (uintptr_t)found.dlfo_eh_frame;
	if (!is_lasting((uintptr_t)found.dlfo_map_start)) {
		if (!fill_window(walk, (uintptr_t)found.dlfo_eh_frame))
			return NULL;
		for (uint32_t i = 0; i + 8 <= walk->window.length; i += 8) {
			uint64_t word;

			memcpy(&word, walk->window.bytes + i, sizeof(word));
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
	if (!read_rule(walk, module, address, found)) {
		if (walk->end != PX_UNWIND_CONFINED)
			walk->end = PX_UNWIND_UNREADABLE;
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

	if (!read_stack(walk, context + REG_RIP * sizeof(greg_t), &pc) ||
	    !read_stack(walk, context + REG_RSP * sizeof(greg_t), &sp) ||
	    !read_stack(walk, context + REG_RBP * sizeof(greg_t), &fp))
		return false;
	walk->pc = pc;
	walk->fp = fp;
	walk->sp = sp;
	walk->is_exact = true;
	enter_stack(walk, sp);
	return true;
}

/* Find the caller.  Return false, with the reason, if there is none. */
PX_INLINE bool step(struct walk *walk, bool *was_signal)
{
	uintptr_t cfa, fp = walk->fp, pc;
	enum fp_kind kind;
	int64_t offset;
	uint32_t rule;

	if (!find_rule(walk, &rule))
		return false;
	offset = ((int64_t)(rule >> RULE_OFFSET_BIT) - RULE_OFFSET_MAX) * 8;
	*was_signal = false;
	switch (rule & 7) {
	case CFA_RSP:
		cfa = walk->sp + (uintptr_t)offset;
		break;
	case CFA_RBP:
		cfa = walk->fp + (uintptr_t)offset;
		break;
	case CFA_AT_RBP:
		if (!read_stack(walk, walk->fp + (uintptr_t)offset, &cfa))
			return false;
		break;
	case CFA_SIGNAL:
		*was_signal = true;
		return step_signal(walk);
	case CFA_END:
		walk->end = PX_UNWIND_WHOLE;
		return false;
	default:
		walk->end = PX_UNWIND_NO_TABLE;
		return false;
	}
	/* a signal may interrupt a function before it has pushed anything, and then the CFA is one word above */
	if (cfa <= walk->sp) {
		walk->end = PX_UNWIND_WRONG;
		return false;
	}
	kind = (enum fp_kind)(rule >> RULE_FP_BIT & 3);
	if (kind == FP_SAVED && !read_stack(walk, cfa - (rule >> RULE_SAVED_BIT & 63) * 8, &fp))
		return false;
	if (kind == FP_AT_RBP && !read_stack(walk, walk->fp, &fp))
		return false;
	if (!read_stack(walk, cfa - 8, &pc))
		return false;
	walk->fp = kind == FP_LOST ? 0 : fp;
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
		walk->end = PX_UNWIND_WHOLE;
		return false;
	}
	if (walk->fp < walk->sp || walk->fp % 16 != 0) {
		walk->end = PX_UNWIND_WRONG;
		return false;
	}
	if (!read_stack(walk, walk->fp, &fp) || !read_stack(walk, walk->fp + 8, &pc))
		return false;
	walk->sp = walk->fp + 16;
	walk->fp = fp;
	walk->pc = pc & 0xFFFFFFFFFFFF;
	return true;
}

#define PREPARE() ((void)0)
#define HERE(walk)                                                                                                     \
	__asm__ __volatile__("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=r"((walk)->pc), "=r"((walk)->sp), "=r"((walk)->fp))

#else

static bool step(struct walk *walk, bool *was_signal)
{
	*was_signal = false;
	walk->end = PX_UNWIND_NO_TABLE;
	return false;
}

#define PREPARE() ((void)0)
#define HERE(walk) ((void)(walk))

#endif

PX_NOINLINE unsigned int px_unwind(uintptr_t caller, uint64_t frame[PX_UNWIND_DEPTH],
						   enum px_unwind_end *end)
{
	unsigned int nr = 0, nr_own = 0;
	int saved_errno = errno;
	bool was_signal;
	struct walk walk;

	walk.window.at = walk.window.length = walk.nr_modules = 0;
	walk.is_exact = true;
	walk.end = PX_UNWIND_WRONG;
	PREPARE();
	HERE(&walk);
	enter_stack(&walk, walk.sp);
	while (step(&walk, &was_signal)) {
		if (nr == 0 && walk.pc != caller) {
			if (++nr_own < OWN_FRAMES)
				continue;
			walk.end = PX_UNWIND_WRONG;
			break;
		}
		if (was_signal && nr > 0)
			frame[nr - 1]++; /* the handler returns to the first instruction of its function */
		if (walk.pc == 0) {
			walk.end = PX_UNWIND_WHOLE;
			break;
		}
		if (nr == PX_UNWIND_DEPTH) {
			walk.end = PX_UNWIND_DEEP;
			break;
		}
		frame[nr++] = walk.pc + was_signal;
	}
	if (nr == 0)
		frame[nr++] = caller;
	errno = saved_errno;
	*end = walk.end;
	return nr;
}
