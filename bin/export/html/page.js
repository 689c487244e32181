// SPDX-License-Identifier: MIT
/* The page as a whole: selection, search, and keys. */

const KEYS = [
	['Look around', [['wheel', 'zoom about the mouse'], ['drag', 'move'], ['Shift drag', 'zoom to a range'],
		['double click', 'show all'], ['+  -', 'zoom in, out'], ['w  s', 'zoom in, out'],
		['a  d', 'left, right'], ['←  →', 'left, right'],
		['↑  ↓', 'other rows'], ['f', 'zoom to the selection'], ['0', 'show all']]],
	['Events', [['click', 'select; a wait shows why, and each line leads to its step'],
		['[  ]', 'previous, next of the thread'], [',  .', 'previous, next of the type'],
		['k  j', 'previous, next of all'], ['m', 'set a mark: times are measured from it'],
		['Ctrl click', 'measure from the selected event to this one'],
		['Esc', 'clear the mark, then the range, then the selection, then the search']]],
	['Range and bookmarks', [['drag in the axis', 'select a range: the tables show only it'],
		['r', 'select what is visible, or end the range'], ['b', 'set a bookmark, with a note'],
		['B', 'next bookmark'], ['click a flag', 'go to the bookmark']]],
	['Rows', [['h', 'hide the row of the selection'], ['H', 'show all rows'], ['p', 'keep the row at the top, or not'],
		['o', 'next order of the threads'], ['+ field', 'a menu: show a number field as a row']]],
	['Search', [['/', 'search'], ['n  N', 'next, previous hit'], ['mutex', 'in names of events and threads, in data'],
		['*SEND', 'names that match this pattern'], ['thread:worker* event:*GET', 'both conditions'],
		['object:"queue 0"', 'an object in the data'],
		['time>20ms  cpu=1  u32[4]>7', 'numbers; see txtrace-filter(7)'], ['or  not  ( )', 'combine conditions']]],
	['Page', [['1 … 8', 'choose the tab below'], ['t', 'resize the lower part'], ['?', 'this help']]],
];

const SLICE_MS = 12; // search time between two frames

class Page {
	constructor(trace) {
		const find = id => document.getElementById(id);
		const callbacks = {
			select: selection => this.select(selection), measure: event => this.measure(event),
			view: () => this.address?.note(), query: text => this.setQuery(text), row: row => this.showRow(row),
			step: (kind, step) => this.step(kind, step), neighbour: (i, kind, step) => this.neighbour(i, kind, step),
			zoomTo: (begin, end) => this.zoomTo(begin, end), range: range => this.setRange(range),
			bookmark: mark => this.goToTime(mark.time), bookmarks: () => this.showBookmarks(),
			whyStep: (line, span) => this.showStep(line, span), goToSpan: span => this.goToSpan(span),
			fields: () => this.timeline.rows.counters.fields, field: key => this.timeline.toggleField(key),
		};

		this.trace = trace;
		this.selection = this.mark = this.hits = null;
		this.searches = 0;
		this.range = new Range(trace);
		this.theme = new Theme(trace);
		this.timeline = new Timeline(trace, this.theme, callbacks);
		this.table = new EventTable(trace, this.theme, callbacks);
		this.details = new Details(trace, this.theme, callbacks);
		this.search = find('search');
		this.searchState = find('search-state');
		this.callbacks = callbacks;
		this.bookmarks = new Bookmarks(trace, callbacks);
		this.address = new Address(this);
		this.makeHeader();
		this.makeTabs();
		this.legend = new Legend(trace, this.theme);
		this.makeHelp();
		this.listen();
		this.address.read();
	}

	/* The title and the summary of the file. */
	makeHeader() {
		const {trace} = this, {facts} = trace;
		const chips = document.getElementById('chips');
		const chip = (text, className) => chips.append(make('span', `chip ${className ?? ''}`, text));
		const lost = facts.overwritten + facts.dropped + facts.abandoned + facts.byLog;

		document.title = `${facts.file} · txtrace`;
		document.getElementById('title').textContent = facts.file;
		chip(facts.foreign ? 'ThreadX trace buffer' : 'posixtrace log');
		chip(brief(trace.end - trace.begin));
		chip(count(trace.n, 'event'));
		chip(count(trace.threads().length, 'thread'));
		if (lost > 0)
			chip(`${count(lost, 'event')} lost`, 'bad');
		if (facts.missing > 0)
			chip(`${count(facts.missing, 'event')} not readable`, 'bad');
		if (trace.gaps.length > 0)
			chip(count(trace.gaps.length, 'gap'), 'bad');
		if (!facts.complete)
			chip('the log is not complete', 'bad');
		if (facts.logLacks)
			chip('the log lacks events', 'bad');
		if (facts.leftOut > 0)
			chip(`${grouped(facts.leftOut)} more events are not on this page`, 'bad');
	}

