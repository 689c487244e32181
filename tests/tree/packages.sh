#!/bin/sh
# SPDX-License-Identifier: MIT
# The symbols files of the Debian packages list the symbols of the linker's maps, with the same nodes. A symbol of the
# node POSIXTRACE_X.Y is there since version X.Y. The packages have the names and the files that the sources give them.
# The packages of Debian, RPM and Nix have the version of configure.ac, and need each library that it looks for. Those of
# RPM have the files of Debian's. rpmspec reads the spec, and rpmlint finds no fault in it; nix-instantiate evaluates the
# flake.
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

version=$(sed -n 's/^AC_INIT(\[posixtrace\], \[\(.*\)\])$/\1/p' "$srcdir/configure.ac")
packaging=$srcdir/packaging
{
	echo "debian/changelog $(sed -n '1s/.*(\([0-9.]*\).*/\1/p' "$debian/changelog")"
	echo "posixtrace.spec $(sed -n 's/^Version: *//p' "$packaging/posixtrace.spec")"
	echo "flake.nix $(sed -n 's/^ *version = "\(.*\)";$/\1/p' "$packaging/flake.nix")"
} | grep -v " $version\$" >"$scratch/others"
complain_each "is not the version of configure.ac, $version" <"$scratch/others"

# The RPM packages have each file of the Debian packages: the name up to a star is in a list of files.
sed -n '/^%files/,$p' "$packaging/posixtrace.spec" >"$scratch/rpm"
cat "$debian"/*.install | sed -e 's/ .*//' -e 's/.*\///' -e 's/\*.*//' | sort -u | while read -r name; do
	grep -qF "/$name" "$scratch/rpm" || echo "$name"
done >"$scratch/absent"
complain_each 'is in a Debian package, and in none of posixtrace.spec' <"$scratch/absent"

# nixpkgs calls a package like its project, and pkg-config has the names of the libraries.
nix_name()
{
	case $1 in
	libelf | libdw) echo elfutils ;;
	libprotobuf-c) echo protobufc ;;
	liblzma) echo xz ;;
	sqlite3) echo sqlite ;;
	libzstd) echo zstd ;;
	*) echo "$1" ;;
	esac
}

sed -n 's/.*PKG_CHECK_MODULES(\[[A-Z0-9_]*\], \[\([a-z0-9-]*\).*/\1/p' "$srcdir/configure.ac" >"$scratch/libraries"
grep -q libelf "$scratch/libraries" || complain 'configure.ac looks for no library'
while read -r library; do
	grep -q "^BuildRequires: *pkgconfig($library)\$" "$packaging/posixtrace.spec" || echo "$library"
done <"$scratch/libraries" >"$scratch/absent"
complain_each 'is not needed by posixtrace.spec' <"$scratch/absent"
while read -r library; do
	grep -qE "Inputs = with pkgs; \[.* $(nix_name "$library") " "$packaging/flake.nix" || echo "$library"
done <"$scratch/libraries" >"$scratch/absent"
complain_each 'is no input of flake.nix' <"$scratch/absent"

# reads PROGRAM ARGUMENT...: the program, if it is there, reads a file without an error
reads()
{
	command -v "$1" >/dev/null || {
		echo "SKIP whether $1 can read its file: it is missing"
		return
	}
	"$@" >"$scratch/read" 2>&1 || {
		cat "$scratch/read"
		complain "$* fails"
	}
}

reads rpmspec -P "$packaging/posixtrace.spec"
# rpmlint 1 has other options.
case $(rpmlint --version 2>/dev/null) in
1.* | *' 1.'*) echo 'SKIP whether rpmlint finds a fault: it is too old' ;;
*) reads rpmlint --strict --config "$srcdir/tests/packages/rpmlint.toml" "$packaging/posixtrace.spec" ;;
esac

# nixpkgs itself is not here, so each package is its own name, and a derivation is what it is made from.
reads nix-instantiate --eval --strict --json --store dummy:// --arg flake "$(realpath "$packaging/flake.nix")" \
	--expr '{ flake }:
	let
		genAttrs = names: value: builtins.listToAttrs (map (name: { inherit name; value = value name; }) names);
		lib = { inherit genAttrs; licenses.mit = "MIT"; platforms.linux = "linux"; };
		pkgs = genAttrs [
			"autoreconfHook" "babeltrace2" "check" "elfutils" "libedit" "pkg-config" "protobufc" "sqlite" "xz" "zlib" "zstd"
		] (name: name) // {
			inherit lib;
			python3 = { sitePackages = "lib/python3/site-packages"; outPath = "python3"; };
			stdenv.mkDerivation = made: made // { src = toString made.src; };
		};
		nixpkgs = { inherit lib; legacyPackages = genAttrs [ "x86_64-linux" "aarch64-linux" ] (system: pkgs); };
	in ((import flake).outputs { self = null; inherit nixpkgs; }).packages'
if command -v nix-instantiate >/dev/null; then
	[ "$(grep -o '"version":"[^"]*"' "$scratch/read" | sort | uniq -c | awk '{ print $1, $2 }')" = \
		"2 \"version\":\"$version\"" ] || complain "flake.nix does not give two packages of $version: $(cat "$scratch/read")"
fi

echo "${listed:-}$failed faults"
[ "$failed" -eq 0 ]
