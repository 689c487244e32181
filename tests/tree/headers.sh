#!/bin/sh
# SPDX-License-Identifier: MIT
# Each header compiles alone, and twice: the installed ones in strict C11 and in C++, too. Their macros have reserved
# names.
set -u

srcdir=${srcdir:-.}
CC=${CC:-cc}
CXX=${CXX:-}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

compiled=0
failed=0

# compile COMPILER LANGUAGE HEADER FLAGS: compile a file that only includes the header
compile()
{
	unit=$scratch/unit.$2
	printf '#include "%s"\n#include "%s"\nextern int px_not_empty;\n' "$3" "$3" >"$unit"
	compiled=$((compiled + 1))
	# shellcheck disable=SC2086  # a compiler and its flags are several words
	if ! $1 $4 -Wall -Wextra -Wundef -Werror -I"$srcdir/include" -fsyntax-only "$unit" \
		>"$scratch/messages" 2>&1; then
		failed=$((failed + 1))
		echo "FAIL: $3 does not compile alone with: $1 $4"
		cat "$scratch/messages"
	fi
}

for path in "$srcdir"/include/*.h; do
	[ -e "$path" ] || { echo "FAIL: no headers in $srcdir/include"; exit 1; }
	header=${path##*/}
	strict='-pedantic-errors -Wstrict-prototypes'
	compile "$CC" c "$header" "-std=c11 $strict"
	compile "$CC" c "$header" "-std=c11 $strict -D_POSIX_C_SOURCE=200809L"
	compile "$CC" c "$header" "-std=gnu11 $strict -D_GNU_SOURCE"
	[ -n "$CXX" ] || continue
	compile "$CXX" cc "$header" '-std=c++11 -pedantic-errors'
	compile "$CXX" cc "$header" '-std=c++17 -pedantic-errors'
done

[ -z "$CXX" ] || compile "$CXX" cc trace.hpp '-std=c++17 -pedantic-errors -Wshadow'

# HDR-6: the macros of <trace.h> are those of POSIX, or reserved; the others may have TXTRACE_ in addition
for header in trace.h trace_ext.h txtrace_types.h; do
	macros=$(sed -n 's/^[ \t]*#[ \t]*define[ \t]*\([A-Za-z0-9_]*\).*/\1/p' "$srcdir/include/$header" |
		grep -vxE '_[_A-Z].*|POSIX_TRACE_[A-Z_]*|TRACE_[A-Z_]*_MAX|posix_trace_event')
	[ "$header" = trace.h ] || macros=$(echo "$macros" | grep -v '^TXTRACE_')
	[ -z "$macros" ] || {
		failed=$((failed + 1))
		echo "FAIL: $header defines a name that is not reserved: $macros"
	}
done

# call COMPILER LANGUAGE CALL FLAGS: compile a file with this call of a trace point
call()
{
	unit=$scratch/unit.$2
	printf '#include <trace.h>\nvoid px_call(trace_event_id_t id)\n{\n\t%s;\n}\n' "$3" >"$unit"
	compiled=$((compiled + 1))
	# shellcheck disable=SC2086
	if ! $1 $4 -Wall -Wextra -Werror -I"$srcdir/include" -fsyntax-only "$unit" \
		>"$scratch/messages" 2>&1; then
		failed=$((failed + 1))
		echo "FAIL: $3 does not compile with: $1 $4"
		cat "$scratch/messages"
	fi
}

# The macro works like the function, also if an argument contains commas.
call "$CC" c 'posix_trace_event(id, (int[]){1, 2}, 2 * sizeof(int))' '-std=c11 -pedantic-errors'
call "$CC" c '(posix_trace_event)(id, (int[]){1, 2}, 8)' '-std=gnu11'
call "$CC" c 'void (*f)(trace_event_id_t, const void *, size_t) = posix_trace_event; f(id, 0, 0)' \
	'-std=c11 -pedantic-errors'
if [ -n "$CXX" ]; then
	call "$CXX" cc 'struct pair { int a, b; }; posix_trace_event(id, &(const pair &)pair{1, 2}, 8)' \
		'-std=c++11 -pedantic-errors'
fi
[ -n "$CXX" ] || echo 'note: no C++ compiler, so C++ was left out'

for path in "$srcdir"/lib/*/*.h; do
	[ -e "$path" ] || { echo "FAIL: no headers in $srcdir/lib"; exit 1; }
	header=${path#"$srcdir/lib/"}
	inside="-std=gnu11 -Wmissing-prototypes -D_GNU_SOURCE -I. -I$srcdir/lib"
	compile "$CC" c "$header" "$inside"
	compile "$CC" c "$header" "$inside -DPX_TESTPOINTS"
done

echo "$compiled units of one header, $failed faults"
[ "$failed" -eq 0 ]