	/* Tabs. */

	makeTabs() {
		const {trace, theme, callbacks} = this;
		this.fill = { // these functions are called when a tab is opened, and when the range changes
			types: () => typeTable(this.range, theme, callbacks), threads: () => threadTable(this.range, callbacks),
			waits: () => waitTable(this.range, theme, callbacks), gaps: () => gapTable(this.range, callbacks),
			spans: () => spanTable(this.range, callbacks), file: () => ({element: fileFacts(trace)}),
		};
		this.filled = new Map(); // key: name of a tab; value: its table

		this.tabs = [...document.querySelectorAll('#tabs [role=tab]')];
		this.tabs.forEach(tab => tab.addEventListener('click', () => this.openTab(tab)));
		document.getElementById('only-hits').addEventListener('change', () => this.listHits());
		document.getElementById('range-end').onclick = () => this.setRange(null);
	}
	openTab(tab) {
		for (const other of this.tabs) {
			const panel = document.getElementById(other.getAttribute('aria-controls'));

			other.setAttribute('aria-selected', other === tab);
			panel.hidden = other !== tab;
			if (other === tab)
				this.fillPanel(panel);
		}
		tab.scrollIntoView({block: 'nearest', inline: 'nearest'});
		this.table.draw();
	}
	/* Make the table of a panel, unless it is up to date.  A new table is sorted as the old one. */
	fillPanel(panel) {
		const name = panel.id.replace('panel-', '');
		const old = this.filled.get(name);

		if (!this.fill[name] || old?.range === this.range)
			return;
		const table = this.fill[name]();

		if (old?.table.columns?.length === table.columns?.length)
			table.sortAs?.(old?.table);
		this.filled.set(name, {table, range: this.range});
		panel.replaceChildren(table.element);
	}
	openPanel(name) {
		this.openTab(this.tabs.find(tab => tab.getAttribute('aria-controls') === `panel-${name}`));
	}

	/* The range.  null: the whole trace. */

	setRange(range) {
		const {trace} = this;

		if (range) // the page shows whole nanoseconds
			range = {begin: Math.round(range.begin), end: Math.round(range.end)};
		this.range = range ? new Range(trace, range.begin, range.end) : new Range(trace);
		this.timeline.chosen = range;
		document.getElementById('range').hidden = !range;
		document.getElementById('range-state').textContent = range ?
			`${brief(range.end - range.begin)}, ${count(this.range.to - this.range.from, 'event')}` : '';
		this.fillPanel(document.querySelector('.panel:not([hidden])'));
		this.listHits();
		if (range && this.selection)
			this.select(null);
		else
			this.details.show(this.selection, this.mark, this.range);
		this.timeline.dirty();
		this.address?.note();
	}
	toggleRange() {
		const {begin, end} = this.timeline.origin ? this.timeline.target : this.timeline.view;
		const {trace} = this;

		this.setRange(this.range.isAll ? {begin: Math.max(begin, trace.begin), end: Math.min(end, trace.end)} : null);
	}

	/* Bookmarks. */

	/* Set a bookmark at the selected event or span, or in the middle of the view, and let the user write its note. */
	addBookmark() {
		const {view} = this.timeline;
		const {selection} = this;
		const time = selection?.event !== undefined ? this.trace.time[selection.event] :
			selection?.span?.begin ?? (view.begin + view.end) / 2;
		const mark = this.bookmarks.add(time);

		this.openPanel('bookmarks');
		this.bookmarks.edit(mark);
	}
	nextBookmark() {
		const {view, target, origin} = this.timeline;
		const {begin, end} = origin ? target : view;
		const last = this.lastBookmark ?? (begin + end) / 2;
		const mark = this.bookmarks.after(last);

		if (mark)
			this.goToTime(mark.time);
	}
	goToTime(time) {
		this.lastBookmark = time;
		this.timeline.reveal(time);
		this.timeline.dirty();
	}
	showBookmarks() {
		this.timeline.bookmarks = this.bookmarks.list;
		this.timeline.dirty();
		this.address?.note();
	}

