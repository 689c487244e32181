/* SPDX-License-Identifier: MIT */
/*
 * The services write what ThreadX writes.  The tests read the bytes of the buffer at the offsets of the layout, and use
 * neither the structures of the header nor code of the library for it.
 */
#include "support/common.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tx_trace_posix.h>
#include <unistd.h>

#include "base/compiler.h"
#include "support/txtb_checker.h"
#include "threadx/ports.h"

/* Objects at multiples of 2^FAR differ only in the upper bits of their addresses. */
#define FAR (sizeof(uintptr_t) > 4 ? 34 : 15)
#define HEADER 48
#define SLOT 48
#define ENTRY 32

static unsigned char memory[1 << 20] __attribute__((aligned(64)));
static unsigned int nr_slots, nr_entries;

static uint32_t word_at(size_t offset)
{
	uint32_t word;

	memcpy(&word, memory + offset, sizeof(word));
	return word;
}

static size_t slot_at(unsigned int i)
{
	return HEADER + (size_t)i * SLOT;
}

static size_t entry_at(unsigned int i)
{
	return HEADER + (size_t)nr_slots * SLOT + (size_t)i * ENTRY;
}

static unsigned int current(void)
{
	return (word_at(32) - word_at(24)) / ENTRY;
}

static unsigned int size_for(unsigned int slots, unsigned int entries)
{
	nr_slots = slots;
	nr_entries = entries;
	return HEADER + slots * SLOT + entries * ENTRY;
}

static void begin(unsigned int slots, unsigned int entries)
{
	memset(memory, 0x5A, sizeof(memory));
	ck_assert_uint_eq(tx_trace_enable(memory, size_for(slots, entries), slots), TX_SUCCESS);
}

static void end(void)
{
	tx_trace_buffer_full_notify(NULL);
	tx_trace_disable();
}

static void expect_entry(unsigned int i, uint32_t context, uint32_t id, const uint32_t info[4])
{
	ck_assert_uint_eq(word_at(entry_at(i)), context);
	ck_assert_uint_eq(word_at(entry_at(i) + 8), id);
	for (size_t k = 0; k < 4; k++)
		ck_assert_uint_eq(word_at(entry_at(i) + 16 + 4 * k), info[k]);
}

static uint32_t self_handle(void)
{
	return tx_trace_posix_handle((const VOID *)pthread_self());
}

START_TEST(enable_fresh_memory_is_laid_out_as_by_threadx)
{
	uint32_t base = (uint32_t)(uintptr_t)memory;

	memset(memory, 0x5A, sizeof(memory));
	/* The rest of 17 bytes has room for no entry. */
	ck_assert_uint_eq(tx_trace_enable(memory, size_for(3, 5) + 17, 3), TX_SUCCESS);
	ck_assert_uint_eq(word_at(0), 0x54585442);
	ck_assert_uint_eq(word_at(4), 0xFFFFFFFF);
	ck_assert_uint_eq(word_at(8), base);
	ck_assert_uint_eq(word_at(12), base + 48);
	ck_assert_uint_eq(word_at(16), 32u << 16);
	ck_assert_uint_eq(word_at(20), base + 48 + 3 * 48);
	ck_assert_uint_eq(word_at(24), base + 48 + 3 * 48);
	ck_assert_uint_eq(word_at(28), base + 48 + 3 * 48 + 5 * 32);
	ck_assert_uint_eq(word_at(32), base + 48 + 3 * 48 + 2 * 32);
	ck_assert_uint_eq(word_at(36), 0xAAAAAAAA);
	ck_assert_uint_eq(word_at(40), 0xBBBBBBBB);
	ck_assert_uint_eq(word_at(44), 0xCCCCCCCC);
	/* The calling thread, and slots that were never used. */
	ck_assert_uint_eq(memory[48], 0);
	ck_assert_uint_eq(memory[49], 1);
	ck_assert_uint_eq(memory[50] & 0xFC, 0x80);
	ck_assert_uint_eq(word_at(52), self_handle());
	ck_assert_uint_eq(word_at(56), 0);
	ck_assert_uint_eq(word_at(60), 0);
	for (unsigned int i = 1; i < 3; i++) {
		ck_assert_uint_eq(word_at(slot_at(i)), 1);
		ck_assert_uint_eq(word_at(slot_at(i) + 4), 0);
		ck_assert_uint_eq(word_at(slot_at(i) + 8), 0x5A5A5A5A);
	}
	for (unsigned int i = 0; i < 2; i++) {
		expect_entry(i, self_handle(), 6, (const uint32_t[4]){0});
		ck_assert_uint_eq(word_at(entry_at(i) + 4) >> 31, 1);
		ck_assert_uint_eq(word_at(entry_at(i) + 4) & 0x3FF, (memory[50] & 3u) << 8 | memory[51]);
	}
	for (unsigned int i = 2; i < 5; i++) {
		ck_assert_uint_eq(word_at(entry_at(i)), 0);
		ck_assert_uint_eq(word_at(entry_at(i) + 4), 0x5A5A5A5A);
	}
	ck_assert_uint_eq(memory[entry_at(5)], 0x5A);
	end();
}
END_TEST

