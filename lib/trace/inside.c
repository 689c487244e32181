/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "trace/inside.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confined.h"
#include "base/procfs.h"
#include "trace/process.h"

#define ENTRIES_AT_FIRST 16
#define CHUNKS 20 /* room for more entries than the kernel has tids */
#define LOOKS_EACH 2
#define STACK_REACH ((uintptr_t)65536) /* addresses at most this far apart count as addresses of one stack */
#define POLLS 200

static uint32_t has_given_up;

/*
 * Entries.  They are in chunks, each twice as large as the one before it.  A thread cannot tell when it ends, so a new
 * thread looks at old entries, one after the other, and takes one whose thread has ended.  It looks at few of them.
 * Each new thread adds LOOKS_EACH to the number of looks that the process may still use.  If it finds no such entry,
 * the thread takes a new one.  So the cost of a thread does not depend on the number of threads, and there are not many
 * more entries than there were threads at the same time.
 */

static struct px_inside first_entries[ENTRIES_AT_FIRST];
static struct px_inside *chunks[CHUNKS] = {first_entries};
static uint32_t nr_entries; /* some of them may be in chunks without memory */
static uint32_t hand;	    /* the entry to look at next */
static uint32_t looks;
static uint32_t last_serial;

static void *get_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static uint32_t chunk_of(uint32_t i)
{
	return 31 - (uint32_t)__builtin_clz(i / ENTRIES_AT_FIRST + 1);
}

/* Return NULL if the chunk of the entry has no memory. */
static struct px_inside *entry_at(uint32_t i)
{
	uint32_t k = chunk_of(i);
	struct px_inside *chunk = k < CHUNKS ? px_load_acquire(&chunks[k]) : NULL;

	return chunk ? &chunk[i - (((uint32_t)ENTRIES_AT_FIRST << k) - ENTRIES_AT_FIRST)] : NULL;
}

/* Call the function for each entry until it returns true.  Return that entry, or NULL. */
static struct px_inside *find_entry(bool (*function)(struct px_inside *entry, uint64_t argument),
				    uint64_t argument)
{
	uint32_t nr = px_load_acquire(&nr_entries);

	for (uint32_t i = 0; i < nr; i++) {
		struct px_inside *entry = entry_at(i);

		if (entry && function(entry, argument))
			return entry;
	}
	return NULL;
}

/*
 * Return true if the kernel does not know the thread any more.  A new thread may have the same tid.  Then the ended
 * thread seems to live until the new thread ends.
 */
static bool is_unknown(uint32_t tid)
{
	return tid != 0 && syscall(SYS_tgkill, (pid_t)px_read_once(&px_gate.self.pid), (pid_t)tid, 0) != 0 &&
	       errno == ESRCH;
}

/*
 * The kernel knows the first thread until all threads have ended.  The more threads there are, the longer a question to
 * /proc takes.
 */
static bool is_gone(uint64_t owner)
{
	uint32_t tid = (uint32_t)owner;
	int saved_errno = errno;
	bool gone = is_unknown(tid) || (tid == px_read_once(&px_gate.self.pid) && !px_procfs_has(tid));

	errno = saved_errno;
	return gone;
}

static void clear_entry(struct px_inside *entry)
{
	px_write_once(&entry->word, (uintptr_t)0);
	px_write_once(&entry->stack_top, (uintptr_t)0);
	entry->wait_since = 0;
	px_write_once(&entry->doubted, (uintptr_t)0);
	px_write_once(&entry->nr_unnoted, 0);
	for (int i = 0; i < PX_FRAMES; i++)
		px_write_once(&entry->nested[i].address, (uintptr_t)0);
}

/*
 * Take the entry if it is free, or if its thread has ended.  If the entry has the tid of the new owner, its former
 * thread has ended.
 */
static bool take_if_unused(struct px_inside *entry, uint64_t owner)
{
	uint64_t before = px_load_acquire(&entry->owner);
	uint32_t tid = (uint32_t)before;

	PX_TESTPOINT("inside.looked");
	if (before != 0 && (tid == 0 || tid != (uint32_t)owner) && !is_unknown(tid))
		return false;
	if (!px_compare_exchange(&entry->owner, before, owner))
		return false;
	clear_entry(entry); /* the former owner may have ended inside */
	return true;
}

static void earn_looks(uint32_t nr)
{
	uint32_t before, after;

	do {
		before = px_read_once(&looks);
		after = before + LOOKS_EACH < nr ? before + LOOKS_EACH : nr;
	} while (!px_compare_exchange(&looks, before, after));
}

