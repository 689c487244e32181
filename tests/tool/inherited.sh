#!/bin/sh
# SPDX-License-Identifier: MIT
# A descriptor is the file that the process inherited, also if its parent has closed it or has another file there, and
# after an exec it is none that execve() closed.  The program keeps an account of its writes.
. "${srcdir:-.}/tests/tool/lib.sh"

object=${PRELOAD:-$(pwd)/preload/.libs/libtxtrace-preload.so}
[ -e "$object" ] || { echo "SKIP: $object was not built"; exit 77; }
TXTRACE_DIR=$scratch/shm
TXTRACE_PRELOAD=$object
export TXTRACE_DIR TXTRACE_PRELOAD
log=$scratch/inherited.trx
mkdir "$scratch/files"

# check_files TITLE COMMAND...: the log tells of each write which file it went to, as the program does
check_files()
{
	title=$1
	shift
	nr_checks=$((nr_checks + 2))
	"$@" "$tool" record --preload --inherit --quiet --force -o "$log" tests/tool/inheritors "$scratch/files" \
		>"$scratch/account" 2>"$scratch/err" || complain "$title: record fails: $(cat "$scratch/err")"
	[ "$(wc -l <"$scratch/account")" -ge 40 ] || complain "$title: the account has $(wc -l <"$scratch/account") lines"
	"$tool" print --format jsonl --filter write "$log" | python3 -c '
import json, os, re, sys
for line in sys.stdin:
    event = json.loads(line)
    name = re.sub(r" #[0-9]+$", "", event["data"]["object"])
    print(event["pid"], "?" if name.startswith("file fd ") else os.path.basename(name), event["data"]["size"])
' >"$scratch/told" || complain "$title: print fails"
	sed 's, /.*/, ,' "$scratch/account" | sort >"$scratch/account.sorted"
	sort "$scratch/told" >"$scratch/told.sorted"
	cmp -s "$scratch/account.sorted" "$scratch/told.sorted" ||
		complain "$title: $(diff "$scratch/account.sorted" "$scratch/told.sorted" | head -5)"
}
check_files 'a server with children' env
if taskset 1 true 2>/dev/null; then
	check_files 'the same on one CPU, where children begin late' taskset 1
fi
finish
