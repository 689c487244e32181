#!/bin/sh
# SPDX-License-Identifier: MIT
# txtrace capture and extract from a bare board, which QEMU emulates: make check-board.  It installs nothing: if a
# program is missing, it prints SKIP.
set -u

srcdir=${srcdir:-.}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
tool=${TXTRACE:-$PWD/bin/txtrace}

for program in qemu-system-arm:qemu-system-arm arm-none-eabi-gcc:gcc-arm-none-eabi python3:python3; do
	command -v "${program%:*}" >/dev/null || {
		echo "SKIP a bare board: there is no ${program%:*} (package ${program#*:})"
		exit 0
	}
done
arm-none-eabi-gcc -std=c11 -O2 -g -Wall -Wextra -Werror -mcpu=cortex-m3 -mthumb -ffreestanding -nostdlib \
	-T "$srcdir/tests/board/board.ld" "$srcdir/tests/board/board.c" -o "$scratch/board.elf" || exit 1
arm-none-eabi-nm "$scratch/board.elf" >"$scratch/symbols" || exit 1
python3 "$srcdir/tests/board/board.py" "$tool" "$scratch/board.elf" "$scratch/symbols" || exit 1
echo 'board: nothing is missing'
