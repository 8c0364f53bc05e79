"""Arriving: a strand is verified, opened, planned and taken in: whole, or not at all.

An import is one job: `helix undo` takes it back. Until it has ended the journal has a note of it, and a start that
finds the note takes the import back before anybody is served.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helix.errors import ConflictError, InvalidInputError
from helix.journal.strand_versions import StoredVersion
from helix.memory.erasure import hard_forget
from helix.memory.erasure.stored_secrets import Remembering
from helix.model.clock import to_micros
from helix.model.edge import Label, Ref
from helix.model.operations import PutNode
from helix.store import erasing
from helix.store.erasing import ERASE, Note
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.strands import container
from helix.strands.container import Manifest
from helix.strands.keyring import Keyring
from helix.strands.lineage import RowsKept, apart, contained, note_version, rows_known, version_id
from helix.strands.merging import Merge, completed, held_rows, side_by_side
from helix.strands.reading import Entry, Reading
from helix.strands.received import Received, Signer
from helix.strands.rows import Selection, schema_number
from helix.strands.sealed import Opener
from helix.strands.whole import whole
from helix.text.redact import redact

_TAKEN = "strand_taken/"
"""How the keys begin under which the journal notes the job that took a version in."""
JOB = "strand"
"""The kind of the jobs that carry strands: one at a time, as one alone may be under way."""


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
        """What the manifest says of its version."""
        found: Mapping[str, Any] = self.manifest.data["version"]
        return found

    @property
    def id(self) -> str:
        """The id by which its version is known here."""
        ident: str = self.version["id"]
        return ident if self.signer.is_own else apart(self.manifest.data["signer"], ident)

    def id_here(self, store: Store, version: str) -> str:
        """Return the id here of a version that the strand came from: it is one of this store's own, or the signer's."""
        if self.signer.is_own or store.journal.versions.get(version) is not None:
            return version
        return apart(self.manifest.data["signer"], version)

    def since(self, store: Store) -> str | None:
        """Return the id here of the version since which the strand tells of changes; None for one that has all rows."""
        told = self.version["since"]
        return None if told is None else self.id_here(store, told)

    def check_id(self) -> None:
        """Raise InvalidInputError where the version's id is another one's."""
        said = self.version
        if said["id"] != version_id(said["selection"], self.manifest.data["root"], said["parents"]):
            raise InvalidInputError("the strand's version is not the one that its rows and its parents make")

    def entries(self, store: Store) -> tuple[Reading, Iterator[Entry]]:
        """Return what reads the rows, and what it reads."""
        space, told = store.journal.spaces.active(), self.manifest.data["embedding"]
        same_space = space is not None and told is not None and told["digest"] == space.digest
        container.verify(self.path)
        reading = Reading(
            schema=self.manifest.data["schema"],
            partial=self.version["since"] is not None,
            dimension=space.dimension if space is not None and same_space and self.signer.is_own else 0,
        )
        return reading, reading.entries(container.content(self.path, self.manifest, self.opener))


def take(store: Store, strand: Strand, job: str, ticket: Ticket, *, planned: bool = False) -> dict[str, Any]:
    """Take a strand in, or with `planned` only tell what that would come to; returns counts and examples.

    Taking the same strand in again changes nothing, but where the job was undone that took it in. Raises ConflictError
    for one that is older than what was taken in already, or that holds only what changed since a version which this
    store never had; InvalidInputError for one that cannot be read. Whatever is raised, nothing of the strand stays.
    """
    strand.check_id()
    again = _was_undone(store, strand)
    if not again and _is_known(store, strand):
        return {"version": strand.id, "already": True}
    if strand.manifest.data["schema"] > schema_number():
        raise InvalidInputError("the strand was written by a newer Helix", hint="upgrade Helix, then import it again")
    # What was taken back is not here, and yet was not dropped where a person asks for it again.
    base = None if again else common_version(store, strand)
    within = Selection.from_name(strand.version["selection"])
    merge = Merge(store, Received(signer=strand.signer, redact=Remembering()), job, within=within, planned=planned)
    if not planned:
        _erase_what_they_erased(store, strand, ticket)
    with RowsKept(store) as kept:
        if planned:
            _pass(store, strand, merge, base, ticket, kept)
            return _told(strand, base, merge)
        with whole(store, job):
            all_known = _pass(store, strand, merge, base, ticket, kept)
            ticket.progress(0, 0, "comparing what came in with what is here")
            merge.meet()
        # Not before: what is known as held, and is not here, counts as dropped here.
        if all_known:
            kept.known_as(strand.id)
    _note(store, strand)
    store.writer.call(lambda: store.journal.set_meta(_TAKEN + strand.id, job))
    return _told(strand, base, merge)


def learn(store: Store, strand: Strand) -> bool:
    """Keep which rows a strand has whose content is here already: by them later ones merge that say only changes.

    Returns whether that could be: not of changes since a version whose rows are not kept. Raises InvalidInputError.
    """
    strand.check_id()
    since = strand.since(store)
    known = () if since is None else rows_known(store, since)
    if known is None:
        return False
    reading, entries = strand.entries(store)
    with RowsKept(store) as kept:
        for _ in completed(entries, known, kept.add):
            pass
        _check_root(strand, reading)
        kept.known_as(strand.id)
    return True


def common_version(store: Store, strand: Strand) -> str | None:
    """Return the nearest version that the strand comes from and whose rows are known here; None for none.

    Raises ConflictError where the strand holds only what changed since a version that never was here.
    """
    since = strand.since(store)
    if since is not None and rows_known(store, since) is None and since not in _contained(store, strand):
        told = strand.version["since"]
        raise ConflictError(
            f"the strand holds only what changed since version {told[:12]}, which this store does not have",
            hint="ask for a strand of all, or take in the earlier ones first",
        )
    said = (*strand.version["parents"], *(one["id"] for one in strand.version["ancestry"]))
    ancestors = (strand.id_here(store, one) for one in said)
    return next((one for one in ancestors if rows_known(store, one) is not None), None)


def _was_undone(store: Store, strand: Strand) -> bool:
    """Return whether the strand's version was taken in by a job that was undone since."""
    job = store.journal.meta(_TAKEN + strand.id)
    return job is not None and store.journal.effects.undone_at(job) is not None


