#!/bin/sh
# SPDX-License-Identifier: MIT
# After make install: pkg-config finds the library. The example compiles with only the flags from pkg-config, and runs
# with the shared and with the static library. Run it with: make installcheck
set -u

if [ -z "${srcdir:-}" ] || [ -z "${libdir:-}" ] || [ -z "${pkgconfigdir:-}" ]; then
	echo 'installed.sh checks an installed library: run make install, and then make installcheck, in the build directory' >&2
	exit 2
fi
: "${DESTDIR=}"
CC=${CC:-cc}
if [ -z "${PKG_CONFIG:-}" ] || [ -n "${SAN_CFLAGS:-}" ]; then
	echo 'installcheck: skipped, without pkg-config or with a sanitizer'
	exit 0
fi

scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tree" || exit 99
cp "$srcdir"/examples/*.c "$srcdir"/include/*.h "$scratch/tree" || exit 99

PKG_CONFIG_PATH=$DESTDIR$pkgconfigdir
export PKG_CONFIG_PATH
[ -z "$DESTDIR" ] || { PKG_CONFIG_SYSROOT_DIR=$DESTDIR; export PKG_CONFIG_SYSROOT_DIR; }
shared=$("$PKG_CONFIG" --cflags --libs posixtrace) || exit 1
static=$("$PKG_CONFIG" --cflags --libs --static posixtrace) || exit 1

# build_and_run KIND FLAGS
build_and_run()
{
	# shellcheck disable=SC2086  # flags are several words
	$CC -std=gnu11 -o "$scratch/$1" "$srcdir/examples/pipeline.c" $2 || exit 1
	LD_LIBRARY_PATH=$DESTDIR$libdir "$scratch/$1" "$scratch/tree" >"$scratch/output" || {
		cat "$scratch/output"
		echo "installcheck: the example fails with the $1 library"
		exit 1
	}
	echo "installcheck: the example runs with the $1 library"
}

[ ! -e "$DESTDIR$libdir/libposixtrace.so" ] || build_and_run shared "-pthread $shared"
[ ! -e "$DESTDIR$libdir/libposixtrace.a" ] ||
	build_and_run static "$(echo "$static" | sed 's/-lposixtrace/-l:libposixtrace.a/')"
