/* SPDX-License-Identifier: MIT */
#include "base/unwrapped.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/jump.h"

#if defined __x86_64__ || defined __aarch64__

/* The functions as the program sees them, and pointers to them.  The loader may bind them to wrappers. */
#define PX_UNWRAPPED(name)                                                                         \
	extern char px_bound_##name[] __asm__(#name);                                              \
	extern void *px_unwrapped_at_##name __attribute__((visibility("hidden")));                 \
	void *px_unwrapped_at_##name = px_bound_##name;
#include "base/unwrapped.def"
#undef PX_UNWRAPPED

#define PX_UNWRAPPED(name)                                                                         \
	__asm__(".text\n"                                                                          \
		".p2align 4\n"                                                                     \
		".globl px_unwrapped_" #name "\n"                                                  \
		".hidden px_unwrapped_" #name "\n"                                                 \
		".type px_unwrapped_" #name ", %function\n"                                        \
		"px_unwrapped_" #name ":\n" PX_JUMP_BY("px_unwrapped_at_" #name)                     \
		".size px_unwrapped_" #name ", . - px_unwrapped_" #name "\n");
#include "base/unwrapped.def"
#undef PX_UNWRAPPED

static const struct {
	const char *name;
	void **at;
} functions[] = {
#define PX_UNWRAPPED(name) {#name, &px_unwrapped_at_##name},
#include "base/unwrapped.def"
};

/* A program that is linked statically has no dlsym(), and no preloaded object. */
#pragma weak dlsym
#pragma weak dlerror

__attribute__((constructor(101))) static void begin(void)
{
	void *(*find)(const char *) = NULL; /* returns the real function that a wrapper calls, or NULL */
	int saved_errno = errno;

	if (dlsym && dlerror) {
		*(void **)&find = dlsym(RTLD_DEFAULT, "txtrace_preload_find");
		dlerror(); /* the program must not see an error of this lookup */
	}
	for (size_t i = 0; find && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *real = find(functions[i].name);

		if (real)
			*functions[i].at = real;
	}
	errno = saved_errno;
}

#endif
