"""Erasure: take words away for good, from every file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any

from helix.errors import ConflictError
from helix.memory.erasure import hard_forget as erase
from helix.memory.erasure import scan
from helix.memory.upkeep.recover import check_nothing_to_recover
from helix.model.erasure_report import ErasePlan, EraseReport, ScanReport
from helix.model.ids import Id
from helix.model.principal import Role
from helix.model.reports import Job
from helix.operations.listed import mutation, query_for
from helix.service import Helix
from helix.store.jobs import Ticket


@query_for(Role.ADMIN)
def erase_plan(helix: Helix, name_or_id: str) -> ErasePlan:
    """Show what a hard forget would take away for good; nothing is changed."""
    return erase.plan_hard_forget(helix.store, name_or_id)


@mutation(Role.ADMIN, person="erase for good")
def hard_forget(
    helix: Helix, name_or_id: str, confirm: Annotated[Id, "The id of the root that `erasePlan` shows."]
) -> Job:
    """Erase a memory or an episode from every file, for good; `confirm` is the id of the root of its `erasePlan`."""
    plan = erase.plan_hard_forget(helix.store, name_or_id)
    if confirm != plan.root.id:
        raise ConflictError(
            f"{confirm!r} does not confirm that {name_or_id!r} is erased for good",
            hint=f"confirm it with its id, {plan.root.id}; `erasePlan` shows what would go",
        )
    return _erasing(
        helix, lambda ticket: erase.hard_forget(helix.store, plan, ticket), lambda: erase.note(helix.store, plan)
    )


@mutation(Role.ADMIN, person_where={("apply", True): "erase for good"})
def scan_secrets(
    helix: Helix, apply: Annotated[bool, "Take the secrets out, for good; otherwise they are only listed."] = False
) -> Job:
    """Look with today's rules for secrets in everything that is stored, and with `apply` take them out for good."""
    return _erasing(
        helix,
        lambda ticket: scan.scan(helix.store, ticket, apply=apply),
        (lambda: scan.note(helix.store)) if apply else None,
    )


def _erasing(
    helix: Helix, work: Callable[[Ticket], EraseReport | ScanReport], note: Callable[[], object] | None
) -> Job:
    """Start what takes words away, one at a time.

    `note` is durable before the job is answered: a kill from then on has it finished at the next start.
    """
    if note is not None:
        check_nothing_to_recover(helix.store.path)

    def done(ticket: Ticket) -> Mapping[str, Any]:
        with helix.worker.standing_still():  # or what was read before could be written again after
            return asdict(work(ticket))

    return helix.jobs.start("erase", done, prepare=note)
