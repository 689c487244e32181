#!/bin/sh
# SPDX-License-Identifier: MIT
# <trace.hpp> compiles without a warning with each C++ compiler that is here, and does what it says.
. "${srcdir:-.}/tests/tool/lib.sh"

libraries=$(cd "$(dirname "$tool")/../lib/.libs" 2>/dev/null && pwd)
[ -e "$libraries/libposixtrace.so" ] || { echo 'SKIP: no shared library was built'; exit 77; }
[ "${PX_SANITIZED:-no}" = no ] || { echo 'SKIP: the library has a sanitizer'; exit 77; }
LD_LIBRARY_PATH=$libraries
export LD_LIBRARY_PATH
own_streams

# build COMPILER FLAGS SOURCE OUTPUT
build()
{
	nr_checks=$((nr_checks + 1))
	# shellcheck disable=SC2086  # several words
	$1 $2 -O1 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -pthread -I"$top/include" "$top/$3" -o "$4" \
		-L"$libraries" -lposixtrace >"$scratch/messages" 2>&1 && return
	complain "$3 does not compile with $1 $2: $(head -5 "$scratch/messages")"
	return 1
}

nr_compilers=0
# $CXX has options behind the compiler, which <trace.h> needs on some machines.
options=$(echo "${CXX:-g++}" | cut -s -d ' ' -f 2-)
for compiler in "${CXX:-g++}" "clang++ $options"; do
	command -v "${compiler%% *}" >/dev/null || continue
	nr_compilers=$((nr_compilers + 1))
	for standard in c++17 c++20; do
		build "$compiler" "-std=$standard" tests/cpp/trace.cpp "$scratch/trace" || continue
		nr_checks=$((nr_checks + 1))
		"$scratch/trace" "$scratch/trace.trx" || complain "the test fails with $compiler $standard"
	done
	build "$compiler" -std=c++17 examples/orders.cpp "$scratch/orders" || continue
	nr_checks=$((nr_checks + 1))
	"$scratch/orders" "$scratch/orders.trx" >"$scratch/printed" || complain "the example fails with $compiler"
	[ "$(sed -n 5p "$scratch/printed")" = '5 order-5 1.25' ] || complain "the example prints: $(cat "$scratch/printed")"
done
[ "$nr_compilers" -gt 0 ] || { echo 'SKIP: there is no C++ compiler'; exit 77; }

# The tool shows the members, and the spans.
nr_checks=$((nr_checks + 1))
"$tool" print --format csv --columns data -f event=order "$scratch/orders.trx" 2>/dev/null | tr -d '\r' |
	grep -qF 'id=3 load=0.75 name=""order-3"" at=[{x=-1 y=2} {x=3 y=4}] now=3 is_urgent=true' ||
	complain "the fields of an order: $("$tool" print -f event=order "$scratch/orders.trx" | tail -3)"
for span in work delivery; do
	nr_checks=$((nr_checks + 1))
	"$tool" report --spans "$scratch/orders.trx" 2>/dev/null | grep -qE "^ *$span +5 " || complain "no span $span"
done

# What cannot be data is an error of the compiler.
for wrong in 'struct text { std::string name; }; TXTRACE_STRUCT(text, name);' \
	'struct inner { int a; }; struct outer { inner b; }; TXTRACE_STRUCT(outer, b);'; do
	nr_checks=$((nr_checks + 1))
	type=$(echo "$wrong" | sed 's/.*TXTRACE_STRUCT(\([a-z]*\),.*/\1/')
	printf '#include <trace.hpp>\n%s\nint main() { txtrace::event_type<%s> type("a"); }\n' "$wrong" "$type" \
		>"$scratch/wrong.cpp"
	! ${CXX:-g++} -std=c++17 -I"$top/include" -fsyntax-only "$scratch/wrong.cpp" 2>/dev/null ||
		complain "this compiles: $wrong"
done

# A scope that would outlive its span is an error, and one that ends at once is a warning.
for wrong in 'const txtrace::scope scope{txtrace::span("a")};' 'const txtrace::span a("a"); txtrace::scope{a};' \
	'const txtrace::span a("a"); const txtrace::scope scope(a);'; do
	nr_checks=$((nr_checks + 1))
	printf '#include <trace.hpp>\nint main() { %s }\n' "$wrong" >"$scratch/wrong.cpp"
	${CXX:-g++} -std=c++17 -I"$top/include" -Wall -Werror -fsyntax-only "$scratch/wrong.cpp" 2>/dev/null
	is_right=$?
	case $wrong in
	*' scope(a)'*) [ $is_right -eq 0 ] || complain "this does not compile: $wrong" ;;
	*) [ $is_right -ne 0 ] || complain "this compiles: $wrong" ;;
	esac
done
finish
