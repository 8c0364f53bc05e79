"""Strands: carry what the store holds to other machines and people, and import what they carry here."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from helix import files
from helix.errors import ConflictError
from helix.model.clock import from_micros
from helix.model.edge import Ref
from helix.model.principal import Role
from helix.model.recall import RecallQuery
from helix.model.reports import Job
from helix.model.strand import StrandDifference, StrandInfo, StrandTable, StrandVersion
from helix.operations.checks import absolute
from helix.operations.listed import mutation, query, query_for
from helix.operations.strand_keys import keyring_of
from helix.service import Helix
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.strands import arriving, container
from helix.strands.arriving import Strand
from helix.strands.departing import Outgoing
from helix.strands.departing import export as write_strand
from helix.strands.difference import difference
from helix.strands.keyring import LOCKED
from helix.strands.lineage import free_tag, name_version, rows_known, tag_of, version_named
from helix.strands.rollback import roll_back
from helix.strands.rows import Selection, StrandRow
from helix.strands.whole import Unwatched
from helix.text.secrets.redact import redact

_CARRY = "carry memory out of the store"
_TAKE = "import what others carry"
_PASSPHRASE = "What the strand is locked with, where it is locked with one; never written down."
_FOUND = 50
_HERE = "this store"
"""Who made a version that nobody has signed yet: a merge, a rollback, or what was there before one."""


@mutation(None, person=_CARRY)
def export_strand(
    helix: Helix,
    path: str,
    *,
    scopes: Annotated[Sequence[str] | None, "Only these scopes; the whole store where it is not said."] = None,
    query: Annotated[str | None, "Only the memories that recall finds for this, and what they rest on."] = None,
    since: Annotated[str | None, "Only what changed since this version: its tag, or how its id begins."] = None,
    history: Annotated[str, "Of the log's changes, to be read there: `none`, `all`, or `since` that version."] = "none",
    with_vectors: Annotated[bool, "Bring the vectors along, so that the same model need not make them again."] = True,
    passphrase: Annotated[str | None, _PASSPHRASE] = None,
    recipients: Annotated[Sequence[str], "Names of keys: whoever has one of them can open the strand."] = (),
    key: Annotated[str | None, "The name of the key that signs; the only one where it is not said."] = None,
    why: Annotated[str, "What the version is made for."] = "",
    tag: Annotated[str, "A name for the version, which no other one has."] = "",
) -> Job:
    """Write what the store holds, or a part of it, to a new file: signed, encrypted, and good to be merged."""
    target, keyring = Path(absolute(path)), keyring_of(helix)
    sealing = keyring.sealing(key, passphrase, recipients)
    name = free_tag(helix.store.journal, tag) if tag else ""
    start = None if since is None else version_named(helix.store.journal, since)
    if start is not None and rows_known(helix.store.path, start.id) is None:
        raise ConflictError(f"the rows of version {start.id[:12]} are not kept any more", hint="export without `since`")
    outgoing = Outgoing(
        selection=_selected(helix, scopes, query),
        since=start,
        history=history,
        vectors=with_vectors,
        why=redact(why).text,
        tag=name,
    )
    return helix.jobs.start(arriving.JOB, lambda ticket: write_strand(helix.store, target, outgoing, sealing, ticket))


@mutation(None, person=_TAKE)
def import_strand(
    helix: Helix,
    path: str,
    *,
    passphrase: Annotated[str | None, _PASSPHRASE] = None,
    plan: Annotated[bool, "Only tell what it would come to."] = False,
) -> Job:
    """Merge a strand into the store, three ways by the last version that both have held: all of it or nothing.

    The signature is verified before anything is read, secrets are redacted and suspicious texts quarantined as
    anywhere, and nothing is believed more than its signer. What needs a person waits where contradictions do. The log's
    changes that a strand may bring are passed over: they are there to be read.
    """
    strand = _opened(helix, path, passphrase)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        job = helix.store.runtime.make_id(helix.store.runtime.clock())
        with helix.worker.standing_still():
            report = arriving.take(helix.store, strand, job, ticket, planned=plan)
        return {**report, **_undone_by(helix, job)}

    return helix.jobs.start(arriving.JOB, work)


@mutation(None, person=_TAKE)
def clone_strand(
    helix: Helix,
    path: str,
    to: Annotated[str, "A new folder for the store."],
    *,
    passphrase: Annotated[str | None, _PASSPHRASE] = None,
) -> Job:
    """Make a new store of a strand, in a folder of its own; `HELIX_DB_PATH` or `--store` opens it."""
    strand, folder = _opened(helix, path, passphrase), _free(Path(absolute(to)))

    def work(ticket: Ticket) -> Mapping[str, Any]:
        files.private_folder(_free(folder))
        try:
            runtime, settings = helix.store.runtime, replace(helix.settings, db_path=folder, engine="")
            other = Store(settings, embedder=runtime.embedder, clock=runtime.clock, make_id=runtime.make_id)
            with closing(other) as store:
                job = store.runtime.make_id(store.runtime.clock())
                report = arriving.take(store, strand, job, ticket)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)  # the same folder is free for another try
            raise
        return {**report, "path": str(folder)}

    return helix.jobs.start("clone", work)


def _free(folder: Path) -> Path:
    if folder.exists():
        raise ConflictError(f"{folder} exists already", hint="name a folder that does not")
    return folder


@query_for(None)
def inspect_strand(
    helix: Helix, path: str, verify: Annotated[bool, "Check every byte of the file, not only the signature."] = False
) -> StrandInfo:
    """Show what a strand says of itself: who signed it, when, which version it is, and how much of what it has.

    It is not opened, and takes no passphrase.
    """
    file = Path(absolute(path))
    manifest = container.verify(file) if verify else container.inspect(file)
    said, keyring = manifest.data, keyring_of(helix)
    known, version = keyring.known(said["signer"]), said["version"]
    return StrandInfo(
        path=str(file),
        version=version["id"],
        parents=tuple(version["parents"]),
        since=version["since"],
        created_at=manifest.created_at,
        created_by=version["who"],
        signer=said["signer"],
        known_as="" if known is None else known.name,
        trust=None if known is None or known.revoked_at is not None else known.trust,
        why=version["why"],
        tag=version["tag"],
        root=said["root"],
        schema=said["schema"],
        model=(said["embedding"] or {}).get("model", ""),
        opens_with=tuple(
            LOCKED if one["type"] == "passphrase" else keyring.recipient(str(one.get("recipient")))
            for one in said["keys"]
        ),
        scopes=tuple(said["scopes"]),
        history=said["history"],
        counts=said["counts"],
        tables=tuple(
            StrandTable(scope=scope, table=table, rows=group["rows"], digest=group["digest"])
            for scope, tables in sorted(said["groups"].items())
            for table, group in sorted(tables.items())
        ),
        verified=verify,
    )


@query
def strand_log(helix: Helix, limit: Annotated[int, "At most so many."] = 50) -> list[StrandVersion]:
    """List the versions that this store has held or imported, the newest first: who, when and why."""
    return [
        StrandVersion(
            id=one.id,
            parents=one.parents,
            at=from_micros(one.taken_at or one.at),
            who=one.who or _HERE,
            why=one.why,
            tag=one.tag,
            root=one.root,
            scopes=selection.scopes,
            nodes=None if selection.ids is None else len(selection.ids),
            held=one.seq is not None,
        )
        for one in helix.store.journal.versions.all()[:limit]
        for selection in (Selection.from_name(one.selection),)
    ]


@mutation(None, person=_CARRY)
def diff_strands(
    helix: Helix,
    path: str,
    other: Annotated[str | None, "Another strand; the store where it is not said."] = None,
    *,
    passphrase: Annotated[str | None, _PASSPHRASE] = None,
) -> StrandDifference:
    """Tell how a strand differs from the store, or from another strand: what is added, changed, ended and missing."""
    strand = _opened(helix, path, passphrase)
    if other is not None:
        found = difference(_rows(helix, strand), _rows(helix, _opened(helix, other, passphrase)))
    else:
        with helix.store.journal.snapshot() as (_, state):
            selection = Selection.from_name(strand.version["selection"])
            found = difference(_rows(helix, strand), selection.rows(state))
    return StrandDifference(scopes=found.scopes, lines=tuple(found.lines))


@mutation(Role.ADMIN, person=_TAKE)
def roll_back_to(
    helix: Helix, version: Annotated[str, "Its tag, or how its id begins; `strandLog` lists them."]
) -> Job:
    """Make the store what it was at a version, as a new version: nothing is lost, and `undo` takes it back.

    What was erased since stays erased, and what was written in one change with it stays as it is.
    """
    wanted = version_named(helix.store.journal, version)

    def work(ticket: Ticket) -> Mapping[str, Any]:
        job = helix.store.runtime.make_id(helix.store.runtime.clock())
        with helix.worker.standing_still():
            report = roll_back(helix.store, wanted, job, ticket)
        return {**report, **_undone_by(helix, job)}

    return helix.jobs.start(arriving.JOB, work)


@mutation(Role.ADMIN)
def tag_version(
    helix: Helix,
    version: Annotated[str, "Its tag, or how its id begins; `strandLog` lists them."],
    tag: Annotated[str, "A name that no other version has."],
    *,
    move: Annotated[bool, "Also where another version has the name, or this one has another name."] = False,
) -> list[StrandVersion]:
    """Give a version a name by which it can be rolled back to, or exported from; returns the log."""
    name_version(helix.store.journal, version_named(helix.store.journal, version).id, tag_of(tag), move=move)
    return strand_log(helix)


def _undone_by(helix: Helix, job: str) -> Mapping[str, str]:
    """Return the `job` that takes back what was done; an empty one where that was nothing."""
    return {"job": job if helix.store.journal.effects.steps(job) else ""}


def _selected(helix: Helix, scopes: Sequence[str] | None, question: str | None) -> Selection:
    """Return what is to be exported; what a question finds comes with its evidence and the names it mentions."""
    wanted = None if scopes is None else [redact(scope).text for scope in scopes]
    if question is None:
        return Selection.of(wanted)
    answer = helix.recall(RecallQuery(query=question, limit=_FOUND))
    found = {item.node.id for item in answer.items}
    for item in answer.items:
        for edge in helix.store.index.edges_at(Ref(label=item.label, id=item.node.id)):
            found |= {edge.source.id, edge.target.id}
    return Selection.of(wanted, frozenset(found))


def _opened(helix: Helix, path: str, passphrase: str | None) -> Strand:
    """Return a strand whose signature was verified, and whose signer is known here; its content is not read yet."""
    file, keyring = Path(absolute(path)), keyring_of(helix)
    return Strand.by(keyring, file, container.inspect(file), keyring.opener(passphrase))


def _rows(helix: Helix, strand: Strand) -> Iterable[StrandRow]:
    if strand.version["since"] is not None:
        raise ConflictError("a strand that holds only changes cannot be compared", hint="compare strands of all")
    return (entry.row for entry in strand.entries(helix.store.journal, Unwatched())[1] if entry.row is not None)
