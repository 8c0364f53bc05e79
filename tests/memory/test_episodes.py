"""Capture is acknowledged without a model, found at once by its words, and keeps out what is not to be recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from helix.errors import ConflictError, InvalidInputError, ModelError
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.upkeep import reembed
from helix.model.edge import Label
from helix.model.episode import Episode
from helix.model.recall import RecallQuery
from helix.operations import background_work, capture, upkeep
from helix.providers.embedder import Vectors
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store


class SilentEmbedder(HashEmbedder):
    """A model that cannot be loaded: nothing that is acknowledged may have waited for it."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise ModelError("this model cannot be loaded")


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = Store(settings, embedder=SilentEmbedder())
    yield opened
    opened.close()


def recorded(store: Store, content: str, **fields: object) -> Episode:
    episode = record(store, EpisodeRequest(content=content, **fields)).episode  # type: ignore[arg-type]
    assert episode is not None
    return episode


def test_an_episode_is_durable_without_the_model(store: Store) -> None:
    episode = recorded(store, "the linker needs zstd", session="s", agent="ada")
    assert store.records.node(store.catalogue.view.ref_of(store.catalogue.view.count - 1)) is not None
    passages, _ = store.catalogue.view.words.search(["zstd"])
    assert passages.size == 1
    assert reembed.lacking(store) == 1
    assert store.journal.spaces.count_missing_active() == 1
    assert episode.content == "the linker needs zstd"


def test_vectors_are_filled_in_under_the_same_number(store: Store) -> None:
    for number in range(5):
        recorded(store, f"episode {number} about kappa{number}")
    before = store.catalogue.view.passages
    store.runtime.embedder = HashEmbedder()
    assert reembed.fill_in(store, lambda: False) == 5
    after = store.catalogue.view.passages
    assert after.numbers.tolist() == before.numbers.tolist()
    assert after.alive.all()
    assert after.embedded.all()
    assert store.journal.spaces.count_missing_active() == 0
    found, _ = store.catalogue.view.words.search(["kappa3"])
    assert found.size == 1
    assert reembed.fill_in(store, lambda: False) == 0


def test_filling_in_stops_where_it_is_asked_to_rest(store: Store) -> None:
    for number in range(6):
        recorded(store, f"episode {number}")
    store.runtime.embedder = HashEmbedder()
    asked = iter((False, True))
    assert reembed.fill_in(store, lambda: next(asked)) == 1
    assert reembed.lacking(store) == 5


def test_what_changed_while_it_was_embedded_is_left_alone(store: Store) -> None:
    episode = recorded(store, "about to be rewritten")
    store.runtime.embedder = HashEmbedder()

    def rewrite() -> bool:
        if reembed.lacking(store) == 1 and store.catalogue.view.passages.count == 1:
            passage = store.records.passage(1)
            assert passage is not None
            newer = type(passage)(id=passage.id, number=2, owner=passage.owner, text="rewritten")
            store.writer.submit(lambda: reembed.Decision((reembed.Change(kind="test", operations=(newer,)),), None))
        return False

    assert reembed.fill_in(store, rewrite) == 0
    assert store.records.passage(2) is not None
    assert reembed.fill_in(store, lambda: False) == 1
    assert store.records.node(store.catalogue.view.ref_of(0)).id == episode.id


