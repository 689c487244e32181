#!/bin/sh
# SPDX-License-Identifier: MIT
# If a function that the object wraps has other names in the C library, the object wraps these names, too, or this list
# has the reason why not.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"

libc=$(ldd "$object" 2>/dev/null | awk '$1 ~ /^libc\.so/ { print $3 }')
[ -n "$libc" ] || skip 'the C library is not one of glibc'

# NAME: REASON
exceptions=$(sed 's/:.*//' <<'END'
__fseeko64: no header names it; the C library has it for itself
__open64: no header names it; the C library has it for itself
__pread64: no header names it; the C library has it for itself
__pwrite64: no header names it; the C library has it for itself
thrd_current: does nothing, as pthread_self()
thrd_equal: does nothing, as pthread_equal()
tss_create: is recorded as little as pthread_key_create()
tss_delete: as that
tss_get: as that
tss_set: as that
END
)

${NM:-nm} -D --defined-only "$libc" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$scratch/libc"
wrappers >"$scratch/wrapped"
while read -r symbol; do
	bare=$(echo "$symbol" | sed 's/^__//; s/^isoc[0-9]*_//; s/_chk$//; s/_2$//; s/64$//')
	timed=$(echo "$bare" | sed 's/_timed/_clock/; s/timed\([a-z]*lock\)$/clock\1/')
	for alias in "${bare}64" "__${bare}_chk" "__${bare}64_chk" "__${bare}_2" "__${bare}64_2" "${bare}_2" \
		"__isoc99_$bare" "__isoc23_$bare" "__${bare}_time64" "__${bare}64" "${bare}_unlocked" \
		"__${bare}_unlocked_chk" "$timed"; do
		echo "$alias"
	done
done <"$scratch/wrapped" >"$scratch/aliases"
# The functions for C11 threads: those that do not call POSIX functions need wrappers of their own.
grep -E '^((thrd|mtx|cnd|tss)_|call_once$)' "$scratch/libc" >>"$scratch/aliases"
sort -u -o "$scratch/aliases" "$scratch/aliases"
comm -12 "$scratch/libc" "$scratch/aliases" >"$scratch/exported"
[ "$(wc -l <"$scratch/exported")" -gt 30 ] || complain 'the C library should have more aliases'
while read -r alias; do
	nr_checks=$((nr_checks + 1))
	grep -qx -e "$alias" "$scratch/wrapped" && continue
	echo "$exceptions" | grep -qx -e "$alias" ||
		complain "$alias bypasses its wrapper: it is not in preload/wrappers.def"
done <"$scratch/exported"
# The compiler made no wrapper invisible.
${NM:-nm} -D --defined-only "$object" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$scratch/object"
comm -23 "$scratch/wrapped" "$scratch/object" >"$scratch/hidden"
nr_checks=$((nr_checks + 1))
[ ! -s "$scratch/hidden" ] || complain "the object does not export these wrappers: $(tr '\n' ' ' <"$scratch/hidden")"
for alias in $exceptions; do
	grep -qx -e "$alias" "$scratch/exported" || complain "$alias is an exception to nothing"
done
finish
