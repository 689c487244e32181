# SPDX-License-Identifier: MIT
"""What html-page.sh looks at: html_page.py TXTRACE SCRATCH TRACE..."""
import json
import re
import subprocess
import sys

import filters
from browser import Browser
from html_driver import CONTROL, SHIFT, Page, check, plain, report, same

KEPT_BYTES = 64
# Ticks of the Execution Profiles of the traces in tests/data.
PROFILES = {
    "filex": {"writer": 22540, "reader": 7360},
    "netx_tcp": {"client": 30900, "server": 6560, "IP 0": 2420, "IP 1": 5500, "interrupt": 60},
    "netx_udp": {"sender": 21710, "receiver": 25770, "IP 0": 3520},
    "threadx": {"timer thread": 250, "control": 1930, "sensor": 11450, "logger": 3420, "display": 2100, "printer": 60,
                "interrupt": 1050, "initialization": 80},
}
CALL_QUERIES = ("data.mutex:queue_lock", "data.wait:begins", "data.wait!=ends", "object:busy_lock", "object:*holder*",
                "data.result:ENOENT", "data.result!=0 not data.result:E*", "data.result=-9", "data.count>=1",
                "data.path:/dev/*", "data:nonexist",
                "data.owner:*holder*", "u32[8]=0 event:pthread_mutex_lock", "pthread_cond_wait not data.wait=ends",
                "data.ns>=3000000", "data.fd=0x5", "data.start!=0")


def check_events(page):
    """Each event of the page is the one that print prints."""
    shown = page.run("""Array.from({length: trace.n}, (_, i) => [trace.number[i], seconds(trace.time[i]), trace.cpu[i],
        ...trace.facts.origins[trace.origin[i]], trace.typeOf(i).name, trace.typeOf(i).id,
        trace.facts.sites[trace.site[i]][1], trace.size[i], trace.isCut(i), trace.dataText(i),
        [...trace.data(i)].map(byte => HEX[byte]).join('')])""")
    same(len(shown), len(page.events), f"{page.name}: events")
    wrong = []
    for have, event in zip(shown, page.events):
        number, when, cpu, context, pid, priority, thread, name, kind, address, size, cut, data, digits = have
        expected = [event["number"], f'{event["time"]:.9f}', event["cpu"], int(event["context"], 16), event["pid"],
                    event["thread"], event["event"], event["type"], int(event["address"], 16), event["size"],
                    event["hex"][:2 * KEPT_BYTES]]
        if [number, when, cpu, context, pid, thread, name, kind, int(address, 16), size, digits] != expected:
            wrong.append((have, event))
        elif priority != (event["priority"] if event["priority"] is not None else -1) or cut != bool(event["cut"]):
            wrong.append((have, event))
        elif plain(data) != event["data"] and not (event["size"] > KEPT_BYTES
                                                   and data[:KEPT_BYTES] == event["data"][:KEPT_BYTES]):
            wrong.append((have, event))
    check(not wrong, f"{page.name}: {len(wrong)} events are others, such as {wrong[:1]}")


def row_of(event):
    """Each thread has a row, and each process one for events without a thread."""
    return event["context"], event["pid"] if int(event["context"], 16) == 0 else 0


def check_panel(page, i):
    event = page.events[i]
    same(page.text("is-event"), event["event"], f"{page.name}: the selected event")
    same(page.text("is-number"), str(event["number"]), f"{page.name}: its number")
    same(page.text("is-time"), f'{event["time"]:.9f} s', f"{page.name}: its time")
    same(page.text("is-context"), event["context"], f"{page.name}: its context")
    same(page.text("is-type"), str(event["type"]), f"{page.name}: its type")
    before = [other for other in page.events[:i] if row_of(other) == row_of(event)]
    if before:
        same(page.text("is-delta").split()[0], f'{(event["ns"] - before[-1]["ns"]) / 1e9:.9f}',
             f"{page.name}: its delta")
    line = page.run("[...document.querySelectorAll('.line.chosen > span')].map(cell => cell.textContent)")
    check(line and line[1] == f'{event["time"]:.9f}' and line[5] == event["event"]
          and plain(line[6])[:40] == event["data"][:40],
          f"{page.name}: the table has {line}, not {event}")


