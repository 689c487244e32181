// SPDX-License-Identifier: MIT
/* Bookmarks: times with notes.  The address of the page has them, so a link shows them to others. */

class Bookmarks {
	/* callbacks: bookmark(mark) goes to one; bookmarks() is called after each change. */
	constructor(trace, callbacks) {
		Object.assign(this, {trace, callbacks});
		this.list = []; // {time, note}, sorted by time
		this.box = document.getElementById('panel-bookmarks');
		this.draw();
	}
	/* Return the bookmark of this time; make it if there is none. */
	add(time, note = '') {
		const at = Math.round(time);
		const known = this.list.find(mark => mark.time === at);

		if (known)
			return known;
		const mark = {time: at, note};

		this.list = [...this.list, mark].sort((a, b) => a.time - b.time);
		this.changed();
		return mark;
	}
	remove(mark) {
		this.list = this.list.filter(other => other !== mark);
		this.changed();
	}
	/* Return the first bookmark after this time, or the first of all. */
	after(time) {
		return this.list.find(mark => mark.time > time + 0.5) ?? this.list[0];
	}
	changed() {
		this.draw();
		this.callbacks.bookmarks();
	}
	edit(mark) {
		this.box.querySelector(`input[data-time="${mark.time}"]`)?.focus();
	}

	/* The panel. */

	draw() {
		const rows = this.list.map((mark, k) => this.line(mark, k));
		const hint = make('p', 'nothing', 'No bookmarks. ');

		hint.append(make('kbd', '', 'b'), ' sets one at the selected event, or in the middle of the view.');
		this.box.replaceChildren(...rows.length > 0 ? rows : [hint]);
	}
	line(mark, k) {
		const line = make('div', 'bookmark'), note = make('input');
		const go = make('button', 'number', `${grouped(seconds(mark.time))} s`);
		const remove = make('button', '', '×');

		note.value = mark.note;
		note.placeholder = 'note';
		note.dataset.time = mark.time;
		note.setAttribute('aria-label', `Note of bookmark ${k + 1}`);
		note.oninput = () => {
			mark.note = note.value;
			this.callbacks.bookmarks();
		};
		note.onkeydown = event => {
			if (event.key === 'Enter' || event.key === 'Escape')
				note.blur();
		};
		go.title = 'go to this time';
		go.onclick = () => this.callbacks.bookmark(mark);
		remove.title = 'remove this bookmark';
		remove.onclick = () => this.remove(mark);
		line.append(make('b', '', String(k + 1)), go, note, remove);
		return line;
	}

	/* The address. */

	toText() {
		return this.list.map(({time, note}) => `${time}${note ? `:${encodeURIComponent(note)}` : ''}`).join(',');
	}
	fromText(text) {
		this.list = text.split(',').map(part => part.match(/^(-?\d+)(?::(.*))?$/s)).filter(found => found)
			.map(([, time, note]) => ({time: Number(time), note: decoded(note ?? '')}))
			.sort((a, b) => a.time - b.time);
		this.draw();
	}
}
