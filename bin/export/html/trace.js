// SPDX-License-Identifier: MIT
'use strict';
/*
 * The page of txtrace export --to html.
 *
 *	page.html	the elements; txtrace inserts the rest
 *	page.css	the style, for a light and for a dark screen
 *	trace.js	the trace: reads it from the page for the scripts below
 *	query.js	the language of the search box
 *	draw.js		times and colours
 *	timeline.js	the axis and the rows
 *	overview.js	the whole trace, above the timeline
 *	mouse.js	the mouse on the timeline and on the overview
 *	panels.js	the table of events, the statistics, and the details of the selection
 *	page.js		the page as a whole: selection, search, keys, and the view in the address
 *
 * txtrace writes the trace into these elements of the page:
 *
 *	script.events	blocks of records, one for each event, in the order of the file
 *	script.spans	blocks of records, one for each span: a wait, interrupt, hold, loss, CPU slice,
 *			or state of a thread
 *	#facts		JSON: the file, and the names; the records hold numbers of names
 *
 * Blocks are base64, and their numbers are LEB128 (bin/export/pack.h).  The record of an event holds
 *
 *	time		ns after the previous event, signed
 *	number		number of the event in the file, as the difference to the previous event
 *	origin		index in facts.origins: [context, pid, priority, thread]
 *	site		index in facts.sites: [type, address, object, phase]; the first site of a type also has name,
 *			labels, and fields of the call; object and phase are those of a call in a log
 *	CPU
 *	size		size of the data << 2 | has fields (fields.js) << 1 | was truncated when it was recorded
 *	data		the first 64 bytes, or 256 of data with fields, in groups of eight: a bit mask of the bytes that differ from the last
 *			event with this site, then these bytes
 *
 * The record of a span holds
 *
 *	kind		see KIND
 *	context		context of the thread, handle of the lock, or index of the span that the program describes
 *	pid		signed
 *	begin		ns after the start of the previous span, signed
 *	length		length in ns
 *	name, holder	indexes in facts.names
 *	waker		of a wait, the context of the thread that ended it; 0: none, or not known
 *
 * Times are ns after the first event of the file.  A double holds them exactly for the first hundred days.
 */

const KIND = {WAIT: 0, ISR: 1, LOCK: 2, LOSS: 3, RUN: 4, READY: 5, BLOCKED: 6, SPAN: 7};
const KEPT_BYTES = 64, KEPT_DESCRIBED_BYTES = 256;
const HEX = Array.from({length: 256}, (_, byte) => hex(byte, 2));
/* Phases of a call, the sizes of the words of a layout, and those of kinds of fields: see lib/event/calls.h. */
const NO_CALL = -1, WHOLE = 0, BEGINS = 1;
const LAYOUTS = [[8, 4, 2, 2], [4, 4, 8], [8, 8]];
const KIND_BYTES = {p: 8, n: 8, q: 8, h: 2, e: 2, c: 2, r: 2, s: 0, a: 0, f: 0};
const INTERRUPT = 0xFFFFFFFF, INITIALIZE = 0xF0F0F0F0;

/* Reads the numbers of a block. */
class Reader {
	constructor(element) {
		const text = element.textContent;
		const binary = Uint8Array.fromBase64 ? null : atob(text);

		this.bytes = binary === null ? Uint8Array.fromBase64(text) :
			Uint8Array.from({length: binary.length}, (_, i) => binary.charCodeAt(i));
		this.at = 0;
		element.remove();
	}
	get isAtEnd() {
		return this.at >= this.bytes.length;
	}
	byte() {
		return this.bytes[this.at++];
	}
	number() {
		let byte = this.bytes[this.at++];
		let number = byte & 127;

		for (let scale = 128; byte > 127; scale *= 128) {
			byte = this.bytes[this.at++];
			number += (byte & 127) * scale;
		}
		return number;
	}
	signed() {
		const number = this.number();

		return number % 2 ? -(number + 1) / 2 : number / 2;
	}
}

