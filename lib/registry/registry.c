/* SPDX-License-Identifier: MIT */
#include "registry/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/decimal.h"
#include "base/layout.h"
#include "base/procfs.h"
#include "base/procfs_maps.h"
#include "base/sysv.h"

/* The mapped registry and its file; both are set once. */
static struct px_registry *registry;
static struct px_registry_file registry_file;

/*
 * The record lock on the file belongs to the whole process, so this mutex excludes the other threads.  Lock the mutex
 * before the file.
 */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* A child does not inherit the record lock on the file.  So unlock the mutex in the child too. */
static void after_fork(void)
{
	pthread_mutex_init(&mutex, NULL);
}

int px_registry_open(int *fd)
{
	return px_shm_open_or_create(PX_REGISTRY_NAME, sizeof(struct px_registry), fd);
}

int px_registry_map(int fd)
{
	struct px_mapping mapping;
	struct px_registry *mapped;
	struct stat status;
	int error = px_shm_map(fd, &mapping);

	if (error)
		return error;
	if (fstat(fd, &status) == 0)
		registry_file = (struct px_registry_file){status.st_dev, status.st_ino};
	mapped = mapping.base;
	if (mapping.size != sizeof(*mapped)) {
		px_shm_unmap(&mapping);
		return EACCES;
	}
	/* The first process initialises the registry; all processes would store the same values. */
	px_compare_exchange(&mapped->gate.magic, UINT64_C(0), PX_REGISTRY_MAGIC);
	px_compare_exchange(&mapped->gate.generation, 0, 1);
	if (px_read_once(&mapped->gate.magic) != PX_REGISTRY_MAGIC) {
		px_shm_unmap(&mapping);
		return EACCES;
	}
	pthread_atfork(NULL, NULL, after_fork);
	px_store_release(&registry, mapped);
	return 0;
}

struct px_registry *px_registry_get(void)
{
	return px_load_acquire(&registry);
}

struct px_registry_file px_registry_file(void)
{
	return px_registry_get() ? registry_file : (struct px_registry_file){0, 0};
}

bool px_registry_has(const struct px_process_id *controller)
{
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_registry_slot *slot = &registry->slot[i];

		if (px_load_acquire(&slot->active) &&
		    px_read_once(&slot->controller.pid) == controller->pid &&
		    px_read_once(&slot->controller.start) == controller->start)
			return true;
	}
	return false;
}

uint32_t px_registry_count_logs(const struct px_process_id *controller)
{
	struct px_registry_slot slot;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
		nr += px_registry_read(i, &slot) && slot.has_log &&
		      px_process_id_is(&slot.controller, controller);
	return nr;
}

int px_registry_lock_for(int *fd, uint64_t wait_ns)
{
	struct timespec deadline = px_clock_timespec(px_clock_realtime_ns() + wait_ns);
	int error;

	/*
	 * Do not wait forever.  If a signal handler interrupts the thread that owns the mutex, and calls exit(), the
	 * mutex stays locked.
	 */
	error = pthread_mutex_timedlock(&mutex, &deadline);
	if (error)
		return error;
	error = px_registry_open(fd);
	if (!error) {
		error = px_shm_lock(*fd, F_SETLK, wait_ns);
		if (error)
			close(*fd);
	}
	if (error)
		pthread_mutex_unlock(&mutex);
	return error;
}

int px_registry_lock(int *fd)
{
	return px_registry_lock_for(fd, PX_REGISTRY_WAIT_NS);
}

void px_registry_unlock(int fd)
{
	close(fd); /* close() also releases the record lock */
	pthread_mutex_unlock(&mutex);
}

static void name_file(const char *prefix, uint32_t index, uint32_t generation,
		      char name[PX_SHM_NAME_MAX])
{
	size_t length = strlen(prefix);
	char *end;

	memcpy(name, prefix, length);
	end = px_decimal_put(name + length, index);
	*end++ = '.';
	*px_decimal_put(end, generation) = '\0';
}

#define SEGMENT_PREFIX PX_LAYOUT_PREFIX("stream")

void px_registry_segment_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX])
{
	name_file(SEGMENT_PREFIX, index, generation, name);
}

void px_registry_checkpoint_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX])
{
	name_file(PX_LAYOUT_PREFIX("log"), index, generation, name);
}

static char *maps_prefix(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX])
{
	char *end;

	name_file(PX_LAYOUT_PREFIX("maps"), index, generation, name);
	end = name + strlen(name);
	*end++ = '.';
	*end = '\0';
	return end;
}

void px_registry_maps_name(uint32_t index, uint32_t generation, uint32_t pid, uint32_t first,
			   char name[PX_SHM_NAME_MAX])
{
	char *end = px_decimal_put(maps_prefix(index, generation, name), pid);

	if (first != 0) {
		*end++ = '.';
		end = px_decimal_put(end, first);
	}
	*end = '\0';
}

