#!/bin/sh
# SPDX-License-Identifier: MIT
# Each function has a man page with the prototype of the header, and is in the list of posixtrace(7). Each constant is
# in some page. References go to pages that exist. The examples compile, and that of README also runs if the library was
# built. The limit of descriptions is that of the code. All pages format without a warning.
set -u

srcdir=${srcdir:-.}
CC=${CC:-cc}
LC_ALL=C
export LC_ALL
man=$srcdir/doc/man
made=doc/man/txtrace-calls.7 # in the build directory
[ ! -e "$man/txtrace-calls.7" ] || made=

. "$srcdir/tests/support/complain.sh"

# compile NAME: compile $scratch/unit.c, which has this origin
compile()
{
	# shellcheck disable=SC2086  # CC may hold options
	$CC -std=gnu11 -Wall -Wextra -Werror -I"$srcdir/include" -fsyntax-only "$scratch/unit.c" \
		>"$scratch/messages" 2>&1 && return
	complain "$1 does not compile"
	cat "$scratch/messages"
}

# shellcheck disable=SC2086  # none, or one
# name(section), as in the NAME sections
awk '
FNR == 1 { section = FILENAME; sub(/.*\./, "", section) }
$1 == ".Sh" { is_name = $2 == "NAME" }
is_name && $1 == ".Nm" { print $2 "(" section ")" }' "$man"/*.[0-9] $made | sort >"$scratch/names"
uniq -d "$scratch/names" >"$scratch/twice"
complain_each 'is in the NAME section of two pages' <"$scratch/twice"

cat "$srcdir"/include/*.h >"$scratch/headers"
grep -oE '(^|[^A-Za-z0-9_])(posix_trace|txtrace|tx_trace)_[a-z0-9_]+[[:space:]]*\(' "$scratch/headers" |
	grep -oE '[a-z][a-z0-9_]+' | sort -u >"$scratch/functions"
[ -s "$scratch/functions" ] || complain 'the headers declare no function'
sed -n 's/(3)$//p' "$scratch/names" | sort >"$scratch/documented"
comm -23 "$scratch/functions" "$scratch/documented" >"$scratch/absent"
complain_each 'has no man page' <"$scratch/absent"
comm -13 "$scratch/functions" "$scratch/documented" >"$scratch/stale"
complain_each 'has a man page, and is in no header' <"$scratch/stale"
awk '
$1 == ".Sh" { is_list = 0 }
$1 == ".Ss" { is_list = $2 == "Functions" }
is_list && $1 == ".Xr" { print $2 }' "$man/posixtrace.7" | sort | comm -23 "$scratch/functions" - >"$scratch/absent"
complain_each 'is not in the list of posixtrace(7)' <"$scratch/absent"

cat "$man"/*.[0-9] $made >"$scratch/pages"
grep -oE '^#define (POSIX_TRACE|TRACE)_[A-Z_]+' "$scratch/headers" | cut -d ' ' -f 2 | sort -u |
	while read -r constant; do
		grep -qE "(^|[^A-Z_])$constant([^A-Z_]|\$)" "$scratch/pages" || echo "$constant"
	done >"$scratch/absent"
complain_each 'is in no man page' <"$scratch/absent"

# The limit of descriptions is the same in the code, the header and the pages.
bytes=$(sed -n 's/^#define PX_DESCRIPTIONS_BYTES \([0-9]*\).*/\1/p' "$srcdir/lib/event/descriptions.h")
grep -hoE 'descriptions of [a-z ]+ have (more than|at most) [0-9]+ bytes' "$srcdir"/include/*.h "$man"/*.[0-9] |
	grep -oE '[0-9]+' | sort | uniq -c >"$scratch/limits"
[ "$(awk '{ print ($1 >= 3), $2 }' "$scratch/limits")" = "1 $bytes" ] ||
	complain "the limit of descriptions is $bytes bytes, but documented as $(awk '{ print $2 }' "$scratch/limits" | tr '\n' ' ')"

awk '$1 == ".Xr" && $2 ~ /^(posix_?trace|txtrace|libtxtrace)/ { print $2 "(" $3 ")" }' "$scratch/pages" |
	sort -u | comm -23 - "$scratch/names" >"$scratch/dangling"
complain_each 'is referred to, and there is no such page' <"$scratch/dangling"

# The page of the preloaded object has exactly the variables that the object reads, and the groups that it has.
page=$man/libtxtrace-preload.7
grep -oE 'variable\("TXTRACE_[A-Z]+"\)' "$srcdir/preload/standalone/standalone.c" | grep -oE 'TXTRACE_[A-Z]+' |
	sort >"$scratch/read"
[ -s "$scratch/read" ] || complain 'the preloaded object reads no variable'
sed -n 's/^\.It Ev //p' "$page" | grep -v '^TXTRACE_DIR$' | sort | comm -3 "$scratch/read" - |
	tr -d '\t' >"$scratch/absent"
complain_each 'is not both read by the preloaded object and in its page' <"$scratch/absent"
sed -n 's/^\tPX_GROUP_\([a-z]*\) = .*/\1/p' "$srcdir/preload/hook.h" >"$scratch/groups"
[ -s "$scratch/groups" ] || complain 'there is no group of calls'
while read -r group; do
	grep '^\.Cm' "$page" | grep -qw "$group" || echo "$group"
