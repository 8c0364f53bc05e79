"""What a statement adds to one that is there is kept: the memory says it from then on, or a second one does."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.memory.contradiction.classify import agrees, same_subject
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.merge import merge_similar
from helix.model.memory import Status
from helix.model.reports import StoreStatus
from helix.operations import memories
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import installed_model
from helix.service import Helix
from helix.settings import Settings
from helix.text.statement.subsumption import adds

ROTATE = "Rotate the API keys of all production services every ninety days, and note it in the log of the vault."
MIGRATE = "Run the database migrations before the web tier is restarted, and wait for the replicas to catch up."
KEEP = "We keep invoices in the archive bucket and delete them after the legal retention period"
ADDED = [
    (ROTATE, f"{ROTATE} Ask Dana first."),
    (MIGRATE, f"{MIGRATE} Take a backup beforehand."),
    (f"{KEEP}.", f"{KEEP}, except for Swiss customers."),
]


@pytest.fixture(scope="module")
def real_embedder(models_path: Path) -> LocalEmbedder:
    """The default model: how near it has two texts is what makes them one."""
    return LocalEmbedder(installed_model("bge-small-en-v1.5-int8", models_path))


@pytest.mark.parametrize(("known", "said"), ADDED)
def test_storing_keeps_what_is_added(settings: Settings, real_embedder: LocalEmbedder, known: str, said: str) -> None:
    with Helix.open(settings, embedder=real_embedder) as helix:
        first = memories.store(helix, StoreRequest(trigger=known, resolution="", kind="convention"))
        told = memories.store(helix, StoreRequest(trigger=said, resolution="", kind="convention"))
        assert told.status is StoreStatus.UPDATED
        assert (told.name, memories.get(helix, told.id).trigger) == (first.name, said)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Ask Dana first.", "Thanks, that is all!"),
        ("Take a backup of the vault beforehand.", "Please use the German labels there."),
        ("Never rotate them on a Friday.", "Please use the German labels there."),
    ],
)
def test_another_rest_under_one_first_sentence_retires_nothing(
    settings: Settings, real_embedder: LocalEmbedder, known: str, said: str
) -> None:
    with Helix.open(settings, embedder=real_embedder) as helix:
        ids = [
            memories.store(helix, StoreRequest(trigger=ROTATE, resolution=rest, kind="convention")).id
            for rest in (known, said)
        ]
        told = [memories.get(helix, each) for each in ids]
    assert [(one.resolution, one.status) for one in told] == [(known, Status.ACTIVE), (said, Status.ACTIVE)]


def test_of_a_topic_the_later_word_holds(settings: Settings, real_embedder: LocalEmbedder) -> None:
    with Helix.open(settings, embedder=real_embedder) as helix:
        for rest in ("Tuesdays and Thursdays after standup.", "Mondays before lunch."):
            asked = StoreRequest(trigger="Deploy window", resolution=rest, kind="convention")
            last = memories.store(helix, asked)
        assert last.status is StoreStatus.UPDATED


@pytest.mark.parametrize(("known", "said"), ADDED)
def test_no_upkeep_folds_it_away(settings: Settings, real_embedder: LocalEmbedder, known: str, said: str) -> None:
    with Helix.open(settings, embedder=real_embedder) as helix:
        ids = []
        for text in (known, said):
            told = {"scope": f"for {len(text)}", "name": f"of-{len(text)}"}
            asked = StoreRequest(trigger=text, resolution="", kind="convention", **told)
            ids.append(memories.edit(helix, memories.store(helix, asked).id, EditRequest(scope="global")).id)
        counts = merge_similar(Run(helix.store, "job", "merge_similar"), {})
        statuses = [memories.get(helix, each).status for each in ids]
    assert "memories merged" not in counts
    assert statuses == [Status.ACTIVE, Status.ACTIVE]


def test_another_wording_adds_nothing() -> None:
    assert not adds(MIGRATE, "Wait for the replicas to catch up; run the migrations of the database first.")
    assert not adds("Teams walked into a restricted area.", "Some teams walked into the restricted areas")
    assert not adds("Dean vowed to attack", "Just remember: Dean vowed to attack")
    assert not adds("A man dives into a pool.", "A man dives into a swimming pool.")
    assert adds("Dean vowed to attack", "Dean vowed to attack. Always in public.")


def test_a_word_far_behind_tells_two_long_texts_apart() -> None:
    trees = ("alder", "birch", "cedar", "hazel")
    long = " ".join(f"{tree}{letter}" for tree in trees for letter in "bcdfghjklmnpqrstvw")
    one, other = f"{long}. Ask Dana first", f"{long}. Ask Robert first"
    assert not agrees(one, other)
    assert not same_subject(one, other)
