// SPDX-License-Identifier: MIT
/*
 * Draws the axis and the rows of the timeline.
 *
 * Each pixel of a row is drawn at most once.  Lists are sorted by time, so a binary search finds the first event or
 * span after a pixel.  The time to draw a row depends on its width, and hardly on the number of events.  The number of
 * events in a pixel is exact at any zoom.  Theme.countHues() finds the colours from sums that are computed once.
 */

const ARROWS = 300, LOOKED = 5000; // arrows, and waits to look at, in a view
const AXIS_HEIGHT = 30, GROUP_HEIGHT = 26, EVENT_LANE = 22, STATE_LANE = 16, STATES_LANE = 28, PADDING = 4;
const COUNTER_LANE = 30;
const SPAN_LEAST_NS = 20; // the view shows at least this much time
const STRETCH = 1.7; // largest factor for the row height, if there is room
const ROOM_FOR_MARK = 9, ROOM_FOR_LABEL = 38;
const FLAG = 18; // width of the flag of a bookmark
const LEAST_BAR = 1.5; // a narrower span is a pixel, which it shares
const LEAST_PART = 0.75; // height of a colour in a bar, in pixels
const LEAST_TEXT = 20; // a text is drawn only if it has this many pixels

class Painter {
	/* Draw everything.  If only the mouse has moved since the last time, draw only what belongs to the mouse. */
	draw() {
		const {canvas, kept} = this;

		this.paint = canvas.getContext('2d');
		if (this.isStale) {
			this.drawAll();
			kept.width = canvas.width;
			kept.height = canvas.height;
			kept.getContext('2d').drawImage(canvas, 0, 0);
			this.isStale = false;
		} else {
			this.paint.drawImage(kept, 0, 0, this.width, this.height);
		}
		if (this.hover !== null)
			this.drawHover();
		if (this.range)
			this.drawRange();
	}
	drawAll() {
		const context = this.paint;
		const top = this.scroller.scrollTop;

		context.font = this.theme.font;
		context.textBaseline = 'middle';
		context.fillStyle = this.theme.page;
		context.fillRect(0, 0, this.width, this.height);
		this.drawOutside();
		const {marks} = axisMarks(this.view.begin, this.view.end, this.width, 124);

		for (const line of this.lines) {
			const y = line.y - top;

			if (y + line.height < AXIS_HEIGHT || y > this.height)
				continue;
			if (line.group)
				this.fill(this.theme.band, 0, y, this.width, line.height);
		}
		for (const {time} of marks)
			this.fill(this.theme.grid, Math.round(this.x(time)), 0, 1, this.height);
		for (const line of this.lines) {
			const y = line.y - top;

			if (line.row && y + line.height >= AXIS_HEIGHT && y <= this.height)
				this.drawRow(line.row, y);
		}
		this.drawArrows(top);
		this.drawGaps();
		this.drawChosen();
		this.drawSelection(top);
		this.drawAxis(marks);
		this.drawBookmarks();
		this.drawMeasure();
	}
	fill(color, x, y, width, height) {
		this.paint.fillStyle = color;
		this.paint.fillRect(x, y, width, height);
	}
	/* Fill a column, into the strip if there is one. */
	column(color, x, y, width, height) {
		if (this.strip.isOpen)
			this.strip.fill(color, x, y, width, height);
		else
			this.fill(color, x, y, width, height);
	}
	/* Shade the time before the trace begins and after it ends. */
	drawOutside() {
		const begin = this.x(this.trace.begin), end = this.x(this.trace.end);

		if (begin > 0)
			this.fill(this.theme.band, 0, 0, begin, this.height);
		if (end < this.width)
			this.fill(this.theme.band, end + 1, 0, this.width - end - 1, this.height);
	}
	drawRow(row, y) {
		const isChosen = this.selectedRow() === row;
		const stateY = y + PADDING + row.lane;

		if (isChosen)
			this.fill(this.theme.select, 0, y, this.width, row.height);
		this.fill(this.theme.row, 0, y + row.height - 1, this.width, 1);
		if (row.kind === 'counter') {
			this.drawCounter(row, stateY, row.state - 2);
			return;
		}
		const strip = this.stripHeight(row);
		const stripY = stateY + row.state - strip;

		for (const [kind, color, textColor] of [[KIND.BLOCKED, 'blocked', 'text'], [KIND.READY, 'ready', 'runText'],
			[KIND.RUN, 'run', 'runText']])
			if (row.spans[kind])
				this.drawSpans(row.spans[kind], strip ? stripY : stateY, (strip || row.state) - 2, this.theme[color],
					this.theme[textColor], stateText);
		if (row.spans[KIND.WAIT])
			this.drawSpans(row.spans[KIND.WAIT], stateY, row.state - strip - 2, span => this.theme.waits[span.waitClass],
				this.theme.waitText, waitText);
		if (row.spans[KIND.LOCK])
			this.drawSpans(row.spans[KIND.LOCK], stateY, row.state - 2, this.theme.lock, this.theme.lockText,
				span => span.name);
		if (row.spans[KIND.SPAN])
			this.drawSpans(row.spans[KIND.SPAN], stateY, row.state - 2, this.theme.run, this.theme.runText,
				span => brief(span.end - span.begin));
		if (row.spans[KIND.ISR])
			this.drawSpans(row.spans[KIND.ISR], stateY, row.state - 2, this.theme.isr, this.theme.runText,
				span => span.name);
		if (row.lane > 0)
			this.drawEvents(row, y + PADDING, row.lane - 4);
	}
	/* With scheduling records, the lower half of the lane of a thread shows its states, and the upper one its waits. */
	stripHeight(row) {
		return row.kind === 'thread' && this.trace.hasStates ? Math.floor(row.state / 2) : 0;
	}
	/*
	 * Spans that begin in the same pixel and are narrow share that pixel.  `color` is a colour, or a function of the
	 * span; the first span of a pixel has its colour.
	 */
	drawSpans(list, y, height, color, textColor, textOf) {
		const {begin, end} = this.view;
		const colorOf = typeof color === 'function' ? color : () => color;
		const times = beginsOf(list);
		const timeOf = at => times[at];
		const first = lowerBound(timeOf, begin, 0, list.length);
		const isDense = first + LEAST_COLUMNS < list.length && times[first + LEAST_COLUMNS] < end;
		const left = span => Math.max(this.x(span.begin), -2);
		const width = span => Math.min(this.x(span.end), this.width + 2) - left(span);
		const bar = span => {
			this.fill(colorOf(span), left(span), y, Math.max(width(span) - 0.5, 1), height);
			if (width(span) > 34)
				this.put(textOf(span), left(span) + 5, y + height / 2, width(span) - 8, textColor);
		};

		if (isDense)
			this.strip.begin(this.width, y, y + height);
		openSpans(list, -1, first - 1, begin).forEach(bar);
		for (let k = first; k < list.length && times[k] < end;) {
			const span = list[k];

			if (width(span) >= LEAST_BAR) {
				bar(span);
				k++;
			} else {
				const pixel = Math.floor(left(span));
				const next = Math.max(k + 1, gallop(timeOf, this.time(pixel + 1), k, list.length));

				this.column(colorOf(span), pixel, y, 1, height);
				/* A long one can begin in the same pixel. */
				openSpans(list, k, next - 1, this.time(pixel + 1)).filter(span => width(span) >= LEAST_BAR).forEach(bar);
				k = next;
			}
		}
		if (isDense)
			this.strip.end(this.paint);
	}
	/*
	 * Draw the values of a counter as steps above its baseline: 0, or its least value if that is negative.  A pixel with
	 * several values shows the least and the largest of them.
	 */
	drawCounter(row, y, height) {
		const low = Math.min(row.least, 0), high = Math.max(row.most, 0);
		const at = value => y + height - 1 - (value - low) / (high - low || 1) * (height - 2);
		const {seek} = this.trace, {events, values} = row;
		const timeOf = k => seek[events[k]];
		const end = lowerBound(timeOf, this.view.end, 0, events.length);
		let from = Math.max(lowerBound(timeOf, this.view.begin, 0, end) - 1, 0);

		while (from < end) {
			const x = Math.max(Math.floor(this.x(timeOf(from))), 0);
			const to = Math.max(from + 1, gallop(timeOf, this.time(x + 1), from, end));
			const next = Math.min(this.x(to < events.length ? timeOf(to) : this.trace.end), this.width);
			const [least, most] = row.extremes(from, to), last = values[to - 1];

			this.paint.globalAlpha = 0.3;
			this.fill(this.theme.counter, x, Math.min(at(last), at(0)), Math.max(next - x, 1), Math.abs(at(last) - at(0)));
			this.paint.globalAlpha = 1;
			this.fill(this.theme.counter, x, at(last) - 1, Math.max(next - x, 1), 2);
			this.fill(this.theme.counter, x, at(most) - 1, 1, at(least) - at(most) + 2);
			from = to;
		}
	}
	/*
	 * Draw a text.  If there is not enough room, shorten the text.  If it begins left of the view, move it right.
	 */
	put(text, x, y, room, color) {
		const from = Math.max(x, 4);
		const space = room - (from - x);

		if (space < LEAST_TEXT)
			return;
		const width = this.paint.measureText(text).width;

		if (width > space)
			text = `${text.slice(0, Math.max(Math.floor(text.length * space / width) - 1, 1)).trimEnd()}…`;
		this.paint.fillStyle = color;
		this.paint.fillText(text, from, y + 0.5);
	}

