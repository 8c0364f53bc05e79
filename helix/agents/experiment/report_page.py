"""Report page: one file without scripts that asks for nothing from anywhere, for light and dark screens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import accumulate

from helix.agents.experiment.effect import wilson
from helix.model.proof import Arm, Lift, Period, Report, Share

_WIDTH, _HEIGHT, _BARS = 760.0, 240.0, 70.0
_LEFT, _RIGHT, _TOP = 46.0, 12.0, 12.0
_MOST_LABELS = 8
_APART = 12.0
"""How far the intervals of a single day are drawn from its middle, so that neither hides the other."""
_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6675; --ground: #fbfcfd; --card: #ffffff; --line: #d9dfe6;
  --with: #1f5fd0; --without: #b4520a; --bad: #b3261e; --good: #1a7a45; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --ground: #12161c; --card: #1a2029;
  --line: #313a46; --with: #82aaff; --without: #ffab66; --bad: #ff8a80; --good: #74d69b; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1rem 3rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 820px; margin: 0 auto; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
p { margin: .4rem 0; } .soft { color: var(--soft); font-size: .9rem; }
.says { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--with);
  border-radius: 8px; padding: .7rem 1rem; margin: 1.2rem 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(180px, 1fr)); gap: .8rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .7rem .9rem; }
.card b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .6rem; }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--soft); font: 11px system-ui, sans-serif; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; font-size: .85rem; white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 7rem; overflow-wrap: anywhere; }
.with { color: var(--with); } .without { color: var(--without); }
"""


def page(report: Report) -> str:
    """Return the report as one HTML document; every word that comes from the store is escaped."""
    where = "all projects" if report.scope is None else report.scope
    since = "everything" if report.since is None else f"since {report.since:%Y-%m-%d %H:%M} UTC"
    says = "".join(f"<p>{escape(line)}</p>" for line in report.says)
    body = [
        f"<h1>Helix: what memory was worth</h1><p class='soft'>{escape(where)}, {since}; "
        f"written {report.at:%Y-%m-%d %H:%M} UTC. {report.holdback:.0%} of the tasks are held back at random.</p>",
        f"<section class='says'>{says}</section>",
        f"<section class='cards'>{''.join(_cards(report))}</section>",
        "<h2>The difference that memory makes</h2>" + _figure(_lifts(report)) if report.delivered else "",
        "<h2>Delivered over time</h2>" + _over_time(report),
        "<h2>Tasks</h2>" + _arms(report),
        "<h2>Memories</h2>" + _leaders(report),
    ]
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        "<meta name='viewport' content='width=device-width, initial-scale=1'><title>Helix report</title>"
        f"<style>{_STYLE}</style></head><body><main>{''.join(body)}</main></body></html>\n"
    )


def _cards(report: Report) -> Iterable[str]:
    shown = [(report.with_memory, "with memory", "with"), (report.undrawn, "with memory, not drawn", "")]
    shown = [(arm, name, css) for arm, name, css in shown if arm.tasks] or shown[:1]
    for arm, name, css in (*shown, (report.held_back, "held back", "without")):
        yield _card(_percent(arm.delivered), f"delivered {name}", _cases(arm.delivered), css)
    for arm, name, _ in shown:
        yield _card(f"{arm.tokens_per_task:,.0f}", "tokens a task", f"of memories, {name}")
    harm = report.harm
    more = f"{harm.failed} of {harm.shown} showings failed, {harm.unused} were not used"
    yield _card(f"{harm.blocked}", "tasks blocked with memory", more)


def _card(value: str, what: str, more: str, css: str = "") -> str:
    return f"<div class='card'><b class='{css}'>{value}</b>{escape(what)}<div class='soft'>{escape(more)}</div></div>"


def _percent(share: Share) -> str:
    return "none" if share.value is None else f"{share.value:.0%}"


def _cases(share: Share) -> str:
    if share.value is None:
        return "none has ended"
    return f"{share.hits} of {share.cases}; 95 % interval {share.low:.0%} to {share.high:.0%}"


def _figure(svg: str) -> str:
    return f"<figure>{svg}</figure>"


