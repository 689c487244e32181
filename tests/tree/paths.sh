#!/bin/sh
# SPDX-License-Identifier: MIT
# Each path of a source file in a document exists: in doc/, in the README files, in CONTRIBUTING and in the comments of
# the sources. The functions in the walks of doc/design.md exist in the files that the walks name. A path begins at the root of the project, or in lib/, bin/, preload/ or tests/. NEWS describes older
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

# Each function in a walk is in a file that the same walk names: steps that name no file belong to files named before.
# This reads "## Four ways through the code" up to the next "## ", a walk at each "### ".
awk '
/^## / { in_walks = /^## Four ways/; next }
in_walks && /^### / { walk++ }
in_walks {
	line = $0
	while (match(line, /`[A-Za-z0-9_\/.-]+(\(\))?`/)) {
		name = substr(line, RSTART + 1, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
		if (name ~ /\(\)$/)
			print walk, "function", substr(name, 1, length(name) - 2)
		else if (name ~ /\/.*\.(c|h|def)$/)
			print walk, "file", name
	}
}' doc/design.md | sort -u >"$scratch/walks"
nr_functions=0
while read -r walk kind name; do
	[ "$kind" = function ] || continue
	nr_functions=$((nr_functions + 1))
	found=no
	for path in $(awk -v walk="$walk" '$1 == walk && $2 == "file" { print $3 }' "$scratch/walks"); do
		for root in . lib; do
			[ -e "$root/$path" ] && grep -qw "$name" "$root/$path" && found=yes
		done
	done
	[ "$found" = yes ] && continue
	# A function of the C library, or a member of a struct of functions, such as next() of an archive.
	case $name in
	siglongjmp | next | pthread_*) continue ;;
	esac
	echo "FAIL: no file of walk $walk in doc/design.md has $name()"
	failed=$((failed + 1))
done <"$scratch/walks"
[ "$nr_functions" -ge 25 ] || { echo "FAIL: this script finds only $nr_functions functions in the walks"; failed=$((failed + 1)); }
[ "$failed" -eq 0 ] || exit 1
echo "$(wc -l <"$scratch/all") paths name files that exist"
