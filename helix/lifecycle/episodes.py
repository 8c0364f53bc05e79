"""Capture: records one episode as it happened; nothing is derived from it here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from helix.errors import InvalidInputError
from helix.lifecycle import intake as checks
from helix.lifecycle.compose import Composer, prepare, read
from helix.lifecycle.importance import importance_of
from helix.lifecycle.intake import Intake
from helix.model.episode import Episode
from helix.model.memory import GLOBAL_SCOPE
from helix.model.provenance import Provenance, Trust
from helix.store.store import Store
from helix.store.writer import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRequest:
    """What a caller asks to record, as it came. The same `source` is recorded once in a scope."""

    content: str
    session: str = ""
    scope: str = GLOBAL_SCOPE
    agent: str = ""
    role: str = ""
    occurred_at: datetime | None = None
    source: str = ""
    importance: float | None = None
    trust: Trust = Trust.AGENT_INFERRED


def record(store: Store, request: EpisodeRequest) -> Episode:
    """Record an episode, or return the one that is there from the same source."""
    intake = Intake(store.settings.text_limit)
    content = intake.text(request.content, "content")
    session, agent = intake.label(request.session, "session"), intake.label(request.agent, "agent")
    scope, source, role = intake.scope(request.scope), intake.label(request.source, "source"), request.role
    if role not in ("", "user", "assistant", "tool", "system", "store"):
        raise InvalidInputError(f"unknown role {role!r}", hint="one of: user, assistant, tool, system")
    prepared = prepare(store, [read(spoken(content, session, agent))])[0]

    def decision() -> Decision[Episode]:
        known = store.catalogue.row_of_source(source, scope=scope) if source else None
        if known is not None:
            return Decision((), cast(Episode, store.records.node(store.catalogue.ref_of(known))))
        composer = Composer(store, store.clock())
        provenance = Provenance(slice=source, extractor="capture", agent=agent, trust=request.trust)
        episode = Episode(
            id=store.make_id(composer.now),
            content=content,
            recorded_at=composer.now,
            occurred_at=request.occurred_at or composer.now,
            session=session,
            scope=scope,
            agent=agent,
            role=role,
            importance=checks.poignancy(request.importance, importance_of(content, prepared.mentions)),
            source=source,
            provenance=provenance,
        )
        ref = composer.node(episode)
        composer.passages(ref, prepared)
        composer.mentions(ref, scope, prepared.mentions, provenance)
        if session:
            composer.join(episode, ref, store.last_episode(scope, session))
        return Decision((composer.change("episode"),), episode)

    return store.writer.submit(decision)


def spoken(content: str, session: str, agent: str) -> str:
    """Return the text by which an episode is found: in a conversation, who said it belongs to it."""
    return f"{agent}: {content}" if session and agent else content