static void remove_file(const char *name, void *unused)
{
	(void)unused;
	px_shm_unlink(name);
}

void px_registry_remove_files(uint32_t index, uint32_t generation)
{
	char name[PX_SHM_NAME_MAX];

	px_registry_segment_name(index, generation, name);
	px_shm_unlink(name);
	maps_prefix(index, generation, name);
	px_shm_for_each(name, remove_file, NULL);
}

bool px_registry_clean(uint32_t index, uint32_t generation)
{
	char name[PX_SHM_NAME_MAX];

	px_registry_checkpoint_name(index, generation, name);
	if (px_shm_has(name))
		return false;
	px_registry_remove_files(index, generation);
	return true;
}

static void sweep_segment(const char *name, void *unused)
{
	char expected[PX_SHM_NAME_MAX];
	uint32_t index, generation;

	(void)unused;
	if (sscanf(name, SEGMENT_PREFIX "%u.%u", &index, &generation) != 2 || index >= PX_STREAMS_MAX)
		return;
	px_registry_segment_name(index, generation, expected);
	if (strcmp(name, expected) == 0 &&
	    (!px_load_acquire(&registry->slot[index].active) ||
	     px_read_once(&registry->slot[index].generation) != generation))
		px_registry_clean(index, generation);
}

void px_registry_sweep(void)
{
	px_shm_for_each(SEGMENT_PREFIX, sweep_segment, NULL);
}

static void notify_trace_points(void)
{
	/*
	 * Skip the generation 0: the private word of a process is 0 until the process reads the registry.
	 */
	if (px_fetch_add(&registry->gate.generation, 1) + 1 == 0) /* EDGE attach release */
		px_fetch_add(&registry->gate.generation, 1);
	PX_TESTPOINT("registry.notified");
}

static void write_id(struct px_process_id *to, const struct px_process_id *id)
{
	px_write_once(&to->pid, id->pid);
	px_write_once(&to->pid_namespace, id->pid_namespace);
	px_write_once(&to->start, id->start);
}

static void read_id(const struct px_process_id *from, struct px_process_id *id)
{
	id->pid = px_read_once(&from->pid);
	id->pid_namespace = px_read_once(&from->pid_namespace);
	id->start = px_read_once(&from->start);
}

/*
 * A controller may put another stream into the slot during the copy.  The controller writes the generation first, so
 * this loop notices the change.
 */
bool px_registry_read(uint32_t index, struct px_registry_slot *slot)
{
	const struct px_registry_slot *from = &registry->slot[index];

	do {
		slot->generation = px_load_acquire(&from->generation);
		slot->active = px_load_acquire(&from->active);
		read_id(&from->controller, &slot->controller);
		read_id(&from->target, &slot->target);
		slot->create_ns = px_read_once(&from->create_ns);
		slot->create_start = px_read_once(&from->create_start);
		slot->is_inherited = px_read_once(&from->is_inherited);
		slot->shared_names = px_read_once(&from->shared_names);
		slot->segment = px_read_once(&from->segment);
		slot->has_log = px_read_once(&from->has_log);
		PX_TESTPOINT("registry.slot.read");
		px_read_fence(); /* this fence pairs with the fence in px_registry_publish() */
	} while (px_read_once(&from->generation) != slot->generation);
	return slot->active == 1;
}

/* Trace points may read the slot during these stores.  The last store makes the slot active. */
void px_registry_publish(uint32_t index, const struct px_registry_slot *slot)
{
	struct px_registry_slot *to = &registry->slot[index];

	px_write_once(&to->generation, slot->generation);
	/* A thread that sees a later store also sees the generation (px_registry_read()). */
	px_write_fence();
	write_id(&to->controller, &slot->controller);
	write_id(&to->target, &slot->target);
	px_write_once(&to->create_ns, slot->create_ns);
	px_write_once(&to->create_start, slot->create_start);
	px_write_once(&to->is_inherited, slot->is_inherited);
	px_write_once(&to->shared_names, slot->shared_names);
	px_write_once(&to->segment, slot->segment);
	px_write_once(&to->has_log, slot->has_log);
	px_write_once(&to->absent, (uint64_t)slot->generation << 32);
	px_store_release(&to->active, 1);
	notify_trace_points();
}

#define ABSENT_PID_SHIFT 10 /* Linux has no pid from 2^22 on */
#define ABSENT_OTHERS (UINT64_C(1) << 9)
#define ABSENT_ERROR (ABSENT_OTHERS - 1)

