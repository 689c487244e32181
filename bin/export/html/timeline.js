// SPDX-License-Identifier: MIT
/*
 * The timeline: an axis, and below it a row for each thread, lock, span and counter.  It has the times and the places of
 * the rows.
 */

class Timeline extends Painter {
	/*
	 * callbacks: select(selection), measure(event), range(range), bookmark(mark) and view(), called when the user
	 * selects something, measures to an event, selects a range of time, clicks a bookmark, or changes the view.  A selection
	 * is {event}, {span} or null.
	 */
	constructor(trace, theme, callbacks) {
		super();
		const find = id => document.getElementById(id);

		Object.assign(this, {trace, theme, callbacks});
		this.canvas = find('tracks');
		this.scroller = find('rows');
		this.inner = find('inner');
		this.labels = find('labels');
		this.selection = this.mark = this.hover = this.range = null; // range: two x positions, during a drag
		this.chosen = null; // the range that is selected: {begin, end}
		this.hits = null; // {list, byRow, bits}
		this.rows = new Rows(trace, new Counters(trace));
		this.bookmarks = [];
		this.isStale = true;
		this.strip = new Strip();
		this.kept = document.createElement('canvas'); // what is drawn, without the mouse
		this.full = this.fullView();
		this.view = {...this.full};
		this.overview = new Overview(this);
		this.mouse = new Mouse(this);
		this.scroller.addEventListener('scroll', () => this.dirty());
		new ResizeObserver(() => this.resize()).observe(this.scroller);
		this.resize();
	}

	fullView() {
		const {begin, end} = this.trace;
		const margin = Math.max((end - begin) * 0.02, SPAN_LEAST_NS / 2);

		return {begin: begin - margin, end: end + margin};
	}

	/* Rows. */

	/* Compute the height of the rows: they are higher if there is room. */
	measureRows() {
		const open = this.groups.filter(group => !this.rows.closed.has(group.key)).flatMap(group => group.rows);
		const lanes = row => row.kind === 'counter' ? [0, COUNTER_LANE] : [row.events.length > 0 ? EVENT_LANE : 0,
			row.spans.length === 0 ? 0 : row.kind === 'thread' && this.trace.hasStates ? STATES_LANE : STATE_LANE];
		const fixed = AXIS_HEIGHT + 12 + this.groups.length * GROUP_HEIGHT + open.length * 2 * PADDING;
		const needed = open.reduce((sum, row) => sum + lanes(row)[0] + lanes(row)[1], 1);
		const stretch = Math.min(Math.max((this.scroller.clientHeight - fixed) / needed, 1), STRETCH);

		for (const row of open) {
			[row.lane, row.state] = lanes(row).map(lane => Math.floor(lane * stretch));
			row.height = row.lane + row.state + 2 * PADDING;
		}
	}
	/* Place the rows from the top, and make the labels beside them. */
	layOut() {
		let y = AXIS_HEIGHT;

		this.groups = this.rows.groups();
		this.measureRows();
		this.lines = [];
		this.labels.replaceChildren(this.corner());
		for (const group of this.groups) {
			const isClosed = this.rows.closed.has(group.key);
			const title = make('button', 'group', `${isClosed ? '▸' : '▾'} ${this.rows.titleOf(group)}`);

			title.append(make('span', 'meta', String(group.rows.length)));
			title.onclick = () => this.change(rows => rows.toggleGroup(group.key));
			this.labels.append(title);
			this.lines.push({group, y, height: GROUP_HEIGHT});
			y += GROUP_HEIGHT;
			for (const row of isClosed ? [] : group.rows) {
				this.labels.append(this.rowLabel(row));
				this.lines.push({row, y, height: row.height});
				y += row.height;
			}
		}
		this.inner.style.height = `${y + 12}px`;
		this.dirty();
	}
	/* The order of the threads, the hidden rows, and a menu of fields that can be rows. */
	corner() {
		const {rows} = this;
		const corner = make('div', 'corner'), sort = this.menu('sort', 'Order of the threads', SORTS);
		const show = make('button', '', `show ${rows.hidden.size} hidden`);

		sort.value = rows.sort;
		sort.onchange = () => this.change(() => {
			rows.sort = sort.value;
		});
		show.id = 'show-hidden';
		show.hidden = rows.hidden.size === 0;
		show.title = 'show all rows (H)';
		show.onclick = () => this.change(() => rows.hidden.clear());
		corner.append(sort, show);
		const {fields} = rows.counters;

		if (fields.length > 0)
			corner.append(this.fieldMenu(fields));
		return corner;
	}
	menu(id, label, choices) {
		const menu = make('select');

		menu.id = id;
		menu.setAttribute('aria-label', label);
		menu.title = label;
		for (const [value, text] of choices)
			menu.append(new Option(text, value));
		return menu;
	}
	fieldMenu(fields) {
		const {counters} = this.rows;
		const mark = key => counters.chosen.includes(key) ? '✓ ' : '';
		const menu = this.menu('fields', 'Show a field as a row', [['', '+ field'],
			...fields.map(({key, name}) => [key, mark(key) + name])]);

		menu.onchange = () => this.toggleField(menu.value);
		return menu;
	}
	/* Show a field of a described type as a row, or remove the row. */
	toggleField(key) {
		let row = null;

		this.change(rows => {
			row = rows.counters.toggle(key);
			rows.hidden = new Set([...rows.hidden].filter(other => rows.all.includes(other)));
			rows.pinned = rows.pinned.filter(other => rows.all.includes(other));
			if (row)
				rows.closed.delete(`counter:${row.pid}`);
		});
		if (row)
			this.showRow(row);
	}
	/* Change which rows are shown. */
	change(how) {
		how(this.rows);
		this.layOut();
		this.callbacks.view();
	}
	rowLabel(row) {
		const label = make('div', `label ${row.kind}`);
		const name = make('span', 'name', row.name);
		const isPinned = this.rows.pinned.includes(row);
		const pin = make('button', isPinned ? 'pin is-pinned' : 'pin', '▴'), hide = make('button', 'hide', '×');

		label.style.height = `${row.height}px`;
		label.title = row.tid ? `${row.name}, thread ${row.tid} of process ${row.pid}` : row.name;
		pin.title = isPinned ? 'no longer at the top (p)' : 'keep at the top (p)';
		pin.setAttribute('aria-label', `${isPinned ? 'Unpin' : 'Pin'} ${row.name}`);
		pin.onclick = () => this.change(rows => rows.togglePin(row));
		hide.title = 'hide (h)';
		hide.setAttribute('aria-label', `Hide ${row.name}`);
		hide.onclick = () => this.change(rows => rows.hide(row));
		label.append(name, make('span', 'meta', row.kind === 'thread' ? grouped(row.events.length) :
			row.kind === 'counter' ? `${amount(Math.min(row.least, 0))} … ${amount(Math.max(row.most, 0))}` : ''), pin, hide);
		row.label = label;
		return label;
	}
	lineOf(row) {
		return this.lines.find(line => line.row === row);
	}
	/* Make sure that a row is shown, also if it is hidden or its group is closed. */
	uncover(row) {
		const group = this.rows.groups().find(group => group.rows.includes(row));

		if (this.rows.hidden.has(row) || group && this.rows.closed.has(group.key))
			this.change(rows => {
				rows.hidden.delete(row);
				rows.closed.delete(group ? group.key : `${row.kind}:${row.pid}`);
			});
		this.showRow(row);
	}
	showRow(row) {
		const line = this.lineOf(row);

		if (!line)
			return;
		const top = this.scroller.scrollTop, visible = this.height - AXIS_HEIGHT;

		if (line.y - AXIS_HEIGHT < top || line.y + line.height > top + this.height)
			this.scroller.scrollTop = line.y - AXIS_HEIGHT - visible / 2 + line.height;
	}

