// SPDX-License-Identifier: MIT
/* The trace: rows for threads and locks, with their events and spans. */

class Trace extends Calls {
	constructor(facts) {
		super(facts);
		this.end = Math.max(facts.end, 0);
		this.begin = 0;
		this.gaps = [];
		this.hasStates = false;
		this.waits = [];
	}

	/* Reading. */

	/* Read the blocks.  Between them, call progress(share read) and let the browser draw. */
	async read(progress) {
		const blocks = [...document.querySelectorAll('script.events')];
		const spans = [...document.querySelectorAll('script.spans')];
		const last = {time: 0, number: 0, data: this.facts.sites.map(() => new Uint8Array(KEPT_DESCRIBED_BYTES))};

		for (const [i, block] of blocks.entries()) {
			this.readEvents(new Reader(block), last);
			if (i % 4 === 3) {
				progress(this.nrRead / this.n);
				await new Promise(go => setTimeout(go));
			}
		}
		this.view = new DataView(this.pool.array.buffer);
		this.begin = this.n > 0 ? this.time.reduce((least, time) => Math.min(least, time)) : 0;
		this.makeSeek();
		this.makeRows();
		const state = {begin: 0};

		spans.forEach(block => this.readSpans(new Reader(block), state));
		this.splitLocks();
		this.sortRows();
		this.why = new Map(this.facts.why.map(([context, begin, lines]) => [`${context}:${begin}`, lines]));
	}

	/* Return the lines of txtrace why for a wait, or undefined if the page does not have them. */
	whyOf(span) {
		return span.kind === KIND.WAIT ? this.why.get(`${span.row.context}:${span.begin}`) : undefined;
	}
	/* Return the span that a line of txtrace why is about, or null. */
	spanOfStep([, , context, object, from, until]) {
		const isIt = span => span.begin <= from && span.end >= until;
		const lists = object ? this.rows.filter(row => row.kind === 'lock' && row.context === object)
			.map(row => row.spans[KIND.LOCK]) : [this.rowOf.get(`thread:${context}`)?.spans[KIND.WAIT]];

		return until > from ? lists.flatMap(list => list ?? []).find(isIt) ?? null : null;
	}

	/* Rows. */

	row(kind, context, pid) {
		const key = context === 0 ? `${kind}:0:${pid}` : `${kind}:${context}`;
		let row = this.rowOf.get(key);

		if (row)
			return row;
		const object = kind === 'span' ? undefined : this.objects.get(context);

		row = {key, kind, context, pid: object && object.pid ? object.pid : pid, tid: object ? object.tid : 0,
			name: this.rowName(context, object), events: [], spans: [], waitTime: 0, runTime: 0, readyTime: 0, blockedTime: 0};
		this.rowOf.set(key, row);
		this.rows.push(row);
		return row;
	}

	contextName(context) {
		return this.rowName(context, this.objects.get(context));
	}
	rowName(context, object) {
		if (context === INTERRUPT)
			return 'interrupt';
		if (context === INITIALIZE)
			return 'initialization';
		if (context === 0)
			return 'no thread';
		return object ? object.name : hex(context, 8);
	}

	/* Make a row for each thread with events, and find the events of each row and of each type. */
	makeRows() {
		this.rows = [];
		this.rowOf = new Map();
		this.originRow = this.facts.origins.map(([context, pid]) => this.row('thread', context, pid));
		const places = this.originRow.map(row => this.rows.indexOf(row));

		this.eventRow = new Uint32Array(this.n);
		const counts = new Uint32Array(this.rows.length);

		for (let i = 0; i < this.n; i++)
			counts[this.eventRow[i] = places[this.origin[i]]]++;
		this.split(this.rows, counts, i => this.eventRow[i]);
		const typeCounts = new Uint32Array(this.types.length);

		for (let i = 0; i < this.n; i++)
			typeCounts[this.type(i)]++;
		this.split(this.types, typeCounts, i => this.type(i));
	}

