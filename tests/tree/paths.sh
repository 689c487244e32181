#!/bin/sh
# SPDX-License-Identifier: MIT
# Each path of a source file in a document exists: in doc/, in the README files, in CONTRIBUTING and in the comments of
# the sources. A path begins at the root of the project, or in lib/, bin/, preload/ or tests/. NEWS describes older
# versions, so its paths may be gone.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
cd "$srcdir" || exit 99

documents="README CONTRIBUTING lib/README bin/README preload/README tests/README $(echo doc/*.md doc/man/*.[0-9])"
sources=$(find lib bin preload tests include -name '*.[ch]' -o -name '*.def' -o -path 'tests/*' -name '*.sh')
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# paths FILE...: the file and each path in it, one pair a line. A path has a folder and a known suffix. A word in capital
# letters, as in cmd/NAME.c, stands for a name.
paths()
{
	suffix='(c|h|def|sh|am|md|map|py|awk)'
	grep -oHE "(^|[^A-Za-z0-9_./<*{}\$-])[a-z0-9_]+(/[A-Za-z0-9_-]+)*/[A-Za-z0-9_-]+\.$suffix([^A-Za-z0-9_*]|\$)" "$@" |
		sed -E "s/^([^:]*):[^a-z0-9_]?([a-z0-9_][A-Za-z0-9_./-]*\.$suffix).*$/\1 \2/" | grep -vE '[A-Z][A-Z]+\.[a-z]+$'
}

# shellcheck disable=SC2086  # lists of files
paths $documents $sources | sort -u >"$scratch/all"
while read -r file path; do
	for root in . lib bin preload tests; do
		[ ! -e "$root/$path" ] || continue 2
	done
	echo "FAIL: $file names $path, and there is no such file"
	failed=$((failed + 1))
done <"$scratch/all"

# The walks of doc/design.md alone have more paths than this.
nr=$(grep -c '^doc/design.md ' "$scratch/all")
[ "$nr" -ge 60 ] || { echo "FAIL: this script finds only $nr paths in doc/design.md"; failed=$((failed + 1)); }
[ "$failed" -eq 0 ] || exit 1
echo "$(wc -l <"$scratch/all") paths name files that exist"
