// SPDX-License-Identifier: MIT
/* The mouse on the timeline and on the overview, and the tip for the event or span under the mouse. */

const REACH = 7; // pixels around an event where a click selects it

class Mouse {
	constructor(timeline) {
		this.timeline = timeline;
		this.canvas = timeline.canvas;
		this.tip = document.getElementById('tip');
		this.drag = null; // the place where the button was pressed; null: no button is down
		this.rest = null; // where the mouse is over the timeline, as {clientX, clientY}
		this.listen();
	}

	listen() {
		const {canvas, timeline} = this;
		const overview = timeline.overview.canvas;

		canvas.addEventListener('wheel', event => this.wheel(event), {passive: false});
		overview.addEventListener('wheel', event => this.wheel(event, true), {passive: false});
		canvas.addEventListener('pointerdown', event => this.press(event));
		canvas.addEventListener('pointermove', event => this.move(event));
		canvas.addEventListener('pointerup', event => this.release(event));
		canvas.addEventListener('pointerleave', () => this.leave());
		canvas.addEventListener('pointercancel', () => this.leave());
		addEventListener('blur', () => this.leave());
		canvas.addEventListener('dblclick', () => timeline.reset());
		overview.addEventListener('pointerdown', event => {
			overview.setPointerCapture(event.pointerId);
			this.showAround(event);
		});
		overview.addEventListener('pointermove', event => event.buttons && this.showAround(event));
		overview.addEventListener('dblclick', () => timeline.reset());
	}
	place(event) {
		const box = this.canvas.getBoundingClientRect();

		return [event.clientX - box.left, event.clientY - box.top];
	}
	showAround(event) {
		const {overview, view} = this.timeline;
		const time = overview.time(event.clientX - overview.canvas.getBoundingClientRect().left);
		const half = (view.end - view.begin) / 2;

		this.timeline.show(time - half, time + half);
	}
	wheel(event, isOverview) {
		const size = event.deltaMode === 1 ? 32 : 1;
		const x = event.deltaX * size, y = event.deltaY * size;

		event.preventDefault();
		if (Math.abs(x) > Math.abs(y) || event.shiftKey)
			this.timeline.pan((Math.abs(x) > Math.abs(y) ? x : y) / this.timeline.width);
		else if (event.altKey)
			this.timeline.scroller.scrollTop += y;
		else
			this.timeline.zoom(Math.exp(Math.max(Math.min(y, 240), -240) * 0.0022),
				isOverview ? undefined : this.place(event)[0]);
	}
	press(event) {
		const [x, y] = this.place(event);

		if (event.button !== 0)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		this.drag = {x, y, view: {...this.timeline.view}, top: this.timeline.scroller.scrollTop, isMoved: false,
			isRange: event.shiftKey || y < AXIS_HEIGHT, isAxis: y < AXIS_HEIGHT};
		this.canvas.focus({preventScroll: true});
	}
	move(event) {
		const [x, y] = this.place(event);
		const {drag} = this;

		this.timeline.hover = x;
		this.timeline.dirty(true);
		this.rest = {clientX: event.clientX, clientY: event.clientY};
		if (!drag)
			return; // the next frame shows the tip
		drag.isMoved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4;
		if (!drag.isMoved)
			return;
		this.tip.hidden = true;
		if (drag.isRange) {
			this.timeline.range = [drag.x, x];
		} else {
			const by = (drag.x - x) / this.timeline.scale;

			this.timeline.show(drag.view.begin + by, drag.view.end + by);
			this.timeline.scroller.scrollTop = drag.top + drag.y - y;
			this.canvas.classList.add('dragged');
		}
	}
	release(event) {
		const [x, y] = this.place(event);
		const {drag, timeline} = this;
		const {range} = timeline;

		this.drag = timeline.range = null;
		this.canvas.classList.remove('dragged');
		if (range && Math.abs(range[1] - range[0]) > 3)
			this.takeRange(timeline.time(Math.min(...range)), timeline.time(Math.max(...range)), drag.isAxis);
		else if (drag && drag.isAxis && !drag.isMoved)
			this.clickAxis(x);
		else if (drag && !drag.isMoved)
			this.click(this.find(x, y), event);
		if (event.pointerType === 'touch')
			this.leave();
		timeline.dirty();
	}
	/* A drag in the axis selects a range; a drag with Shift elsewhere zooms to it. */
	takeRange(begin, end, isAxis) {
		const {trace, callbacks} = this.timeline;

		if (isAxis)
			callbacks.range({begin: Math.max(begin, trace.begin), end: Math.min(end, trace.end)});
		else
			this.timeline.show(begin, end, true);
	}
	clickAxis(x) {
		const {callbacks, bookmarks} = this.timeline;
		const mark = bookmarks.find(({time}) => Math.abs(this.timeline.x(time) - x) <= FLAG / 2);

		if (mark)
			callbacks.bookmark(mark);
		else
			callbacks.range(null);
	}
	click(found, event) {
		if (found && found.event !== undefined && (event.ctrlKey || event.metaKey))
			this.timeline.callbacks.measure(found.event);
		else if (found)
			this.timeline.callbacks.select(found.event !== undefined ? {event: found.event} : found);
	}
	/* What is under the mouse changes, too, if the timeline moves and the mouse does not. */
	stay() {
		if (!this.rest || this.drag)
			return;
		/* Something else may now be at this place: a dialog, or the lower part of the page. */
		if (document.elementFromPoint(this.rest.clientX, this.rest.clientY) !== this.canvas)
			this.leave();
		else
			this.showTip(this.rest, this.find(...this.place(this.rest)));
	}
	leave() {
		this.timeline.hover = this.rest = null;
		this.tip.hidden = true;
		this.timeline.dirty(true);
	}

