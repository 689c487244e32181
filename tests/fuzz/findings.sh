#!/bin/sh
# SPDX-License-Identifier: MIT
# The inputs with which fuzzing once found a fault, and its seeds, must do no harm.
set -u

srcdir=${srcdir:-.}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

tests/fuzz/seeds "$scratch" || exit 1
tests/fuzz/fields "$srcdir"/tests/fuzz/descriptions/* || exit 1
tests/fuzz/gdb || exit 1
tests/fuzz/extract "$scratch"/* "$srcdir"/tests/data/version2/* || exit 1
mkdir "$scratch/machines" || exit 99
for log in "$srcdir"/tests/data/machines/*.trx.gz; do
	gzip -dc "$log" >"$scratch/machines/$(basename "$log" .gz)" || exit 99
done
tests/fuzz/mutate "${FUZZ_ROUNDS:-500}" "$scratch"/machines/* || exit 1
for log in "$scratch"/machines/*; do
	{ printf '\002' && cat "$log"; } >"$scratch/$(basename "$log")" || exit 99
done
rm -r "$scratch/machines"
tests/fuzz/open "$scratch"/* $(find "$srcdir/tests/fuzz/findings" -type f ! -name README)
