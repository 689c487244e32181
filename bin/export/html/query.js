// SPDX-License-Identifier: MIT
/*
 * The search box.  It accepts the language of txtrace-filter(7), except times of day:
 *
 *	or	= and { "or" and }
 *	and	= not { ["and"] not }
 *	not	= "not" not | "(" or ")" | test
 *	test	= FIELD OPERATOR VALUE | WORD
 *
 * A WORD alone is a glob for the name of the event.  If it is the name of no event type of the trace, and has no *, ? or
 * [, the name of the event or of the thread, or the data, contain it, in upper or lower case.
 */

class QueryError extends Error {}

const UNITS = {ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9};
const TEXT_FIELDS = ['event', 'thread', 'object', 'data'];
const NUMBER_FIELDS = ['type', 'context', 'pid', 'cpu', 'priority', 'size', 'address', 'number'];
const TEST = new RegExp(`^(${[...TEXT_FIELDS, 'time', ...NUMBER_FIELDS].join('|')}|[ui](?:8|16|32|64)(?:\\[\\d+\\])?)` +
	'\\s*(!=|<=|>=|==|<|>|=|:|~)\\s*');
const CALL_TEST = /^data\.([A-Za-z0-9_.[\]]+)\s*(!=|<=|>=|==|<|>|=|:|~)\s*/;

