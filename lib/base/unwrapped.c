/* SPDX-License-Identifier: MIT */
#include "base/unwrapped.h"

#include <dlfcn.h>
#include <errno.h>

#include "base/jump.h"

#ifdef PX_JUMP_BY

/* The name that the function has in the C library.  The name in the source may be a macro here, so it comes quoted. */
#ifdef PX_UNWRAPPED_IS_WIDE
#define SYMBOL(name, symbol) symbol
#else
#define SYMBOL(name, symbol) name
#endif

/*
 * The functions as the program sees them, and pointers to them.  The loader may bind them to wrappers.  The link-time
 * optimizer does not see that assembly code uses the pointers.
 */
#define POINTER(bound, pointer, symbol)                                                            \
	extern char bound[] __asm__(symbol);                                                       \
	extern void *pointer __attribute__((visibility("hidden")));                                \
	__attribute__((used)) void *pointer = bound;
#define PX_UNWRAPPED(name) POINTER(px_bound_##name, px_unwrapped_at_##name, #name)
#define PX_UNWRAPPED_WIDE(name, symbol)                                                            \
	POINTER(px_bound_##name, px_unwrapped_at_##name, SYMBOL(#name, #symbol))
#include "base/unwrapped.def"

__asm__(PX_JUMP_PARTS);

#define STUB(function, pointer)                                                                    \
	__asm__(".text\n"                                                                          \
		".p2align 4\n" PX_JUMP_BEGIN                                                       \
		".globl " function "\n"                                                            \
		".hidden " function "\n"                                                           \
		".type " function ", %function\n" function ":\n" PX_JUMP_BY(pointer)                \
		".size " function ", . - " function "\n");
#define PX_UNWRAPPED(name) STUB("px_unwrapped_" #name, "px_unwrapped_at_" #name)
#define PX_UNWRAPPED_WIDE(name, symbol) STUB("px_unwrapped_" #name, "px_unwrapped_at_" #name)
#include "base/unwrapped.def"

static const struct {
	const char *name;
	void **at;
} functions[] = {
#define PX_UNWRAPPED(name) {#name, &px_unwrapped_at_##name},
#define PX_UNWRAPPED_WIDE(name, symbol) {SYMBOL(#name, #symbol), &px_unwrapped_at_##name},
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