static bool may_look(void)
{
	uint32_t before;

	do {
		before = px_read_once(&looks);
		if (before == 0)
			return false;
	} while (!px_compare_exchange(&looks, before, before - 1));
	return true;
}

static uint32_t move_hand(uint32_t nr)
{
	uint32_t at, next;

	do {
		at = px_read_once(&hand);
		next = at + 1 < nr ? at + 1 : 0;
	} while (!px_compare_exchange(&hand, at, next));
	return next;
}

static struct px_inside *take_old_entry(uint64_t owner)
{
	uint32_t nr = px_load_acquire(&nr_entries);

	if (nr < ENTRIES_AT_FIRST)
		return NULL;
	earn_looks(nr);
	while (may_look()) {
		struct px_inside *entry = entry_at(move_hand(nr));

		if (entry && take_if_unused(entry, owner))
			return entry;
	}
	return NULL;
}

static bool add_chunk(uint32_t k)
{
	size_t size = sizeof(first_entries) << k;
	void *memory = k < CHUNKS ? get_memory(size) : NULL;

	if (memory && !px_compare_exchange(&chunks[k], (struct px_inside *)NULL, (struct px_inside *)memory))
		munmap(memory, size);
	return memory != NULL;
}

/* Another thread may find the new entry, and take it first. */
static struct px_inside *take_new_entry(uint64_t owner)
{
	struct px_inside *entry;

	do {
		uint32_t i = px_fetch_add(&nr_entries, 1);

		entry = entry_at(i);
		if (!entry && add_chunk(chunk_of(i)))
			entry = entry_at(i);
	} while (entry && !px_compare_exchange(&entry->owner, UINT64_C(0), owner));
	return entry;
}

static uint64_t name_owner(uint32_t tid)
{
	uint32_t serial = px_fetch_add(&last_serial, 1) + 1;

	return (uint64_t)(serial != 0 ? serial : 1) << 32 | tid;
}

/*
 * In a child of vfork, the entry is for the thread of the parent, which is unknown.  An entry of two threads must stay
 * when one of them ends.  In a child without fork handlers, the tids of entries are those of the parent, so the child
 * cannot know which threads have ended.
 */
static struct px_inside *take_entry(void)
{
	bool is_own = (uint32_t)syscall(SYS_getpid) == px_read_once(&px_gate.self.pid) && !px_thread.is_shared;
	uint64_t owner = name_owner(is_own ? (uint32_t)syscall(SYS_gettid) : 0);
	struct px_inside *entry = NULL;

	if (px_read_once(&px_gate.self.has_fork_handlers) != 0)
		entry = take_old_entry(owner);
	return entry ? entry : take_new_entry(owner);
}

struct px_inside *px_inside_own(void)
{
	uintptr_t *word = px_read_once(&px_thread.word);

	return word == &px_thread.own_word ? NULL : (struct px_inside *)(void *)word;
}

/* Without an entry, a thread uses its own word (own_word), which no other thread knows. */
static void set_word(void)
{
	struct px_inside *entry = px_is_confined() ? NULL : take_entry();

	if (!entry)
		px_inside_give_up();
	if (!px_compare_exchange(&px_thread.word, (uintptr_t *)NULL,
				 entry ? &entry->word : &px_thread.own_word) &&
	    entry)
		px_store_release(&entry->owner, UINT64_C(0)); /* another thread with this storage was faster */
}

/*
 * Block signals.  Otherwise a handler could find an entry with the tid of this thread, and would believe that the entry
 * belongs to an earlier thread.
 */
static void find_word(void)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	int saved_errno = errno;
	bool blocks = !px_is_confined() &&
		      syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all)) == 0;

	if (!px_thread.word)
		set_word();
	if (blocks)
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	errno = saved_errno;
}

void px_inside_enter_unnoted(void)
{
	struct px_inside *entry = px_inside_own();

	if (entry)
		px_fetch_add(&entry->nr_unnoted, 1); /* EDGE inside release: as in px_calls_begin() */
}

void px_inside_leave_unnoted(void)
{
	struct px_inside *entry = px_inside_own();

	if (entry)
		px_fetch_add(&entry->nr_unnoted, UINT32_MAX);
}

void px_inside_doubt(uintptr_t address)
{
	struct px_inside *entry = px_inside_own();

	if (entry && px_read_once(&entry->doubted) < address)
		px_write_once(&entry->doubted, address);
}

/*
 * If a signal stack has SS_AUTODISARM, the kernel does not show that it is in use.  Because of STACK_REACH, this is
 * unlikely to matter.
 */
static bool is_on_signal_stack(void)
{
	stack_t stack;

	return px_is_confined() || syscall(SYS_sigaltstack, NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK);
}

