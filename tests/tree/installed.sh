#!/bin/sh
# SPDX-License-Identifier: MIT
# After make install: pkg-config finds the library. The example compiles with only the flags from pkg-config, and runs
# with the shared and with the static library; with CMake, too, both where the files were installed and after they were
# moved. Run it with: make installcheck
set -u

if [ -z "${srcdir:-}" ] || [ -z "${libdir:-}" ] || [ -z "${pkgconfigdir:-}" ]; then
	echo 'installed.sh checks an installed library: run make install, and then make installcheck, in the build directory' >&2
	exit 2
fi
: "${DESTDIR=}"
CC=${CC:-cc}
READELF=${READELF:-readelf}
: "${bindir=}"
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

# A program that traces itself, with only the flags from pkg-config: fully static, and after the files were moved.
cat >"$scratch/itself.c" <<'END'
#include <stdio.h>
#include <trace.h>

int main(void)
{
	struct posix_trace_event_info event;
	trace_event_id_t id;
	trace_id_t trace;
	size_t length;
	int data = 0, unavailable = 0;

	if (posix_trace_create(0, NULL, &trace) != 0 || posix_trace_eventid_open("answer", &id) != 0 ||
	    posix_trace_start(trace) != 0)
		return 1;
	posix_trace_event(id, &(int){42}, sizeof(data));
	if (posix_trace_stop(trace) != 0)
		return 2;
	while (posix_trace_trygetnext_event(trace, &event, &data, sizeof(data), &length, &unavailable) == 0 &&
	       !unavailable)
		if (event.posix_event_id == id)
			return printf("answer %d\n", data) == 10 ? 0 : 3;
	return 4;
}
END

# trace_itself WHAT FLAGS...
trace_itself()
{
	what=$1
	shift
	# shellcheck disable=SC2068  # flags are several words
	if ! $CC -std=gnu11 -o "$scratch/itself" "$scratch/itself.c" $@ >"$scratch/messages" 2>&1 ||
		! "$scratch/itself" >"$scratch/output" || [ "$(cat "$scratch/output")" != 'answer 42' ]
	then
		cat "$scratch/messages" "$scratch/output"
		echo "installcheck: a program does not trace itself $what; flags: $*"
		exit 1
	fi
	echo "installcheck: a program traces itself $what"
}

# with_moved OPTION: of pkg-config
with_moved()
{
	moved_flags=$(
		unset PKG_CONFIG_SYSROOT_DIR
		PKG_CONFIG_PATH=$scratch/pc$pkgconfigdir "$PKG_CONFIG" "$1" --cflags --libs --static posixtrace
	) || exit 1
	case $moved_flags in
	*-I"$scratch/pc$includedir"*-L"$scratch/pc$libdir"*) ;;
	*)
		echo "installcheck: after a move, pkg-config $1 says: $moved_flags"
		exit 1
		;;
	esac
	trace_itself "after a move, with pkg-config ${1%%=*}" -static "$moved_flags"
}

echo 'int main(void) { return 0; }' >"$scratch/empty.c"
if [ ! -e "$DESTDIR$libdir/libposixtrace.a" ]; then
	echo 'SKIP static programs: there is no static library'
elif ! $CC -static -o "$scratch/empty" "$scratch/empty.c" 2>/dev/null; then
	echo 'SKIP static programs: the C library has no static one'
else
	trace_itself 'as a static program' -static "$static"
	(mkdir "$scratch/pc" && cd "${DESTDIR:-/}" && cp -a --parents ".$pkgconfigdir" ."$libdir"/libposixtrace.a \
		."$includedir"/trace*.h "$scratch/pc") || exit 99
	prefix=$("$PKG_CONFIG" --variable=prefix posixtrace)
	prefix=${prefix#"$DESTDIR"}
	with_moved "--define-variable=prefix=$scratch/pc$prefix"
	# pkg-config takes what is two directories above its files for the prefix.  That is wrong with lib/x86_64-linux-gnu.
	if [ "${pkgconfigdir%/*/*}" = "$prefix" ]; then
		with_moved --define-prefix
	else
		echo 'SKIP pkg-config --define-prefix: its files are elsewhere'
	fi
fi

# CMake finds the libraries where they were installed. After the files were moved, it finds them there, and nothing leads
# to the old place.
moved=$scratch/moved

# configure_project NAME OPTION...: for the examples, in $scratch/NAME
configure_project()
{
	name=$1
	shift
	cmake -S "$scratch/project" -B "$scratch/$name" -DCMAKE_C_COMPILER="${CC%% *}" "$@" >"$scratch/$name.out" 2>&1
}

# with_cmake KIND ROOT OPTION: builds and runs the examples with what CMake finds under ROOT with this option
with_cmake()
{
	case $1 in
	shared) suffix=so static=OFF ;;
	static) suffix=a static=ON ;;
	esac
	case $2 in
	"$moved") place="after a move" ;;
	*) place="where they were installed" ;;
	esac
	rm -rf "$scratch/cmake"
	# A make that runs this test has other options than the one of CMake.
	if ! configure_project cmake -Dposixtrace_USE_STATIC_LIBS=$static "$3" ||
		! env -u MAKEFLAGS -u MFLAGS VERBOSE=1 cmake --build "$scratch/cmake" >"$scratch/messages" 2>&1
	then
		cat "$scratch/cmake.out" "$scratch/messages"
		echo "installcheck: CMake cannot build the examples with the $1 libraries $place; ${3%%=*}"
		exit 1
	fi
	# The compiler searches /usr/include without an option.
	for path in "$libdir/libposixtrace.$suffix" "$libdir/libtxtrace-threadx.$suffix" "$includedir"; do
		grep -qF -- "$2$path" "$scratch/messages" || [ "$2$path" = /usr/include ] || {
			cat "$scratch/messages"
			echo "installcheck: the commands of CMake do not use $2$path"
			exit 1
		}
	done
	# The program with the services needs libposixtrace only through libtxtrace-threadx.  With --as-needed, its own path
	# is not used for that, and the path in libtxtrace-threadx leads to the place before the move.
	{ "$scratch/cmake/pipeline" "$scratch/tree" &&
		LD_LIBRARY_PATH=$2$libdir "$scratch/cmake/services"; } >"$scratch/output" || {
		cat "$scratch/output"
		echo "installcheck: an example that CMake linked with the $1 libraries $place fails; ${3%%=*}"
		exit 1
	}
	echo "installcheck: CMake finds the $1 libraries $place with ${3%%=*}"
}

