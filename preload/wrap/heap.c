/* SPDX-License-Identifier: MIT */
/*
 * The heap.  Its group of calls is off by default.  Each wrapper calls the real function, which belongs to the C
 * library or to an allocator loaded after us.  So all memory belongs to the same allocator as without this object.
 *
 * While px_hook_prepare() looks up the real functions, dlsym() allocates memory.  The wrappers take this memory from a
 * small arena.  The C library may free memory of the arena at any later time.  The arena never reuses memory.
 */
#include "hook.h"

#include <malloc.h>
#include <string.h>

#define ARENA_SIZE ((size_t)64 * 1024)
#define ARENA_UNIT ((size_t)16)

/* Before each piece are its size, and padding that aligns the piece. */
static union {
	unsigned char bytes[ARENA_SIZE];
	size_t words[ARENA_SIZE / sizeof(size_t)];
} arena __attribute__((aligned(4096)));

static size_t arena_used;

static bool is_in_arena(const void *memory)
{
	return (uintptr_t)memory - (uintptr_t)&arena < ARENA_SIZE;
}

static size_t arena_size_of(const void *memory)
{
	return ((const size_t *)memory)[-1];
}

/* Return zeroed memory, or NULL with ENOMEM if the arena is full. */
static PX_COLD void *arena_get(size_t alignment, size_t size)
{
	size_t used, from;

	if (alignment < ARENA_UNIT)
		alignment = ARENA_UNIT;
	do {
		used = px_read_once(&arena_used);
		from = (used + ARENA_UNIT + alignment - 1) & ~(alignment - 1);
		if (from > ARENA_SIZE || size > ARENA_SIZE - from) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!px_compare_exchange(&arena_used, used, from + size));
	arena.words[from / sizeof(size_t) - 1] = size;
	return &arena.bytes[from];
}

static bool overflows(size_t count, size_t size, size_t *bytes)
{
	if (!__builtin_mul_overflow(count, size, bytes))
		return false;
	errno = ENOMEM;
	return true;
}

/* Move a piece of the arena to memory of the current allocator. */
static PX_COLD void *leave_arena(const void *old, size_t size)
{
	size_t old_size = arena_size_of(old);
	void *memory = px_hook_is_preparing ? arena_get(ARENA_UNIT, size) : px_real.malloc(size);

	if (memory)
		memcpy(memory, old, old_size < size ? old_size : size);
	return memory;
}

static void record(struct px_site site, const void *memory, size_t size)
{
	px_hook_record_words(site, PX_RECORD_WHOLE, (uint64_t)(uintptr_t)memory, size);
}

static void record_more(struct px_site site, const void *memory, size_t size, uint64_t more)
{
	uint64_t data[3] = {(uint64_t)(uintptr_t)memory, size, more};

	px_hook_record_long(site, PX_RECORD_WHOLE, data, sizeof(data));
}

PX_WRAP void *malloc(size_t size)
{
	struct px_site site;

	if (px_unlikely(px_hook_is_preparing))
		return arena_get(ARENA_UNIT, size);
	if (PX_NOT_TRACED(heap))
		return px_real.malloc(size);
	site = PX_SITE(malloc, malloc);
	return PX_CALL_AND_RECORD(site, memory, px_real.malloc(size), record(site, memory, size));
}

PX_WRAP void *calloc(size_t count, size_t size)
{
	struct px_site site;
	size_t bytes;

	if (px_unlikely(px_hook_is_preparing))
		return overflows(count, size, &bytes) ? NULL : arena_get(ARENA_UNIT, bytes);
	if (PX_NOT_TRACED(heap))
		return px_real.calloc(count, size);
	site = PX_SITE(calloc, calloc);
	return PX_CALL_AND_RECORD(site, memory, px_real.calloc(count, size),
				  record(site, memory, count * size));
}

/* glibc's reallocarray() calls our realloc(): record only one of them. */
static __thread bool is_in_realloc __attribute__((tls_model("initial-exec")));