	/* The rows. */

	/* Call change(rows, row) for the row of the selection. */
	changeRow(change) {
		const row = this.timeline.selectedRow();

		if (row)
			this.timeline.change(rows => change(rows, row));
	}

	/* Selection. */

	select(selection) {
		this.selection = this.timeline.selection = selection;
		this.details.show(selection, this.mark, this.range);
		if (selection && selection.event !== undefined)
			this.table.show(selection.event);
		this.timeline.dirty();
		this.address?.note();
	}
	/* Select an event and scroll to it. */
	goTo(event) {
		if (event === undefined)
			return;
		this.timeline.reveal(this.trace.time[event]);
		this.timeline.showRow(this.trace.rowOfEvent(event));
		this.select({event});
	}
	/* `from` is the span whose explanation led here. */
	goToSpan(span, from) {
		const {timeline} = this;
		const {begin, end} = timeline.origin ? timeline.target : timeline.view;
		const length = span.end - span.begin, width = end - begin;

		timeline.uncover(span.row);
		if (span.begin < begin || span.end > end || length < width / 200)
			this.zoomTo(span.begin, span.end);
		this.select({span, from});
	}
	/* Show what a line of an explanation is about: a span, or the last event of the thread before. */
	showStep(line, from) {
		const {trace, timeline} = this;
		const [, , context, , begin] = line;
		const span = trace.spanOfStep(line), row = trace.rowOf.get(`thread:${context}`);
		const event = row && (trace.lastUntil(row.events, begin) ?? row.events[0]);

		if (span) {
			this.goToSpan(span, span === from ? undefined : from);
		} else if (event !== undefined) {
			timeline.uncover(row);
			timeline.reveal(trace.time[event]);
			this.select({event, from});
		}
	}
	showRow(row) {
		this.timeline.uncover(row);
		if (row.events.length > 0)
			this.select({event: this.trace.nearest(row.events, (this.timeline.view.begin + this.timeline.view.end) / 2)});
	}
	setMark(event) {
		this.mark = this.timeline.mark = event;
		this.details.show(this.selection, this.mark, this.range);
		this.timeline.dirty();
	}
	measure(event) {
		if (this.mark === null && this.selection?.event !== undefined)
			this.setMark(this.selection.event);
		this.select({event});
	}
	listOf(i, kind) {
		switch (kind) {
		case 'thread':
			return this.trace.rowOfEvent(i).events;
		case 'type':
			return this.trace.typeOf(i).events;
		default:
			return this.hits ? this.hits.list : [];
		}
	}
	neighbour(i, kind, step) {
		const list = this.listOf(i, kind);
		const k = lowerBound(at => list[at], i, 0, list.length);

		return step < 0 ? list[k - 1] : list[k] === i ? list[k + 1] : list[k];
	}
	/*
	 * Go to the next or previous event, starting at the selected event, or at the middle of the view if no event is
	 * selected.
	 */
	step(kind, step) {
		const {view} = this.timeline;

		if (this.trace.n === 0)
			return;
		const from = this.selection?.event ?? this.trace.firstAt((view.begin + view.end) / 2);

		if (kind === 'all')
			this.goTo(from + step >= 0 && from + step < this.trace.n ? from + step : undefined);
		else
			this.goTo(this.neighbour(from, kind, step));
	}
	zoomTo(begin, end) {
		const margin = Math.max((end - begin) * 0.15, 10);

		this.timeline.show(begin - margin, end + margin, true);
	}
	zoomToSelection() {
		const {selection, trace} = this;

		if (selection?.span)
			this.zoomTo(selection.span.begin, selection.span.end);
		else if (selection)
			this.zoomTo(...this.around(trace.rowOfEvent(selection.event).events, selection.event));
		else if (!this.range.isAll)
			this.zoomTo(this.range.begin, this.range.end);
	}
	/*
	 * Return the time of the sixth event before this event in the list, and the time of the sixth event after it.
	 */
	around(list, i) {
		const k = lowerBound(at => list[at], i, 0, list.length);

		return [this.trace.time[list[Math.max(k - 6, 0)]], this.trace.time[list[Math.min(k + 6, list.length - 1)]]];
	}

	/* Search. */

