#!/bin/sh
# SPDX-License-Identifier: MIT
# small_object.sh DIR: build the preloaded object for programs of 32 bits in DIR, on x86-64, for tests/preload/sizes.sh.
# Debian: apt-get install gcc-multilib
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
cd "$1"
cc="${CC:-cc} -m32"
# Debian's gcc-12-multilib lacks the headers that depend on the processor.
echo '#include <errno.h>' | $cc -E -x c - >/dev/null 2>&1 ||
	cc="$cc -idirafter /usr/include/$($cc -m64 -print-multiarch)"
# Only the object is built, so no package of another architecture is needed.
[ -e config.status ] || "$top/configure" -q --host=i686-linux-gnu CC="$cc" CXX=no PKG_CONFIG=false \
	LIBELF_CFLAGS=' ' LIBELF_LIBS=' ' --without-python
exec make -s preload/libtxtrace-preload.la
