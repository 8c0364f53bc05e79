"""Sessions are opened, used and closed; a private one leaves nothing behind, whoever appends to it and whenever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from helix.errors import NotFoundError
from helix.model.edge import Label
from helix.model.recall import RecallQuery
from helix.model.reports import SessionReport
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings


@pytest.fixture
def ticking(settings: Settings) -> Iterator[Callable[[], Helix]]:
    """Open the service as often as wanted, one after another, on a clock that goes on a minute each time it is read."""
    moments = (datetime(2026, 5, 1, tzinfo=UTC) + timedelta(minutes=n) for n in range(10**6))
    opened: list[Helix] = []

    def again() -> Helix:
        for helix in opened:
            helix.close()
        opened.append(Helix.open(settings, embedder=HashEmbedder(), clock=lambda: next(moments)))
        return opened[-1]

    yield again
    opened[-1].close()


def everything_on_disk(helix: Helix) -> bytes:
    folder: Path = helix._store.path
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_a_session_is_opened_used_and_closed(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    opened = helix.open_session(scope="webshop", agent="ada")
    assert (opened.scope, opened.agent, opened.private, opened.ended_at, opened.episodes) == (
        *("webshop", "ada", False, None, 0),
    )
    for text in ("the build went red", "somebody fixed it"):
        helix.record_episode(content=text, session=opened.name, scope="webshop", agent="ada")
    closed = helix.close_session(opened.name, "webshop")
    assert (closed.name, closed.episodes, closed.started_at) == (opened.name, 2, opened.started_at)
    assert closed.ended_at is not None
    assert closed.ended_at > closed.started_at
    assert helix.close_session(opened.name, "webshop") == closed, "what has ended stays ended when it did"
    reopened = helix.open_session(name=opened.name, scope="webshop")
    assert (reopened.ended_at, reopened.episodes, reopened.agent) == (None, 2, "ada")
    assert helix.node(Label.SESSION, f"webshop/{opened.name}").id == f"webshop/{opened.name}"


def test_a_session_that_nobody_opened_is_used_as_ever(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    helix.record_episode(content="one", session="unknown", agent="ada")
    (listed,) = helix.list_sessions()
    assert (listed.name, listed.agent, listed.episodes) == ("unknown", "ada", 1)
    assert helix.close_session("unknown").ended_at is not None
    with pytest.raises(NotFoundError):
        helix.close_session("never heard of")


def test_sessions_are_listed_by_their_start(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    names = [helix.open_session(scope=scope, private=hidden).name for scope in ("a", "b") for hidden in (False, True)]
    assert [report.name for report in helix.list_sessions()] == names[::-1]
    assert [report.name for report in helix.list_sessions("a")] == names[1::-1]
    assert [report.private for report in helix.list_sessions("a")] == [True, False]
    assert [report.name for report in helix.list_sessions(limit=1)] == names[-1:]


def test_a_private_session_leaves_nothing_behind(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    private = helix.open_session(name="hush", scope="webshop", private=True)
    assert private.private
    rows = helix._store.journal.last_seq

    def attempt(helix: Helix, scope: str = "webshop") -> str:
        answer = helix.record_episode(content="zanzibar " * 5, session="hush", scope=scope)
        assert answer.episode is None
        return answer.reason

    assert "private" in attempt(helix)
    assert "private" in attempt(helix, "global"), "a session is private by its name, whatever the scope"
    assert "private" in attempt(helix, " webshop ")
    helix.recall(RecallQuery(query="quokka habitats", session="hush"))
    assert helix.last("hush") is None
    assert helix.last() is None
    helix = ticking()
    assert "private" in attempt(helix), "a restart takes no privacy back"
    helix.close_session("hush", "webshop")
    assert "private" in attempt(helix), "neither does the session's end: hooks come late"
    assert helix.open_session(name="hush", scope="other").private, "nor opening it again as a common one"
    assert "private" in attempt(helix, "other")
    assert helix.list_episodes().total == 0
    assert helix._store.journal.last_seq == rows == 0
    helix.close()
    content = everything_on_disk(helix)
    assert b"zanzibar" not in content
    assert b"quokka" not in content


def test_what_was_recorded_before_a_session_became_private_stays(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    helix.record_episode(content="in the open", session="s")
    assert helix.open_session(name="s", private=True).private
    assert helix.record_episode(content="behind the door", session="s").episode is None
    assert helix.list_episodes(session="s").total == 1
    assert [(report.name, report.private) for report in helix.list_sessions()] == [("s", True)]


def test_a_report_survives_a_restart(ticking: Callable[[], Helix]) -> None:
    helix = ticking()
    reports: list[SessionReport] = [helix.open_session(private=hidden, agent="ada") for hidden in (False, True)]
    helix.close_session(reports[1].name)
    before = helix.list_sessions()
    assert ticking().list_sessions() == before
