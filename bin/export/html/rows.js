// SPDX-License-Identifier: MIT
/* Which rows the timeline shows, and in which order: the user hides, pins and sorts them. */

const SORTS = [
	['name', 'by name', null],
	['events', 'most events first', row => row.events.length],
	['waited', 'longest waits first', row => row.waitTime],
	['ran', 'most run time first', row => row.runTime],
	['first', 'first event first', row => -(row.events[0] ?? Infinity)],
];
const MOST_OPEN = 16; // locks or counters that are shown at first

/* Return a short name of the row for the address of the page: "t12" for the thread 12. */
function shortKey(row) {
	return row.key.replace(/^(.)[a-z]*:/, '$1').replaceAll(':', '.');
}

class Rows {
	constructor(trace, counters) {
		Object.assign(this, {trace, counters});
		this.hidden = new Set(); // rows
		this.pinned = []; // rows, in the order in which they were pinned
		this.closed = new Set(); // keys of groups
		this.sort = 'name';
		for (const group of this.groups())
			if (group.kind !== 'thread' && group.rows.length > MOST_OPEN)
				this.closed.add(group.key);
	}
	get all() {
		return [...this.trace.rows, ...this.counters.rows];
	}
	/* Return a group of rows for the threads of each process, one for its locks, and so on; pinned rows come first. */
	groups() {
		const groups = new Map();

		if (this.pinned.length > 0)
			groups.set('pinned', {key: 'pinned', kind: 'pinned', pid: -1, rows: this.pinned});
		for (const row of this.all) {
			const key = `${row.kind}:${row.pid}`;

			if (this.hidden.has(row) || this.pinned.includes(row))
				continue;
			if (!groups.has(key))
				groups.set(key, {key, kind: row.kind, pid: row.pid, rows: []});
			groups.get(key).rows.push(row);
		}
		const kinds = ['pinned', 'thread', 'lock', 'span', 'counter'];
		const value = SORTS.find(([name]) => name === this.sort)[2];
		const list = [...groups.values()].sort((a, b) => a.pid - b.pid || kinds.indexOf(a.kind) - kinds.indexOf(b.kind));

		for (const group of list)
			if (value && group.kind === 'thread')
				group.rows.sort((a, b) => value(b) - value(a)); // equal rows stay sorted by name
		return list;
	}
	titleOf(group) {
		const title = {pinned: 'Pinned', lock: 'Locks', span: 'Spans', counter: 'Counters'}[group.kind];
		const hasPid = !this.trace.facts.foreign && group.pid > 0;

		if (title)
			return hasPid ? `${title} · pid ${group.pid}` : title;
		const main = group.rows.find(row => row.tid === row.pid && row.tid !== 0);

		return hasPid ? `${main ? main.name.replace(/ \d+$/, '') : 'Process'} · pid ${group.pid}` : 'Threads';
	}
	toggleGroup(key) {
		if (!this.closed.delete(key))
			this.closed.add(key);
	}
	hide(row) {
		this.pinned = this.pinned.filter(other => other !== row);
		this.hidden.add(row);
	}
	togglePin(row) {
		if (this.pinned.includes(row)) {
			this.pinned = this.pinned.filter(other => other !== row);
		} else {
			this.hidden.delete(row);
			this.pinned = [...this.pinned, row];
		}
	}
	nextSort() {
		const at = SORTS.findIndex(([name]) => name === this.sort);

		this.sort = SORTS[(at + 1) % SORTS.length][0];
	}
	/* Return rows from their short names.  Names that this trace does not have are left out. */
	find(names) {
		const byName = new Map(this.all.map(row => [shortKey(row), row]));

		return names.map(name => byName.get(name)).filter(row => row);
	}
}