/* Record after the call, because only the result shows whether the memory moved. */
static void *traced_realloc(struct px_site site, void *old, size_t count, size_t size)
{
	struct px_hook_sample sample = px_hook_begin();
	uint64_t old_address = (uint64_t)(uintptr_t)old;
	void *memory;

	is_in_realloc = true;
	memory = PX_REAL(&sample, site.wrapper == PX_WRAPPER_realloc ?
					  px_real.realloc(old, size) :
					  px_real.reallocarray(old, count, size));
	is_in_realloc = false;
	record_more(site, memory, count * size, old_address);
	px_hook_end(&sample, site.wrapper);
	return memory;
}

PX_WRAP void *realloc(void *old, size_t size)
{
	if (px_unlikely(is_in_arena(old)))
		return leave_arena(old, size);
	if (px_unlikely(px_hook_is_preparing) && !old)
		return arena_get(ARENA_UNIT, size);
	if (PX_NOT_TRACED(heap) || is_in_realloc)
		return px_real.realloc(old, size);
	return traced_realloc(PX_SITE(realloc, realloc), old, 1, size);
}

PX_WRAP void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (px_unlikely(is_in_arena(old)))
		return overflows(count, size, &bytes) ? NULL : leave_arena(old, bytes);
	if (px_unlikely(px_hook_is_preparing) && !old)
		return overflows(count, size, &bytes) ? NULL : arena_get(ARENA_UNIT, bytes);
	if (PX_NOT_TRACED(heap))
		return px_real.reallocarray(old, count, size);
	return traced_realloc(PX_SITE(reallocarray, realloc), old, count, size);
}

/* Use a constant as the size of a page: this saves a system call. */
#define PAGE ((size_t)4096)

#define ALIGNED(symbol, parameters, arguments, alignment)                                          \
	PX_WRAP void *symbol parameters                                                            \
	{                                                                                          \
		struct px_site site;                                                               \
                                                                                                   \
		if (px_unlikely(px_hook_is_preparing))                                             \
			return arena_get(alignment, size);                                         \
		if (PX_NOT_TRACED(heap))                                                           \
			return px_real.symbol arguments;                                           \
		site = PX_SITE(symbol, memalign);                                                  \
		return PX_CALL_AND_RECORD(site, memory, px_real.symbol arguments,                  \
					  record_more(site, memory, size, alignment));             \
	}
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size), alignment)
ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size), alignment)
ALIGNED(valloc, (size_t size), (size), PAGE)
ALIGNED(pvalloc, (size_t size), (size), PAGE)

PX_WRAP int posix_memalign(void **memory, size_t alignment, size_t size)
{
	struct px_site site;

	if (px_unlikely(px_hook_is_preparing)) {
		*memory = arena_get(alignment, size);
		return *memory ? 0 : ENOMEM;
	}
	if (PX_NOT_TRACED(heap))
		return px_real.posix_memalign(memory, alignment, size);
	site = PX_SITE(posix_memalign, memalign);
	return PX_CALL_AND_RECORD(site, result, px_real.posix_memalign(memory, alignment, size),
				  record_more(site, result == 0 ? *memory : NULL, size, alignment));
}

static void traced_free(struct px_site site, void *memory)
{
	struct px_hook_sample sample = px_hook_begin();

	record(site, memory, 0);
	px_real.free(memory);
	px_hook_end(&sample, site.wrapper);
}

PX_WRAP void free(void *memory)
{
	if (px_unlikely(is_in_arena(memory)))
		return;
	/*
	 * If the program allocated this memory before the lookup, only the real free() can free it.  If that function
	 * is not known yet, do not free the memory.
	 */
	if (px_unlikely(px_hook_is_preparing && !px_real.free))
		return;
	if (PX_NOT_TRACED(heap))
		px_real.free(memory);
	else
		traced_free(PX_SITE(free, free), memory);
}
