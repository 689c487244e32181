#!/bin/sh
# SPDX-License-Identifier: MIT
# Lower never includes higher: every #include "..." in lib/ names a module of the same level or below.
set -u

srcdir=${srcdir:-.}
[ -d "$srcdir/lib" ] || { echo "FAIL: no directory $srcdir/lib"; exit 1; }

cd "$srcdir/lib" || exit 99
awk '
BEGIN {
	split("compiler atomic decimal txtb native", members); assign(0)
	split("clock life modules farmodules shm sysv signals fence", members); assign(1)
	split("ring cpuring names family typelist eventset calls attr objects coverage things", members); assign(2)
	split("record report shown callread callrules callthings callwaits translate registry farregistry registrar segment roster types kin target image logfile bequest trxc txtbfile survey hextext", members); assign(3)
	split("process thread emit point callpoint handle wait stream streamstate streammake streamlog streamresume reader readercheckpoint log logstate logstage logwrite logresume archive logreader foreign flush recover", members); assign(4)
	level["pages"] = 5
	# Seen by all: configure is below every level, the public headers are the standard.
	below["config.h"]; below["trace.h"]; below["trace_ext.h"]
	below["txtb-events.def"]; below["calls.def"] # tables without code
}

function assign(value,   i)
{
	for (i in members)
		level[members[i]] = value
	split("", members)
}

# The level of a file by its name, or -1.
function level_of(name,   stem)
{
	stem = name
	sub(/\.[ch]$/, "", stem)
	if (stem in level)
		return level[stem]
	if (name ~ /^(posix_trace|txtrace)_[a-z_]+\.c$/)
		return 5
	return -1
}

function complain(text)
{
	print "FAIL: lib/" file ":" FNR ": " text
	bad++
}

FNR == 1 {
	files++
	file = FILENAME
	sub(/^\.\//, "", file)
	own = level_of(file)
	if (own < 0)
		complain("this file has no level; give it one in tests/layers.sh")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	name = $0
	sub(/^[^"]*"/, "", name)
	sub(/".*$/, "", name)
	if (name in below)
		next
	includes++
	other = level_of(name)
	if (other < 0)
		complain("includes \"" name "\", which has no level")
	else if (own >= 0 && other > own)
		complain("level " own " includes \"" name "\" of level " other)
}

END {
	print files + 0 " files, " includes + 0 " includes, " bad + 0 " against the order"
	exit bad || !files || !includes
}
' ./*.[ch]