	setQuery(text) {
		this.search.value = text;
		this.find();
	}
	async find() {
		const text = this.search.value.trim();
		const mine = ++this.searches;

		this.address?.note();
		this.search.classList.remove('wrong');
		if (text === '') {
			this.setHits(null, '');
			return;
		}
		try {
			const query = new Query(this.trace, text);
			const bits = await this.testAll(query, mine);

			if (mine === this.searches)
				this.setHits(this.hitsOf(bits, query));
		} catch (error) {
			if (!(error instanceof QueryError))
				throw error;
			this.search.classList.add('wrong');
			this.setHits(null, error.message);
		}
	}
	/* Search in slices of SLICE_MS, so that the page stays responsive.  Stop when another search begins. */
	async testAll(query, mine) {
		const {n} = this.trace;
		const bits = new Uint8Array(n);
		let i = 0, begin = performance.now();

		while (i < n && mine === this.searches) {
			for (const end = Math.min(i + 4096, n); i < end; i++)
				bits[i] = query.takes(i) ? 1 : 0;
			if (performance.now() - begin > SLICE_MS) {
				this.searchState.textContent = `${Math.floor(100 * i / n)} %`;
				await new Promise(go => setTimeout(go));
				begin = performance.now();
			}
		}
		return bits;
	}
	/* An event of which the page has only a part of the data can be a hit although the search does not find it. */
	hitsOf(bits, query) {
		const list = new Growing(Uint32Array), byRow = new Map(), {trace} = this;
		let nrUndecided = 0;

		for (let i = 0; query.readsData && i < bits.length; i++)
			nrUndecided += (!bits[i] || query.isNegated) && trace.isShortened(i);
		for (let i = 0; i < bits.length; i++)
			if (bits[i])
				list.push(i);
		for (const i of list.done()) {
			const row = this.trace.rowOfEvent(i);

			if (!byRow.has(row))
				byRow.set(row, new Growing(Uint32Array));
			byRow.get(row).push(i);
		}
		byRow.forEach((growing, row) => byRow.set(row, growing.done()));
		return {bits, list: list.done(), byRow, nrUndecided};
	}
	setHits(hits, complaint) {
		this.hits = this.timeline.hits = hits;
		this.table.bits = hits ? hits.bits : null;
		this.searchState.textContent = hits ? this.sayHits(hits) : complaint;
		this.searchState.title = hits ? this.doubtsOf(hits).join('. ') : '';
		this.searchState.dataset.hits = hits ? hits.list.length : '';
		document.getElementById('hits').hidden = !hits;
		this.listHits();
		this.details.show(this.selection, this.mark, this.range);
		this.timeline.dirty();
	}
	sayHits({list, nrUndecided}) {
		return count(list.length, 'hit') + (this.trace.facts.leftOut > 0 ? ' on this page' : '') +
			(nrUndecided > 0 ? `, ${grouped(nrUndecided)} not decided` : '');
	}
	/* What the search could not read. */
	doubtsOf({nrUndecided}) {
		const {leftOut} = this.trace.facts;

		return [
			...leftOut > 0 ? [`${count(leftOut, 'more event')} of the file are not on this page`] : [],
			...nrUndecided > 0 ? [`The page has only the first bytes of the data of ${count(nrUndecided, 'event')}; ` +
				'txtrace print -f searches in all of them'] : []];
	}
	/* Show all events of the range in the table, or only the hits. */
	listHits() {
		const isOnly = document.getElementById('only-hits').checked;

		this.table.setList(this.range.listOf(isOnly && this.hits ? this.hits.list : null));
	}

	/* Help. */

	makeHelp() {
		const box = document.getElementById('keys');

		for (const [title, keys] of KEYS) {
			const group = make('section'), list = make('dl');

			for (const [key, text] of keys) {
				const term = make('dt');

				term.append(...key.split('  ').map(one => make('kbd', '', one)));
				list.append(term, make('dd', '', text));
			}
			group.append(make('h3', '', title), list);
			box.append(group);
		}
	}
	toggleHelp() {
		const help = document.getElementById('help');

		if (help.open)
			help.close();
		else
			help.showModal();
	}

	/* Keys and other input. */

