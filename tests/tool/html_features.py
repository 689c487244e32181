# SPDX-License-Identifier: MIT
"""
What html-features.sh looks at: html_features.py TXTRACE SCRATCH TRACE... STEPS  Ranges, bookmarks, explanations of
waits, rows, counters and colours of the page, driven with keys and the mouse, and compared with other commands of the
tool.
"""
import collections
import itertools
import json
import math
import re
import subprocess
import sys

from browser import Browser
from html_driver import Page, check, report, same

KIND_WAIT, KIND_LOCK, KIND_SPAN = 0, 2, 7
# How people without one of the three kinds of cones see linear RGB (Machado, Oliveira and Fernandes, 2009).
SIGHTS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
LEAST_DIFFERENCE = 20  # of two colours of waits in CIELAB; 2.3 is just noticeable
LEAST_CONTRAST = 4.5  # of a text and its background (WCAG 2)


def tool_json(page, command, *arguments):
    out = subprocess.run([page.tool, command, "--format", "json", page.trace, *arguments], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return json.loads(out)


def table_of(page, panel):
    """The cells of a table of statistics."""
    return page.run(f"[...document.querySelectorAll('#panel-{panel} tbody tr')]"
                    ".map(row => [...row.cells].map(cell => cell.textContent.replaceAll('\\u2009', '')))")


# Colours.

def linear(color):
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in (int(color[at:at + 2], 16) / 255 for at in (1, 3, 5))]


