// SPDX-License-Identifier: MIT
/* The tables of statistics below the timeline, and the facts of the file. */

/* A table of statistics, sorted by the column that was clicked. */
class StatTable {
	/*
	 * columns: [title, value(row), text(value, row) or null, isLeft].  At first the table is sorted by the first
	 * column without isLeft.  click(row) is called for a click on a row.
	 */
	constructor(columns, rows, click, empty, isDown = true) {
		Object.assign(this, {columns, rows, click, empty, isDown});
		this.by = columns.findIndex(column => !column[3]);
		this.element = make('div', 'stats');
		this.draw();
	}
	/* Sort as another table with the same columns is sorted. */
	sortAs(other) {
		if (!other)
			return;
		Object.assign(this, {by: other.by, isDown: other.isDown});
		this.draw();
	}
	draw() {
		const table = make('table');

		this.sort();
		table.append(this.head(), this.body());
		this.element.replaceChildren(this.rows.length > 0 ? table : make('p', 'nothing', this.empty));
	}
	sort() {
		const value = this.columns[this.by]?.[1];
		const sign = this.isDown ? -1 : 1;

		if (value)
			this.rows.sort((a, b) => sign * (typeof value(a) === 'string' ? byName(value(a), value(b)) : value(a) - value(b)));
	}
	head() {
		const head = make('thead'), row = make('tr');

		this.columns.forEach(([title, , , isLeft], k) => {
			const cell = make('th', isLeft ? 'left' : ''), button = make('button', '', title);

			if (k === this.by)
				cell.setAttribute('aria-sort', this.isDown ? 'descending' : 'ascending');
			button.onclick = () => {
				this.isDown = k === this.by ? !this.isDown : !isLeft;
				this.by = k;
				this.draw();
			};
			cell.append(button);
			row.append(cell);
		});
		head.append(row);
		return head;
	}
	body() {
		const body = make('tbody');

		for (const one of this.rows) {
			const row = make('tr');

			for (const [, value, text, isLeft] of this.columns) {
				const shown = text ? text(value(one), one) : value(one);
				const cell = make('td', isLeft ? 'left' : '');

				cell.append(shown);
				row.append(cell);
			}
			row.tabIndex = 0;
			row.onclick = () => this.click(one);
			row.onkeydown = event => event.key === 'Enter' && this.click(one);
			body.append(row);
		}
		return body;
	}
}

function share(part, whole) {
	const bar = make('span', 'share');
	const percent = whole > 0 ? 100 * part / whole : 0;

	bar.style.setProperty('--share', `${percent}%`);
	bar.append(make('span', '', `${percent.toFixed(1)} %`));
	return bar;
}

const asTime = ns => `${grouped(seconds(ns))}`;

function typeTable(range, theme, callbacks) {
	const {trace} = range;
	const types = trace.types.map((type, place) => ({type, place, part: range.partOf(type.events)}))
		.filter(({part: [from, to]}) => to > from);
	const number = ({part: [from, to]}) => to - from;
	const whole = range.to - range.from;

	return new StatTable([
		['event', ({type}) => type.name, (name, {place}) => {
			const label = make('span', 'event', name);

			label.style.setProperty('--hue', theme.typeColor(place));
			return label;
		}, true],
		['events', number, grouped],
		['share', number, part => share(part, whole)],
		['first, s', ({type, part}) => trace.time[type.events[part[0]]], asTime],
		['last, s', ({type, part}) => trace.time[type.events[part[1] - 1]], asTime],
	], types, ({type}) => callbacks.query(`event:"${type.name}"`), 'There are no events.');
}

function threadTable(range, callbacks) {
	const {trace} = range;
	const rows = trace.rows.filter(row => row.kind === 'thread').map(row => {
		const [runs, ready, blocked, waits] = [KIND.RUN, KIND.READY, KIND.BLOCKED, KIND.WAIT]
			.map(kind => range.sum(row.spans[kind]));

		return {row, number: range.countOf(row.events), runs: runs.total, ready: ready.total, blocked: blocked.total,
			waits: waits.count, waited: waits.total};
	});
	const hasRuns = rows.some(({row}) => row.runTime > 0);
	const whole = range.to - range.from;

	return new StatTable([
		['thread', ({row}) => row.name, null, true],
		...trace.facts.foreign ? [] : [['pid', ({row}) => row.pid, String], ['tid', ({row}) => row.tid, String]],
		['events', ({number}) => number, grouped],
		['share', ({number}) => number, number => share(number, whole)],
		...hasRuns ? [['runs', ({runs}) => runs, brief],
			['of the time', ({runs}) => runs, time => share(time, range.length)]] : [],
		...trace.hasStates ? [['ready', ({ready}) => ready, brief], ['blocked', ({blocked}) => blocked, brief]] : [],
		['waits', ({waits}) => waits, grouped],
		['waited', ({waited}) => waited, time => time > 0 ? brief(time) : ''],
	], rows, ({row}) => callbacks.row(row), 'There are no threads.');
}

