// SPDX-License-Identifier: MIT
/* What the data of an event say: the information words of ThreadX, and the fields of a recorded call. */

class Calls extends Records {
	constructor(facts) {
		super(facts);
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
		const sched = schedText(this, i);
		const fields = this.callFields(i);
		const words = this.words(i);

		if (sched !== null)
			return sched;
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
