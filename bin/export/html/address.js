// SPDX-License-Identifier: MIT
/*
 * The view in the address of the page, so that a link leads to it.  Parts that are as at first are left out:
 *
 *	t=BEGIN z=WIDTH	the view, in ns		e=NUMBER	the selected event
 *	q=QUERY		the search		r=BEGIN,END	the selected range, in ns
 *	b=TIME:NOTE,...	bookmarks		sort=ORDER	the order of threads
 *	hide=ROW,...	hidden rows		pin=ROW,...	pinned rows
 *	c=TYPE.FIELD,...	rows of fields
 */

const MOST_ROWS = 60; // of hide=: longer lists are left out

/* Undo encodeURIComponent().  A damaged text stays as it is. */
function decoded(text) {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

class Address {
	constructor(page) {
		this.page = page;
		this.later = null;
		addEventListener('hashchange', () => this.read());
	}
	/* Write the address, a little later: the view changes with each frame. */
	note() {
		clearTimeout(this.later);
		this.later = setTimeout(() => {
			this.hash = this.make();
			this.later = null;
			history.replaceState(null, '', this.hash);
		}, 200);
	}
	make() {
		const {timeline, selection, trace, search, range, bookmarks} = this.page;
		const {view, target, origin, rows} = timeline;
		const {begin, end} = origin ? target : view;
		const parts = [`t=${Math.round(begin)}`, `z=${Math.round(end - begin)}`];
		const add = (name, text) => text !== '' && parts.push(`${name}=${text}`);
		const names = list => list.length > MOST_ROWS ? '' : list.map(row => shortKey(row)).join(',');

		add('e', selection?.event !== undefined ? String(trace.number[selection.event]) : '');
		add('q', encodeURIComponent(search.value.trim()));
		add('r', range.isAll ? '' : `${Math.round(range.begin)},${Math.round(range.end)}`);
		add('b', bookmarks.toText());
		add('sort', rows.sort === 'name' ? '' : rows.sort);
		add('c', rows.counters.chosen.map(encodeURIComponent).join(','));
		add('hide', names([...rows.hidden]));
		add('pin', names(rows.pinned));
		return `#${parts.join('&')}`;
	}
	read() {
		if (location.hash === (this.hash ?? ''))
			return;
		const parts = new Map(location.hash.slice(1).split('&').map(part => part.split(/=(.*)/s)));
		const list = name => (parts.get(name) ?? '').split(',').filter(text => text !== '');

		this.readRows(parts, list);
		this.readView(parts, list);
		if (parts.has('q'))
			this.page.setQuery(decoded(parts.get('q')));
	}
	readRows(parts, list) {
		const {timeline} = this.page, {rows} = timeline;

		for (const key of list('c').map(decoded))
			if (!rows.counters.chosen.includes(key))
				rows.counters.toggle(key);
		rows.hidden = new Set(rows.find(list('hide')));
		rows.pinned = rows.find(list('pin'));
		rows.sort = SORTS.find(([name]) => name === parts.get('sort'))?.[0] ?? 'name';
		timeline.layOut();
	}
	readView(parts, list) {
		const {page} = this, {trace, timeline} = page;
		const begin = Number(parts.get('t')), width = Number(parts.get('z')), number = Number(parts.get('e'));
		const [from, until] = list('r').map(Number);

		if (parts.has('t') && Number.isFinite(begin) && width > 0)
			timeline.show(begin, begin + width);
		page.setRange(until >= from ? {begin: from, end: until} : null);
		page.bookmarks.fromText(parts.get('b') ?? '');
		page.showBookmarks();
		if (!parts.has('e'))
			return;
		const i = lowerBound(at => trace.number[at], number, 0, trace.n);

		if (trace.number[i] === number) {
			page.select({event: i});
			timeline.showRow(trace.rowOfEvent(i));
		}
	}
}