def test_a_running_helix_fills_in_by_itself(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert helix.worker.settle(30)
        for number in range(70):
            capture.record_episode(helix, EpisodeRequest(content=f"the build of part {number} went red"))
        answer = helix.recall(RecallQuery(query="build of part 42", labels=(Label.EPISODE,)))
        assert "42" in answer.items[0].node.content  # type: ignore[union-attr]
        assert helix.worker.settle(30)
        assert upkeep.stats(helix).embedding_coverage == 1.0
        assert not helix.jobs.all()
        assert upkeep.doctor(helix).healthy


def test_the_next_start_fills_in_what_the_last_one_left(settings: Settings) -> None:
    store = Store(settings, embedder=HashEmbedder())  # without a worker, as if it had been killed
    recorded(store, "left behind")
    store.close()
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        assert helix.worker.settle(30)
        assert upkeep.stats(helix).embedding_coverage == 1.0


def test_a_model_that_fails_is_tried_again_and_words_go_on(settings: Settings) -> None:
    with Helix.open(settings, embedder=SilentEmbedder()) as helix:
        capture.record_episode(helix, EpisodeRequest(content="found by words alone"))
        assert not helix.worker.settle(0.7)
        assert background_work.background(helix).lacking_vectors == 1
        assert helix.recall(RecallQuery(query="found by words")).items


def test_episodes_keep_what_they_were_given(store: Store) -> None:
    plain = recorded(store, "ok")
    told = recorded(store, "a root cause: the deadlock", source="chat:1", role="user", importance=9.5)
    again = recorded(store, "a root cause: the deadlock", source="chat:1")
    with pytest.raises(ConflictError, match="chat:1"):  # to drop words without a word would lose them
        recorded(store, "the same place, other words", source="chat:1")
    assert (plain.importance, told.importance, told.role) == (2.0, 9.5, "user")
    assert again == told
    for wrong in ({"role": "boss"}, {"importance": 11.0}):
        with pytest.raises(InvalidInputError):
            recorded(store, "x", **wrong)


def test_secrets_are_named_and_never_kept(store: Store) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    answer = record(store, EpisodeRequest(content=f"export TOKEN={secret}"))
    assert answer.redacted
    assert answer.episode is not None
    assert secret not in answer.episode.content


def test_what_the_project_ignores_is_not_recorded(store: Store, tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / ".helixignore").write_text("secrets/\n*.pem\n", "utf-8")
    (root / "docs" / ".helixignore").write_text("draft.md\n", "utf-8")

    def attempt(*files: str) -> bool:
        request = EpisodeRequest(content=f"edited {len(files)} files", files=files, project=str(root))
        answer = record(store, request)
        assert (answer.episode is None) == bool(answer.reason)
        return answer.episode is not None

    assert not attempt("secrets/a.txt")
    assert not attempt(str(root / "server.pem"), "docs/draft.md")
    assert attempt("docs/final.md")
    assert attempt("secrets/a.txt", "docs/final.md")
    assert attempt("../elsewhere/server.pem"), "what lies outside is not the project's to exclude"
    assert attempt()
    view = store.catalogue.view
    entities = store.records.nodes(
        [ref for row in range(view.count) if (ref := view.ref_of(row)).label is Label.ENTITY]
    )
    assert [entity.name for entity in entities if "secrets" in entity.name] == []  # type: ignore[union-attr]
    assert record(store, EpisodeRequest(content="no root", files=("secrets/a.txt",))).episode is not None
    with pytest.raises(InvalidInputError, match="absolute"):
        record(store, EpisodeRequest(content="x", files=("a",), project="webshop"))


def test_a_link_to_an_ignored_file_is_ignored_too(store: Store, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("x", "utf-8")
    (tmp_path / "open.txt").symlink_to(tmp_path / "private.txt")
    (tmp_path / ".helixignore").write_text("private.txt\n", "utf-8")
    request = EpisodeRequest(content="read it", files=("open.txt",), project=str(tmp_path))
    assert record(store, request).episode is None


def test_the_rules_of_every_folder_above_a_file_hold_whatever_folder_a_person_works_in(
    store: Store, tmp_path: Path
) -> None:
    root, work = tmp_path / "project", tmp_path / "project" / "sub"
    (root / ".git").mkdir(parents=True)
    work.mkdir()
    (root / ".helixignore").write_text("secret/\n*.env\n", "utf-8")
    (tmp_path / ".helixignore").write_text("*.txt\n", "utf-8")
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    (other / ".helixignore").write_text("/deep/*.key\n", "utf-8")

    def attempt(file: object, project: object = work) -> bool:
        request = EpisodeRequest(content=f"read {file} in {project}", files=(str(file),), project=str(project))
        return record(store, request).episode is not None

    for project in (work, root, tmp_path, other, ""):
        assert not attempt(root / "secret" / "x.txt", project)
        assert not attempt(root / "a.env", project)
        assert not attempt(other / "deep" / "a.key", project)
        assert not attempt(other / "notes.txt", project), "outside of a repository, up to the root of the file system"
    assert not attempt("../secret/x.txt")
    assert not attempt("../a.env")
    assert attempt("../notes.txt"), "what lies above a repository has no say in it"
    assert attempt("../a.txt", work)
    assert not attempt("project/sub/notes.txt", project=tmp_path), "but for the project that is named"
    assert attempt("../main.py")
    (root / "link.md").symlink_to(root / "secret" / "x.txt")
    assert not attempt("../link.md")
