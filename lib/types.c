/* SPDX-License-Identifier: MIT */
#include "types.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "life.h"
#include "names.h"

struct px_eventset px_types_opened = {
	.bits = {[PX_EVENT_UNNAMED / 64] = UINT64_C(1) << PX_EVENT_UNNAMED % 64}};

/* Named types in the order in which they were opened.  The count follows the entry. */
static uint16_t opened_order[PX_TYPES_MAX];
static uint32_t nr_opened;

/* NULL until the first type is opened. */
static struct px_names *table;

/* Protects table and px_types_opened against others that open.  No lock is taken under it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int make_table(void)
{
	void *memory;

	if (table)
		return 0;
	/* Shared, so that children made by fork go on with the same table. */
	memory = mmap(NULL, PX_NAMES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return ENOMEM;
	px_store_release(&table, memory);
	return 0;
}

static void mark_opened(unsigned int id)
{
	px_fetch_or(&px_types_opened.bits[id / 64], UINT64_C(1) << id % 64);
}

/* In this order: fork may come between, and then the child finishes it. */
static void note_opened(unsigned int id)
{
	opened_order[nr_opened] = (uint16_t)id;
	px_store_release(&nr_opened, nr_opened + 1);
	PX_TESTPOINT("types.note.listed");
	mark_opened(id);
}

static void after_fork(void)
{
	pthread_mutex_init(&mutex, NULL);
	if (nr_opened > 0)
		mark_opened(opened_order[nr_opened - 1]);
}

__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

static int open_locked(const char *name, unsigned int *id, bool *is_new)
{
	int error = make_table();

	*is_new = false;
	if (error)
		return error;
	px_names_find(table, name, id);
	if (*id != PX_EVENT_NONE &&
	    (*id < PX_EVENT_USER_FIRST || px_eventset_has(&px_types_opened, *id)))
		return 0;
	if (nr_opened >= PX_TYPES_MAX - 1 ||
	    (*id == PX_EVENT_NONE &&
	     px_names_open(table, name, (uint32_t)syscall(SYS_gettid), px_life_has, id) != 0)) {
		*id = PX_EVENT_UNNAMED; /* EVOPEN-4: success */
		return 0;
	}
	note_opened(*id);
	*is_new = true;
	return 0;
}

int px_types_open(const char *name, unsigned int *id, bool *is_new)
{
	unsigned int found = PX_EVENT_NONE;
	int saved_errno = errno;
	int error, state;

	if (strnlen(name, PX_NAME_MAX + 1) > PX_NAME_MAX)
		return ENAMETOOLONG; /* also where there is no room for a further type */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* the table may have to wait */
	pthread_mutex_lock(&mutex);
	error = open_locked(name, &found, is_new);
	pthread_mutex_unlock(&mutex);
	pthread_setcancelstate(state, &state);
	errno = saved_errno;
	if (!error)
		*id = found;
	return error;
}

bool px_types_has(unsigned int id)
{
	if (id >= PX_EVENT_ERROR && id <= PX_EVENT_SYSTEM_LAST)
		return true;
	return id < PX_EVENT_IDS && px_eventset_has(&px_types_opened, id);
}

unsigned int px_types_get(unsigned int i)
{
	if (i < PX_EVENT_SYSTEM_LAST)
		return PX_EVENT_ERROR + i;
	i -= PX_EVENT_SYSTEM_LAST;
	if (i == 0)
		return PX_EVENT_UNNAMED;
	return i <= px_load_acquire(&nr_opened) ? opened_order[i - 1] : PX_EVENT_NONE;
}

int px_types_name(unsigned int id, char name[])
{
	return px_types_has(id) ? px_names_get(px_load_acquire(&table), id, name) : EINVAL;
}

void px_types_add(const struct px_view *view, unsigned int id, const char *name)
{
	struct px_object object = {.handle = px_txtb_handle(PX_TXTB_EVENT_TYPE, id),
				   .type = PX_TXTB_EVENT_TYPE};
	struct px_object known;

	strncpy(object.name, name, sizeof(object.name) - 1);
	if (!px_objects_find(&view->segment->types, object.handle, &known))
		px_view_add_object(view, &object);
}

uint32_t px_types_add_from(const struct px_view *view, uint32_t first)
{
	char name[PX_NAME_MAX + 1];
	uint32_t i;

	for (i = first; i < px_load_acquire(&nr_opened); i++)
		if (px_types_name(opened_order[i], name) == 0)
			px_types_add(view, opened_order[i], name);
	return i;
}
