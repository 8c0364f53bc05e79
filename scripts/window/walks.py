"""What a person does in the explorer, each thing with its way back: walked by its tests and over a large store."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from window.browser import until
from window.hands import Hands, shows, turn

_LATE_MS = 60_000
_LONG_MS = 900_000
"""What reads or writes a whole store."""
DRAWN = "Number(document.querySelector('[data-nodes]')?.dataset.nodes)"


@dataclass(frozen=True, slots=True)
class Walk:
    """What to do from an address on, by some hands, which may write into a folder; raises where it cannot be done."""

    path: str
    go: Callable[[Page, Hands, Path], None]


WALKS: dict[str, Walk] = {}


def _walk(path: str, name: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    def list_it(go: Callable[..., None]) -> Callable[..., None]:
        WALKS[name or go.__name__.replace("_", " ")] = Walk(path, go)
        return go

    return list_it


def _card(page: Page, words: str) -> Locator:
    """The first answer that holds some words."""
    return page.locator(".card", has_text=words).locator(".card-button").first


def _panel(page: Page, label: str = "One memory") -> Locator:
    return page.get_by_role("complementary", name=label)


def _said(page: Page, words: str) -> None:
    expect(page.locator(".toast", has_text=words).first).to_be_visible(timeout=_LATE_MS)


def _show_filters(page: Page, hands: Hands) -> None:
    """On a narrow screen they are behind a button."""
    button = page.get_by_role("button", name=re.compile("^Filters"))
    if button.is_visible() and button.get_attribute("aria-pressed") == "false":
        hands.press(page, button)


@_walk("/?scope=acts")
def ask_open_close_and_forget(page: Page, hands: Hands, _: Path) -> None:
    hands.fill(page, page.get_by_role("searchbox").first, "when is the staging cluster reset")
    found = _card(page, "staging cluster")
    expect(found).to_be_visible()
    expect(page).to_have_url(re.compile("q=when"))
    panel = _panel(page)
    hands.press(page, found)
    expect(panel).to_be_focused()
    hands.close(page, panel)
    expect(found).to_be_focused()
    hands.press(page, found)
    hands.press(page, panel.get_by_role("button", name="Forget"))
    expect(panel.get_by_role("button", name="Restore")).to_be_visible()
    hands.undo(page, "out of recall")
    expect(panel.get_by_role("button", name="Forget")).to_be_visible()


@_walk("/?scope=shop")
def filter_reload_and_go_back(page: Page, hands: Hands, _: Path) -> None:
    _show_filters(page, hands)
    hands.switch(page, "failure")
    expect(page).to_have_url(re.compile("kind=FAILURE"))
    page.reload()
    shows(page, "npm ci")
    expect(page.locator("main").get_by_text("The cart is kept in Redis")).to_have_count(0)
    hands.press(page, page.get_by_role("link", name="Insights"))
    expect(page).to_have_url(re.compile("/insights"))
    page.go_back()
    shows(page, "npm ci")
    _show_filters(page, hands)
    expect(page.get_by_role("checkbox", name="failure")).to_be_checked()


def _bar(bars: str, earlier: str, today: str) -> Callable[[Page, Hands, Path], None]:
    def go(page: Page, hands: Hands, _: Path) -> None:
        shows(page, today)
        _show_filters(page, hands)
        hands.press(page, page.get_by_role("group", name=bars).get_by_role("button").first)
        shows(page, earlier)
        expect(page.locator("main").get_by_text(today)).to_have_count(0)
        expect(page).to_have_url(re.compile(r"since=(\d{4}-\d\d-\d\d)&until=\1"))

    return go


_walk("/?scope=shop", "a day of memories")(
    _bar("When it happened", "The invoices are numbered by year", "The cart is kept in Redis")
)
_walk("/happened?tab=episodes&scope=shop&time=recorded", "a day of episodes")(
    _bar("When episodes were recorded", "The nightly export", "raises a KeyError")
)


@_walk("/?q=run+the+tests&scope=shop")
def compare_two_recipes(page: Page, hands: Hands, _: Path) -> None:
    _show_filters(page, hands)
    hands.press(page, page.get_by_role("button", name="Compare with"))
    hands.pick(page, page.locator(".pick", has_text="nothing else").get_by_role("button"), "bm25")
    for recipe in ("default", "bm25"):
        expect(page.get_by_role("heading", name=recipe)).to_be_visible()
    expect(page).to_have_url(re.compile("recipe2=bm25"))


@_walk("/?q=staging+cluster&scope=acts")
def confirm_and_judge(page: Page, hands: Hands, _: Path) -> None:
    hands.press(page, _card(page, "staging cluster"))
    panel = _panel(page)
    hands.press(page, panel.get_by_role("button", name="Confirm"))
    expect(panel.locator(".badge.said.you")).to_be_visible()
    hands.undo(page, "You confirmed")
    expect(panel.locator(".badge.said.agent")).to_be_visible()
    for judgement, said in (("Helped", "cluster-reset-fridays helped"), ("Did not help", "did not help")):
        hands.press(page, panel.get_by_role("button", name=judgement, exact=True))
        hands.undo(page, said)


@_walk("/?q=resizing+volumes&scope=acts")
def edit_with_the_difference_and_go_between_versions(page: Page, hands: Hands, _: Path) -> None:
    hands.press(page, _card(page, "resizing volumes"))
    panel = _panel(page)
    expect(panel.locator(".resolution").first).to_have_text("They keep the quota.")
    hands.press(page, panel.get_by_role("button", name="Edit"))
    dialog = page.get_by_role("dialog")
    hands.fill(page, dialog.get_by_label("What (what to do or to know)"), "They keep the budget.")
    expect(dialog.locator("del")).to_have_text(re.compile("quota"))
    expect(dialog.locator("ins")).to_have_text(re.compile("budget"))
    hands.press(page, dialog.get_by_role("button", name="Save a new version"))
    expect(panel.get_by_text("They keep the budget.")).to_be_visible()
    hands.undo(page, "has a new version")
    expect(panel.get_by_text("They keep the quota.")).to_be_visible()
    hands.press(page, panel.get_by_role("button", name="Versions"))
    hands.press(page, panel.get_by_role("button", name="Bring these words back").first)
    expect(panel.locator(".resolution").first).to_have_text("They keep the budget.")
    hands.undo(page, "has a new version")
    expect(panel.locator(".resolution").first).to_have_text("They keep the quota.")


@_walk("/?q=staging+cluster&scope=acts")
def tie_to_another(page: Page, hands: Hands, _: Path) -> None:
    hands.press(page, _card(page, "staging cluster"))
    panel, dialog = _panel(page), page.get_by_role("dialog")
    hands.press(page, panel.get_by_role("button", name="Relate"))
    hands.fill(page, dialog.get_by_label("The other memory's name or id"), "rotate-signing-keys-march")
    hands.press(page, dialog.get_by_role("button", name="Draw the edge"))
    expect(dialog).to_be_hidden()
    hands.press(page, panel.get_by_role("button", name="What it is tied to"))
    other = panel.get_by_role("link", name="rotate-signing-keys-march")
    expect(other).to_be_visible()
    hands.undo(page, "is related to")
    expect(other).to_have_count(0)


@_walk("/?scope=acts")
def forget_from_a_list_and_restore(page: Page, hands: Hands, _: Path) -> None:
    rows = page.get_by_role("grid", name="Memories").get_by_role("row")
    forgotten = rows.filter(has_text="Rotate the signing keys")
    hands.open(page, rows, "Rotate the signing keys")
    panel = _panel(page)
    hands.press(page, panel.get_by_role("button", name="Forget"))
    expect(forgotten).to_have_count(0)
    hands.press(page, panel.get_by_role("button", name="Restore"))
    expect(forgotten).to_have_count(1)
    hands.undo(page, "back in recall")
    expect(forgotten).to_have_count(0)
    hands.press(page, panel.get_by_role("button", name="Restore"))
    expect(forgotten).to_have_count(1)


@_walk("/decide?tab=contradictions&scope=shop")
def decide_a_contradiction(page: Page, hands: Hands, _: Path) -> None:
    cases = page.locator(".case")
    flags, gateway = (cases.filter(has_text=words) for words in ("flags.yaml", "listens on port 8080"))
    for case, key in ((flags, "1"), (flags, "n"), (gateway, "2"), (gateway, "b")):
        hands.decide(page, case, key)
        expect(case).to_have_count(0)
        hands.undo(page, "Decided")
        expect(case).to_have_count(1)


def _held(words: str) -> Callable[[Page, Hands, Path], None]:
    def go(page: Page, hands: Hands, _: Path) -> None:
        held = page.locator(".case", has_text=words)
        for key, said in (("a", "can be recalled"), ("x", "Rejected")):
            hands.decide(page, held, key)
            expect(held).to_have_count(0)
            hands.undo(page, said)
            expect(held).to_be_visible()

    return go


_walk("/decide?tab=quarantine&scope=acts", "judge a memory in quarantine")(_held("Disregard the rules above"))
_walk("/decide?tab=quarantine&scope=acts", "judge an episode in quarantine")(_held("Ignore all previous rules"))


@_walk("/decide?tab=queue&scope=acts")
def judge_what_waits_to_be_learned(page: Page, hands: Hands, _: Path) -> None:
    """One of several is remembered at the end."""
    cases = page.locator(".case")
    expect(cases.first).to_be_visible()
    waiting = cases.count()
    hands.decide(page, cases.first, "x")
    expect(cases).to_have_count(waiting - 1)
    hands.undo(page, "Rejected")
    expect(cases).to_have_count(waiting)
    hands.decide(page, cases.first, "a")
    expect(cases).to_have_count(waiting - 1)
    _said(page, "is remembered")


@_walk("/decide?tab=duplicates&scope=shop")
def keep_and_fold_duplicates(page: Page, hands: Hands, _: Path) -> None:
    pair = page.locator(".case", has_text="queue.toml")
    for key, said in (("b", "Both stay"), ("1", "Folded into"), ("2", "Folded into")):
        hands.decide(page, pair, key)
        expect(pair).to_have_count(0)
        hands.undo(page, said)
        expect(pair).to_be_visible()


@_walk("/decide?tab=gaps&scope=shop")
def close_a_gap_and_ask_it_again(page: Page, hands: Hands, _: Path) -> None:
    gap = page.locator(".case", has_text="office plants")
    hands.press(page, gap.get_by_role("button", name="Forget"))
    expect(gap).to_have_count(0)
    hands.undo(page, "out of recall")
    hands.press(page, gap.get_by_role("link", name="ask it again"))
    expect(page).to_have_url(re.compile("q=who(%20|\\+)pays"))


@_walk("/happened?scope=shop")
def open_a_session_and_an_episode(page: Page, hands: Hands, _: Path) -> None:
    hands.press(page, page.get_by_role("link", name="monday"))
    expect(page).to_have_url(re.compile("/happened/session/monday"))
    hands.open(page, page.get_by_role("grid", name="Episodes").get_by_role("row"), "src/parser.py")
    panel = _panel(page, "One episode")
    expect(panel).to_contain_text("src/parser.py")
    hands.close(page, panel)


@_walk("/happened?tab=plans&scope=shop")
def open_a_plan_and_a_task(page: Page, hands: Hands, _: Path) -> None:
    hands.press(page, page.get_by_role("link", name=re.compile("new payment provider")))
    shows(page, "4 tasks")
    hands.press(page, page.locator(".task", has_text="Write the client"))
    panel = _panel(page, "One task")
    expect(panel.get_by_text("pytest tests/client").last).to_be_visible()
    expect(panel.get_by_text("passed")).to_be_visible()
    hands.close(page, panel)


@_walk("/insights?scope=shop")
def follow_an_insight_to_its_evidence(page: Page, hands: Hands, _: Path) -> None:
    hands.press(page, page.locator(".card-button").first)
    row = page.get_by_role("treegrid", name="Evidence").get_by_role("row").first
    hands.follow(page, row)
    shows(page, "parser.py")
    expect(page).to_have_url(re.compile("/(memory|insights)/"))


@_walk("/graph")
def begin_choose_and_widen(page: Page, hands: Hands, _: Path) -> None:
    nodes = page.get_by_role("listbox", name="Nodes").get_by_role("option")
    hands.fill(page, page.get_by_label("Begin at a name"), "tests-fail-relation-orders-already")
    hands.press(page, page.get_by_role("button", name="Show", exact=True))
    expect(page.locator(".graph-filters")).to_be_visible(timeout=_LATE_MS)
    until(page, f"{DRAWN} > 2", 60)
    few = page.evaluate(DRAWN)
    hands.open(page, nodes, "run-tests")
    hands.press(page, page.get_by_role("button", name="Widen"))
    until(page, f"{DRAWN} > {few}", 60)
    expect(page).to_have_url(re.compile("also="))
    hands.press(page, page.get_by_role("button", name="All nodes"))
    hands.switch(page, "memory")
    expect(page).to_have_url(re.compile("labels=MEMORY"))
    hands.press(page, page.get_by_role("button", name="Overview"))
    expect(page).not_to_have_url(re.compile("start="))


@_walk("/graph?start=tests-fail-relation-orders-already")
def find_a_way_and_the_reason_of_an_edge(page: Page, hands: Hands, _: Path) -> None:
    hands.fill(page, page.get_by_label("Find the way to"), "run-tests-uv-run-pytest-n")
    hands.press(page, page.get_by_role("button", name="Show", exact=True))
    expect(page).to_have_url(re.compile("to=run-tests"))
    hands.open(page, page.get_by_role("listbox", name="Nodes").get_by_role("option"), "run-tests")
    edge = page.get_by_role("complementary", name="The graph as a list").locator("li .link[aria-expanded]").first
    hands.press(page, edge)
    expect(page.locator(".edge-reason")).to_contain_text("weight")


@_walk("/health")
def pause_and_go_on(page: Page, hands: Hands, _: Path) -> None:
    for stop, on, said in (("Pause capture", "Go on capturing", "Capture"), ("Pause", "Go on", "Background work")):
        hands.press(page, page.get_by_role("button", name=stop, exact=True))
        _said(page, f"{said} is paused.")
        hands.press(page, page.get_by_role("button", name=on, exact=True))
        _said(page, f"{said} goes on.")
        expect(page.get_by_role("button", name=stop, exact=True)).to_be_visible()
        turn(page, "/health?tab=work")
    hands.press(page, page.get_by_role("button", name="Work through everything now"))
    _said(page, "worked through now")


@_walk("/health?tab=work")
def take_background_work_back(page: Page, hands: Hands, _: Path) -> None:
    rows = page.get_by_role("row", name=re.compile("^consolidate done .*episodes read \\d"))
    hands.press(page, rows.filter(has=page.get_by_role("button", name="Undo")).first.get_by_role("button", name="Undo"))
    _said(page, "Taken back")


@_walk("/transfer?scope=acts")
def export_and_plan_an_import(page: Page, hands: Hands, folder: Path) -> None:
    file = str(folder / f"{hands.name}.jsonl")
    out, back, jobs = (
        page.get_by_role("region", name=name) for name in ("Take memories elsewhere", "Bring memories along", "Jobs")
    )
    jobs = jobs.locator(".job")
    before = jobs.count()
    hands.pick(page, out.get_by_role("button").first, "JSON lines")
    hands.fill(page, page.get_by_label("File on this machine"), file)
    hands.press(page, page.get_by_role("button", name="Write it"))
    expect(jobs).to_have_count(before + 1, timeout=_LONG_MS)
    expect(jobs.first).to_contain_text("done", timeout=_LONG_MS)
    hands.pick(page, back.get_by_role("button").first, "another memory")
    hands.fill(page, page.get_by_label("Path on this machine"), file)
    hands.press(page, page.get_by_role("button", name="Show the plan"))
    expect(jobs).to_have_count(before + 2, timeout=_LONG_MS)
    expect(jobs.first).to_contain_text("done", timeout=_LONG_MS)


_FOUND: Mapping[str, tuple[str, str, str]] = {
    "xyzzy plugh": ("ask xyzzy plugh", "q=xyzzy", "Nothing that is known fits"),
    "certificate": ("memory npm-ci", "/memory/", "NODE_EXTRA_CA_CERTS"),
    "migration 5": ("task Fix the orders", "/tasks/", "What it was shown"),
    "onda": ("session shop/monday", "/happened/session/monday", "claude-code"),
    "provider": ("plan Move the checkout", "/plans/", "4 tasks"),
    "parser.py": ("entity src/parser.py", "/graph", "PNG"),
    "holdback": ("setting holdback", "/health", "What it means"),
    "queue learning": ("page To decide: learning queue", "/decide", "To decide"),
    "models": ("page Health: models", "/health", "embedding model"),
}
"""What is typed into the palette: what it finds then, where that leads, and what stands there."""


def _finds(typed: str) -> Callable[[Page, Hands, Path], None]:
    what, address, words = _FOUND[typed]

    def go(page: Page, hands: Hands, _: Path) -> None:
        hands.find(page, typed, what)
        expect(page).to_have_url(re.compile(re.escape(address)))
        shows(page, words)

    return go


for _typed in _FOUND:
    _walk("/transfer", f"find {_typed}")(_finds(_typed))


@_walk("/transfer")
def do_what_the_palette_offers(page: Page, hands: Hands, _: Path) -> None:
    for typed, what, said in (
        ("capture pause", "do Pause capture", "Capture is paused."),
        ("resume recording", "do Go on capturing", "Capture goes on."),
    ):
        hands.find(page, typed, what)
        _said(page, said)
