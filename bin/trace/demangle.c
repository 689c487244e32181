/* SPDX-License-Identifier: MIT */
#include "trace/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/demangle_rust.h"

#define RUST_HASH 19 /* length of "::h" and 16 hex digits */

typedef char *demangler(const char *symbol, char *buffer, size_t *size, int *status);

/* Load the C++ library only when a symbol needs it: the tool also runs on machines without this library. */
static demangler *find_demangler(void)
{
	static bool is_searched;
	static demangler *found;
	void *library;

	if (!is_searched) {
		is_searched = true;
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			*(void **)&found = dlsym(library, "__cxa_demangle");
	}
	return found;
}

/* Rust's older scheme is that of C++, but the last part of the name is a hash, and these words stand for characters. */
static void translate_rust(char *name)
{
	static const char *const words[][2] = {
		{"_$LT$", "<"}, {"$LT$", "<"},	{"$GT$", ">"},	{"$RF$", "&"},	{"$BP$", "*"},
		{"$C$", ","},	{"$SP$", "@"},	{"$LP$", "("},	{"$RP$", ")"},	{"$u20$", " "},
		{"$u27$", "'"}, {"$u5b$", "["}, {"$u5d$", "]"}, {"$u7b$", "{"}, {"$u7d$", "}"},
		{"$u7e$", "~"}, {"..", "::"}};
	char *to = name;

	for (const char *from = name; *from;) {
		size_t i = 0;

		while (i < sizeof(words) / sizeof(words[0]) &&
		       strncmp(from, words[i][0], strlen(words[i][0])) != 0)
			i++;
		if (i == sizeof(words) / sizeof(words[0])) {
			*to++ = *from++;
			continue;
		}
		from += strlen(words[i][0]);
		memcpy(to, words[i][1], strlen(words[i][1]));
		to += strlen(words[i][1]);
	}
	*to = '\0';
}

static bool drop_rust_hash(char *name)
{
	size_t length = strlen(name);
	char *hash = length > RUST_HASH ? name + length - RUST_HASH : NULL;

	if (!hash || strncmp(hash, "::h", 3) != 0 ||
	    strspn(hash + 3, "0123456789abcdef") != RUST_HASH - 3)
		return false;
	*hash = '\0';
	return true;
}

char *demangle(const char *symbol)
{
	char *bare = must(strndup(symbol, strcspn(symbol, "@"))), *name;
	demangler *of_cxx = strncmp(bare, "_Z", 2) == 0 ? find_demangler() : NULL;
	int status;

	name = of_cxx ? of_cxx(bare, NULL, NULL, &status) : demangle_rust(bare);
	if (!name)
		return bare;
	free(bare);
	if (drop_rust_hash(name))
		translate_rust(name);
	return name;
}
