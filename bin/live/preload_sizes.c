/* SPDX-License-Identifier: MIT */
#include "live/preload_sizes.h"
#include "../lib/base/other_size.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "trace/elffile.h"

bool preload_other_size(const char *object, char other[PATH_MAX])
{
	struct elffile elf;
	bool found = false;

	for (unsigned int i = 0; !found && px_other_size_path(object, i, other, PATH_MAX); i++) {
		if (!elffile_open(&elf, other))
			continue;
		found = px_is_other_size(elf.elf_class, elf.order, elf.machine);
		elffile_close(&elf);
	}
	return found;
}

/* By what does this loader replace $LIB? glibc tells it from version 2.33 on. */
static bool ask_loader(const char *loader, char lib[64])
{
	char command[PATH_MAX], line[256];
	bool found = false;
	FILE *answer;

	if (may_access(loader, X_OK) != 0 ||
	    snprintf(command, sizeof(command), "%s --list-diagnostics 2>/dev/null", loader) >= (int)sizeof(command))
		return false;
	answer = popen(command, "re");
	while (answer && fgets(line, sizeof(line), answer))
		found |= sscanf(line, "dl_dst_lib=\"%63[^\"]\"", lib) == 1;
	return answer && pclose(answer) == 0 && found;
}

/* Return the length of the directory before this $LIB in the path of the object, or 0. */
static size_t length_before(const char *object, const char *lib)
{
	const char *file = strrchr(object, '/');
	size_t length = strlen(lib);

	if (!file || (size_t)(file - object) <= length || memcmp(file - length, lib, length) != 0 ||
	    file[-(ptrdiff_t)length - 1] != '/')
		return 0;
	return (size_t)(file - object) - length;
}

static bool lib_entry(const char *object, const char *other, char entry[PATH_MAX])
{
	char own_lib[64], other_lib[64];
	size_t before;

	if (!ask_loader(PX_LOADER, own_lib) || !ask_loader(PX_OTHER_SIZE_LOADER, other_lib))
		return false;
	before = length_before(object, own_lib);
	return before > 0 && before == length_before(other, other_lib) && memcmp(object, other, before) == 0 &&
	       snprintf(entry, PATH_MAX, "%.*s$LIB%s", (int)before, object, strrchr(object, '/')) < PATH_MAX;
}

void preload_entry(const char *object, const char *other, bool is_for_other, char entry[PATH_MAX])
{
	if (!other || !lib_entry(object, other, entry))
		snprintf(entry, PATH_MAX, "%s", is_for_other ? other : object);
}