START_TEST(enable_too_small_or_bad_memory_is_refused)
{
	unsigned int least = size_for(2, 1);

	ck_assert_uint_eq(tx_trace_enable(memory, least - 1, 2), TX_SIZE_ERROR);
	ck_assert_uint_eq(tx_trace_enable(memory, 0, 0), TX_SIZE_ERROR);
	/* With 32 bits, the size of these slots wraps around. */
	ck_assert_uint_eq(tx_trace_enable(memory, 4096, 0x05555556), TX_SIZE_ERROR);
	ck_assert_uint_eq(tx_trace_enable(NULL, least, 2), TX_PTR_ERROR);
	ck_assert_uint_eq(tx_trace_enable(memory + 2, least, 2), TX_PTR_ERROR);
	ck_assert_uint_eq(tx_trace_disable(), TX_NOT_DONE);
	ck_assert_uint_eq(tx_trace_enable(memory, least, 2), TX_SUCCESS);
	ck_assert_uint_eq(current(), 0); /* two events in a buffer of one entry */
	/* The size is checked first. */
	ck_assert_uint_eq(tx_trace_enable(memory, least - 1, 2), TX_SIZE_ERROR);
	ck_assert_uint_eq(tx_trace_enable(memory, least, 2), TX_NOT_DONE);
	ck_assert_uint_eq(tx_trace_disable(), TX_SUCCESS);
}
END_TEST

START_TEST(services_without_trace_return_not_done_and_write_nothing)
{
	static unsigned char before[sizeof(memory)];

	begin(2, 8);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 1, 2, 3, 4), TX_SUCCESS);
	ck_assert_uint_eq(tx_trace_disable(), TX_SUCCESS);
	memcpy(before, memory, sizeof(memory));
	ck_assert_uint_eq(tx_trace_disable(), TX_NOT_DONE);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 1, 2, 3, 4), TX_NOT_DONE);
	ck_assert_uint_eq(tx_trace_event_filter(TX_TRACE_USER_EVENTS), TX_SUCCESS);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 1, 2, 3, 4), TX_NOT_DONE);
	tx_trace_isr_enter_insert(1);
	tx_trace_isr_exit_insert(1);
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, memory, 1, 2, 3, TX_TRACE_QUEUE_EVENTS)
	ck_assert(memcmp(before, memory, sizeof(memory)) == 0);
	/* enable sets all bits of the filter again. */
	begin(2, 8);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 1, 2, 3, 4), TX_SUCCESS);
	ck_assert_uint_eq(current(), 3);
	end();
	ck_assert_int_eq(without_trace(), 0);
}
END_TEST

