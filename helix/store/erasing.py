"""Erasing everywhere: takes what was removed from the state out of every file that Helix wrote and all it holds.

The lifecycle decides what goes and removes it from the state; here it leaves the log, the graph, the image, the logs,
kept journals and backups. A note in the journal says from before the first step until after the last that an erasure
is under way: whoever opens the store next finishes it.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from helix.errors import ConflictError, HelixError, InvalidInputError, StoreCorruptError
from helix.files import is_anothers, remove, write_private
from helix.journal import erase
from helix.journal import journal_copy as copies
from helix.journal.database import Database
from helix.journal.log import Journal
from helix.journal.private_sessions import MOST_SALTS, hidden_sessions, hide_session
from helix.journal.witnesses import KNOWS_MORE
from helix.model.clock import from_micros, to_micros
from helix.model.edge import Ref
from helix.model.erasure_report import CopyOutcome, EraseReport
from helix.model.loss import losses
from helix.model.operations import Change, PutNode
from helix.store.copy_drafts import CLEARED, draft_of_copy, remove_copy, replace_copy, unfinished_backup
from helix.store.engine import GRAPH_NAME
from helix.store.jobs import Ticket
from helix.store.log_quotes import blot_logs
from helix.store.moving import OF_THE_PLACE
from helix.store.snapshot import Renewal
from helix.store.store import KEPT_JOURNAL, PAUSED, WORK_PAUSED, Store
from helix.text.tokens import lexical_tokens

log = logging.getLogger(__name__)

ERASE = "erase"
"""Kind of the change, and of the note, of a hard forget."""
REDACT = "redact"
"""Kind of the changes that take secrets out, and of the note while that is under way."""
STRANDS = "strands"
"""The folder of a store with the digests of the rows of its last versions, see `helix.strands.lineage`."""
SHARED = "shared"
"""The folder in it with the strands of those who share the store over HTTP, see `helix.strands.shared_place`."""
OUTDATED = "outdated"
"""The file in it that is another one after each erasure: strands that were left before are to be replaced."""
STAGED = ".staged"
"""How the names of files in that folder end that have the rows of an import, see `helix.strands.staged`."""
UNDER_WAY = "erasing"
"""Key under which the journal notes an erasure that has not ended."""
REDACTED = "redacted"
"""Key under which the journal notes when secrets were last taken out: a backup from before may bring them back."""
OWED = "redaction_owed"
"""Key under which a restored journal notes since when secrets are to be taken out of it, behind what is under way."""
SYNCED = "sync:"
"""How the keys begin of what a journal notes of the places that it is synced with, see `helix.strands.sync_state`."""
_OF_THE_PLACE = (UNDER_WAY, REDACTED, PAUSED, WORK_PAUSED)
"""Keys whose words hold for a store whichever backup takes its journal's place."""
_ERASED_SINCE_LOSS = "erased_since_loss"
_REASON = "something is being erased; the graph is built anew"
_HERE_ALONE = "it was begun in a restored backup, so that neither other backups nor kept files were touched"
_UNKNOWN_COPIES = (
    "backups of this store that it does not know of, if there are any, may still hold the text: remove them"
)
_MOST_HIDDEN = 100_000
"""Private sessions that a backup may name."""
_MOMENT = re.compile("[0-9]{1,17}")

