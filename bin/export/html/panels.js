// SPDX-License-Identifier: MIT
/* The part below the timeline: the table of events, the statistics, and the details of the selection. */

const LINE = 22;		// height of a line of the table
const TALLEST = 8000000;	// height that browsers allow for an element, in pixels

/* The table of events.  The table has only the visible lines, and makes them again when the user scrolls. */
class EventTable {
	constructor(trace, theme, callbacks) {
		Object.assign(this, {trace, theme, callbacks});
		this.box = document.getElementById('events');
		this.body = document.getElementById('lines');
		this.space = document.getElementById('space');
		this.list = null; // the events that the table shows; null: all
		this.selected = null;
		this.box.addEventListener('scroll', () => this.scrolled());
		this.box.addEventListener('wheel', event => this.wheel(event), {passive: false});
		this.body.addEventListener('click', event => this.click(event));
		new ResizeObserver(() => this.draw()).observe(this.box);
		this.setList(null);
	}
	get length() {
		return this.list ? this.list.length : this.trace.n;
	}
	event(k) {
		return this.list ? this.list[k] : k;
	}
	get visible() {
		return Math.max(Math.floor((this.box.clientHeight - LINE) / LINE), 1);
	}
	get last() {
		return Math.max(this.length - this.visible, 0);
	}
	setList(list) {
		this.list = list;
		this.first = 0;
		this.space.style.height = `${Math.min((this.length + 1) * LINE, TALLEST)}px`;
		if (this.selected === null)
			this.draw();
		else
			this.show(this.selected);
	}
	/*
	 * True if all lines together are higher than an element can be.  Then the scroll position is a share of all
	 * lines.
	 */
	get isScaled() {
		return (this.length + 1) * LINE > TALLEST;
	}
	get ratio() {
		const range = this.box.scrollHeight - this.box.clientHeight;

		return range > 0 ? this.last / range : 0;
	}
	scrolled() {
		const top = this.box.scrollTop;

		if (this.isScaled) {
			if (Math.abs(top - this.expectedTop) > 1)
				this.first = Math.round(top * this.ratio);
		} else {
			this.first = Math.round(top / LINE);
		}
		this.draw();
	}
	wheel(event) {
		if (!this.isScaled)
			return;
		event.preventDefault();
		this.goTo(this.first + Math.round(event.deltaY / LINE) || this.first + Math.sign(event.deltaY));
	}
	goTo(first) {
		this.first = Math.min(Math.max(first, 0), this.last);
		this.expectedTop = this.isScaled ? this.first / (this.ratio || 1) : this.first * LINE;
		this.box.scrollTop = this.expectedTop;
		this.draw();
	}
	/* Scroll to an event, or to the next event of the list if the list does not have it. */
	show(i) {
		const k = lowerBound(at => this.event(at), i, 0, this.length);

		this.selected = i;
		if (k < this.first + 1 || k >= this.first + this.visible - 1)
			this.goTo(k - Math.floor(this.visible / 2));
		else
			this.draw();
	}
	draw() {
		const lines = [];
		const to = Math.min(this.first + this.visible + 2, this.length);

		for (let k = this.first; k < to; k++)
			lines.push(this.line(this.event(k)));
		if (this.length === 0)
			lines.push(make('p', 'nothing', this.list ? 'No event matches.' : 'There are no events.'));
		this.body.replaceChildren(...lines);
	}
	line(i) {
		const {trace} = this;
		const line = make('div', 'line');
		const previous = trace.previousInRow(i);
		const name = make('span', 'event', trace.typeOf(i).name);

		line.dataset.event = i;
		line.setAttribute('role', 'row');
		line.classList.toggle('chosen', i === this.selected);
		line.classList.toggle('hit', Boolean(this.bits && this.bits[i] && !this.list));
		name.style.setProperty('--hue', this.theme.typeColor(trace.type(i)));
		line.append(make('span', 'number', grouped(trace.number[i])), make('span', 'number', seconds(trace.time[i])),
			make('span', 'number dim', previous === undefined ? '' : `+${brief(trace.time[i] - trace.time[previous])}`),
			make('span', 'number dim', String(trace.cpu[i])), make('span', 'thread', trace.rowOfEvent(i).name),
			name, make('span', 'data', trace.dataText(i)));
		return line;
	}
	click(event) {
		const line = event.target.closest('.line');

		if (line && (event.ctrlKey || event.metaKey))
			this.callbacks.measure(Number(line.dataset.event));
		else if (line)
			this.callbacks.select({event: Number(line.dataset.event)});
	}
}

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

function typeTable(trace, theme, callbacks) {
	const types = trace.types.filter(type => type.events.length > 0);
	const place = new Map(trace.types.map((type, k) => [type, k]));

	return new StatTable([
		['event', type => type.name, (name, type) => {
			const label = make('span', 'event', name);

			label.style.setProperty('--hue', theme.typeColor(place.get(type)));
			return label;
		}, true],
		['events', type => type.events.length, grouped],
		['share', type => type.events.length, number => share(number, trace.n)],
		['first, s', type => trace.time[type.events[0]], asTime],
		['last, s', type => trace.time[type.events.at(-1)], asTime],
	], types, type => callbacks.query(`event:"${type.name}"`), 'There are no events.');
}

