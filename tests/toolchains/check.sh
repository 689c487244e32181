#!/bin/bash
# SPDX-License-Identifier: MIT
# check.sh [NAME...]: build with other compilers, options and C libraries, with warnings as errors, and run tests with
# each build: of the code that depends most on the compiler (rings, clocks, atomic words, logs, the preloaded object).
#
#	O0 O3 lto fortify	-O0; -O3; -flto; -O2 -D_FORTIFY_SOURCE=3
#	hardening		the options of dpkg-buildflags with hardening=+all
#	clang
#	bullseye trixie		the compiler and the C library of this suite of Debian, in a root directory; as root
#	reproducible		two builds install the same bytes; reprotest varies the directory, the time and its zone,
#				the locale, the environment, umask, the home, PATH, the order of files in directories, the
#				CPUs, and what the kernel and the host are called
#
# Environment:
#	PX_TOOLCHAINS_DIR	where roots, builds and logs are (build/toolchains)
#	PX_TOOLCHAINS_TESTS	run these tests instead; all: the suites in C; none: only build
#	PX_MIRROR		the mirror of Debian
#	PX_JOBS			of make
# shellcheck disable=SC2016,SC2317  # programs of other shells; functions that others call
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=${PX_TOOLCHAINS_DIR:-$PWD/toolchains}
roots=$dir/roots
jobs=${PX_JOBS:-$(getconf _NPROCESSORS_ONLN)}
tests=${PX_TOOLCHAINS_TESTS:-tests/base/clock tests/base/wide tests/ring/ring tests/ring/record tests/ring/cpuring
	tests/log/pack tests/stream/own_rings tests/stream/left tests/api/event tests/api/getnext
	tests/preload/images.sh tests/preload/direct.sh tests/preload/sync.sh}
# What the scripts among them run.
programs="tests/tool/mktrx tests/tool/mksched tests/preload/acts tests/preload/calls_of tests/preload/sync_calls
	tests/preload/sync_leaves tests/preload/sync_stress"
# shellcheck source=tests/support/root.sh
. "$top/tests/support/root.sh"
[ -x "$top/configure" ] || fail 'there is no configure: run ./bootstrap'
[ $# -gt 0 ] || set -- O0 O3 lto fortify hardening clang bullseye trixie reproducible
mkdir -p "$dir" || exit 1
status=0
compiled=

# build NAME CONFIGURE-OPTION...: with warnings as errors
build()
{
	mkdir -p "$dir/$1" && (cd "$dir/$1" && { [ -e config.status ] || "$top/configure" -q --enable-werror "${@:2}"; } &&
		make -s -j"$jobs")
}

# run_tests NAME: the suites, or the tests that were asked for
run_tests()
{
	if [ "$tests" = all ]; then
		make -C "$dir/$1" -s -k -j"$jobs" check-suites
	else
		# Do not build the other tests, either.
		# shellcheck disable=SC2086  # names of tests
		make -C "$dir/$1" -s -k -j"$jobs" check TESTS="$tests" \
			check_PROGRAMS="$(printf '%s\n' $tests $programs | grep -v '\.sh$' | tr '\n' ' ')"
	fi
}

# judge NAME STEP COMMAND...: run it with a log, and say how it ended
judge()
{
	if "${@:3}" >"$dir/$1-$2.log" 2>&1; then
		echo "$1: $2: pass $(grep -c '^PASS: ' "$dir/$1-$2.log" | sed 's/^0$//')"
		return
	fi
	echo "$1: $2: FAIL"
	grep -aE '^(FAIL|ERROR): |error:|warning:|\*\*\*' "$dir/$1-$2.log" | head -n 20
	status=1
	return 1
}

# on_host NAME CONFIGURE-OPTION...
on_host()
{
	judge "$1" build build "$@" || return
	[ "$tests" = none ] || judge "$1" check run_tests "$1"
}

# in_suite SUITE: the same in a root directory of a suite, with the packages that debian/control names
in_suite()
{
	root=$dir/root-$1
	if [ ! -e "$root/.complete" ]; then
		base_root "$1"
		new_root "$1" "$root"
		mkdir -p "$root/source/debian"
		cp "$top/debian/control" "$top/debian/changelog" "$root/source/debian"
		judge "$1" root in_root "$root" sh -ec '
			apt-get update -qq
			apt-get build-dep -y -qq --no-install-recommends /source
			apt-get install -y -qq --no-install-recommends git xz-utils zstd gdb procps util-linux >/dev/null' ||
			return
		touch "$root/.complete"
	fi
	binds=("$top" "$dir")
	judge "$1" build in_root "$root" env PX_TOOLCHAINS_DIR="$dir" PX_JOBS="$jobs" PX_TOOLCHAINS_TESTS=none \
		bash "$top/tests/toolchains/check.sh" "this:$1" &&
		{ [ "$tests" = none ] || judge "$1" check in_root "$root" env PX_TOOLCHAINS_DIR="$dir" PX_JOBS="$jobs" \
			PX_TOOLCHAINS_TESTS="$tests" bash "$top/tests/toolchains/check.sh" "tests:$1"; }
	binds=()
}

# reprotest builds twice, and compares what is installed.  Another user needs sudo, so there is none.  ccache would give
# the second build the objects of the first one.
reproducible()
{
	rm -rf "$dir/sources" && mkdir "$dir/sources" && (cd "$top" && tar -c --exclude=./build --exclude=./.git .) |
		tar -x -C "$dir/sources"
	reprotest --no-diffoscope --min-cpus "$jobs" --variations=+all,-user_group -c '
		export CCACHE_DISABLE=1
		mkdir build && cd build &&
			../configure -q --prefix=/usr CFLAGS="-g -O2 -ffile-prefix-map=${PWD%/build}=." &&
			make -s -j'"$jobs"' && make -s install DESTDIR="${PWD%/build}/installed"' \
		"$dir/sources" installed -- null && rm -rf "$dir/sources"
}

flags()
{
	DEB_BUILD_MAINT_OPTIONS=hardening=+all dpkg-buildflags --get "$1"
}

for name in "$@"; do
	case $name in
	O0) on_host O0 CFLAGS='-g -O0' ;;
	O3) on_host O3 CFLAGS='-g -O3' ;;
	lto) on_host lto CFLAGS='-g -O2 -flto=auto' AR=gcc-ar NM=gcc-nm RANLIB=gcc-ranlib ;;
	fortify) on_host fortify CFLAGS='-g -O2 -D_FORTIFY_SOURCE=3' ;;
	hardening) on_host hardening CFLAGS="$(flags CFLAGS)" CPPFLAGS="$(flags CPPFLAGS)" LDFLAGS="$(flags LDFLAGS)" ;;
	clang) want clang clang && on_host clang CC=clang CXX=clang++ ;;
	bullseye | bookworm | trixie) in_suite "$name" ;;
	reproducible)
		want reprotest reprotest && want disorderfs disorderfs && want faketime faketime &&
			judge reproducible install reproducible
		;;
	this:*) # inside of a root
		build "${name#*:}" || exit 1
		exit
		;;
	tests:*)
		run_tests "${name#*:}"
		exit
		;;
	*) fail "unknown name $name" ;;
	esac
	compiled="$compiled $name"
done
echo "toolchains:$compiled: $([ "$status" -eq 0 ] && echo all pass || echo some fail); logs in $dir"
exit "$status"
