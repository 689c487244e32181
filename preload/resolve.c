/* SPDX-License-Identifier: MIT */
/*
 * Look up the real functions.  This happens in our constructor, or in the first call if that comes earlier.
 *
 * dlsym() may return an old version of a function with another layout (glibc before 2.36, pthread_cond_*).  If dlsym()
 * found such a version in the C library, we use the newest version that we know instead.  dlvsym() alone would bypass
 * other objects that also wrap the function.
 */
#include "c_library.h"
#include "hook.h"

#include <dlfcn.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif
#include <string.h>

struct px_real px_real;
uint32_t px_hook_groups;
void *px_hook_real_clone;
struct px_hook_identity px_hook_real_identity;
__thread uint32_t px_hook_nr_unsampled
	PX_TLS; /* the definition does not inherit the TLS model, so repeat it */
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

#ifdef __GLIBC__

/*
 * Glibc may also have an older version of the function with another layout.  Then return the oldest version that is
 * usable, otherwise NULL.  A machine need not have that version.
 */
static const char *version_of(const char *symbol)
{
	if (px_c_library_begins_with(symbol, "timer_"))
		return "GLIBC_2.3.3";
	if (px_c_library_begins_with(symbol, "posix_spawn")) /* and posix_spawnp */
		return "GLIBC_2.15";
	if (px_c_library_begins_with(symbol, "pthread_cond_") &&
	    !px_c_library_begins_with(symbol, "pthread_cond_clockwait"))
		return "GLIBC_2.3.2";
	return NULL;
}

static void *newest(const char *symbol, void *found)
{
	const char *version = version_of(symbol);
	void *better = found && version ? dlvsym(RTLD_NEXT, symbol, version) : NULL;
	Dl_info of_found, of_better;

	if (better && better != found && dladdr(found, &of_found) && dladdr(better, &of_better) &&
	    of_found.dli_fbase == of_better.dli_fbase)
		return better;
	return found;
}

#else

static void *newest(const char *symbol, void *found)
{
	(void)symbol;
	return found;
}

#endif

/*
 * If the C library itself is preloaded, it may be before this object in the search order.  Then RTLD_NEXT does not find
 * it.
 */
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

/*
 * Return 36 for "2.36".  This function does not use atoi(), because a sanitizer may define atoi() too.  While the
 * sanitizer starts, its atoi() would crash.
 */
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
 * Return true if this C library is too old to have the function.  Then do not look up the function, because dlsym()
 * allocates a message when it fails.  An allocator of another object may have called us while it holds its lock, and
 * dlsym() would call this allocator again.
 */
static bool is_too_new(const char *symbol, unsigned int minor)
{
	const char *end = symbol;

	if (px_c_library_begins_with(symbol, "__isoc23_"))
		return minor < 38;
	if (px_c_library_begins_with(symbol, "__ppoll64_chk"))
		return minor < 37;
	while (end[0] && end[1] && end[2])
		end++;
	/* the functions with times of 64 bits */
	return px_c_library_begins_with(symbol, "__") && px_c_library_begins_with(end, "64") && minor < 34;
}

/*
 * Two threads, or a thread and its signal handler, may run this function at the same time, because all of them store
 * the same values.  dlsym() itself may call this function again: dlsym() allocates its error messages, and the
 * allocator may call a function that we wrap.  Then the inner call looks up the remaining functions.  It continues
 * after the missing symbol, so the recursion ends.
 */
void px_hook_prepare(void)
{
	static uint32_t is_prepared;
	static __thread unsigned int next __attribute__((tls_model("initial-exec")));
	unsigned int minor = minor_version();
	bool was_preparing = px_hook_is_preparing;
	int saved_errno = errno;
	void *real;

	if (px_load_acquire(&is_prepared))
		return;
	px_write_once(&px_hook_is_preparing, true);
	real = find_real("syscall");
	if (real)
		px_write_once(&px_hook_real_syscall, real);
	while (px_read_once(&next) < PX_WRAPPERS) {
		unsigned int i = px_read_once(&next);
		const char *symbol = wrappers[i].symbol;

		px_write_once(&next, i + 1);
		if (is_too_new(symbol, minor))
			continue;
		px_write_once(real_of(i), find_real(symbol));
		/* dlsym() may call px_hook_prepare() again. */
		__asm__ __volatile__("" : : : "memory");
	}
	px_write_once(&px_hook_real_clone, find_real("clone"));
#define PX_IDENTITY(name, parameters, arguments)                                                   \
	px_write_once((void **)(void *)&px_hook_real_identity.name, find_real(#name));
#define PX_ALONE PX_IDENTITY
#include "identity.def"
#undef PX_ALONE
#undef PX_IDENTITY
	dlerror(); /* the program must not see errors of our lookups */
	px_store_release(&is_prepared, 1);
	px_write_once(&px_hook_is_preparing, was_preparing);
	errno = saved_errno;
}

/*
 * A program may have its own copy of the library.  That copy calls this function to find the real functions, and then
 * calls those, so that its own calls are not recorded.
 */
PX_WRAP void *txtrace_preload_find(const char *symbol);
void *txtrace_preload_find(const char *symbol)
{
	px_hook_prepare();
	for (unsigned int i = 0; i < PX_WRAPPERS; i++)
		if (strcmp(wrappers[i].symbol, symbol) == 0)
			return *real_of(i);
	return NULL;
}

__attribute__((constructor(101))) static void begin(void)
{
	px_hook_prepare();
	px_store_release(&px_hook_groups, (uint32_t)PX_GROUPS_DEFAULT | PX_GROUP_READY);
}