def _lifts(report: Report) -> str:
    """Draw the differences with their intervals about 0."""
    rows = [
        (lift, name, better)
        for lift, name, better in (
            (report.delivered, "delivered", 1),
            (report.repeated, "met a known failure", -1),
        )
        if lift is not None
    ]
    reach = max(0.05, *(abs(end) for lift, _, _ in rows for end in (lift.low, lift.high))) * 1.1
    left, height = 150.0, 40.0 * len(rows) + 34
    middle = left + (_WIDTH - left - _RIGHT) / 2

    def across(value: float) -> float:
        return middle + value / reach * (_WIDTH - left - _RIGHT) / 2

    parts = [_line(middle, 6, middle, height - 24, "stroke:var(--soft);stroke-dasharray:3 3")]
    for place, (lift, name, better) in enumerate(rows):
        parts.append(_lift_row(lift, name, better, 28.0 + 40 * place, across))
    for value in (-reach / 1.1, 0.0, reach / 1.1):
        parts.append(_text(across(value), height - 8, f"{100 * value:+.0f} points" if value else "0", "middle"))
    return _svg(_WIDTH, height, "Differences with their 95 % intervals", parts)


def _lift_row(lift: Lift, name: str, better: int, y: float, across: Callable[[float], float]) -> str:
    colour = "var(--soft)" if not lift.sure else "var(--good)" if lift.value * better > 0 else "var(--bad)"
    ends = _line(across(lift.low), y, across(lift.high), y, f"stroke:{colour};stroke-width:3;stroke-linecap:round")
    dot = f"<circle cx='{across(lift.value):.1f}' cy='{y:.1f}' r='6' style='fill:{colour}'/>"
    words = _text(4, y + 4, name, "start")
    value = _text(across(lift.value), y - 10, f"{100 * lift.value:+.1f}", "middle")
    return ends + dot + words + value


def _over_time(report: Report) -> str:
    if not report.periods:
        ended = report.undrawn.delivered.cases
        more = f"{ended} that were not drawn have: they prove nothing, and stand in the table below."
        return f"<p class='soft'>No task that was drawn has ended yet.{f' {more}' if ended else ''}</p>"
    words = "day" if report.days == 1 else "week"
    legend = (
        "<p class='soft'><span class='with'>● with memory</span> &nbsp; <span class='without'>■ held back</span> "
        "&nbsp; share delivered of all that ended until then, with its 95 % interval; "
        f"below, tasks that ended in each {words}</p>"
    )
    return _figure(_plot(report.periods)) + legend


