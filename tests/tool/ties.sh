#!/bin/sh
# SPDX-License-Identifier: MIT
# qsort() need not keep the order of equal members: the one of musl does not, and the one of glibc only while it has
# memory.  So what the tool prints is the same with a qsort() that reverses them.
. "${srcdir:-.}/tests/tool/lib.sh"
make_samples

cat >"$scratch/ties.c" <<'END'
#include <stdlib.h>
#include <string.h>
typedef int comparison(const void *a, const void *b);
static void merge(char *from, char *to, size_t nr, size_t size, comparison *compare)
{
	size_t half = nr / 2, i = 0, j = half;

	if (nr < 2)
		return;
	merge(from, to, half, size, compare);
	merge(from + half * size, to, nr - half, size, compare);
	for (size_t n = 0; n < nr; n++) {
		int is_first = j == nr || (i < half && compare(from + i * size, from + j * size) < 0);

		memcpy(to + n * size, from + (is_first ? i++ : j++) * size, size);
	}
	memcpy(from, to, nr * size);
}
void qsort(void *base, size_t nr, size_t size, comparison *compare)
{
	char *room = malloc(nr * size + 1);

	if (!room)
		abort();
	merge(base, room, nr, size, compare);
	free(room);
}
END
${CC:-cc} -shared -fPIC -o "$scratch/ties.so" "$scratch/ties.c" 2>"$scratch/err" ||
	{ echo "SKIP: no compiler: $(cat "$scratch/err")"; exit 77; }
binary=$(binary_of "$tool")
LD_LIBRARY_PATH=$(cd "$(dirname "$tool")/../lib/.libs" 2>/dev/null && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# same COMMAND [OPTION...]: it prints the same
same()
{
	nr_checks=$((nr_checks + 1))
	"$binary" "$@" >"$scratch/plain" 2>&1
	LD_PRELOAD=$scratch/ties.so "$binary" "$@" >"$scratch/reversed" 2>&1
	cmp -s "$scratch/plain" "$scratch/reversed" ||
		complain "$* depends on the order of equal members: $(diff "$scratch/plain" "$scratch/reversed" | head -n 4)"
}

for file in "$samples"/*.trx; do
	for command in 'print' 'info --objects' 'info --types' 'report' 'blocked' 'locks' 'waits' 'states' 'why' \
		'export --to jsonl -o -'; do
		same $command "$file"
	done
done

# The names of a thread, one after the other: the last one counts.
object=$(pwd)/preload/.libs/libtxtrace-preload.so
program=$(pwd)/tests/oracle/convoy
if [ -x "$program" ] && [ -e "$object" ] && TXTRACE_PRELOAD=$object "$tool" record --preload --force \
	-o "$scratch/convoy.trx" "$program" >/dev/null 2>"$scratch/err"; then
	for command in 'print' 'info --objects' 'report' 'blocked' 'blocked --by site' 'locks' 'waits' 'states' 'why' \
		'export --to jsonl -o -' 'export --to chrome -o -'; do
		same $command "$scratch/convoy.trx"
	done
	"$binary" info --objects "$scratch/convoy.trx" | grep -q worker-1 || complain 'a thread has lost its name'
else
	echo "SKIP: calls are not recorded: $(cat "$scratch/err" 2>/dev/null)"
fi
finish
