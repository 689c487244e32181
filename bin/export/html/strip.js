// SPDX-License-Identifier: MIT
/*
 * The columns of a row, a pixel wide, of which a row may have thousands.  Each call that fills a rectangle of a canvas
 * costs about a microsecond, so the columns are written into an image, and the canvas gets the image.
 */

const LEAST_COLUMNS = 100; // with fewer, rectangles are as fast

/* Return a colour such as "#1f6f8b" as a pixel of an image. */
function pixelOf(color) {
	const [red, green, blue] = [1, 3, 5].map(at => parseInt(color.slice(at, at + 2), 16));

	return new Uint32Array(new Uint8ClampedArray([red, green, blue, 255]).buffer)[0];
}

class Strip {
	constructor() {
		this.canvas = document.createElement('canvas');
		this.pixels = new Map(); // key: a colour
		this.isOpen = false;
	}
	/* Begin the columns of a row that is `width` wide; they are between `top` and `bottom`, in pixels of the page. */
	begin(width, top, bottom) {
		const ratio = devicePixelRatio || 1;
		const [wide, high] = [Math.ceil(width * ratio), Math.ceil((bottom - top) * ratio)];

		Object.assign(this, {ratio, top, wide, high, isOpen: true});
		if (this.image?.width !== wide || this.image?.height !== high) {
			this.canvas.width = wide;
			this.canvas.height = high;
			this.image = new ImageData(wide, high);
			this.words = new Uint32Array(this.image.data.buffer);
		} else {
			this.words.fill(0);
		}
	}
	fill(color, x, y, width, height) {
		const {ratio, top, wide, high} = this;
		const from = Math.max(Math.round(x * ratio), 0);
		const to = Math.min(Math.max(Math.round((x + width) * ratio), from + 1), wide);
		const above = Math.max(Math.round((y - top) * ratio), 0);
		const below = Math.min(Math.round((y - top + height) * ratio), high);
		let pixel = this.pixels.get(color);

		if (pixel === undefined)
			this.pixels.set(color, pixel = pixelOf(color));
		for (let line = above; line < below; line++)
			for (let at = from; at < to; at++)
				this.words[line * wide + at] = pixel;
	}
	/* Draw the columns. */
	end(paint) {
		const {canvas, ratio, top, wide, high} = this;

		this.isOpen = false;
		canvas.getContext('2d').putImageData(this.image, 0, 0);
		paint.drawImage(canvas, 0, top, wide / ratio, high / ratio);
	}
}
