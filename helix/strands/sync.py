"""Sync: stores come to hold the same by way of a place where each leaves strands for the others.

A run imports what others left and this store does not have yet, then leaves what the store holds by now, unless that
lies there already. What comes in is verified, merged and believed as in any import, each strand whole or not at all. So
a run may end at any moment, and the next one goes on. No clock has a part in it: versions tell what came from what.
"""

from __future__ import annotations

import hashlib
import logging
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from helix import files
from helix.errors import ConflictError, HelixError, InvalidInputError, NotFoundError, UnauthorizedError
from helix.journal.strand_versions import StoredVersion
from helix.memory.worker.worker import MemoryWorker
from helix.model.clock import to_micros
from helix.model.provenance import Trust
from helix.model.reports import Job
from helix.store.erasing import OUTDATED, STRANDS
from helix.store.jobs import Jobs, Ticket
from helix.store.store import Store
from helix.strands import arriving, sync_state
from helix.strands.arriving import Strand
from helix.strands.departing import Outgoing, export
from helix.strands.keyring import LOCKED, Keyring, Sealing, digits_of
from helix.strands.lineage import SCRATCH, contained_versions, foreign_version_id, note_version, rows_known
from helix.strands.place import LARGEST, SHORT, Remote, StrandName, Terms, digest_of, verified
from helix.strands.remotes import open_remote
from helix.strands.rows import Selection, Tree
from helix.strands.sealed import Opener
from helix.strands.sync_state import Published, SyncState
from helix.text.inert import inert

log = logging.getLogger(__name__)

MOST_CHANGES = 20
"""Strands of changes that may follow one that holds all."""
MOST_BYTES = 16 << 30
"""Bytes that the strands may have which a run fetches; each at most half of what is free on the disk."""
_PATIENCE_SECONDS, _SLOWEST = 600.0, 10_000
"""How long a run waits for strands, and how many bytes have to come in a second from then on: a place can list any
number of strands, and keep each of them back."""
_MOST_SECONDS = 24 * 3_600.0
"""How long a place is asked in one run, however slowly one strand comes."""
_REFUSED = (ConflictError, InvalidInputError, NotFoundError, UnauthorizedError)
"""What is wrong with one strand alone: the others are imported all the same."""
_TRIES = 3
_MOST_STEPS = 100
_MOST_PROBLEMS = 100
"""Sentences on what was passed over that are kept: a place can list as many strands of as many keys as it likes."""
_MOST_SHOWN, _LONGEST_SHOWN = 10, 200
"""Scopes that the other side asks for, and characters of each, that a person is shown."""