done <"$scratch/groups" >"$scratch/absent"
complain_each 'is a group of calls, and is not in its page' <"$scratch/absent"

# The page of calls names as waiting exactly the calls with a state.
sed -nE 's/^PX_CALL\(([a-z0-9_]*try[a-z0-9_]*)(, *[^,]*){4}, *([0-9]+),.*/\1 \3/p' "$srcdir/lib/event/calls.def" \
	>"$scratch/tries"
[ -s "$scratch/tries" ] || complain 'no call tries'
awk '$2 != 0 { print $1 }' "$scratch/tries" >"$scratch/absent"
complain_each 'tries, and is said to wait' <"$scratch/absent"

# If two prototypes of one function differ, they do not compile.
{
	printf '#include <trace.h>\n#include <trace_ext.h>\n#undef posix_trace_event\n'
	printf '#include <tx_trace_posix.h>\n#undef tx_trace_enable\n'
	awk '
	$1 == ".Ft" { type = substr($0, 5) }
	$1 == ".Fo" { name = $2; arguments = "" }
	$1 == ".Fa" && name != "" {
		argument = substr($0, 5)
		gsub(/"/, "", argument)
		arguments = arguments (arguments == "" ? "" : ", ") argument
	}
	$1 == ".Fc" { print type " " name "(" arguments ");"; name = "" }' "$scratch/pages"
} >"$scratch/unit.c"
sed -nE 's/^[A-Za-z ]+ ([a-z0-9_]+)\(.*/\1/p' "$scratch/unit.c" | sort >"$scratch/synopses"
comm -3 "$scratch/functions" "$scratch/synopses" | tr -d '\t' >"$scratch/absent"
complain_each 'is not in the SYNOPSIS of one page' <"$scratch/absent"
compile 'what the SYNOPSIS sections say'

for page in "$man"/*.[0-9] $made; do
	sed -n '/^\.Bd -literal/,/^\.Ed/p' "$page" | sed -e '/^\./d' -e 's/\\e/\\/g' >"$scratch/unit.c"
	[ ! -s "$scratch/unit.c" ] || compile "the example of ${page##*/}"
done

# The only program in README; its lines begin with a tab.
awk '/^\t#include/ { inside = 1 } inside { print substr($0, 2) } inside && /^\t}/ { exit }' \
	"$srcdir/README" >"$scratch/unit.c"
[ -s "$scratch/unit.c" ] || complain 'there is no program in README'
compile 'the program in README'
library=lib/.libs
if [ -e $library/libposixtrace.so ]; then
	# shellcheck disable=SC2086
	$CC -std=gnu11 -I"$srcdir/include" "$scratch/unit.c" -o "$scratch/program" -L$library \
		-lposixtrace -Wl,-rpath,"$PWD/$library"
	TXTRACE_DIR=$scratch/shm "$scratch/program" >"$scratch/output" ||
		complain 'the program in README fails'
	[ -s "$scratch/output" ] || complain 'the program in README prints nothing'
fi

set -- "$man"/*.[0-9] $made
echo "$# pages, $(grep -c . "$scratch/documented") functions, $failed faults"
[ "$failed" -eq 0 ] || exit 1

# format_each COMMAND...: each page, if there is this program
format_each()
{
	if ! command -v "$1" >/dev/null; then
		echo "SKIP whether the pages can be formatted with $1: it is missing"
		return
	fi
	for page in "$man"/*.[0-9] $made; do
		"$@" "$page" 2>&1
	done >"$scratch/warnings"
	complain_each '' <"$scratch/warnings"
}

format_each groff -mandoc -ww -z -Tutf8
format_each mandoc -T lint -W warning
[ "$failed" -eq 0 ]