	listen() {
		const {timeline} = this;

		addEventListener('keydown', event => this.key(event));
		this.search.addEventListener('input', () => this.find());
		this.search.addEventListener('keydown', event => this.searchKey(event));
		document.getElementById('help-button').onclick = () => this.toggleHelp();
		document.getElementById('help').onclick = event => event.target === event.currentTarget && event.target.close();
		document.getElementById('hit-before').onclick = () => this.step('hit', -1);
		document.getElementById('hit-after').onclick = () => this.step('hit', 1);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
			this.theme.read();
			this.legend.draw();
			this.table.draw();
			timeline.dirty();
		});
		this.listenSplitter();
	}
	searchKey(event) {
		if (event.key === 'Enter')
			this.step('hit', event.shiftKey ? -1 : 1);
		else if (event.key === 'Escape')
			this.search.blur();
		else
			return;
		event.preventDefault();
	}
	listenSplitter() {
		const splitter = document.getElementById('splitter');

		splitter.addEventListener('pointerdown', event => splitter.setPointerCapture(event.pointerId));
		splitter.addEventListener('pointermove', event => {
			if (event.buttons)
				this.setDock(innerHeight - event.clientY);
		});
		splitter.addEventListener('keydown', event => {
			const by = {ArrowUp: 24, ArrowDown: -24}[event.key];

			if (!by)
				return;
			this.setDock(document.getElementById('dock').offsetHeight + by);
			event.preventDefault();
			event.stopPropagation();
		});
	}
	setDock(height) {
		document.documentElement.style.setProperty('--dock', `${Math.min(Math.max(height, 34), innerHeight - 180)}px`);
	}
	toggleDock() {
		const isSmall = document.getElementById('dock').offsetHeight < innerHeight * 0.2;

		this.setDock(isSmall ? innerHeight * 0.42 : 34);
	}

	key(event) {
		const isTyping = event.target.matches('input:not([type=checkbox]), select');
		const act = this.actions()[event.key];

		if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !act ||
			document.getElementById('help').open && event.key !== '?')
			return;
		event.preventDefault();
		act();
	}
	actions() {
		const {timeline} = this;
		const zoom = factor => () => timeline.zoom(factor, undefined, true);
		const pan = share => () => timeline.pan(share, true);
		const scroll = by => () => {
			timeline.scroller.scrollTop += by;
		};
		const step = (kind, by) => () => this.step(kind, by);

		return this.known ??= {
			'+': zoom(0.5), '=': zoom(0.5), 'w': zoom(0.5), '-': zoom(2), '_': zoom(2), 's': zoom(2),
			'a': pan(-0.25), 'ArrowLeft': pan(-0.25), 'd': pan(0.25), 'ArrowRight': pan(0.25),
			'ArrowUp': scroll(-44), 'ArrowDown': scroll(44),
			'PageUp': scroll(-timeline.height / 2), 'PageDown': scroll(timeline.height / 2),
			'0': () => timeline.reset(), 'Home': () => timeline.reset(), 'f': () => this.zoomToSelection(),
			'[': step('thread', -1), ']': step('thread', 1), ',': step('type', -1), '.': step('type', 1),
			'k': step('all', -1), 'j': step('all', 1), 'n': step('hit', 1), 'N': step('hit', -1),
			'm': () => this.setMark(this.selection?.event ?? null), '/': () => this.search.select(),
			'r': () => this.toggleRange(), 'b': () => this.addBookmark(), 'B': () => this.nextBookmark(),
			'h': () => this.changeRow((rows, row) => rows.hide(row)),
			'p': () => this.changeRow((rows, row) => rows.togglePin(row)),
			'H': () => timeline.change(rows => rows.hidden.clear()), 'o': () => timeline.change(rows => rows.nextSort()),
			'?': () => this.toggleHelp(), 't': () => this.toggleDock(), 'Escape': () => this.escape(),
			...Object.fromEntries(this.tabs.map((tab, k) => [String(k + 1), () => this.openTab(tab)])),
		};
	}
	escape() {
		if (this.mark !== null)
			this.setMark(null);
		else if (!this.range.isAll)
			this.setRange(null);
		else if (this.selection)
			this.select(null);
		else
			this.setQuery('');
	}
}

async function start() {
	const bar = document.getElementById('loading');
	const trace = new Trace(JSON.parse(document.getElementById('facts').textContent));

	await trace.read(part => bar.style.setProperty('--share', `${100 * part}%`));
	bar.remove();
	document.body.classList.remove('is-loading');
	// For the console, and for tests.
	window.txtrace = {trace, page: new Page(trace)};
	document.body.dataset.ready = 'yes';
}

start().catch(error => {
	document.getElementById('loading').textContent = `This page cannot be shown: ${error.message}`;
	throw error;
});
