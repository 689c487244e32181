// SPDX-License-Identifier: MIT
/* Functions that show times and colours, on the canvas and in text. */

/* Times. */

const SCALES = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];
const THIN = '\u2009';

/* Return an exact time: seconds with nine decimals, as in txtrace print. */
function seconds(ns) {
	const size = Math.abs(ns);

	return `${ns < 0 ? '-' : ''}${Math.floor(size / 1e9)}.${String(size % 1e9).padStart(9, '0')}`;
}

/* Return a short time: about four digits and a unit, such as "12.3 ms". */
function brief(ns) {
	const size = Math.abs(ns);
	const [scale, unit] = SCALES.find(([scale]) => size >= scale) ?? SCALES[3];
	const value = ns / scale;

	return `${scale === 1 ? Math.round(value) : value.toFixed(Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3)} ${unit}`;
}

/* Return the digits in groups of three, on both sides of the point. */
function grouped(text) {
	const [whole, fraction] = String(text).split('.');
	const left = whole.replace(/\B(?=(\d{3})+$)/g, THIN);

	return fraction === undefined ? left : `${left}.${fraction.replace(/(\d{3})(?=\d)/g, `$1${THIN}`)}`;
}

/* Return a value of a field: whole numbers exactly, others with six digits. */
function amount(value) {
	return Number.isInteger(value) ? grouped(value) : String(Number(value.toPrecision(6)));
}

function count(number, one, many) {
	return `${grouped(number)} ${number === 1 ? one : many ?? `${one}s`}`;
}

/* Return the local date and time of an event, exact to the nanosecond. */
function clock(facts, ns) {
	const whole = BigInt(facts.first) + BigInt(Math.round(ns));
	const date = new Date(Number(whole / 1000000000n) * 1000);
	const two = number => String(number).padStart(2, '0');

	return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T` +
		`${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.` +
		String(whole % 1000000000n).padStart(9, '0');
}

/* Return the marks of an axis, with their texts.  The step is 1, 2 or 5 ns times a power of 10. */
function axisMarks(begin, end, width, spacing) {
	const least = Math.max((end - begin) / width * spacing, 1);
	const power = 10 ** Math.floor(Math.log10(least) + 1e-9);
	const step = Math.round(power) * ([1, 2, 5, 10].find(factor => factor * power >= least * 0.999999) ?? 10);
	const [scale, unit] = SCALES.find(([scale]) => Math.max(Math.abs(begin), Math.abs(end)) >= scale) ?? SCALES[3];
	const digits = Math.max(0, Math.round(Math.log10(scale)) - Math.floor(Math.log10(step) + 1e-9));
	const marks = [];

	for (let time = Math.ceil(begin / step) * step; time <= end; time += step)
		marks.push({time, text: `${grouped((time / scale).toFixed(digits))} ${unit}`});
	return {marks, step};
}

/* The colours of the page, and a colour for each group of event types. */

const HUES_LIGHT = ['#2f6fde', '#d9730d', '#178a55', '#8b4fd9', '#d13b4a', '#0e8f9e', '#c93b8c', '#7d8209', '#94602e', '#5a6b82'];
const HUES_DARK = ['#6ea8fe', '#f7a556', '#57d08c', '#bd9bff', '#ff7f87', '#4fd3df', '#ff8cc6', '#d2d65c', '#d3a77c', '#a3b3c9'];

const BLOCK = 16; // events between two sums of sumsOf()

/* TX_TRACE_QUEUE_SEND is in the group QUEUE.  A type with another form of name is its own group. */
function familyOf(name) {
	const found = name.match(/^(TX|FX|NX|NXD|UX)_TRACE_([A-Z]+)/);

	if (!found)
		return name.startsWith('posix_trace_') ? 'posix_trace' : name;
	return {TX: found[2], FX: 'FileX', UX: 'USBX'}[found[1]] ?? 'NetX';
}

class Theme {
	constructor(trace) {
		const counts = new Map();

		trace.types.forEach(type => {
			type.family = familyOf(type.name);
			counts.set(type.family, (counts.get(type.family) ?? 0) + type.events.length);
		});
		const order = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || byName(a, b));

		this.trace = trace;
		this.families = order;
		this.sums = new WeakMap(); // key: a list of events
		this.counts = new Uint32Array(HUES_LIGHT.length);
		this.hue = trace.types.map(type => type.family === 'posix_trace' ? HUES_LIGHT.length - 1 :
			order.indexOf(type.family) % (HUES_LIGHT.length - 1));
		this.read();
	}
	/* Call this again when the screen changes between light and dark. */
	read() {
		const style = getComputedStyle(document.documentElement);

		this.isDark = matchMedia('(prefers-color-scheme: dark)').matches;
		this.hues = this.isDark ? HUES_DARK : HUES_LIGHT;
		for (const name of ['page', 'panel', 'line', 'grid', 'text', 'dim', 'accent', 'wait-text', 'run',
			'run-text', 'ready', 'blocked', 'isr', 'lock', 'lock-text', 'loss', 'hit', 'band', 'row', 'select', 'counter'])
			this[name.replace(/-./g, c => c[1].toUpperCase())] = style.getPropertyValue(`--${name}`).trim();
		this.waits = CLASSES.map(([, name]) => style.getPropertyValue(`--${name}`).trim());
		this.font = `11px ${style.getPropertyValue('--sans')}`;
		this.hatch = null;
	}
	typeColor(type) {
		return this.hues[this.hue[type]];
	}
	/*
	 * Count the events [from, to) of a list by hue.  sumsOf() stores the sums up to the start of each block, so
	 * only the events outside of whole blocks must be counted.  The result is valid until the next call.
	 */
	countHues(list, from, to) {
		const {counts} = this;
		const nr = counts.length;
		const first = Math.ceil(from / BLOCK), last = Math.floor(to / BLOCK);

		if (first >= last) {
			counts.fill(0);
			this.countEach(list, from, to);
			return counts;
		}
		const sums = this.sumsOf(list);

		for (let hue = 0; hue < nr; hue++)
			counts[hue] = sums[last * nr + hue] - sums[first * nr + hue];
		this.countEach(list, from, first * BLOCK);
		this.countEach(list, last * BLOCK, to);
		return counts;
	}
	countEach(list, from, to) {
		const {counts, hue} = this, {siteType, site} = this.trace;

		for (let k = from; k < to; k++)
			counts[hue[siteType[site[list[k]]]]]++;
	}
	sumsOf(list) {
		const nr = this.hues.length;
		let sums = this.sums.get(list);

		if (sums)
			return sums;
		sums = new Uint32Array((Math.floor(list.length / BLOCK) + 1) * nr);
		for (let k = 0; k + BLOCK <= list.length; k += BLOCK) {
			const at = k / BLOCK * nr;

			sums.copyWithin(at + nr, at, at + nr);
			for (let j = k; j < k + BLOCK; j++)
				sums[at + nr + this.hue[this.trace.type(list[j])]]++;
		}
		this.sums.set(list, sums);
		return sums;
	}
	/* The pattern of gaps. */
	hatching(context) {
		if (this.hatch)
			return this.hatch;
		const tile = document.createElement('canvas');
		const paint = tile.getContext('2d');

		tile.width = tile.height = 8;
		paint.strokeStyle = this.loss;
		paint.lineWidth = 1.6;
		paint.beginPath();
		for (const x of [-8, 0, 8]) {
			paint.moveTo(x, 8);
			paint.lineTo(x + 8, 0);
		}
		paint.stroke();
		return this.hatch = context.createPattern(tile, 'repeat');
	}
}
