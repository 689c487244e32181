/* SPDX-License-Identifier: MIT */
#include "support/traps.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/atomic.h"

/* The linker makes it if there is such a section. */
extern const uint64_t __start_px_steps[] __attribute__((weak));
extern const uint64_t __stop_px_steps[] __attribute__((weak));

/* The trap replaces one byte of an instruction, or a whole one. */
#if defined __aarch64__
typedef uint32_t code;
#define TRAP 0xD4200000u /* brk #0 */
#else
typedef unsigned char code;
#define TRAP 0xCC /* int3 */
#endif

/* ThreadSanitizer does not know the memory of code. */
#define ON_CODE __attribute__((noinline, no_sanitize("thread")))

static ON_CODE void put_code(code *at, code instruction)
{
	__atomic_store_n(at, instruction, __ATOMIC_SEQ_CST);
	__builtin___clear_cache((char *)at, (char *)(at + 1));
}

static ON_CODE code get_code(const code *at)
{
	return *at;
}

static code *place; /* address of the trap; NULL: there is none */
static code former; /* what the trap replaces */
static void (*to_do)(void);
static bool stays;
static unsigned int nr_hits;

size_t px_test_nr_steps(void)
{
	return (size_t)(((uintptr_t)__stop_px_steps - (uintptr_t)__start_px_steps) / sizeof(uint64_t));
}

static void take_out(void)
{
	code *at = __atomic_exchange_n(&place, NULL, __ATOMIC_SEQ_CST);

	if (at)
		put_code(at, former);
}

/* Another thread may be in the trap when it is removed.  This only disturbs that thread, too. */
static void on_trap(int signal)
{
	void (*action)(void) = to_do;

	(void)signal;
	if (!px_read_once(&place))
		return;
	nr_hits++;
	if (stays)
		return;
	take_out();
	if (action)
		action();
}

/* Let the page be written to.  It stays so, because each change of it costs time. */
static void open_page(const code *at)
{
	static void *last;
	uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)at & ~(page_size - 1));

	if (page == last)
		return;
	if (mprotect(page, page_size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		abort();
	last = page;
}

static void plant(size_t step, void (*action)(void), bool is_to_stay)
{
	struct sigaction on = {.sa_handler = on_trap, .sa_flags = SA_NODEFER};
	code *at = (code *)(uintptr_t)__start_px_steps[step];

	if (sigaction(SIGTRAP, &on, NULL) != 0)
		abort();
	open_page(at);
	to_do = action;
	stays = is_to_stay;
	nr_hits = 0;
	former = get_code(at);
	px_write_once(&place, at);
	put_code(at, TRAP);
}

void px_test_plant(size_t step, void (*action)(void))
{
	plant(step, action, false);
}

void px_test_plant_for_good(size_t step)
{
	plant(step, NULL, true);
}

unsigned int px_test_unplant(void)
{
	take_out();
	return nr_hits;
}
