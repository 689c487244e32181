/* SPDX-License-Identifier: MIT */
#include "trace/types.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfs.h"
#include "registry/names_file.h"

struct px_eventset px_types_opened = {
	.bits = {[PX_EVENT_UNNAMED / 64] = UINT64_C(1) << PX_EVENT_UNNAMED % 64}};

/*
 * The named types that this process has opened: in the order in which it opened them, and as a set.
 * add_opened() raises the count after it has stored the entry.
 */
static uint16_t opened_order[PX_TYPES_MAX];
static uint32_t nr_opened;
static struct px_eventset listed;

/*
 * The shared name table of this process, or NULL if there is none, and its number. px_types_use()
 * stores the number first.
 */
static struct px_shared_names *own_shared_names;
static uint32_t own_number;

/* The private table of this process, or NULL, and its number. */
static struct px_shared_names *private_names;
static uint32_t private_number;

/*
 * A thread holds this mutex while it opens a type.  It takes no other lock while it holds the
 * mutex.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct px_shared_names *px_types_shared_names(uint32_t *number)
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);

	*number = shared_names ? px_read_once(&own_number) : 0;
	return shared_names;
}

/*
 * If several threads call this, the first one stores the number of its table, and threads with another number fail.  Of
 * the threads with this number, the first one stores its table.  All numbers in use at one time are of one kind: either
 * they name tables in shared memory, or private tables.
 */
bool px_types_use(const struct px_shared_names_ref *ref)
{
	uint32_t none = 0;

	if (px_load_acquire(&own_shared_names))
		return false;
	px_compare_exchange(&own_number, none, ref->number);
	if (px_read_once(&own_number) != ref->number)
		return false;
	if (px_shared_names_is_private(ref->number)) { /* then the caller holds a lock (process.h) */
		px_write_once(&private_number, ref->number);
		px_write_once(&private_names, ref->shared_names);
	}
	return px_compare_exchange(&own_shared_names, NULL, ref->shared_names);
}

bool px_types_is_own_private(uint32_t number)
{
	return number != 0 && number == px_read_once(&private_number);
}

/* Return true if the table has the name of each type that this process has opened. */
static bool has_all_names(const struct px_shared_names *shared_names)
{
	const struct px_shared_names *own = px_load_acquire(&own_shared_names);
	uint32_t nr = px_load_acquire(&nr_opened);

	for (uint32_t i = 0; i < nr; i++) {
		char name[PX_NAME_MAX + 1], other[PX_NAME_MAX + 1];

		if (px_names_get(&own->names, opened_order[i], name) != 0 ||
		    px_names_get(&shared_names->names, opened_order[i], other) != 0 ||
		    strcmp(name, other) != 0)
			return false;
	}
	return true;
}

/*
 * Add the names and descriptions of the private table to a shared one that does not have them: its maker could not find
 * the private table.  A name that this adds is not opened by anybody yet.  Return false if the tables do not agree.
 */
static bool adopt(struct px_shared_names *to, const struct px_shared_names *from)
{
	bool agrees;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* the thread may wait */
	agrees = px_names_adopt(&to->names, &from->names, (uint32_t)syscall(SYS_gettid), px_procfs_has);
	pthread_setcancelstate(state, &state);
	for (unsigned int id = PX_EVENT_USER_FIRST; agrees && id < PX_EVENT_USER_END; id++) {
		size_t length;
		const char *text = px_descriptions_text(&from->descriptions, id, &length);

		if (text)
			(void)px_descriptions_add(&to->descriptions, id, text, length);
	}
	return agrees;
}

/*
 * A thread that stores the number may be interrupted here.  Then another one with the same number stores the table.
 * Adopt again after moved_to is stored: a thread that opens a name either finds that number, or has stored its name
 * before.
 */
int px_types_move(const struct px_shared_names_ref *ref)
{
	struct px_shared_names *from = px_read_once(&private_names);
	bool has_names = from && has_all_names(ref->shared_names);

	if (!from || (!has_names && !adopt(ref->shared_names, from)))
		return EACCES;
	px_compare_exchange(&own_number, private_number, ref->number);
	if (px_read_once(&own_number) != ref->number)
		return EACCES;
	PX_TESTPOINT("types.move.number");
	if (!has_names)
		px_compare_exchange(&ref->shared_names->key, UINT64_C(0), from->key);
	px_exchange(&from->moved_to, ref->number);
	if (!has_names)
		adopt(ref->shared_names, from);
	return px_compare_exchange(&own_shared_names, from, ref->shared_names) ? 0 : EEXIST;
}

static void add_to(struct px_eventset *set, unsigned int id)
{
	px_fetch_or(&set->bits[id / 64], UINT64_C(1) << id % 64);
}

