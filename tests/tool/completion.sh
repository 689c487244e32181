#!/bin/sh
# SPDX-License-Identifier: MIT
# Completion of words in bash, fish and zsh.
. "${srcdir:-.}/tests/tool/lib.sh"

own_streams
command -v bash >/dev/null || { echo 'SKIP: there is no bash'; exit 77; }
"$tool" help --completion >"$scratch/completion" || complain 'help --completion fails'
bash -n "$scratch/completion" || complain 'the completion is no script'
mkdir "$scratch/files"
: >"$scratch/files/some.trx"
: >"$scratch/files/a file"
mkdir "$scratch/traces" "$scratch/bin"
ln -s "$tool" "$scratch/bin/txtrace"
PATH=$scratch/bin:$PATH # the completion asks the tool
make_samples
cp "$samples/threadx.trx" "$scratch/traces/board.trx"

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
# Values that may be left out, words that stand for others, and arguments of several kinds.
completes 'bash fish zsh' help --completion =
completes 'fish' help --completion = f
completes 'all waits' record --stacks =
completes 'auto' record --size ''
completes 'a file some.trx' top ''
completes 'a file some.trx' merge -o x ''
# The recorder, which is the next process, must not begin with the same digits but the last one.
until case ${pid:-0} in *9) ;; *) false ;; esac; do
	[ -z "${pid:-}" ] || kill -KILL "$pid"
	"$subject" -w "$scratch/gate" -n 1 &
	pid=$!
done
await_process "$pid"
"$tool" record --quiet -p "$pid" -o "$scratch/log.trx" &
recorder=$!
await_stream "$pid"
completes "$pid" doctor "$pid"
completes 'number' print --columns nu
completes 'number,time' print --columns number,ti
completes 'number,time,thread' print --columns number,time,thr
completes 'ns,event' follow --columns = ns,ev
completes 'mutex' record --events mu
completes 'mutex,-sleep' record --events mutex,-sl
completes '+file' record --events +fi
completes 'some.trx' why s
completes 'timer\ thread' why ../traces/board.trx ti
completes 'sensor' why ../traces/board.trx se
completes '' why some.trx se # no trace
fails 2 'nothing is offered for nonsense, but for columns|groups|threads' help --offer=nonsense
nr_checks=$((nr_checks + 1))
"$tool" help --offer=columns | sort >"$scratch/out"
"$tool" print --columns nonsense "$scratch/traces/board.trx" 2>&1 | sed -e 's/.*there are //' -e 's/,.and data.FIELD//' |
	sed 's/, /\n/g' | sort | cmp -s - "$scratch/out" || complain "the columns are others: $(tr '\n' ' ' <"$scratch/out")"

fails 2 'there is no completion for csh, but for bash|zsh|fish' help --completion=csh
"$tool" help --completion=fish >"$scratch/txtrace.fish" || complain 'help --completion=fish fails'
mkdir "$scratch/zsh"
"$tool" help --completion=zsh >"$scratch/zsh/_txtrace" || complain 'help --completion=zsh fails'

# fish_completes EXPECTED LINE
fish_completes()
{
	nr_checks=$((nr_checks + 1))
	offered=$(cd "$scratch/files" && HOME=$scratch fish -c 'source $argv[1]; complete -C $argv[2]' "$scratch/txtrace.fish" \
		"txtrace $2" 2>&1 | cut -f 1 | sort | tr '\n' ' ')
	[ "$offered" = "$1${1:+ }" ] || complain "fish: 'txtrace $2' is completed by '$offered', not '$1'"
}

if command -v fish >/dev/null; then
	fish_completes 'print' pri
	fish_completes 'record recover' reco
	fish_completes 'append loop until-full' 'record --policy '
	fish_completes '--format=csv --format=json --format=jsonl --format=text' 'print --format='
	fish_completes '--until' 'print --unt'
	fish_completes 'some.trx' 'diff so'
	fish_completes 'some.trx' 'print --output so'
	fish_completes 'recover' 'help recov'
	fish_completes '--columns=number,time' 'print --columns=number,ti'
	fish_completes 'mutex,-sleep' 'record --events mutex,-sl'
	fish_completes 'some.trx' 'why so'
	fish_completes '--stacks=all --stacks=waits' 'record --stacks='
	fish_completes 'auto' 'record --size au'
	fish_completes "$pid" "doctor $pid"
	fish_completes 'timer thread' 'why ../traces/board.trx ti'
else
	echo 'SKIP fish: it is not installed'
fi

# zsh_completes EXPECTED LINE: with one offer, zsh writes it into the line
zsh_completes()
{
	nr_checks=$((nr_checks + 1))
	(cd "$scratch/files" && HOME=$scratch timeout 60 zsh -f -c '
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "PS1=; fpath=($1 \$fpath); autoload compinit; compinit -u -d $1/dump; echo is-\"\"ready"
		zpty -r shell line "*is-ready*"
		zpty -w -n shell "$2"$'"'\\t'"'
		sleep 0.5
		zpty -w shell " #"
		zpty -w shell "echo is-\"\"over"
		while zpty -r shell line; do
			print -r -- $line
			[[ $line == *is-over* ]] && break
		done' zsh "$scratch/zsh" "txtrace $2") >"$scratch/out" 2>&1
	grep -qF -e "txtrace $1" "$scratch/out" || complain "zsh: 'txtrace $2' does not become 'txtrace $1': $(cat "$scratch/out")"
}

if command -v zsh >/dev/null; then
	zsh_completes print pri
	zsh_completes 'print --format=text' 'print --format=te'
	zsh_completes 'record --policy until-full' 'record --policy un'
	zsh_completes 'diff some.trx' 'diff so'
	zsh_completes 'help recover' 'help recov'
	zsh_completes 'print --columns number,thread' 'print --columns number,thr'
	zsh_completes 'record --events mutex,-sleep' 'record --events mutex,-sl'
	zsh_completes 'why some.trx' 'why so'
	zsh_completes 'record --stacks=waits' 'record --stacks=w'
	zsh_completes 'record --size auto' 'record --size a'
	zsh_completes "doctor $pid" "doctor ${pid%?}"
	zsh_completes 'why ../traces/board.trx sensor' 'why ../traces/board.trx se'
else
	echo 'SKIP zsh: it is not installed'
fi
: >"$scratch/gate"
wait "$recorder"
finish