START_TEST(user_event_any_id_is_recorded)
{
	begin(2, 8);
	ck_assert_uint_eq(tx_trace_user_event_insert(65535, 1, 0xFFFFFFFF, 3, 0x80000004), TX_SUCCESS);
	ck_assert_uint_eq(tx_trace_user_event_insert(7, 5, 6, 7, 8), TX_SUCCESS);
	expect_entry(2, self_handle(), 65535, (const uint32_t[4]){1, 0xFFFFFFFF, 3, 0x80000004});
	expect_entry(3, self_handle(), 7, (const uint32_t[4]){5, 6, 7, 8});
	ck_assert_uint_eq(current(), 4);
	end();
}
END_TEST

START_TEST(filter_groups_are_left_out)
{
	begin(2, 16);
	ck_assert_uint_eq(tx_trace_event_filter(TX_TRACE_ALL_EVENTS), TX_SUCCESS);
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_MUTEX_GET, memory, 1, 2, 3, TX_TRACE_MUTEX_EVENTS)
	tx_trace_isr_enter_insert(1);
	tx_trace_isr_exit_insert(1);
	ck_assert_uint_eq(current(), 2);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 1, 2, 3, 4), TX_SUCCESS); /* another bit */
	ck_assert_uint_eq(current(), 3);
	tx_trace_event_unfilter(TX_TRACE_MUTEX_EVENTS);
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_MUTEX_GET, memory, 1, 2, 3, TX_TRACE_MUTEX_EVENTS)
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_QUEUE_SEND, memory, 1, 2, 3, TX_TRACE_QUEUE_EVENTS)
	ck_assert_uint_eq(current(), 4);
	tx_trace_event_filter(TX_TRACE_USER_EVENTS);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 1, 2, 3, 4), TX_SUCCESS);
	ck_assert_uint_eq(current(), 4);
	end();
}
END_TEST

static unsigned int nr_notified;
static void *notified;
static unsigned int notified_current;

static void on_full(VOID *buffer)
{
	nr_notified++;
	notified = buffer;
	notified_current = current();
}

static void insert_on_full(VOID *buffer)
{
	(void)buffer;
	nr_notified++;
	/* More than the buffer holds. */
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(tx_trace_user_event_insert(5000 + i, i, 0, 0, 0), TX_SUCCESS);
}

static void disable_on_full(VOID *buffer)
{
	(void)buffer;
	nr_notified++;
	ck_assert_uint_eq(tx_trace_disable(), TX_SUCCESS);
}

START_TEST(full_notify_is_called_at_each_wrap)
{
	nr_notified = 0;
	ck_assert_uint_eq(tx_trace_buffer_full_notify(on_full), TX_SUCCESS);
	begin(2, 4); /* keeps the callback */
	for (uint32_t i = 2; i < 4 * 5 + 1; i++)
		tx_trace_user_event_insert(4096, i, 0, 0, 0);
	ck_assert_uint_eq(nr_notified, 5);
	ck_assert_ptr_eq(notified, memory);
	ck_assert_uint_eq(notified_current, 0);
	expect_entry(0, self_handle(), 4096, (const uint32_t[4]){20});
	expect_entry(1, self_handle(), 4096, (const uint32_t[4]){17});
	ck_assert_uint_eq(tx_trace_buffer_full_notify(NULL), TX_SUCCESS);
	for (uint32_t i = 0; i < 8; i++)
		tx_trace_user_event_insert(4096, i, 0, 0, 0);
	ck_assert_uint_eq(nr_notified, 5);
	end();
}
END_TEST

START_TEST(full_notify_callback_may_use_services)
{
	nr_notified = 0;
	begin(2, 4);
	tx_trace_buffer_full_notify(insert_on_full);
	tx_trace_user_event_insert(4096, 0, 0, 0, 0);
	tx_trace_user_event_insert(4096, 0, 0, 0, 0);
	ck_assert_uint_eq(nr_notified, 1);
	ck_assert_uint_eq(current(), 2);
	expect_entry(1, self_handle(), 5009, (const uint32_t[4]){9});
	tx_trace_buffer_full_notify(disable_on_full);
	tx_trace_user_event_insert(4096, 0, 0, 0, 0);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 1, 0, 0, 0), TX_SUCCESS);
	ck_assert_uint_eq(nr_notified, 2);
	ck_assert_uint_eq(tx_trace_user_event_insert(4096, 0, 0, 0, 0), TX_NOT_DONE);
	ck_assert_uint_eq(current(), 0);
	end();
}
END_TEST

