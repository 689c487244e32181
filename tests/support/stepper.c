/* SPDX-License-Identifier: MIT */
#include "support/stepper.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#if PX_HAS_STEPPER

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/rseq.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

static bool wait_for_stop(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return false;
	if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
		return true;
	errno = ECHILD;
	return false;
}

static bool peek(pid_t child, uint64_t address, uint64_t *word)
{
	errno = 0;
	*word = (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)address, NULL);
	return errno == 0;
}

static bool poke(pid_t child, uint64_t address, uint64_t word)
{
	return ptrace(PTRACE_POKEDATA, child, (void *)(uintptr_t)address, (void *)(uintptr_t)word) == 0;
}

/* The kernel, too, may store 0 here. */
static bool remove_sequence(pid_t child, uint64_t thread)
{
	uint64_t at = thread + (uint64_t)__rseq_offset + offsetof(struct rseq, rseq_cs), word;

	return __rseq_size == 0 || (peek(child, at, &word) && (word == 0 || poke(child, at, 0)));
}

static bool run_one(pid_t child)
{
	return ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && wait_for_stop(child);
}

#if defined __x86_64__

#define TRAP 0xCC

bool px_stepper_begin(pid_t child)
{
	return wait_for_stop(child); /* behind the trap */
}

bool px_stepper_look(pid_t child, struct px_stepper_place *place)
{
	struct user_regs_struct registers;
	uint64_t code;

	if (ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0 || !peek(child, registers.rip, &code))
		return false;
	*place = (struct px_stepper_place){registers.rip, (code & 0xFF) == TRAP};
	return true;
}

bool px_stepper_step(pid_t child, unsigned int *nr)
{
	struct user_regs_struct registers;

	if (!run_one(child) || ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0)
		return false;
	++*nr;
	return remove_sequence(child, registers.fs_base);
}

#else

#define TRAP 0xD4200000u /* brk #0 */
#define EXCLUSIVE_MAX 16

static bool move_registers(pid_t child, enum __ptrace_request request, int type, void *registers, size_t size)
{
	struct iovec block = {registers, size};

	return ptrace(request, child, (void *)(uintptr_t)type, &block) == 0;
}

static bool get_registers(pid_t child, struct user_regs_struct *registers)
{
	return move_registers(child, PTRACE_GETREGSET, NT_PRSTATUS, registers, sizeof(*registers));
}

static bool get_code(pid_t child, uint64_t address, uint32_t *code)
{
	uint64_t word;

	if (!peek(child, address & ~UINT64_C(7), &word))
		return false;
	*code = (uint32_t)(address & 4 ? word >> 32 : word);
	return true;
}

static bool put_code(pid_t child, uint64_t address, uint32_t code)
{
	uint64_t at = address & ~UINT64_C(7), word;
	unsigned int shift = address & 4 ? 32 : 0;

	return peek(child, at, &word) &&
	       poke(child, at, (word & ~(UINT64_C(0xFFFFFFFF) << shift)) | (uint64_t)code << shift);
}

/* Not CASP, which differs only in its top bit from exclusive accesses to a pair. */
static bool is_exclusive(uint32_t code, bool is_load)
{
	return (code & 0x3F800000u) == 0x08000000u && (code & 0x80200000u) != 0x00200000u &&
	       (code & 0x00400000u) == (is_load ? 0x00400000u : 0);
}

/* The target of a conditional branch, or 0. */
static uint64_t branch_target(uint32_t code, uint64_t address)
{
	if ((code & 0xFF000010u) != 0x54000000u && (code & 0x7E000000u) != 0x34000000u)
		return 0;
	return address + (uint64_t)((int64_t)((int32_t)(code << 8) >> 13) * 4);
}

bool px_stepper_begin(pid_t child)
{
	struct user_regs_struct registers;

	if (!wait_for_stop(child) || !get_registers(child, &registers))
		return false;
	registers.pc += 4;
	return move_registers(child, PTRACE_SETREGSET, NT_PRSTATUS, &registers, sizeof(registers));
}

bool px_stepper_look(pid_t child, struct px_stepper_place *place)
{
	struct user_regs_struct registers;
	uint32_t code;

	if (!get_registers(child, &registers) || !get_code(child, registers.pc, &code))
		return false;
	*place = (struct px_stepper_place){registers.pc, code == TRAP};
	return true;
}

/*
 * The child is at an exclusive load.  Put traps behind the store and at the targets of branches between the two, run to
 * one of them, and count the instructions on that way: they have no loop.
 */
static bool run_exclusive(pid_t child, uint64_t from, unsigned int *nr)
{
	struct {
		uint64_t address;
		uint32_t code;
		unsigned int nr; /* instructions until here */
	} trap[EXCLUSIVE_MAX + 1];
	struct px_stepper_place place;
	unsigned int nr_traps = 0, length = 0;
	bool has_store = false, is_done = true;
	uint32_t code;

	while (!has_store && length < EXCLUSIVE_MAX) {
		uint64_t target;

		if (!get_code(child, from + 4 * length, &code))
			return false;
		target = branch_target(code, from + 4 * length);
		length++;
		has_store = is_exclusive(code, false);
		if (target)
			trap[nr_traps++] = (__typeof__(trap[0])){target, 0, length};
	}
	if (!has_store) {
		errno = ENOEXEC;
		return false;
	}
	trap[nr_traps++] = (__typeof__(trap[0])){from + 4 * length, 0, length};
	for (unsigned int i = 0; i < nr_traps; i++)
		is_done &= get_code(child, trap[i].address, &trap[i].code) && put_code(child, trap[i].address, TRAP);
	is_done = is_done && ptrace(PTRACE_CONT, child, NULL, NULL) == 0 && wait_for_stop(child) &&
		  px_stepper_look(child, &place);
	for (unsigned int i = nr_traps; i-- > 0;)
		is_done &= put_code(child, trap[i].address, trap[i].code);
	for (unsigned int i = 0; is_done && i < nr_traps; i++)
		if (trap[i].address == place.address) {
			*nr += trap[i].nr;
			return true;
		}
	return false;
}

bool px_stepper_step(pid_t child, unsigned int *nr)
{
	struct user_regs_struct registers;
	uint64_t thread;
	uint32_t code;

	if (!get_registers(child, &registers) || !get_code(child, registers.pc, &code))
		return false;
	if (is_exclusive(code, true)) {
		if (!run_exclusive(child, registers.pc, nr))
			return false;
	} else {
		if (!run_one(child))
			return false;
		++*nr;
	}
	return move_registers(child, PTRACE_GETREGSET, NT_ARM_TLS, &thread, sizeof(thread)) &&
	       remove_sequence(child, thread);
}

#endif

#else

bool px_stepper_begin(pid_t child)
{
	(void)child;
	errno = ENOSYS;
	return false;
}

bool px_stepper_look(pid_t child, struct px_stepper_place *place)
{
	(void)child, (void)place;
	errno = ENOSYS;
	return false;
}

bool px_stepper_step(pid_t child, unsigned int *nr)
{
	(void)child, (void)nr;
	errno = ENOSYS;
	return false;
}

#endif
