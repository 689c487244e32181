#!/bin/sh
# SPDX-License-Identifier: MIT
# The symbols files of the Debian packages list the symbols of the linker's maps, with the same nodes. A symbol of the
# node POSIXTRACE_X.Y is there since version X.Y. The packages have the names and the files that the sources give them.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
. "$srcdir/tests/support/complain.sh"
debian=$srcdir/debian
[ -e "$debian/control" ] || { echo 'SKIP: these sources have no debian/'; exit 77; }

# symbols_of_map MAP: each symbol as symbol@node, and each node as node@node
symbols_of_map()
{
	awk '
	/^[A-Z]/ { node = $1; print node "@" node }
	/^local:/ { is_global = 0 }
	/^global:/ { is_global = 1; next }
	is_global && /;/ { sub(/;.*/, "", $1); print $1 "@" node }' "$1" | sort
}

# compare LIBRARY MAP MODULE VARIABLE: the symbols file of the library with its map, and with its version in the module
compare()
{
	soname=$(awk -F '[ :]' -v name="$4" '$1 == name { print $3 - $5 }' "$srcdir/$3")
	[ -n "$soname" ] || complain "$3 has no $4"
	package=$1$soname
	file=$debian/$package.symbols
	grep -q "^Package: $package\$" "$debian/control" || complain "debian/control has no package $package"
	[ -e "$file" ] || {
		complain "there is no debian/$package.symbols"
		return
	}
	[ "$(head -n 1 "$file")" = "$1.so.$soname $package #MINVER#" ] ||
		complain "the first line of debian/$package.symbols is not for $1.so.$soname in $package"

	symbols_of_map "$srcdir/$2" >"$scratch/map"
	[ -s "$scratch/map" ] || complain "$2 has no symbol"
	sed -n 's/^ \([^ ]*\) .*/\1/p' "$file" | sort >"$scratch/listed"
	comm -23 "$scratch/map" "$scratch/listed" >"$scratch/absent"
	complain_each "is not in debian/$package.symbols" <"$scratch/absent"
	comm -13 "$scratch/map" "$scratch/listed" >"$scratch/stale"
	complain_each "is in debian/$package.symbols, and not in $2" <"$scratch/stale"
	awk '/^ / {
		release = $1
		if (NF != 2 || (sub(/.*@POSIXTRACE_/, "", release) && $2 != release) || $2 !~ /^[0-9.]+$/)
			print $1
	}' "$file" >"$scratch/others"
	complain_each "has another version than its node in debian/$package.symbols" <"$scratch/others"
	listed="${listed:-}$package $(grep -c . "$scratch/listed") symbols, "
}

compare libposixtrace lib/libposixtrace.map lib/module.am px_version_info
compare libtxtrace-threadx threadx/libtxtrace-threadx.map threadx/module.am px_threadx_version_info

# Each package of debian/control has a list of files.
sed -n 's/^Package: //p' "$debian/control" | while read -r package; do
	[ -e "$debian/$package.install" ] || echo "$package"
done >"$scratch/absent"
complain_each 'is in debian/control, and has no list of files' <"$scratch/absent"

echo "${listed:-}$failed faults"
[ "$failed" -eq 0 ]