START_TEST(isr_events_have_the_interrupted_thread)
{
	begin(2, 16);
	tx_trace_isr_enter_insert(17);
	tx_trace_user_event_insert(4096, 1, 2, 3, 4);
	tx_trace_isr_enter_insert(18);
	tx_trace_isr_exit_insert(18);
	tx_trace_isr_exit_insert(17);
	tx_trace_user_event_insert(4097, 0, 0, 0, 0);
	for (unsigned int i = 2; i < 7; i++) {
		ck_assert_uint_eq(word_at(entry_at(i)), 0xFFFFFFFF);
		ck_assert_uint_eq(word_at(entry_at(i) + 4), self_handle());
	}
	ck_assert_uint_eq(word_at(entry_at(2) + 8), 3);
	ck_assert_uint_eq(word_at(entry_at(2) + 20), 17);
	ck_assert_uint_eq(word_at(entry_at(2) + 24), 1);
	ck_assert_uint_eq(word_at(entry_at(4) + 20), 18);
	ck_assert_uint_eq(word_at(entry_at(4) + 24), 2);
	ck_assert_uint_eq(word_at(entry_at(5) + 8), 4);
	ck_assert_uint_eq(word_at(entry_at(6) + 20), 17);
	ck_assert_uint_eq(word_at(entry_at(6) + 24), 1);
	ck_assert_uint_eq(word_at(entry_at(6) + 28), 0);
	ck_assert_uint_eq(word_at(entry_at(7)), self_handle());
	end();
}
END_TEST

START_TEST(in_line_insert_pointers_become_handles)
{
	static int mutex, other;
	TX_TRACE_BUFFER_ENTRY *entry;
	ULONG stamp;

	begin(4, 8);
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_MUTEX, &mutex, "mutex", 1, 0)
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_MUTEX_GET, &mutex, 10, TX_POINTER_TO_ULONG_CONVERT(&mutex), TX_NULL,
				TX_TRACE_MUTEX_EVENTS)
	expect_entry(2, self_handle(), 52,
		     (const uint32_t[4]){tx_trace_posix_handle(&mutex), 10, tx_trace_posix_handle(&mutex), 0});
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_BLOCK_ALLOCATE, &other, 0, 7, 0, TX_TRACE_BLOCK_POOL_EVENTS, &entry, &stamp)
	ck_assert_ptr_eq(entry, memory + entry_at(3));
	ck_assert_uint_eq(stamp, word_at(entry_at(3) + 12));
	/* Only words that are not 0 replace others. */
	TX_TRACE_EVENT_UPDATE(entry, stamp, TX_TRACE_BLOCK_ALLOCATE, 0, 77, 0, 0)
	expect_entry(3, self_handle(), 10, (const uint32_t[4]){tx_trace_posix_handle(&other), 77, 7, 0});
	TX_TRACE_EVENT_UPDATE(entry, stamp, TX_TRACE_BYTE_ALLOCATE, 0, 78, 0, 0)
	TX_TRACE_EVENT_UPDATE(entry, stamp + 1, TX_TRACE_BLOCK_ALLOCATE, 0, 79, 0, 0)
	TX_TRACE_EVENT_UPDATE(entry - 100, stamp, TX_TRACE_BLOCK_ALLOCATE, 0, 79, 0, 0)
	ck_assert_uint_eq(word_at(entry_at(3) + 20), 77);
	tx_trace_event_filter(TX_TRACE_BLOCK_POOL_EVENTS);
	TX_TRACE_IN_LINE_INSERT(TX_TRACE_BLOCK_ALLOCATE, &other, 0, 7, 0, TX_TRACE_BLOCK_POOL_EVENTS, &entry, &stamp)
	ck_assert_ptr_null(entry);
	TX_TRACE_EVENT_UPDATE(entry, stamp, TX_TRACE_BLOCK_ALLOCATE, 0, 80, 0, 0)
	TX_TRACE_OBJECT_UNREGISTER(&mutex)
	end();
}
END_TEST

