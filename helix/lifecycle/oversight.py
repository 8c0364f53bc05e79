"""Oversight: what the service offers people to look at, settle, take back and erase of what Helix has come to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from helix.errors import ConflictError, NotFoundError
from helix.lifecycle.capture import quarantine
from helix.lifecycle.erasure import erase, scan
from helix.lifecycle.insight import insights
from helix.lifecycle.recover import check_nothing_to_recover
from helix.lifecycle.truth import disputes, gaps, merge, unknowns
from helix.lifecycle.truth.claims import settle_stored
from helix.lifecycle.work.worker import Worker
from helix.model.dispute import Dispute, DisputeStatus
from helix.model.episode import Episode
from helix.model.erasure import ErasePlan, EraseReport, ScanReport
from helix.model.held import Held
from helix.model.insight import InsightTree
from helix.model.memory import Memory
from helix.model.reflection import Reflection
from helix.model.reports import Job, Page, StoreResult
from helix.recall.last import LastAnswers
from helix.store.jobs import Jobs, Ticket
from helix.store.store import Store


class Oversight:
    """The part of the service that people judge with; every method blocks and may be called from any thread."""

    _store: Store
    _jobs: Jobs
    _answers: LastAnswers
    _worker: Worker

    def unmerge(self, name_or_id: str) -> Memory:
        """Bring back a memory that was merged into another one."""
        return merge.unmerge(self._store, name_or_id)

    def note_gap(self, session: str = "", agent: str = "") -> StoreResult | None:
        """Remember that the last question of a session went unanswered; None where it was answered after all."""
        self._store.check_capture()
        answer = self._answers.of(session)
        if answer is None:
            raise NotFoundError("nothing was asked in this session yet", hint="ask first: `helix recall ...`")
        return unknowns.note_gap(self._store, answer, agent=agent)

    def reopen_gap(self, name_or_id: str) -> Memory:
        """Have a person say that what closed a gap did not answer it."""
        return gaps.reopen_gap(self._store, name_or_id)

    def contradictions(
        self, scope: str | None = None, status: DisputeStatus | None = DisputeStatus.OPEN
    ) -> list[Dispute]:
        """Return pairs of memories that cannot both hold, the oldest first; `status` None: whatever became of them."""
        return disputes.contradictions(self._store, scope, status)

    def resolve_contradiction(self, a: str, b: str, winner: str, note: str = "") -> Dispute:
        """Have a person say which of two memories holds: the name of one, `both` or `neither`."""
        return disputes.resolve_contradiction(self._store, a, b, winner, note)

    def reopen_contradiction(self, a: str, b: str) -> Dispute:
        """Take back what was said of a contradiction."""
        return disputes.reopen_contradiction(self._store, a, b)

    def review(self, scope: str | None = None, limit: int = 50, after: str | None = None) -> Page[Held]:
        """Return a page of what is kept from recall until a person has looked at it, newest first."""
        return quarantine.review(self._store, scope, limit, after)

    def accept(self, name_or_id: str, by: str = "") -> Memory | Episode | Reflection:
        """Let something quarantined be served; its trust stays what it was."""
        accepted = quarantine.accept(self._store, name_or_id, by)
        if isinstance(accepted, Memory):
            settle_stored(self._store, accepted)  # while it was held, it was set against nothing
        return accepted

    def reject(self, name_or_id: str, by: str = "") -> Memory | Episode | Reflection:
        """Have something quarantined forgotten."""
        return quarantine.reject(self._store, name_or_id, by)

    def reflections(self, scope: str | None = None, limit: int = 50, after: str | None = None) -> Page[Reflection]:
        """Return a page of insights, newest first."""
        return insights.reflections(self._store, scope, limit, after)

    def insight_tree(self, reflection_id: str) -> InsightTree:
        """Return an insight with what it rests on, down to the episodes."""
        return insights.insight_tree(self._store, reflection_id)

    def erase_plan(self, name_or_id: str) -> ErasePlan:
        """Return what a hard forget would take away; nothing is changed."""
        return erase.plan_hard_forget(self._store, name_or_id)

    def hard_forget(self, name_or_id: str, confirm: str) -> Job:
        """Erase a memory or an episode everywhere, for good; `confirm` is its id, as the plan gives it.

        Raises ConflictError for anything else, as nothing brings it back.
        """
        plan = erase.plan_hard_forget(self._store, name_or_id)
        if confirm != plan.root.id:
            raise ConflictError(
                f"{confirm!r} does not confirm that {name_or_id!r} is erased for good",
                hint=f"confirm it with its id, {plan.root.id}; `erasePlan` shows what would go",
            )
        return self._erasing(
            lambda ticket: erase.hard_forget(self._store, plan, ticket), lambda: erase.note(self._store, plan)
        )

    def scan_secrets(self, apply: bool = False) -> Job:
        """Look with today's rules for secrets in everything stored; `apply` takes them out of every file."""
        return self._erasing(
            lambda ticket: scan.scan(self._store, ticket, apply=apply),
            (lambda: scan.note(self._store)) if apply else None,
        )

    def _erasing(
        self, work: Callable[[Ticket], EraseReport | ScanReport], note: Callable[[], object] | None = None
    ) -> Job:
        """Start what takes words away, one at a time; the answers given last may quote them, and go too.

        `note` is durable before the job is answered: a kill from then on has it finished at the next start.
        """
        if note is not None:
            check_nothing_to_recover(self._store)

        def done(ticket: Ticket) -> Mapping[str, Any]:
            with self._worker.standing_still():  # or what was read before could be written again after
                report = work(ticket)
            self._answers.clear()
            return asdict(report)

        return self._jobs.start("erase", done, prepare=note)
