#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh [--graph]: the folders of each tree stand in an order, and a file includes its own folder and folders
# before it. A quoted #include names the folder: "ring/ring.h". Files in the root of a tree come first, a main.c last.
# --graph prints which folder includes which, and how often.
set -u

srcdir=${srcdir:-.}
LC_ALL=C
export LC_ALL
graph=no
case ${1:-} in
'') ;;
--graph) graph=yes ;;
*) echo 'usage: layers.sh [--graph]' >&2; exit 2 ;;
esac

# A tree, and its folders in order; "." is the root of the tree.
orders='
lib base txtb fields event ring sched registry calls trace log stream api
bin base input extract cli trace trx waits report diff check capture live sql export cmd
babeltrace2 .
threadx .
preload . standalone wrap
tests support tree base txtb fields event ring registry calls log stream api process stress threadx tool cpp python babeltrace2 preload oracle board fuzz vm
'

failed=0

# check TREE ORDER: check the include lines of all files in the tree against its order
check()
{
	tree=$1
	[ -d "$srcdir/$tree" ] || { echo "FAIL: no directory $srcdir/$tree"; return 1; }
	(cd "$srcdir/$tree" &&
		find . -name '*.[ch]' ! -name '*.pb-c.[ch]' | sort |
		xargs awk -v tree="$tree" -v order="$2" -v graph="$graph" '
	BEGIN {
		n = split(order, folders)
		for (i = 1; i <= n; i++)
			level[folders[i]] = i
		level["main.c"] = n + 1
		# Files that each file may include: what configure and the build make, and the public headers.
		seen["config.h"]; seen["trace.h"]; seen["trace_ext.h"]; seen["txtrace_types.h"]; seen["tx_trace_posix.h"]; seen["export/perfetto.pb-c.h"]
	}

	function complain(text)
	{
		print "FAIL: " tree "/" file ":" FNR ": " text
		bad++
	}

	# Return the first folder of a path that has a level; return "" if none has.
	function folder_of(path,   at)
	{
		if (path == "main.c")
			return path
		at = index(path, "/")
		return at ? substr(path, 1, at - 1) : "."
	}

	FNR == 1 {
		files++
		file = FILENAME
		sub(/^\.\//, "", file)
		folder = folder_of(file)
		if (!(folder in level))
			complain("the folder " folder " is not in the order in tests/tree/layers.sh")
	}

	/^[ \t]*#[ \t]*include[ \t]*"/ {
		name = $0
		sub(/^[^"]*"/, "", name)
		sub(/".*$/, "", name)
		if (name in seen)
			next
		includes++
		# A file of another tree: a table of facts, or a lower tree, which is complete below this one.
		if (name ~ /^\.\.\/(lib|preload)\//) {
			edges[folder " -> " substr(name, 4)]++
			next
		}
		other = folder_of(name)
		if (!(other in level) || (getline line <name) < 0) {
			below = tree_of(name)
			if (below == "")
				complain("includes \"" name "\", which is no file of a folder in the order")
			else
				edges[folder " -> " below "/" other]++
			next
		}
		close(name)
		edges[folder " -> " other]++
		if (level[other] > level[folder])
			complain(folder " includes \"" name "\", which is above it")
	}

	# preload includes headers of all of lib, and tests those of lib, preload and bin.
	function tree_of(name,   i, trees, path, line)
	{
		split(tree == "lib" || tree == "bin" ? "" : tree == "tests" ? "lib threadx preload bin" : tree == "babeltrace2" ? "bin" : "lib", trees, " ")
		for (i = 1; i in trees; i++) {
			path = "../" trees[i] "/" name
			if ((getline line <path) >= 0) {
				close(path)
				return trees[i]
			}
		}
		return ""
	}

	END {
		if (graph == "yes")
			for (edge in edges)
				print tree ": " edge " " edges[edge] | "sort"
		close("sort")
		print tree ": " files + 0 " files, " includes + 0 " includes, " bad + 0 " against the order"
		exit bad || !files || !includes
	}')
}

while read -r tree order; do
	[ -n "$tree" ] || continue
	check "$tree" "$order" || failed=1
done <<END
$orders
END
exit $failed