static void expect_slot(unsigned int i, unsigned char available, unsigned char type, uint32_t handle, const char *name)
{
	ck_assert_uint_eq(memory[slot_at(i)], available);
	ck_assert_uint_eq(memory[slot_at(i) + 1], type);
	ck_assert_uint_eq(word_at(slot_at(i) + 4), handle);
	if (name)
		ck_assert_str_eq((const char *)memory + slot_at(i) + 16, name);
}

START_TEST(register_reuses_the_slot_that_is_available_longest)
{
	static int object[8];
	uint32_t handle[8];

	begin(5, 4); /* slot 0: this thread */
	for (int i = 0; i < 4; i++) {
		TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &object[i], "queue", i, 100 + i)
		handle[i] = tx_trace_posix_handle(&object[i]);
	}
	for (unsigned int i = 0; i < 4; i++) {
		expect_slot(i + 1, 0, 3, handle[i], "queue");
		ck_assert_uint_eq(word_at(slot_at(i + 1) + 8), i);
		ck_assert_uint_eq(word_at(slot_at(i + 1) + 12), 100 + i);
		ck_assert_uint_eq(memory[slot_at(i + 1) + 2], 0);
	}
	/* No slot is available: the object has a handle, but no name. */
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_TIMER, &object[4], "timer", 0, 0)
	ck_assert_uint_ne(tx_trace_posix_handle(&object[4]), (uint32_t)(uintptr_t)&object[4]);
	/* Released: 2, then 4, then 3.  The search begins at 3, and takes the last that it meets: 2. */
	TX_TRACE_OBJECT_UNREGISTER(&object[1])
	TX_TRACE_OBJECT_UNREGISTER(&object[3])
	TX_TRACE_OBJECT_UNREGISTER(&object[2])
	expect_slot(2, 1, 3, handle[1], "queue");
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_EVENT_FLAGS, &object[5], "flags", 0, 0)
	expect_slot(2, 0, 6, tx_trace_posix_handle(&object[5]), "flags");
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_EVENT_FLAGS, &object[6], "more", 0, 0)
	expect_slot(4, 0, 6, tx_trace_posix_handle(&object[6]), "more");
	/* A live object keeps its slot and its handle. */
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &object[0], "another name", 9, 9)
	expect_slot(1, 0, 3, handle[0], "another name");
	/* Another object at the same address has another handle: old events keep the old name. */
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &object[2], "new", 0, 0)
	ck_assert_uint_ne(tx_trace_posix_handle(&object[2]), handle[2]);
	end();
	for (int i = 0; i < 8; i++)
		TX_TRACE_OBJECT_UNREGISTER(&object[i])
}
END_TEST

START_TEST(register_names_are_cut_at_31_bytes)
{
	static int object[3];
	char name[64];

	memset(name, 'n', sizeof(name));
	name[63] = '\0';
	begin(4, 4);
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &object[0], name, 0, 0)
	ck_assert_uint_eq(strlen((const char *)memory + slot_at(1) + 16), 31);
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, &object[1], TX_NULL, 0, 0)
	ck_assert_uint_eq(memory[slot_at(2) + 16], 0);
	for (int i = 0; i < 3; i++)
		TX_TRACE_OBJECT_UNREGISTER(&object[i])
	end();
}
END_TEST

START_TEST(enable_existing_objects_are_in_threadx_order)
{
	static const unsigned char type[] = {8, 5, 3, 21, 2, 6, 4, 7, 3};
	static const unsigned char expected[] = {1, 2, 6, 3, 3, 4, 5, 7, 8, 21};
	static int object[sizeof(type)];

	for (size_t i = 0; i < sizeof(type); i++)
		TX_TRACE_OBJECT_REGISTER(type[i], &object[i], "object", i, 0)
	begin(12, 4);
	for (unsigned int i = 0; i < sizeof(expected); i++)
		ck_assert_uint_eq(memory[slot_at(i) + 1], expected[i]);
	ck_assert_uint_eq(word_at(slot_at(3) + 8), 2);
	ck_assert_uint_eq(word_at(slot_at(4) + 8), 8);
	end();
	for (size_t i = 0; i < sizeof(type); i++)
		TX_TRACE_OBJECT_UNREGISTER(&object[i])
}
END_TEST