function threadTable(trace, callbacks) {
	const rows = trace.rows.filter(row => row.kind === 'thread');
	const hasRuns = rows.some(row => row.runTime > 0);
	const duration = trace.end - trace.begin;

	return new StatTable([
		['thread', row => row.name, null, true],
		...trace.facts.foreign ? [] : [['pid', row => row.pid, String], ['tid', row => row.tid, String]],
		['events', row => row.events.length, grouped],
		['share', row => row.events.length, number => share(number, trace.n)],
		...hasRuns ? [['runs', row => row.runTime, brief], ['of the time', row => row.runTime, time => share(time, duration)]] : [],
		...trace.hasStates ? [['ready', row => row.readyTime, brief], ['blocked', row => row.blockedTime, brief]] : [],
		['waits', row => row.nrWaits, grouped],
		['waited', row => row.waitTime, time => time > 0 ? brief(time) : ''],
	], rows, row => callbacks.row(row), 'There are no threads.');
}

/* The waits of all threads, by the object that they wait for. */
function waitTable(trace, callbacks) {
	const byWhat = new Map();

	for (const wait of trace.waits) {
		const length = wait.end - wait.begin;
		const one = byWhat.get(wait.name) ?? {name: wait.name, count: 0, total: 0, longest: wait};

		one.count++;
		one.total += length;
		if (length > one.longest.end - one.longest.begin)
			one.longest = wait;
		byWhat.set(wait.name, one);
	}
	const most = one => one.longest.end - one.longest.begin;

	return new StatTable([
		['what', one => one.name, null, true],
		['waits', one => one.count, grouped],
		['in all', one => one.total, brief],
		['on average', one => one.total / one.count, brief],
		['the longest', most, brief],
		['thread of the longest', one => one.longest.row.name, null, true],
		['held by', one => one.longest.holder, null, true],
	], [...byWhat.values()], one => callbacks.select({span: one.longest}), 'No event records a wait.');
}

function gapTable(trace, callbacks) {
	return new StatTable([
		['from, s', gap => gap.begin, asTime],
		['until, s', gap => gap.end, asTime],
		['length', gap => gap.end - gap.begin, brief],
	], trace.gaps, gap => callbacks.select({span: gap}), 'There is no gap in this trace.', false);
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
		['lost', lost === 0 ? 'nothing' :
			`${grouped(facts.overwritten)} overwritten, ${grouped(facts.dropped)} dropped, ${grouped(facts.abandoned)} abandoned`],
		facts.complete ? null :
			['complete', 'no: ' + facts.incomplete],
		facts.overrun ? ['log', 'incomplete: not all recorded events are in it'] : null,
		['page by', `txtrace ${facts.version}`],
	];
	const list = make('dl', 'facts');

	for (const row of rows.filter(row => row && row[1]))
		list.append(make('dt', '', row[0]), make('dd', '', row[1]));
	return list;
}

