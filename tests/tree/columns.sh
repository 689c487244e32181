#!/bin/sh
# SPDX-License-Identifier: MIT
# A line of C or python has at most 120 columns, with a tab to each eighth column.  Scripts for the shell are left out:
# they hold programs for awk, patterns and expected output, which cannot be folded.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL

cd "$srcdir" || exit 99
find babeltrace2 bench bin examples include lib preload python tests -type f \
	\( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.py' \) \
	! -name '*.pb-c.[ch]' | sort |
	xargs awk -v most=120 '
	function width(line,   parts, n, i, column)
	{
		n = split(line, parts, "\t")
		for (i = 1; i < n; i++)
			column = int((column + length(parts[i])) / 8 + 1) * 8
		return column + length(parts[n])
	}

	FNR == 1 {
		files++
	}
	width($0) > most {
		print "FAIL: " FILENAME ":" FNR ": " width($0) " columns"
		bad++
	}
	END {
		print files " files, " bad + 0 " lines of more than " most " columns"
		exit bad || files < 500
	}'