START_TEST(handles_of_any_addresses_are_never_ambiguous)
{
	/* Addresses that differ only above the lower 32 bits, and addresses that look like handles. */
	uint32_t handle[200];

	if (sizeof(uintptr_t) == 4) /* a handle is an address */
		return;
	for (uint64_t i = 0; i < 200; i++) {
		TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, (uintptr_t)((i + 1) << 32 | 0x1000), "far", 0, 0)
		handle[i] = tx_trace_posix_handle((const VOID *)(uintptr_t)((i + 1) << 32 | 0x1000));
		ck_assert_uint_ne(handle[i], 0);
		ck_assert(handle[i] < 0xF0F0F0F0);
		for (uint64_t j = 0; j < i; j++)
			ck_assert_uint_ne(handle[i], handle[j]);
	}
	for (uint64_t i = 0; i < 200; i++) {
		/* A pointer to something else with the same lower half as this handle */
		uint32_t word = tx_trace_posix_handle((const VOID *)(uintptr_t)(UINT64_C(0x7F) << 32 | handle[i]));

		for (uint64_t j = 0; j < 200; j++)
			ck_assert_uint_ne(word, handle[j]);
	}
	ck_assert_uint_eq(tx_trace_posix_handle((const VOID *)(uintptr_t)UINT64_C(0x7F12345678)), 0x12345678);
	ck_assert_uint_ne(tx_trace_posix_handle((const VOID *)(uintptr_t)UINT64_C(0x7F00000000)), 0);
	ck_assert_uint_eq(tx_trace_posix_handle(NULL), 0);
	for (uint64_t i = 0; i < 200; i++)
		TX_TRACE_OBJECT_UNREGISTER((uintptr_t)((i + 1) << 32 | 0x1000))
}
END_TEST

static size_t mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%zu", &pages), 1);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

START_TEST(objects_that_come_and_go_take_no_more_memory)
{
	size_t before;
	uint32_t keeper;
	static int object;

	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_MUTEX, &object, "keeper", 0, 0)
	keeper = tx_trace_posix_handle(&object);
	for (uintptr_t i = 1; i < 3000; i++) {
		TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, i << FAR, "guest", 0, 0)
		TX_TRACE_OBJECT_UNREGISTER(i << FAR)
	}
	before = mapped_bytes();
	for (uintptr_t i = 1; i < 100000; i++) {
		TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, i << FAR | 8, "guest", 0, 0)
		TX_TRACE_OBJECT_UNREGISTER(i << FAR | 8)
		ck_assert_uint_eq(tx_trace_posix_handle(&object), keeper);
	}
	ck_assert_uint_eq(mapped_bytes(), before);
	for (uintptr_t i = 1; i < 5000; i++)
		TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_QUEUE, i << FAR | 16, "guest", 0, 0)
	for (uintptr_t i = 2; i < 5000; i++)
		ck_assert_uint_eq(tx_trace_posix_handle((const VOID *)(i << FAR | 16)),
				  tx_trace_posix_handle((const VOID *)((i - 1) << FAR | 16)) + 2);
	for (uintptr_t i = 1; i < 5000; i++)
		TX_TRACE_OBJECT_UNREGISTER(i << FAR | 16)
	ck_assert_uint_eq(tx_trace_posix_handle(&object), keeper);
	TX_TRACE_OBJECT_UNREGISTER(&object)
}
END_TEST

