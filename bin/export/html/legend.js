// SPDX-License-Identifier: MIT
/*
 * The colours of what this trace has, below the rows, in groups.  Two lines at most, with whole entries: a button shows
 * the others.
 */

const LEGEND_FAMILIES = 12;

class Legend {
	constructor(trace, theme) {
		this.trace = trace;
		this.theme = theme;
		this.box = document.getElementById('legend');
		this.list = make('div', 'keys');
		this.button = make('button', '', 'more');
		this.button.onclick = () => this.toggle();
		this.box.append(this.list, this.button);
		new ResizeObserver(() => this.measure()).observe(this.list);
		this.draw();
	}
	/* Each group has its name, and rows of text, colour, and whether this trace has it. */
	groups() {
		const {trace, theme} = this;
		const has = kind => trace.rows.some(row => row.spans[kind]);
		const waits = CLASSES.map(([text, color], k) =>
			[text, `var(--${color})`, trace.waits.some(span => span.waitClass === k)]);
		const families = theme.families.slice(0, LEGEND_FAMILIES).map(family =>
			[family, theme.typeColor(trace.types.findIndex(type => type.family === family)), true]);

		return [
			['Waits', [...waits.slice(1), waits[0]]],
			['Threads', [['runs', 'var(--run)', has(KIND.RUN)], ['ready, without a CPU', 'var(--ready)', has(KIND.READY)],
				['blocked', 'var(--blocked)', has(KIND.BLOCKED)], ['interrupt', 'var(--isr)', has(KIND.ISR)]]],
			['Also', [['holds a lock', 'var(--lock)', has(KIND.LOCK)],
				['span', 'var(--run)', has(KIND.SPAN) && !has(KIND.RUN)],
				['events lost', 'var(--loss)', trace.gaps.length > 0]]],
			['Events', families],
		];
	}
	/* Draw it again when the screen changes between light and dark. */
	draw() {
		this.list.replaceChildren();
		for (const [name, rows] of this.groups()) {
			rows.filter(([, , isThere]) => isThere).forEach(([text, color], k) => {
				const entry = make('span', name === 'Events' ? 'key event' : 'key', text);
				const whole = make('span', 'entry');

				/* The name stays with the first entry of its group. */
				if (k === 0)
					whole.append(make('span', 'dim', `${name}:`));
				entry.style.setProperty('--hue', color);
				whole.append(entry);
				this.list.append(whole);
			});
		}
		this.measure();
	}
	toggle() {
		const isOpen = this.box.classList.toggle('is-open');

		this.button.textContent = isOpen ? 'less' : 'more';
		this.measure();
	}
	/* Without the button there is more room, so first look whether all entries fit then. */
	measure() {
		if (this.box.classList.contains('is-open'))
			return;
		this.button.hidden = true;
		this.button.hidden = this.list.scrollHeight <= this.list.clientHeight;
	}
}
