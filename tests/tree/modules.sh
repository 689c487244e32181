#!/bin/sh
# SPDX-License-Identifier: MIT
# The order of the modules inside a folder, for modules that share one private header: layers.sh cannot see it from the
# includes. A line below holds a folder and modules in order. A module uses symbols of modules before it in a line. Each
# module of the folder is in some line.
set -u

srcdir=${srcdir:-.}
NM=${NM:-nm}
LC_ALL=C
export LC_ALL

orders='
lib/log order frame clocks format pack descriptor cache checkpoint volume contexts titles commit tail volume_file write usual on_cpu stage log finish copy resume
lib/log order frame clocks format unpack archive_slots archive_frames_find archive_frames_look archive_frames archive_source resume
lib/log order clocks format wrappers sink origins archive_origins archive_frames_find archive_frames_look archive_frames archive_source archive_names archive_log_events archive_log pack compact settle finish
lib/log format sink settle
lib/log clocks sink origins archive_described copy merge_tables merge_origins merge_event merge
lib/log format archive_source archive_txtb archive_names archive_log_events archive_log archive
'

. "$srcdir/tests/support/complain.sh"

# object_of FOLDER MODULE: the object file of the library, which libtool puts into one of two places
object_of()
{
	for object in "$1/libpx_la-$2.o" "$1/.libs/libpx_la-$2.o"; do
		[ -e "$object" ] && break
	done
	echo "$object"
}

# check FOLDER: the modules of this folder
check()
{
	: >"$scratch/defined"
	: >"$scratch/used"
	for source in "$srcdir/$1"/*.c; do
		module=$(basename "$source" .c)
		object=$(object_of "$1" "$module")
		[ -e "$object" ] || { complain "$source has no object file $object"; continue; }
		# shellcheck disable=SC2086  # NM holds options
		$NM -P "$object" >"$scratch/symbols" || { complain "nm cannot read $object"; continue; }
		awk -v module="$module" '$2 ~ /^[A-TV-Z]$/ { print $1, module }' "$scratch/symbols" >>"$scratch/defined"
		awk -v module="$module" '$2 == "U" { print $1, module }' "$scratch/symbols" >>"$scratch/used"
	done
	echo "$orders" | awk -v folder="$1" '$1 == folder' >"$scratch/orders"
	awk -v folder="$1" '
	FILENAME ~ /orders$/ {
		for (i = 2; i <= NF; i++) {
			listed[$i]
			for (k = i; k <= NF; k++)
				may[$k, $i]
		}
		next
	}
	FILENAME ~ /defined$/ {
		home[$1] = $2
		if (!($2 in listed) && !($2 in unlisted)) {
			unlisted[$2]
			print "FAIL: " folder "/" $2 ".c is in no order in tests/tree/modules.sh"
			bad++
		}
		next
	}
	$1 in home {
		uses++
		if (!(($2, home[$1]) in may)) {
			print "FAIL: " folder "/" $2 ".c uses " $1 " of " home[$1] ".c, which is not before it"
			bad++
		}
	}
	END {
		print folder ": " uses + 0 " uses, " bad + 0 " against the order"
		exit bad || !uses
	}' "$scratch/orders" "$scratch/defined" "$scratch/used" || failed=1
}

for folder in $(echo "$orders" | awk 'NF { print $1 }' | sort -u); do
	check "$folder"
done
[ "$failed" -eq 0 ]