START_TEST(port_time_source_and_smp_are_used)
{
	cpu_set_t all, one;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all))
			cpu = i; /* the last, so that it is not 0 if there is another */
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	port_time = port_nr_extensions = 0;
	ck_assert_uint_eq(port_enable(memory, size_for(2, 32), 2), TX_SUCCESS);
	tx_trace_user_event_insert(4096, 1, 2, 3, 4);
	ck_assert_uint_eq(word_at(4), 0xFFFF);
	ck_assert_uint_eq(port_nr_extensions, 3);
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_uint_eq(word_at(entry_at(i) + 12), 0x1000 * (i + 1));
	ck_assert_uint_eq(word_at(entry_at(2) + 8), (uint32_t)cpu << 24 | 4096);
	for (unsigned int i = 3; i < 20; i++)
		tx_trace_user_event_insert(4096, 1, 2, 3, 4);
	ck_assert_uint_eq(word_at(entry_at(19) + 12), 0x14000); /* the viewer uses the bits of the mask */
	end();
	ck_assert_int_eq(sched_setaffinity(0, sizeof(all), &all), 0);
}
END_TEST

START_TEST(thread_set_gives_object_and_priority)
{
	static int thread;

	begin(4, 8);
	ck_assert_uint_eq(tx_trace_posix_thread_set(NULL, 1, 1), TX_PTR_ERROR);
	TX_TRACE_OBJECT_REGISTER(TX_TRACE_OBJECT_TYPE_THREAD, &thread, "my thread", 0x1000, 512)
	ck_assert_uint_eq(tx_trace_posix_thread_set(&thread, 300, 299), TX_SUCCESS);
	expect_slot(1, 0, 1, tx_trace_posix_handle(&thread), "my thread");
	ck_assert_uint_eq(memory[slot_at(1) + 2], 0x81);
	ck_assert_uint_eq(memory[slot_at(1) + 3], 300 & 0xFF);
	tx_trace_user_event_insert(4096, 0, 0, 0, 0);
	expect_entry(2, tx_trace_posix_handle(&thread), 4096, (const uint32_t[4]){0});
	ck_assert_uint_eq(word_at(entry_at(2) + 4), 0x80000000u | 299 << 16 | 300);
	end();
	TX_TRACE_OBJECT_UNREGISTER(&thread)
}
END_TEST

START_TEST(stamps_default_source_counts_100_ns)
{
	uint64_t before, after;
	uint32_t ticks;

	begin(2, 8);
	before = monotonic_ns();
	tx_trace_user_event_insert(4096, 0, 0, 0, 0);
	sleep_ms(250);
	tx_trace_user_event_insert(4096, 0, 0, 0, 0);
	after = monotonic_ns();
	ticks = word_at(entry_at(3) + 12) - word_at(entry_at(2) + 12);
	ck_assert(ticks >= 2497500 && ticks <= (after - before) / 100 * 1001 / 1000);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("threadx/services");
	TCase *services = tcase_create("services");

	tcase_add_test(services, enable_fresh_memory_is_laid_out_as_by_threadx);
	tcase_add_test(services, enable_too_small_or_bad_memory_is_refused);
	tcase_add_test(services, services_without_trace_return_not_done_and_write_nothing);
	tcase_add_test(services, user_event_any_id_is_recorded);
	tcase_add_test(services, filter_groups_are_left_out);
	tcase_add_test(services, full_notify_is_called_at_each_wrap);
	tcase_add_test(services, full_notify_callback_may_use_services);
	tcase_add_test(services, isr_events_have_the_interrupted_thread);
	tcase_add_test(services, in_line_insert_pointers_become_handles);
	tcase_add_test(services, register_reuses_the_slot_that_is_available_longest);
	tcase_add_test(services, register_names_are_cut_at_31_bytes);
	tcase_add_test(services, enable_existing_objects_are_in_threadx_order);
	tcase_add_test(services, handles_of_any_addresses_are_never_ambiguous);
	tcase_add_test(services, objects_that_come_and_go_take_no_more_memory);
	tcase_add_test(services, port_time_source_and_smp_are_used);
	tcase_add_test(services, thread_set_gives_object_and_priority);
	tcase_add_test(services, stamps_default_source_counts_100_ns);
	suite_add_tcase(suite, services);
	return run_suite(suite);
}
