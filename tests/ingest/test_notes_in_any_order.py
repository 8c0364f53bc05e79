"""Whatever becomes of files of notes, a rule stands exactly as long as one of them says it, and never twice."""

from __future__ import annotations

import copy
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.operations import ingest, memories
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.sampling import draws
from tests.waiting import finished

FILES = ("A.md", "B.md", "sub/C.md")
MATTERS = ("alpha", "bravo", "charlie", "delta")
HEADINGS = ("Rules", "How we work", "For @acme (~30 s)")
Tree = dict[str, dict[str, list[str]]]
"""The matters of the rules under each heading of each file."""

SECTIONS = st.dictionaries(st.sampled_from(HEADINGS), st.lists(st.sampled_from(MATTERS), unique=True), max_size=3)
TREES = st.dictionaries(st.sampled_from(FILES), SECTIONS, max_size=3)
STEPS = st.lists(st.tuples(TREES, st.booleans()), min_size=2, max_size=5)


def write(folder: Path, tree: Tree) -> None:
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    for name, sections in tree.items():
        (folder / name).parent.mkdir(exist_ok=True)
        told = (
            f"# {heading}\n\n" + "".join(f"- Always check the {matter} module before a merge.\n" for matter in said)
            for heading, said in sections.items()
        )
        (folder / name).write_text("\n".join(told), "utf-8")


@settings(max_examples=draws(6), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=STEPS, mine=st.sampled_from([True, False, None]))
def test_a_rule_stands_exactly_as_long_as_a_file_says_it(
    helix: Helix, tmp_path: Path, steps: list[tuple[Tree, bool]], mine: bool | None
) -> None:
    """`mine` None: the user stands for some readings. Then what a later one says no more may stand beside it."""
    scope = helix.store.runtime.make_id(helix.store.runtime.clock())
    folder = tmp_path / scope
    folder.mkdir()
    (folder / ".git").mkdir()
    for tree, now_mine in [*steps, copy.deepcopy(steps[0])]:
        stood_for = now_mine if mine is None else mine
        write(folder, tree)
        told = {matter for sections in tree.values() for said in sections.values() for matter in said}
        rows = set[str]()
        for again in range(2):
            finished(helix, ingest.ingest_notes(helix, [str(folder)], scope=scope, mine=stood_for))
            standing = memories.memories(helix, MemoryFilter(scope=scope, status=[Status.ACTIVE])).items
            assert not again or {one.id for one in standing} == rows, "read again, nothing changes"
            rows = {one.id for one in standing}
        by_matter = {
            matter: [one for one in standing if f"the {matter} module" in f"{one.trigger} {one.resolution}"]
            for matter in MATTERS
        }
        assert {matter for matter, found in by_matter.items() if found} >= told
        if mine is not None or stood_for:
            assert {matter for matter, found in by_matter.items() if found} == told
        words = [(one.trigger, one.resolution) for one in standing]
        assert len(words) == len(set(words)), "nothing stands twice"
        if stood_for:
            assert {one.provenance.trust for one in standing} <= {Trust.USER_ASSERTED}
        elif mine is False:
            assert Trust.USER_ASSERTED not in {one.provenance.trust for one in standing}
