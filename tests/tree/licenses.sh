#!/bin/sh
# SPDX-License-Identifier: MIT
# Each file tells its license as REUSE has it: in its first lines, or by a stanza of .reuse/dep5 for files without a
# header. The first stanza there is for all files, because headers tell no authors, so it does not count. The texts of
# the licenses are in LICENSES/. Needs git, and a checkout.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
command -v git >/dev/null || { echo 'SKIP: git is missing'; exit 77; }
. "$srcdir/tests/support/complain.sh"
cd "$srcdir" || exit 99
# The user who runs a test may differ from the owner of the checkout.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
[ -e .gitignore ] && git ls-files >"$scratch/tracked" 2>/dev/null || { echo 'SKIP: this is no checkout'; exit 77; }

# A file that was removed, and is still in the index, has no license to tell.
while read -r path; do
	[ ! -f "$path" ] || echo "$path"
done <"$scratch/tracked" >"$scratch/files"
xargs -d '\n' awk 'FNR <= 3 && /SPDX-License-Identifier[:] MIT( \*\/| -->)?$/ { print FILENAME }' <"$scratch/files" |
	sort -u >"$scratch/headers"
sort "$scratch/files" | comm -23 - "$scratch/headers" >"$scratch/others"

# The patterns are those of the shell, where * matches / as well.
awk '
/^Files:/ { stanza++; inside = 1; sub(/^Files:/, "") }
/^[A-Z]/ { inside = 0 }
inside && stanza > 1 { for (i = 1; i <= NF; i++) print $i }' .reuse/dep5 >"$scratch/patterns"
[ -s "$scratch/patterns" ] || complain '.reuse/dep5 has no patterns'
while read -r path; do
	while read -r pattern; do
		# shellcheck disable=SC2254  # it is a pattern
		case $path in
		$pattern)
			echo "$pattern" >>"$scratch/used"
			continue 2
			;;
		esac
	done <"$scratch/patterns"
	echo "$path"
done <"$scratch/others" >"$scratch/bare"
complain_each 'has no header with the license MIT, and is in no stanza of .reuse/dep5' <"$scratch/bare"
sort -u "$scratch/used" >"$scratch/matching"
sort -u "$scratch/patterns" | comm -23 - "$scratch/matching" >"$scratch/idle"
complain_each 'is a pattern of .reuse/dep5 for no file without a header' <"$scratch/idle"

cmp -s LICENSE LICENSES/MIT.txt || complain 'LICENSE and LICENSES/MIT.txt differ'
sed -n 's/^License: //p' .reuse/dep5 | sort -u >"$scratch/named"
ls LICENSES | sed 's/\.txt$//' | sort | comm -3 - "$scratch/named" | tr -d '\t' >"$scratch/others"
complain_each 'is not both a license in .reuse/dep5 and a text in LICENSES/' <"$scratch/others"

echo "$(grep -c . "$scratch/headers") headers, $(grep -c . "$scratch/files") files, $failed faults"
[ "$failed" -eq 0 ] || exit 1

command -v reuse >/dev/null || { echo 'SKIP whether reuse finds no fault: it is missing'; exit 0; }
# It skips a file that it cannot read, with a message and without a failure.
if ! reuse lint >"$scratch/output" 2>&1 || grep -q 'ERROR' "$scratch/output"; then
	cat "$scratch/output"
	exit 1
fi
