"""What a person has erased comes back by no reading of the history, file or export that says it still."""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from git_history import History
from hypothesis import given
from hypothesis import strategies as st

from helix.memory.remember.request import StoreRequest
from helix.model.memory import Kind, Memory, Status
from helix.model.told import normal
from helix.model.tombstone import content_digests, digests, kept_out
from helix.model.written import as_read
from helix.operations import capture, erasure, ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.sampling import some
from tests.waiting import finished

SECRETIVE = "The vault of the staging server is kept by Zymurgy."


def take_in(helix: Helix, history: History) -> dict[str, Any]:
    return dict(finished(helix, ingest.ingest_git(helix, str(history.path))).result)


@pytest.mark.parametrize("remote", some(["https://example.org/ada/shop.git", "http://localhost:3000/ada/shop.git"], 1))
def test_a_commit_that_was_erased_stays_away_when_its_history_is_read_again(
    helix: Helix, history: History, remote: str
) -> None:
    history.git("remote", "add", "origin", remote)
    history.commit("Feed the quaxlotl at nine\n\nThe keeper is called Zymurgy.\n", {"farm/feed.py": "1"})
    assert take_in(helix, history)["episodes"] == 1
    (told,) = capture.episodes(helix).items
    finished(helix, erasure.hard_forget(helix, told.id, told.id))
    assert take_in(helix, history)["episodes"] == 0
    assert [one.content for one in capture.episodes(helix).items] == [""]


def erase(helix: Helix, words: str) -> None:
    """Erase each memory and episode that says it."""
    for one in memories.memories(helix, MemoryFilter()).items:
        if words in f"{one.trigger} {one.resolution}":
            finished(helix, erasure.hard_forget(helix, one.id, one.id))
    for episode in capture.episodes(helix).items:
        if words in episode.content:
            finished(helix, erasure.hard_forget(helix, episode.id, episode.id))


def said(helix: Helix) -> str:
    """Return all that the store says."""
    told = [f"{one.trigger} {one.resolution}" for one in memories.memories(helix, MemoryFilter()).items]
    return "\n".join([*told, *(one.content for one in capture.episodes(helix).items)])


@pytest.mark.soak
def test_an_erased_commit_stays_away_under_another_remote_and_after_a_rebase(helix: Helix, history: History) -> None:
    history.git("remote", "add", "origin", "https://example.org/ada/shop.git")
    message = "Use plain mail for the quaxlotl\n\nBecause its keeper is called Zymurgy and is shy of portals.\n"
    history.commit(message, {"farm/feed.py": "1"})
    take_in(helix, history)
    erase(helix, "Zymurgy")
    history.git("remote", "set-url", "origin", "https://example.org/new/shop.git")
    assert take_in(helix, history)["skipped"] == 1
    history.git("commit", "--quiet", "--amend", "--no-edit", "--date", "2020-01-01T00:00:00")
    take_in(helix, history)
    assert "Zymurgy" not in said(helix)


@pytest.mark.parametrize("mine", some([True, False], 1))
def test_an_erased_rule_stays_away_while_its_file_says_it_and_the_others_of_its_section_come_in(
    helix: Helix, tmp_path: Path, mine: bool
) -> None:
    notes = tmp_path / "CLAUDE.md"

    def read(*rules: str) -> dict[str, Any]:
        notes.write_text("# Rules\n\n" + "".join(f"- {rule}\n" for rule in rules), "utf-8")
        return dict(finished(helix, ingest.ingest_notes(helix, [str(notes)], scope="shop", mine=mine)).result)

    read("Always use yarn for packages.", SECRETIVE)
    erase(helix, "Zymurgy")
    for more in ((), ("Never push to main by hand.",)):
        read("Always use yarn for packages.", SECRETIVE, *more)
        assert "Zymurgy" not in said(helix)
        assert "Always use yarn" in said(helix)
    assert "Never push to main" in said(helix)
    memories.store(helix, StoreRequest(trigger=SECRETIVE, resolution="", kind="fact"))
    assert SECRETIVE in said(helix), "what is said afterwards is theirs to say"


def test_an_erased_episode_and_memory_stay_away_when_their_export_is_read_again(helix: Helix) -> None:
    lines = [
        json.dumps({"type": "episode", "content": f"We met at noon. {SECRETIVE}"}),
        json.dumps({"type": "memory", "kind": "fact", "trigger": SECRETIVE, "resolution": "Ask him."}),
        json.dumps({"type": "memory", "kind": "fact", "trigger": "The canteen opens at noon.", "resolution": ""}),
    ]
    ingest.ingest_jsonl(helix, lines)
    assert said(helix).count("Zymurgy") >= 2
    erase(helix, "Zymurgy")
    ingest.ingest_jsonl(helix, lines, source="another")
    assert "Zymurgy" not in said(helix)
    assert "canteen" in said(helix)


