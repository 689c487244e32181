/* SPDX-License-Identifier: MIT */
/*
 * A program for a bare board: a Cortex-M3 of the machine mps2-an385, which QEMU emulates.  It fills a trace buffer of
 * ThreadX forever, as the macros of ThreadX do: with interrupts disabled, field by field, and `current` last.
 *
 * Each event has a number in its first information word, and the complement of the number in the second.  nr_events is
 * the account: how many events are in the buffer, or were.  Each millisecond, the interrupt of the timer records one
 * event, and two threads record the others.
 */
#include <stdint.h>

#define NR_OBJECTS 4
#define NAME_BYTES 32
#define NR_ENTRIES 1024
#define EVENTS_PER_TICK 4

/* The word of a thread with this priority and preemption threshold. */
#define PRIORITY(n) (0x80000000u | (n) << 16 | (n))
#define CONTEXT_INTERRUPT 0xFFFFFFFFu
#define OBJECT_THREAD 1
#define USER_EVENT 4096u
#define TIMER_EVENT 4097u

#define TIMER_CONTROL (*(volatile uint32_t *)0xE000E010)
#define TIMER_RELOAD (*(volatile uint32_t *)0xE000E014)
#define TIMER_VALUE (*(volatile uint32_t *)0xE000E018)
#define CLOCK_HZ 25000000u

struct header {
	uint32_t id, time_mask, base, registry_start;
	uint16_t reserved1, name_size;
	uint32_t registry_end, buffer_start, buffer_end, current;
	uint32_t reserved2, reserved3, reserved4;
};

struct object {
	uint8_t available, type, reserved1, reserved2;
	uint32_t handle, parameter1, parameter2;
	char name[NAME_BYTES];
};

struct entry {
	uint32_t thread, priority, id, stamp, info[4];
};

struct buffer {
	struct header header;
	struct object object[NR_OBJECTS];
	struct entry entry[NR_ENTRIES];
};

_Static_assert(sizeof(struct header) == 48 && sizeof(struct object) == 48 && sizeof(struct entry) == 32,
	       "ThreadX's layout");

volatile struct buffer trace_buffer;
volatile uint32_t nr_events;
static volatile uint32_t nr_ticks;
static uint32_t slot;
static char thread[2]; /* their addresses are the handles */

static uint32_t address_of(const volatile void *object)
{
	return (uint32_t)(uintptr_t)object;
}

/* Microseconds, from the ticks and the timer, which counts down.  Never falls: a tick that is due counts, too. */
static uint32_t take_stamp(void)
{
	static uint32_t last;
	uint32_t stamp = nr_ticks * 1000 + (TIMER_RELOAD - TIMER_VALUE) / (CLOCK_HZ / 1000000);

	if ((int32_t)(stamp - last) < 0)
		stamp = last;
	last = stamp;
	return stamp;
}

void insert(uint32_t context, uint32_t priority, uint32_t id)
{
	volatile struct entry *entry;

	__asm__ volatile("cpsid i" ::: "memory");
	entry = &trace_buffer.entry[slot];
	entry->thread = context;
	entry->priority = priority;
	entry->id = id;
	entry->stamp = take_stamp();
	entry->info[0] = nr_events;
	entry->info[1] = ~nr_events;
	entry->info[2] = 0;
	entry->info[3] = 0;
	slot = slot + 1 < NR_ENTRIES ? slot + 1 : 0;
	trace_buffer.header.current = address_of(&trace_buffer.entry[slot]);
	nr_events = nr_events + 1;
	__asm__ volatile("cpsie i" ::: "memory");
}

static void register_thread(uint32_t i, const char *name, uint32_t priority)
{
	volatile struct object *object = &trace_buffer.object[i];

	object->type = OBJECT_THREAD;
	object->reserved2 = (uint8_t)priority;
	object->handle = address_of(&thread[i]);
	for (uint32_t k = 0; name[k]; k++)
		object->name[k] = name[k];
}

static void begin(void)
{
	volatile struct header *header = &trace_buffer.header;

	for (uint32_t i = 2; i < NR_OBJECTS; i++)
		trace_buffer.object[i].available = 1;
	register_thread(0, "producer", 5);
	register_thread(1, "consumer", 7);
	header->time_mask = 0xFFFFFFFF;
	header->base = address_of(&trace_buffer);
	header->registry_start = address_of(trace_buffer.object);
	header->name_size = NAME_BYTES;
	header->registry_end = address_of(trace_buffer.entry);
	header->buffer_start = address_of(trace_buffer.entry);
	header->buffer_end = address_of(trace_buffer.entry + NR_ENTRIES);
	header->current = header->buffer_start;
	header->reserved2 = 0xAAAAAAAA;
	header->reserved3 = 0xBBBBBBBB;
	header->reserved4 = 0xCCCCCCCC;
	header->id = 0x54585442; /* TXTB: whole from here on */
}

void on_timer(void)
{
	nr_ticks = nr_ticks + 1;
	insert(CONTEXT_INTERRUPT, address_of(&thread[0]), TIMER_EVENT);
}

_Noreturn void reset(void)
{
	begin();
	TIMER_RELOAD = CLOCK_HZ / 1000 - 1;
	TIMER_VALUE = 0;
	TIMER_CONTROL = 7; /* the clock of the processor, with interrupts */
	for (;;) {
		for (uint32_t i = 0; i < EVENTS_PER_TICK; i++)
			insert(address_of(&thread[i % 2]), i % 2 ? PRIORITY(7u) : PRIORITY(5u), USER_EVENT);
		__asm__ volatile("wfi");
	}
}

_Noreturn static void stop(void)
{
	for (;;)
		__asm__ volatile("bkpt");
}

extern char stack_end[];

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
	stack_end, reset, stop, stop, stop, stop, stop, 0, 0, 0, 0, stop, stop, 0, stop, on_timer,
};