function globToRegExp(glob, flags = 's') {
	const text = glob.replace(/[.+^${}()|\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.')
		.replace(/\[!/g, '[^');

	try {
		return new RegExp(`^${text}$`, flags);
	} catch {
		throw new QueryError(`${glob} is not a pattern`);
	}
}

/* Only letters of ASCII have another case, as in the terminal. */
function lowerCase(text) {
	return text.replace(/[A-Z]/g, letter => letter.toLowerCase());
}

/* Return the result of "a OPERATOR b".  The operands may be BigInts. */
const COMPARE = {
	'=': (a, b) => a == b, '!=': (a, b) => a != b, '<': (a, b) => a < b, '<=': (a, b) => a <= b,
	'>': (a, b) => a > b, '>=': (a, b) => a >= b,
};

class Query {
	/* If the text is wrong, throw a QueryError with a message.  takes(i) tests event i. */
	constructor(trace, text) {
		this.trace = trace;
		this.rest = text.trimStart();
		this.readsData = this.isNegated = false; // a test reads data; a test takes what does not match
		this.takes = this.parseOr();
		if (this.rest !== '')
			throw new QueryError(`there is more text after the expression, at ${this.rest}`);
	}

	takeWord(word) {
		const found = this.rest.match(new RegExp(`^${word}(?=[\\s(]|$)\\s*`));

		if (!found)
			return false;
		this.skip(found[0].length);
		return true;
	}
	skip(length) {
		this.rest = this.rest.slice(length).trimStart();
	}
	parseOr() {
		let left = this.parseAnd();

		while (this.takeWord('or')) {
			const before = left, right = this.parseAnd();

			left = i => before(i) || right(i);
		}
		return left;
	}
	parseAnd() {
		let left = this.parseNot();

		while (this.rest !== '' && this.rest[0] !== ')' && !/^or(?=[\s(]|$)/.test(this.rest)) {
			this.takeWord('and');
			const before = left, right = this.parseNot();

			left = i => before(i) && right(i);
		}
		return left;
	}
	parseNot() {
		if (this.takeWord('not')) {
			const inner = this.parseNot();

			this.isNegated = true;
			return i => !inner(i);
		}
		if (this.rest[0] !== '(')
			return this.parseTest();
		this.skip(1);
		const inner = this.parseOr();

		if (this.rest[0] !== ')')
			throw new QueryError('a ) is missing');
		this.skip(1);
		return inner;
	}
	takeValue() {
		const found = this.rest.match(/^(?:"([^"]*)"|'([^']*)'|([^\s()"'][^\s()]*))/);

		if (!found)
			throw new QueryError(/^["']/.test(this.rest) ? 'the quote does not end' : 'a value is missing');
		this.skip(found[0].length);
		return found[1] ?? found[2] ?? found[3];
	}
	parseTest() {
		const ofCall = this.rest.match(CALL_TEST);
		const found = this.rest.match(TEST);

		if (ofCall) {
			this.skip(ofCall[0].length);
			return this.callTest(ofCall[1], [':', '==', '~'].includes(ofCall[2]) ? '=' : ofCall[2], this.takeValue());
		}
		if (!found)
			return this.wordTest(this.takeValue());
		this.skip(found[0].length);
		const [, field] = found;
		const operator = [':', '==', '~'].includes(found[2]) ? '=' : found[2];
		const value = this.takeValue();

		if (TEXT_FIELDS.includes(field))
			return this.textTest(field, operator, value);
		return field === 'time' ? this.timeTest(operator, value) : this.numberTest(field, operator, value);
	}

	/* Compare each name once for each type or thread, not for each event. */
	ofTypes(matches) {
		const table = this.trace.siteType.map(type => matches(this.trace.types[type].name));

		return i => table[this.trace.site[i]];
	}
	ofThreads(matches) {
		const table = this.trace.facts.origins.map(([context,,, name]) => matches(name, this.shortName(context, name)));

		return i => table[this.trace.origin[i]];
	}
	/* In a log, the name of a thread ends with its tid.  Return the name without it. */
	shortName(context, name) {
		const tid = this.trace.objects.get(context)?.tid;

		return tid && name.endsWith(` ${tid}`) ? name.slice(0, -` ${tid}`.length) : name;
	}
	wordTest(word) {
		const pattern = globToRegExp(word);

		if (/[*?[]/.test(word) || this.trace.types.some(type => pattern.test(type.name)))
			return this.ofTypes(name => pattern.test(name));
		const lower = lowerCase(word), has = text => lowerCase(text).includes(lower);
		this.readsData = true;
		const ofTypes = this.ofTypes(has), ofThreads = this.ofThreads(has);

		return i => ofTypes(i) || ofThreads(i) || has(this.trace.dataText(i)) ||
			String.fromCharCode(...this.trace.data(i)).includes(word);
	}
	textTest(field, operator, value) {
		const {trace} = this;
		const pattern = field === 'data' ? null : globToRegExp(value);
		const test = {
			event: () => this.ofTypes(name => pattern.test(name)),
			thread: () => this.ofThreads((name, short) => pattern.test(name) || pattern.test(short)),
			object: () => i => trace.objectsOf(i).some(object => pattern.test(object.name)),
			data: () => i => String.fromCharCode(...trace.data(i)).includes(value),
		}[field]();

		if (operator !== '=' && operator !== '!=')
			throw new QueryError('texts can be compared only with = and !=');
		this.readsData ||= field === 'data';
		this.isNegated ||= operator === '!=';
		return operator === '=' ? test : i => !test(i);
	}
	/* An event without this field does not match, not even with "!=". */
	callTest(name, operator, value) {
		const isDescribed = Object.values(this.trace.facts.fields).some(([, fields]) => fields.some(([path]) => path === name));
		const ofCall = this.callFieldTest(name, operator, value, isDescribed);

		this.readsData = true;

		if (!isDescribed)
			return ofCall;
		const ofPayload = this.payloadTest(name, operator, value);

		return i => this.trace.isDescribed(i) ? ofPayload(i) : ofCall(i);
	}
	/* A text is compared as text, and a number as a number or by its name. */
	payloadTest(name, operator, value) {
		const number = value.trim() === '' ? NaN : /^-?\d+$/.test(value) ? BigInt(value) : Number(value);
		const isNumber = typeof number === 'bigint' || !Number.isNaN(number);
		const pattern = globToRegExp(value);
		const compare = {'=': (a, b) => a == b, '!=': (a, b) => a != b}[operator] ?? COMPARE[operator];

		return i => {
			const found = describedFields(this.trace, i).find(({label}) => label === name);

			if (!found)
				return false;
			if (found.value !== undefined && isNumber)
				return compare(found.value, number);
			return (operator === '=' || operator === '!=') && pattern.test(found.plain) === (operator === '=');
		};
	}
	callFieldTest(name, operator, value, isDescribed) {
		const {trace} = this;
		const field = i => (trace.callFields(i) ?? []).find(({label}) => label === name);
		let number = null;

		try {
			number = value === '' ? null : value.startsWith('-') ? -BigInt(value.slice(1)) :
				BigInt(/^0[0-7]+$/.test(value) ? `0o${value.slice(1)}` : value);
		} catch {
			if (operator !== '=' && operator !== '!=') {
				if (isDescribed)
					return () => false;
				throw new QueryError('a number is missing');
			}
		}
		if (number !== null)
			return i => {
				const found = field(i);

				return found !== undefined && COMPARE[operator](typeof found.value === 'bigint' ? found.value : 0n, number);
			};
		const pattern = globToRegExp(value);

		return i => {
			const found = field(i);

			return found !== undefined && (pattern.test(found.text) ||
				found.object !== undefined && pattern.test(found.object.name)) === (operator === '=');
		};
	}
	timeTest(operator, value) {
		const found = value.match(/^(-?[\d.]+(?:e[+-]?\d+)?)(ns|us|µs|ms|s|m|h)$/i);
		const compare = COMPARE[operator];

		if (!found || !isFinite(found[1]))
			throw new QueryError(`${value} is not a time such as 1.5s or 20ms`);
		const time = Math.round(found[1] * UNITS[found[2].replace('µ', 'u')]);

		return i => compare(this.trace.time[i], time);
	}
	numberTest(field, operator, value) {
		const {trace} = this, {facts} = trace;
		const compare = COMPARE[operator];
		const negative = value.startsWith('-');
		let number;

		try {
			number = BigInt(negative ? value.slice(1) : value) * (negative ? -1n : 1n);
		} catch {
			throw new QueryError(`${value} is not a number`);
		}
		const small = Number(number);
		const get = {
			type: i => trace.typeOf(i).id, context: i => facts.origins[trace.origin[i]][0],
			pid: i => facts.origins[trace.origin[i]][1], priority: i => facts.origins[trace.origin[i]][2],
			cpu: i => trace.cpu[i], size: i => trace.size[i], number: i => trace.number[i],
		}[field];

		if (get)
			return i => compare(get(i), small);
		if (field === 'address')
			return i => compare(BigInt(facts.sites[trace.site[i]][1]), number);
		this.readsData = true;
		const [, sign, bits, offset] = field.match(/^([ui])(\d+)(?:\[(\d+)\])?$/);

		return i => {
			const found = trace.value(i, bits / 8, Number(offset ?? 0), sign === 'i');

			return found !== null && compare(found, number);
		};
	}
}
