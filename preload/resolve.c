/* SPDX-License-Identifier: MIT */
/*
 * The real functions: found in our constructor, or by the first call that is made ahead of it.
 *
 * dlsym() may come up with an old version of a function, of another layout (glibc before 2.36, pthread_cond_*): only
 * if what it found lies in the C library, and is not what the newest version that we know of is, the latter is taken.
 * Through dlvsym() alone, other objects that wrap the function too would be passed by.
 */
#include "hook.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <string.h>

struct px_real px_real;
uint32_t px_hook_groups;
void *px_hook_real_vfork, *px_hook_real_clone;
__thread uint32_t px_hook_nr_unsampled
	PX_TLS; /* once more: the model of a declaration is lost here */
__thread bool px_hook_is_preparing PX_TLS;

static const struct {
	char symbol[40];
	uint16_t offset;
	uint16_t call;
} wrappers[PX_WRAPPERS] = {
#define PX_WRAPPER(symbol, call) {#symbol, offsetof(struct px_real, symbol), PX_CALL_##call},
#include "wrappers.def"
};

static void **real_of(unsigned int i)
{
	return (void **)((char *)&px_real + wrappers[i].offset);
}

/* Functions of which glibc has an old version of another layout: the oldest that will do.  Else NULL. */
static const char *version_of(const char *symbol)
{
	if (strncmp(symbol, "timer_", 6) == 0)
		return "GLIBC_2.3.3";
	if (strcmp(symbol, "posix_spawn") == 0 || strcmp(symbol, "posix_spawnp") == 0)
		return "GLIBC_2.15";
	if (strncmp(symbol, "pthread_cond_", 13) == 0 &&
	    strcmp(symbol, "pthread_cond_clockwait") != 0)
		return "GLIBC_2.3.2";
	return NULL;
}

static void *newest(const char *symbol, void *found)
{
#if defined(__GLIBC__) && defined(__x86_64__)
	const char *version = version_of(symbol);
	void *better = found && version ? dlvsym(RTLD_NEXT, symbol, version) : NULL;
	Dl_info of_found, of_better;

	if (better && better != found && dladdr(found, &of_found) && dladdr(better, &of_better) &&
	    of_found.dli_fbase == of_better.dli_fbase)
		return better;
#endif
	return found;
}

/* The C library may stand ahead of us, if it is preloaded itself: then nothing is behind. */
static void *find_real(const char *symbol)
{
	void *found = dlsym(RTLD_NEXT, symbol);
	Dl_info of_found, of_us;

	if (found)
		return newest(symbol, found);
	found = dlsym(RTLD_DEFAULT, symbol);
	if (found && dladdr(found, &of_found) && dladdr(&px_real, &of_us) &&
	    of_found.dli_fbase != of_us.dli_fbase)
		return found;
	return NULL;
}

/* 36 of "2.36".  By hand: a sanitizer in front of us, which is just beginning, cannot stand atoi(). */
static unsigned int minor_version(void)
{
	unsigned int minor = 0;
#ifdef __GLIBC__
	const char *text = gnu_get_libc_version();

	while (*text && *text++ != '.')
		;
	for (; *text >= '0' && *text <= '9'; text++)
		minor = 10 * minor + (unsigned int)(*text - '0');
#endif
	return minor;
}

/*
 * What this C library is too old for is not asked for: an error of dlsym() is a message in memory, and an allocator in
 * front of us may have called us with its own lock held.
 */
static bool is_too_new(const char *symbol, unsigned int minor)
{
	return strncmp(symbol, "__isoc23_", 9) == 0 && minor < 38;
}

/*
 * Two threads, or a handler, at the same time store the same.  What dlsym() itself calls may come back to us: an
 * allocator that is in front of us and takes a lock, when dlsym() makes an error message.  Then the rest is looked up
 * in there, with what is missing already passed over, so that it ends.
 */
void px_hook_prepare(void)
{
	static uint32_t is_prepared;
	static __thread unsigned int next __attribute__((tls_model("initial-exec")));
	unsigned int minor = minor_version();
	bool was_preparing = px_hook_is_preparing;
	int saved_errno = errno;

	if (px_load_acquire(&is_prepared))
		return;
	px_write_once(&px_hook_is_preparing, true);
	while (px_read_once(&next) < PX_WRAPPERS) {
		unsigned int i = px_read_once(&next);
		const char *symbol = wrappers[i].symbol;

		px_write_once(&next, i + 1);
		if (is_too_new(symbol, minor))
			continue;
		px_write_once(real_of(i), find_real(symbol));
		__asm__ __volatile__("" : : : "memory"); /* dlsym() may come back to us */
	}
	px_write_once(&px_hook_real_vfork, find_real("vfork"));
	px_write_once(&px_hook_real_clone, find_real("clone"));
	dlerror(); /* what was missing is not the program's to hear of */
	px_store_release(&is_prepared, 1);
	px_write_once(&px_hook_is_preparing, was_preparing);
	errno = saved_errno;
}

__attribute__((constructor(101))) static void begin(void)
{
	px_hook_prepare();
	px_store_release(&px_hook_groups, (uint32_t)PX_GROUPS_DEFAULT | PX_GROUP_READY);
}
