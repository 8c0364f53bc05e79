"""Arriving: a strand is verified, opened, planned and imported: whole, or not at all.

An import is one job: `helix undo` takes it back. First the strand is read to its end, and what it comes to lies ready
beside the journal (`staged.py`). Only then is the first row written; `whole.py` has the writing come to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helix.errors import ConflictError, InvalidInputError
from helix.journal.log import Journal
from helix.journal.strand_versions import StoredVersion
from helix.memory.contradiction import disputes
from helix.memory.erasure import hard_forget
from helix.memory.extraction.excluded import erased_by
from helix.memory.job_run.run import Run, Watch
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref
from helix.model.episode import Episode
from helix.model.memory import Memory
from helix.model.provenance import Trust
from helix.model.records import node_from
from helix.model.tombstone import ERASED_SOURCE, is_erased
from helix.store import erasing
from helix.store.index import StoreIndex
from helix.store.jobs import Ticket
from helix.store.runtime import Runtime
from helix.store.store import Store
from helix.strands import container
from helix.strands.container import Manifest
from helix.strands.keyring import Keyring
from helix.strands.lineage import (
    MOST_ANCESTORS,
    Known,
    RowsKept,
    contained_versions,
    foreign_version_id,
    is_version_tag,
    note_version,
    rows_known,
    version_id,
)
from helix.strands.meeting import meet
from helix.strands.merging import KIND, Merge, held_rows
from helix.strands.reading import StrandEntry, StrandReading
from helix.strands.received import Received, Signer
from helix.strands.rows import BATCH, WRITTEN_BYTES, Selection, StrandRow, schema_number
from helix.strands.sealed import Opener
from helix.strands.staged import Staged
from helix.strands.succession import hand_on
from helix.strands.three_way import Incoming, completed, side_by_side
from helix.strands.whole import carry_through, under_way
from helix.text.secrets.redact import redact

_LONGEST_WORDS = 1_000
_TAKEN = "strand_taken/"
"""How the keys begin under which the journal notes the job that took a version in."""
JOB = "strand"
"""The kind of the jobs that carry strands: one at a time, as one alone may be under way."""
_MANY, _SHARE = 5_000, 4
"""Rows of an import, at least, and one for so many nodes of the store, behind which the graph is built anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strand:
    """A strand whose signature was verified: its file, its manifest, who signed it, and what opens it."""

    path: Path
    manifest: Manifest
    signer: Signer
    opener: Opener

    @staticmethod
    def by(keyring: Keyring, path: Path, manifest: Manifest, opener: Opener) -> Strand:
        """Return the strand of a verified manifest; raises UnauthorizedError where its signer is unknown or revoked."""
        key = keyring.signer(manifest.data["signer"])
        return Strand(path=path, manifest=manifest, signer=Signer(name=key.name, trust=key.trust), opener=opener)

    @property
    def version(self) -> Mapping[str, Any]:
        """What the strand's manifest says of its version."""
        found: Mapping[str, Any] = self.manifest.data["version"]
        return found

    @property
    def id(self) -> str:
        """The id by which the strand's version is known here."""
        ident: str = self.version["id"]
        return ident if self.signer.is_own else foreign_version_id(self.manifest.data["signer"], ident)

    def id_here(self, journal: Journal, version: str) -> str:
        """Return the id here of a version that the strand came from: it is one of this store's own, or the signer's."""
        if self.signer.is_own or journal.versions.get(version) is not None:
            return version
        return foreign_version_id(self.manifest.data["signer"], version)

    def since(self, journal: Journal) -> str | None:
        """Return the id here of the version since which the strand tells of changes; None for one that has all rows."""
        told = self.version["since"]
        return None if told is None else self.id_here(journal, told)

    def check_id(self) -> None:
        """Raise InvalidInputError where the id of the strand's version is another one's."""
        said = self.version
        if len(said["parents"]) > MOST_ANCESTORS or len(said["ancestry"]) > MOST_ANCESTORS:
            raise InvalidInputError(f"the strand names more than {MOST_ANCESTORS} versions that it came from")
        if said["id"] != version_id(said["selection"], self.manifest.data["root"], said["parents"]):
            raise InvalidInputError("the strand's version is not the one that its rows and its parents make")

    def entries(self, journal: Journal, watch: Watch) -> tuple[StrandReading, Iterator[StrandEntry]]:
        """Return what reads a strand's rows, and what it reads; nothing may be done with one before all were read.

        What it reads raises ConflictError where the job was asked to stop, whether or not the next line is a row.
        """
        space, told = journal.spaces.active(), self.manifest.data["embedding"]
        same_space = space is not None and told is not None and told["digest"] == space.digest
        reading = StrandReading(
            schema=self.manifest.data["schema"],
            partial=self.version["since"] is not None,
            dimension=space.dimension if space is not None and same_space and self.signer.is_own else 0,
        )
        lines = container.content(self.path, self.manifest, self.opener)
        return reading, reading.entries(_until_stopped(lines, watch))


