// SPDX-License-Identifier: MIT
/*
 * Statistics of a range of time, or of the whole trace.  A wait or span that is only partly in the range counts, with
 * the part of its time that is in the range.
 */

class Range {
	/* The whole trace, if begin and end are left out. */
	constructor(trace, begin = -Infinity, end = Infinity) {
		Object.assign(this, {trace, begin, end});
		[this.from, this.to] = this.partOf(null);
	}
	get isAll() {
		return this.begin === -Infinity;
	}
	get length() {
		return this.isAll ? this.trace.end - this.trace.begin : this.end - this.begin;
	}
	/* Return the places [from, to) of the events of a list in the range; null: of all events. */
	partOf(list) {
		const {seek, n} = this.trace;
		const at = k => seek[list ? list[k] : k], length = list ? list.length : n;
		const from = lowerBound(at, this.begin, 0, length);

		return [from, lowerBound(at, this.end === Infinity ? Infinity : this.end + 0.5, from, length)];
	}
	countOf(list) {
		const [from, to] = this.partOf(list);

		return to - from;
	}
	/* Return the events of a list, or of the trace, in the range; null: all events of the trace. */
	listOf(list) {
		if (this.isAll)
			return list;
		const [from, to] = this.partOf(list);

		return list ? list.subarray(from, to) : Uint32Array.from({length: to - from}, (_, k) => from + k);
	}
	/* Return how long a span is in the range; 0 if it is not. */
	clip(span) {
		return Math.max(Math.min(span.end, this.end) - Math.max(span.begin, this.begin), 0);
	}
	has(span) {
		return span.begin <= this.end && span.end >= this.begin;
	}
	/* Add up spans: {count, total, longest, longestLength, lengths}. */
	sum(spans) {
		const sum = {count: 0, total: 0, longest: null, longestLength: 0, lengths: []};

		for (const span of spans ?? []) {
			if (!this.has(span))
				continue;
			const length = this.clip(span);

			sum.count++;
			sum.total += length;
			sum.lengths.push(length);
			if (!sum.longest || length > sum.longestLength) {
				sum.longest = span;
				sum.longestLength = length;
			}
		}
		return sum;
	}
	/* The same for the spans of each name. */
	sumBy(spans, nameOf) {
		const lists = new Map();

		for (const span of spans) {
			const name = nameOf(span);

			if (!lists.has(name))
				lists.set(name, []);
			lists.get(name).push(span);
		}
		return [...lists].map(([name, list]) => ({name, ...this.sum(list)})).filter(({count}) => count > 0);
	}
}

/* Return the value that this share of the sorted numbers does not exceed. */
function quantile(sorted, share) {
	return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)];
}
