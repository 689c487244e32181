// SPDX-License-Identifier: MIT
/* The table of events below the timeline. */

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