def _plot(periods: Sequence[Period]) -> str:
    arms = (
        ("--with", "", [one.with_ended for one in periods], [one.with_delivered for one in periods]),
        ("--without", "7 4", [one.without_ended for one in periods], [one.without_delivered for one in periods]),
    )
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(periods))
    xs = [_LEFT + step * (place + 0.5) for place in range(len(periods))]
    parts = [*_grid()]
    for colour, dash, ended, delivered in arms:
        parts.append(_curve(xs, list(accumulate(delivered)), list(accumulate(ended)), colour, dash))
    most = max(max(one.with_ended, one.without_ended) for one in periods) or 1
    floor = _TOP + _HEIGHT + 34 + _BARS
    for x, one in zip(xs, periods, strict=True):
        wide = min(step * 0.38, 16.0)
        parts.append(_bar(x - wide, floor, wide, one.with_ended / most, "--with"))
        parts.append(_bar(x, floor, wide, one.without_ended / most, "--without"))
    every = -(-len(periods) // _MOST_LABELS)
    parts += [
        _text(min(x, _WIDTH - 34), floor + 16, f"{one.start:%Y-%m-%d}", "middle")
        for place, (x, one) in enumerate(zip(xs, periods, strict=True))
        if place % every == 0
    ]
    parts.append(_text(_LEFT - 6, floor - _BARS + 8, f"{most}", "end"))
    parts.append(_line(_LEFT, floor, _WIDTH - _RIGHT, floor, "stroke:var(--line)"))
    return _svg(_WIDTH, floor + 24, "Share of tasks delivered over time, with memory and held back", parts)


def _grid() -> Iterable[str]:
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        yield _line(_LEFT, y, _WIDTH - _RIGHT, y, "stroke:var(--line)")
        yield _text(_LEFT - 6, y + 4, f"{10 * tenth} %", "end")


def _curve(xs: Sequence[float], hits: Sequence[int], cases: Sequence[int], colour: str, dash: str) -> str:
    """Draw the share so far as a line, with its interval as a band around it, from the first case on."""
    known = [(x, hit, count) for x, hit, count in zip(xs, hits, cases, strict=True) if count]
    if not known:
        return ""
    bounds = [wilson(hit, count) for _, hit, count in known]
    upper = [f"{x:.1f},{_y(high):.1f}" for (x, _, _), (_, high) in zip(known, bounds, strict=True)]
    lower = [f"{x:.1f},{_y(low):.1f}" for (x, _, _), (low, _) in zip(known, bounds, strict=True)]
    band = f"<polygon points='{' '.join([*upper, *reversed(lower)])}' style='fill:var({colour});fill-opacity:.14'/>"
    if len(known) == 1:
        aside = known[0][0] + (_APART if dash else -_APART)
        band, known = _whisker(aside, *bounds[0], colour), [(aside, *known[0][1:])]
    line = " ".join(f"{x:.1f},{_y(hit / count):.1f}" for x, hit, count in known)
    x, hit, count = known[-1]
    y = _y(hit / count)
    mark = (
        f"<rect x='{x - 4:.1f}' y='{y - 4:.1f}' width='8' height='8' style='fill:var({colour})'/>"
        if dash
        else f"<circle cx='{x:.1f}' cy='{y:.1f}' r='5' style='fill:var({colour})'/>"
    )
    return (
        band
        + f"<polyline points='{line}' style='fill:none;stroke:var({colour});stroke-width:2.5;stroke-dasharray:{dash}'/>"
        + mark
    )


def _whisker(x: float, low: float, high: float, colour: str) -> str:
    """Draw the interval of a single day, whose band would have no width."""
    style = f"stroke:var({colour});stroke-width:2"
    ends = "".join(_line(x - 5, _y(end), x + 5, _y(end), style) for end in (low, high))
    return _line(x, _y(low), x, _y(high), style) + ends


def _y(share: float) -> float:
    return _TOP + _HEIGHT * (1 - share)


def _bar(x: float, floor: float, width: float, share: float, colour: str) -> str:
    height = _BARS * share
    return (
        f"<rect x='{x:.1f}' y='{floor - height:.1f}' width='{width:.1f}' height='{height:.1f}' "
        f"style='fill:var({colour})'/>"
    )


def _line(x: float, y: float, to_x: float, to_y: float, style: str) -> str:
    return f"<line x1='{x:.1f}' y1='{y:.1f}' x2='{to_x:.1f}' y2='{to_y:.1f}' style='{style}'/>"


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}'>{escape(words)}</text>"


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f"<svg viewBox='0 0 {width:.0f} {height:.0f}' role='img' aria-label='{escape(title, quote=True)}'>"
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _arms(report: Report) -> str:
    named = (("with memory", report.with_memory), ("held back", report.held_back), ("not drawn", report.undrawn))
    rows = [_arm_row(name, arm) for name, arm in named if arm.tasks or name != "not drawn"]
    heads = ("", "tasks", "delivered", "blocked", "skipped", "open", "checks failed", "met a known failure", "tokens")
    more = f"<p class='soft'>{report.neither} more had nothing to be shown, and are in neither.</p>"
    return _table(heads, rows) + more


def _arm_row(name: str, arm: Arm) -> list[str]:
    counts = (arm.tasks, arm.delivered.hits, arm.blocked, arm.skipped, arm.open, arm.failed_checks, arm.repeated.hits)
    return [name, *map(str, counts), f"{arm.tokens:,}"]


def _leaders(report: Report) -> str:
    rows = [
        [one.name, one.kind, *map(str, (one.shown, one.helped, one.claimed, one.failed, one.unused, one.withheld))]
        for one in report.leaders
    ]
    heads = ("memory", "kind", "shown", "helped", "claimed", "failed", "unused", "held back")
    return _table(heads, rows) if rows else "<p class='soft'>No memory was shown to a task.</p>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col'>{escape(word)}</th>" for word in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<div class='wide'><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
