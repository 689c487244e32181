#!/bin/sh
# SPDX-License-Identifier: MIT
# Each header is named in a makefile. make finds a header without that, but the release archive does not have it, and
# only a build of the archive would show it. In a checkout, each other file is named, too: tests read files that no rule
# needs.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
. "$srcdir/tests/support/complain.sh"

cat "$srcdir"/*/module.am "$srcdir"/tests/*/module.am | tr -s '\t \\' '\n' | sort -u >"$scratch/words"
(cd "$srcdir" && find include lib threadx preload bin babeltrace2 examples tests bench \
	\( -name '*.h' -o -name '*.hpp' \) -print) | sort >"$scratch/headers"
[ -s "$scratch/headers" ] || complain 'there are no headers'
comm -23 "$scratch/headers" "$scratch/words" >"$scratch/absent"
complain_each 'is in no module.am' <"$scratch/absent"

nr_tracked=0
if [ -e Makefile ] && git -C "$srcdir" ls-files ':!.ci' ':!.clang-format' ':!.editorconfig' ':!.gitignore' ':!debian' \
	>"$scratch/tracked" 2>/dev/null; then
	MAKEFLAGS= make -s list-distributed | sed "s,^$srcdir/,," | sort -u >"$scratch/distributed"
	nr_tracked=$(grep -c . "$scratch/tracked")
	[ -s "$scratch/distributed" ] || complain 'make does not list what is distributed'
	# Of some folders, all files are distributed.
	awk 'NR == FNR { named[$0]; next }
		{ for (name = $0; !(name in named); ) if (!sub("/[^/]*$", "", name)) { print; next } }' \
		"$scratch/distributed" "$scratch/tracked" >"$scratch/absent"
	complain_each 'is not in the release archive' <"$scratch/absent"
fi

echo "$(grep -c . "$scratch/headers") headers, $nr_tracked tracked files, $failed faults"
[ "$failed" -eq 0 ]