/* An array of numbers that grows. */
class Growing {
	constructor(type) {
		this.array = new type(1024);
		this.length = 0;
	}
	reserve(more) {
		if (this.length + more <= this.array.length)
			return;
		const old = this.array;

		this.array = new old.constructor(Math.max(2 * old.length, this.length + more));
		this.array.set(old);
	}
	push(number) {
		this.reserve(1);
		this.array[this.length++] = number;
	}
	done() {
		return this.array.subarray(0, this.length);
	}
}

/* Return the first place in [from, to) where at(place) >= value, or `to` if there is none.  at() must not fall. */
function lowerBound(at, value, from, to) {
	while (from < to) {
		const middle = (from + to) >>> 1;

		if (at(middle) < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Do the same as lowerBound(), but fast if the place is near `from`: each step is twice as long as the previous one. */
function gallop(at, value, from, to) {
	let step = 1;

	while (from + step < to && at(from + step) < value)
		step *= 2;
	return lowerBound(at, value, from, Math.min(from + step, to));
}

/* Compare numbers in names as numbers: "thread 2" is before "thread 10". */
const byName = new Intl.Collator('en', {numeric: true}).compare;

class Trace {
	constructor(facts) {
		this.facts = facts;
		this.n = facts.events;
		this.end = Math.max(facts.end, 0);
		this.begin = 0;
		this.time = new Float64Array(this.n);
		this.number = new Float64Array(this.n);
		this.origin = new Uint32Array(this.n);
		this.site = new Uint32Array(this.n);
		this.cpu = new Uint16Array(this.n);
		this.size = new Uint32Array(this.n);
		this.flags = new Uint8Array(this.n);
		this.dataAt = new Float64Array(this.n);
		this.pool = new Growing(Uint8Array);
		this.nrRead = 0;
		this.gaps = [];
		this.hasStates = false;
		this.waits = [];
		this.nameTypes();
		this.objects = new Map(facts.objects.map(
			([handle, name, type, pid, tid]) => [handle, {handle, name, type, pid, tid}]));
		this.objectOfTid = new Map();
		this.objectAt = new Map();
		for (const [handle, , type, pid, tid, address] of facts.objects) {
			if (type === 'thread' && tid > 0)
				this.objectOfTid.set(tid, this.objects.get(handle));
			else if (address !== '0x0')
				this.objectAt.set(`${pid}:${address}`, this.objects.get(handle));
		}
	}

	/* Make the types from the sites: name, and labels of the words. */
	nameTypes() {
		this.types = [];
		const known = new Map();

		this.siteType = this.facts.sites.map(([id, , , , name, labels, call]) => {
			if (!known.has(id)) {
				known.set(id, this.types.length);
				this.types.push({id, name, words: labels && this.wordsOf(labels),
					fields: call && this.fieldsOf(...call), events: []});
			}
			return known.get(id);
		});
		this.types.forEach(type => {
			type.short = type.name.replace(/^(TX|FX|NX|NXD|UX)_TRACE_/, '');
		});
	}

	/*
	 * Return the words with a label.  A word with the handle of a known object has the short label, without _ptr.
	 */
	wordsOf(labels) {
		return labels.map(([label, isObject], k) => ({label, short: label.replace(/_ptr$/, ''), isObject, offset: 4 * k}))
			.filter(({label}) => label !== '');
	}

	/*
	 * Return the fields of a call with their places in the data, from a text such as "mutex:p - - result:e".  Fields
	 * without a fixed size extend to the end of the data.
	 */
	fieldsOf(layout, text) {
		let offset = 0;

		return text.split(' ').map((part, k) => {
			const [name, kind] = part.split(':');
			const at = offset, bytes = LAYOUTS[layout][k] ?? KIND_BYTES[kind] ?? 4;

			offset += bytes;
			return {name, kind, offset: at, bytes, isFirst: k === 0};
		}).filter(({name}) => name !== '-');
	}

	/* Reading. */

	/* Read the blocks.  Between them, call progress(share read) and let the browser draw. */
	async read(progress) {
		const blocks = [...document.querySelectorAll('script.events')];
		const spans = [...document.querySelectorAll('script.spans')];
		const last = {time: 0, number: 0, data: this.facts.sites.map(() => new Uint8Array(KEPT_DESCRIBED_BYTES))};

		for (const [i, block] of blocks.entries()) {
			this.readEvents(new Reader(block), last);
			if (i % 4 === 3) {
				progress(this.nrRead / this.n);
				await new Promise(go => setTimeout(go));
			}
		}
		this.view = new DataView(this.pool.array.buffer);
		this.begin = this.n > 0 ? this.time.reduce((least, time) => Math.min(least, time)) : 0;
		this.makeSeek();
		this.makeRows();
		const state = {begin: 0};

		spans.forEach(block => this.readSpans(new Reader(block), state));
		this.splitLocks();
		this.sortRows();
	}

	readEvents(reader, last) {
		while (!reader.isAtEnd) {
			const i = this.nrRead++;

			this.time[i] = last.time += reader.signed();
			this.number[i] = last.number += reader.number();
			this.origin[i] = reader.number();
			this.site[i] = reader.number();
			this.cpu[i] = reader.number();
			const size = reader.number();

			this.size[i] = Math.floor(size / 4);
			this.flags[i] = size % 4;
			this.readData(reader, i, last.data[this.site[i]]);
		}
	}

	readData(reader, i, last) {
		const size = this.keptSize(i);

		for (let at = 0; at < size; at += 8) {
			const differ = reader.byte();

			for (let j = 0; differ >> j; j++)
				if (differ >> j & 1)
					last[at + j] = reader.byte();
		}
		this.pool.reserve(size);
		this.dataAt[i] = this.pool.length;
		for (let at = 0; at < size; at++)
			this.pool.array[this.pool.length++] = last[at];
	}

	/* OVERFLOW may have an earlier time than the previous event.  Searches use seek[], which never falls. */
	makeSeek() {
		let most = -Infinity, falls = false;

		for (let i = 0; i < this.n && !falls; i++) {
			falls = this.time[i] < most;
			most = this.time[i];
		}
		this.seek = falls ? this.time.slice() : this.time;
		for (let i = 1; i < this.n && falls; i++)
			this.seek[i] = Math.max(this.seek[i], this.seek[i - 1]);
	}

	/* Rows. */

	row(kind, context, pid) {
		const key = context === 0 ? `${kind}:0:${pid}` : `${kind}:${context}`;
		let row = this.rowOf.get(key);

		if (row)
			return row;
		const object = kind === 'span' ? undefined : this.objects.get(context);

		row = {key, kind, context, pid: object && object.pid ? object.pid : pid, tid: object ? object.tid : 0,
			name: this.rowName(context, object), events: [], spans: [], waitTime: 0, runTime: 0, readyTime: 0, blockedTime: 0, nrWaits: 0};
		this.rowOf.set(key, row);
		this.rows.push(row);
		return row;
	}

	contextName(context) {
		return this.rowName(context, this.objects.get(context));
	}
	rowName(context, object) {
		if (context === INTERRUPT)
			return 'interrupt';
		if (context === INITIALIZE)
			return 'initialization';
		if (context === 0)
			return 'no thread';
		return object ? object.name : hex(context, 8);
	}

	/* Make a row for each thread with events, and find the events of each row and of each type. */
	makeRows() {
		this.rows = [];
		this.rowOf = new Map();
		this.originRow = this.facts.origins.map(([context, pid]) => this.row('thread', context, pid));
		const places = this.originRow.map(row => this.rows.indexOf(row));

		this.eventRow = new Uint32Array(this.n);
		const counts = new Uint32Array(this.rows.length);

		for (let i = 0; i < this.n; i++)
			counts[this.eventRow[i] = places[this.origin[i]]]++;
		this.split(this.rows, counts, i => this.eventRow[i]);
		const typeCounts = new Uint32Array(this.types.length);

		for (let i = 0; i < this.n; i++)
			typeCounts[this.type(i)]++;
		this.split(this.types, typeCounts, i => this.type(i));
	}

	/* The rows of threads, without interrupts, initialization and "no thread". */
	threads() {
		return this.rows.filter(row => row.kind === 'thread' &&
			row.context !== INTERRUPT && row.context !== INITIALIZE && row.context !== 0);
	}

	/*
	 * Give each member of the list its events.  counts has the number of events of each member.  which(i) returns
	 * the member for event i.
	 */
	split(list, counts, which) {
		list.forEach((one, k) => {
			one.events = new Uint32Array(counts[k]);
			counts[k] = 0;
		});
		for (let i = 0; i < this.n; i++) {
			const k = which(i);

			list[k].events[counts[k]++] = i;
		}
	}

	readSpans(reader, state) {
		while (!reader.isAtEnd) {
			const kind = reader.number(), context = reader.number(), pid = reader.signed();
			const begin = state.begin += reader.signed();
			const end = begin + reader.number();
			const span = {kind, begin, end, name: this.facts.names[reader.number()],
				holder: this.facts.names[reader.number()], waker: reader.number()};

			if (kind === KIND.LOSS) {
				this.gaps.push(span);
				continue;
			}
			span.row = this.row(kind === KIND.LOCK ? 'lock' : kind === KIND.SPAN ? 'span' : 'thread', context, pid);
			if (kind === KIND.SPAN)
				span.row.name = span.name;
			(span.row.spans[kind] ??= []).push(span);
			if (kind === KIND.WAIT) {
				span.row.waitTime += end - begin;
				span.row.nrWaits++;
				this.waits.push(span);
			}
			if (kind === KIND.RUN)
				span.row.runTime += end - begin;
			if (kind === KIND.READY)
				span.row.readyTime += end - begin;
			if (kind === KIND.BLOCKED)
				span.row.blockedTime += end - begin;
			this.hasStates ||= kind === KIND.READY || kind === KIND.BLOCKED;
		}
	}

	/*
	 * A lock that several threads hold at a time has a row for each of them, so that no span covers another.  So it is
	 * for spans of the program.
	 */
	splitLocks() {
		for (const row of this.rows.filter(row => row.spans[KIND.LOCK] || row.spans[KIND.SPAN])) {
			const kind = row.kind === 'lock' ? KIND.LOCK : KIND.SPAN;
			const spans = row.spans[kind].sort((a, b) => a.begin - b.begin);
			const lanes = [{row, end: -Infinity}];

			row.spans[kind] = [];
			for (const span of spans) {
				let lane = lanes.find(lane => lane.end <= span.begin);

				if (!lane) {
					const nr = lanes.length + 1;

					lane = {row: {...row, key: `${row.key}:${nr}`, name: `${row.name} (${nr})`, spans: []}};
					lane.row.spans[kind] = [];
					lanes.push(lane);
					this.rows.push(lane.row);
				}
				lane.end = span.end;
				lane.row.spans[kind].push(span);
				span.row = lane.row;
			}
		}
	}

	/* Sort by process.  In a process: interrupts and initialization, threads, "no thread", locks, spans. */
	sortRows() {
		const rank = row => row.kind === 'span' ? 4 : row.kind === 'lock' ? 3 : row.context === INTERRUPT || row.context === INITIALIZE ? 0 :
			row.context === 0 ? 2 : 1;
		const isMain = row => row.tid !== 0 && row.tid === row.pid;
		const old = this.rows.slice();

		this.rows.sort((a, b) => a.pid - b.pid || rank(a) - rank(b) || isMain(b) - isMain(a) ||
			byName(a.name, b.name) || a.context - b.context);
		const place = old.map(row => this.rows.indexOf(row));

		this.eventRow = this.eventRow.map(row => place[row]);
		this.rows.forEach(row => row.spans.forEach(list => list.sort((a, b) => a.begin - b.begin)));
		this.gaps.sort((a, b) => a.begin - b.begin);
		this.waits.sort((a, b) => a.begin - b.begin);
	}

	/* Properties of an event. */

	type(i) {
		return this.siteType[this.site[i]];
	}
	typeOf(i) {
		return this.types[this.type(i)];
	}
	rowOfEvent(i) {
		return this.rows[this.eventRow[i]];
	}
	threadName(i) {
		return this.facts.origins[this.origin[i]][3];
	}
	keptSize(i) {
		return Math.min(this.size[i], this.isDescribed(i) ? KEPT_DESCRIBED_BYTES : KEPT_BYTES);
	}
	isCut(i) {
		return (this.flags[i] & 1) !== 0;
	}
	isDescribed(i) {
		return (this.flags[i] & 2) !== 0;
	}
	data(i) {
		return this.pool.array.subarray(this.dataAt[i], this.dataAt[i] + this.keptSize(i));
	}
	/* Return bytes of the data as a number, or null if the data is too short. */
	value(i, bytes, offset, isSigned) {
		if (offset + bytes > this.keptSize(i))
			return null;
		const {view} = this;
		const at = this.dataAt[i] + offset, little = this.facts.little === 1;

		switch (bytes) {
		case 1:
			return isSigned ? view.getInt8(at) : view.getUint8(at);
		case 2:
			return isSigned ? view.getInt16(at, little) : view.getUint16(at, little);
		case 4:
			return isSigned ? view.getInt32(at, little) : view.getUint32(at, little);
		default:
			return isSigned ? view.getBigInt64(at, little) : view.getBigUint64(at, little);
		}
	}

	/* Return the information words of a ThreadX event; null or undefined if it has none. */
	words(i) {
		const {words} = this.typeOf(i);

		return words && words.map(({label, short, isObject, offset}) => {
			const word = this.value(i, 4, offset, false) ?? 0;
			const object = isObject ? this.objects.get(word) : undefined;

			return {label: object ? short : label, word, object};
		});
	}

	/* Return the fields of a call, as txtrace print shows them; null if the event is no call. */
	callFields(i) {
		const [, , object, phase] = this.facts.sites[this.site[i]];
		const {fields} = this.typeOf(i);
		const shown = [];

		if (!fields || phase === NO_CALL)
			return null;
		for (const field of fields) {
			const value = this.fieldValue(i, field);

			if (value === null)
				break; /* the data was truncated */
			if (field.name === 'result' && phase === BEGINS)
				continue; /* the result is not yet known */
			shown.push({label: field.name, kind: field.kind, value, text: this.fieldText(i, field, value),
				object: this.fieldObject(i, field, value, object)});
		}
		if (phase !== WHOLE)
			shown.push({label: 'wait', kind: 's', value: 0n, text: phase === BEGINS ? 'begins' : 'ends'});
		return shown;
	}
	/* Return a number as a BigInt, and the text of a field of kind s, a or f. */
	fieldValue(i, {kind, offset, bytes}) {
		if (kind === 'f')
			return this.stackOf(i)[1];
		if (bytes === 0)
			return kind === 's' ? this.fieldString(i, offset) : this.fieldAddress(i, offset);
		const number = this.value(i, bytes, offset, 'dqec'.includes(kind));

		return number === null ? null : BigInt(number);
	}
	fieldString(i, offset) {
		const bytes = this.data(i).subarray(offset), end = bytes.indexOf(0);
		const text = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));

		return offset > this.size[i] ? null : text + (end < 0 && this.size[i] > KEPT_BYTES ? '…' : '');
	}
	fieldAddress(i, offset) {
		const bytes = this.data(i).subarray(offset);
		const family = this.value(i, 2, offset, false) ?? 0;

		if (offset > this.size[i])
			return null;
		if (family === 2 && bytes.length >= 16)
			return `${[...bytes.subarray(4, 8)].join('.')}:${256 * bytes[2] + bytes[3]}`;
		if (family === 10 && bytes.length >= 28)
			return `[${ipv6([...bytes.subarray(8, 24)])}]:${256 * bytes[2] + bytes[3]}`;
		if (family === 1 && bytes.length > 2) {
			const name = new TextDecoder().decode(bytes.subarray(bytes[2] === 0 ? 3 : 2)).split('\0')[0];

			return bytes[2] === 0 ? `@${name}` : name;
		}
		return `family ${family}`;
	}
	/* Return why the stack of an event ends, and its functions. */
	stackOf(i) {
		return this.facts.stacks[`0x${BigInt(this.value(i, 8, 0, false) ?? 0).toString(16)}`] ?? ['', ''];
	}
	fieldText(i, {name, kind}, value) {
		if (typeof value === 'string')
			return value;
		if (kind === 'r')
			return this.stackOf(i)[0];
		const isError = name === 'result' && (kind === 'q' ? value < 0n && value > -4096n : value > 0n);
		const error = value < 0n ? -value : value;

		if (isError)
			return (kind === 'c' && this.facts.c11[error]) || (this.facts.errors[error] ?? 'unknown error');
		return kind === 'p' || kind === 'x' ? `0x${value.toString(16)}` : String(value);
	}
	fieldObject(i, {kind, isFirst}, value, object) {
		if (kind === 't' && value > 0n)
			return this.objectOfTid.get(Number(value));
		if (isFirst && object !== 0)
			return this.objects.get(object);
		if (kind === 'p' && value !== 0n)
			return this.objectAt.get(`${this.facts.origins[this.origin[i]][1]}:0x${value.toString(16)}`);
		return undefined;
	}

	/* Return the objects that the data of an event names. */
	objectsOf(i) {
		return (this.callFields(i) ?? this.words(i) ?? []).map(({object}) => object).filter(object => object);
	}

	/* Return the text that txtrace print shows in its column "data". */
	dataText(i) {
		return this.plainData(i) + (this.isCut(i) ? ' (cut)' : '');
	}
	plainData(i) {
		const fields = this.callFields(i);
		const words = this.words(i);

		if (this.facts.filters[this.number[i]])
			return this.facts.filters[this.number[i]];
		if (fields)
			return fields.map(({label, kind, text, object}) => {
				const quote = kind === 'r' || (kind === 's' && label !== 'wait') ? '"' : '';

				return `${label}=${quote}${object ? object.name : text}${quote}`;
			}).join(' ');

		if (words)
			return words.map(({label, word, object}) =>
				`${label}=${object ? object.name : word >= 65536 ? `0x${word.toString(16)}` : word}`).join(' ');
		if (this.isDescribed(i))
			return describedFields(this, i).map(({label, text}) => `${label}=${text}`).join(' ');
		return this.bytesText(i);
	}
	bytesText(i) {
		const bytes = this.data(i), size = Math.min(bytes.length, 32);
		let digits = '';

		for (let at = 0; at < size; at++)
			digits += (at > 0 && at % 4 === 0 ? ' ' : '') + HEX[bytes[at]];
		return this.size[i] > 32 ? `${digits} ... ${this.size[i]} bytes` : digits;
	}

	/* Return the neighbour of an event in a list that contains the event, or undefined. */
	neighbour(list, i, step) {
		return list[lowerBound(k => list[k], i, 0, list.length) + step];
	}
	previousInRow(i) {
		return this.neighbour(this.rowOfEvent(i).events, i, -1);
	}

	/* Return the event of a list that is nearest to a time; undefined if the list is empty. */
	nearest(list, time) {
		const k = lowerBound(at => this.seek[list[at]], time, 0, list.length);
		const before = list[k - 1], after = list[k];

		if (before === undefined || after === undefined)
			return before ?? after;
		return time - this.seek[before] <= this.seek[after] - time ? before : after;
	}
	/* Return the last event of the list at this time or before it, or undefined. */
	lastUntil(list, time) {
		return list[lowerBound(at => this.seek[list[at]], time + 0.5, 0, list.length) - 1];
	}
	/* Return the first of all events at this time or later, or the last event if there is none. */
	firstAt(time) {
		return Math.min(lowerBound(at => this.seek[at], time, 0, this.n), this.n - 1);
	}
}

function hex(number, width) {
	return number.toString(16).padStart(width, '0');
}

/* Return an IPv6 address as inet_ntop() does: the longest series of zeros becomes "::". */
function ipv6(bytes) {
	const groups = Array.from({length: 8}, (_, k) => (256 * bytes[2 * k] + bytes[2 * k + 1]).toString(16));
	const runs = [...` ${groups.join(' ')} `.matchAll(/(?: 0)+(?= )/g)].sort((a, b) => b[0].length - a[0].length);

	if (runs.length === 0 || runs[0][0].length < 4)
		return groups.join(':');
	const at = runs[0].index, text = ` ${groups.join(' ')} `;

	return `${text.slice(0, at).trim().replaceAll(' ', ':')}::${text.slice(at + runs[0][0].length).trim().replaceAll(' ', ':')}`;
}
