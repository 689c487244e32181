// SPDX-License-Identifier: MIT
/*
 * Numbers of events as rows: the fill level that an event of ThreadX has for its object, such as the messages in a
 * queue, the messages that a program sent to a POSIX message queue less those that it received, and any number field of
 * a described event type.  The row shows the value of each event until the next event.
 */

const MEASURES = {enqueued: 'messages', current_count: 'count', remaining_blocks: 'free blocks',
	available_bytes: 'free bytes', available_packets: 'free packets'};
const BALANCED = {mq_send: 1, mq_timedsend: 1, mq_receive: -1, mq_timedreceive: -1};
const MINMAX = 64; // events between two entries of the lists of extremes

class Counter {
	/* events: indexes of events, in their order; values: a value for each of them */
	constructor(key, name, pid, events, values) {
		Object.assign(this, {key: `counter:${key}`, name, pid, events, values});
		this.kind = 'counter';
		this.spans = [];
		this.waitTime = this.runTime = this.tid = 0;
		this.context = -1;
		this.low = new Float64Array(Math.ceil(values.length / MINMAX));
		this.high = new Float64Array(this.low.length);
		for (let block = 0; block < this.low.length; block++)
			[this.low[block], this.high[block]] = this.scan(block * MINMAX,
				Math.min((block + 1) * MINMAX, values.length));
		[this.least, this.most] = this.extremes(0, values.length);
	}
	scan(from, to) {
		let low = Infinity, high = -Infinity;

		for (let k = from; k < to; k++) {
			low = Math.min(low, this.values[k]);
			high = Math.max(high, this.values[k]);
		}
		return [low, high];
	}
	/* Return the least and the largest value of [from, to).  The time depends little on the number of values. */
	extremes(from, to) {
		const first = Math.ceil(from / MINMAX), last = Math.floor(to / MINMAX);

		if (first >= last)
			return this.scan(from, to);
		let [low, high] = this.scan(from, first * MINMAX);
		const [lowEnd, highEnd] = this.scan(last * MINMAX, to);

		for (let block = first; block < last; block++) {
			low = Math.min(low, this.low[block]);
			high = Math.max(high, this.high[block]);
		}
		return [Math.min(low, lowEnd), Math.max(high, highEnd)];
	}
}

class Counters {
	constructor(trace) {
		this.trace = trace;
		this.rows = [...this.levels(), ...this.balances()];
		this.chosen = []; // keys of the fields that the user has chosen, as "TYPE.FIELD"
	}
	/* Make a row for each object of ThreadX whose events have its fill level. */
	levels() {
		const {trace} = this;
		const found = new Map();
		const places = trace.types.map(({words}) => words?.[0]?.isObject && words[0].offset === 0 ?
			words.find(({label}) => label in MEASURES) : undefined);

		for (let i = 0; i < trace.n; i++) {
			const place = places[trace.type(i)];
			const handle = place && trace.value(i, 4, 0, false);
			const value = place && trace.value(i, 4, place.offset, false);

			if (!place || handle === null || value === null)
				continue;
			const key = `${handle}:${place.label}`;

			if (!found.has(key))
				found.set(key, {handle, label: place.label, events: new Growing(Uint32Array),
					values: new Growing(Float64Array)});
			found.get(key).events.push(i);
			found.get(key).values.push(value);
		}
		return [...found].map(([key, {handle, label, events, values}]) => {
			const object = trace.objects.get(handle);

			return new Counter(key, `${object ? object.name : hex(handle, 8)}: ${MEASURES[label]}`, object?.pid ?? 0,
				events.done(), values.done());
		}).sort((a, b) => byName(a.name, b.name));
	}
	/*
	 * Make a row for each message queue whose calls were recorded.  What other processes send and receive is not in the
	 * trace, and neither is what was in the queue before: so the row is not called the length of the queue.  If events
	 * were lost, there is no row.
	 */
	balances() {
		const {trace} = this;
		const found = new Map();
		const signs = trace.types.map(({name, fields}) => fields ? BALANCED[name] : undefined);

		for (let i = 0; i < trace.n && trace.gaps.length === 0; i++) {
			const sign = signs[trace.type(i)], [, , handle, phase] = trace.facts.sites[trace.site[i]];

			if (!sign || phase === BEGINS)
				continue;
			const result = trace.fieldValue(i, trace.typeOf(i).fields.find(({name}) => name === 'result'));

			if (result === null || result < 0n || !trace.objects.has(handle))
				continue;
			if (!found.has(handle))
				found.set(handle, {total: 0, events: new Growing(Uint32Array), values: new Growing(Float64Array)});
			const queue = found.get(handle);

			queue.events.push(i);
			queue.values.push(queue.total += sign);
		}
		return [...found].map(([handle, {events, values}]) => {
			const {name, pid} = trace.objects.get(handle);

			return new Counter(`${handle}:balance`, `${name}: sent − received`, pid, events.done(), values.done());
		}).sort((a, b) => byName(a.name, b.name));
	}
	/* Return the number fields of the described types: {key, name}. */
	get fields() {
		return this.trace.types.flatMap(({id, name}) => (this.trace.facts.fields[id]?.[1] ?? [])
			.filter(([, kind]) => 'uifbe'.includes(kind))
			.map(([path]) => ({key: `${id}.${path}`, name: `${name}: ${path}`})));
	}
	/* Add a row for a field, or remove it.  Return the row, or null. */
	toggle(key) {
		const known = this.rows.find(row => row.key === `counter:${key}`);

		if (known) {
			this.rows = this.rows.filter(row => row !== known);
			this.chosen = this.chosen.filter(other => other !== key);
			return null;
		}
		const row = this.make(key);

		if (row) {
			this.rows = [...this.rows, row];
			this.chosen = [...this.chosen, key];
		}
		return row;
	}
	make(key) {
		const {trace} = this;
		const [, id, path] = key.match(/^(\d+)\.(.*)$/s) ?? [];
		const type = trace.types.find(type => String(type.id) === id);
		const [little, list] = trace.facts.fields[id] ?? [];
		const field = list?.find(([name]) => name === path);
		const events = new Growing(Uint32Array), values = new Growing(Float64Array);

		if (!type || !field)
			return null;
		for (const i of type.events) {
			const found = trace.isDescribed(i) ? fieldValue(trace.data(i), field, little === 1) : null;

			if (found?.value === undefined || !Number.isFinite(Number(found.value)))
				continue;
			events.push(i);
			values.push(Number(found.value));
		}
		return new Counter(key, `${type.name}: ${path}`, 0, events.done(), values.done());
	}
	/* Return the value that the row shows at this time, or null before its first event. */
	valueAt(row, time) {
		const k = lowerBound(at => this.trace.seek[row.events[at]], time + 0.5, 0, row.events.length) - 1;

		return k < 0 ? null : row.values[k];
	}
}
