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

# The services of ThreadX, with only the flags from pkg-config, write a buffer.
cat >"$scratch/services.c" <<'END'
#include <stdio.h>
#include <tx_trace_posix.h>

static ULONG buffer[1024];

int main(void)
{
	if (tx_trace_enable(buffer, sizeof(buffer), 4) != TX_SUCCESS)
		return 1;
	if (tx_trace_user_event_insert(TX_TRACE_USER_EVENT_START, 1, 2, 3, 4) != TX_SUCCESS)
		return 1;
	return buffer[0] == TX_TRACE_VALID && tx_trace_disable() == TX_SUCCESS ? 0 : 1;
}
END
shared=$("$PKG_CONFIG" --cflags --libs txtrace-threadx) || exit 1
static=$("$PKG_CONFIG" --cflags --libs --static txtrace-threadx) || exit 1
for kind in shared static; do
	case $kind in
	shared) flags=$shared suffix=so ;;
	static) flags=$(echo "$static" | sed 's/-l\(txtrace-threadx\|posixtrace\)/-l:lib\1.a/g') suffix=a ;;
	esac
	[ -e "$DESTDIR$libdir/libtxtrace-threadx.$suffix" ] || continue
	# shellcheck disable=SC2086  # flags are several words
	$CC -std=gnu11 -o "$scratch/services-$kind" "$scratch/services.c" $flags || exit 1
	LD_LIBRARY_PATH=$DESTDIR$libdir "$scratch/services-$kind" || {
		echo "installcheck: the services of ThreadX fail with the $kind library"
		exit 1
	}
	echo "installcheck: the services of ThreadX work with the $kind library"
done

# Python finds the module beside the library.
if [ -n "${PYTHON_DIR:-}" ] && [ -e "$DESTDIR$libdir/libposixtrace.so" ] &&
	/usr/bin/python3 -c 'import cffi' 2>/dev/null; then
	PYTHONPATH=$DESTDIR$PYTHON_DIR LD_LIBRARY_PATH=$DESTDIR$libdir PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -c 'import txtrace; txtrace.TraceError' || {
		echo 'installcheck: Python cannot import txtrace'
		exit 1
	}
	echo 'installcheck: Python imports txtrace'
fi