def _is_known(store: Store, strand: Strand) -> bool:
    """Return whether the strand's version was taken in or held already; raises ConflictError for an outdated one."""
    versions, ident = store.journal.versions, strand.id
    if ident not in _contained(store, strand):
        return False
    head = versions.head(strand.version["selection"])
    taken = [one for one in versions.all() if one.taken_at is not None and one.who == strand.signer.name]
    newest = {head.id if head is not None else "", taken[0].id if taken else ""}
    if ident not in newest:
        raise ConflictError(
            f"version {ident[:12]} is older than what this store has: it was taken in already",
            hint=f"`helix strand rollback {ident[:12]}` goes back to it",
        )
    return True


def _contained(store: Store, strand: Strand) -> set[str]:
    return contained(store, strand.version["selection"])


def _pass(store: Store, strand: Strand, merge: Merge, base: str | None, ticket: Ticket, kept: RowsKept) -> bool:
    """Read the strand to its end and merge each row; return whether `kept` has all rows of its version by then."""
    reading, entries = strand.entries(store)
    counts = strand.manifest.data["counts"]
    since = strand.since(store)
    before = () if since is None else rows_known(store, since)
    known = (None if base is None else rows_known(store, base)) or ()
    all_of_it = completed(entries, before or (), kept.add)
    incoming = side_by_side(all_of_it, known, partial=reading.partial, keep=lambda _: None)
    merge.take(incoming, ticket, int(counts["nodes"]) + int(counts["edges"]))
    _check_root(strand, reading)
    return before is not None


def _check_root(strand: Strand, reading: Reading) -> None:
    """Raise InvalidInputError where a strand of all rows was read to its end and has not those that it speaks of."""
    if not reading.partial and reading.tree.root != strand.manifest.data["root"]:
        raise InvalidInputError("the rows of the strand are not those that its manifest speaks of")


def _erase_what_they_erased(store: Store, strand: Strand, ticket: Ticket) -> None:
    """Erase here what the person erased on another machine: its words leave every file here, too."""
    if not strand.signer.is_own or not strand.manifest.data["counts"].get("tombstones"):
        return
    reading, entries = strand.entries(store)
    erased = [
        Ref(label=entry.row.put.label, id=entry.row.put.id)
        for entry in entries
        if entry.row is not None and isinstance(entry.row.put, PutNode) and entry.row.is_erased
    ]
    _check_root(strand, reading)  # before anything is taken away for good
    here = held_rows(store, [("0", ref.label.value, ref.id) for ref in erased])
    within = Selection.from_name(strand.version["selection"])
    still = [
        ref
        for ref, row in zip(erased, here.values(), strict=True)
        if row and not row.is_erased and within.holds(ref.id, row.scope)
    ]
    if not still:
        return
    keep_out = tuple(ref for ref in still if ref.label is Label.MEMORY)
    note = Note(kind=ERASE, refs=tuple(still), at=to_micros(store.runtime.clock()), keep_out=keep_out)
    erasing.begin(store, note)
    hard_forget.carry_out(store, note, lambda stage: ticket.progress(0, 0, stage))
    erasing.rebuild(store, ticket)


def _note(store: Store, strand: Strand) -> None:
    """Note the strand's version and those that it comes from, and the version that the store is by now."""
    said, now = strand.version, to_micros(store.runtime.clock())
    taken = StoredVersion(
        id=strand.id,
        selection=said["selection"],
        root=strand.manifest.data["root"],
        parents=tuple(strand.id_here(store, one) for one in said["parents"]),
        who=strand.signer.name,
        why=redact(said["why"]).text,
        tag=redact(said["tag"]).text,
        at=now,
        taken_at=now,
    )
    # What a stranger says that a version came from would keep out what somebody else's strand brings.
    line = said["ancestry"] if strand.signer.is_own else ()
    ancestors = [StoredVersion(id=one["id"], parents=tuple(one["parents"])) for one in line]
    store.journal.versions.keep([taken, *ancestors])
    note_version(
        store, Selection.from_name(said["selection"]), who="", why=f"merge {strand.id[:12]}", parents=[strand.id]
    )


def _told(strand: Strand, base: str | None, merge: Merge) -> dict[str, Any]:
    received = merge.received
    counts = {**merge.counts, "redacted": received.redacted, "quarantined": received.quarantined}
    return {
        "version": strand.id,
        "signer": strand.signer.name,
        "common": base,
        "counts": {name: count for name, count in sorted(counts.items()) if count},
        "examples": merge.examples,
    }
