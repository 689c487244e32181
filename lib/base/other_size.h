/* SPDX-License-Identifier: MIT */
/*
 * The other word size of this kind of processor: x86 and ARM run programs of 32 and of 64 bits.  A program loads only
 * objects of its own size.  So the preloaded object is installed once for each size, in directories that differ in one
 * name: lib/x86_64-linux-gnu and lib/i386-linux-gnu (Debian), lib64 and lib (Fedora), or lib and lib32.
 *
 * In LD_PRELOAD, the dynamic loader of each program replaces $LIB by its own name.  It prints an error if there is no
 * object.  So an entry has $LIB only if both objects are there and both loaders find them; otherwise who sets the
 * variable chooses the path.
 *
 * The tool uses this file, too.
 */
#ifndef PX_BASE_OTHER_SIZE_H
#define PX_BASE_OTHER_SIZE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The end of the path of the directory for objects of this size, and what replaces it for the other size. */
struct px_lib_names {
	const char *own, *other;
};

#if defined __x86_64__ && defined __LP64__
#define PX_OTHER_SIZE_CLASS ELFCLASS32
#define PX_OTHER_SIZE_MACHINE EM_386
#define PX_LOADER "/lib64/ld-linux-x86-64.so.2"
#define PX_OTHER_SIZE_LOADER "/lib/ld-linux.so.2"
#define PX_LIBS "lib/x86_64-linux-gnu", "lib64", "lib" /* by what a loader may replace $LIB */
#define PX_LIB_NAMES \
	{"x86_64-linux-gnu", "i386-linux-gnu"}, {"lib64", "lib"}, {"lib64", "lib32"}, {"lib", "lib32"}, \
	{"lib/x86_64-linux-gnu", "lib32"}
#elif defined __i386__
#define PX_OTHER_SIZE_CLASS ELFCLASS64
#define PX_OTHER_SIZE_MACHINE EM_X86_64
#define PX_LOADER "/lib/ld-linux.so.2"
#define PX_OTHER_SIZE_LOADER "/lib64/ld-linux-x86-64.so.2"
#define PX_LIBS "lib/i386-linux-gnu", "lib32", "lib" /* by what a loader may replace $LIB */
#define PX_LIB_NAMES \
	{"i386-linux-gnu", "x86_64-linux-gnu"}, {"lib", "lib64"}, {"lib32", "lib64"}, {"lib32", "lib"}, \
	{"lib32", "lib/x86_64-linux-gnu"}
#elif defined __aarch64__ && defined __LP64__
#define PX_OTHER_SIZE_CLASS ELFCLASS32
#define PX_OTHER_SIZE_MACHINE EM_ARM
#define PX_LOADER "/lib/ld-linux-aarch64.so.1"
#define PX_OTHER_SIZE_LOADER "/lib/ld-linux-armhf.so.3"
#define PX_LIBS "lib/aarch64-linux-gnu", "lib64", "lib" /* by what a loader may replace $LIB */
#define PX_LIB_NAMES \
	{"aarch64-linux-gnu", "arm-linux-gnueabihf"}, {"lib64", "lib"}, {"lib64", "lib32"}, {"lib", "lib32"}
#elif defined __arm__
#define PX_OTHER_SIZE_CLASS ELFCLASS64
#define PX_OTHER_SIZE_MACHINE EM_AARCH64
#define PX_LOADER "/lib/ld-linux-armhf.so.3"
#define PX_OTHER_SIZE_LOADER "/lib/ld-linux-aarch64.so.1"
#define PX_LIBS "lib/arm-linux-gnueabihf", "lib32", "lib" /* by what a loader may replace $LIB */
#define PX_LIB_NAMES \
	{"arm-linux-gnueabihf", "aarch64-linux-gnu"}, {"lib", "lib64"}, {"lib32", "lib64"}, {"lib32", "lib"}
#else
#define PX_OTHER_SIZE_CLASS ELFCLASSNONE
#define PX_OTHER_SIZE_MACHINE EM_NONE
#define PX_LOADER ""
#define PX_OTHER_SIZE_LOADER ""
#define PX_LIBS "lib"
#define PX_LIB_NAMES {"", ""}
#endif

/* Return true if this is the header of a program or object of the other size, for this kind of processor. */
static inline bool px_is_other_size(unsigned int elf_class, unsigned int order, unsigned int machine)
{
	return elf_class == PX_OTHER_SIZE_CLASS && machine == PX_OTHER_SIZE_MACHINE &&
	       order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
}

/*
 * Put the i-th place where the object of the other size may be into `path`, for the path of this one.  Return false
 * after the last place, or if the path does not fit.  Async-signal-safe.
 */
static inline bool px_other_size_path(const char *own, unsigned int i, char *path, size_t size)
{
	static const struct px_lib_names names[] = {PX_LIB_NAMES};
	const char *file = strrchr(own, '/');
	size_t directory = file ? (size_t)(file - own) : 0, nr = 0;

	for (unsigned int k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		size_t length = strlen(names[k].own), other = strlen(names[k].other);

		if (length == 0 || length >= directory || file[-1 - (ptrdiff_t)length] != '/' ||
		    memcmp(file - length, names[k].own, length) != 0 || nr++ != i)
			continue;
		if (directory - length + other + strlen(file) >= size)
			return false;
		memcpy(path, own, directory - length);
		memcpy(path + directory - length, names[k].other, other);
		strcpy(path + directory - length + other, file);
		return true;
	}
	return false;
}

#endif