	/* Call visit(x, from, to) for each pixel with events.  Its events are at [from, to) of the list. */
	eachPixel(list, visit) {
		const {seek} = this.trace;
		const at = k => seek[list[k]];
		const end = lowerBound(at, this.view.end, 0, list.length);
		let from = lowerBound(at, this.time(-ROOM_FOR_MARK), 0, end);

		while (from < end) {
			const x = Math.floor(this.x(at(from)));
			const to = Math.max(from + 1, gallop(at, this.time(x + 1), from, end));

			visit(x, from, to);
			from = to;
		}
	}
	/* During a search, events that are not hits are faint. */
	drawEvents(row, y, height) {
		this.paint.globalAlpha = this.hits ? 0.22 : 1;
		this.drawList(row.events, y, height, false);
		this.paint.globalAlpha = 1;
		if (this.hits)
			this.drawList(this.hits.byRow.get(row) ?? [], y, height, true);
	}
	drawList(list, y, height, isHit) {
		const pixels = [];

		this.eachPixel(list, (x, from, to) => pixels.push([x, from, to]));
		const isDense = pixels.length > LEAST_COLUMNS;

		if (isDense)
			this.strip.begin(this.width, y - 2, y + height + 2);
		pixels.forEach(([x, from, to], k) => {
			const before = k > 0 ? x - pixels[k - 1][0] : Infinity;
			const after = k + 1 < pixels.length ? pixels[k + 1][0] - x : Infinity;
			const room = this.hits && !isHit ? 0 : Math.min(after - 16, this.width - x - 10);

			/* Hits that are close together have only a short mark, so that the events stay visible. */
			if (isHit)
				this.column(this.theme.hit, x - 1, y - 2, 3, before >= 4 || after >= 4 ? height + 4 : 5);
			if (to - from === 1 && before >= ROOM_FOR_MARK && after >= ROOM_FOR_MARK)
				this.drawMark(list[from], y, height, room);
			else
				this.drawTick(list, x, from, to, y, height, after > 3 && !isHit ? 2 : 1);
		});
		if (isDense)
			this.strip.end(this.paint);
	}
	/* A single event: a diamond, and its name if there is room. */
	drawMark(i, y, height, room) {
		const type = this.trace.type(i);
		const x = this.x(this.trace.seek[i]), middle = y + height / 2;

		this.diamond(x, middle, 4.5, this.theme.typeColor(type));
		if (room >= ROOM_FOR_LABEL)
			this.put(this.trace.types[type].short, x + 8, middle, room, this.theme.text);
	}
	diamond(x, y, size, color) {
		this.paint.fillStyle = color;
		this.paint.beginPath();
		this.paint.moveTo(x, y - size);
		this.paint.lineTo(x + size, y);
		this.paint.lineTo(x, y + size);
		this.paint.lineTo(x - size, y);
		this.paint.fill();
	}
	/*
	 * Draw events that are close together as a bar.  Its height grows with their number; each colour has its share
	 * of the height, unless nobody could see it.
	 */
	drawTick(list, x, from, to, y, height, width) {
		const size = height * Math.min(0.6 + 0.1 * Math.log2(to - from), 1);
		let bottom = y + height;

		if (to - from === 1) {
			this.column(this.theme.typeColor(this.trace.type(list[from])), x, bottom - size, width, size);
			return;
		}
		const counts = this.theme.countHues(list, from, to);
		let part = 0;

		for (let hue = 0; hue < counts.length; hue++) {
			part += size * counts[hue] / (to - from);
			if (counts[hue] === 0 || part < LEAST_PART)
				continue; // the next hue gets this part, too
			this.column(this.theme.hues[hue], x, bottom -= part, width, part);
			part = 0;
		}
	}