InCopy = Callable[[Journal], Collection[str]]
"""Removes from the state of a copy what is to go, and returns the ids whose rows are to be erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureNote:
    """What an erasure under way is: its kind (that of its changes too), its nodes, its moment in microseconds."""

    kind: str
    refs: tuple[Ref, ...]
    at: int
    keep_out: tuple[Ref, ...] = ()
    """Those among them whose words are not to be derived or read again."""
    here: bool = False
    """Whether a restored backup noted it, not this store: then it reaches no other file."""
    closed: bool = False
    """Whether nothing else belongs to it: it was erased on another machine, and what goes with it here is known.

    That machine's tombstones say of which sources it was. What this one read beside may be read again.
    """

    @property
    def ids(self) -> frozenset[str]:
        """The ids of the nodes that the store is erasing."""
        return frozenset(ref.id for ref in self.refs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Legacy:
    """What a journal that is replaced by a backup leaves to it: what was erased, the copies it knew of, the digests
    of private sessions by their salt, its `words` on pauses and on an erasure under way, and the places that it is
    `synced` with; `readable` is False where it is too damaged to tell any of that."""

    erased: tuple[PutNode, ...] = ()
    copies: tuple[tuple[str, int], ...] = ()
    hidden: Mapping[str, frozenset[str]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    synced: Mapping[str, str] = field(default_factory=dict)
    readable: bool = True


def _erase_strands(folder: Path) -> None:
    """Remove what a store's folder of strands may have of it, and note that strands left elsewhere are outdated.

    That is: digests of rows as they were, rows that come in, what is shared, and the copies of git repositories. All of
    it is made anew.
    """
    for kept in (
        *folder.glob("*.rows"),
        *folder.glob(f"*{STAGED}"),
        *folder.glob(f"{SHARED}/*/*/*"),
        *folder.glob("*.git"),
    ):
        remove(kept)
    if folder.is_dir():
        write_private(folder / OUTDATED, os.urandom(16).hex())


def erase_everywhere(
    store: Store,
    note: ErasureNote,
    *,
    texts: Iterable[str],
    remove: Callable[[], None],
    in_copy: InCopy,
    tell: Callable[[str], None],
) -> EraseReport:
    """Erase from every file of the store what was noted, whatever is done already; the graph is built anew later.

    `texts` are what logs may quote, read before `remove` takes it out of the present state; `tell` is told of stages.
    """
    with store.copying:
        tell("looking through the logs")
        blot_logs(store.path, texts)
        _without_graph(store)
        tell("erasing from the journal")
        remove()
        rows, warnings = _leave_journal(store, note)
        _erase_strands(store.path / STRANDS)
        tell("erasing from copies")
        at = to_micros(store.runtime.clock())
        outcomes: tuple[CopyOutcome, ...] = ()
        if note.here:
            warnings.append(_HERE_ALONE)
        else:
            outcomes = (
                *(_leave_copy(store.path, path, in_copy, note.kind, at) for path in copies_of(store)),
                *leave_losses(store),
            )
        if not copies.all_known(store.journal.database):
            warnings.append(_UNKNOWN_COPIES)
        if note.kind == REDACT:
            store.writer.call(lambda: store.journal.set_meta(REDACTED, str(note.at)))
            if note.here:
                store.writer.call(lambda: store.journal.drop_meta(OWED))
        end_erasure(store)
        store.graph.resume()
        return EraseReport(erased=note.refs, rows=rows, copies=outcomes, warnings=tuple(warnings))


def begin_erasure(store: Store, note: ErasureNote) -> None:
    """Note in the store that an erasure is under way; durable when it returns.

    Raises ConflictError while another one is unfinished, which this note would take the place of. One of the same
    node, the first that is named, is no other.
    """
    other = under_way(store.journal)
    more = other is not None and not frozenset(other.refs) <= frozenset(note.refs)
    if other is not None and (other.kind != note.kind or (more and other.refs[:1] != note.refs[:1])):
        raise ConflictError("another erasure is unfinished", hint="`helix stop`: the next start finishes it")
    store.writer.call(lambda: _write(store.journal, note))


def under_way(journal: Journal) -> ErasureNote | None:
    """Return the store's erasure that has not ended, or None. Raises StoreCorruptError where its note is damaged.

    What it was to erase is not known then, so that nobody is to be served.
    """
    noted, owed = _noted(journal), journal.meta(OWED)
    if noted is not None or not owed:
        return noted
    return ErasureNote(kind=REDACT, refs=(), at=int(owed) if _MOMENT.fullmatch(owed) else 0, here=True)


def _noted(journal: Journal) -> ErasureNote | None:
    words = journal.meta(UNDER_WAY)
    if not words:
        return None
    try:
        said = json.loads(words)
        refs, keep_out = (
            tuple(Ref.of(label, str(node_id)) for label, node_id in said.get(name, ())) for name in ("refs", "keep_out")
        )
        from_micros(said["at"])
        if said["kind"] not in (ERASE, REDACT) or (said["kind"] == ERASE and not refs):
            raise ValueError(said["kind"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise StoreCorruptError(
            "the note of an erasure that has not ended is damaged",
            hint="put a backup in its place (`helix restore --backup FILE`), and erase again what was to be gone",
        ) from error
    return ErasureNote(
        kind=said["kind"],
        refs=refs,
        at=said["at"],
        keep_out=keep_out,
        here=said.get("here") is True,
        closed=said.get("closed") is True,
    )


def _write(journal: Journal, note: ErasureNote) -> None:
    words = {"kind": note.kind, "refs": _pairs(note.refs), "at": note.at, "keep_out": _pairs(note.keep_out)}
    journal.set_meta(UNDER_WAY, json.dumps({**words, "here": note.here, "closed": note.closed}))


def _pairs(refs: Iterable[Ref]) -> list[list[str]]:
    return [[ref.label.value, ref.id] for ref in refs]


def end_erasure(store: Store) -> None:
    """Note that the store's erasure has ended, and leave nothing of its note: ids of sessions are words."""

    def clear() -> None:
        store.journal.set_meta(UNDER_WAY, "")
        store.journal.database.checkpoint()

    store.writer.call(clear)


