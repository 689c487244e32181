#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh: feed the readers of foreign bytes with damaged input: posix_trace_open() and the functions that read a log,
# the parser of descriptions, the reader of debugging information, the search of txtrace extract, and the client of
# gdb's remote protocol.  make fuzz calls it in the build directory, with srcdir, and FUZZ_SECONDS: a sixth of them for
# each of these with libFuzzer, and for logs with AFL++, all with the address and the undefined-behaviour sanitizer.
# The corpus grows in fuzz/ and is kept for the next time.  Ends with 1, and the names of the inputs, if any did harm.
#
# As root, on Debian, it installs what is missing.
set -u

srcdir=${srcdir:-.}
FUZZ_SECONDS=${FUZZ_SECONDS:-600}
work=$PWD/fuzz
sanitizers='address,undefined -fno-sanitize-recover=undefined'

fail()
{
	echo "fuzz: $1" >&2
	exit 1
}

is_complete()
{
	command -v clang >/dev/null && command -v afl-clang-fast >/dev/null && command -v afl-fuzz >/dev/null &&
		echo 'int LLVMFuzzerTestOneInput(const char *p, unsigned long n) { (void)p; (void)n; return 0; }' |
		clang -fsanitize=fuzzer,address -x c - -o "$work/probe" 2>/dev/null
}

install_packages()
{
	version=$(clang -dumpversion 2>/dev/null | cut -d. -f1)
	packages="clang libclang-rt-${version:-14}-dev afl++"
	install="apt-get install -y --no-install-recommends $packages"
	if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
		fail "missing: $packages (as root, on Debian: apt-get update && $install)"
	fi
	echo "fuzz: installing $packages"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq </dev/null || echo 'fuzz: apt-get update failed, going on' >&2
	# shellcheck disable=SC2086  # a command and package names
	$install -qq </dev/null >/dev/null || fail "failed: $install"
	is_complete || fail "still missing after the installation: $packages"
}

