#!/bin/sh
# SPDX-License-Identifier: MIT
# The library inside the object calls no function that is wrapped, but by its direct name; and each of those is one
# that is wrapped, and has a body.
. "${srcdir:-.}/tests/tool/lib.sh"
. "$top/tests/preload/objects.sh"

quiet=$(dirname "$object")/libquiet.a
[ -e "$quiet" ] || complain "there is no $quiet"
${NM:-nm} -u "$quiet" | awk '$1 == "U" || $1 == "w" { sub(/@.*/, "", $2); print $2 }' | sort -u >"$scratch/called"
[ "$(wc -l <"$scratch/called")" -gt 50 ] || complain "$quiet calls nothing"
sed -n 's/^PX_WRAPPER(\([^,]*\),.*/\1/p' "$top/preload/wrappers.def" | sort -u >"$scratch/wrapped"
nr_checks=$((nr_checks + 1))
comm -12 "$scratch/called" "$scratch/wrapped" >"$scratch/both"
[ ! -s "$scratch/both" ] || complain "missing in preload/direct.def: $(tr '\n' ' ' <"$scratch/both")"

sed -n 's/^PX_DIRECT(\(.*\))/\1/p' "$top/preload/direct.def" | sort -u >"$scratch/direct"
nr_checks=$((nr_checks + 1))
comm -23 "$scratch/direct" "$scratch/wrapped" >"$scratch/both"
[ ! -s "$scratch/both" ] || complain "in preload/direct.def, and not wrapped: $(tr '\n' ' ' <"$scratch/both")"
# The library for programs calls none of them past unwrapped.def.
px=$(dirname "$object")/../../lib/.libs/libpx.a
[ -e "$px" ] || complain "there is no $px"
for member in $(${AR:-ar} t "$px" | grep -v unwrapped); do
	${AR:-ar} p "$px" "$member" >"$scratch/member.o" && ${NM:-nm} -u "$scratch/member.o" | awk '{ print $NF }'
done | sort -u >"$scratch/called"
nr_checks=$((nr_checks + 1))
comm -12 "$scratch/called" "$scratch/wrapped" >"$scratch/both"
[ ! -s "$scratch/both" ] || complain "missing in lib/base/unwrapped.def: $(tr '\n' ' ' <"$scratch/both")"
finish
