// SPDX-License-Identifier: MIT
/* Details of the selection. */
class Details {
	constructor(trace, theme, callbacks) {
		Object.assign(this, {trace, theme, callbacks});
		this.box = document.getElementById('details');
		this.show(null, null);
	}
	/* Without a selection, show the range.  If a step of an explanation led here, show the way back. */
	show(selection, mark, range) {
		const parts = selection?.span ? this.span(selection.span) : selection ? this.event(selection.event, mark) :
			range && !range.isAll ? this.range(range) : this.nothing();

		if (selection?.from)
			parts.unshift(this.back(selection.from));
		this.box.replaceChildren(...parts);
	}
	back(span) {
		const button = make('button', 'back', `‹ ${spanTitle(span)}`);

		button.id = 'back';
		button.onclick = () => this.callbacks.goToSpan(span);
		return button;
	}
	range(range) {
		const waits = range.sum(this.trace.waits), number = range.to - range.from;
		const threads = this.trace.threads().filter(row => range.countOf(row.events) > 0).length;
		const spans = range.sum(this.trace.rows.flatMap(row => row.spans[KIND.SPAN] ?? []));
		const zoom = make('button', 'wide', 'Zoom to it');

		zoom.onclick = () => this.callbacks.zoomTo(range.begin, range.end);
		return [make('h2', '', 'Selected range'), this.list([
			['length', `${asTime(range.length)} s`, 'range-length'],
			['from', `${asTime(range.begin)} s`, 'range-from'], ['until', `${asTime(range.end)} s`, 'range-until'],
			['events', grouped(number), 'range-events'],
			['events/s', range.length > 0 ? grouped(Math.round(number / range.length * 1e9)) : '', 'range-rate'],
			['threads', grouped(threads), 'range-threads'],
			['waits', `${grouped(waits.count)}, ${brief(waits.total)} in all`, 'range-waits'],
			spans.count > 0 ? ['spans', `${grouped(spans.count)}, ${brief(spans.total)} in all`, 'range-spans'] : null,
		]), make('p', 'nothing', 'The tables on the left show the range, too. Esc ends it.'), zoom];
	}
	/* What txtrace why prints about a wait.  A click on a line shows what it is about. */
	why(span) {
		const lines = this.trace.whyOf(span);
		const box = make('div', 'why');

		if (span.kind !== KIND.WAIT)
			return [];
		for (const line of lines ?? []) {
			const [depth, text, context] = line;
			const one = make(context === undefined ? 'p' : 'button', 'why-line', text);

			one.style.setProperty('--depth', depth);
			if (context !== undefined)
				one.onclick = () => this.callbacks.whyStep(line, span);
			box.append(one);
		}
		if (!lines)
			box.append(make('p', 'nothing', 'The page explains only the longest waits. This command explains this one:'),
				make('pre', 'dump', this.question(span)));
		return [make('h3', '', 'Why'), box];
	}
	question(span) {
		const {facts} = this.trace;
		const middle = Math.floor((span.begin + span.end) / 2);

		return `txtrace why '${facts.file.replaceAll("'", "'\\''")}' ${hex(span.row.context, 8)}@${seconds(middle)}s`;
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

		if (trace.facts.filters[trace.number[i]] || schedText(trace, i))
			parts.push(make('p', 'plain', trace.plainData(i)));
		else if (words && words.length > 0)
			parts.push(this.words(words, i));
		if (size > 0)
			parts.push(this.dump(i));
		if (trace.isCut(i))
			parts.push(make('p', 'note', 'The data was truncated when it was recorded.'));
		if (size > trace.keptSize(i))
			parts.push(make('p', 'note', `The page has the first ${trace.keptSize(i)} bytes; txtrace print has all.`));
		return parts;
	}
	words(words, i) {
		const fields = new Set(this.callbacks.fields().map(({key}) => key));
		const table = make('table', 'words');

		for (const {label, word, value, text, object} of words) {
			const row = make('tr');
			const shown = text ?? (word < 65536 ? String(word) : '');
			const number = typeof value === 'bigint' ? BigInt.asUintN(64, value).toString(16) : null;

			row.append(make('th', '', label), make('td', '', object ? object.name : shown),
				make('td', 'hex', word !== undefined ? `0x${hex(word, 8)}` : number ? `0x${number}` : ''));
			const key = `${this.trace.typeOf(i).id}.${label}`;

			if (fields.has(key)) {
				const button = make('button', 'plot', 'row');

				button.title = 'show this field as a row of the timeline';
				button.onclick = () => this.callbacks.field(key);
				row.append(button);
			}
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
			span.kind === KIND.WAIT ? ['kind', CLASSES[span.waitClass][0], 'class'] : null,
		]), ...this.why(span), show];

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
