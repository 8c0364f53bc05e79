"""Capture: records one episode as it happened, at once; vectors follow later, and nothing is derived from it here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from helix.errors import ConflictError, InvalidInputError
from helix.helixignore import without_ignored
from helix.memory.capture.quarantine import screen
from helix.memory.capture.sessions import is_private
from helix.memory.change import intake as checks
from helix.memory.change.compose import Composer, ReadText, unembedded
from helix.memory.change.intake import Intake
from helix.memory.scores import importance_of
from helix.model.episode import CAPTURE, Episode
from helix.model.memory import GLOBAL_SCOPE
from helix.model.provenance import Provenance, Trust
from helix.model.reports import Recording
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.path_patterns import as_name

_ROLES = ("", "user", "assistant", "tool", "system", "store")


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRequest:
    """What a caller asks to record, as it came. The same `source` is recorded once in a scope.

    `occurred_at` without a time zone is UTC.

    Trust that is not stated is a tool's for the role `tool`, and an agent's for every other: roles are easily claimed.
    `files` are the paths it is about, absolute or from `project`, the project's folder; the `.helixignore` of every
    folder they are in holds.
    """

    content: str
    session: str = ""
    scope: str = GLOBAL_SCOPE
    agent: str = ""
    role: str = ""
    occurred_at: datetime | None = None
    source: Annotated[str, "What identifies it where it came from. The same source is recorded once."] = ""
    importance: Annotated[float | None, "How important it is, 1 to 10. By default it is judged by the text."] = None
    trust: Annotated[
        Trust | None, "How far its source is to be trusted: tool_output for a tool, else agent_inferred."
    ] = None
    files: Annotated[Sequence[str], "Paths it is about, absolute or from `project`; `.helixignore` is honoured."] = ()
    project: Annotated[str, "The folder that relative paths are of, an absolute path."] = ""


def record(store: Store, request: EpisodeRequest, *, origin: str = "") -> Recording:
    """Record an episode, or return the one that is there from the same source; ConflictError where it says otherwise.

    `origin` is a source made of a client's ids (`told_id`), which are random and no keys: kept as it is.

    Acknowledged when it is durable and found by its words; no model is asked. Nothing is recorded of a private
    session, nor where every file that it is about is ignored.
    """
    intake = Intake(store.runtime.settings.text_limit)
    session, agent = intake.session(request.session), intake.label(request.agent, "agent")
    if is_private(store.journal, session):
        return Recording(episode=None, reason=f"session {session} is private: nothing of it is recorded")
    files = without_ignored(intake.labels(request.files, "files"), request.project)
    if request.files and not files:
        return Recording(episode=None, reason=".helixignore excludes every file that it is about")
    content = intake.text(request.content, "content")
    scope, source, role = intake.scope(request.scope), origin or intake.label(request.source, "source"), request.role
    if role not in _ROLES:
        raise InvalidInputError(f"unknown role {role!r}", hint="one of: user, assistant, tool, system")
    trust = request.trust or (Trust.TOOL_OUTPUT if role == "tool" else Trust.AGENT_INFERRED)
    screening = screen(trust, content, agent, session, source, *files)
    prepared = unembedded(ReadText.of(spoken(content, session, agent), [*map(as_name, files)]))
    importance = checks.poignancy(request.importance, importance_of(content, prepared.mentions))

    def decision() -> Decision[Episode]:
        known = store.index.from_source(source, scope=scope) if source else None
        if known is not None:
            there = cast(Episode, store.records.node(known))
            if there.content != content and not origin:
                raise ConflictError(
                    f"something else is recorded from {source!r} already ({there.id})",
                    hint="give what is new a source of its own, or none",
                )
            return Decision((), there)
        composer = Composer(store, store.runtime.clock())
        provenance = Provenance(slice=source, extractor=CAPTURE, agent=agent, trust=trust)
        episode = Episode(
            id=composer.new_id(),
            content=content,
            recorded_at=composer.now,
            occurred_at=min(checks.moment(request.occurred_at) or composer.now, composer.now),
            session=session,
            scope=scope,
            agent=agent,
            role=role,
            importance=importance,
            source=source,
            status=screening.status,
            provenance=provenance,
        )
        ref = composer.node(episode)
        composer.passages(ref, prepared)
        composer.mentions(ref, scope, prepared.mentions, provenance, opening=content)
        if session:
            composer.join(episode, ref, store.index.last_episode(scope, session))
        return Decision((composer.change("episode"),), episode)

    kept = store.writer.submit(decision, once="episode")
    return Recording(episode=kept, redacted=tuple(intake.redacted), suspicious=screening.reasons)


def spoken(content: str, session: str, agent: str) -> str:
    """Return the text by which an episode is found: in a conversation, its speaker belongs to it."""
    return f"{agent}: {content}" if session and agent else content
