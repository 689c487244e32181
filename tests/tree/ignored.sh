#!/bin/sh
# SPDX-License-Identifier: MIT
# git ignores what a build in the source tree makes, and nothing that belongs to the project.  Needs git, and a
# checkout.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
command -v git >/dev/null || { echo 'SKIP: git is missing'; exit 77; }
cd "$srcdir" || exit 99
# The user who runs a test may differ from the owner of the checkout.
g() { git -c safe.directory='*' "$@"; }
[ -e .gitignore ] && g ls-files >/dev/null 2>&1 || { echo 'SKIP: this is no checkout'; exit 77; }

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
failed=0

# Each folder with sources gets files of make, libtool and the test driver.  A word of a module.am with a folder and
# without a dot is a program, if no file or folder has this name.
find bin lib preload tests bench examples -name '*.c' | sed 's|/[^/]*$||' | sort -u | while read -r folder; do
	for name in x.o x.lo libx.la .deps/x.Po .libs/x .libs/x.o .dirstamp; do
		echo "$folder/$name"
	done
	[ "$folder" = "${folder#tests}" ] || printf '%s\n' "$folder/x.log" "$folder/x.trs"
done >"$scratch/paths"
find . -name module.am | xargs grep -ohE '(^|[[:space:]])(bench|examples|tests)/[a-z0-9_/-]+([[:space:]]|$)' |
	tr -d '\t ' | sort -u | while read -r path; do
	[ -d "$path" ] || g ls-files --error-unmatch "$path" >/dev/null 2>&1 || echo "$path"
done >"$scratch/programs"
cat "$scratch/programs" >>"$scratch/paths"

g check-ignore --no-index --stdin <"$scratch/paths" | sort >"$scratch/ignored"
sort "$scratch/paths" | comm -23 - "$scratch/ignored" | sed 's/^/FAIL: .gitignore does not know /' >"$scratch/unknown"
g ls-files -ci --exclude-standard | sed 's/^/FAIL: .gitignore ignores the file /' >>"$scratch/unknown"
[ ! -s "$scratch/unknown" ] || { cat "$scratch/unknown"; failed=1; }
nr=$(wc -l <"$scratch/programs")
[ "$nr" -ge 100 ] || { echo "FAIL: this script finds only $nr programs"; failed=1; }
[ "$failed" -eq 0 ] || exit 1
echo "$(wc -l <"$scratch/paths") paths are ignored, $nr of them programs"