/*
 * Keep this order.  If another thread forks in between, after_fork() completes these steps in the
 * child.
 */
static void add_opened(unsigned int id)
{
	opened_order[nr_opened] = (uint16_t)id;
	px_store_release(&nr_opened, nr_opened + 1);
	PX_TESTPOINT("types.note.listed");
	add_to(&listed, id);
	add_to(&px_types_opened, id);
}

static void after_fork(void)
{
	pthread_mutex_init(&mutex, NULL);
	if (nr_opened == 0)
		return;
	add_to(&listed, opened_order[nr_opened - 1]);
	add_to(&px_types_opened, opened_order[nr_opened - 1]);
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

int px_types_enter(uint64_t word, uint64_t incarnation, uint32_t *moved_to)
{
	int error = 0;
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);
	struct px_shared_names_member *member = shared_names ?
							px_shared_names_enter(shared_names, word) :
							NULL;

	for (size_t i = 0; member && i < PX_EVENTSET_WORDS; i++)
		px_fetch_or(&member->opened.bits[i], px_read_once(&px_types_opened.bits[i]));
	if (member)
		px_write_once(&member->incarnation, incarnation);
	*moved_to = 0;
	if (member && shared_names == px_read_once(&private_names))
		error = px_names_file_store(shared_names, PX_EVENT_NONE, member, moved_to);
	return error;
}

void px_types_leave(uint64_t word)
{
	const struct px_shared_names *names = px_read_once(&private_names);

	if (names)
		px_names_file_leave(names, word);
}

void px_types_forget(uint64_t word)
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);
	struct px_shared_names_member *member = shared_names ?
							px_shared_names_find(shared_names, word) :
							NULL;

	for (size_t i = 0; member && i < PX_EVENTSET_WORDS; i++)
		px_write_once(&member->opened.bits[i], px_read_once(&px_types_opened.bits[i]));
}

unsigned int px_types_find_granted(uint64_t word)
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);
	struct px_shared_names_member *member = shared_names ?
							px_shared_names_find(shared_names, word) :
							NULL;

	for (unsigned int i = 0; member && i < PX_EVENTSET_WORDS; i++) {
		uint64_t granted = px_read_once(&member->opened.bits[i]) &
				   ~px_read_once(&px_types_opened.bits[i]);

		if (i == 0)
			granted &= ~UINT64_C(0) << PX_EVENT_USER_FIRST;
		if (granted != 0)
			return i * 64 + (unsigned int)__builtin_ctzll(granted);
	}
	return PX_EVENT_NONE;
}

void px_types_accept(unsigned int id)
{
	add_to(&px_types_opened, id);
}

/* Add the types that a controller has opened for this process to the order of types. */
static void list_granted(const struct px_shared_names_member *member)
{
	for (unsigned int word = 0; word < PX_EVENTSET_WORDS; word++) {
		uint64_t granted = px_read_once(&member->opened.bits[word]) & ~listed.bits[word];

		for (; granted != 0 && nr_opened < PX_TYPES_MAX - 1; granted &= granted - 1) {
			unsigned int id = word * 64 + (unsigned int)__builtin_ctzll(granted);

			if (id >= PX_EVENT_USER_FIRST)
				add_opened(id);
		}
	}
}

/*
 * Store a new type where other processes find it.  Return false if the id is not valid, because another table has
 * replaced this one, or has to.
 */
static bool publish(struct px_shared_names *shared_names, struct px_shared_names_member *member,
		    unsigned int id, uint32_t *moved_to)
{
	if (member)
		add_to(&member->opened, id);
	return shared_names != px_read_once(&private_names) ||
	       (px_names_file_store(shared_names, id, member, moved_to) == 0 && *moved_to == 0);
}

static int open_locked(struct px_shared_names *shared_names, struct px_shared_names_member *member,
		       const char *name, bool stays, unsigned int *id, uint32_t *moved_to)
{
	struct px_names *names = &shared_names->names;

	if (member)
		list_granted(member);
	px_names_find(names, name, id);
	if (*id != PX_EVENT_NONE &&
	    (*id < PX_EVENT_USER_FIRST || px_eventset_has(&px_types_opened, *id)))
		return 0;
	if (nr_opened >= PX_TYPES_MAX - 1 ||
	    (*id == PX_EVENT_NONE &&
	     px_names_open(names, name, (uint32_t)syscall(SYS_gettid), px_procfs_has, id) != 0)) {
		*id = PX_EVENT_UNNAMED; /* EVOPEN-4: success */
		return 0;
	}
	PX_TESTPOINT("types.open.found");
	if (!publish(shared_names, member, *id, moved_to) && !stays)
		return ESTALE;
	add_opened(*id);
	return 0;
}