def luminance(rgb):
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(a, b):
    low, high = sorted((luminance(linear(a)), luminance(linear(b))))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    red, green, blue = (min(max(part, 0), 1) for part in rgb)
    xyz = ((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505, luminance((red, green, blue)),
           (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089)
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def check_colors(page):
    """The colours of waits differ for everybody, and their texts are readable, in light and in dark."""
    for is_dark in (False, True):
        page.browser.dark(is_dark)
        page.open()
        colors = dict(zip(page.run("CLASSES.map(([name]) => name)"), page.run("page.theme.waits")))
        same(len(set(colors.values())), 7, "colours of waits")
        for sight, matrix in SIGHTS.items():
            for (one, a), (other, b) in itertools.combinations(colors.items(), 2):
                seen = [lab([sum(map(lambda x, y: x * y, row, linear(color))) for row in matrix]) for color in (a, b)]
                check(math.dist(*seen) >= LEAST_DIFFERENCE,
                      f"with {sight}, {one} looks like {other}: {math.dist(*seen):.1f}")
        text, back, ink = page.run("[page.theme.waitText, page.theme.page, page.theme.text]")
        for name, color in colors.items():
            check(contrast(color, text) >= LEAST_CONTRAST,
                  f"the text on {name} has a contrast of {contrast(color, text):.1f}")
        check(contrast(ink, back) >= LEAST_CONTRAST, "the legend is not readable")
    page.browser.dark(False)


def check_classes(page):
    """Each wait has the colour of its kind, and the legend has just the kinds that there are."""
    page.open()
    names = page.run("CLASSES.map(([name]) => name)")
    kinds = {
        "mutex or other lock": ("mutex", "rwlock", "spin lock", "once", "futex"),
        "condition": ("condition", "event flags", "barrier"),
        "semaphore, queue": ("semaphore", "queue"), "end of a thread or process": ("thread",),
        "I/O": ("file", "TCP socket", "UDP socket"), "other wait": ("byte pool", "block pool"),
    }
    calls = {"sleep": ("nanosleep", "clock_nanosleep", "sleeps"), "end of a thread or process": ("waitpid",),
             "I/O": ("poll", "epoll_wait"),
             "other wait": ("is suspended",)}
    class_of = {kind: name for table in (kinds, calls) for name, words in table.items() for kind in words}
    listed = {}
    for row in tool_json(page, "waits")["waits"]:
        thread = re.sub(r" \([0-9a-f]{8}\)$", "", row["thread"])
        listed[thread, round(row["start_s"] * 1e9)] = class_of.get(row["type"] or row["object"] or row["call"])
    shown = page.run("trace.waits.map(span => [span.begin, span.waitClass, span.row.name])")
    wrong = [(thread, begin, names[number], listed.get((thread, begin))) for begin, number, thread in shown
             if listed.get((thread, begin)) != names[number]]
    check(not wrong, f"{page.name}: classes of {len(wrong)} waits: {wrong[:3]}")
    check(shown, f"{page.name}: no wait was compared")
    legend = page.run("[...document.querySelectorAll('#legend .key:not(.event)')].map(key => key.textContent)")
    for number, name in enumerate(names):
        same(name in legend, any(number == one for _, one, _ in shown), f"{page.name}: {name} in the legend {legend}")


def check_legend(page):
    """No entry of the legend is cut in the middle, each group has its name, and the button shows the rest."""
    page.open()
    for width in (1280, 800):
        page.browser.resize(width, 800)
        cut = ("(() => { const box = document.querySelector('#legend .keys').getBoundingClientRect();"
               "return [...document.querySelectorAll('#legend .entry')].map(one => [one.textContent, "
               "one.getBoundingClientRect()]).filter(([, one]) => one.top < box.bottom - 1 && "
               "(one.right > box.right + 1 || one.bottom > box.bottom + 1)).map(([text]) => text); })()")
        same(page.run(cut), [], f"{page.name}: what is cut in the legend at {width} px")
        hidden = ("[...document.querySelectorAll('#legend .entry')].filter(one => one.getBoundingClientRect().top >= "
                  "document.querySelector('#legend .keys').getBoundingClientRect().bottom - 1).length")
        button = "document.querySelector('#legend button')"
        page.browser.wait(f"!{button}.hidden === {hidden} > 0")  # the page sees its new size a frame later
        if page.run(f"!{button}.hidden"):
            page.run(f"{button}.click()")
            same(page.run(hidden), 0, f"{page.name}: hidden entries of the whole legend at {width} px")
            page.run(f"{button}.click()")
    names = page.run("[...document.querySelectorAll('#legend .dim')].map(one => [one.textContent, "
                     "one.nextElementSibling.textContent])")
    waits = page.run("CLASSES.map(([name]) => name)")
    check(all((name == "Waits:") == (first in waits) for name, first in names), f"{page.name}: groups {names}")
    check(("Threads:", "runs") in map(tuple, names) or not page.run("trace.hasStates"), f"{page.name}: groups {names}")
    page.browser.resize(1440, 900)


# Explanations.

def check_why(page):
    """The panel of a wait has the lines of txtrace why, and a click on a line leads to what it is about."""
    page.open()
    waits = page.run("trace.waits.map((span, k) => [k, span.begin, span.row.context, trace.whyOf(span) !== undefined])")
    explained = [wait for wait in waits if wait[3]]
    same(len(explained), min(len(waits), max(32, min(256, len(page.events) // 400))), f"{page.name}: explained waits")
    lengths = page.run("trace.waits.map(span => span.end - span.begin)")
    least = min(lengths[k] for k, *_ in explained)
    check(all(lengths[k] <= least for k, _, _, is_explained in waits if not is_explained),
          f"{page.name}: not the longest waits")
    nr_steps = 0
    for k, begin, context, _ in explained[:6] + explained[-6:]:
        lines = tool_json(page, "why", f"{context:08x}@{begin / 1e9:.9f}s")["lines"]
        page.run(f"page.goToSpan(trace.waits[{k}])")
        page.settle()
        shown = page.run("[...document.querySelectorAll('.why-line')].map(line => "
                         "[Number(line.style.getPropertyValue('--depth')), line.textContent])")
        same(shown, [[line["depth"], line["text"]] for line in lines], f"{page.name}: why, at {begin}")
        nr_steps += check_step(page, k)
    check(nr_steps > 0, f"{page.name}: no line of an explanation is a step")


def check_step(page, k):
    """Click the last line that is a step to somewhere else, with the mouse, and go back."""
    place = page.run("(line => { line?.scrollIntoView(); const box = line?.getBoundingClientRect(); "
                     "return box && [box.left + 20, box.top + 5]; })("
                      "[...document.querySelectorAll('button.why-line')].at(-1))")
    step = page.run(f"trace.whyOf(trace.waits[{k}]).filter(line => line.length > 2).at(-1)")
    if not step or len(page.run(f"trace.whyOf(trace.waits[{k}]).filter(line => line.length > 2)")) < 2:
        return 0
    page.browser.click(*place)
    page.settle()
    row, begin, end, when = page.run("[timeline.selectedRow()?.context, page.selection.span?.begin ?? null, "
                                     "page.selection.span?.end ?? null, trace.time[page.selection.event] ?? null]")
    same(row, step[3] or step[2], f"{page.name}: the row of the step {step}")
    if begin is not None:
        check(begin <= step[4] and end >= step[5], f"{page.name}: the step {step} leads to {begin} {end}")
    else:
        check(when <= step[4] or when == page.run("trace.time[timeline.selectedRow().events[0]]"),
              f"{page.name}: the step {step} leads to {when}")
    check(page.run("timeline.lineOf(timeline.selectedRow()) !== undefined"),
          f"{page.name}: the row of the step is not shown")
    page.run("document.getElementById('back').click()")
    page.settle()
    same(page.run("trace.waits.indexOf(page.selection.span)"), k, f"{page.name}: the way back")
    return 1


# Ranges.

def select_range(page, share_from, share_to):
    """Drag in the axis; return the range that the page has then."""
    box = page.run("(box => [box.left, box.top, timeline.width])(timeline.canvas.getBoundingClientRect())")
    page.browser.drag(box[0] + box[2] * share_from, box[1] + 12, box[0] + box[2] * share_to, box[1] + 12)
    page.settle()
    return page.run("[page.range.begin, page.range.end]")


def overlap(begin, end, span):
    return max(min(span[1], end) - max(span[0], begin), 0)


def check_range(page):
    """The tables, the details and the list of events are those of the range."""
    within = []
    for parts in ((0.3, 0.7), (0.1, 0.9), (0.02, 0.95)):  # a program on a loaded machine may have a long pause
        if not within:
            page.open()
            begin, end = select_range(page, *parts)
            within = [event for event in page.events if begin <= event["ns"] - page.events[0]["ns"] <= end]
    check(0 < len(within) < len(page.events), f"{page.name}: the range has {len(within)} events")
    same(page.text("is-range-events"), str(len(within)), f"{page.name}: events of the range")
    same(page.run("page.table.length"), len(within), f"{page.name}: lines of the table in the range")
    check(str(len(within)) in page.text("range-state"), f"{page.name}: the head of the range")
    page.browser.key("2")
    counts = collections.Counter(event["event"] for event in within)
    same({row[0]: int(row[1]) for row in table_of(page, "types")}, dict(counts), f"{page.name}: types in the range")
    page.browser.key("3")
    by_thread = collections.Counter(event["thread"] for event in within)
    columns = page.run("[...document.querySelectorAll('#panel-threads th')].map(cell => cell.textContent)")
    shown = collections.Counter()  # events of no thread have a row for each process
    for row in table_of(page, "threads"):
        shown[row[0]] += int(row[columns.index("events")])
    same({name: number for name, number in shown.items() if number > 0},
         {name if name != "-" else "no thread": number for name, number in by_thread.items()},
         f"{page.name}: threads in the range")
    page.browser.key("4")
    spans = page.run("trace.waits.map(span => [span.begin, span.end, span.name])")
    expected = collections.Counter(name for span_begin, span_end, name in spans
                                   if span_begin <= end and span_end >= begin)
    same({row[0]: int(row[1]) for row in table_of(page, "waits")}, dict(expected), f"{page.name}: waits in the range")
    total = sum(overlap(begin, end, span) for span in spans)
    same(page.run("page.range.sum(trace.waits).total"), total, f"{page.name}: time waited in the range")
    listed = [row for row in tool_json(page, "waits")["waits"] if row["duration_s"] is not None]
    known = [(row["start_s"] * 1e9, (row["start_s"] + row["duration_s"]) * 1e9) for row in listed]
    check(abs(sum(overlap(begin, end, span) for span in known) - total) < 10 * len(known) + 10,
          f"{page.name}: txtrace waits has another time")
    # The key r takes what is visible; Esc ends the range.
    page.browser.key("Escape")
    same(page.run("page.range.isAll"), True, f"{page.name}: Esc does not end the range")
    same(page.run("page.table.length"), len(page.events), f"{page.name}: lines of the table after the range")
    page.run("timeline.show(trace.begin + (trace.end - trace.begin) / 4, trace.begin + (trace.end - trace.begin) / 2)")
    page.settle()
    page.browser.key("r")
    check(all(abs(a - b) <= 0.5 for a, b in zip(page.run("[page.range.begin, page.range.end]"), page.view())),
          f"{page.name}: the range of the key r")
    page.settle()
    address = page.run("location.hash")
    wanted = page.run("[page.range.begin, page.range.end]")
    page.open(address)
    page.settle()
    same(page.run("[page.range.begin, page.range.end]"), wanted, f"{page.name}: the range of the address")
    page.browser.key("r")
    same(page.run("page.range.isAll"), True, f"{page.name}: r does not end the range")


def check_spans(page):
    """The tab "Spans" has the spans of the program as report --spans has them, and the holds of locks."""
    page.open()
    page.browser.key("7")
    rows = {row[0]: int(row[1]) for row in table_of(page, "spans")}
    told = tool_json(page, "report", "--spans").get("spans", [])
    check(told, f"{page.name}: the program describes no spans")
    for span in told:
        # One that lasts until the end of the trace has no end, but a slice.
        number = page.run("page.range.sum(trace.rows.flatMap(row => row.spans[KIND.SPAN] ?? [])"
                          f".filter(span => span.name === {span['span']!r} && span.end < trace.end)).count")
        same(number, span["times"], f"{page.name}: spans {span['span']}")
        check(span["times"] <= rows.get(span["span"], 0) <= span["times"] + span["without_end"],
              f"{page.name}: {rows} spans")


# Bars.

# For each bar of the lists that is at least 8 pixels wide in the view: is one of its pixels in its colour?  A text, an
# arrow or a selection can cover some of them.  Two bars of a list that overlap, such as the wait of a signal handler
# in the wait of its thread, cover each other.
BARS = """(() => {
    const context = timeline.canvas.getContext('2d'), ratio = timeline.canvas.width / timeline.width;
    const top = timeline.scroller.scrollTop, missing = [];
    let nr = 0;

    for (const {row, y} of timeline.lines.filter(line => line.row?.kind === 'thread')) {
        const stateY = y - top + PADDING + row.lane, strip = timeline.stripHeight(row);
        const isFree = (list, span) =>
            !list.some(other => other !== span && other.begin < span.end && span.begin < other.end);

        if (stateY < AXIS_HEIGHT || stateY + row.state > timeline.height)
            continue;
        for (const [kind, from, color] of [[KIND.WAIT, stateY, span => page.theme.waits[span.waitClass]],
                [KIND.READY, stateY + row.state - strip, () => page.theme.ready],
                [KIND.BLOCKED, stateY + row.state - strip, () => page.theme.blocked]])
            for (const span of row.spans[kind] ?? []) {
                const [left, right] = [timeline.x(span.begin), Math.min(timeline.x(span.end), timeline.width)];

                if (left < 0 || right - left < 8 || !isFree(row.spans[kind], span))
                    continue;
                const [x, width] = [Math.ceil(left * ratio), Math.floor((right - left - 1.5) * ratio)];
                const {data} = context.getImageData(x, Math.round((from + 1) * ratio), width, 4);
                const wanted = pixelOf(color(span));

                nr++;
                if (!new Uint32Array(data.buffer).includes(wanted))
                    missing.push(`${row.name}: ${span.name} from ${span.begin} to ${span.end} ns`);
            }
    }
    return [nr, missing];
})()"""


def check_bars(page):
    """Each wait and each state that is wide enough is drawn, also if short ones begin in the same pixel."""
    seen = 0
    page.open()
    begin, end = page.run("[trace.begin, trace.end]")
    for parts in (1, 2, 5, 11):
        for part in range(parts):
            length = (end - begin) / parts
            page.run(f"timeline.show({begin + part * length}, {begin + (part + 1) * length})")
            page.settle()
            nr, missing = page.run(BARS)
            seen += nr
            check(not missing, f"{page.name}: {len(missing)} of {nr} bars are not drawn, such as {missing[:2]}")
    check(seen > 0, f"{page.name}: there are no bars")


# Bookmarks.

def check_bookmarks(page):
    """Bookmarks with notes are in the address, and a link has them."""
    browser = page.browser
    page.open()
    places = [len(page.events) // 4, len(page.events) // 2]
    notes = ["begin, 50% & more=?", "späte: Stelle"]
    for i, note in zip(places, notes):
        page.run(f"page.goTo({i})")
        browser.key("b")
        check(page.run("document.activeElement.matches('.bookmark input')"), f"{page.name}: no note can be written")
        browser.type(note)
        browser.key("Enter")
    page.settle()
    times = [page.run(f"Math.round(trace.time[{i}])") for i in places]
    wanted = [{"time": when, "note": note} for when, note in zip(times, notes)]
    same(page.run("page.bookmarks.list"), wanted, f"{page.name}: bookmarks")
    address = page.run("location.hash")
    page.open(address)
    page.settle()
    same(page.run("page.bookmarks.list"), wanted, f"{page.name}: bookmarks of a link")
    same(page.run("timeline.bookmarks.map(mark => mark.time)"), times, f"{page.name}: flags of a link")
    # B goes from one to the next; a click on a flag goes to it, and a click on × removes it.
    page.run("timeline.show(trace.begin, trace.begin + 100)")
    page.settle()
    for when in (*times, times[0]):
        browser.key("B")
        page.settle()
        begin, end = page.view()
        check(begin <= when <= end, f"{page.name}: B shows {begin} {end}, not {when}")
    page.run(f"timeline.show({times[1]} - 1000, {times[1]} + 3000)")
    page.settle()
    x, y = page.run(f"(box => [box.left + timeline.x({times[1]}), box.top + 12])"
                    "(timeline.canvas.getBoundingClientRect())")
    browser.click(x, y)
    same(page.run("page.lastBookmark"), times[1], f"{page.name}: the flag that was clicked")
    browser.key("8")
    same(page.run("[...document.querySelectorAll('.bookmark input')].map(input => input.value)"), notes,
         f"{page.name}: notes")
    page.run("document.querySelector('.bookmark button:last-child').click()")
    same(page.run("page.bookmarks.list.map(mark => mark.time)"), times[1:], f"{page.name}: a bookmark that was removed")
    for damaged in ("#b=x,12:%zz,,5:", "#t=1&z=0&r=5,1&hide=t999&pin=&sort=odd&c=1.none&b=7"):
        page.open(damaged)
    same(page.run("[page.bookmarks.list, page.range.isAll, timeline.rows.hidden.size]"),
         [[{"time": 7, "note": ""}], True, 0],
         f"{page.name}: a damaged address")


# Rows.

def names_of(page):
    """Names that tell the rows apart."""
    return page.run("timeline.lines.filter(line => line.row).map(line => `${line.row.name} ${shortKey(line.row)}`)")


def check_rows(page):
    """Threads can be hidden, pinned and sorted, with keys and with the mouse, and a link has this."""
    browser = page.browser
    page.open()
    before = names_of(page)
    page.run("page.goTo(0)")
    first = page.run("`${timeline.selectedRow().name} ${shortKey(timeline.selectedRow())}`")
    browser.key("h")
    same(sorted(names_of(page)), sorted(name for name in before if name != first), f"{page.name}: h hides {first}")
    browser.key("H")
    same(names_of(page), before, f"{page.name}: H shows all")
    browser.key("p")
    same(names_of(page)[0], first, f"{page.name}: p pins {first}")
    same(sorted(names_of(page)), sorted(before), f"{page.name}: a pinned row is shown once")
    threads = page.run("trace.rows.filter(row => row.kind === 'thread' && !timeline.rows.pinned.includes(row))"
                       ".map(row => row.events.length)")
    browser.key("o")
    same(page.run("document.getElementById('sort').value"), "events", f"{page.name}: o changes the order")
    shown = page.run("timeline.groups.filter(group => group.kind === 'thread')"
                     ".map(group => group.rows.map(row => row.events.length))")
    same(sorted(sum(shown, [])), sorted(threads), f"{page.name}: rows after o")
    check(all(group == sorted(group, reverse=True) for group in shown), f"{page.name}: sorted by events: {shown}")
    # Hide the second row with its button, which appears under the mouse.
    second = names_of(page)[1]
    page.run("timeline.scroller.scrollTop = 0")
    x, y = page.run("(box => [box.left + 20, box.top + 8])(timeline.lines.filter(line => line.row)[1].row.label"
                    ".getBoundingClientRect())")
    browser.mouse("mouseMoved", x, y)
    x, y = page.run("(box => [box.left + 10, box.top + 10])(timeline.lines.filter(line => line.row)[1].row.label"
                    ".querySelector('.hide').getBoundingClientRect())")
    browser.click(x, y)
    check(second not in names_of(page), f"{page.name}: × does not hide {second}")
    wanted = names_of(page)
    page.settle()
    address = page.run("location.hash")
    page.open(address)
    page.settle()
    same(names_of(page), wanted, f"{page.name}: the rows of a link")
    same(page.text("show-hidden"), "show 1 hidden", f"{page.name}: the number of hidden rows")
    page.run("document.getElementById('show-hidden').click()")
    same(sorted(names_of(page)), sorted(before), f"{page.name}: all rows again")


def check_levels(page):
    """The rows of queues and pools have the value that each event has."""
    page.open()
    levels = collections.defaultdict(list)
    for event in page.events:
        fields = dict(part.split("=", 1) for part in event["data"].replace(" #", "#").split(" ") if "=" in part)
        if "enqueued" in fields:
            queue = event["data"].split("=", 1)[1].rsplit(" ", 3)[0]
            levels[queue].append((event["number"], float(int(fields["enqueued"], 0))))
    rows = page.run("timeline.rows.counters.rows.filter(row => row.name.endsWith(': messages')).map(row => "
                    "[[...row.events].map(i => trace.number[i]), [...row.values], row.least, row.most])")
    same(sorted([list(zip(numbers, values)) for numbers, values, *_ in rows]), sorted(levels.values()),
         f"{page.name}: lengths of queues")
    check(rows and all(least == min(values) and most == max(values) for _, values, least, most in rows),
          f"{page.name}: extremes")
    check_extremes(page)
    # The tip under the mouse has the value at this time.
    numbers, values = rows[0][0], rows[0][1]
    k = len(numbers) // 2
    place = page.run(f"(() => {{ const row = timeline.rows.counters.rows.find(row => row.name.endsWith(': messages'));"
                     f"timeline.uncover(row); const i = row.events[{k}]; "
                     f"timeline.show(trace.time[i] - 1000, trace.time[i] + 1000);"
                     f"const box = timeline.canvas.getBoundingClientRect(), line = timeline.lineOf(row);"
                     f"return [box.left + timeline.x(trace.time[i]) + 1, "
                     f"box.top + line.y - timeline.scroller.scrollTop + 12]; }})()")
    page.browser.mouse("mouseMoved", *place)
    page.settle()
    check(page.text("tip").split("since")[0].endswith(f"= {values[k]:g}"),
          f"{page.name}: the tip of a queue is {page.text('tip')}, not {values[k]}")


def check_balances(page):
    """The row of a message queue has the messages that were sent less those that were received."""
    page.open()
    signs = {"mq_send": 1, "mq_receive": -1, "mq_timedreceive": -1}
    total, expected = 0, []
    for event in page.events:
        if event["event"] in signs and "wait=begins" not in event["data"] and "result=E" not in event["data"]:
            total += signs[event["event"]]
            expected.append([event["number"], total])
    rows = page.run("timeline.rows.counters.rows.filter(row => row.name.endsWith(': sent − received')).map(row => "
                    "[...row.events].map((i, k) => [trace.number[i], row.values[k]]))")
    same(rows, [expected], f"{page.name}: messages sent less received")
    same((len(expected), total), (47, 1), f"{page.name}: calls with the queue, and messages at the end")


def check_extremes(page):
    """The extremes of parts are those of a plain search."""
    wrong = page.run("""(() => {
        const values = Float64Array.from({length: 1000}, (_, k) => (k * 7919) % 263 - 100);
        const row = new Counter('x', 'x', 0, Uint32Array.from(values.keys()), values);
        const parts = [[0, 1000], [3, 4], [60, 70], [0, 64], [1, 999], [63, 129], [64, 128], [990, 1000]];
        return parts.filter(([from, to]) => {
            const part = [...values.slice(from, to)], [low, high] = row.extremes(from, to);
            return low !== Math.min(...part) || high !== Math.max(...part); });
    })()""")
    same(wrong, [], "parts with wrong extremes")


def check_fields(page):
    """A number field of a described type becomes a row, from the menu and from the details, and a link has it."""
    page.open()
    offered = page.run("[...document.getElementById('fields').options].map(option => option.text)")
    check("order: load" in offered and "order: name" not in offered, f"{page.name}: fields that can be rows: {offered}")
    key = page.run("timeline.rows.counters.fields.find(({name}) => name === 'order: load').key")
    page.run(f"(menu => {{ menu.value = {key!r}; menu.dispatchEvent(new Event('change')); }})"
             "(document.getElementById('fields'))")
    page.settle()
    rows = ("timeline.rows.counters.rows.filter(row => row.name === 'order: load')"
            ".map(row => [[...row.events].map(i => trace.number[i]), [...row.values]])")
    values = json.loads(subprocess.run([page.tool, "print", "--format", "json", "-f", "event:order", page.trace],
                                       check=True,
                                       stdout=subprocess.PIPE).stdout)
    wanted = [[event["number"] for event in values], [event["data"]["load"] for event in values]]
    same(page.run(rows), [wanted], f"{page.name}: the row of a field")
    address = page.run("location.hash")
    page.open(address)
    page.settle()
    same(page.run(rows), [wanted], f"{page.name}: the row of a field, from a link")
    # The button beside the field removes the row again.
    page.run(f"page.goTo(page.listOf(trace.types.find(type => type.name === 'order').events[0], 'type')[0])")
    page.run("[...document.querySelectorAll('.words tr')].find(row => row.cells[0].textContent === 'load')"
             ".querySelector('button').click()")
    same(page.run(rows), [], f"{page.name}: a row that was removed")


# The rest.

def check_stale_tip(page):
    """The tip disappears when something else is under the mouse, without a movement of the mouse."""
    browser = page.browser
    page.open()
    i = len(page.events) // 2
    for act, what in ((lambda: browser.key("?"), "the help"),
                      (lambda: page.run("page.setDock(innerHeight - 180)"), "the lower part"),
                      (lambda: page.run("dispatchEvent(new Event('blur'))"), "another window")):
        page.open()
        # The place is close to the bottom, so that the lower part can cover it.
        page.run(f"(page.goTo({i}), page.zoomToSelection(), page.setDock(34))")
        page.settle()
        page.run("timeline.scroller.scrollTop = 0")
        x, y = page.place(i)
        browser.mouse("mouseMoved", x, y)
        page.settle()
        browser.wait("!document.getElementById('tip').hidden")
        if what == "the lower part" and y < 260:
            continue
        act()
        page.settle()
        page.run("timeline.dirty()")
        page.settle()
        check(page.run("document.getElementById('tip').hidden"), f"{page.name}: the tip stays over {what}")


def check_small(page):
    """At 800 px, nothing is wider than the window, and everything can be reached."""
    page.browser.resize(800, 600)
    page.open()
    page.run("page.goTo(0)")
    page.settle()
    same(page.run("document.documentElement.scrollWidth"), 800, f"{page.name}: the width of the page")
    wide = page.run("[...document.querySelectorAll('header, main, #dock, #details, #left, #tracks, #labels, #search, "
                    "#help-button')]"
                    ".filter(one => one.getBoundingClientRect().right > 800.5).map(one => one.id || one.tagName)")
    same(wide, [], f"{page.name}: what is cut off at 800 px")
    check(page.run("timeline.width") >= 500, f"{page.name}: the timeline has {page.run('timeline.width')} px")
    cells = page.run("[...document.querySelectorAll('.line.chosen > span')]"
                     ".filter(cell => cell.offsetWidth > 20).length")
    check(cells >= 5, f"{page.name}: a line of the table has {cells} columns")
    for key in "2345678":
        page.browser.key(key)
        tab = page.run("(box => [box.left, box.right])("
                       "document.querySelector('[role=tab][aria-selected=true]').getBoundingClientRect())")
        limit = page.run("document.getElementById('tabs').getBoundingClientRect().right")
        check(tab[0] >= 0 and tab[1] <= limit + 1, f"{page.name}: the tab {key} is at {tab}")
    page.browser.picture(f"html-{page.name}-800.png")
    page.browser.resize(1440, 900)


def check_help(page):
    """The help names each key."""
    page.open()
    shown = page.text("keys")
    for word in ("drag in the axis", "set a bookmark", "hide the row", "keep the row at the top", "next order",
                 "a wait shows why"):
        check(word in shown, f"the help does not have: {word}")
    keys = page.run("[...document.querySelectorAll('#keys kbd')].map(key => key.textContent)")
    acts = page.run("Object.keys(page.actions())")
    for key in ("r", "b", "B", "h", "H", "p", "o"):
        check(key in keys and key in acts, f"the key {key} is not in the help")


def check_search(page, all_page):
    """The search says which events it could not decide: the page has 64 bytes of the data of an event."""
    for shown, is_all in ((page, False), (all_page, True)):
        on_page = "" if is_all else " on this page"
        nr = len(shown.events)
        steps = sum(event["event"] == "odd_step" for event in shown.events)
        data = sum(event["event"].endswith("_step") for event in shown.events)
        large = sum(event["size"] > 64 for event in shown.events)
        for query, hits, undecided in (("odd_step", steps, 0), ("event!=odd_step", nr - steps, 0),
                                       ("data:efgh", data, large - data), ("not data:efgh", nr - data, large),
                                       ("u8[100]=119", 0, large), ("nosuchword", 0, large)):
            shown.open()
            shown.run(f"page.setQuery({json.dumps(query)})")
            shown.browser.wait("txtrace.page.searchState.dataset.hits !== undefined && "
                               "txtrace.page.searchState.dataset.hits !== ''", 10)
            said = shown.run("page.searchState.textContent").replace("\u2009", "")
            same(said, f"{hits} hit{'s' * (hits != 1)}{on_page}" +
                 (f", {undecided} not decided" if undecided else ""), f"what the search for {query} says")
            doubts = shown.run("page.searchState.title")
            same("not on this page" in doubts, not is_all, f"doubts of {query}: events")
            same("first bytes of the data" in doubts, undecided > 0, f"doubts of {query}: data")


def main(tool, scratch, *traces):
    browser = Browser()
    try:
        by_name = {page.name: page for page in (Page(browser, tool, scratch, trace) for trace in traces[:-1])}
        check_colors(by_name["threadx"])
        for page in by_name.values():
            if page.name in ("threadx", "mixture", "flags", "deadlock"):
                check_classes(page)
                check_why(page)
        for page in (by_name["threadx"], by_name.get("mixture")):
            if page:
                check_range(page)
                check_rows(page)
                check_bookmarks(page)
        if "queues" in by_name:
            check_balances(by_name["queues"])
        check_spans(by_name["spans"])
        for page in (by_name["threadx"], by_name["deadlock"], by_name.get("mixture"), by_name.get("demo")):
            if page:
                check_bars(page)
        check_levels(by_name["threadx"])
        check_fields(by_name["orders"])
        check_stale_tip(by_name["threadx"])
        for page in (by_name["threadx"], by_name["deadlock"], by_name.get("mixture")):
            if page:
                check_legend(page)
        check_small(by_name["threadx"])
        check_help(by_name["threadx"])
        check_search(Page(browser, tool, scratch, traces[-1], "--limit", "20"), by_name["steps"])
        return report(browser)
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
