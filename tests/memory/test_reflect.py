"""Reflection: insights cite what they rest on, grow into trees, and go down with their evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from helix import settings as configuration
from helix.errors import InvalidInputError, NotFoundError
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.change.compose import Composer
from helix.memory.insight.insight_text import Item, Thought
from helix.memory.insight.insights import confidence_of, insight_tree, reflections
from helix.memory.insight.reflect import reflect, reflection_id
from helix.memory.job_run.run import Run
from helix.memory.upkeep.reembed import fill_in
from helix.model.edge import Label, Ref, Relation
from helix.model.memory import Kind, Memory, Status
from helix.model.provenance import Provenance, Trust, weakest_trust
from helix.model.recall import RecallQuery
from helix.model.reflection import Cited, Reflection
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment
from tests.waiting import UNHURRIED

PARSER = (
    "src/parser.py raises a KeyError when the header is missing.",
    "We decided to rewrite the header rules of src/parser.py with a table instead of regexes.",
    "src/parser.py is slow on a header above 2 MB, so we cache its tokens.",
    "A test for src/parser.py fails on Windows because the header has other line ends.",
)
DEPLOY = (
    "deploy/stage.yaml needs 4 replicas or the queue backs up.",
    "The rollout of deploy/stage.yaml failed since the queue had no image tag.",
    "deploy/stage.yaml was moved to the eu-west queue last week.",
)


def tell(store: Store, moment: Moment, texts: Sequence[str], trust: Trust = Trust.USER_ASSERTED) -> list[str]:
    ids = []
    for text in texts:
        moment.forward(minutes=1)
        recorded = record(store, EpisodeRequest(content=text, scope="app", role="user", trust=trust)).episode
        assert recorded is not None
        ids.append(recorded.id)
    while fill_in(store, lambda: False):
        pass
    return ids


def run(store: Store, job: str = "night", **payload: object) -> dict[str, object]:
    return dict(reflect(Run(store, job, "reflect"), payload))


def all_of(store: Store) -> list[Reflection]:
    return sorted(reflections(store, "app", 200).items, key=lambda one: (one.level, one.id))


def cited(store: Store, reflection: Reflection) -> set[str]:
    ref = Ref(label=Label.REFLECTION, id=reflection.id)
    return {
        edge.target.id for edge in store.records.edges_at(ref) if edge.type is Relation.CITES and edge.source == ref
    }


def put(store: Store, label: Label, node_id: str, status: Status) -> None:
    ref = Ref(label=label, id=node_id)
    Run(store, f"person {node_id} {status}", "forget").write("one", lambda one: one.patch(ref, status=status))


def test_what_lately_belongs_together_becomes_insights_that_cite_it(store: Store, moment: Moment) -> None:
    parser, deploy = tell(store, moment, PARSER), tell(store, moment, DEPLOY)
    tell(store, moment, ["Lunch was good."])
    assert run(store) == {"reflections added": 2}
    found = {frozenset(cited(store, one)): one for one in all_of(store)}
    assert found.keys() == {frozenset(parser), frozenset(deploy)}
    insight = found[frozenset(parser)]
    assert insight.question == "What keeps happening around src/parser.py?"
    assert insight.insight.startswith("src/parser.py, 4 times on 2 March 2026")
    assert "KeyError" in insight.insight and insight.level == 1
    assert insight.id == reflection_id("app", [Ref.episode(one) for one in parser])


def test_an_insight_counts_every_episode_and_tells_each_statement_once(store: Store, moment: Moment) -> None:
    for part in range(7):
        texts = (
            f"ConnectionError in src/upload.py while sending part {part}; retry with backoff fixed it",
            f"src/upload.py times out sending on slow links, attempt {part}: raised the timeout in config/net.toml",
        )
        tell(store, moment, texts)
        moment.forward(hours=12)
    run(store)
    (insight,) = all_of(store)
    assert insight.insight.startswith("src/upload.py, 14 times from 2 March 2026 to 5 March 2026, with ")
    _, _, told = insight.insight.partition(": ")
    assert told.count("ConnectionError") == told.count("times out") == 1 and "fixed it. user: src/upload.py" in told


@pytest.mark.parametrize("others", [(), ("src/parser.py raises a KeyError when a header is missing!",), PARSER[1:2]])
def test_one_sentence_over_and_over_is_no_insight(store: Store, moment: Moment, others: Sequence[str]) -> None:
    tell(store, moment, [*[PARSER[0]] * 4, *others])
    assert run(store) == {} and not all_of(store)


def test_an_insight_about_somebody_is_made_of_what_is_said_about_them(store: Store, moment: Moment) -> None:
    texts = (
        "Gina opened a dance studio for children in Rome. The weather in June was awful for all of the guests there.",
        "We bought 40 blue chairs for the hall. Gina wants to teach dance to small children.",
        "The bank said no to the second loan. Gina lost her studio in January.",
    )
    tell(store, moment, texts)
    run(store)
    insight = next(one for one in all_of(store) if "Gina" in one.question)
    told = insight.insight.partition(": ")[2]
    assert told and all("Gina" in sentence for sentence in told.rstrip(".").split(". "))
    assert not {"weather", "chairs", "loan"} & set(told.split())


def test_running_again_adds_nothing_and_new_evidence_adds_only_what_is_new(store: Store, moment: Moment) -> None:
    tell(store, moment, PARSER)
    run(store)
    before = all_of(store)
    assert run(store, "again") == {} and all_of(store) == before
    tell(store, moment, DEPLOY)
    assert run(store, "more") == {"reflections added": 1}
    assert [one for one in all_of(store) if one in before] == before


def test_recall_finds_an_insight_by_its_words_and_deep_its_archived_self(
    living: Helix, store: Store, moment: Moment
) -> None:
    ids = tell(store, moment, PARSER)
    run(store)
    (insight,) = all_of(store)

    def found(deep: bool = False) -> bool:
        items = living.recall(RecallQuery(query=insight.question, scope="app", deep=deep, everything=True)).items
        return insight.id in [item.node.id for item in items]

    assert found()
    for one in ids[:3]:
        put(store, Label.EPISODE, one, Status.FORGOTTEN)
    run(store, "after")
    assert not found() and found(deep=True)


def test_insights_with_something_in_common_become_a_tree_one_level_up(store: Store, moment: Moment) -> None:
    _grown(store, moment)
    top = max(all_of(store), key=lambda one: one.level)
    assert top.level == 2
    tree = insight_tree(store, top.id)
    assert [branch.ref.label for branch in tree.evidence] == [Label.REFLECTION, Label.REFLECTION]
    assert [branch.level for branch in tree.evidence] == [1, 1]
    leaves = [leaf for branch in tree.evidence for leaf in branch.evidence]
    assert len(leaves) == 6 and all(leaf.ref.label is Label.EPISODE and leaf.text and leaf.stands for leaf in leaves)
    assert top.insight.startswith("lib/core.py, 2 times from 2 March 2026 to 3 March 2026"), "episodes are counted"


def test_an_insight_loses_confidence_with_its_evidence_then_its_place_and_gets_both_back(
    store: Store, moment: Moment
) -> None:
    ids = tell(store, moment, PARSER)
    run(store)
    (insight,) = all_of(store)
    assert insight.confidence == confidence_of(4, Trust.USER_ASSERTED)
    put(store, Label.EPISODE, ids[0], Status.FORGOTTEN)
    assert run(store, "one") == {"reflections weighed anew": 1}
    assert all_of(store)[0].confidence == pytest.approx(0.75 * insight.confidence, abs=1e-4)
    assert [branch.stands for branch in insight_tree(store, insight.id).evidence] == [False, True, True, True]
    put(store, Label.EPISODE, ids[1], Status.QUARANTINED)
    put(store, Label.EPISODE, ids[2], Status.FORGOTTEN)
    run(store, "three")
    assert not all_of(store)
    for one in ids:
        put(store, Label.EPISODE, one, Status.ACTIVE)
    run(store, "back")
    assert all_of(store) == [insight]


def test_an_insight_on_insights_goes_with_them_in_one_run(store: Store, moment: Moment) -> None:
    ids = _grown(store, moment)
    for one in ids:
        put(store, Label.EPISODE, one, Status.FORGOTTEN)
    run(store, "gone")
    assert not all_of(store)


def test_what_a_person_forgot_stays_forgotten(store: Store, moment: Moment) -> None:
    tell(store, moment, PARSER)
    run(store)
    put(store, Label.REFLECTION, all_of(store)[0].id, Status.FORGOTTEN)
    assert run(store, "again") == {} and not all_of(store)


def test_a_dry_run_writes_nothing_and_shows_the_questions(store: Store, moment: Moment) -> None:
    tell(store, moment, PARSER)
    looked = Run(store, "look", "reflect", dry_run=True)
    reflect(looked, {"scope": "app"})
    assert looked.plan and "src/parser.py" in looked.plan[0] and not all_of(store)


def test_a_model_is_believed_where_it_cites_what_it_was_given_and_refused_elsewhere(
    store: Store, moment: Moment
) -> None:
    tell(store, moment, PARSER)

    def told(cites: Sequence[Item]) -> Thought:
        return Thought(question="Why?", insight="The parser is fragile.", cites=tuple(cites), model="scripted")

    def invents(items: Sequence[Item]) -> list[Thought]:
        stranger = replace(items[0], ref=Ref.episode("nowhere"))
        return [told([*items[:2], stranger]), told(items[:1])]

    reflect(Run(store, "invents", "reflect"), {}, think=invents)
    (by_rules,) = all_of(store)
    assert by_rules.provenance.model == "" and by_rules.question != "Why?"
    put(store, Label.REFLECTION, by_rules.id, Status.RETIRED)
    reflect(Run(store, "cites", "reflect"), {}, think=lambda items: [told(items[:3])])
    (by_model,) = all_of(store)
    assert (by_model.insight, by_model.provenance.model) == ("The parser is fragile.", "scripted")
    assert len(cited(store, by_model)) == 3


def test_lists_come_in_pages_and_what_is_not_there_is_said(store: Store, moment: Moment) -> None:
    tell(store, moment, PARSER)
    tell(store, moment, DEPLOY)
    run(store)
    first = reflections(store, None, 1)
    second = reflections(store, None, 1, first.next_cursor)
    assert first.total == 2 and second.next_cursor is None and first.items != second.items
    assert reflections(store, "elsewhere").total == 0
    with pytest.raises(InvalidInputError):
        reflections(store, None, 0)
    with pytest.raises(NotFoundError):
        insight_tree(store, "nothing")


def test_an_insight_in_an_agents_words_is_the_agents(store: Store, moment: Moment) -> None:
    """Though the episode that the memory was made of was the user's: it has been edited since."""
    ids = tell(store, moment, PARSER)
    memory = Memory(
        id="00000000-0000-7000-8000-00000000000a",
        name="parser",
        kind=Kind.DECISION,
        trigger="We decided that src/parser.py is run with PARSER_UNSAFE=1 on Windows.",
        resolution="",
        recorded_at=moment(),
        scope="app",
        provenance=Provenance(trust=Trust.AGENT_INFERRED),
    )

    def write(composer: Composer) -> None:
        composer.edge(Relation.GROUNDED_IN, composer.node(memory), Ref(label=Label.EPISODE, id=ids[0]))

    Run(store, "edit", "edit").write("one", write)
    run(store, "after")
    said = [one for one in all_of(store) if one.status is Status.ACTIVE and "PARSER_UNSAFE" in one.insight]
    assert said and {one.provenance.trust for one in said} == {Trust.AGENT_INFERRED}


