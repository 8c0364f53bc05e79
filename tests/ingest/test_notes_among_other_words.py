"""Whatever people, agents and two repositories make of rules between readings, each reading leaves what it should."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helix.ingest.note_kinds import kind_of
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.operations import ingest, memories, review
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.sampling import draws
from tests.waiting import finished

RULES = (
    "Always run the linter before pushing a branch.",
    "The API server listens on port 8410.",
    "Never commit generated files to the repository.",
)
CONTRARY = "The API server listens on port 9999."
FILES = ("A.md", "B.md")
REPOSITORIES = ("back", "front")

SAID = st.lists(st.sampled_from(RULES), unique=True)
TREES = st.dictionaries(st.sampled_from(FILES), SAID, max_size=2)
Read = tuple[Literal["read"], str, dict[str, list[str]], bool]
Made = tuple[Literal["edit", "name", "merge", "user", "agent"], int]
READ = st.tuples(st.just("read"), st.sampled_from(REPOSITORIES), TREES, st.booleans())
MADE = st.tuples(st.sampled_from(["edit", "name", "merge", "user", "agent"]), st.integers(0, 3))


@dataclass
class Shop:
    """A scope of two repositories, with what is known of their rules."""

    helix: Helix
    folder: Path
    scope: str
    said: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """The rules of each file of a repository by its last reading."""
    mine: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Those by the last reading that the user stood for."""
    touched: set[str] = field(default_factory=set)
    """Words that somebody else said, contradicted, edited or merged."""
    worded: set[str] = field(default_factory=set)
    """Words that a person gave to a rule."""

    def standing(self) -> list[Memory]:
        """Return the rules that stand."""
        active = memories.memories(self.helix, MemoryFilter(scope=self.scope, status=[Status.ACTIVE]), first=200).items
        return sorted((one for one in active if "short" not in one.trigger), key=lambda one: one.trigger)

    def read(self, repository: str, tree: dict[str, list[str]], mine: bool) -> None:
        """Ingest a repository with these files, twice: the second time changes nothing."""
        root = self.folder / repository
        (root / ".git").mkdir(parents=True, exist_ok=True)
        (root / ".git/config").write_text(f'[remote "o"]\nurl = git@e.org:{self.scope}/{repository}.git\n', "utf-8")
        for name in FILES:
            (root / name).unlink(missing_ok=True)
            told = tree.get(name, [])
            if name in tree:
                rules = "".join(f"- {rule}\n" for rule in told)
                kept = "".join(f"- Keep the {part} of {name} of {repository} short.\n" for part in ("head", "rest"))
                (root / name).write_text(f"# Rules\n\n{kept}{rules}", "utf-8")
            self.said[repository, name] = set(told)
            if mine:
                self.mine[repository, name] = set(told)
        for _ in range(2):
            before = self.helix.store.journal.last_seq
            finished(self.helix, ingest.ingest_notes(self.helix, [str(root)], scope=self.scope, mine=mine))
        assert self.helix.store.journal.last_seq == before, "read again, nothing changes"

    def make(self, what: str, number: int) -> None:
        """Have a person edit, name or merge a rule, or have them or an agent store one."""
        standing = self.standing()
        if what in ("user", "agent"):
            text = (*RULES, CONTRARY)[number]
            self.touched |= {text, *((RULES[1], CONTRARY) if text in (RULES[1], CONTRARY) else ())}
            kind, agent = kind_of(text, "Rules").value, "claude" if what == "agent" else ""
            request = StoreRequest(trigger=text, resolution="", kind=kind, scope=self.scope, agent=agent)
            memories.store(self.helix, request)
            return
        if not standing:
            return
        one, other = standing[number % len(standing)], standing[(number + 1) % len(standing)]
        if what == "name":
            memories.edit(self.helix, one.id, EditRequest(name=f"named-{self.helix.store.journal.last_seq}"))
        elif what == "edit":
            text = f"{one.trigger.rstrip('.')} and tell Kim {self.helix.store.journal.last_seq}."
            memories.edit(self.helix, one.id, EditRequest(trigger=text))
            self.touched |= {one.trigger, text}
            self.worded = self.worded - {one.trigger} | {text}
        elif one.id != other.id:
            review.settle_duplicate(self.helix, one.id, other.id, other.id)
            self.touched |= {one.trigger, other.trigger}
            self.worded -= {one.trigger}

    def check(self) -> None:
        """Hold what stands against what the files say and others said."""
        standing = self.standing()
        words = [one.trigger for one in standing]
        holding = [one.trigger for one in standing if one.valid_to is None]
        assert len(holding) == len(set(holding)), "nothing holds twice"
        assert self.worded <= set(words), "a person's words stay"
        said = {rule for rules in self.said.values() for rule in rules}
        mine = {rule for rules in self.mine.values() for rule in rules}
        assert said - self.touched <= set(words)
        assert set(words) - self.touched <= said | mine, "what nobody says is gone"
        for one in standing:
            if one.trigger not in self.touched:
                assert (one.provenance.trust is Trust.USER_ASSERTED) == (one.trigger in mine)


@settings(max_examples=draws(8), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example(
    steps=[
        ("read", "back", {"A.md": [RULES[1]]}, False),
        ("read", "front", {"A.md": [RULES[1]]}, True),
        ("read", "front", {}, True),
    ]
)
@given(steps=st.lists(READ | MADE, min_size=3, max_size=8))
def test_what_was_made_of_rules_between_readings_holds(helix: Helix, tmp_path: Path, steps: list[Read | Made]) -> None:
    scope = helix.store.runtime.make_id(helix.store.runtime.clock())
    shop = Shop(helix, tmp_path / scope, scope)
    for step in steps:
        if step[0] == "read":
            shop.read(*step[1:])
            shop.check()
        else:
            shop.make(*step)