	/* The rows of threads, without interrupts, initialization and "no thread". */
	threads() {
		return this.rows.filter(row => row.kind === 'thread' &&
			row.context !== INTERRUPT && row.context !== INITIALIZE && row.context !== 0);
	}

	/*
	 * Give each member of the list its events.  counts has the number of events of each member.  which(i) returns
	 * the member for event i.
	 */
	split(list, counts, which) {
		list.forEach((one, k) => {
			one.events = new Uint32Array(counts[k]);
			counts[k] = 0;
		});
		for (let i = 0; i < this.n; i++) {
			const k = which(i);

			list[k].events[counts[k]++] = i;
		}
	}

	readSpans(reader, state) {
		while (!reader.isAtEnd) {
			const coded = reader.number(), kind = coded & 7, context = reader.number(), pid = reader.signed();
			const begin = state.begin += reader.signed();
			const end = begin + reader.number();
			const span = {kind, begin, end, name: this.facts.names[reader.number()],
				holder: this.facts.names[reader.number()], waker: reader.number()};

			if (kind === KIND.WAIT)
				span.waitClass = coded >> 3;

			if (kind === KIND.LOSS) {
				this.gaps.push(span);
				continue;
			}
			span.row = this.row(kind === KIND.LOCK ? 'lock' : kind === KIND.SPAN ? 'span' : 'thread', context, pid);
			if (kind === KIND.SPAN)
				span.row.name = span.name;
			(span.row.spans[kind] ??= []).push(span);
			if (kind === KIND.WAIT) {
				span.row.waitTime += end - begin;
				this.waits.push(span);
			}
			if (kind === KIND.RUN)
				span.row.runTime += end - begin;
			if (kind === KIND.READY)
				span.row.readyTime += end - begin;
			if (kind === KIND.BLOCKED)
				span.row.blockedTime += end - begin;
			this.hasStates ||= kind === KIND.READY || kind === KIND.BLOCKED;
		}
	}

	/*
	 * A lock that several threads hold at a time has a row for each of them, so that no span covers another.  So it is
	 * for spans of the program.
	 */
	splitLocks() {
		for (const row of this.rows.filter(row => row.spans[KIND.LOCK] || row.spans[KIND.SPAN])) {
			const kind = row.kind === 'lock' ? KIND.LOCK : KIND.SPAN;
			const spans = row.spans[kind].sort((a, b) => a.begin - b.begin);
			const lanes = [{row, end: -Infinity}];

			row.spans[kind] = [];
			for (const span of spans) {
				let lane = lanes.find(lane => lane.end <= span.begin);

				if (!lane) {
					const nr = lanes.length + 1;

					lane = {row: {...row, key: `${row.key}:${nr}`, name: `${row.name} (${nr})`, spans: []}};
					lane.row.spans[kind] = [];
					lanes.push(lane);
					this.rows.push(lane.row);
				}
				lane.end = span.end;
				lane.row.spans[kind].push(span);
				span.row = lane.row;
			}
		}
	}

	/* Sort by process.  In a process: interrupts and initialization, threads, "no thread", locks, spans. */
	sortRows() {
		const rank = row => row.kind === 'span' ? 4 : row.kind === 'lock' ? 3 : row.context === INTERRUPT || row.context === INITIALIZE ? 0 :
			row.context === 0 ? 2 : 1;
		const isMain = row => row.tid !== 0 && row.tid === row.pid;
		const old = this.rows.slice();

		this.rows.sort((a, b) => a.pid - b.pid || rank(a) - rank(b) || isMain(b) - isMain(a) ||
			byName(a.name, b.name) || a.context - b.context);
		const place = old.map(row => this.rows.indexOf(row));

		this.eventRow = this.eventRow.map(row => place[row]);
		this.rows.forEach(row => row.spans.forEach(list => list.sort((a, b) => a.begin - b.begin)));
		this.gaps.sort((a, b) => a.begin - b.begin);
		this.waits.sort((a, b) => a.begin - b.begin);
	}
}
