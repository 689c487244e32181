/* SPDX-License-Identifier: MIT */
#include "trace/eh_frame.h"

#if PX_HAS_EH_FRAME

#define ENTRY_MAX 65536 /* a longer entry of a table is none: another module is there now */

/* Numbers of registers in the tables. */
enum { DWARF_RBP = 6, DWARF_RSP = 7, DWARF_PC = 16 };

/* Input from a table. */

struct input {
	struct px_unwind_memory *memory;
	uintptr_t at, end;
	bool is_bad;
};

PX_INLINE uint8_t get_byte(struct input *in)
{
	struct px_unwind_window *window = &in->memory->window;

	if (px_unlikely(in->is_bad || in->at >= in->end)) {
		in->is_bad = true;
		return 0;
	}
	if (px_unlikely(in->at - window->at >= window->length) && !px_unwind_fill(in->memory, in->at)) {
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
	enum px_fp_kind fp;
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
		machine->now.fp = PX_FP_SAVED;
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
		machine->now.fp = PX_FP_LOST;
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
		machine->now.fp = PX_FP_AT_RBP;
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
			now->fp = PX_FP_SAME;
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
static struct input begin_entry(struct px_unwind_memory *memory, uintptr_t at, uint32_t *id, uintptr_t *id_at)
{
	struct input in = {.memory = memory, .at = at, .end = at + 4};
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
static bool read_cie(struct px_unwind_memory *memory, struct machine *machine, uintptr_t at)
{
	uintptr_t id_at, data, length = 0;
	char text[8] = "";
	uint32_t id;
	struct input in = begin_entry(memory, at, &id, &id_at);
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
	enum px_cfa_kind kind = state->cfa_is_odd			   ? PX_CFA_NONE :
			     state->cfa_is_at			   ? PX_CFA_AT_RBP :
			     state->cfa_register == DWARF_RSP ? PX_CFA_RSP :
			     state->cfa_register == DWARF_RBP ? PX_CFA_RBP :
								   PX_CFA_NONE;
	int64_t saved = state->fp == PX_FP_SAVED ? -state->fp_offset / 8 : 0;
	int64_t offset = state->cfa_offset / 8;

	if (state->pc_is_undefined)
		return PX_CFA_END;
	if (!state->has_pc || state->cfa_offset % 8 != 0 || offset < -PX_RULE_OFFSET_MAX ||
	    offset >= PX_RULE_OFFSET_MAX || saved < 0 || saved > 63 ||
	    (state->fp == PX_FP_SAVED && state->fp_offset % 8 != 0))
		return PX_CFA_NONE;
	return (uint32_t)kind | (uint32_t)state->fp << PX_RULE_FP_BIT | (uint32_t)saved << PX_RULE_SAVED_BIT |
	       (uint32_t)(offset + PX_RULE_OFFSET_MAX) << PX_RULE_OFFSET_BIT;
}

/* Find the rule in the entry (FDE) of a function.  Return false if the table cannot be read. */
static bool read_fde(struct px_unwind_memory *memory, uintptr_t at, uintptr_t address, uint32_t *rule)
{
	struct machine machine = {.encoding = 0};
	uintptr_t id_at, start, length;
	uint32_t id;
	struct input in = begin_entry(memory, at, &id, &id_at);

	*rule = PX_CFA_NONE;
	if (in.is_bad || id == 0 || !read_cie(memory, &machine, id_at - id))
		return !in.is_bad;
	start = get_address(&in, machine.encoding);
	length = get_address(&in, machine.encoding & 0x0F);
	if (in.is_bad || address - start >= length)
		return !in.is_bad;
	if (machine.is_signal) {
		*rule = PX_CFA_SIGNAL;
		return true;
	}
	length = get_leb(&in, false); /* of the augmentation; all entries that compilers write have one */
	in.at += length;
	run(&machine, &in, start, address);
	if (!in.is_bad)
		*rule = rule_of_state(&machine);
	return memory->end != PX_UNWIND_UNREADABLE && memory->end != PX_UNWIND_CONFINED;
}

#define TABLE_ENTRY 8

/* Read the entry i of the search table: where a function and its FDE are, relative to the header. */
static bool read_table(struct px_unwind_memory *memory, uintptr_t header, uint64_t i, int32_t *function, int32_t *fde)
{
	struct input in = {.memory = memory, .at = header + 12 + i * TABLE_ENTRY, .end = UINTPTR_MAX};

	*function = (int32_t)get_bytes(&in, 4);
	*fde = (int32_t)get_bytes(&in, 4);
	return !in.is_bad;
}

PX_COLD bool px_eh_frame_rule(struct px_unwind_memory *memory, uintptr_t header, uintptr_t address, uint32_t *rule)
{
	int64_t wanted = (int64_t)(address - header);
	struct input in = {.memory = memory, .at = header, .end = UINTPTR_MAX};
	uint64_t form = get_bytes(&in, 4), nr, low = 0, high;
	int32_t function, fde;

	get_bytes(&in, 4);
	nr = high = get_bytes(&in, 4);
	*rule = PX_CFA_NONE;
	if (in.is_bad)
		return false;
	/* version 1, the table has 4 bytes relative to the header, as all linkers write it */
	if ((form & 0xFF) != 1 || (form >> 16) != 0x3B03 || (form >> 8 & 0x0F) != 0x0B || nr == 0 || nr > 1 << 26)
		return true;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (!read_table(memory, header, middle, &function, &fde))
			return false;
		if (function <= wanted)
			low = middle;
		else
			high = middle;
	}
	if (!read_table(memory, header, low, &function, &fde))
		return false;
	if (function > wanted)
		return true;
	return read_fde(memory, header + (uintptr_t)(int64_t)fde, address, rule);
}

#endif
