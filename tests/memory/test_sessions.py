"""Sessions are opened, used and closed; a private one leaves nothing behind, whoever appends to it and whenever."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from working import copied

from helix.errors import InvalidInputError, NotFoundError
from helix.ingest.draft import EpisodeDraft, Slice
from helix.ingest.writing import Importer
from helix.journal.private_sessions import MOST_SALTS, hidden_sessions
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.capture.sessions import SessionRequest, is_private, open_session
from helix.memory.remember.request import StoreRequest
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.reports import SessionReport
from helix.operations import capture, ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store


@pytest.fixture
def ticking(settings: Settings) -> Iterator[Callable[[], Helix]]:
    """Open the service as often as wanted, one after another, on a clock that goes on a minute each time it is read."""
    minutes = itertools.count()  # which, unlike a generator, threads may ask at the same time
    opened: list[Helix] = []

    def now() -> datetime:
        return datetime(2026, 5, 1, tzinfo=UTC) + timedelta(minutes=next(minutes))

    def again() -> Helix:
        for helix in opened:
            helix.close()
        opened.append(Helix.open(settings, embedder=HashEmbedder(), clock=now))
        return opened[-1]

    yield again
    opened[-1].close()


def everything_on_disk(helix: Helix) -> bytes:
    with copied(helix.store.path) as files:
        return b"".join(file.read_bytes() for file in files)


def test_a_session_is_opened_used_and_closed(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    opened = capture.open_session(helix, SessionRequest(scope="webshop", agent="ada"))
    assert (opened.scope, opened.agent, opened.private, opened.ended_at, opened.episodes) == (
        *("webshop", "ada", False, None, 0),
    )
    for text in ("the build went red", "somebody fixed it"):
        capture.record_episode(helix, EpisodeRequest(content=text, session=opened.name, scope="webshop", agent="ada"))
    closed = helix.worker.close_session(opened.name, "webshop")
    assert (closed.name, closed.episodes, closed.started_at) == (opened.name, 2, opened.started_at)
    assert closed.ended_at is not None
    assert closed.ended_at > closed.started_at
    assert helix.worker.close_session(opened.name, "webshop") == closed, "what has ended stays ended when it did"
    reopened = capture.open_session(helix, SessionRequest(name=opened.name, scope="webshop"))
    assert (reopened.ended_at, reopened.episodes, reopened.agent) == (None, 2, "ada")
    assert memories.node(helix, f"webshop/{opened.name}").id == f"webshop/{opened.name}"


def test_a_session_that_nobody_opened_is_used_as_ever(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    capture.record_episode(helix, EpisodeRequest(content="one", session="unknown", agent="ada"))
    (listed,) = capture.sessions(helix)
    assert (listed.name, listed.agent, listed.episodes) == ("unknown", "ada", 1)
    assert helix.worker.close_session("unknown").ended_at is not None
    with pytest.raises(NotFoundError):
        helix.worker.close_session("never heard of")


def test_sessions_are_listed_by_their_start(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    names = [capture.open_session(helix, SessionRequest(scope=scope)).name for scope in ("a", "b") for _ in range(2)]
    assert [report.name for report in capture.sessions(helix)] == names[::-1]
    assert [report.name for report in capture.sessions(helix, "a")] == names[1::-1]
    assert [report.name for report in capture.sessions(helix, first=1)] == names[-1:]
    began = [report.started_at for report in capture.sessions(helix)]
    within = capture.sessions(helix, since=began[2], until=began[1])
    assert [report.name for report in within] == names[2:0:-1]
    assert capture.open_session(helix, SessionRequest(name=names[-1], scope="b", private=True)).private
    assert [report.name for report in capture.sessions(helix)] == names[-2::-1], "a private one is not listed"
    assert [report.name for report in capture.sessions(helix, first=1)] == [names[-2]]


def test_a_private_session_leaves_nothing_behind(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    private = capture.open_session(
        helix, SessionRequest(name="hush", scope="webshop", agent="ada lovelace", private=True)
    )
    assert private.private
    assert not capture.sessions(helix).items
    rows = helix.store.journal.last_seq

    def attempt(helix: Helix, scope: str = "webshop") -> str:
        answer = capture.record_episode(helix, EpisodeRequest(content="zanzibar " * 5, session="hush", scope=scope))
        assert answer.episode is None
        return answer.reason

    assert "private" in attempt(helix)
    assert "private" in attempt(helix, "global"), "a session is private by its name, whatever the scope"
    assert "private" in attempt(helix, " webshop ")
    with pytest.raises(InvalidInputError, match="private"):
        memories.store(
            helix, StoreRequest(trigger="zanzibar", resolution="", kind="fact", scope="webshop", session="hush")
        )
    helix.recall(RecallQuery(query="quokka habitats", session="hush"))
    assert memories.last(helix, "hush") is None
    assert memories.last(helix) is None
    helix = ticking()
    assert "private" in attempt(helix), "a restart takes no privacy back"
    helix.worker.close_session("hush", "webshop")
    assert "private" in attempt(helix), "neither does the session's end: hooks come late"
    assert capture.open_session(helix, SessionRequest(name="hush", scope="other")).private, (
        "nor opening it again as a common one"
    )
    assert "private" in attempt(helix, "other")
    assert capture.episodes(helix).total == 0
    assert helix.store.journal.last_seq == rows == 0
    helix.close()
    content = everything_on_disk(helix)
    assert b"zanzibar" not in content
    assert b"quokka" not in content
    assert b"hush" not in content, "of its name there is a salted digest"
    assert b"lovelace" not in content
    assert b"webshop" not in content


def test_what_was_recorded_before_a_session_became_private_stays(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    capture.record_episode(helix, EpisodeRequest(content="in the open", session="s"))
    assert capture.open_session(helix, SessionRequest(name="s", private=True)).private
    assert capture.record_episode(helix, EpisodeRequest(content="behind the door", session="s")).episode is None
    assert capture.episodes(helix, session="s").total == 1
    assert not capture.sessions(helix).items, "but the session is private now"


def test_an_import_leaves_out_what_belongs_to_a_private_session(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    capture.open_session(helix, SessionRequest(name="hush hush", private=True))
    lines = [
        json.dumps({"id": f"{number}", "text": f"said number {number} in {name}", "session": name})
        for number, name in enumerate(["hush hush", " hush  hush ", "open", ""])
    ]
    report = ingest.ingest_jsonl(helix, lines)
    assert (report.episodes, report.skipped, report.problems) == (2, 2, ())
    assert {episode.session for episode in capture.episodes(helix).items} == {"open", ""}


def test_an_import_leaves_out_what_became_private_while_it_was_made_ready(ticking: Callable[[], Helix]) -> None:
    helix = ticking()

    def slices() -> Iterator[Slice]:
        yield Slice(
            episode=EpisodeDraft(content="behind the door", source="x:1", session="hush", trust=Trust.WEB), position=1
        )
        capture.open_session(helix, SessionRequest(name="hush", private=True))

    report = Importer(helix.store, source="test", scope="global").run(slices(), lambda _: None, lambda: False)
    assert (report.episodes, report.skipped) == (0, 1)


def test_a_report_survives_a_restart(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    reports: list[SessionReport] = [
        capture.open_session(helix, SessionRequest(private=hidden, agent="ada")) for hidden in (False, True)
    ]
    helix.worker.close_session(reports[1].name)
    before = capture.sessions(helix)
    assert len(before) == 1
    assert capture.sessions(ticking()) == before


def test_a_name_is_compared_with_so_many_salts_and_no_more(store: Store) -> None:
    """A journal that came from elsewhere had a salt for each of 300,000 private sessions: 2.5 s for each hook."""
    open_session(store, SessionRequest(name="secret one", private=True))
    store.journal.set_meta("private/made-up", "salt")
    with store.journal.database.transaction() as connection:
        for number in range(2 * MOST_SALTS):
            connection.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (f"private/{number}", f"salt {number}"))
    assert len(hidden_sessions(store.journal)) <= MOST_SALTS + 1
    assert is_private(store.journal, "secret one")
    assert not is_private(store.journal, "another")
