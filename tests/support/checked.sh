#!/bin/sh
# SPDX-License-Identifier: MIT
# checked.sh NAME OPTION...: build in checked/NAME with these options of configure, run the tests there, and print the
# summary.  make check-asan, check-ubsan, check-tsan and check-valgrind call it in the build directory.  Variables of
# make, such as TESTS, also apply there.
set -u

name=$1
shift
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
make=${MAKE:-make}

mkdir -p "checked/$name" || exit 99
cd "checked/$name" || exit 99
if [ ! -e config.status ] || [ "$srcdir/configure" -nt config.status ]; then
	"$srcdir/configure" --quiet CC="${CC:-cc}" CFLAGS='-O1 -g' "$@" || exit 99
fi
"$make" --no-print-directory -s mostlyclean-generic
"$make" --no-print-directory -k check
status=$?
"$make" --no-print-directory -s check-summary || status=1
exit $status