def _until_stopped(lines: Iterator[bytes], watch: Watch) -> Iterator[bytes]:
    for line in lines:
        if watch.cancelled:
            raise ConflictError("the reading of the strand was stopped; nothing of it stays")
        yield line


def take(store: Store, strand: Strand, job: str, ticket: Ticket, *, planned: bool = False) -> dict[str, Any]:
    """Take a strand in, or with `planned` only tell what that would come to; returns counts and examples.

    Taking the same strand in again changes nothing, but where the job was undone that took it in. Raises ConflictError
    for one that is older than what was imported already, or that holds only what changed since a version which this
    store never had; InvalidInputError for one that cannot be read. Whatever is raised, nothing of the strand stays.
    """
    strand.check_id()
    again = _was_undone(store.journal, strand)
    if not again and _is_known(store.journal, strand):
        container.verify(strand.path)
        again = _was_undone_since(store.journal, strand)
        if not again:
            return {"version": strand.id, "already": True}
    if strand.manifest.data["schema"] > schema_number():
        raise InvalidInputError("the strand was written by a newer Helix", hint="upgrade Helix, then import it again")
    # What was taken back is not here, and yet was not dropped where a person asks for it again.
    base = None if again else common_version(store, strand)
    if planned:
        read = _reading_by(store, strand, job)
        for batch in _read_through(store, strand, read, base, ticket, lambda _: None):
            read.plan(batch)
        return _counted_result(strand, base, read, read.counts)
    with store.copying:
        return _merged(store, strand, base, job, ticket)


def _merged(store: Store, strand: Strand, base: str | None, job: str, ticket: Ticket) -> dict[str, Any]:
    staged = Staged(store.path, job)
    try:
        read, erased, theirs = _stage(store, strand, base, ticket, staged)
        if _erase_here(store, erased, read.within, theirs, ticket):  # what was set against that is read once more
            read, *_ = _stage(store, strand, base, ticket, staged)
        while more := read.erased.belonging():  # it was erased too, and nothing of it is to be written
            read, *_ = _stage(store, strand, base, ticket, staged, read.erased.silent | more)
        note, waiting = _note_of(store, strand, staged), _to_decide(store.index)
        done = carry_through(store, note, lambda watch: _carry_out(store, note, watch), ticket, forsake=staged.remove)
    finally:
        if (under_way(store.journal) or {}).get("job") != job:
            staged.remove()
    read.examples = done.examples
    done.counts["contradictions to decide"] = len(_to_decide(store.index) - waiting)
    return _counted_result(strand, base, read, read.counts + done.counts)


def _reading_by(store: Store, strand: Strand, job: str) -> Merge:
    within = Selection.from_name(strand.version["selection"])
    return Merge(store, _received(store.runtime, strand.signer), job, within)


def _received(runtime: Runtime, signer: Signer) -> Received:
    return Received(signer=signer, text_limit=runtime.settings.text_limit, latest=to_micros(runtime.clock()))


def bring_to_end(store: Store, note: Mapping[str, Any], watch: Watch) -> None:
    """Write the rest of a strand's import that a kill cut short; raises OSError or ValueError without its rows."""
    _carry_out(store, note, watch)
    Staged(store.path, note["job"]).remove()


