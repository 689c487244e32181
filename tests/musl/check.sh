#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh [TEST...]: build with musl instead of glibc, and run the tests, those of the C interfaces and those that
# record programs of their own, or these.
#
# Debian has musl and a compiler for it (musl-tools), but no libraries.  So the libraries come from Debian's sources.
# The tests of the preloaded object under programs of the system need glibc and are not built.  As root, on Debian.
# Environment:
#	PX_MUSL_DIR	where the sources, the libraries and the build are (build/musl)
#	PX_MUSL_CONFIGURE	more options of configure
#	PX_TEST_TIMEOUT	the longest time of a test in seconds (900)
# shellcheck disable=SC2317  # functions that step calls
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${PX_MUSL_DIR:-$PWD/musl}
prefix=$dir/prefix
build=$dir/build
triplet=$(uname -m)-linux-musl
jobs=$(getconf _NPROCESSORS_ONLN)
# shellcheck source=tests/support/commands.sh
. "$top/tests/support/commands.sh"

# source_of PACKAGE: unpack the source of Debian's package in $dir, and print the name of its directory
source_of()
{
	set -- "$1" "$(find "$dir" -maxdepth 1 -type d -name "$1-*" | head -n 1)"
	if [ -z "$2" ]; then
		(cd "$dir" && apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" \
			-o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$dir/lists" \
			-o APT::Sandbox::User=root source "$1") >&2 ||
			fail "no source of $1"
	fi
	find "$dir" -maxdepth 1 -type d -name "$1-*" | head -n 1
}

# step NAME COMMAND...: run the command in silence, unless it fails
step()
{
	echo "check-musl: $1"
	shift
	"$@" >"$dir/step.log" 2>&1 && return
	tail -n 20 "$dir/step.log" >&2
	fail "failed: $*"
}

build_zlib()
{
	source=$(source_of zlib) && cd "$source" &&
		CC=musl-gcc CFLAGS='-O2 -fPIC' ./configure --static --prefix="$prefix" &&
		make -s -j"$jobs" libz.a && make -s install
}

# Only the library of Check: its examples and its own tests take longer.
build_check()
{
	source=$(source_of check) && cd "$source" &&
		./configure -q --host="$triplet" CC=musl-gcc CFLAGS='-O2 -fPIC' --disable-shared \
		--disable-subunit --prefix="$prefix" && make -s -j"$jobs" -C lib && make -s -j"$jobs" -C src install &&
		cp check_stdint.h "$prefix/include/" &&
		sed 's/-lcheck_pic/-lcheck/' check.pc >"$prefix/lib/pkgconfig/check.pc" # Debian's own name of the library
}

# Only libelf: libdw needs functions that musl does not have, and configure looks for them.
build_libelf()
{
	source=$(source_of elfutils) && cd "$source" &&
		./configure -q --host="$triplet" CC="musl-gcc -idirafter $prefix/include" \
		CFLAGS="-O2 -fPIC -I$prefix/include" LDFLAGS="-L$prefix/lib" --prefix="$prefix" --disable-nls \
		--disable-debuginfod --disable-libdebuginfod --without-bzlib --without-lzma --without-zstd \
		ac_cv_search_argp_parse='none required' ac_cv_search_fts_close='none required' \
		ac_cv_search__obstack_free='none required' && make -s -j"$jobs" -C libelf libelf.a &&
		make -s -C libelf install-libLIBRARIES install-includeHEADERS &&
		cp config/libelf.pc "$prefix/lib/pkgconfig/" &&
		sed -i 's/-lelf$/-lelf -lz/' "$prefix/lib/pkgconfig/libelf.pc"
}

configure()
{
	# shellcheck disable=SC2086  # options
	mkdir -p "$build" && cd "$build" && "$top/configure" -q --host="$triplet" CXX=no \
		CC="musl-gcc -idirafter $prefix/include" ${PX_MUSL_CONFIGURE:-}
}

[ -x "$top/configure" ] || fail 'no configure: run ./bootstrap'
mkdir -p "$dir/lists/partial" "$prefix/include" "$prefix/lib/pkgconfig" || exit 1
want musl-gcc musl-tools
want dpkg-source dpkg-dev
if [ ! -e "$prefix/.complete" ]; then
	# shellcheck disable=SC2016  # names of apt
	apt-get indextargets --format '$(CREATED_BY) deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' |
		sed -n 's/^Packages //p' | grep '/debian/* ' | sort -u >"$dir/sources.list"
	step 'list of sources' apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$dir/lists" update
	# musl has no headers of the kernel.
	ln -sfn /usr/include/linux /usr/include/asm-generic /usr/include/mtd "$prefix/include/"
	ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" "$prefix/include/asm"
	export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
	step 'zlib' build_zlib
	step 'Check' build_check
	step 'libelf' build_libelf
	touch "$prefix/.complete"
fi
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
[ -e "$build/config.status" ] || step configure configure
step build make -C "$build" -s -j"$jobs" all
step 'build of the tests' make -C "$build" -s -j"$jobs" check TESTS=

if [ $# -eq 0 ]; then
	# shellcheck disable=SC2016,SC2046  # a variable of make; words
	set -- $(make -C "$build" -s --eval 'px-print: ; @echo $(px_suites)' px-print) tests/oracle/oracle.sh
fi
PX_TEST_TIMEOUT=${PX_TEST_TIMEOUT:-900} make -C "$build" -s -k -j"$jobs" check TESTS="$*" >"$dir/check.log" 2>&1
status=$?
count_tests "$dir/check.log"
echo "check-musl: $(uname -r), log in $dir/check.log"
exit $status
