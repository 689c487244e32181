// SPDX-License-Identifier: MIT
/* The data of scheduling records, as txtrace print shows them: see struct txtrace_sched in <trace_ext.h>. */

const SWITCH_IN = 9, SWITCH_OUT = 10, SCHED_THREAD = 11, SCHED_GAP = 12;
const SCHED_START = 13, SCHED_STOP = 14, CPU_TIME = 15;
const SCHED_STATES = ['not known', 'running', 'ready', 'blocked', 'ended', 'running or ready'];
const SCHED_ENDS = ['stopped', 'the recorder died', 'a CPU came online, whose switches the kernel does not report'];
/* The least number of bytes of each type. */
const SCHED_BYTES = {[SWITCH_IN]: 16, [SWITCH_OUT]: 16, [SCHED_THREAD]: 32, [SCHED_GAP]: 16, [CPU_TIME]: 40};

/* Return null if the event is no scheduling record, or if its data is not valid. */
function schedText(trace, i) {
	const {id} = trace.typeOf(i);
	const word = at => trace.value(i, 4, at, false), long = at => trace.value(i, 8, at, false);
	const name = at => new TextDecoder().decode(trace.data(i).subarray(at, at + 15)).split('\0')[0];
	const state = () => SCHED_STATES[word(12)] ?? SCHED_STATES[0];

	if (trace.facts.foreign || trace.size[i] < (SCHED_BYTES[id] ?? 0))
		return null;
	switch (id) {
	case SWITCH_IN:
		return `tid=${word(0)} cpu=${word(8)}`;
	case SWITCH_OUT:
		return `tid=${word(0)} cpu=${word(8)} state=${state()}`;
	case SCHED_THREAD:
		return `tid=${word(0)} name=${name(16)} state=${state()}`;
	case SCHED_GAP:
		return word(12) === 0 ? `begins cpu=${word(8)}` : `ends cpu=${word(8)} lost=${long(0)}`;
	case SCHED_START:
		return '';
	case SCHED_STOP:
		return SCHED_ENDS[word(0) ?? 0] ?? SCHED_ENDS[0];
	case CPU_TIME:
		return `tid=${word(0)} name=${name(24)} ran_ns=${long(8)} ready_ns=${long(16)}`;
	default:
		return null;
	}
}
