#!/bin/sh
# SPDX-License-Identifier: MIT
# Each path of a source file in a document exists: in doc/, in the README files, in CONTRIBUTING and in the comments of
# the sources. A path begins at the root of the project, or in lib/, bin/, preload/ or tests/. NEWS describes older
# versions, so its paths may be gone. The functions in the walks of doc/design.md exist in the files that the walks
# name. In doc/design.md, the paragraph of a folder names only modules of this folder. The README of a tree names only
# files and folders of this tree, or of the project.
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

# paths FILE...: the file and each path in it, one pair a line. A path has a folder and a known suffix. A word in
# capital letters, as in cmd/NAME.c, stands for a name.
paths()
{
	suffix='(c|h|def|sh|am|md|map|py|awk)'
	grep -oHE "(^|[^A-Za-z0-9_./<*{}\$-])[a-z0-9_]+(/[A-Za-z0-9_-]+)*/[A-Za-z0-9_-]+\.$suffix([^A-Za-z0-9_*]|\$)" \
		"$@" |
		sed -E "s/^([^:]*):[^a-z0-9_]?([a-z0-9_][A-Za-z0-9_./-]*\.$suffix).*$/\1 \2/" |
			grep -vE '[A-Z][A-Z]+\.[a-z]+$'
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
[ "$nr_functions" -ge 25 ] ||
	{ echo "FAIL: this script finds only $nr_functions functions in the walks"; failed=$((failed + 1)); }

# doc/design.md has a paragraph for each folder, "- **ring/** ...", below "### lib/". A word in backquotes is a module
# of the folder (ring.c, ring.h, ring.def), a file of it, or the beginning of file names (out_*).
awk '
/^### / { tree = $2; sub(/\/.*$/, "", tree); folder = "" }
/^#+ / && !/^### / { tree = "" }
/^$/ { folder = "" }
tree != "" && match($0, /^- \*\*[a-z]+\/\*\*/) {
	folder = substr($0, 5, RLENGTH - 7)
	sub(/\/$/, "", folder)
	folder = folder == tree ? tree : tree "/" folder
}
folder != "" {
	line = $0
	while (match(line, /`[a-z][a-z0-9_.-]*\*?`/)) {
		print folder, substr(line, RSTART + 1, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
	}
}' doc/design.md >"$scratch/modules"
while read -r folder name; do
	for file in "$folder/$name" "$folder/$name.c" "$folder/$name.h" "$folder"/$name; do
		[ ! -e "$file" ] || continue 2
	done
	echo "FAIL: doc/design.md names $name in the paragraph of $folder/, and there is no such module"
	failed=$((failed + 1))
done <"$scratch/modules"
nr=$(wc -l <"$scratch/modules")
[ "$nr" -ge 100 ] || { echo "FAIL: this script finds only $nr modules in doc/design.md"; failed=$((failed + 1)); }

# A README names files without their folder, and folders with a "/" at the end.
for tree in lib bin preload tests; do
	nr=0
	for name in $(grep -oE '(^|[^A-Za-z0-9_./<*-])[a-z0-9_-]+(\.(c|h|def|sh|py|am|map)|/)([^A-Za-z0-9_.-]|$)' \
		"$tree/README" |
		sed -E 's/^[^a-z0-9_]//; s/[^a-z\/]$//' | sort -u); do
		nr=$((nr + 1))
		[ "$name" != build/ ] || continue # where the programs are after a build
		[ ! -e "$name" ] || continue
		[ -z "$(find lib "$tree" tests/preload -name "${name%/}")" ] || continue
		echo "FAIL: $tree/README names $name, which does not exist"
		failed=$((failed + 1))
	done
	[ "$nr" -ge 10 ] || { echo "FAIL: this script finds only $nr names in $tree/README"; failed=$((failed + 1)); }
done

[ "$failed" -eq 0 ] || exit 1
echo "$(wc -l <"$scratch/all") paths name files that exist"