FRAMES = [
    "**{0}.** More of it.",
    "*{0}.*",
    "({0}.)",
    '"{0}."',
    "{0}.[^1]",
    "[{0}.](https://example.org)",
    "{0}.<br>",
    "Note: {0}.",
    "| {0} | yes |",
    "_{0}_",
    "- [x] {0}",
    "1) {0}.",
    "> {0}.",
    "<!-- {0}. -->",
    '<img alt="{0}." src="a.png">',
    "> [!tip] {0}.",
    "<b>{0}</b>.",
    "Monday. {0}. Another sentence stays here.",
    "Monday is\nquiet. {0}. Another sentence stays here.",
]


@pytest.mark.parametrize("frame", some(FRAMES, 4))
def test_a_sentence_that_was_erased_comes_back_in_no_frame(helix: Helix, tmp_path: Path, frame: str) -> None:
    memories.store(helix, StoreRequest(trigger=SECRETIVE, resolution="", kind="fact"))
    erase(helix, "Zymurgy")
    notes = tmp_path / "NOTES.md"
    notes.write_text(f"# Staging\n\n{frame.format(SECRETIVE[:-1])}\n\n# Rest\n\n- Keep functions short.\n", "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(notes)], scope="shop"))
    assert "Zymurgy" not in said(helix)
    assert "zymurgy" not in " ".join(one.name for one in memories.memories(helix, MemoryFilter()).items)
    assert "Keep functions short." in said(helix)
    assert ("Another sentence stays here" in frame) <= ("Another sentence stays here" in said(helix))


WRAPPED = [
    ("The vault of the mill is\nkept by Zymurgy.", "The vault of the mill is kept by Zymurgy."),
    ("The vault of the mill is kept by Zymurgy.", "The vault of\n  the mill is kept\n  by Zymurgy."),
    ("金庫の鍵はズィマギーが持っています。", "会議は正午です。金庫の鍵はズィマギーが持っています。食堂は休みです。"),
    ("Ask Ada first. The vault is kept by Zymurgy.", "Noon. Ask Ada first.\nThe vault is kept by Zymurgy. Monday."),
]


@pytest.mark.parametrize(("erased", "read"), some(WRAPPED, 3))
def test_neither_wraps_nor_scripts_hide_an_erased_text(helix: Helix, erased: str, read: str) -> None:
    memories.store(helix, StoreRequest(trigger=erased, resolution="", kind="fact"))
    erase(helix, erased)
    ingest.ingest_jsonl(helix, [json.dumps({"type": "episode", "content": f"Minutes.\n\n- {read}\n- The end."})])
    told = said(helix)
    assert "The end." in told
    assert "Zymurgy" not in told
    assert "ズィマギー" not in told


OTHERWISE = [
    ("Releases are cut by Ben.", "Releases are cut by Ben\u2019s script every Monday."),
    ("Talk to Mr. Smith before a deploy.", "Talk to Mr. Jones when the heating fails."),
    ("Run npm test.", "Run npm test | tee out.log when it fails."),
    (
        "Never restart the server.",
        "On Fridays nobody is here, so\n  never restart the server\n  unless Ada asked for it.",
    ),
    ("The limit is 5.", "The limit is 5..10 per user."),
    ("src/app/main.py", "Read the entry (src/app/main.py), then the tests."),
    ("Ask Ada. Ben is away.", "Ask Ada. Carl is away."),
]


@pytest.mark.parametrize(("erased", "read"), some(OTHERWISE, 3))
def test_what_says_otherwise_or_more_is_read_whole(helix: Helix, erased: str, read: str) -> None:
    memories.store(helix, StoreRequest(trigger=erased, resolution="", kind="fact"))
    (stored,) = memories.memories(helix, MemoryFilter()).items
    finished(helix, erasure.hard_forget(helix, stored.id, stored.id))
    told = {"type": "memory", "kind": "fact", "trigger": read, "resolution": ""}
    ingest.ingest_jsonl(helix, [json.dumps(told)], source="another")
    assert read in said(helix)


@pytest.mark.soak
def test_another_lesson_of_the_same_occasion_is_read(helix: Helix) -> None:
    occasion = "When deploying to production"
    memories.store(helix, StoreRequest(trigger=occasion, resolution="Ask Zymurgy for the code.", kind="convention"))
    erase(helix, "Zymurgy")
    told = {"type": "memory", "kind": "convention", "trigger": occasion}
    lessons = ["Run the smoke tests.", "Tell the support team.", "Ask Zymurgy for the code."]
    ingest.ingest_jsonl(helix, [json.dumps({**told, "resolution": lesson}) for lesson in lessons])
    assert [one in said(helix) for one in lessons] == [True, True, False]


def test_erasing_a_rule_leaves_the_others_of_its_section(helix: Helix, tmp_path: Path) -> None:
    notes = tmp_path / "CLAUDE.md"
    notes.write_text(f"# Rules\n\n- Always use yarn for packages.\n- {SECRETIVE}\n", "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(notes)], scope="shop"))
    rule = next(one for one in memories.memories(helix, MemoryFilter()).items if "Zymurgy" in one.trigger)
    finished(helix, erasure.hard_forget(helix, rule.id, rule.id))
    assert "Always use yarn" in said(helix)
    assert "Zymurgy" not in said(helix)


@pytest.mark.soak
def test_a_table_that_was_erased_is_found_beside_others() -> None:
    table, other = ("| " + " | ".join(map(str, range(start, 9_000))) + " |" for start in (0, 1))
    memory = Memory(id="x", name="x", kind=Kind.FACT, trigger="Table", resolution=table, recorded_at=datetime.now(UTC))
    words = kept_out([("x", digests(memory))])
    left = words.cut(f"Before.\n\n{other}\n\n{table}\n\nBehind.")
    assert [line for line in left.splitlines() if line] == ["Before.", other, "Behind."]


@pytest.mark.soak
def test_what_shares_only_the_words_before_an_abbreviation_comes_in(helix: Helix) -> None:
    memories.store(helix, StoreRequest(trigger="Always run the linter, e.g. ruff.", resolution="", kind="convention"))
    erase(helix, "ruff")
    line = {"type": "memory", "kind": "convention", "trigger": "Always run the linter, e.g. flake8.", "resolution": ""}
    ingest.ingest_jsonl(helix, [json.dumps(line)])
    assert "Always run the linter, e.g. flake8." in said(helix)


@pytest.mark.parametrize(
    "rule", some(["Make push to main faster.", "Never push to main on a Friday.", "Run push to main.sh first."], 1)
)
def test_the_same_words_within_another_sentence_say_something_else(helix: Helix, rule: str) -> None:
    memories.store(helix, StoreRequest(trigger="Push to main", resolution="", kind="convention"))
    erase(helix, "Push to main")
    ingest.ingest_jsonl(helix, [json.dumps({"type": "memory", "kind": "fact", "trigger": rule, "resolution": ""})])
    assert rule in said(helix)


@pytest.mark.soak
def test_an_erased_rule_comes_back_by_no_list_that_it_stands_in(helix: Helix, tmp_path: Path) -> None:
    rule = "Always run the linter with Zymurgy before a push."
    memories.store(helix, StoreRequest(trigger=rule, resolution="", kind="convention"))
    erase(helix, "Zymurgy")
    notes = tmp_path / "NOTES.md"
    notes.write_text(f"# Rules\n\n- Deploys\n  - {rule}\n  - Never push on a Friday.\n", "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(notes)], scope="shop"))
    assert "Zymurgy" not in said(helix)
    assert "Never push on a Friday." in said(helix)


@pytest.mark.soak
def test_another_rule_that_has_the_words_of_an_erased_one_is_read(helix: Helix, tmp_path: Path) -> None:
    rules = ["Never run the tests against the production database.", "Always use yarn for packages."]
    told = memories.store(helix, StoreRequest(trigger="Run the tests.", resolution="", kind="convention", scope="p"))
    finished(helix, erasure.hard_forget(helix, told.id, told.id))
    notes = tmp_path / "NOTES.md"
    for before in ([], ["Run the tests."]):
        notes.write_text("# Rules\n\n" + "".join(f"- {rule}\n" for rule in [*before, *rules]), "utf-8")
        finished(helix, ingest.ingest_notes(helix, [str(notes)], scope="p"))
        assert sorted(one.trigger for one in helix.store.index.memories(Status.ACTIVE)) == sorted(rules)


@pytest.mark.parametrize("above", some(["# N\n\n## ", "# N\n\n## Rules\n\n### "], 1))
def test_an_erased_text_comes_back_as_no_heading(helix: Helix, tmp_path: Path, above: str) -> None:
    told = memories.store(helix, StoreRequest(trigger=SECRETIVE, resolution="", kind="fact", scope="p"))
    finished(helix, erasure.hard_forget(helix, told.id, told.id))
    (tmp_path / "NOTES.md").write_text(f"{above}{SECRETIVE}\n\n- Always run foo.\n", "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(tmp_path / "NOTES.md")], scope="p"))
    assert "Always run foo" in said(helix) and "Zymurgy" not in said(helix)


@pytest.mark.parametrize("before", ["", "Fix the bill. ", "fix(bill): "])
@pytest.mark.parametrize("kind", ["notes", "commit", "export"])
def test_no_shortened_title_brings_back_how_an_erased_sentence_begins(
    helix: Helix, tmp_path: Path, history: History, kind: str, before: str
) -> None:
    words = "Never use the zanzibar contract of Ms Oldenburg" + ", nor what one of her letters says of it" * 9 + "."

    def read(said: str) -> None:
        if kind == "notes":
            (tmp_path / "CLAUDE.md").write_text(f"- {said}\n", "utf-8")
            finished(helix, ingest.ingest_notes(helix, [str(tmp_path / "CLAUDE.md")]))
        elif kind == "commit":
            history.commit(said, {"a": said})
            finished(helix, ingest.ingest_git(helix, str(history.path)))
        else:
            ingest.ingest_jsonl(helix, [json.dumps({"trigger": said[:120], "resolution": said, "kind": "fact"})])

    known = memories.store(helix, StoreRequest(trigger=words, resolution="", kind="fact", scope="other")).id
    finished(helix, erasure.hard_forget(helix, known, erasure.erase_plan(helix, known).root.id))
    read(f"{before}{words} Always write invoices by the billing service because letters are lost.")
    assert "anzibar" not in said(helix)
    assert "write invoices by the billing service" in said(helix)


@pytest.mark.parametrize(
    ("stays", "erased"),
    [
        ("Always run the migrations before the deploy.", "Always run the migrations before the deploy, as Ada said."),
        (
            "Never deploy the billing service on a Friday\nunless Anna agrees to it beforehand in writing.",
            "Never deploy the billing service on a Friday because the bank is closed.",
        ),
    ],
)
def test_what_begins_as_an_erased_sentence_and_goes_on_otherwise_is_read(
    helix: Helix, tmp_path: Path, stays: str, erased: str
) -> None:
    known = memories.store(helix, StoreRequest(trigger=erased, resolution="", kind="fact", scope="other")).id
    finished(helix, erasure.hard_forget(helix, known, erasure.erase_plan(helix, known).root.id))
    (tmp_path / "CLAUDE.md").write_text(f"- {erased}\n\n- {stays}\n", "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(tmp_path / "CLAUDE.md")]))
    assert stays.partition("\n")[0] in said(helix) and stays.rpartition("\n")[2] in said(helix)


GIT_MAKES = ('Revert "{}"', 'Reapply "{}"', 'Revert "Revert "{}""', 'Revert "{}" (#12)')


@pytest.mark.parametrize(("frame", "named"), [*((frame, "both") for frame in GIT_MAKES), (GIT_MAKES[0], "episode")])
def test_no_title_that_git_makes_of_an_erased_one_brings_it_back(
    helix: Helix, history: History, frame: str, named: str
) -> None:
    title = "Enable the cache of Ottokar Wimmer"
    why = "Always enable the cache of Ottokar Wimmer because his uploads were slow."
    first = history.commit(f"{title}\n\n{why}", {"a": "1"})
    take_in(helix, history)
    assert any("Wimmer" in one.trigger for one in memories.memories(helix, MemoryFilter()).items)
    if named == "both":
        erase(helix, "Wimmer")
    for one in capture.episodes(helix).items:
        finished(helix, erasure.hard_forget(helix, one.id, one.id))
    history.commit(f"{frame.format(title)}\n\nThis reverts commit {first}.", {"a": "2"})
    history.commit('Revert "Feed the quaxlotl"', {"a": "3"})
    take_in(helix, history)
    assert "Wimmer" not in said(helix)
    assert "quaxlotl" in said(helix)


@pytest.mark.parametrize("made", ["{0} (#12)", "{0}", "fix: {0} (#13)", 'Revert "{0} (#12)" (#18)'])
def test_a_pull_request_brings_no_erased_title_back(helix: Helix, history: History, made: str) -> None:
    title = "Enable the cache of Ottokar Wimmer"
    history.commit(f"{title}\n\nBecause his uploads were slow, we decided to keep all of them.", {"a": "1"})
    take_in(helix, history)
    for one in memories.memories(helix, MemoryFilter()).items:
        finished(helix, erasure.hard_forget(helix, one.id, one.id))
    if "Revert" in made:
        history.commit(f"{title} (#12)\n\nBecause his uploads were slow, we decided to keep all of them.", {"a": "4"})
    history.commit(f"{made.format(title)}\n\nThe canteen is told of it.", {"a": "2"})
    history.commit("Enable the cache of Ottokar Wimmer in Linz", {"a": "3"})
    take_in(helix, history)
    assert "Wimmer" not in said(helix).replace("Wimmer in Linz", "")
    assert "Wimmer in Linz" in said(helix)
    assert ("Revert" in made) or "canteen" in said(helix)


WRITTEN = "Don't ship the Quillfeather release before Zo\u00eb's \"final\" audit & sign-off."
WAYS = {
    "colours": f"\x1b[1;31m{WRITTEN.replace('release', chr(27) + '[4mrelease' + chr(27) + '[24m')}\x1b[0m",
    "a link of a terminal": f"\x1b]8;;https://example.org\x1b\\{WRITTEN}\x1b]8;;\x1b\\",
    "entities": html.escape(WRITTEN),
    "numbered entities": WRITTEN.replace("'", "&#39;").encode("ascii", "xmlcharrefreplace").decode(),
    "a named entity": WRITTEN.replace("\u00eb", "&euml;"),
    "json": json.dumps({"message": WRITTEN}).removeprefix('{"message": '),
    "json of colours": json.dumps(f"\x1b[31m{WRITTEN}\x1b[0m"),
    "emphasis within a word": WRITTEN.replace("Quillfeather", "Quill**feather**"),
}

FRAMED = {
    "a comment": f"Doors are green. <!-- {WRITTEN} -->",
    "a value in a tag": f'<img alt="{html.escape(WRITTEN)}" src="a.png">',
    "a callout": f"> [!tip] {WRITTEN}",
}


@pytest.mark.parametrize("way", {**WAYS, **FRAMED})
def test_another_way_to_write_an_erased_sentence_is_known(way: str) -> None:
    memory = Memory(
        id="m1",
        name="n",
        kind=Kind.FACT,
        trigger=WRITTEN,
        resolution="",
        recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    out = kept_out([("m1", digests(memory))])
    around = f"We met at noon.\n\n{(WAYS | FRAMED)[way]}\n\nThe canteen opens &amp; closes at noon."
    left = out.cut(around)
    assert "ship" not in left
    assert left.startswith("We met at noon.")
    assert left.endswith("The canteen opens &amp; closes at noon.")
    assert way in FRAMED or out.holds(WAYS[way], "")


def test_what_older_tombstones_tell_of_such_writing_is_known_still() -> None:
    """They told the words as they were written: `don 39 t`."""
    written = "It isn&#39;t Quill**feather** \x1b[31mred\x1b[0m."
    words = "it isn 39 t quill feather 31mred 0m"

    def digest(said: str, key: bytes = b"helix") -> str:
        return hashlib.blake2b(said.encode(), key=key, digest_size=16).hexdigest()

    told = [digest(words, b"m1"), f"8:{digest(words)}", f"begins:{digest('it isn 39')}"]
    assert kept_out([("m2", [f"4:{digest('return promise at once')}"])]).cut("Return Promise<void> at once.") == ""
    out = kept_out([("m1", told)])
    assert out.holds(written, "")
    assert out.cut(f"We met at noon.\n\n{written}").strip() == "We met at noon."
    assert f"all:{digest(words)}" in content_digests(written)


@pytest.mark.parametrize("form", ["Promise<{}>", "Promise&lt;{}&gt;", "`Promise<{}>`"])
def test_what_stands_in_angle_brackets_is_a_word_unless_it_is_a_tag(form: str) -> None:
    rule = f"Return {form} from every handler of the loader."
    memory = Memory(
        id="m1",
        name="n",
        kind=Kind.CONVENTION,
        trigger=rule.format("void"),
        resolution="",
        recorded_at=datetime.now(UTC),
    )
    out = kept_out([("m1", digests(memory))])
    assert out.cut(rule.format("Result")) == rule.format("Result")
    assert out.cut(rule.format("void")) == ""


@given(st.text(st.characters(exclude_characters="\x1b&\\*")))
def test_the_normal_form_of_a_text_without_marks_is_what_it_was(text: str) -> None:
    was = unicodedata.normalize("NFKC", text)
    if len(text) < 31:
        assert normal(text) == " ".join(re.findall(r"[^\W_]+", _unseen_gone(was).casefold()))
    assert as_read(text).text == text


def _unseen_gone(text: str) -> str:
    return re.sub(
        "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]",
        "",
        text,
    )