# build COMPILER FLAGS OUTPUT: the library and the target, all in one
build()
{
	# shellcheck disable=SC2086  # options
	$1 -std=gnu11 -D_GNU_SOURCE -g -O1 $2 -fsanitize=$sanitizers -I. -I"$srcdir/lib" \
		-I"$srcdir/include" -I"$srcdir/tests" -include "$srcdir/lib/base/system.h" "$srcdir"/lib/*/*.c \
		"$srcdir/tests/fuzz/open.c" -pthread -o "$3" ||
		fail "$1: the target was not built"
}

# The search, with the libraries for compressed files that are there.
build_extract()
{
	flags=
	libraries=
	for pair in ZLIB:zlib LZMA:liblzma ZSTD:libzstd; do
		if pkg-config --exists "${pair#*:}" 2>/dev/null; then
			flags="$flags -DHAVE_${pair%:*}=1"
			libraries="$libraries $(pkg-config --cflags --libs "${pair#*:}")"
		else
			flags="$flags -DHAVE_${pair%:*}=0"
		fi
	done
	# shellcheck disable=SC2086  # options
	clang -std=gnu11 -D_GNU_SOURCE -g -O1 $flags -DFUZZ_WITH_LIBFUZZER -fsanitize=fuzzer -fsanitize=$sanitizers \
		-I"$srcdir/bin" -I"$srcdir/tests" "$srcdir/bin/base/memory.c" \
		"$srcdir/bin/input/stream.c" "$srcdir/bin/input/unpack.c" \
		"$srcdir"/bin/extract/*.c \
		"$srcdir/tests/fuzz/extract.c" $libraries -o "$work/extract" ||
		fail 'the target for extract was not built'
}

mkdir -p "$work/seeds" "$work/corpus" "$work/descriptions" "$work/extract-corpus" "$work/afl" || exit 1
is_complete || install_packages
rm -f "$work/probe"

cc=${CC:-cc}
# shellcheck disable=SC2086  # a command with options
$cc -std=gnu11 -D_GNU_SOURCE -g -O1 -I. -I"$srcdir/lib" -I"$srcdir/include" \
	-include "$srcdir/lib/base/system.h" "$srcdir"/lib/*/*.c "$srcdir/tests/fuzz/seeds.c" \
	-pthread -o "$work/write-seeds" || fail 'the writer of seeds was not built'
"$work/write-seeds" "$work/seeds" || fail 'no seeds'
for log in "$srcdir"/tests/data/machines/*.trx.gz; do # of other machines, as they are but for the check sums
	{ printf '\002' && gzip -dc "$log"; } >"$work/seeds/$(basename "$log" .gz)" || fail 'no seeds'
done
build clang '-DFUZZ_WITH_LIBFUZZER -fsanitize=fuzzer' "$work/libfuzzer"
build afl-clang-fast '' "$work/aflfuzz"
build_extract

share=$((FUZZ_SECONDS / 6))

# make_dwarf_seeds: small files with debugging information of both compilers
make_dwarf_seeds()
{
	mkdir -p "$work/dwarf-seeds" "$work/dwarf-corpus"
	for version in 4 5; do
		for compiler in "$cc" clang "$cc -fdebug-types-section"; do
			# shellcheck disable=SC2086  # a command with options
			$compiler -g -gdwarf-$version -nostdlib -shared -fPIC -Wl,-z,noseparate-code \
				"$srcdir/tests/fuzz/dwarf_seed.c" \
				-o "$work/dwarf-seeds/$(printf %s "$compiler" | tr -c 'a-z\n' _)-$version" ||
				fail "$compiler: no seed with debugging information"
		done
	done
}

if echo '#include <elfutils/libdw.h>' | clang -fsyntax-only -x c - 2>/dev/null; then
	echo "fuzz: debugging information, libFuzzer, $share seconds"
	make_dwarf_seeds
	# shellcheck disable=SC2086  # options
	clang -std=gnu11 -D_GNU_SOURCE -DHAVE_SYMBOLS=1 -DPACKAGE_NAME='"fuzz"' -g -O1 -DFUZZ_WITH_LIBFUZZER \
		-fsanitize=fuzzer,$sanitizers -I"$srcdir/include" -I"$srcdir/bin" -I"$srcdir/lib" \
		"$srcdir"/lib/fields/*.c "$srcdir"/bin/trace/dwarf_*.c "$srcdir"/bin/base/*.c \
		"$srcdir/tests/fuzz/dwarf.c" -ldw -lelf -o "$work/dwarf" ||
			fail 'clang: no target for debugging information'
	UBSAN_OPTIONS=print_stacktrace=1 "$work/dwarf" -max_total_time="$share" -timeout=20 -rss_limit_mb=2048 \
		-max_len=30000 -print_final_stats=1 -artifact_prefix="$work/harm-" \
		"$work/dwarf-corpus" "$work/dwarf-seeds" >"$work/dwarf.log" 2>&1
	grep -aE '^stat::|^#.*DONE|SUMMARY' "$work/dwarf.log"
else
	echo 'fuzz: SKIP debugging information: libdw is missing'
fi

echo "fuzz: descriptions, libFuzzer, $share seconds"
# shellcheck disable=SC2086  # options
clang -std=gnu11 -D_GNU_SOURCE -g -O1 -DFUZZ_WITH_LIBFUZZER -fsanitize=fuzzer,$sanitizers \
	-I"$srcdir/lib" -I"$srcdir/tests" \
	"$srcdir"/lib/fields/*.c "$srcdir/tests/fuzz/fields.c" -o "$work/fields" ||
		fail 'clang: no target for descriptions'
UBSAN_OPTIONS=print_stacktrace=1 "$work/fields" -max_total_time="$share" -timeout=20 -rss_limit_mb=2048 \
	-max_len=5000 -print_final_stats=1 -artifact_prefix="$work/harm-" \
	"$work/descriptions" "$srcdir/tests/fuzz/descriptions" >"$work/fields.log" 2>&1
grep -aE '^stat::|^#.*DONE|SUMMARY' "$work/fields.log"

echo "fuzz: libFuzzer, $share seconds"
UBSAN_OPTIONS=print_stacktrace=1 "$work/libfuzzer" -max_total_time="$share" -timeout=20 -rss_limit_mb=2048 \
	-max_len=70000 -print_final_stats=1 -artifact_prefix="$work/harm-" \
	"$work/corpus" "$work/seeds" "$srcdir/tests/fuzz/findings" >"$work/libfuzzer.log" 2>&1
grep -aE '^stat::|^#.*DONE|SUMMARY' "$work/libfuzzer.log"

echo "fuzz: libFuzzer on extract, $share seconds"
UBSAN_OPTIONS=print_stacktrace=1 "$work/extract" -max_total_time="$share" -timeout=20 -rss_limit_mb=2048 \
	-max_len=65536 -print_final_stats=1 -artifact_prefix="$work/harm-extract-" \
	"$work/extract-corpus" "$work/seeds" >"$work/extract.log" 2>&1
grep -aE '^stat::|^#.*DONE|SUMMARY' "$work/extract.log"

echo "fuzz: gdb's remote protocol, libFuzzer, $share seconds"
mkdir -p "$work/gdb-corpus"
# shellcheck disable=SC2086  # options
clang -std=gnu11 -D_GNU_SOURCE -g -O1 -DFUZZ_WITH_LIBFUZZER -fsanitize=fuzzer,$sanitizers -I"$srcdir/bin" \
	"$srcdir/bin/base/memory.c" "$srcdir/bin/capture/gdb.c" "$srcdir/bin/capture/target_buffer.c" \
	"$srcdir/bin/extract/header.c" \
	"$srcdir/tests/fuzz/gdb.c" -o "$work/gdb" || fail 'clang: no target for the remote protocol'
UBSAN_OPTIONS=print_stacktrace=1 "$work/gdb" -max_total_time="$share" -timeout=20 -rss_limit_mb=2048 \
	-max_len=65536 -print_final_stats=1 -artifact_prefix="$work/harm-gdb-" \
	"$work/gdb-corpus" >"$work/gdb.log" 2>&1
grep -aE '^stat::|^#.*DONE|SUMMARY' "$work/gdb.log"

echo "fuzz: AFL++, $share seconds"
AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_AUTORESUME=1 \
	afl-fuzz -i "$work/seeds" -o "$work/afl" -V "$share" -t 2000 -m none -- "$work/aflfuzz" \
	>"$work/aflfuzz.log" 2>&1
grep -aE '^(execs_done|execs_per_sec|corpus_count|saved_crashes|saved_hangs|bitmap_cvg)' \
	"$work/afl/default/fuzzer_stats" || fail "AFL++ did not run: see $work/aflfuzz.log"

found=$(ls "$work"/harm-* "$work"/afl/default/crashes/id* "$work"/afl/default/hangs/id* 2>/dev/null)
if [ -n "$found" ]; then
	echo 'fuzz: these did harm; keep them in tests/fuzz/findings when they are mended:'
	echo "$found"
	exit 1
fi
echo 'fuzz: nothing did any harm'