	/* Draw the periods in which events were lost, over all rows. */
	drawGaps() {
		const {gaps} = this.trace;
		let k = lowerBound(at => gaps[at].begin, this.view.begin, 0, gaps.length);

		for (k = Math.max(k - 1, 0); k < gaps.length && gaps[k].begin < this.view.end;) {
			const x = Math.floor(this.x(gaps[k].begin)), width = Math.max(this.x(gaps[k].end) - x, 3);

			if (x + width >= 0)
				this.drawGap(x, width);
			k = Math.max(k + 1, gallop(at => gaps[at].begin, this.time(x + 3), k, gaps.length));
		}
	}
	drawGap(x, width) {
		this.paint.globalAlpha = 0.5;
		this.fill(this.theme.hatching(this.paint), x, AXIS_HEIGHT, width, this.height);
		this.paint.globalAlpha = 1;
		this.fill(this.theme.loss, x, AXIS_HEIGHT, 1, this.height);
		if (width > 90)
			this.put('events lost', Math.max(x, 0) + 8, this.height - 12, width, this.theme.loss);
	}
	selectedRow() {
		const {selection} = this;

		if (!selection)
			return null;
		return selection.span ? selection.span.row : this.trace.rowOfEvent(selection.event);
	}
	drawSelection(top) {
		const {selection, trace} = this;
		const line = this.lines.find(line => line.row && line.row === this.selectedRow());

		if (!selection)
			return;
		if (selection.event !== undefined) {
			const x = this.x(trace.time[selection.event]);

			this.fill(this.theme.accent, Math.round(x), AXIS_HEIGHT, 1, this.height);
			if (line)
				this.ring(x, line.y - top + PADDING + (line.row.lane - 4) / 2, trace.type(selection.event));
		} else if (line) {
			this.outline(selection.span, line.y - top + PADDING + line.row.lane, line.row.state);
		}
		if (this.mark !== null)
			this.fill(this.theme.hit, Math.round(this.x(trace.time[this.mark])), AXIS_HEIGHT, 1, this.height);
	}
	/*
	 * Return the arrows to draw: from the row of the thread that ended a wait to the row of the thread that waited, at
	 * the end of the wait.  If there are too many, only those of the selected row, and none if these are too many, too.
	 */
	arrows() {
		const lineOf = new Map(this.lines.filter(line => line.row).map(line => [line.row, line]));
		const chosen = this.selectedRow();

		return this.arrowsOf(lineOf, () => true) ??
			this.arrowsOf(lineOf, (from, to) => from.row === chosen || to.row === chosen) ?? [];
	}
	/* Return null if there are too many arrows, or too many waits to look at in a frame. */
	arrowsOf(lineOf, takes) {
		const {begin, end} = this.view;
		const found = [];
		let looked = 0;

		for (const to of lineOf.values()) {
			const list = to.row.spans[KIND.WAIT] ?? [];

			/* The waits of a thread do not overlap. */
			for (let k = lowerBound(at => list[at].end, begin, 0, list.length); k < list.length && list[k].end < end; k++) {
				const span = list[k];
				const from = span.waker ? lineOf.get(this.trace.rowOf.get(`thread:${span.waker}`)) : undefined;

				if (++looked > LOOKED || found.length > ARROWS)
					return null;
				if (from && from !== to && takes(from, to))
					found.push({span, from, to});
			}
		}
		return found;
	}
	drawArrows(top) {
		const {paint} = this;

		paint.strokeStyle = paint.fillStyle = this.theme.dim;
		paint.lineWidth = 1;
		for (const {span, from, to} of this.arrows()) {
			const x = Math.round(this.x(span.end)) + 0.5;
			const middle = ({row, y}) => y - top + PADDING + row.lane + row.state / 2;
			const y = [middle(from), middle(to)], way = Math.sign(y[1] - y[0]);

			if (Math.max(...y) < AXIS_HEIGHT || Math.min(...y) > this.height)
				continue;
			paint.beginPath();
			paint.moveTo(x, Math.max(y[0], AXIS_HEIGHT));
			paint.lineTo(x, Math.max(y[1] - way * 5, AXIS_HEIGHT));
			paint.stroke();
			if (y[1] < AXIS_HEIGHT)
				continue;
			paint.beginPath();
			paint.moveTo(x, y[1]);
			paint.lineTo(x - 3, y[1] - way * 6);
			paint.lineTo(x + 3, y[1] - way * 6);
			paint.fill();
		}
	}
	ring(x, y, type) {
		if (y < AXIS_HEIGHT)
			return;
		this.diamond(x, y, 9, this.theme.accent);
		this.diamond(x, y, 7, this.theme.page);
		this.diamond(x, y, 5, this.theme.typeColor(type));
	}
	outline(span, y, height) {
		const x = this.x(span.begin);

		this.paint.strokeStyle = this.theme.accent;
		this.paint.lineWidth = 2;
		this.paint.strokeRect(x - 1, y - 1, Math.max(this.x(span.end) - x, 1) + 2, height);
	}
	drawAxis(marks) {
		this.fill(this.theme.panel, 0, 0, this.width, AXIS_HEIGHT);
		for (const {time, text} of marks) {
			const x = Math.round(this.x(time));

			this.fill(this.theme.line, x, AXIS_HEIGHT - 8, 1, 8);
			this.paint.fillStyle = this.theme.dim;
			this.paint.fillText(text, x + 5, AXIS_HEIGHT / 2);
		}
		this.fill(this.theme.line, 0, AXIS_HEIGHT - 1, this.width, 1);
		if (this.chosen)
			this.span(this.x(this.chosen.begin), this.x(this.chosen.end), brief(this.chosen.end - this.chosen.begin),
				this.theme.accent);
	}
	/* Draw the time under the mouse. */
	drawHover() {
		const time = this.time(this.hover);
		const text = `${grouped(seconds(Math.round(time)))} s`;
		const width = this.paint.measureText(text).width + 12;
		const x = Math.min(Math.max(this.hover - width / 2, 0), this.width - width);

		this.fill(this.theme.line, Math.round(this.hover), AXIS_HEIGHT, 1, this.height);
		this.flag(text, x, width, this.theme.text, this.theme.page);
	}
	flag(text, x, width, color, textColor) {
		this.paint.fillStyle = color;
		this.paint.beginPath();
		this.paint.roundRect(x, 5, width, AXIS_HEIGHT - 11, 4);
		this.paint.fill();
		this.paint.fillStyle = textColor;
		this.paint.fillText(text, x + 6, AXIS_HEIGHT / 2);
	}
	drawRange() {
		const x = Math.min(...this.range), width = Math.abs(this.range[1] - this.range[0]);

		this.paint.globalAlpha = 0.18;
		this.fill(this.theme.accent, x, AXIS_HEIGHT, width, this.height);
		this.paint.globalAlpha = 1;
		this.span(x, x + width, brief(width / this.scale), this.theme.accent);
	}
	/* Shade the selected range, and mark its ends. */
	drawChosen() {
		if (!this.chosen)
			return;
		const from = this.x(this.chosen.begin), to = this.x(this.chosen.end);

		this.paint.globalAlpha = 0.12;
		this.fill(this.theme.accent, from, AXIS_HEIGHT, Math.max(to - from, 1), this.height);
		this.paint.globalAlpha = 1;
		for (const x of [from, to])
			this.fill(this.theme.accent, Math.round(x), 0, 1, this.height);
	}
	/* Draw each bookmark as a flag with its number in the axis, and a line below it. */
	drawBookmarks() {
		this.bookmarks.forEach((mark, k) => {
			const x = Math.round(this.x(mark.time));

			if (x < -FLAG || x > this.width + FLAG)
				return;
			this.paint.globalAlpha = 0.6;
			this.fill(this.theme.text, x, AXIS_HEIGHT, 1, this.height);
			this.paint.globalAlpha = 1;
			const width = Math.max(FLAG, this.paint.measureText(String(k + 1)).width + 12);

			this.flag(String(k + 1), x - FLAG / 2, width, this.theme.text, this.theme.page);
			if (mark.note)
				this.put(mark.note, x + 4, this.height - 10, 160, this.theme.text);
		});
	}
	/* Mark a duration in the axis, between two x positions. */
	span(from, to, text, color) {
		const width = this.paint.measureText(text).width + 12;
		const middle = Math.min(Math.max((from + to - width) / 2, 0), this.width - width);

		this.fill(color, from, AXIS_HEIGHT - 3, Math.max(to - from, 1), 3);
		this.flag(text, middle, width, color, this.theme.page);
	}
	/* Draw the time between the mark and the selected event. */
	drawMeasure() {
		const {trace, selection, mark} = this;

		if (mark === null || !selection || selection.event === undefined || selection.event === mark)
			return;
		const times = [trace.time[mark], trace.time[selection.event]].sort((a, b) => a - b);

		this.span(this.x(times[0]), this.x(times[1]), brief(times[1] - times[0]), this.theme.accent);
	}
}