@dataclass(slots=True, kw_only=True)
class Syncing:
    """One run between a store and a place; what it came to is told by `run`.

    `still` lends a time in which no background work writes, for a strand to be imported.
    """

    store: Store
    remote: Remote
    terms: Terms
    selection: Selection
    state: SyncState
    keyring: Keyring
    opener: Opener
    sealing: Sealing
    ticket: Ticket
    still: Callable[[], AbstractContextManager[None]]
    taken: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    _bad: set[StrandName] = field(default_factory=set)
    _fetched_bytes: int = 0
    _waited: float = 0.0
    _others: dict[str, str] = field(default_factory=dict)
    """The public keys of signers that are not this person's, by how they begin."""

    def run(self) -> dict[str, Any]:
        """Take in and leave strands; returns counts, the version and root by now, and what was passed over."""
        there = _sorted(self.remote.names())
        told = hashlib.sha256("\n".join(map(str, there)).encode()).hexdigest()
        keys = self.keyring.keys()
        back = self.state.turned_back(there, {digits_of(key.public)[:SHORT] for key in keys})
        self.problems += [
            f"the place was turned back: of the key {signer} it has less than it had; nothing is lost here"
            for signer in back
        ]
        if (
            not back
            and not self._is_for_more()
            and (self.state.seq, self.state.names) == (self.store.journal.last_seq, told)
        ):
            return self._report("")
        if self.terms.may_take:
            self._take_all(there)
        left = self._leave(there) if self.terms.may_leave else ""
        done = not left and not self.taken and not self.problems
        self.state.seq, self.state.names = (self.store.journal.last_seq, told) if done else (None, "")
        return self._report(left)

    def _report(self, left: str) -> dict[str, Any]:
        self.state.problems = problems = _shortened(self.problems)
        head = self.store.journal.versions.head(self.selection.named)
        return {
            "taken": len(self.taken),
            "jobs": [job for job in self.taken if self.store.journal.effects.steps(job)],
            "published": left,
            "version": "" if head is None else head.id,
            "root": "" if head is None else head.root,
            "counts": {name: count for name, count in sorted(self.counts.items()) if count},
            "problems": problems,
        }

    def _take_all(self, there: Sequence[StrandName]) -> None:
        """Take in what believed signers left and is not here, each strand behind those that it tells changes of."""
        folder = self.store.path / STRANDS
        files.private_folder(folder)
        with TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
            waiting = self._wanted(self._believed(there), Path(scratch))
            while waiting:
                ready = (one for one, (_, strand) in waiting.items() if waiting.keys().isdisjoint(self._since(strand)))
                # Who signs may say that two strands tell of changes since each other: neither is imported then.
                self._take(*waiting.pop(next(ready, next(iter(waiting)))))

    def _believed(self, there: Sequence[StrandName]) -> dict[str, list[StrandName]]:
        """Return the names of each signer that is known, the newest first."""
        keys = self.keyring.keys()
        known = {digits_of(key.public)[:SHORT]: key for key in keys}
        self._others = {
            signer: digits_of(key.public) for signer, key in known.items() if key.trust is not Trust.USER_ASSERTED
        }
        found: dict[str, list[StrandName]] = {}
        for name in reversed(there):
            found.setdefault(name.signer, []).append(name)
        for signer, names in list(found.items()):
            key = known.get(signer)
            if key is None or key.revoked_at is not None:
                whose = "an unknown key" if key is None else f"{key.name!r}, a key that was revoked"
                self.problems.append(f"{len(names)} strands of {whose} ({signer}) were passed over")
                self._bad.update(found.pop(signer))
        return found

    def _key(self, name: StrandName) -> str:
        """Return the first digits of the id by which a strand's version is known here."""
        signer = self._others.get(name.signer)
        return name.version if signer is None else foreign_version_id(signer, name.version)[:SHORT]

    def _since(self, strand: Strand) -> set[str]:
        """Return the ids that the version may have here since which a strand tells of changes; none for one of all."""
        ids = (strand.version["since"], strand.since(self.store.journal))
        return {one[:SHORT] for one in ids if one is not None}

    def _here(self) -> set[str]:
        return {version[:SHORT] for version in contained_versions(self.store.journal, self.selection.named)}

    def _wanted(self, believed: Mapping[str, list[StrandName]], scratch: Path) -> dict[str, tuple[StrandName, Strand]]:
        """Fetch what is not here, by version: of each signer the newest strand, and the earlier ones that are needed.

        Needed are those whose content did not come with a later one, and those whose rows a later one tells changes of.
        """
        found: dict[str, tuple[StrandName, Strand]] = {}
        here, needed = self._here(), set[str]()
        for names in believed.values():
            came_with = set[str]()
            for name in names:
                if self._key(name) not in here | came_with | found.keys():
                    came_with |= self._fetch_one(name, scratch, found, needed)
        everything = [name for names in believed.values() for name in names]
        while more := [one for one in everything if self._key(one) in needed - found.keys() and one not in self._bad]:
            for name in more:
                if self._key(name) not in found:
                    self._fetch_one(name, scratch, found, needed)
        return found

    def _fetch_one(
        self, name: StrandName, scratch: Path, found: dict[str, tuple[StrandName, Strand]], needed: set[str]
    ) -> set[str]:
        """Fetch a strand into what was `found`, and note what it needs; return the versions that came with it."""
        strand = self._fetched(name, scratch)
        if strand is None:
            return set()
        found[self._key(name)] = (name, strand)
        said, since = strand.version, strand.since(self.store.journal)
        if since is not None and rows_known(self.store.path, since) is None:
            needed |= self._since(strand)
        before = (*said["parents"], *(one["id"] for one in said["ancestry"]))
        return {self._key(replace(name, version=one[:SHORT])) for one in before}

    def _fetched(self, name: StrandName, scratch: Path) -> Strand | None:
        """Return a strand of the place once it was verified; None where it is not what its name says."""
        self.ticket.progress(0, 0, f"fetching {name}")
        if self.ticket.cancelled:
            raise ConflictError("the sync was stopped; what was imported stays")
        file, began = scratch / str(name).replace("/", "-"), time.monotonic()
        try:
            if self._waited > _PATIENCE_SECONDS + self._fetched_bytes / _SLOWEST:
                raise ConflictError("the place was waited for too long", hint="sync with it again later")
            left = MOST_BYTES - self._fetched_bytes
            try:
                self.remote.fetch(str(name), file, min(left, shutil.disk_usage(scratch).free // 2))
            finally:
                self._waited += time.monotonic() - began
                self._fetched_bytes += file.stat().st_size if file.exists() else 0
            return Strand.by(self.keyring, file, verified(file, name, self.selection), self.opener)
        except _REFUSED as error:
            file.unlink(missing_ok=True)
            self._pass_over(name, error)
            return None

    def _take(self, name: StrandName, strand: Strand) -> None:
        try:
            if strand.id in contained_versions(self.store.journal, strand.version["selection"]):
                arriving.learn(self.store, strand, self.ticket)
                return
            job = self.store.runtime.make_id(self.store.runtime.clock())
            with self.still():
                report = arriving.take(self.store, strand, job, self.ticket)
        except _REFUSED as error:
            self._pass_over(name, error)
        else:
            self.taken.append(job)
            self.counts.update(report["counts"])

    def _pass_over(self, name: StrandName, error: HelixError) -> None:
        if self.ticket.cancelled:
            raise error
        if len(self.problems) < _MOST_PROBLEMS:
            log.warning("a strand was passed over", extra={"strand": str(name), "error": str(error)})
        self._bad.add(name)
        self.problems.append(f"{name} was passed over: {error}")

    def _leave(self, there: Sequence[StrandName]) -> str:
        """Leave what the store holds by now, unless somebody who is believed left just that; return the name."""
        outdated = outdated_by(self.store.path)
        renewing, wider = outdated != self.state.outdated, self._is_for_more()
        version = note_version(self.store, self.selection, who=self.sealing.name, why="sync")
        lies_there = {name.version for name in there if name not in self._bad and self._is_mine(name)}
        if version.root == Tree().root or (version.id[:SHORT] in lies_there and not (renewing or wider)):
            return ""
        listed = set() if renewing or wider else {str(name) for name in there}
        self.state.published = [one for one in self.state.published if one.name in listed]
        name, held = self._written(there, version, lies_there)
        self.state.seen[name.signer] = name.number
        self.state.published.append(held)
        self.state.opens = self._opening()
        if renewing:  # what was erased since is in all that was left before
            self.remote.remove([str(one) for one in there if one.signer == name.signer])
            self.state.outdated = outdated
        elif held.all:
            self._tidy(there)
        return str(name)

    def _is_for_more(self) -> bool:
        """Return whether somebody is to open what is left by now who cannot open what was left before."""
        left = self.terms.may_leave and self.state.published
        return bool(left) and not set(self.sealing.opens) <= set(self.state.opens)

    def _opening(self) -> list[str]:
        """Return what opens what is left: the keys that the last strand for keys was for, and a passphrase if ever."""
        before, now = set(self.state.opens), set(self.sealing.opens)
        return sorted(now | (before if LOCKED in now else before & {LOCKED}))

    def _is_mine(self, name: StrandName) -> bool:
        """Return whether it was signed by a key of one's own, or by that of the other side: what it has is there."""
        keys = {key.public for key in self.keyring.own_machines()} | ({self.terms.peer} if self.terms.peer else set())
        return any(digits_of(key).startswith(name.signer) for key in keys)

    def _written(
        self, there: Sequence[StrandName], version: StoredVersion, lies_there: set[str]
    ) -> tuple[StrandName, Published]:
        """Write a strand and leave it in the place."""
        outgoing = self._outgoing(version, lies_there)
        signer = bytes(self.sealing.signer.verify_key).hex()[:SHORT]
        number = 1 + max((one.number for one in there if one.signer == signer), default=0)
        number = min(max(number, 1 + self.state.seen.get(signer, 0)), LARGEST)
        folder = self.store.path / STRANDS
        files.private_folder(folder)
        with TemporaryDirectory(prefix=SCRATCH, dir=folder) as scratch:
            file, told = self._exported(Path(scratch), outgoing)
            name = StrandName(signer, number, told[:SHORT], digest_of(file)[:SHORT])
            self.ticket.progress(0, 0, f"leaving {name}")
            self.remote.publish(file, str(name))
        return name, Published(str(name), told, outgoing.since is None)

    def _exported(self, scratch: Path, outgoing: Outgoing) -> tuple[Path, str]:
        """Write the strand to a file, once more where somebody wrote to the store meanwhile."""
        for number in range(_TRIES):
            try:
                file = scratch / f"{number}.dna"
                return file, str(export(self.store, file, outgoing, self.sealing, self.ticket)["version"])
            except ConflictError:
                if self.ticket.cancelled or number == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _outgoing(self, version: StoredVersion, lies_there: set[str]) -> Outgoing:
        """Return what is to be left: all, or what changed since the versions there that led to this one."""
        published = self.state.published
        last_all = next((at for at in reversed(range(len(published))) if published[at].all), None)
        nearest = self._nearest(version, lies_there)
        if last_all is None or len(published) - last_all > MOST_CHANGES or not nearest:
            return Outgoing(selection=self.selection, why="sync")
        beside = tuple(one.id for one in nearest[1:])
        return Outgoing(selection=self.selection, since=nearest[0], beside=beside, why="sync")

    def _nearest(self, version: StoredVersion, lies_there: set[str]) -> list[StoredVersion]:
        """Return the versions from which this one came by ways with none between them; none where rows are not kept."""
        known, found, seen = self.store.journal.versions, list[StoredVersion](), set[str]()
        ahead = list(version.parents)
        while ahead:
            one = known.get(ident := ahead.pop(0))
            if ident in seen:
                continue
            seen.add(ident)
            if one is None or len(seen) > _MOST_STEPS:
                return []
            if ident[:SHORT] not in lies_there:
                ahead += one.parents
            elif rows_known(self.store.path, ident) is None:
                return []
            else:
                found.append(one)
        return found

    def _tidy(self, there: Sequence[StrandName]) -> None:
        """Take away what this store left before its last strand but one that holds all: nobody needs it any more."""
        published = self.state.published
        all_of_it = [at for at, one in enumerate(published) if one.all]
        if len(all_of_it) < 2:
            return
        self.state.published = published[all_of_it[-2] :]
        oldest, here = StrandName.read(self.state.published[0].name), self._here()
        assert oldest is not None
        old = [one for one in there if one.signer == oldest.signer and one.number < oldest.number]
        self.remote.remove([str(one) for one in old if one.version in here])


def _sorted(names: Iterable[str]) -> list[StrandName]:
    return sorted(name for text in names if (name := StrandName.read(text)) is not None)


def _shortened(problems: Sequence[str]) -> list[str]:
    more = len(problems) - _MOST_PROBLEMS
    return [*problems[:_MOST_PROBLEMS], *([f"and {more:,} more like these"] if more > 0 else [])]


def outdated_by(folder: Path) -> str:
    """Return what the last erasure noted for the places that strands are synced with; nothing where none has been."""
    try:
        return files.read_text(folder / STRANDS / OUTDATED, links=False)
    except FileNotFoundError:
        return ""


def _check_said(state: SyncState, asked: Sequence[str]) -> None:
    """Raise ConflictError where the other side asks for other scopes than a person here has said."""
    wanted = sorted(set(asked))
    if state.scopes == wanted:
        return
    named = [shlex.quote(inert(" ".join(one.split()))[:_LONGEST_SHOWN]) for one in wanted[:_MOST_SHOWN]]
    more = f" and {len(wanted) - _MOST_SHOWN} more" if len(wanted) > _MOST_SHOWN else ""
    options = " ".join(f"--scope {one}" for one in named)
    raise ConflictError(
        f"{state.place} wants to exchange {', '.join(named)}{more}; nothing was exchanged",
        hint=f"if it may have what this store has of that: `helix sync {state.place} {options}`",
    )


def start(
    store: Store,
    jobs: Jobs,
    worker: MemoryWorker,
    place: str,
    *,
    key: str | None = None,
    passphrase: str | None = None,
) -> Job:
    """Exchange strands with a place, as a job. Raises ConflictError while another job carries strands."""
    keyring = Keyring(store.runtime.settings.home, now=store.runtime.clock())

    def work(ticket: Ticket) -> Mapping[str, Any]:
        still = worker.standing_still
        return _carry_out(store, place, keyring, key=key, passphrase=passphrase, ticket=ticket, still=still)

    return jobs.start(arriving.JOB, work)


def _carry_out(
    store: Store,
    place: str,
    keyring: Keyring,
    *,
    key: str | None,
    passphrase: str | None,
    ticket: Ticket,
    still: Callable[[], AbstractContextManager[None]],
) -> dict[str, Any]:
    """Sync a store with a place for strands, and remember how that went; returns what `Syncing.run` does, or raises."""
    state, end = sync_state.read(store.journal, place), time.monotonic() + _MOST_SECONDS
    try:
        with closing(open_remote(store, place, lambda: ticket.cancelled or time.monotonic() > end)) as remote:
            terms = remote.terms()
            scopes = state.scopes if terms.scopes is None else terms.scopes
            sealing = (
                keyring.sealing_for_oneself(key, passphrase)
                if terms.peer is None
                else keyring.sealing_between(key, terms.peer)
            )
            if terms.asked:
                _check_said(state, terms.scopes or ())
            syncing = Syncing(
                store=store,
                remote=remote,
                terms=terms,
                selection=Selection.of(scopes),
                state=state,
                keyring=keyring,
                opener=keyring.opener(passphrase),
                sealing=sealing,
                ticket=ticket,
                still=still,
            )
            told = syncing.run()
        state.error = ""
        return told
    except (HelixError, OSError) as error:
        state.error = str(error)
        raise
    finally:
        state.at = to_micros(store.runtime.clock())
        now = sync_state.read(store.journal, place)  # somebody may have said otherwise meanwhile
        state.minutes, state.scopes = now.minutes, now.scopes
        sync_state.write(store, state)