/* The word has the generation, so a process that is late cannot note itself for the next stream of the slot. */
void px_registry_note_absent(uint32_t index, uint32_t generation, uint32_t pid, int error)
{
	uint64_t *word = &registry->slot[index].absent;
	uint64_t old = px_load_acquire(word);

	while (old >> 32 == generation) {
		uint32_t first = (uint32_t)old >> ABSENT_PID_SHIFT;
		uint64_t new = first == 0	     ? old | (uint64_t)pid << ABSENT_PID_SHIFT |
							((unsigned int)error & ABSENT_ERROR) :
			       first != pid ? old | ABSENT_OTHERS :
					      old;

		if (new == old || px_compare_exchange(word, old, new))
			return;
		old = px_load_acquire(word);
	}
}

struct px_registry_absent px_registry_absent(uint32_t index, uint32_t generation)
{
	uint64_t word = px_load_acquire(&registry->slot[index].absent);

	if (word >> 32 != generation)
		return (struct px_registry_absent){.pid = 0};
	return (struct px_registry_absent){.pid = (uint32_t)word >> ABSENT_PID_SHIFT,
					   .error = (uint32_t)(word & ABSENT_ERROR),
					   .others = (word & ABSENT_OTHERS) != 0};
}

/* No lock is needed: only the controller of this stream writes this word. */
void px_registry_mark_log(uint32_t index, const struct px_registry_slot *slot)
{
	struct px_registry_slot *to = &registry->slot[index];

	if (px_read_once(&to->generation) == slot->generation)
		px_write_once(&to->has_log, slot->has_log);
}

void px_registry_withdraw(uint32_t index, uint32_t generation)
{
	if (px_read_once(&registry->slot[index].generation) != generation)
		return;
	px_store_release(&registry->slot[index].active, 0);
	notify_trace_points();
}

int px_registry_attach(uint32_t index, const struct px_registry_slot *slot, bool populates,
		       struct px_mapping *mapping)
{
	char name[PX_SHM_NAME_MAX];

	if (slot->segment != 0)
		return px_sysv_attach(slot->segment, mapping);
	px_registry_segment_name(index, slot->generation, name);
	return px_shm_attach(name, populates, mapping);
}

int px_registry_read_segment(uint32_t index, const struct px_registry_slot *slot, size_t offset,
			     void *to, size_t size)
{
	char name[PX_SHM_NAME_MAX];

	if (slot->segment != 0)
		return px_sysv_read(slot->segment, geteuid(), offset, to, size);
	px_registry_segment_name(index, slot->generation, name);
	return px_shm_read(name, offset, to, size);
}

/*
 * Keep a System V segment if a process must still complete a log from it.  If the segment is a file,
 * px_registry_clean() decides whether to keep it.
 */
static void remove_stream(uint32_t index)
{
	const struct px_registry_slot *slot = &registry->slot[index];

	if (slot->segment == 0)
		px_registry_clean(index, slot->generation);
	else if (!slot->has_log)
		px_sysv_remove(slot->segment, geteuid());
	px_registry_withdraw(index, slot->generation);
}

/*
 * Return a free slot, or PX_STREAMS_MAX if there is none.  A controller frees its slot without the lock
 * (px_registry_withdraw()); the caller may write to the slot only after the controller has left it.
 */
static uint32_t first_free(void)
{
	uint32_t i = 0;

	while (i < PX_STREAMS_MAX && px_load_acquire(&registry->slot[i].active))
		i++;
	return i;
}

bool px_registry_is_orphaned(uint32_t index, const struct px_registry_slot *slot, bool look_closer)
{
	const struct px_process_id *id = &slot->controller;
	char name[PX_SHM_NAME_MAX];

	if (id->pid_namespace != px_procfs_pid_namespace())
		return false;
	if (!px_procfs_is_same(id->pid, id->start))
		return true;
	if (!look_closer)
		return false;
	if (slot->segment != 0)
		return !px_procfs_has_segment(id->pid, slot->segment - 1);
	px_registry_segment_name(index, slot->generation, name);
	strcat(name, "\n"); /* the name must be at the end of a line of /proc/<pid>/maps */
	return !px_procfs_maps(id->pid, name);
}

/*
 * First free the slots of dead controllers.  If no slot is free then, also free the slots of controllers that have
 * executed another program without this library.  To find such controllers, this function reads the mappings of each
 * process, which is slow.
 */
uint32_t px_registry_find_free(void)
{
	uint32_t found = PX_STREAMS_MAX;

	for (int look_closer = 0; look_closer < 2 && found == PX_STREAMS_MAX; look_closer++) {
		for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
			if (px_load_acquire(&registry->slot[i].active) &&
			    px_registry_is_orphaned(i, &registry->slot[i], look_closer))
				remove_stream(i);
		found = first_free();
	}
	return found;
}

void px_registry_forget(const struct px_process_id *controller)
{
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_registry_slot *slot = &registry->slot[i];

		if (px_load_acquire(&slot->active) && px_process_id_is(&slot->controller, controller))
			remove_stream(i);
	}
}
