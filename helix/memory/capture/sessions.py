"""Sessions: runs of episodes that a caller opens and closes; a private one keeps everything of it out of the store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, cast

from helix.errors import ConflictError, NotFoundError
from helix.journal.log import Journal
from helix.journal.private_sessions import hidden_sessions, hide_session, own_salt
from helix.memory.change.compose import Composer
from helix.memory.change.intake import Intake
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref
from helix.model.episode import Session, session_id
from helix.model.memory import GLOBAL_SCOPE
from helix.model.operations import Change
from helix.model.reports import Page, SessionReport
from helix.store import listing
from helix.store.index import Rows, StoreIndex
from helix.store.listing import MemoryFilter
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.cleaning import clean
from helix.text.client_ids import kept_session
from helix.text.secrets.redact import redact

_DIGEST_BYTES = 32
_LONGEST_NAME = 65_536
"""Characters of a name that is read to its end. Of a longer one nothing is kept where any session is private."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest:
    """What a caller asks to open; without a `name` the session is given one."""

    name: Annotated[str, "Its name; one is made where none is given."] = ""
    scope: str = GLOBAL_SCOPE
    agent: str = ""
    private: Annotated[bool, "Write down nothing that names this session, not even after it is closed."] = False


def open_session(store: Store, request: SessionRequest) -> SessionReport:
    """Open a session, or go on with the one of that name in that scope, which is open then, ended or not.

    A session that is private, or becomes it, stays so and is known by its name alone, whatever the scope: nothing that
    names it is recorded, not even after it was closed. Kept of it is a salted digest of the name, neither scope nor
    agent nor times. What was recorded before it became private stays.
    """
    intake = Intake(store.runtime.settings.text_limit)
    name, scope = intake.session(request.name, "name"), intake.scope(request.scope)
    agent = intake.label(request.agent, "agent")

    def decision() -> Decision[SessionReport]:
        now = store.runtime.clock()
        wanted = SessionReport(name=name or store.runtime.make_id(now), scope=scope, agent=agent, started_at=now)
        if request.private or is_private(store.journal, wanted.name):
            _make_private(store, wanted.name)
            return Decision((), replace(wanted, private=True))
        composer, ref = Composer(store, now), _ref(scope, wanted.name)
        known = _known(store.index, ref, scope)
        if known is None:
            composer.node(Session(id=ref.id, scope=scope, agent=agent, started_at=now))
            return Decision((composer.change("session"),), wanted)
        if known.ended_at is not None:
            composer.patch(ref, ended_at=None)
        return Decision(
            _changes(composer, known.ended_at is not None), _report(store.index, replace(known, ended_at=None))
        )

    return store.writer.submit(decision, once="open")


def close_session(store: Store, name: str, scope: str = GLOBAL_SCOPE) -> SessionReport:
    """End a session; one that has ended stays as it is. Raises NotFoundError for one that nobody opened or used.

    Of a private one it is not known when it began: what is told is the present moment.
    """
    intake = Intake(store.runtime.settings.text_limit)
    name, scope = intake.session(name, "name"), intake.scope(scope)

    def decision() -> Decision[SessionReport]:
        now = store.runtime.clock()
        if is_private(store.journal, name):
            return Decision(
                (), SessionReport(name=name, scope=scope, agent="", private=True, started_at=now, ended_at=now)
            )
        composer, ref = Composer(store, now), _ref(scope, name)
        known = _known(store.index, ref, scope)
        if known is None:
            raise NotFoundError(f"no session {name!r} in scope {scope}", hint="`helix session list` shows them")
        if known.ended_at is None:
            composer.patch(ref, ended_at=now)
        report = _report(store.index, replace(known, ended_at=known.ended_at or now))
        return Decision(_changes(composer, known.ended_at is None), report)

    return store.writer.submit(decision, once="close")