	/* Time and x. */

	get scale() {
		return this.width / (this.view.end - this.view.begin);
	}
	x(time) {
		return (time - this.view.begin) * this.scale;
	}
	time(x) {
		return this.view.begin + x / this.scale;
	}

	/* Show [begin, end), as far as it is within the trace. */
	show(begin, end, isSmooth) {
		const widest = this.full.end - this.full.begin;
		const span = Math.min(Math.max(end - begin, SPAN_LEAST_NS), widest);
		const middle = (begin + end) / 2;
		const from = Math.min(Math.max(middle - span / 2, this.full.begin), this.full.end - span);

		this.target = {begin: from, end: from + span};
		const still = matchMedia('(prefers-reduced-motion: reduce)').matches || document.hidden;

		if (!isSmooth || still) {
			this.view = this.target;
			this.origin = null;
		} else {
			this.origin = {...this.view, since: performance.now()};
		}
		this.dirty();
		this.callbacks.view();
	}
	zoom(factor, x = this.width / 2, isSmooth = false) {
		const from = isSmooth && this.origin ? this.target : this.view;
		const time = from.begin + x / this.width * (from.end - from.begin);

		this.show(time - (time - from.begin) * factor, time + (from.end - time) * factor, isSmooth);
	}
	pan(share, isSmooth) {
		const from = isSmooth && this.origin ? this.target : this.view;
		const by = (from.end - from.begin) * share;

		this.show(from.begin + by, from.end + by, isSmooth);
	}
	reset() {
		this.show(this.full.begin, this.full.end, true);
	}
	/* Move a time to the center, unless it is already clearly visible. */
	reveal(time) {
		const from = this.origin ? this.target : this.view;
		const span = from.end - from.begin;

		if (time < from.begin + span * 0.06 || time > from.end - span * 0.06)
			this.show(time - span / 2, time + span / 2, true);
	}

	/* Drawing. */

	/* Draw with the next frame.  isMouse: only the mouse has moved. */
	dirty(isMouse = false) {
		if (!this.isDirty)
			requestAnimationFrame(now => this.frame(now));
		this.isDirty = true;
		this.isStale ||= !isMouse;
	}
	frame(now) {
		this.isDirty = false;
		if (this.origin) {
			const part = Math.min(Math.max((now - this.origin.since) / 160, 0), 1);
			const eased = 1 - (1 - part) ** 3;

			this.view = {begin: this.origin.begin + (this.target.begin - this.origin.begin) * eased,
				end: this.origin.end + (this.target.end - this.origin.end) * eased};
			if (part < 1)
				this.dirty();
			else
				this.origin = null;
		}
		const begin = performance.now();

		if (this.isStale)
			this.overview.draw();
		this.draw();
		this.mouse.stay();
		this.frameTime = performance.now() - begin;
	}
	resize() {
		this.width = Math.max(this.scroller.clientWidth - this.labels.offsetWidth, 100);
		this.height = this.scroller.clientHeight;
		this.canvas.style.width = `${this.width}px`;
		this.canvas.style.height = `${this.height}px`;
		fit(this.canvas, this.width, this.height);
		this.overview.resize();
		this.layOut();
	}
}