def _without_graph(store: Store) -> None:
    """Serve without a graph, and remove every file of one: pages that were freed keep what they held.

    `GraphFollower.resume` ends it; the graph is to be built anew then.
    """
    store.graph.suspend(_REASON)
    with store.graph.building:
        for file in store.path.glob(f"{GRAPH_NAME}*"):
            if KNOWS_MORE not in file.name:
                remove(file)


def leave_losses(store: Store) -> tuple[CopyOutcome, ...]:
    """Remove a store's damaged journals that were put aside after a loss: they cannot be erased in.

    One stays while rows may still be taken back from it; `let_kept_go` removes it then.
    """
    kept = sorted(store.path.glob(f"*{KNOWS_MORE}*"))
    if kept and losses(store.path):
        store.writer.call(lambda: store.journal.set_meta(_ERASED_SINCE_LOSS, "1"))
        why = "it may hold the text, and is kept to recover from; `helix recover --acknowledge` removes it"
        return tuple(CopyOutcome(path=str(file), erased=False, why=why) for file in kept)
    for file in kept:
        remove(file)
    return tuple(
        CopyOutcome(path=str(file), erased=True, why="it was kept to recover from, and is gone") for file in kept
    )


def let_kept_go(store: Store) -> None:
    """Remove a store's journals kept to recover from where something was erased since; nobody needs them any more."""
    if store.journal.meta(_ERASED_SINCE_LOSS):
        for file in store.path.glob(f"*{KNOWS_MORE}*"):
            remove(file)
        store.writer.call(lambda: store.journal.drop_meta(_ERASED_SINCE_LOSS))


def _leave_journal(store: Store, note: ErasureNote) -> tuple[int, list[str]]:
    """Erase the log's rows about the nodes, write the journal anew, and read memory and image anew from it.

    Returns how many rows were erased, and what could not be done. The log is looked through ahead of the writer, which
    waits for the rest: some seconds for 100,000 nodes.
    """
    warnings: list[str] = []
    known = erase.rows_naming(store.journal, note.ids)

    def leave() -> int:
        found = erase.erase_rows(store.journal, note.ids, note.kind, to_micros(store.runtime.clock()), known=known)
        warnings.extend(_scrubbed(store.journal, found))
        return len(found.rows)

    with store.graph.building:  # a graph that is being built reads the journal as it was, and keeps its log from ending
        rows = store.writer.call(leave)
    _renew(store)
    if store.runtime.embedder is not None:
        store.runtime.embedder.forget()
    store.erased()
    return rows, warnings


