"""Sessions: runs of episodes that a caller opens and closes; a private one keeps everything of it out of the store."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

import numpy as np

from helix.errors import InvalidInputError, NotFoundError
from helix.lifecycle.compose import Composer
from helix.lifecycle.intake import Intake
from helix.model.edge import Label, Ref
from helix.model.episode import Session, session_id
from helix.model.memory import GLOBAL_SCOPE
from helix.model.operations import Change
from helix.model.reports import SessionReport
from helix.store.catalogue import CatalogueView
from helix.store.columns import LABEL_CODE
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.names import clean
from helix.text.redact import redact

_PRIVATE = "private/"
"""How the journal's words on private sessions begin; a session's name follows. They are no part of the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """What a caller asks to open; without a `name` the session is given one."""

    name: str = ""
    scope: str = GLOBAL_SCOPE
    agent: str = ""
    private: bool = False


def open_session(store: Store, request: SessionRequest) -> SessionReport:
    """Open a session, or go on with the one of that name in that scope, which is open then, ended or not.

    A session that is private, or becomes it, stays so and is known by its name alone, whatever the scope: nothing that
    names it is recorded, not even after it was closed. What was recorded before it became private stays.
    """
    intake = Intake(store.settings.text_limit)
    name, scope = intake.label(request.name, "name"), intake.scope(request.scope)
    agent = intake.label(request.agent, "agent")

    def decision() -> Decision[SessionReport]:
        now = store.clock()
        wanted = SessionReport(name=name or store.make_id(now), scope=scope, agent=agent, started_at=now)
        if (kept := _private(store, wanted.name)) is not None or request.private:
            opened = replace(kept or wanted, private=True, ended_at=None)
            store.journal.set_meta(_PRIVATE + opened.name, _written(opened))
            return Decision((), opened)
        composer, ref = Composer(store, now), _ref(scope, wanted.name)
        known = _known(store, ref)
        if known is None:
            composer.node(Session(id=ref.id, scope=scope, agent=agent, started_at=now))
            return Decision((composer.change("session"),), wanted)
        if known.ended_at is not None:
            composer.patch(ref, ended_at=None)
        return Decision(_changes(composer, known.ended_at is not None), _report(store, replace(known, ended_at=None)))

    return store.writer.submit(decision)


def close_session(store: Store, name: str, scope: str = GLOBAL_SCOPE) -> SessionReport:
    """End a session; one that has ended stays as it is. Raises NotFoundError for one that nobody opened or used."""
    intake = Intake(store.settings.text_limit)
    name, scope = intake.label(name, "name"), intake.scope(scope)

    def decision() -> Decision[SessionReport]:
        now = store.clock()
        if (kept := _private(store, name)) is not None:
            ended = replace(kept, ended_at=kept.ended_at or now)
            store.journal.set_meta(_PRIVATE + name, _written(ended))
            return Decision((), ended)
        composer, ref = Composer(store, now), _ref(scope, name)
        known = _known(store, ref)
        if known is None:
            raise NotFoundError(f"no session {name!r} in scope {scope}", hint="`helix session list` shows them")
        if known.ended_at is None:
            composer.patch(ref, ended_at=now)
        report = _report(store, replace(known, ended_at=known.ended_at or now))
        return Decision(_changes(composer, known.ended_at is None), report)

    return store.writer.submit(decision)


def sessions(store: Store, scope: str | None = None, limit: int = 50) -> list[SessionReport]:
    """Return up to `limit` sessions of exactly this scope (None: of any), private ones too, the latest start first."""
    if not 1 <= limit <= store.settings.page_size:
        raise InvalidInputError(f"limit must be between 1 and {store.settings.page_size}, not {limit}")
    view = store.catalogue.view
    mask = view.columns.label == LABEL_CODE[Label.SESSION]
    if scope is not None:
        mask &= view.columns.scope == view.lookups.scopes.code(scope)
    nodes = store.records.nodes([view.ref_of(int(row)) for row in view.newest(mask, limit)])
    private = [_read(word) for word in store.journal.metas(_PRIVATE).values()]
    hidden = {report.name for report in private}
    found = [report for node in nodes if (report := _report(store, cast(Session, node))).name not in hidden]
    found += [report for report in private if scope is None or report.scope == scope]
    return sorted(found, key=lambda report: (report.started_at, report.name), reverse=True)[:limit]


def is_private(store: Store, name: str) -> bool:
    """Return whether nothing of a session may be kept; `name` is cleaned and redacted as when it was opened."""
    name = redact(" ".join(clean(name).split())).text
    return bool(name) and store.journal.meta(_PRIVATE + name) is not None


def _ref(scope: str, name: str) -> Ref:
    return Ref(label=Label.SESSION, id=session_id(scope, name))


def _known(store: Store, ref: Ref) -> Session | None:
    return None if store.catalogue.row_of(ref) is None else cast(Session, store.records.node(ref))


def _changes(composer: Composer, changed: bool) -> tuple[Change, ...]:
    return (composer.change("session"),) if changed else ()


def _report(store: Store, node: Session) -> SessionReport:
    name = node.id if node.scope == GLOBAL_SCOPE else node.id.removeprefix(f"{node.scope}/")
    return SessionReport(
        name=name,
        scope=node.scope,
        agent=node.agent,
        started_at=node.started_at,
        ended_at=node.ended_at,
        episodes=_episodes(store.catalogue.view, node.scope, name),
    )


def _episodes(view: CatalogueView, scope: str, name: str) -> int:
    columns, lookups = view.columns, view.lookups
    mask = (columns.session == lookups.sessions.code(name)) & (columns.scope == lookups.scopes.code(scope))
    return int(np.count_nonzero(mask & (columns.label == LABEL_CODE[Label.EPISODE])))


def _private(store: Store, name: str) -> SessionReport | None:
    word = store.journal.meta(_PRIVATE + name)
    return None if word is None else _read(word)


def _written(report: SessionReport) -> str:
    times = {"started_at": report.started_at.isoformat(), "ended_at": report.ended_at and report.ended_at.isoformat()}
    return json.dumps({"name": report.name, "scope": report.scope, "agent": report.agent, **times})


def _read(word: str) -> SessionReport:
    values = json.loads(word)
    times = {key: values[key] and datetime.fromisoformat(values[key]) for key in ("started_at", "ended_at")}
    return SessionReport(**{**values, **times}, private=True)
