// SPDX-License-Identifier: MIT
/* The whole trace, above the timeline: a bar chart of events and of hits, the gaps, and the part that is shown. */

const BAR = 4; // width of a bar in pixels

class Overview {
	constructor(timeline) {
		this.timeline = timeline;
		this.canvas = document.getElementById('overview');
		this.density = new WeakMap(); // key: a list of events, or the trace for all events
	}
	get width() {
		return this.timeline.width;
	}
	resize() {
		this.height = this.canvas.clientHeight;
		this.canvas.style.width = `${this.width}px`;
		fit(this.canvas, this.width, this.height);
		this.density = new WeakMap();
	}
	x(time) {
		const {full} = this.timeline;

		return (time - full.begin) / (full.end - full.begin) * this.width;
	}
	time(x) {
		const {full} = this.timeline;

		return full.begin + x / this.width * (full.end - full.begin);
	}

	/* Return the number of events in each bar.  If list is null, count all events. */
	densityOf(list) {
		const {trace} = this.timeline;
		const key = list ?? trace, n = list ? list.length : trace.n;
		const at = k => trace.seek[list ? list[k] : k];
		let density = this.density.get(key), from = 0;

		if (density)
			return density;
		density = new Float64Array(Math.ceil(this.width / BAR));
		for (let bar = 0; bar < density.length && from < n; bar++) {
			const to = lowerBound(at, this.time((bar + 1) * BAR), from, n);

			density[bar] = to - from;
			from = to;
		}
		this.density.set(key, density);
		return density;
	}
	draw() {
		const {trace, theme, hits} = this.timeline;
		const {width, height} = this;
		const all = this.densityOf(null);
		const most = all.reduce((a, b) => Math.max(a, b), 1);

		this.paint = this.canvas.getContext('2d');
		this.paint.clearRect(0, 0, width, height);
		this.drawBars(all, most, theme.dim);
		if (hits)
			this.drawBars(this.densityOf(hits.list), most, theme.hit);
		this.paint.fillStyle = theme.hatching(this.paint);
		for (const gap of trace.gaps)
			this.paint.fillRect(this.x(gap.begin), 0, Math.max(this.x(gap.end) - this.x(gap.begin), 2), height);
		this.drawWindow();
	}
	drawBars(density, most, color) {
		this.paint.fillStyle = color;
		density.forEach((number, bar) => {
			const size = number > 0 ? Math.max(Math.sqrt(number / most) * (this.height - 8), 2) : 0;

			this.paint.fillRect(bar * BAR, this.height - size, BAR - 1, size);
		});
	}
	drawWindow() {
		const {view, theme} = this.timeline;
		const {paint, width, height} = this;
		const from = this.x(view.begin), to = Math.max(this.x(view.end), from + 2);

		paint.globalAlpha = 0.72;
		paint.fillStyle = theme.panel;
		paint.fillRect(0, 0, from, height);
		paint.fillRect(to, 0, width - to, height);
		paint.globalAlpha = 1;
		paint.strokeStyle = theme.accent;
		paint.lineWidth = 1.5;
		paint.strokeRect(from + 0.75, 0.75, Math.max(to - from - 1.5, 1), height - 1.5);
	}
}