void px_inside_end_doubt(uintptr_t address)
{
	struct px_inside *entry = px_inside_own();
	uintptr_t doubted = entry ? px_read_once(&entry->doubted) : 0;

	if (doubted != 0 && address >= doubted && address - doubted < STACK_REACH && !is_on_signal_stack())
		px_store_release(&entry->doubted, (uintptr_t)0);
}

/* All calls without a note of their own share this one. */
static struct px_frame no_note;

/* Two threads that use this storage at once would take each other's calls for calls that were left. */
struct px_frame *px_frame_find(uintptr_t address)
{
	struct px_inside *entry;

	if (!px_thread.word)
		find_word();
	entry = px_inside_own();
	for (uint32_t i = 0; i < PX_FRAMES && entry && !px_thread.is_shared; i++) {
		struct px_frame *frame = &entry->nested[i];

		if (!px_compare_exchange(&frame->address, (uintptr_t)0, address))
			continue;
		PX_TESTPOINT("frame.nested.entered");
		px_fetch_or(&entry->word, (uintptr_t)1 << i);
		return frame;
	}
	return NULL;
}

struct px_frame *px_frame_take(uintptr_t address)
{
	struct px_frame *frame = px_frame_find(address);

	if (frame)
		return frame;
	px_inside_enter_unnoted();
	return &no_note;
}

/* Clear the bit first: the frame is in use until its address is 0, so no handler takes it in between. */
void px_frame_leave(struct px_frame *frame)
{
	struct px_inside *entry = px_inside_own();

	if (frame == &no_note) {
		px_inside_leave_unnoted();
		return;
	}
	px_fetch_and(&entry->word, ~((uintptr_t)1 << (frame - entry->nested)));
	PX_TESTPOINT("frame.nested.left");
	px_write_once(&frame->address, (uintptr_t)0);
}

void px_inside_give_up(void)
{
	px_exchange(&has_given_up, 1);
}

bool px_inside_has_given_up(void)
{
	return px_read_once(&has_given_up) != 0;
}

static bool has_hidden_calls(const struct px_inside *entry)
{
	return px_load_acquire(&entry->nr_unnoted) != 0 || px_load_acquire(&entry->doubted) != 0;
}

static bool await_entry(struct px_inside *entry, uint64_t unused)
{
	bool is_owned = px_read_once(&entry->owner) != 0;

	(void)unused;
	entry->awaited = is_owned ? px_load_acquire(&entry->word) : 0;
	entry->awaits_zero = is_owned && has_hidden_calls(entry);
	return false;
}

/*
 * Return false if all calls that were awaited have ended.  When a thread decides that a call was probably left, it
 * first stores the call in `doubted`, and then removes it from the word.  So read the word first, and then look for
 * doubted calls.
 */
static bool look_again(struct px_inside *entry)
{
	uintptr_t word = px_load_acquire(&entry->word), before = entry->awaited;

	if (((word ^ before) & ~PX_FRAMES_BITS) != 0)
		entry->awaited &= PX_FRAMES_BITS;
	entry->awaited &= word | ~PX_FRAMES_BITS;
	if (entry->awaits_zero || entry->awaited != before)
		entry->awaits_zero = has_hidden_calls(entry);
	return entry->awaited != 0 || entry->awaits_zero;
}

/*
 * A thread that traces all the time is inside most of the time.  Its word is always the same, because its calls come
 * from the same place.  So poll for a while, to see the thread outside.
 */
static bool is_entry_awaited(struct px_inside *entry, uint64_t unused)
{
	uint64_t owner = px_read_once(&entry->owner);
	bool is_inside = entry->awaited != 0 || entry->awaits_zero;

	(void)unused;
	for (int i = 0; is_inside && i < POLLS; i++)
		is_inside = look_again(entry);
	if (is_inside && owner != 0 && !is_gone(owner))
		return true;
	entry->awaited = 0;
	entry->awaits_zero = 0;
	return false;
}

void px_inside_await(void)
{
	find_entry(await_entry, 0);
}

bool px_inside_is_awaited(void)
{
	return find_entry(is_entry_awaited, 0) != NULL;
}

static bool keep_only_own(struct px_inside *entry, uint64_t owner)
{
	bool is_own = entry == px_inside_own();

	px_write_once(&entry->owner, is_own ? owner : 0);
	if (!is_own)
		clear_entry(entry);
	entry->awaited = 0;
	entry->awaits_zero = 0;
	return false;
}

void px_inside_after_fork(void)
{
	find_entry(keep_only_own, name_owner((uint32_t)syscall(SYS_gettid)));
	px_write_once(&px_gate.self.has_fork_handlers, 1);
}
