/* SPDX-License-Identifier: MIT */
/*
 * The fields of described event types.  facts.fields has for each of these types
 *
 *	[little, [field, ...]]
 *	field		[path, kind, bit, size, bits, isSigned, names]
 *
 * little is 1 if the lowest byte of a number comes first.  bit is the place in the data.  size is the size in bytes; a
 * text of size 0 goes to the end of the data.  bits is the width of a bit-field, or 0.  Only enums have isSigned and
 * names.  The kinds are u (unsigned), i (signed), f (floating point), b (bool), c (character), p (address), e (enum) and
 * t (text).
 */

/* Return the bits of a bit-field as a number: the first one is the lowest, or the highest if the lowest byte is last. */
function bitsAt(bytes, bit, nr, little) {
	let number = 0n;

	for (let i = 0; i < nr; i++) {
		const at = bit + i, byte = bytes[at >> 3];

		number = little ? number | BigInt(byte >> (at & 7) & 1) << BigInt(i) :
			number << 1n | BigInt(byte >> (7 - (at & 7)) & 1);
	}
	return number;
}

function quoted(bytes, quote) {
	return quote + [...bytes].map(byte => {
		const character = String.fromCharCode(byte);

		if (character === quote || character === '\\')
			return `\\${character}`;
		if (byte === 9 || byte === 10)
			return byte === 9 ? '\\t' : '\\n';
		return byte < 32 || byte >= 127 ? `\\x${HEX[byte]}` : character;
	}).join('') + quote;
}

/* Return the shortest text that is read back as the same number; `single` numbers have four bytes. */
function realText(number, single) {
	if (!Number.isFinite(number))
		return Number.isNaN(number) ? 'nan' : number < 0 ? '-inf' : 'inf';
	if (!single)
		return String(number);
	for (let digits = 1; digits < 9; digits++)
		if (Math.fround(Number(number.toPrecision(digits))) === number)
			return String(Number(number.toPrecision(digits)));
	return String(Number(number.toPrecision(9)));
}

function textField(bytes, bit, size) {
	const at = bit / 8;

	if (size === 0 ? at > bytes.length : at >= bytes.length)
		return null;
	let text = bytes.subarray(at, size === 0 ? bytes.length : at + size);
	const end = text.indexOf(0);

	if (end >= 0)
		text = text.subarray(0, end);
	return {text: quoted(text, '"'), plain: String.fromCharCode(...text)};
}

/* Return {text, value, plain}: value is a BigInt or a number; plain is what a filter compares.  null: it is not there. */
function fieldValue(bytes, [, kind, bit, size, bits, isSigned, names], little) {
	const width = bits || size * 8;

	if (kind === 't')
		return textField(bytes, bit, size);
	if (bit + width > bytes.length * 8)
		return null;
	if (kind === 'f') {
		const view = new DataView(bytes.buffer, bytes.byteOffset + bit / 8, size);
		const value = size === 4 ? view.getFloat32(0, little) : size === 8 ? view.getFloat64(0, little) : NaN;

		return size > 8 ? {text: '(long double)', plain: ''} : {value, text: realText(value, size === 4)};
	}
	let value = 0n;

	if (bits)
		value = bitsAt(bytes, bit, bits, little);
	else
		for (let i = 0; i < size; i++)
			value = value << 8n | BigInt(bytes[bit / 8 + (little ? size - 1 - i : i)]);
	if (kind === 'i' || kind === 'e' && isSigned)
		value = BigInt.asIntN(width, value);
	if (kind === 'c')
		return {text: quoted([Number(value)], '\''), plain: value ? String.fromCharCode(Number(value)) : ''};
	const text = kind === 'b' ? String(value !== 0n) : kind === 'p' ? `0x${value.toString(16)}` :
		kind === 'e' ? names[value] ?? String(value) : String(value);

	return {value, text, plain: kind === 'p' ? String(value) : text};
}

/* Return the fields of an event as [{label, text, value, plain}, ...]; null: its type has no description. */
function describedFields(trace, i) {
	const described = trace.facts.fields[trace.typeOf(i).id];

	if (!described || !trace.isDescribed(i))
		return null;
	const bytes = trace.data(i);

	return described[1].map(field => ({label: field[0], ...fieldValue(bytes, field, described[0] === 1)}))
		.filter(({text}) => text !== undefined);
}
