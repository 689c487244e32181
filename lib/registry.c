/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "decimal.h"
#include "life.h"

#define REGISTRY_MAGIC UINT64_C(0x3152786574736967)
#define LOCK_WAIT_NS UINT64_C(5000000000)

/* Where the registry is, and which file; set once. */
static struct px_registry *registry;
static struct px_registry_file registry_file;

/* Protects nothing but the file lock, which all threads of a process share.  Taken before it. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The child of a thread that held the lock does not hold it: record locks are not inherited. */
static void after_fork(void)
{
	pthread_mutex_init(&mutex, NULL);
}

int px_registry_open(int *fd)
{
	return px_shm_open_or_create("registry", sizeof(struct px_registry), fd);
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
	if (mapping.size < sizeof(*mapped)) {
		px_shm_unmap(&mapping);
		return EACCES;
	}
	/* Whoever is first makes it; the values are the same for all. */
	px_compare_exchange(&mapped->gate.magic, UINT64_C(0), REGISTRY_MAGIC);
	px_compare_exchange(&mapped->gate.generation, 0, 1);
	if (px_read_once(&mapped->gate.magic) != REGISTRY_MAGIC) {
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

static int lock_file(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct timespec pause = {0, 1000000};
	uint64_t end_ns = px_clock_monotonic_ns() + LOCK_WAIT_NS;

	/* By the clock: signals cut the naps short. */
	do {
		if (fcntl(fd, F_SETLK, &whole) == 0)
			return 0;
		if (errno != EACCES && errno != EAGAIN && errno != EINTR)
			return errno;
		nanosleep(&pause, NULL);
	} while (px_clock_monotonic_ns() < end_ns);
	return ETIMEDOUT;
}

int px_registry_lock(int *fd)
{
	struct timespec deadline = px_clock_timespec(px_clock_realtime_ns() + LOCK_WAIT_NS);
	int error;

	/* A handler that calls exit() may have interrupted the holder. */
	error = pthread_mutex_timedlock(&mutex, &deadline);
	if (error)
		return error;
	error = px_registry_open(fd);
	if (!error) {
		error = lock_file(*fd);
		if (error)
			close(*fd);
	}
	if (error)
		pthread_mutex_unlock(&mutex);
	return error;
}

void px_registry_unlock(int fd)
{
	close(fd); /* which unlocks */
	pthread_mutex_unlock(&mutex);
}

void px_registry_segment_name(uint32_t index, uint32_t generation, char name[PX_SHM_NAME_MAX])
{
	static const char prefix[] = "stream.";
	char *end;

	memcpy(name, prefix, sizeof(prefix) - 1);
	end = px_decimal_put(name + sizeof(prefix) - 1, index);
	*end++ = '.';
	*px_decimal_put(end, generation) = '\0';
}

static void tell_trace_points(void)
{
	/* The generation is never 0: that is the private copy of a process that has yet to look. */
	if (px_fetch_add(&registry->gate.generation, 1) + 1 == 0) /* EDGE attach release */
		px_fetch_add(&registry->gate.generation, 1);
	PX_TESTPOINT("registry.told");
}

static void write_id(struct px_process_id *to, const struct px_process_id *id)
{
	px_write_once(&to->pid, id->pid);
	px_write_once(&to->pid_namespace, id->pid_namespace);
	px_write_once(&to->start, id->start);
}

/* Trace points may be looking at the slot, as one that is not active. */
void px_registry_publish(uint32_t index, const struct px_registry_slot *slot)
{
	struct px_registry_slot *to = &registry->slot[index];

	px_write_once(&to->generation, slot->generation);
	px_write_fence(); /* who sees anything of what follows sees this too: traces_us() */
	write_id(&to->controller, &slot->controller);
	write_id(&to->target, &slot->target);
	px_write_once(&to->create_ns, slot->create_ns);
	px_store_release(&to->active, 1);
	tell_trace_points();
}

void px_registry_withdraw(uint32_t index, uint32_t generation)
{
	if (registry->slot[index].generation != generation)
		return;
	px_store_release(&registry->slot[index].active, 0);
	tell_trace_points();
}

static void remove_stream(uint32_t index)
{
	char name[PX_SHM_NAME_MAX];

	px_registry_segment_name(index, registry->slot[index].generation, name);
	px_shm_unlink(name);
	px_registry_withdraw(index, registry->slot[index].generation);
}

/* A slot that is free, or the highest number that is none. */
static uint32_t first_free(void)
{
	uint32_t i = 0;

	while (i < PX_STREAMS_MAX && registry->slot[i].active)
		i++;
	return i;
}

static bool is_forsaken(uint32_t index, uint32_t pid_namespace, bool look_closer)
{
	const struct px_process_id *id = &registry->slot[index].controller;
	char name[PX_SHM_NAME_MAX];

	if (id->pid_namespace != pid_namespace)
		return false;
	if (!px_life_is_same(id->pid, id->start))
		return true;
	px_registry_segment_name(index, registry->slot[index].generation, name);
	strcat(name, "\n"); /* as the line ends */
	return look_closer && !px_life_maps(id->pid, name);
}

/*
 * Dead controllers first.  A process may also have become another program, without this library;
 * whether it still maps the segment is dearer to find out, so only when slots are short.
 */
uint32_t px_registry_find_free(void)
{
	uint32_t pid_namespace = px_life_pid_namespace();
	uint32_t found = PX_STREAMS_MAX;

	for (int look_closer = 0; look_closer < 2 && found == PX_STREAMS_MAX; look_closer++) {
		for (uint32_t i = 0; i < PX_STREAMS_MAX; i++)
			if (registry->slot[i].active && is_forsaken(i, pid_namespace, look_closer))
				remove_stream(i);
		found = first_free();
	}
	return found;
}

void px_registry_forget(const struct px_process_id *controller)
{
	for (uint32_t i = 0; i < PX_STREAMS_MAX; i++) {
		const struct px_registry_slot *slot = &registry->slot[i];

		if (slot->active && px_process_id_is(&slot->controller, controller))
			remove_stream(i);
	}
}