@given(told=st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(Trust)), min_size=3, max_size=24))
@hypothesis_settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_trees_are_acyclic_levels_count_up_and_trust_is_bounded(
    told: list[tuple[str, Trust]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    moment, home = Moment(), tmp_path_factory.mktemp("trees")
    given_ = {"home": home, "db_path": home / "store", "consolidation_budget": 0.0}
    with Helix.open(
        configuration.load(given_, environ=UNHURRIED, cwd=home), embedder=HashEmbedder(64), clock=moment
    ) as helix:
        store = helix.store
        for number, (name, trust) in enumerate(told):
            tell(store, moment, [f"Step {number} changed src/{name}.py for lib/{name}{number % 2}.py."], trust)
        run(store)
        for one in all_of(store):
            tree = insight_tree(store, one.id)
            assert one.id not in _ids(tree.evidence)
            assert one.level == 1 + max(branch.level for branch in tree.evidence)
            nodes = store.records.nodes([branch.ref for branch in tree.evidence])
            assert one.provenance.trust is weakest_trust(*(node.provenance.trust for node in nodes))  # type: ignore[union-attr]
            assert 0.0 <= one.confidence <= confidence_of(10, one.provenance.trust) and len(nodes) <= 10
        assert run(store, "again") == {}


@given(st.integers(0, 50), st.sampled_from(Trust))
def test_confidence_grows_with_evidence_and_is_bounded_by_trust(pieces: int, trust: Trust) -> None:
    assert confidence_of(pieces, trust) < confidence_of(pieces + 1, trust) < 1.0
    assert all(
        confidence_of(pieces, other) <= confidence_of(pieces, trust) for other in Trust if other.rank > trust.rank
    )


def _grown(store: Store, moment: Moment) -> list[str]:
    """Record what makes two insights that share a thing, and one on both."""
    ids = []
    for name in ("alpha", "beta"):
        texts = (
            f"The index in src/{name}.py was split into two halves.",
            f"The lines of the index in src/{name}.py are sorted now.",
            f"The index of src/{name}.py raises a timeout when lib/core.py is slow.",
        )
        ids += tell(store, moment, texts)
        moment.forward(days=1)
    run(store)
    return ids


def _ids(evidence: Sequence[Cited]) -> set[str]:
    return {branch.ref.id for branch in evidence} | {one for branch in evidence for one in _ids(branch.evidence)}


def test_insights_wait_for_no_graph(store: Store, moment: Moment) -> None:
    tell(store, moment, PARSER)
    store.graph.suspend("busy")
    assert run(store) == {"reflections added": 1}