int px_types_open(const char *name, uint64_t word, bool stays, unsigned int *id, uint32_t *first,
		  uint32_t *moved_to)
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);
	unsigned int found = PX_EVENT_NONE;
	int saved_errno = errno;
	int error, state;

	if (strnlen(name, PX_NAME_MAX + 1) > PX_NAME_MAX)
		return ENAMETOOLONG; /* also if there is no room for another type */
	if (!shared_names)
		return ENOMEM;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* opening may wait */
	pthread_mutex_lock(&mutex);
	*first = nr_opened;
	*moved_to = 0;
	error = open_locked(shared_names, px_shared_names_enter(shared_names, word), name, stays,
			    &found, moved_to);
	pthread_mutex_unlock(&mutex);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	*id = found;
	return error;
}

/* Return the number of types in the set, plus one for the unnamed type. */
static int count(const struct px_eventset *set)
{
	int sum = 1;

	for (unsigned int id = PX_EVENT_USER_FIRST; id < PX_EVENT_IDS; id++)
		sum += px_eventset_has(set, id);
	return sum;
}

int px_types_open_for(struct px_shared_names *shared_names, struct px_shared_names_member *member,
		      const char *name, unsigned int *id)
{
	struct px_names *names = &shared_names->names;
	int saved_errno = errno;
	unsigned int found;

	if (strnlen(name, PX_NAME_MAX + 1) > PX_NAME_MAX)
		return ENAMETOOLONG;
	px_names_find(names, name, &found);
	if (found == PX_EVENT_NONE || (found >= PX_EVENT_USER_FIRST &&
				       !(member && px_eventset_has(&member->opened, found)))) {
		if ((member && count(&member->opened) >= PX_TYPES_MAX) ||
		    px_names_open(names, name, (uint32_t)syscall(SYS_gettid), px_procfs_has,
				  &found) != 0)
			found = PX_EVENT_UNNAMED; /* TRIDOPEN-4 */
		else if (member)
			add_to(&member->opened, found);
	}
	errno = saved_errno;
	*id = found;
	return 0;
}

void px_types_grant(struct px_shared_names_member *member, unsigned int id)
{
	add_to(&member->opened, id);
}

static void copy_description(const struct px_shared_names *shared_names, const struct px_view *view,
			     unsigned int id)
{
	char text[PX_FIELDS_TEXT_MAX];
	size_t length = px_descriptions_get(&shared_names->descriptions, id, text);

	if (length > 0)
		(void)px_descriptions_add(&view->segment->descriptions, id, text, length);
}

int px_types_describe(unsigned int id, const char *text, size_t length, bool stays, uint32_t *moved_to)
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);
	int error;

	*moved_to = 0;
	if (!shared_names || id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END ||
	    !px_eventset_has(&px_types_opened, id))
		return EINVAL;
	error = px_descriptions_add(&shared_names->descriptions, id, text, length);
	if (!error && shared_names == px_read_once(&private_names) &&
	    (px_names_file_store_description(shared_names, id, moved_to) != 0 || *moved_to != 0) && !stays)
		return ESTALE;
	return error;
}

int px_types_name(unsigned int id, char name[PX_NAME_MAX + 1])
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);

	if (!shared_names || id < PX_EVENT_USER_FIRST || id >= PX_EVENT_USER_END ||
	    !px_eventset_has(&px_types_opened, id))
		return EINVAL;
	return px_names_get(&shared_names->names, id, name) == 0 ? 0 : EINVAL;
}

void px_types_add_description(const struct px_view *view, unsigned int id)
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);

	if (shared_names)
		copy_description(shared_names, view, id);
}

void px_types_list(struct px_shared_names *shared_names, const struct px_eventset *opened,
		   const struct px_view *view)
{
	char name[PX_NAME_MAX + 1];

	for (unsigned int id = PX_EVENT_USER_FIRST; id < PX_EVENT_IDS; id++)
		if (px_eventset_has(opened, id) &&
		    px_names_get(&shared_names->names, id, name) == 0) {
			px_view_add_type(view, id, name);
			copy_description(shared_names, view, id);
		}
}

void px_types_add(const struct px_view *view, unsigned int id)
{
	struct px_shared_names *shared_names = px_load_acquire(&own_shared_names);
	char name[PX_NAME_MAX + 1];

	if (shared_names && px_names_get(&shared_names->names, id, name) == 0) {
		px_view_add_type(view, id, name);
		copy_description(shared_names, view, id);
	}
}

uint32_t px_types_add_from(const struct px_view *view, uint32_t first)
{
	uint32_t i;

	for (i = first; i < px_load_acquire(&nr_opened); i++)
		px_types_add(view, opened_order[i]);
	return i;
}
