// SPDX-License-Identifier: MIT
'use strict';
/*
 * The page of txtrace export --to html.
 *
 *	page.html	the elements; txtrace inserts the rest
 *	page.css	the style, for a light and for a dark screen
 *	panels.css	the style of the panels below the timeline
 *	records.js	the columns of the events: reads them from the page for the scripts below
 *	calls.js	what the data of an event say, as texts
 *	sched.js	the data of scheduling records
 *	trace.js	the trace: its rows, spans, and explanations of waits
 *	fields.js	the fields of described types
 *	query.js	the language of the search box
 *	draw.js		times and colours
 *	counters.js	numbers of events as rows
 *	range.js	statistics of a range of time
 *	strip.js	the columns of a row, as an image
 *	paint.js	draws the axis and the rows
 *	rows.js		which rows are shown, and in which order
 *	timeline.js	the axis and the rows
 *	overview.js	the whole trace, above the timeline
 *	legend.js	the colours of what the trace has
 *	mouse.js	the mouse on the timeline and on the overview
 *	table.js	the table of events
 *	panels.js	the tables of statistics
 *	details.js	the details of the selection
 *	bookmarks.js	bookmarks with notes
 *	address.js	the view in the address of the page
 *	page.js		the page as a whole: selection, search, keys
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
 *	kind		see KIND; of a wait, its class << 3 (see CLASSES) | KIND.WAIT
 *	context		context of the thread, handle of the lock, or index of the span that the program describes
 *	pid		signed
 *	begin		ns after the start of the previous span, signed
 *	length		length in ns
 *	name, holder	indexes in facts.names
 *	waker		of a wait, the context of the thread that ended it; 0: none, or not known
 *
 * facts.why has what txtrace why prints for the longest waits: [context, begin, [line, ...]], each line as
 *
 *	[depth, text]  or  [depth, text, context, object, from, until]
 *
 * for a line that is about a wait of a thread, about its hold of an object (a handle, or 0), or about what it did then.
 *
 * Times are ns after the first event of the file.  A double holds them exactly for the first hundred days.
 */

const KIND = {WAIT: 0, ISR: 1, LOCK: 2, LOSS: 3, RUN: 4, READY: 5, BLOCKED: 6, SPAN: 7};
/* The classes of waits, as in bin/waits/wait_class.h: the name in the legend, and the name of its colour. */
const CLASSES = [['other wait', 'wait-other'], ['mutex or other lock', 'wait-lock'], ['condition', 'wait-condition'],
	['semaphore, queue', 'wait-queue'], ['sleep', 'wait-sleep'], ['I/O', 'wait-io'],
	['end of a thread or process', 'wait-join']];
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

/*
 * Return the times at which the spans of a list begin, as an array of numbers: with many spans, a search in the spans
 * themselves waits for the memory.  The list must not change any more.
 */
const begins = new WeakMap(); // key: a list of spans

function beginsOf(list) {
	let times = begins.get(list);

	if (!times)
		begins.set(list, times = Float64Array.from(list, span => span.begin));
	return times;
}

/*
 * Return for each span of a list the last one before it that was not over when it began, or -1.  A signal handler waits
 * while its thread waits.
 */
const outers = new WeakMap(); // key: a list of spans

function outersOf(list) {
	let places = outers.get(list);

	if (!places) {
		const open = [];

		outers.set(list, places = Int32Array.from(list, (span, k) => {
			while (open.length > 0 && list[open.at(-1)].end <= span.begin)
				open.pop();
			return open.push(k) > 1 ? open.at(-2) : -1;
		}));
	}
	return places;
}

/* Return those of the spans (after, last] that end after `time`, in their order, if list[last] is the last to begin before. */
function openSpans(list, after, last, time) {
	const places = outersOf(list), open = [];

	for (let k = last; k > after; k = places[k])
		if (list[k].end > time)
			open.push(list[k]);
	return open.reverse();
}

/* Compare numbers in names as numbers: "thread 2" is before "thread 10". */
const byName = new Intl.Collator('en', {numeric: true}).compare;

/* The events of the file, in columns. */
class Records {
	constructor(facts) {
		this.facts = facts;
		this.n = facts.events;
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
	/* Return true if the page has only a part of the data of the event. */
	isShortened(i) {
		return this.size[i] > this.keptSize(i);
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