def _renew(store: Store) -> None:
    """Read memory anew, without what was in use when it was erased, and leave no image of that."""
    try:
        renewal = Renewal(store.journal, store.dimension or 0, salience_floor=store.runtime.settings.salience_floor)
    except StoreCorruptError:
        store.writer.call(store.reload)
        return

    def put_in_place() -> None:
        store.images.forget()
        if not renewal.put_in_place(store.catalogue, store.projection):
            store.reload()
        store.images.note(())

    store.writer.call(put_in_place)


def rebuild_graph(store: Store, ticket: Ticket) -> None:
    """Rebuild a store's graph behind an erasure where it was too large to be built at the time.

    Where that cannot be, the erasure is done all the same, and the graph tells of it.
    """
    try:
        if store.graph.needs_rebuild:
            store.rebuild_graph(ticket)
    except HelixError as error:
        log.warning("no graph after an erasure", extra={"error": str(error)})


def copies_of(store: Store) -> list[Path]:
    """Return the journals of a store that were put aside and its backups, those that are gone too."""
    kept = sorted(store.path.glob(f"{KEPT_JOURNAL}*.db"))
    return kept + [Path(path) for path, _ in copies.known(store.journal.database) if Path(path) not in kept]


def erase_in_copies(store: Store, in_copy: InCopy | None = None, change: str = ERASE) -> EraseReport:
    """Erase in a store's copies what it has not any more: one may have been out of reach when that was erased.

    Without `in_copy` that is all that the store has tombstones of.
    """
    buried = _buried(erase.tombstones(store.journal))
    at = to_micros(store.runtime.clock())
    erase_one = in_copy or (lambda copy: _entomb(copy, buried, at))
    with store.copying:
        outcomes = [_leave_copy(store.path, path, erase_one, change, at) for path in copies_of(store)]
    return EraseReport(erased=(), rows=0, copies=tuple(outcomes), warnings=())


def _leave_copy(place: Path, path: Path, in_copy: InCopy, change: str, at: int) -> CopyOutcome:
    """Erase in a journal's copy: in the store's own folder, `place`, where it lies, and elsewhere by a draft.

    SQLite writes all of it to a log beside the file, which anybody who may write there could have made before, to read.
    """
    try:
        unfinished_backup(path).unlink(missing_ok=True)
        if not path.is_file():
            return CopyOutcome(
                path=str(path), erased=False, why="it is not there: if it was moved, it still holds the text"
            )
        if path.parent == place:
            warnings = _erased_in(path, in_copy, change, at)
        elif is_anothers(path):
            return CopyOutcome(path=str(path), erased=False, why="another user put a file in its place")
        else:
            with draft_of_copy(place) as draft:
                copies.take_alone(path, draft)
                warnings = _erased_in(draft, in_copy, change, at)
                replace_copy(draft, path)
    except (HelixError, OSError) as error:
        log.warning("a copy could not be erased", extra={"copy": path.name, "error": type(error).__name__})
        return CopyOutcome(path=str(path), erased=False, why=f"it still holds the text: {error}")
    return CopyOutcome(path=str(path), erased=not warnings, why="; ".join(warnings))


def _erased_in(path: Path, in_copy: InCopy, change: str, at: int) -> list[str]:
    copies.check(path)
    with closing(Journal(Database(path), tokenise=lexical_tokens)) as copy:
        return _scrubbed(copy, erase.erase_rows(copy, in_copy(copy), change, at))


def forget_in(
    copy: Journal, refs: Sequence[Ref], at: int, keep_out: Collection[Ref] = (), *, closed: bool = False
) -> frozenset[str]:
    """Leave tombstones of what the store erased in a journal's copy, with names only that speaks of; return the ids."""
    doomed = (*refs, *erase.names_left(copy, refs))
    if operations := erase.entombing(copy, doomed, from_micros(at), keep_out, sources=not closed):
        copy.append([Change(kind=ERASE, operations=tuple(operations))], at)
    return frozenset(ref.id for ref in doomed)


def left_by(path: Path) -> Legacy:
    """Return what a store's closed journal leaves to its successor; nothing where it is too damaged to say so."""
    try:
        with closing(Journal(Database(path), tokenise=lexical_tokens)) as journal:
            return legacy_of(journal)
    except HelixError:
        return Legacy(readable=False)


