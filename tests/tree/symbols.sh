#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports only the interface, has a SONAME, and needs only the C library.
set -u

srcdir=${srcdir:-.}
CC=${CC:-cc}
NM=${NM:-nm}
READELF=${READELF:-readelf}
LC_ALL=C
export LC_ALL
library=lib/.libs/libposixtrace.so

skip()
{
	echo "SKIP: $*"
	exit 77
}

[ -e "$library" ] || skip 'no shared library was built'
command -v "$READELF" >/dev/null || skip 'readelf is missing'

. "$srcdir/tests/support/complain.sh"

# Absolute symbols are the version nodes.
# shellcheck disable=SC2086  # NM holds options
$NM -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort -u >"$scratch/exported"
[ -s "$scratch/exported" ] || complain 'nothing is exported'
grep -vxE '(posix_trace|txtrace)_[a-z0-9_]+|__posix_trace_gate' "$scratch/exported" >"$scratch/others"
complain_each 'is exported' <"$scratch/others"

# The library exports exactly the functions that the installed headers declare.
for header in trace.h trace_ext.h txtrace_types.h; do
	[ -e "$srcdir/include/$header" ] && echo "#include <$header>"
done >"$scratch/all.c"
# shellcheck disable=SC2086  # CC may hold options
$CC -E -P -std=gnu11 -I"$srcdir/include" "$scratch/all.c" >"$scratch/all.i" ||
	complain 'the installed headers cannot be preprocessed'
grep -oE '(^|[^A-Za-z0-9_])(posix_trace|txtrace)_[a-z0-9_]+[[:space:]]*\(' "$scratch/all.i" |
	grep -oE '[a-z][a-z0-9_]+' | sort -u >"$scratch/declared"
grep -v '^__' "$scratch/exported" >"$scratch/functions"
comm -23 "$scratch/declared" "$scratch/functions" >"$scratch/absent"
complain_each 'is declared and not exported' <"$scratch/absent"
comm -13 "$scratch/declared" "$scratch/functions" >"$scratch/secret"
complain_each 'is exported and not declared in an installed header' <"$scratch/secret"

"$READELF" -d "$library" >"$scratch/dynamic"
grep -qE 'SONAME.*\[libposixtrace\.so\.[0-9]+\]' "$scratch/dynamic" || complain 'there is no SONAME'
sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' "$scratch/dynamic" |
	grep -vE '^(libc|libpthread|librt|ld-linux.*|ld64|ld)\.so' >"$scratch/needed"
complain_each 'is needed' <"$scratch/needed"

# A weak symbol may stay undefined; any other has a version of the C library.
# shellcheck disable=SC2086
$NM -D --undefined-only "$library" | awk '$1 != "w" && $1 != "v" { print $NF }' >"$scratch/undefined"
if grep -q '@GLIBC_' "$scratch/undefined"; then
	grep -v '@GLIBC_' "$scratch/undefined" >"$scratch/foreign"
	complain_each 'is undefined and not of the C library' <"$scratch/foreign"
fi

# The library of ThreadX's services exports what its header declares.
library=threadx/.libs/libtxtrace-threadx.so
if [ -e "$library" ]; then
	# shellcheck disable=SC2086
	$NM -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$scratch/services"
	# shellcheck disable=SC2086
	echo '#include <tx_trace_posix.h>' | $CC -E -P -std=gnu11 -I"$srcdir/include" - >"$scratch/services.i" ||
		complain 'tx_trace_posix.h cannot be preprocessed'
	{
		grep -oE '(^|[^A-Za-z0-9_])_?tx_trace_[a-z0-9_]+\(' "$scratch/services.i" | grep -oE '_?tx_[a-z0-9_]+'
		echo _tx_trace_header_ptr
	} | sort -u |
		comm -3 - "$scratch/services" | tr -d '\t' >"$scratch/others"
	complain_each 'is not both declared in tx_trace_posix.h and exported' <"$scratch/others"
fi

echo "$(grep -c . "$scratch/exported") exported, $(grep -c . "$scratch/declared") functions declared, $failed faults"
[ "$failed" -eq 0 ]