def check_clicks(page):
    """Events that stand alone on the screen are those that a click selects."""
    for i in (0, len(page.events) // 2, len(page.events) - 1):
        page.run(f"timeline.show(trace.time[{i}] - 2000, trace.time[{i}] + 2000)")
        page.run(f"timeline.showRow(trace.rowOfEvent({i}))")
        page.settle()
        alone = page.run(f"trace.rowOfEvent({i}).events.filter(k => Math.abs(trace.time[k] - trace.time[{i}]) < "
                         f"40).length")
        if alone == 1:
            page.browser.click(*page.place(i))
            check_panel(page, i)


def check_zoom(page):
    browser = page.browser
    page.open()
    full = page.view()
    x, y = page.left() + 300, 300
    under = page.run("timeline.time(300)")
    browser.mouse("mouseMoved", x, y)
    for _ in range(4):
        browser.wheel(x, y, -240)
    page.settle()
    begin, end = page.view()
    check(end - begin < (full[1] - full[0]) / 4, f"{page.name}: the wheel zooms to {begin} {end} from {full}")
    check(abs(page.run("timeline.time(300)") - under) < (end - begin) / 400, f"{page.name}: not about the mouse")
    for key, is_right in (("-", lambda new: abs((new[1] - new[0]) / (end - begin) - 2) < 0.02),
                          ("+", lambda new: abs((new[1] - new[0]) / (end - begin) - 1) < 0.02),
                          ("d", lambda new: new[0] > begin),
                          ("a", lambda new: abs(new[0] - begin) < (end - begin) / 100)):
        browser.key(key)
        page.settle()
        check(is_right(page.view()), f"{page.name}: the key {key} shows {page.view()}, after {begin} {end}")
    before = page.view()
    browser.drag(page.left() + 500, 300, page.left() + 400, 300)
    page.settle()
    moved = (page.view()[0] - before[0]) / (before[1] - before[0]) * page.run("timeline.width")
    check(abs(moved - 100) < 2, f"{page.name}: a drag by 100 moves by {moved}")
    wanted = page.run("[timeline.time(200), timeline.time(600)]")
    browser.drag(page.left() + 200, 300, page.left() + 600, 300, SHIFT)
    page.settle()
    check(all(abs(a - b) < (wanted[1] - wanted[0]) / 50 for a, b in zip(page.view(), wanted)),
          f"{page.name}: a range {wanted} shows {page.view()}")
    browser.key("0")
    page.settle()
    check(all(abs(a - b) < 1 for a, b in zip(page.view(), full)), f"{page.name}: all is {page.view()}, not {full}")
    for _ in range(60):
        browser.wheel(x, y, -240)
    page.settle()
    begin, end = page.view()
    same(round(end - begin), 20, f"{page.name}: the closest look, in ns")


def check_search(page, queries):
    browser = page.browser
    page.open()
    browser.key("/")
    for query in queries:
        page.run("page.search.select()")
        browser.type(query)
        browser.wait("txtrace.page.searchState.textContent.includes('hit')")
        expected = page.printed("-f", query)
        browser.wait(f"txtrace.page.searchState.dataset.hits === '{len(expected)}'", 10)
        same(page.run("[...page.hits.list].map(i => trace.number[i])"), [event["number"] for event in expected],
             f"{page.name}: hits of {query}")
    hits = page.run("[...page.hits.list]")
    browser.key("Escape")
    browser.key("0")
    page.settle()
    page.run("page.select({event: 0})")
    for key, k in (("n", 0), ("n", 1), ("n", 2), ("N", 1)):
        browser.key(key)
        at = [i for i in hits if i > 0][k]
        check_panel(page, at)
    page.run("document.getElementById('only-hits').click()")
    same(page.run("page.table.length"), len(hits), f"{page.name}: lines of the table")
    page.run("document.getElementById('only-hits').click()")
    page.run("page.setQuery('thread:')")
    browser.wait("txtrace.page.searchState.textContent === 'a value is missing'")
    page.run("page.setQuery('zzz or TIMER*')")
    browser.wait("txtrace.page.searchState.textContent.includes('hit')")
    page.run("page.setQuery('')")


def check_address(page):
    """A link into the trace leads back there."""
    page.open()
    i = len(page.events) // 3
    page.run(f"(timeline.show(trace.time[{i}] - 3000, trace.time[{i}] + 5000), page.setQuery('cpu=0'), "
             f"page.select({{event: {i}}}))")
    page.settle()
    fragment = page.run("location.hash")
    view = page.view()
    same(fragment, f"#t={round(view[0])}&z={round(view[1] - view[0])}&e={page.events[i]['number']}&q=cpu%3D0",
         f"{page.name}: the address")
    page.open(fragment)
    page.settle()
    same(page.view(), view, f"{page.name}: what a link shows")
    check_panel(page, i)
    same(page.run("page.search.value"), "cpu=0", f"{page.name}: what a link searches for")


def check_tip(page):
    """The tip is for what is under the mouse, also after keys have moved the timeline."""
    browser = page.browser
    tip = "[document.getElementById('tip').hidden, document.getElementById('tip').textContent]"
    page.open()
    # The zoom shows six events of the same thread on each side.  If the thread has few, it shows everything, and keys
    # move nothing.
    contexts = [event["context"] for event in page.events]
    busiest = max(set(contexts), key=contexts.count)
    own = [k for k, context in enumerate(contexts) if context == busiest]
    i = own[len(own) // 2]
    page.run(f"(page.goTo({i}), page.zoomToSelection())")
    page.settle()
    x, y = page.place(i)
    browser.mouse("mouseMoved", x, y)
    page.settle()
    first = page.run(tip)
    check(not first[0] and page.events[i]["event"] in first[1], f"{page.name}: the tip of an event is {first}")
    # A view at the end of the trace can only move to the left.
    is_at_end = page.run("timeline.view.end >= timeline.full.end")
    for key in ("ArrowLeft" if is_at_end else "ArrowRight", "-", "0"):
        before = page.view()
        is_all = page.run("timeline.view.begin <= timeline.full.begin && timeline.view.end >= timeline.full.end")
        browser.key(key)
        page.settle()
        found = page.run(f"(found => found ? [...(found.span ? timeline.mouse.spanTip(found.span) : "
                         f"timeline.mouse.eventTip(found.event))].map(part => part.textContent ?? part).join('') "
                         f": null)"
                         f"(timeline.mouse.find(...timeline.mouse.place({{clientX: {x}, clientY: {y}}})))")
        is_hidden, text = page.run(tip)
        check(key == "0" or is_all or page.view() != before, f"{page.name}: {key} does not move the timeline")
        same(None if is_hidden else text, found, f"{page.name}: the tip after {key}")


def check_steps_and_measure(page):
    browser = page.browser
    page.open()
    i = len(page.events) // 2
    event = page.events[i]
    page.run(f"page.goTo({i})")
    following = {
        "]": next((k for k in range(i + 1, len(page.events)) if row_of(page.events[k]) == row_of(event)), i),
        ".": next((k for k in range(i + 1, len(page.events)) if page.events[k]["type"] == event["type"]), i),
        "j": i + 1,
    }
    for key, k in following.items():
        page.run(f"page.select({{event: {i}}})")
        browser.key(key)
        check_panel(page, k)
    page.run(f"page.select({{event: {i}}})")
    browser.key("m")
    page.run(f"timeline.show(trace.time[{i}] - 1000, trace.time[{i + 1}] + 1000)")
    page.settle()
    browser.click(*page.place(i + 1), modifiers=CONTROL)
    same(page.text("is-measure"), f'{(page.events[i + 1]["ns"] - event["ns"]) / 1e9:.9f} s',
         f"{page.name}: what was measured")


def check_statistics(page):
    page.open()
    counts = {}
    for event in page.events:
        counts[event["event"]] = counts.get(event["event"], 0) + 1
    page.browser.key("2")
    shown = page.run("Object.fromEntries([...document.querySelectorAll('#panel-types tbody tr')]"
                     ".map(row => [row.cells[0].textContent, Number(row.cells[1].textContent.replaceAll('\\u2009', "
                     "''))]))")
    same(shown, counts, f"{page.name}: events by type")
    page.browser.key("3")
    shown = page.run("[...document.querySelectorAll('#panel-threads tbody tr')].map(row => [row.cells[0].textContent, "
                     "Number(row.querySelector('td:has(+ td .share)').textContent.replaceAll('\\u2009', ''))])")
    counts = {}
    for event in page.events:
        counts[row_of(event)] = counts.get(row_of(event), 0) + 1
    names = {row_of(event): event["thread"] if event["thread"] != "-" else "no thread" for event in page.events}
    same(sorted(shown), sorted([names[row], number] for row, number in counts.items()),
         f"{page.name}: events by thread")
    chips = page.text("chips")
    lost = page.run("trace.facts.overwritten + trace.facts.dropped + trace.facts.abandoned + trace.facts.byLog")
    same(f"{lost} events lost" in chips, lost > 0, f"{page.name}: losses in {chips}")
    gaps = sum(event["event"] == "posix_trace_overflow" for event in page.events)
    page.browser.key("5")
    same(page.run("document.querySelectorAll('#panel-gaps tbody tr').length"), gaps, f"{page.name}: gaps")


def check_narrow(page):
    """A small window also shows what was lost, and no window cuts what its head says."""
    page.browser.resize(800, 600)
    page.open()
    shown = page.run("[...document.querySelectorAll('.chip')].filter(chip => chip.offsetWidth > 0).map(chip => "
                     "chip.textContent)")
    check(any("lost" in text for text in shown), f"{page.name}: a small window has {shown}")
    for width in (1200, 1010, 800):
        page.browser.resize(width, 800)
        page.settle()
        cut = page.run("(box => [...document.querySelectorAll('.chip')].filter(chip => "
                       "chip.getBoundingClientRect().right > box.right + 0.5).map(chip => chip.textContent))"
                       "(document.getElementById('chips').getBoundingClientRect())")
        same(cut, [], f"{page.name}: what is cut in the head at {width} px")
    page.browser.resize(1440, 900)


def check_runs(page):
    """At each moment at most one thread runs on a CPU, and a thread is in one state.  ThreadX has one CPU, without a
    name."""
    spans = page.run("trace.rows.flatMap((row, k) => [KIND.RUN, KIND.READY, KIND.BLOCKED].flatMap(kind => "
                     "(row.spans[kind] ?? []).map(span => [span.begin, span.end, k, kind === KIND.RUN ? span.name : "
                     "null])))")
    runs = sorted(span for span in spans if span[3] is not None)
    if not runs:
        return
    duration = max(event["ns"] for event in page.events) - page.events[0]["ns"]
    for cpu in {run[3] for run in runs}:
        on_cpu = [run for run in runs if run[3] == cpu]
        check(all(a[1] <= b[0] for a, b in zip(on_cpu, on_cpu[1:])), f"{page.name}: two run at the same time")
        check(0 < sum(end - begin for begin, end, *_ in on_cpu) <= duration,
              f"{page.name}: they run longer than the trace is")
    of_threads = sorted(spans, key=lambda span: (span[2], span[0]))
    check(all(a[2] != b[2] or a[1] <= b[0] for a, b in zip(of_threads, of_threads[1:])),
          f"{page.name}: two states at a time")
    check(all(end > begin for begin, end, *_ in spans), f"{page.name}: a state has no length")
    if page.name in PROFILES:
        ticks = page.run("Object.fromEntries(trace.rows.filter(row => row.runTime > 0)"
                         ".map(row => [row.name, row.runTime / 1000]))")
        same(ticks, PROFILES[page.name], f"{page.name}: run times")


def check_wakers(page):
    """Each wait with a waker has an arrow from its row, and the panel names it, as txtrace waits does."""
    page.open()
    listed = json.loads(subprocess.run([page.tool, "waits", "--format", "json", page.trace], capture_output=True,
                                       check=True).stdout)["waits"]
    # If several threads have a name, the tables add their handles.
    woken = sorted((round(row["start_s"] * 1e9), re.sub(r" \([0-9a-f]{8}\)$", "", row["woken_by"])) for row in listed
                   if row["woken_by"] and row["end"] == "ended")
    shown = page.run("trace.waits.filter(span => span.waker).map(span => [span.begin, trace.contextName(span.waker)])")
    shown = sorted((round(begin), name) for begin, name in shown)
    same(shown, woken, f"{page.name}: wakers")
    same(page.run("""page.timeline.arrows().filter(({span, from, to}) => to.row !== span.row ||
        from.row.context !== span.waker).length"""), 0, f"{page.name}: arrows of other rows")
    others = page.run("trace.waits.filter(span => span.waker && span.waker !== span.row.context).length")
    if 0 < others <= 300:
        check(page.run("page.timeline.arrows().length") > 0, f"{page.name}: no arrows")
    if shown:
        page.run("page.select({span: trace.waits.find(span => span.waker)})")
        page.settle()
        first = page.run("trace.contextName(trace.waits.find(span => span.waker).waker)")
        same(page.text("is-woken-by"), first, f"{page.name}: the waker of the selected wait")


def check_odd(page):
    """
    html-odd.txt, whose spans are known; ticks are microseconds.  The first thread, whose name is made to break a page,
    gives a mutex to the second, which had waited for it.  That one runs until it sleeps; the CPU is idle then.
    """
    page.open()
    spans = page.run("trace.rows.flatMap(row => row.spans.flat().map(span => [row.name, span.kind, span.begin / 1000, "
                     "span.end / 1000, span.name, span.holder]))")
    first, gate = page.events[0]["thread"], "gate <1>"
    same(sorted(spans), sorted([
        ["second", 4, 0, 1000, "", ""], [first, 4, 1000, 4000, "", ""], ["second", 4, 4000, 9000, "", ""],
        ["second", 0, 1000, 4000, f"waits for mutex {gate}", first], ["second", 0, 9000, 11000, "sleeps", ""],
        [gate, 2, 0, 3900, first, ""], [gate, 2, 4000, 11000, "second", ""]]), "odd: spans")
    check(first in page.run("[...document.querySelectorAll('.label .name')].map(name => name.textContent)"),
          "odd: the name of a thread is not shown as it is")
    page.browser.key("4")
    same(page.run("[...document.querySelectorAll('#panel-waits tbody td')].map(cell => cell.textContent)"),
         [f"waits for mutex {gate}", "1", "3.000 ms", "3.000 ms", "3.000 ms", "second", first,
          "sleeps", "1", "2.000 ms", "2.000 ms", "2.000 ms", "second", ""], "odd: waits")
    page.run("document.querySelector('#panel-waits tbody tr').click()")
    same(page.text("is-length"), "0.003000000 s", "odd: the wait that was clicked")
    page.run("[...document.querySelectorAll('#details button')]"
             ".find(button => button.textContent === 'Select its first event').click()")
    same(page.text("is-number"), "2", "odd: the event with which it begins")
    # posix_trace_overflow may be older than the event before it.
    same(page.run("(() => { const few = Object.assign(Object.create(Trace.prototype), {n: 4, "
                  "time: Float64Array.of(1, 5, 3, 6)}); few.makeSeek(); return [...few.seek]; })()"), [1, 5, 5, 6],
         "times that are searched")


def check_few(page, number):
    """A selection of one event, or of none, is a page as well."""
    same(page.run("trace.n"), number, f"{page.name}: events of a small selection")
    for key in ("+", "-", "j", "k", "]", ".", "n", "m", "f", "0", "2", "3", "4", "5", "6", "1"):
        page.browser.key(key)
    page.settle()
    check_events(page)
    page.run("page.setQuery('cpu=0')")
    page.browser.wait(f"txtrace.page.searchState.dataset.hits === '{number}'")


def check_shared(page):
    """html-shared.txt: two threads hold a semaphore at a time, so it has two rows."""
    page.open()
    same(page.run("trace.rows.filter(row => row.kind === 'lock').map(row => [row.name, "
                  "row.spans[KIND.LOCK].map(span => [span.begin / 1000, span.end / 1000, span.name])])"),
         [["permits", [[0, 2000, "one"], [4000, 5000, "one"]]], ["permits (2)", [[1000, 3000, "two"]]]], "shared: rows")


def check_help(page):
    page.open()
    page.browser.key("?")
    check(page.run("document.getElementById('help').open"), f"{page.name}: ? shows no help")
    page.browser.key("?")
    check(not page.run("document.getElementById('help').open"), f"{page.name}: ? does not end the help")


def take_pictures(page):
    browser = page.browser
    shades = []
    for is_dark in (False, True):
        browser.dark(is_dark)
        page.open()
        page.settle()
        shades.append(page.run("getComputedStyle(document.body).backgroundColor"))
        shade = "dark" if is_dark else "light"
        browser.picture(f"html-{page.name}-{shade}.png")
        i = len(page.events) // 2
        page.run(f"(page.goTo({i}), page.zoomToSelection())")
        page.settle()
        browser.picture(f"html-{page.name}-{shade}-close.png")
    browser.dark(False)
    check(shades[0] != shades[1], f"{page.name}: dark is as light: {shades}")


def main(tool, scratch, *traces):
    browser = Browser()
    try:
        pages = [Page(browser, tool, scratch, trace) for trace in traces]
        for page in pages:
            page.open()
            check_events(page)
            check_clicks(page)
            check_statistics(page)
            check_runs(page)
            check_wakers(page)
        by_name = {page.name: page for page in pages}
        for page in (by_name["threadx"], by_name["lossy"]):
            check_zoom(page)
            check_tip(page)
            check_address(page)
            check_steps_and_measure(page)
            check_help(page)
            take_pictures(page)
        check_search(by_name["threadx"], filters.FILTERS + ('event:*MUTEX*', 'thread:sensor and not event:*SEND',
                                          'object:samples and u32[12]<1', 'time>=20ms time<40ms or number=3',
                                          'event:*QUEUE_SEND (cpu=0)'))
        check_search(by_name["whole"],
                     filters.FILTERS + ('i8=-8 and size=1', 'data:text', 'i64<0 and size=8',
                                        'priority>=0 event:step_*'))
        if "mixture" in by_name:
            check_search(by_name["mixture"], filters.FILTERS + CALL_QUERIES)
        check_odd(by_name["odd"])
        check_shared(by_name["shared"])
        check_narrow(by_name["lossy"])
        check_few(Page(browser, tool, scratch, traces[0], "-f", "event:nothing"), 0)
        check_few(Page(browser, tool, scratch, traces[0], "-f", "number=7"), 1)
        check_few(Page(browser, tool, scratch, by_name["whole"].trace, "-f", "event:nothing"), 0)
        return report(browser)
    finally:
        browser.close()


sys.exit(main(*sys.argv[1:]))
