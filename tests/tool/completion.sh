#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion of words in bash.
. "${srcdir:-.}/tests/tool/lib.sh"

command -v bash >/dev/null || { echo 'SKIP: there is no bash'; exit 77; }
"$tool" help --completion >"$scratch/completion" || complain 'help --completion fails'
bash -n "$scratch/completion" || complain 'the completion is no script'
mkdir "$scratch/files"
: >"$scratch/files/some.trx"
: >"$scratch/files/a file"

# completes EXPECTED WORD...: bash completes the last word to this; several offers are on one line, with blanks between
# them
completes()
{
	expected=$1
	shift
	nr_checks=$((nr_checks + 1))
	offered=$(cd "$scratch/files" && bash -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_txtrace
		printf "%s\n" "${COMPREPLY[@]}"' bash "$scratch/completion" txtrace "$@" | sort | tr '\n' ' ')
	[ "$offered" = "$expected${expected:+ }" ] || [ "$offered" = "$expected " ] ||
		complain "'txtrace $*' is completed by '$offered', not '$expected'"
}

completes 'print' pri
completes 'record recover' reco
completes '--help' --h
completes '--until=' print --u
completes 'json jsonl' print --format js
completes 'json jsonl' print --format = js
completes 'csv json jsonl text' print --format =
completes 'append loop until-full' record --policy =
completes 'flush' record --stream-policy fl
completes 'always auto never' list --color ''
completes 'a file some.trx' print ''
completes 'some.trx' print s
completes 'a file some.trx' diff ''
completes 'some.trx' diff some.trx s
completes 'some.trx' print --output s
completes 'some.trx' print -o s
completes 'some.trx' recover so
completes 'some.trx' follow so
completes '' print --filter ''
completes '' list ''
completes 'recover' help recov
completes '' nonsense ''
finish
