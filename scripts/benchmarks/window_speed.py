"""The window at scale: how long the explorer takes over a large store, in a real browser with a real daemon."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from playwright.sync_api import Browser, Locator
from window.browser import chromium

from benchmarks.machine import described
from benchmarks.speed import load_of_machine
from benchmarks.speed_daemon import Running, running
from benchmarks.speed_store import KEPT, Say, made, settings_of
from benchmarks.window_acting import acted, rows_of
from benchmarks.window_page import Keys, Looking, Watched, daemon_of, heap, spread

_VIEWS: Mapping[str, str] = {
    "Ask, everything": "/",
    "Ask, a kind": "/?kind=FAILURE",
    "Ask, a question": "/?q=what+happens+when+the+disk+is+full",
    "Graph, from afar": "/graph",
    "Graph, a walk": "/graph?q=what+happens+when+the+disk+is+full",
    "What happened": "/happened",
    "Insights": "/insights",
    "To decide": "/decide",
    "To decide, duplicates": "/decide?tab=duplicates",
    "Does it help?": "/helps",
    "Health": "/health",
    "Import and export": "/transfer",
}
_TOUR = ("/", "/graph", "/happened", "/insights", "/decide", "/helps", "/health", "/transfer")
_NODES_AT_ONCE = 1_000
"""Nodes that the explorer asks for around each that it begins at."""
_WORDS = "journal chain after a full disk"
_PALETTE = "every memory"
_FIND_ANYTHING = "Control+k"


@dataclass(frozen=True, slots=True)
class _Size:
    """How often each thing is done: views opened, keys typed, tours through all views; and nodes that are drawn."""

    rounds: int
    tours: int
    nodes: int


def measure(home: Path, count: int, size: _Size, only: str, say: Say) -> dict[str, Any]:
    """Make the store of `count` memories in `home` or take up the one there; return the figures of the page over it.

    `only` is "figures" for what is looked at, "actions" for what is done, or empty for both.
    """
    built = made(home, count, say)
    result: dict[str, Any] = {"machine": described(), "load_at_start": load_of_machine(say), "nodes": count}
    result["edges"] = built["edges"]
    with chromium() as browser:
        if only != "actions":
            result |= _figures(home, browser, size, say)
        if only != "figures":
            result["actions"] = acted(home, browser, say)
    result["load_at_end"] = round(os.getloadavg()[0], 2)
    return result


def _figures(home: Path, browser: Browser, size: _Size, say: Say) -> dict[str, Any]:
    settings = settings_of(home)
    with running(settings) as served:
        looking = Looking(browser, daemon_of(settings))
        return {
            "memory_at_start": served.memory(),
            "views": {name: _view(looking, name, path, size, say) for name, path in _VIEWS.items()},
            "keys": _keys(looking, size, say),
            "graph": _graph(looking, served, size, say),
            "memory_after_views": served.memory(),
            "tours": _tours(looking, size, say),
            "memory_at_end": served.memory(),
            "complaints": looking.complaints[:20],
        }


def _view(looking: Looking, name: str, path: str, size: _Size, say: Say) -> dict[str, Any]:
    """Open a view in a page of its own each time: what it takes until nothing is read or placed any more."""
    say(f"opening: {name}")
    times, asked = [], {}
    for turn in range(size.rounds):
        with looking.page() as page:
            times.append(page.go(path))
            asked[turn] = page.slowest()
    first, *later = times
    return {"first_ms": round(first), "later": spread(later or times), "slowest_request": asked[size.rounds - 1]}


def _keys(looking: Looking, size: _Size, say: Say) -> dict[str, Any]:
    """Type into the fields and walk the lists; return what a key takes until it is painted, by place."""
    say("typing")
    found: dict[str, Keys] = defaultdict(Keys)
    with looking.page() as page:
        page.tab.goto("about:blank")
        page.tab.set_content("<input>")
        for _ in range(size.rounds):
            page.typed(page.tab.locator("input"), _WORDS, found["a bare field, for comparison"])
    with looking.page() as page:
        page.go("/")
        _ask(page, page.tab.get_by_role("searchbox").first, size, found)
        for path, name in (("/", "the list, down"), ("/?kind=FAILURE&since=2022-06-01", "the list, filtered, down")):
            page.go(path)
            page.pressed(page.tab.get_by_role("row").first, ["ArrowDown"] * (20 * size.rounds), found[name])
        page.go("/")
        boxes = page.tab.locator(".facet input[type=checkbox]")
        for turn in range(4 * size.rounds):
            page.pressed(boxes.nth(turn % 4 // 2), ["Space"], found["a filter, on and off"])
            page.settle()
        for _ in range(size.rounds):
            page.tab.keyboard.press(_FIND_ANYTHING)
            finder = page.tab.get_by_role("dialog").get_by_role("searchbox")
            finder.wait_for()
            page.typed(finder, _PALETTE, found["the palette"])
            page.tab.keyboard.press("Escape")
            page.tab.keyboard.press("Escape")
    return {name: keys.figures() for name, keys in found.items()}


def _ask(page: Watched, field: Locator, size: _Size, found: Mapping[str, Keys]) -> None:
    """Type a question over the list of everything, then another one over its answer."""
    for _ in range(size.rounds):
        field.fill("")
        page.settle()
        page.typed(field, _WORDS.split()[0], found["Ask, over everything"])
        page.settle()
        page.typed(field, _WORDS, found["Ask, over an answer"])


def _graph(looking: Looking, served: Running, size: _Size, say: Say) -> dict[str, Any]:
    """Draw so many nodes around the middles of the largest communities, or some fewer where they have less around them.

    Return the layout's time and the frames while it is moved.
    """
    say(f"drawing {size.nodes:,} nodes")
    central = served.client.run("graph_overview", limit=max(1, size.nodes // _NODES_AT_ONCE))["graphOverview"]
    start, *also = [one["members"][0]["ref"]["id"] for one in central["nodes"]]
    asked = "".join(f"&also={one}" for one in also)
    with looking.page() as page:
        settled = page.go(f"/graph?start={start}&steps=3{asked}")
        return {
            "nodes": page.number("nodes"),
            "settled_ms": round(settled),
            "still": page.frames(lambda: page.tab.wait_for_timeout(3_000)),
            "panning": page.frames(page.panned),
            "zooming": page.frames(page.zoomed),
            "slowest_request": page.slowest(),
        }


def _tours(looking: Looking, size: _Size, say: Say) -> dict[str, Any]:
    """Open every view by its link again and again in one page; return what the page holds before and after."""
    say(f"{size.tours} tours through all views")
    with looking.page() as page:
        page.go("/")
        debugger = page.tab.context.new_cdp_session(page.tab)
        debugger.send("Performance.enable")
        times: dict[str, list[float]] = {}
        page.tour(_TOUR)
        before = heap(debugger)
        for _ in range(size.tours):
            for path, taken in page.tour(_TOUR).items():
                times.setdefault(path, []).append(taken)
        return {
            "before": before,
            "after": heap(debugger),
            "by_link": {path: spread(own) for path, own in times.items()},
        }


def tables(result: Mapping[str, Any]) -> list[str]:
    """Return the figures as lines of Markdown."""
    load = f"load {result['load_at_start']} at the start, {result['load_at_end']} at the end"
    said = [f"{result['nodes']:,} memories, {result['edges']:,} edges; {result['machine']}; {load}", ""]
    if "views" in result:
        said += _tables_of_figures(result)
    if "actions" in result:
        heads = ["by", "actions", "failed", "complaints", "key to paint, ms", "p95", "over 100 ms"]
        said += [*_table(heads, rows_of(result["actions"])), ""]
        said += [json.dumps({name: one["failed"] for name, one in result["actions"].items()}, ensure_ascii=False)]
    return said


def _tables_of_figures(result: Mapping[str, Any]) -> list[str]:
    views = [
        [name, one["first_ms"], _words(one["later"]), one["slowest_request"]] for name, one in result["views"].items()
    ]
    lines = _table(["view", "first ms", "later: median (least to most) ms", "its slowest request"], views)
    keys = [
        [name, _words(one), one["p95"], f"{one['over_100_ms']} of {one['times']}", one["busy_ms"]]
        for name, one in result["keys"].items()
    ]
    heads = ["key to paint", "median (least to most) ms", "p95 ms", "over 100 ms", "of the processor, ms a key"]
    lines += ["", *_table(heads, keys)]
    for part in ("graph", "tours", "memory_at_start", "memory_after_views", "memory_at_end", "complaints"):
        lines += ["", f"{part}: {json.dumps(result[part], ensure_ascii=False)}"]
    return [*lines, ""]


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    ruled = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(map(str, row)) + " |" for row in ruled]


def _words(figures: Mapping[str, float]) -> str:
    return f"{figures['median']:g} ({figures['least']:g} to {figures['most']:g})"


@click.command()
@click.option("--nodes", default=100_000, show_default=True, help="Memories in the store.")
@click.option("--rounds", default=5, show_default=True, help="How often each view is opened and each word is typed.")
@click.option("--tours", default=20, show_default=True, help="How often one page goes through all views.")
@click.option("--drawn", default=2_000, show_default=True, help="Nodes of the graph that is moved, in thousands.")
@click.option("--only", type=click.Choice(["figures", "actions"]), help="Look, or act, and not both.")
@click.option("--home", type=click.Path(path_type=Path), help="Folder of the store, kept for the next run.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the JSON to this file too.")
def window(
    nodes: int, rounds: int, tours: int, drawn: int, only: str | None, home: Path | None, out: Path | None
) -> None:
    """Views, keystrokes, the graph, memory and every action of the explorer: N memories with some 3 N edges."""
    size = _Size(rounds=rounds, tours=tours, nodes=drawn)
    result = measure(home or KEPT / str(nodes), nodes, size, only or "", lambda text: click.echo(text, err=True))
    if out is not None:
        out.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    click.echo("\n".join(tables(result)))