	/* Return the event or span at a point, as a selection, or null. */
	find(x, y) {
		const {timeline} = this, {trace} = timeline;
		const time = timeline.time(x), down = y + timeline.scroller.scrollTop;
		const line = timeline.lines.find(line => down >= line.y && down < line.y + line.height);
		const gap = this.findSpan(trace.gaps, time, 3);

		if (y < AXIS_HEIGHT || !line || !line.row)
			return gap ? {span: gap} : null;
		if (line.row.kind === 'counter')
			return this.findCounter(line.row, time);
		const isStrip = down >= line.y + PADDING + line.row.lane + line.row.state - timeline.stripHeight(line.row);
		const span = this.innermost(line.row, time, isStrip);
		const event = trace.nearest(line.row.events, time);
		const isState = down >= line.y + PADDING + line.row.lane;

		if (event !== undefined && Math.abs(timeline.x(trace.seek[event]) - x) <= REACH && !(isState && span))
			return {event};
		return span ? {span} : gap ? {span: gap} : null;
	}
	/* The event whose value a counter shows at this time. */
	findCounter(row, time) {
		const event = this.timeline.trace.lastUntil(row.events, time);

		return event === undefined ? null : {event, counter: row, time};
	}
	/* If spans overlap, prefer an interrupt to the span that it interrupts.  In the strip of states, prefer a state. */
	innermost(row, time, isStrip) {
		const states = [KIND.RUN, KIND.READY, KIND.BLOCKED], others = [KIND.ISR, KIND.WAIT, KIND.LOCK, KIND.SPAN];

		for (const kind of isStrip ? [...states, ...others] : [...others, ...states]) {
			const span = this.findSpan(row.spans[kind] ?? [], time, 1.5);

			if (span)
				return span;
		}
		return null;
	}
	/*
	 * Return the span with the latest beginning before this time that has not ended before this time.  A distance
	 * of `pixels` pixels is allowed on both sides.
	 */
	findSpan(list, time, pixels) {
		const reach = pixels / this.timeline.scale, times = beginsOf(list);
		const last = lowerBound(at => times[at], time + reach, 0, list.length) - 1;

		return openSpans(list, -1, last, time - reach).pop() ?? null;
	}
	showTip(event, found) {
		this.tip.hidden = !found;
		this.canvas.classList.toggle('over', found !== null);
		if (!found)
			return;
		this.tip.replaceChildren(...(found.counter ? this.counterTip(found) :
			found.span ? this.spanTip(found.span) : this.eventTip(found.event)));
		const width = this.tip.offsetWidth, height = this.tip.offsetHeight;
		const isLow = event.clientY + height + 24 > innerHeight;

		this.tip.style.left = `${Math.min(event.clientX + 14, innerWidth - width - 8)}px`;
		this.tip.style.top = `${isLow ? event.clientY - height - 12 : event.clientY + 18}px`;
	}
	counterTip({event, counter, time}) {
		const {trace, rows} = this.timeline;

		return [make('b', '', `${counter.name} = ${amount(rows.counters.valueAt(counter, time))}`),
			make('span', '', `since ${grouped(seconds(trace.time[event]))} s, ${trace.rowOfEvent(event).name}`)];
	}
	eventTip(i) {
		const {trace, theme} = this.timeline;
		const title = make('b', '', trace.typeOf(i).name);

		title.style.color = theme.typeColor(trace.type(i));
		return [title, make('span', '', `${trace.rowOfEvent(i).name} · CPU ${trace.cpu[i]} · ${grouped(seconds(trace.time[i]))} s`),
			make('code', '', trace.dataText(i))];
	}
	spanTip(span) {
		const text = spanTitle(span);

		return [make('b', '', text), make('span', '', `${brief(span.end - span.begin)}${
			span.holder ? ` · held by ${span.holder}` : ''}${
			span.waker ? ` · woken by ${this.timeline.trace.contextName(span.waker)}` : ''}`),
		make('span', '', `from ${grouped(seconds(span.begin))} s`)];
	}
}