def sessions(
    store: Store, wanted: MemoryFilter, first: int, after: str | None, name: str | None = None
) -> Page[SessionReport]:
    """Return a page of the sessions of a name (None: of any), no private ones, the latest start first.

    Of what is wanted the scope counts, and the time, in which a session began.
    """
    index, rows = store.index, told_sessions(store, wanted.scope)
    if wanted.since is not None:
        rows &= index.recorded_since(to_micros(wanted.since))
    if wanted.until is not None:
        rows &= index.recorded_until(to_micros(wanted.until))
    if name is not None:
        name = kept_session(name)
        rows &= index.rows_of(_ref(one, name) for one in index.scopes_of(rows))
    return listing.page(store, rows, (Label.SESSION,), first, after).each(partial(_report, index))


def told_sessions(store: Store, scope: str | None = None) -> Rows:
    """Return the captured sessions of exactly this scope (None: of any) that are not private."""
    index, private = store.index, private_sessions(store.journal)
    rows = index.where(Label.SESSION, scope=scope)
    return rows - index.rows_of(index.ref_of(row) for row in rows if private.hold(session_name(index, row)))


def session_name(index: StoreIndex, row: int) -> str:
    """Return the name of a session of captured episodes, which its id has behind its scope."""
    return name_of_session(index.scope_of(row), index.id_of(row))


@dataclass(frozen=True, slots=True)
class PrivateSessions:
    """The names of sessions that nothing is kept of, as digests by their salt."""

    digests: Mapping[str, frozenset[str]]

    def hold(self, name: str) -> bool:
        """Return whether a name is among them; it is cleaned and redacted as when the session was opened."""
        if not name or not self.digests:
            return False
        if len(name) > _LONGEST_NAME:
            return True
        spelled = {kept_session(name), " ".join(clean(name).split())}  # the second: as it was noted formerly
        forms = {redact(one).text for one in spelled}
        return any(_digest(salt, form) in digests for salt, digests in self.digests.items() for form in forms)


def private_sessions(journal: Journal) -> PrivateSessions:
    """Return the sessions that are private at this moment."""
    return PrivateSessions(hidden_sessions(journal))


def is_private(journal: Journal, name: str) -> bool:
    """Return whether nothing of a session may be kept; `name` is cleaned and redacted as when it was opened."""
    return bool(name) and private_sessions(journal).hold(name)  # without a name the journal is not asked


def _make_private(store: Store, name: str) -> None:
    """Note that a session is private; on the writer's thread."""
    salt = own_salt(store.journal) or store.runtime.make_id(store.runtime.clock())
    hide_session(store.journal, _digest(salt, name), salt)


def _digest(salt: str, name: str) -> str:
    salted = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), key=salt.encode()[:64], digest_size=_DIGEST_BYTES)
    return salted.hexdigest()


def name_of_session(scope: str, ident: str) -> str:
    """Return the name of a session of captured episodes by its scope and its id, which may have slashes of its own."""
    return ident if scope == GLOBAL_SCOPE else ident.removeprefix(f"{scope}/")


def _ref(scope: str, name: str) -> Ref:
    return Ref.session(session_id(scope, name))


def _known(index: StoreIndex, ref: Ref, scope: str) -> Session | None:
    """Return the session, or None; raises ConflictError where the id is of a session of another scope.

    `x` of the scope `shop/web` and `web/x` of the scope `shop` have one id.
    """
    known = None if ref not in index else cast(Session, index.records.node(ref))
    if known is not None and known.scope != scope:
        raise ConflictError(f"another scope has a session of the id {ref.id!r:.200}", hint="give it another name")
    return known


def _changes(composer: Composer, changed: bool) -> tuple[Change, ...]:
    return (composer.change("session"),) if changed else ()


def _report(index: StoreIndex, node: Session) -> SessionReport:
    name = name_of_session(node.scope, node.id)
    return SessionReport(
        name=name,
        scope=node.scope,
        agent=node.agent,
        started_at=node.started_at,
        ended_at=node.ended_at,
        episodes=len(index.where(Label.EPISODE, scope=node.scope) & index.of_session(name)),
    )
