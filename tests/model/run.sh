#!/bin/sh
# SPDX-License-Identifier: MIT
# Search each configuration of the models completely. Then search the models with a mistake built in: the search has to
# find the mistake, otherwise the model proves nothing. README explains each configuration.
set -u

LC_ALL=C
export LC_ALL
directory=$(cd -- "$(dirname -- "$0")" && pwd) || exit 99
spin=${SPIN:-spin}
command -v "$spin" >/dev/null || { echo "SKIP: spin is missing (Debian: apt-get install spin)"; exit 77; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Name, model, macros. The longest searches come first.
correct='
cpu-leave-loss		ring -DCPU -DLEAVE -DLOSS -DGIVE_UP -DSIZE_0=2 -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1
loop-laps		ring -DEVENTS_0=1 -DEVENTS=4
loop-3			ring -DW=3 -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1
way-around		ring -DEVENTS_0=1 -DEVENTS=1 -DSIZE_0=2 -DKILL -DMAKE_WAY -DTRIES=1
cpu-few-leave		ring -DCPU -DFEW -DSIZE_0=2 -DEVENTS_0=1 -DEVENTS=1 -DLEAVE -DTRIES=1
loop			ring
cpu-few-kill		ring -DCPU -DFEW -DEVENTS_0=1 -DEVENTS=1 -DSIZE_0=2 -DKILL -DTRIES=1
loop-many-kill		ring -DN=4 -DSIZE_0=2 -DSIZE=3 -DEVENTS_0=1 -DKILL -DTRIES=1
bounded-patience	ring -DLIMIT=2 -DEVENTS_0=1 -DPATIENCE -DSKIPS=1 -DKILL
way-kill		ring -DEVENTS_0=1 -DKILL -DMAKE_WAY
bounded-many-kill	ring -DN=4 -DLIMIT=4 -DSIZE_0=2 -DSIZE=3 -DEVENTS_0=1 -DKILL
loop-kill		ring -DKILL -DEVENTS_0=1
cpu-loop		ring -DCPU -DEVENTS_0=1 -DTRIES=1
cpu-way-kill		ring -DCPU -DEVENTS_0=1 -DEVENTS=1 -DKILL -DMAKE_WAY
cpu-loop-kill		ring -DCPU -DEVENTS_0=1 -DEVENTS=1 -DKILL -DTRIES=1
aside-let-go		ring -DLIMIT=2 -DEVENTS_0=1 -DASIDE -DLET_GO -DTRIES=1
cpu-leave		ring -DCPU -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DLEAVE
cpu-leave-held		ring -DCPU -DN=1 -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DLEAVE
cpu-bounded		ring -DCPU -DLIMIT=2 -DEVENTS_0=1
loop-partial		ring -DN=4 -DSIZE=2 -DEVENTS_0=1 -DEVENTS=3 -DTRIES=1
counter			ring -DW=3 -DEVENTS_0=1 -DEVENTS=1 -DCOUNTER -DNO_READER -DTRIES=1
cpu-stop-early		window -DCPU -DEARLY -DEVENTS=1
cpu-loss		ring -DCPU -DSIZE_0=3 -DSIZE=2 -DEVENTS_0=1 -DEVENTS=1 -DLOSS
cpu-bounded-kill	ring -DCPU -DN=1 -DLIMIT=1 -DEVENTS_0=1 -DEVENTS=1 -DKILL -DTRIES=1
bounded-kill		ring -DLIMIT=2 -DEVENTS_0=1 -DKILL
aside-kill		ring -DLIMIT=2 -DEVENTS_0=1 -DEVENTS=1 -DASIDE -DKILL -DTRIES=1
loop-clear		ring -DEVENTS_0=1 -DCLEAR
'

# These have less than two million states.
brief='
loop-many		ring -DN=4 -DSIZE_0=2 -DSIZE=3 -DEVENTS_0=1
loop-overtaken		ring -DSIZE_0=3 -DEVENTS=1 -DTRIES=1
loop-patience		ring -DEVENTS_0=1 -DPATIENCE -DSKIPS=1
bounded			ring -DLIMIT=2
bounded-many		ring -DN=4 -DLIMIT=4 -DSIZE_0=2 -DSIZE=3
bounded-clear		ring -DLIMIT=2 -DEVENTS_0=1 -DCLEAR
aside-loop		ring -DEVENTS_0=1 -DASIDE -DTRIES=1
aside-bounded		ring -DLIMIT=2 -DEVENTS_0=1 -DASIDE -DTRIES=1
aside-many		ring -DLIMIT=2 -DSIZE_0=2 -DEVENTS_0=1 -DEVENTS=1 -DASIDE -DTRIES=1
aside-loss		ring -DEVENTS_0=1 -DEVENTS=1 -DSIZE_0=2 -DASIDE -DLOSS -DTRIES=1
aside-cpu		ring -DCPU -DEVENTS_0=1 -DEVENTS=1 -DASIDE -DLOSS -DTRIES=1
lost			ring -DEVENTS_0=1 -DEVENTS=4 -DSIZE=3 -DTRIES=1 -DLOST -DNO_READER
lost-at-claim		ring -DEVENTS_0=1 -DEVENTS=4 -DSIZE=3 -DTRIES=1 -DLOST -DLOST_AT_CLAIM -DR5 -DNO_READER
marks			ring -DN=1 -DEVENTS_0=1 -DTRIES=1 -DMARKS
leave			ring -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DLEAVE -DPATIENCE
cpu-loop-many		ring -DCPU -DN=4 -DSIZE_0=2 -DSIZE=3 -DEVENTS_0=1 -DEVENTS=1
cpu-few			ring -DCPU -DFEW -DEVENTS_0=1 -DEVENTS=1 -DSIZE_0=2
cpu-few-bounded		ring -DCPU -DFEW -DLIMIT=2 -DEVENTS_0=1 -DEVENTS=1 -DSIZE_0=2
cpu-few-loss		ring -DCPU -DFEW -DSIZE_0=2 -DEVENTS_0=1 -DEVENTS=1 -DLOSS -DTRIES=1
cpu-counter		ring -DCPU -DEVENTS_0=1 -DCOUNTER -DNO_READER -DTRIES=1
cpu-again		ring -DCPU -DAGAIN -DEVENTS_0=1 -DCOUNTER -DNO_READER -DTRIES=1
cpu-stop		window -DCPU -DEVENTS=1
cpu-stop-rings		window -DCPU -DR=2 -DEVENTS=1 -DWINDOWS=1
cpu-stop-early-rings	window -DCPU -DEARLY -DR=2 -DEVENTS=1 -DWINDOWS=1
cpu-stop-again		window -DCPU -DAGAIN -DEVENTS=1
window			window
window-rings		window -DR=2
window-3		window -DW=3 -DEVENTS=1 -DWINDOWS=1
detach			window -DDETACH -DWINDOWS=1
drop			drop
drop-3			drop -DW=3
'

broken='
claim-by-store		ring -DEVENTS_0=1 -DBUG_CLAIM_STORE
claim-over-claimed	ring -DEVENTS_0=1 -DBUG_CLAIM_OVER_CLAIMED
claim-over-newer	ring -DEVENTS_0=1 -DBUG_CLAIM_OVER_NEWER
reserve-by-store	ring -DEVENTS_0=1 -DBUG_RESERVE_STORE
commit-before-data	ring -DEVENTS_0=1 -DBUG_COMMIT_BEFORE_DATA
head-before-more	ring -DN=4 -DLIMIT=4 -DSIZE_0=2 -DSIZE=3 -DBUG_HEAD_BEFORE_MORE
partial-claim-left	ring -DN=4 -DSIZE=2 -DEVENTS_0=1 -DEVENTS=3 -DTRIES=1 -DBUG_PARTIAL_CLAIM
no-skip-note		ring -DBUG_NO_SKIP
no-recheck-of-copy	ring -DBUG_NO_RECHECK
recheck-of-head-only	ring -DSIZE_0=3 -DEVENTS=1 -DTRIES=1 -DBUG_RECHECK_HEAD_ONLY
consume-before-copy	ring -DLIMIT=2 -DBUG_CONSUME_BEFORE_COPY
reclaim-of-living	ring -DBUG_RECLAIM_LIVING
aside-freed		ring -DLIMIT=2 -DEVENTS_0=1 -DASIDE -DBUG_ASIDE_FREES
aside-tail		ring -DLIMIT=2 -DEVENTS_0=1 -DASIDE -DBUG_ASIDE_TAIL
aside-twice		ring -DLIMIT=2 -DEVENTS_0=1 -DASIDE -DBUG_ASIDE_TWICE
aside-claim-revoked	ring -DLIMIT=2 -DEVENTS_0=1 -DASIDE -DBUG_CLAIM_REVOKED
clear-keeps-position	ring -DLIMIT=2 -DEVENTS_0=1 -DCLEAR -DBUG_CLEAR_KEEPS_POSITION
counter-before-head	ring -DW=2 -DEVENTS_0=1 -DEVENTS=1 -DCOUNTER -DNO_READER -DBUG_COUNTER_FIRST
lost-unchecked		ring -DEVENTS_0=1 -DEVENTS=4 -DTRIES=1 -DLOST -DNO_READER -DBUG_LOST_UNCHECKED
lost-at-reserve		ring -DEVENTS_0=1 -DEVENTS=4 -DTRIES=1 -DLOST -DR5 -DNO_READER
way-living		ring -DEVENTS_0=1 -DKILL -DMAKE_WAY -DBUG_WAY_LIVING
way-store		ring -DEVENTS_0=1 -DKILL -DMAKE_WAY -DBUG_WAY_STORE
further-always		ring -DN=1 -DEVENTS_0=1 -DEVENTS=1 -DKILL -DMAKE_WAY -DTRIES=1 -DNO_READER -DBUG_FURTHER_ALWAYS
marks-count-first	ring -DN=1 -DEVENTS_0=1 -DTRIES=1 -DMARKS -DBUG_COUNT_FIRST
extra-first		ring -DCPU -DLEAVE -DLOSS -DGIVE_UP -DSIZE_0=2 -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DBUG_EXTRA_FIRST
further-later		ring -DCPU -DN=4 -DLEAVE -DLOSS -DSIZE_0=4 -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DBUG_FURTHER_LATER
left-stops		ring -DCPU -DLEAVE -DLOSS -DGIVE_UP -DSIZE_0=2 -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DBUG_LEFT_STOPS
left-note-late		ring -DCPU -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DLEAVE -DBUG_LEFT_NOTE_LATE
left-no-skip		ring -DCPU -DN=1 -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DLEAVE -DBUG_LEFT_NO_SKIP
left-running		ring -DCPU -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DLEAVE -DBUG_LEFT_RUNNING
cpu-no-claim-check	ring -DCPU -DN=1 -DEVENTS_0=1 -DBUG_NO_CLAIM_CHECK
cpu-leftover-refused	ring -DCPU -DEVENTS_0=1 -DBUG_LEFTOVER_REFUSED
cpu-head-first		ring -DCPU -DEVENTS_0=1 -DBUG_HEAD_FIRST
cpu-no-restart		ring -DCPU -DEVENTS_0=1 -DBUG_NO_RESTART
cpu-claim-outside	ring -DCPU -DEVENTS_0=1 -DBUG_CLAIM_OUTSIDE
cpu-pass-later		ring -DCPU -DN=1 -DEVENTS=1 -DTRIES=1 -DBUG_PASS_LATER
few-no-claim-check	ring -DCPU -DN=1 -DFEW -DEVENTS_0=1 -DBUG_FEW_NO_CHECK
few-passes		ring -DCPU -DFEW -DEVENTS_0=1 -DEVENTS=1 -DSIZE_0=2 -DBUG_FEW_PASSES
few-head-first		ring -DCPU -DFEW -DEVENTS_0=1 -DEVENTS=1 -DSIZE_0=2 -DBUG_FEW_HEAD_FIRST
few-note-late		ring -DCPU -DFEW -DEVENTS_0=1 -DEVENTS=1 -DTRIES=1 -DLEAVE -DBUG_LEFT_NOTE_LATE
again-unchecked		ring -DCPU -DAGAIN -DEVENTS_0=1 -DEVENTS=1 -DCOUNTER -DNO_READER -DTRIES=1 -DBUG_AGAIN_UNCHECKED
again-head-late		ring -DCPU -DAGAIN -DEVENTS_0=1 -DEVENTS=1 -DCOUNTER -DNO_READER -DTRIES=1 -DBUG_AGAIN_HEAD_LATE
again-state-late	window -DCPU -DAGAIN -DEVENTS=1 -DBUG_AGAIN_STATE_LATE
cpu-early-stays		window -DCPU -DEARLY -DEVENTS=1 -DBUG_EARLY_STAYS
cpu-counter-outside	ring -DCPU -DEVENTS_0=1 -DEVENTS=1 -DCOUNTER -DNO_READER -DBUG_COUNTER_FIRST
cpu-lapped-by-head	ring -DCPU -DEVENTS_0=1 -DBUG_LAPPED_BY_HEAD
cpu-lapped-by-claim	ring -DCPU -DEVENTS_0=1 -DKILL -DBUG_LAPPED_BY_CLAIM
cpu-jump-back		ring -DCPU -DEVENTS_0=1 -DBUG_JUMP_BACK
cpu-loss-late		ring -DCPU -DSIZE_0=3 -DSIZE=2 -DEVENTS_0=1 -DEVENTS=1 -DLOSS -DBUG_LOSS_LATE
cpu-no-fence		window -DCPU -DBUG_NO_FENCE
cpu-fence-first		window -DCPU -DBUG_FENCE_FIRST
no-recheck-of-state	window -DBUG_NO_RECHECK
no-version		window -DBUG_NO_VERSION
start-runs-first	window -DBUG_START_RUNS_FIRST
stop-counter-first	window -DBUG_STOP_COUNTER_FIRST
stop-records-first	window -DBUG_STOP_RECORDS_FIRST
detach-piecewise	window -DDETACH -DWINDOWS=1 -DBUG_DETACH_PIECEWISE
drop-state-first	drop -DBUG_STATE_FIRST
drop-count-first	drop -DBUG_COUNT_FIRST
drop-buffered		drop -DBUG_BUFFERED
'

# search OPTIMIZATION NAME MODEL MACRO...: search in a separate directory; its file "out" contains the output of the
# verifier
search()
{
	optimization=$1
	name=$2
	model=$3
	shift 3
	mkdir "$scratch/$name" && cd "$scratch/$name" || return
	{
		cp "$directory/$model.pml" . &&
			"$spin" "$@" -a "$model.pml" &&
			${CC:-cc} "$optimization" -w -DSAFETY -DCOLLAPSE -DMEMLIM=1900 -o pan pan.c &&
			./pan -m100000
	} >out 2>&1
}

# Results of a search. "errors: 0" is valid only if neither depth nor memory ended the search early.
states()
{
	sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' "$scratch/$1/out"
}

errors()
{
	if grep -qE 'max search depth too small|out of memory|Search not completed' "$scratch/$1/out" &&
		! grep -qE 'errors: [1-9]' "$scratch/$1/out"; then
		echo incomplete
	else
		sed -nE 's/^State-vector.* errors: ([0-9]+)$/\1/p' "$scratch/$1/out"
	fi
}

verdict()
{
	name=$1
	found=$(errors "$name")
	case $2:$found in
	correct:0)
		echo "model $name: $(states "$name") states, 0 errors"
		;;
	broken:[1-9]*)
		echo "model $name: broken on purpose, $(grep -m 1 -oE 'assertion violated|invalid end state' \
			"$scratch/$name/out") found"
		;;
	correct:*)
		echo "FAIL: model $name: ${found:-no verdict}, $(states "$name") states, the output ends:"
		tail -n 40 "$scratch/$name/out"
		touch "$scratch/failed"
		;;
	*)
		echo "FAIL: model $name: broken on purpose, and ${found:-no verdict} errors found"
		tail -n 40 "$scratch/$name/out"
		touch "$scratch/failed"
		;;
	esac
	rm -rf "${scratch:?}/$name"
}

# half FIRST LIST VERDICT OPTIMIZATION: run every second line of the list, from the first or from the second line on: two
# searches run in parallel.
half()
{
	printf '%s' "$2" | grep . | awk -v odd="$1" 'NR % 2 == odd' | while read -r name model macros; do
		# shellcheck disable=SC2086
		(search "$4" "$name" "$model" $macros)
		verdict "$name" "$3"
	done
}

both()
{
	half 1 "$1" "$2" "$3" &
	half 0 "$1" "$2" "$3"
	wait
}

# To optimize a verifier takes three seconds, in which one that is not optimized finds two million states.
both "$correct" correct -O2
both "$brief" correct -O0
both "$broken" broken -O0
[ ! -e "$scratch/failed" ]