def _note_of(store: Store, strand: Strand, staged: Staged) -> dict[str, Any]:
    """Return all that it takes to write the staged rows, without the strand and without its key."""
    since, said = strand.since(store.journal), strand.version
    tag = redact(said["tag"]).text
    # What a stranger says that a version came from would keep out what somebody else's strand brings.
    line = said["ancestry"] if strand.signer.is_own else ()
    return {
        "kind": JOB,
        "job": staged.job,
        "rows": staged.count,
        "batch": BATCH,
        "bytes": WRITTEN_BYTES,
        "signer": strand.signer.name,
        "trust": strand.signer.trust.value,
        "taken": "" if strand.id in _contained(store.journal, strand) else strand.id,
        "version": {
            "id": strand.id,
            "selection": said["selection"],
            "parents": [strand.id_here(store.journal, one) for one in said["parents"]],
            "ancestry": list(line),
            "why": redact(said["why"]).text[:_LONGEST_WORDS],
            "tag": tag if is_version_tag(tag) else "",
        },
        "root": strand.manifest.data["root"],
        "complete": since is None or rows_known(store.path, since) is not None,
    }


def _carry_out(store: Store, note: Mapping[str, Any], watch: Watch) -> Merge:
    """Write what lies ready; what of it the journal has by now is passed over."""
    signer = Signer(name=note["signer"], trust=Trust(note["trust"]))
    job, version = str(note["job"]), str(note["version"]["id"])
    within, staged = Selection.from_name(note["version"]["selection"]), Staged(store.path, job)
    merge, done = Merge(store, _received(store.runtime, signer), job, within), 0
    with _graph_aside(store, note["rows"]):
        for number, batch in enumerate(staged.batches(note["batch"], note.get("bytes"))):
            if watch.cancelled:
                raise ConflictError("the import was stopped; nothing of it stays")
            merge.write(batch, f"rows {number}")
            done += len(batch)
            watch.progress(done, note["rows"], "importing")
        _ask_again(Run(store, job, KIND, guarded=False))
        hand_on(Run(store, job, KIND, guarded=False), merge)
        known = staged.known(version) if signer.is_own else ()  # what others say has met there may never have
        meet(Run(store, job, KIND, guarded=False), merge.fresh, known, merge.counts, watch)
    # Not before: what is known as held, and is not here, counts as dropped here.
    if note["complete"]:
        staged.known_as(version)
    _note(store, note)
    store.writer.call(lambda: store.journal.set_meta(_TAKEN + version, job))
    return merge


def _ask_again(run: Run) -> None:
    """Ask the person anew where the two sides had decided one contradiction otherwise: both hold until then."""
    for edge in disputes.ruled_apart(run.store.index):
        step = f"asked again {edge.source.id} {edge.target.id}"
        run.write(step, lambda composer, edge=edge: disputes.stand_again(composer, run.store.records, edge))  # type: ignore[misc]


def _to_decide(index: StoreIndex) -> set[frozenset[str]]:
    """Return the pairs of memories that wait for a person: found here, or elsewhere and told of by what came in."""
    return {frozenset((one.first.id, one.second.id)) for one in disputes.contradictions(index)}