def legacy_of(journal: Journal) -> Legacy:
    """Return what a store's journal leaves to the one that takes its place."""
    return Legacy(
        erased=erase.tombstones(journal),
        copies=tuple(copies.known(journal.database)),
        hidden=hidden_sessions(journal),
        words={key: told for key in _OF_THE_PLACE if (told := journal.meta(key))},
        synced=journal.metas(SYNCED),
    )


@contextmanager
def without_the_erased(backup: Path, left: Legacy, folder: Path, at: int) -> Iterator[Path]:
    """Lend a copy of a checked backup for the time of a restore: without what was erased since it was made.

    The copy lies in `folder`, and knows of the copies and private sessions that the replaced journal knew of, and of
    its pauses. Where secrets were taken out since, it notes that they are to be taken out of it as well. Whoever wrote
    the backup may name anything: what it says is being erased is erased in it alone, and it
    is synced with the places of the replaced journal, and with none of its own.
    """
    cleared = folder / CLEARED
    remove_copy(cleared)
    try:
        copies.copy_checked(backup, cleared)
        with closing(Journal(Database(cleared), tokenise=lexical_tokens)) as journal:
            copies.disown_foreign(journal.database, left.copies)
            copies.remember(journal.database, left.copies)
            _check_hidden(hidden_sessions(journal))
            for salt, digests in left.hidden.items():
                for digest in sorted(digests):
                    hide_session(journal, digest, salt)
            journal.spaces.active()  # raises here, while nothing is replaced yet
            if (own := _noted(journal)) is not None:
                _write(journal, replace(own, here=True))
            for key in (*OF_THE_PLACE, *journal.metas(SYNCED)):
                journal.drop_meta(key)
            for key, told in left.synced.items():  # what was left there is of versions that the backup need not know
                with suppress(ValueError, TypeError, RecursionError):  # damaged words
                    journal.set_meta(key, json.dumps({**json.loads(told), "seq": None, "published": []}))
            if journal.meta(OWED) or left.words.get(REDACTED) not in (None, journal.meta(REDACTED)):
                journal.set_meta(OWED, str(at))
            for key, told in left.words.items():
                journal.set_meta(key, told)
            _bury_again(journal, left.erased, at)
        yield cleared
    finally:
        remove_copy(cleared)


def _check_hidden(hidden: Mapping[str, frozenset[str]]) -> None:
    """Raise InvalidInputError for more private sessions than anybody has: each that comes is compared with all."""
    if len(hidden) >= MOST_SALTS or sum(map(len, hidden.values())) > _MOST_HIDDEN:
        raise InvalidInputError("the backup names more private sessions than there can be", hint="restore another one")


def _bury_again(journal: Journal, erased: Sequence[PutNode], at: int) -> None:
    """Leave the very same tombstones where a journal holds what stood in their place before, and nothing of that."""
    if ids := _entomb(journal, _buried(erased), at):
        erase.erase_rows(journal, ids, ERASE, at)
        journal.file.write_anew()


def _buried(erased: Iterable[PutNode]) -> dict[Ref, PutNode]:
    return {Ref(label=left.label, id=left.id): left for left in erased}


def _entomb(journal: Journal, buried: Mapping[Ref, PutNode], at: int) -> frozenset[str]:
    """Put tombstones in a journal where it holds what stood in their place; return the ids of what goes with that."""
    standing = erase.standing(journal, buried.keys())
    if not standing:
        return frozenset()
    ids = forget_in(journal, tuple(standing), at)
    journal.append([Change(kind=ERASE, operations=tuple(buried[ref] for ref in buried if ref in standing))], at)
    return ids


def _scrubbed(journal: Journal, found: erase.ErasableRows) -> list[str]:
    """Leave nothing of what was erased in the journal's files; return what may hold it still, in words."""
    rows = [f"row {seq} of the journal is damaged and may hold it" for seq in found.unreadable]
    return [*rows, *filter(None, [journal.database.scrub()])]