if ! command -v cmake >/dev/null; then
	echo 'SKIP whether CMake finds the libraries: cmake is missing'
else
	mkdir "$scratch/project" "$moved" || exit 99
	(cd "${DESTDIR:-/}" && cp -a --parents ".$cmakedir" ."$libdir"/libposixtrace.* ."$libdir"/libtxtrace-threadx.* \
		."$includedir"/trace*.h ."$includedir"/tx*.h "$moved") || exit 99
	cp "$srcdir/examples/pipeline.c" "$scratch/services.c" "$scratch/project" || exit 99
	cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(stranger C)
set(VERSION 0.1 CACHE STRING "the version to ask for")
set(COMPONENT txtrace-threadx CACHE STRING "the component to ask for")
find_package(posixtrace ${VERSION} REQUIRED COMPONENTS ${COMPONENT})
add_executable(pipeline pipeline.c)
target_link_libraries(pipeline PRIVATE posixtrace::posixtrace)
add_executable(services services.c)
target_link_libraries(services PRIVATE posixtrace::txtrace-threadx)
END
	prefix=$("$PKG_CONFIG" --variable=prefix posixtrace)
	prefix=${prefix#"$DESTDIR"}
	for kind in shared:so static:a; do
		[ -e "$moved$libdir/libposixtrace.${kind#*:}" ] || continue
		for root in "$DESTDIR" "$moved"; do
			with_cmake "${kind%:*}" "$root" "-Dposixtrace_DIR=$root$cmakedir"
			case $cmakedir in
			"$prefix"/lib/*) with_cmake "${kind%:*}" "$root" "-DCMAKE_PREFIX_PATH=$root$prefix" ;;
			*) echo "SKIP whether CMake finds the libraries by their prefix: not all systems have $cmakedir" ;;
			esac
		done
	done
	while read -r option message; do
		if configure_project "$option" "-Dposixtrace_DIR=$moved$cmakedir" "-D$option"; then
			echo "installcheck: CMake finds the library with $option"
			exit 1
		fi
		grep -q -- "$message" "$scratch/$option.out" || {
			cat "$scratch/$option.out"
			echo "installcheck: with $option, CMake does not say: $message"
			exit 1
		}
	done <<'END'
VERSION=0.99 version: 0\.1\.
VERSION=1 version: 0\.1\.
COMPONENT=none of none is not installed
END
fi

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

# The tool finds its library and the preloaded object after a move.  Libraries in a folder of the system cannot move.
if [ -e "$DESTDIR$libdir/libposixtrace.so" ] && $READELF -d "$DESTDIR$bindir/txtrace" | grep -q 'RUNPATH.*ORIGIN'; then
	mkdir "$scratch/all"
	(cd "${DESTDIR:-/}" && cp -a --parents ."$bindir"/txtrace ."$libdir"/libposixtrace.* "$scratch/all" &&
		{ [ ! -e ".$libdir/libtxtrace-preload.so" ] ||
			cp -a --parents ."$libdir"/libtxtrace-preload.so "$scratch/all"; }) || exit 99
	tool=$scratch/all$bindir/txtrace
	unset LD_LIBRARY_PATH TXTRACE_PRELOAD
	{ "$tool" demo -o "$scratch/moved.trx" && "$tool" info "$scratch/moved.trx"; } >"$scratch/output" 2>&1 || {
		cat "$scratch/output"
		echo 'installcheck: the tool fails after a move'
		exit 1
	}
	[ ! -e "$scratch/all$libdir/libtxtrace-preload.so" ] ||
		"$tool" record --preload -o "$scratch/calls.trx" sleep 0.1 >"$scratch/output" 2>&1 || {
		cat "$scratch/output"
		echo 'installcheck: no calls are recorded after a move'
		exit 1
	}
	echo 'installcheck: the tool works after a move'
fi