/* The text in the bar of a wait.  The words "waits for" are left out, because the colour shows this. */
function waitText(span) {
	const what = span.name.replace(/^waits for /, '');

	return span.holder ? `${what}, held by ${span.holder}` : what;
}

function stateText(span) {
	return span.kind === KIND.RUN ? ['running', span.name].filter(text => text).join(', ') : span.name;
}

/* Return a title that describes the span. */
function spanTitle(span) {
	switch (span.kind) {
	case KIND.WAIT:
		return `${span.row.name} ${span.name}`;
	case KIND.ISR:
		return 'interrupt service routine';
	case KIND.LOCK:
		return `${span.name} holds ${span.row.name}`;
	case KIND.RUN:
		return span.name ? `${span.row.name} runs on ${span.name}` : `${span.row.name} runs`;
	case KIND.SPAN:
		return span.name;
	case KIND.READY:
	case KIND.BLOCKED:
		return `${span.row.name} is ${span.name}`;
	default:
		return 'events were lost here';
	}
}

/* Set the size of a canvas, in pixels of the page.  Its bitmap has the resolution of the screen. */
function fit(canvas, width, height) {
	const ratio = devicePixelRatio || 1;

	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	canvas.getContext('2d').setTransform(ratio, 0, 0, ratio, 0, 0);
}

/* Return an element with a class and a text. */
function make(tag, className, text) {
	const element = document.createElement(tag);

	if (className)
		element.className = className;
	if (text !== undefined)
		element.textContent = text;
	return element;
}