/* The waits of all threads, by the object that they wait for. */
function waitTable(range, theme, callbacks) {
	return new StatTable([
		['what', one => one.name, (name, one) => {
			const label = make('span', 'key', name);

			label.style.setProperty('--hue', theme.waits[one.longest.waitClass]);
			return label;
		}, true],
		['waits', one => one.count, grouped],
		['in all', one => one.total, brief],
		['on average', one => one.total / one.count, brief],
		['the longest', one => one.longestLength, brief],
		['thread of the longest', one => one.longest.row.name, null, true],
		['held by', one => one.longest.holder, null, true],
	], range.sumBy(range.trace.waits, wait => wait.name), one => callbacks.select({span: one.longest}),
	range.isAll ? 'No event records a wait.' : 'No wait is in the range.');
}

/* The spans of the program, and the holds of locks, by name. */
function spanTable(range, callbacks) {
	const spans = range.trace.rows.flatMap(row => [...row.spans[KIND.SPAN] ?? [], ...row.spans[KIND.LOCK] ?? []]);
	const nameOf = span => span.kind === KIND.SPAN ? span.name : `${span.row.name.replace(/ \(\d+\)$/, '')} is held`;
	const rows = range.sumBy(spans, nameOf);

	rows.forEach(one => {
		one.lengths = Float64Array.from(one.lengths).sort();
	});
	return new StatTable([
		['what', one => one.name, null, true],
		['times', one => one.count, grouped],
		['in all', one => one.total, brief],
		['median', one => quantile(one.lengths, 0.5), brief],
		['99 %', one => quantile(one.lengths, 0.99), brief],
		['the longest', one => one.longestLength, brief],
	], rows, one => callbacks.select({span: one.longest}),
	'There are no spans of the program and no locks that were held.');
}

function gapTable(range, callbacks) {
	return new StatTable([
		['from, s', gap => gap.begin, asTime],
		['until, s', gap => gap.end, asTime],
		['length', gap => gap.end - gap.begin, brief],
	], range.trace.gaps.filter(gap => range.has(gap)), gap => callbacks.select({span: gap}),
	range.isAll ? 'There is no gap in this trace.' : 'There is no gap in the range.', false);
}

/* Properties of the file. */
function fileFacts(trace) {
	const {facts} = trace;
	const lost = facts.overwritten + facts.dropped + facts.abandoned;
	const rows = [
		['file', facts.file],
		['kind', facts.foreign ? 'ThreadX trace buffer' : 'posixtrace log'],
		facts.foreign ? ['tick', `${facts.tick} ns`] : ['recorded by', facts.recorder],
		facts.foreign ? null : ['first event', trace.n > 0 ? `${clock(facts, 0)}, local time` : ''],
		['duration', `${asTime(trace.end - trace.begin)} s`],
		['events', grouped(facts.events)],
		facts.read > facts.events + facts.leftOut ? ['in the file', `${grouped(facts.read)} at least: the page has only selected events`] : null,
		facts.leftOut > 0 ? ['left out', `${grouped(facts.leftOut)} more: txtrace export --limit`] : null,
		['threads', grouped(trace.threads().length)],
		['objects', grouped(trace.objects.size)],
		facts.logLacks ? ['the log lacks', facts.logLacks] : null,
		facts.missing > 0 ? ['not readable', count(facts.missing, 'event')] : null,
		['lost', lost === 0 ? (facts.logLacks || facts.missing > 0 ? 'nothing else' : 'nothing') :
			`${grouped(facts.overwritten)} overwritten, ${grouped(facts.dropped)} dropped, ${grouped(facts.abandoned)} abandoned`],
		facts.complete ? null :
			['complete', 'no: ' + facts.incomplete],
		['page by', `txtrace ${facts.version}`],
	];
	const list = make('dl', 'facts');

	for (const row of rows.filter(row => row && row[1]))
		list.append(make('dt', '', row[0]), make('dd', '', row[1]));
	return list;
}
