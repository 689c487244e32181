#!/bin/sh
# SPDX-License-Identifier: MIT
# The order of a change of the state word and of the reads of the counter around it on aarch64 (lib/ring/segment.h), and
# the order inside of a restartable sequence (lib/ring/sequence_aarch64.h), in the code that a compiler makes for them.
set -u

srcdir=${srcdir:-.}
AARCH64_CC=${AARCH64_CC:-aarch64-linux-gnu-gcc}

if ! command -v "$AARCH64_CC" >/dev/null || ! echo '#include <sys/socket.h>' | "$AARCH64_CC" -E - >/dev/null 2>&1; then
	echo "SKIP: no compiler and C library for aarch64 ($AARCH64_CC)"
	exit 77
fi
. "$srcdir/tests/support/complain.sh"

# steps_of FILE FUNCTION: what the function does, in the order of its code, on one line
steps_of()
{
	"$AARCH64_CC" -std=gnu11 -D_GNU_SOURCE -O2 -I. -I"$srcdir/include" -I"$srcdir/lib" \
		-include "$srcdir/lib/base/system.h" -S \
		"$srcdir/$1" -o "$scratch/code.s" || exit 99
	sed -n "/^$2:/,/\.size/p" "$scratch/code.s" | sed -n \
		-e 's/.*dsb ish.*/dsb/p' -e 's/.*	isb.*/isb/p' -e 's/.*mrs .*cntvct_el0.*/counter/p' \
		-e 's/.*	bl	px_clock_read_later.*/later/p' -e 's/.*	bl	px_stream_record.*/record/p' \
		-e 's/.*	\(cas[al]*\|stlxr\|bl	__aarch64_cas[0-9]*_acq_rel\)\>.*/exchange/p' \
		-e 's/.*	mrs .*s3_3_c14_c0_6.*/synchronized/p' -e 's/.*	stlxp .*/heads/p' \
		-e 's/.*	stlr .*, \[x[0-9]*\]$/head/p' -e 's/.*	dmb	ish$/fence/p' \
		-e 's/.*	\(ldar\)	.*/load/p' | tr '\n' ' '
}

# expect FILE FUNCTION PATTERN: the steps of the function match
expect()
{
	steps=$(steps_of "$1" "$2")
	case $steps in
	$3) ;;
	*) complain "$1: $2: the steps are: $steps" ;;
	esac
}

# All stores are complete, then the pipeline is empty, then the counter is read.
expect lib/base/clock.c px_clock_read_later 'dsb isb counter isb counter *'
# The thread that changes the state word: the change is complete before any counter is read.
expect lib/stream/stream.c px_stream_stop '*exchange dsb *later *record *'
expect lib/stream/stream.c px_stream_set_filter '*exchange dsb *later *record *'
# The writer: the counter, then the exchange of head, then the second load of the state word.
expect lib/trace/emit.c px_emit_any '*isb counter exchange *load *'
# A sequence: the counter first, by one of two ways; the claims are visible to others before head is; then the fence
# between the claims and the data.
if grep -q 'HAVE_RSEQ_ABI 1' config.h; then
	expect lib/ring/cpuring.c px_cpuring_take '*isb counter synchronized heads *fence *'
	expect lib/trace/tracepoint.c record_short '*isb counter synchronized head fence *'
fi

[ "$failed" -eq 0 ]