@contextmanager
def _graph_aside(store: Store, rows: int) -> Iterator[None]:
    """Rebuild the graph after an import of so many rows that following them would take longer."""
    if rows < max(_MANY, store.index.count // _SHARE):
        yield
        return
    store.graph.suspend("an import is at work; the graph is built when all of it is in")
    try:
        yield
    finally:
        store.graph.resume()


def learn(store: Store, strand: Strand, watch: Watch) -> bool:
    """Keep which rows of a strand the store has already: by them later strands merge that say only changes.

    Returns whether that could be: not of changes since a version whose rows are not kept. Raises InvalidInputError.
    """
    strand.check_id()
    since = strand.since(store.journal)
    known = () if since is None else rows_known(store.path, since)
    if known is None:
        return False
    reading, entries = strand.entries(store.journal, watch)
    with RowsKept(store.path) as kept:
        for _ in completed(entries, known, kept.add):
            pass
        _check_root(strand, reading)
        kept.known_as(strand.id)
    return True


def common_version(store: Store, strand: Strand) -> str | None:
    """Return the nearest version that a strand comes from and whose rows are known here; None for none.

    Raises ConflictError where the strand holds only what changed since a version that never was here.
    """
    since = strand.since(store.journal)
    if since is not None and rows_known(store.path, since) is None and since not in _contained(store.journal, strand):
        told = strand.version["since"]
        raise ConflictError(
            f"the strand holds only what changed since version {told[:12]}, which this store does not have",
            hint="ask for a strand of all, or import the earlier ones first",
        )
    said = (*strand.version["parents"], *(one["id"] for one in strand.version["ancestry"]))
    ancestors = (strand.id_here(store.journal, one) for one in said)
    return next((one for one in ancestors if rows_known(store.path, one) is not None), None)


def _was_undone(journal: Journal, strand: Strand) -> bool:
    """Return whether the strand's version was imported by a job that was undone since."""
    job = journal.meta(_TAKEN + strand.id)
    return job is not None and journal.effects.undone_at(job) is not None


def _was_undone_since(journal: Journal, strand: Strand) -> bool:
    """Return whether something else of the signer was taken back after the strand was imported: its rows went along."""
    ident, signer = strand.id, strand.signer.name
    taken = {one.id: one.taken_at for one in journal.versions.all() if one.taken_at is not None and one.who == signer}
    jobs = (journal.meta(_TAKEN + one) for one in taken)
    undone = (journal.effects.undone_at(job) for job in jobs if job is not None)
    return ident in taken and any(at is not None and to_micros(at) >= taken[ident] for at in undone)


def _is_known(journal: Journal, strand: Strand) -> bool:
    """Return whether the strand's version was imported or held already; raises ConflictError for an outdated one."""
    versions, ident = journal.versions, strand.id
    if ident not in _contained(journal, strand):
        return False
    head = versions.head(strand.version["selection"])
    taken = [one for one in versions.all() if one.taken_at is not None and one.who == strand.signer.name]
    newest = {head.id if head is not None else "", taken[0].id if taken else ""}
    if ident not in newest:
        raise ConflictError(
            f"version {ident[:12]} is older than what this store has: it was imported already",
            hint=f"`helix strand rollback {ident[:12]}` goes back to it",
        )
    return True


def _contained(journal: Journal, strand: Strand) -> set[str]:
    return contained_versions(journal, strand.version["selection"])


def _read_through(
    store: Store,
    strand: Strand,
    merge: Merge,
    base: str | None,
    ticket: Ticket,
    keep: Callable[[Known], object],
) -> Iterator[list[Incoming]]:
    """Read the strand to its end and yield what may change something; `keep` is given all that its version has."""
    reading, entries = strand.entries(store.journal, ticket)
    since = strand.since(store.journal)
    before = () if since is None else rows_known(store.path, since)
    known = (None if base is None else rows_known(store.path, base)) or ()
    all_of_it = completed(entries, before or (), keep)
    incoming = side_by_side(all_of_it, known, partial=reading.partial, keep=lambda _: None)
    yield from merge.wanted(incoming, ticket, _rows_in(strand))
    _check_root(strand, reading)


def _rows_in(strand: Strand) -> int:
    """Return how many rows a strand says that it has."""
    try:
        return sum(int(strand.manifest.data["counts"][one]) for one in ("nodes", "edges"))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError("the strand does not say how much it holds") from error


def _stage(
    store: Store, strand: Strand, base: str | None, ticket: Ticket, staged: Staged, silent: frozenset[Ref] = frozenset()
) -> tuple[Merge, list[StrandRow], set[str]]:
    """Lay ready what is to be written.

    Return what has read it, what the person has erased on another machine, and the ids of the nodes that are there.
    """
    merge, erased, theirs = _reading_by(store, strand, staged.job), list[StrandRow](), set[str]()
    merge.erased.silent = silent
    with staged.writing() as staging:

        def keep(known: Known) -> None:
            staging.kept.add(known)
            if strand.signer.is_own:
                merge.erased.note_there(known)
            if known.key[0] == "0":
                theirs.add(known.key[2])

        for batch in _read_through(store, strand, merge, base, ticket, keep):
            staging.add(batch)
            erased += [one.theirs for one in batch if one.theirs is not None and one.theirs.is_erased]
        staged.keep(staging)
    return merge, erased, theirs


def _check_root(strand: Strand, reading: StrandReading) -> None:
    """Raise InvalidInputError where a strand of all rows was read to its end and has not those that it speaks of."""
    if not reading.partial and reading.tree.root != strand.manifest.data["root"]:
        raise InvalidInputError("the rows of the strand are not those that its manifest speaks of")


def _erase_here(
    store: Store, rows: Sequence[StrandRow], within: Selection, theirs: Collection[str], ticket: Ticket
) -> bool:
    """Erase here what was erased elsewhere: its words leave every file here, too. Return whether there was anything.

    So does what this machine has read itself of the same history or file, but for what the other one holds (`theirs`),
    what is not shared with it, and what somebody said, stored, confirmed or reworded here.
    """
    here = held_rows(store.journal, [one.key for one in rows])
    fresh = [one for one in rows if not ((row := here[one.key]) and row.is_erased)]
    still = [Ref.of(*one.key[1:]) for one in fresh if (row := here[one.key]) and within.holds(one.key[2], row.scope)]
    kept = [Ref.of(*one.key[1:]) for one in fresh if str(one.put.props.get("source") or "").startswith(ERASED_SOURCE)]

    def spared(ref: Ref) -> bool:
        return ref.id in theirs or not within.holds(ref.id, getattr(store.records.node(ref), "scope", ""))

    again = [] if not fresh else [ref for ref in _read_here(store, fresh) if not spared(ref)]
    note = hard_forget.note_elsewhere(store, still, again, kept, spared)
    if note is None:
        return False
    hard_forget.carry_out(store, note, lambda stage: ticket.progress(0, 0, stage))
    erasing.rebuild_graph(store, ticket)
    return True


def _read_here(store: Store, rows: Sequence[StrandRow]) -> Iterator[Ref]:
    """Yield what this machine has read of what was erased elsewhere, under ids of its own."""
    erased, index = erased_by(node_from(Label(one.key[1]), one.key[2], one.put.props) for one in rows), store.index
    read = [row for row in index.where(Label.MEMORY, Label.EPISODE) if index.source_of(row)] if erased else []
    for start in range(0, len(read), BATCH):
        for node in index.nodes(read[start : start + BATCH]):
            if isinstance(node, Memory | Episode) and not is_erased(node) and erased.is_read_again(node):
                yield node.ref


def _note(store: Store, note: Mapping[str, Any]) -> None:
    """Note the strand's version and those that it comes from, and the version that the store is by now."""
    said, now = note["version"], to_micros(store.runtime.clock())
    taken = StoredVersion(
        id=said["id"],
        selection=said["selection"],
        root=note["root"],
        parents=tuple(said["parents"]),
        who=note["signer"],
        why=said["why"],
        tag=said["tag"],
        at=now,
        taken_at=now,
    )
    ancestors = [StoredVersion(id=one["id"], parents=tuple(one["parents"])) for one in said["ancestry"]]
    store.journal.versions.keep([taken, *ancestors])
    note_version(
        store, Selection.from_name(said["selection"]), who="", why=f"merge {said['id'][:12]}", parents=[said["id"]]
    )


def _counted_result(strand: Strand, base: str | None, merge: Merge, counted: Counter[str]) -> dict[str, Any]:
    received = merge.received
    counts = {**counted, "redacted": received.redacted, "quarantined": received.quarantined}
    return {
        "version": strand.id,
        "signer": strand.signer.name,
        "common": base,
        "counts": {name: count for name, count in sorted(counts.items()) if count},
        "examples": merge.examples,
    }