/* Details of the selection. */
class Details {
	constructor(trace, theme, callbacks) {
		Object.assign(this, {trace, theme, callbacks});
		this.box = document.getElementById('details');
		this.show(null, null);
	}
	show(selection, mark) {
		const parts = !selection ? this.nothing() : selection.span ? this.span(selection.span) :
			this.event(selection.event, mark);

		this.box.replaceChildren(...parts);
	}
	nothing() {
		const hint = make('p', 'nothing', 'Click an event or a bar to see what it is. ');
		const key = make('kbd', '', '?');

		hint.append(key, ' shows the keys.');
		return [hint];
	}
	list(rows) {
		const list = make('dl', 'facts');

		for (const [label, text, id] of rows.filter(row => row)) {
			const value = make('dd', '');

			value.append(text);
			if (id)
				value.id = `is-${id}`;
			list.append(make('dt', '', label), value);
		}
		return list;
	}
	event(i, mark) {
		const {trace} = this;
		const title = make('h2', 'event', trace.typeOf(i).name);

		title.style.setProperty('--hue', this.theme.typeColor(trace.type(i)));
		title.id = 'is-event';
		return [title, this.steps(i), this.list(this.times(i, mark)), ...this.data(i), make('h3', '', 'Origin'),
			this.list(this.origin(i))];
	}
	times(i, mark) {
		const {trace} = this;
		const previous = trace.previousInRow(i);

		return [
			mark !== null && mark !== i ?
				['from the mark', `${asTime(trace.time[i] - trace.time[mark])} s`, 'measure'] : null,
			['number', String(trace.number[i]), 'number'],
			['time', `${seconds(trace.time[i])} s`, 'time'],
			['in its thread', previous === undefined ? 'the first' :
				`${asTime(trace.time[i] - trace.time[previous])} s after the previous event`, 'delta'],
			trace.facts.foreign ? null : ['clock', clock(trace.facts, trace.time[i]), 'clock'],
			['thread', trace.rowOfEvent(i).name, 'thread'],
			['CPU', String(trace.cpu[i]), 'cpu'],
		];
	}
	origin(i) {
		const {trace} = this;
		const [context, pid, priority] = trace.facts.origins[trace.origin[i]];
		const address = trace.facts.sites[trace.site[i]][1];

		return [
			['context', hex(context, 8), 'context'],
			['pid', String(pid), 'pid'],
			['priority', priority < 0 ? 'unknown' : String(priority), 'priority'],
			['type', String(trace.typeOf(i).id), 'type'],
			['address', address, 'address'],
		];
	}
	/* Buttons for the previous and next event of the thread, of the type, and among the hits. */
	steps(i) {
		const box = make('div', 'steps');

		for (const [kind, text] of [['thread', 'thread'], ['type', 'type'], ['hit', 'hit']]) {
			const group = make('span', 'step');

			for (const [step, arrow, what] of [[-1, '‹', 'previous'], [1, '›', 'next']]) {
				const button = make('button', '', arrow);

				button.title = `${what} ${kind === 'hit' ? 'hit' : `event of this ${text}`}`;
				button.disabled = this.callbacks.neighbour(i, kind, step) === undefined;
				button.onclick = () => this.callbacks.step(kind, step);
				group.append(button);
				if (step === -1)
					group.append(make('span', '', text));
			}
			box.append(group);
		}
		return box;
	}
	data(i) {
		const {trace} = this;
		const words = trace.callFields(i) ?? trace.words(i) ?? describedFields(trace, i);
		const size = trace.size[i];
		const parts = [make('h3', '', `Data, ${count(size, 'byte')}`)];

		if (trace.facts.filters[trace.number[i]])
			parts.push(make('p', 'plain', trace.plainData(i)));
		else if (words && words.length > 0)
			parts.push(this.words(words));
		if (size > 0)
			parts.push(this.dump(i));
		if (trace.isCut(i))
			parts.push(make('p', 'note', 'The data was truncated when it was recorded.'));
		if (size > trace.keptSize(i))
			parts.push(make('p', 'note', `The page has the first ${trace.keptSize(i)} bytes; txtrace print has all.`));
		return parts;
	}
	words(words) {
		const table = make('table', 'words');

		for (const {label, word, value, text, object} of words) {
			const row = make('tr');
			const shown = text ?? (word < 65536 ? String(word) : '');
			const number = typeof value === 'bigint' ? BigInt.asUintN(64, value).toString(16) : null;

			row.append(make('th', '', label), make('td', '', object ? object.name : shown),
				make('td', 'hex', word !== undefined ? `0x${hex(word, 8)}` : number ? `0x${number}` : ''));
			table.append(row);
		}
		return table;
	}
	/* Return a hex dump with sixteen bytes in each line, and the printable characters. */
	dump(i) {
		const bytes = this.trace.data(i);
		const lines = [];

		for (let at = 0; at < bytes.length; at += 16) {
			const line = [...bytes.subarray(at, at + 16)];
			const digits = line.map((byte, k) => (k > 0 && k % 4 === 0 ? ' ' : '') + HEX[byte]).join('');

			lines.push(`${hex(at, 2)}  ${digits.padEnd(35)}  ${
				line.map(byte => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·').join('')}`);
		}
		return make('pre', 'dump', lines.join('\n'));
	}
	span(span) {
		const show = make('button', 'wide', 'Zoom to it');
		const {trace} = this;
		const first = span.row ? trace.nearest(span.row.events, span.begin) : trace.firstAt(span.begin);

		show.onclick = () => this.callbacks.zoomTo(span.begin, span.end);
		const parts = [make('h2', '', spanTitle(span)), this.list([
			['length', `${asTime(span.end - span.begin)} s`, 'length'],
			['from', `${asTime(span.begin)} s`], ['until', `${asTime(span.end)} s`],
			span.row ? [span.row.kind, span.row.name] : null,
			span.holder ? ['held by', span.holder] : null,
			span.waker ? ['woken by', trace.contextName(span.waker), 'woken-by'] : null,
		]), show];

		const waker = span.waker ? trace.rowOf.get(`thread:${span.waker}`) : undefined;
		const woke = waker ? trace.lastUntil(waker.events, span.end) : undefined;

		if (first !== undefined) {
			const event = make('button', 'wide', 'Select its first event');

			event.onclick = () => this.callbacks.select({event: first});
			parts.push(event);
		}
		if (woke !== undefined) {
			const event = make('button', 'wide', 'Select the last event of its waker');

			event.onclick = () => this.callbacks.select({event: woke});
			parts.push(event);
		}
		return parts;
	}
}
