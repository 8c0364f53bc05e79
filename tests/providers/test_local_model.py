"""What a folder of model files is taken for, and which space its vectors lie in."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from helix.errors import ConfigError, ModelError, NotFoundError
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import folder_model, installed_model, library_model

NAME = "bge-small-en-v1.5-int8"


@pytest.fixture
def folder(models_path: Path, tmp_path: Path) -> Path:
    """A copy of the default model with a change that makes it an unknown one of the same vectors."""
    copy = shutil.copytree(models_path / NAME, tmp_path / "mine")
    configuration = copy / "tokenizer_config.json"
    configuration.write_text(json.dumps(json.loads(configuration.read_text("utf-8"))), "utf-8")
    return copy


def write_pooling(folder: Path, **content: object) -> None:
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(content), "utf-8")


def test_files_of_a_known_model_are_recognized_wherever_they_lie(models_path: Path, tmp_path: Path) -> None:
    elsewhere = shutil.copytree(models_path / NAME, tmp_path / "elsewhere")
    assert folder_model(elsewhere).space == installed_model(NAME, models_path).space


def test_own_folder_is_run_as_its_pooling_says(folder: Path, real_embedder: LocalEmbedder) -> None:
    write_pooling(folder, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False, word_embedding_dimension=384)
    by_cls = folder_model(folder)
    write_pooling(folder, pooling_mode_cls_token=False, pooling_mode_mean_tokens=True, word_embedding_dimension=384)
    by_mean = folder_model(folder)
    assert by_cls.name == "mine"
    assert len({by_cls.space, by_mean.space, real_embedder.space}) == 3
    expected = real_embedder.embed(["some text"])
    assert np.allclose(LocalEmbedder(by_cls).embed(["some text"]), expected, atol=1e-6)
    assert not np.allclose(LocalEmbedder(by_mean).embed(["some text"]), expected, atol=1e-2)


def test_pooling_is_never_guessed(folder: Path) -> None:
    with pytest.raises(ModelError, match="how its vectors are pooled"):
        folder_model(folder)
    write_pooling(folder, pooling_mode_cls_token=True, pooling_mode_mean_tokens=True, word_embedding_dimension=384)
    with pytest.raises(ModelError, match="how its vectors are pooled"):
        folder_model(folder)
    write_pooling(folder, pooling_mode_cls_token=True)
    with pytest.raises(ModelError, match="dimension"):
        folder_model(folder)


def test_a_text_that_a_tokenizer_panics_at_costs_no_other_its_vector(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    pattern = {"type": "Split", "pattern": {"Regex": "(a|a|aa)+$"}, "behavior": "Isolated", "invert": False}
    (folder / "tokenizer.json").write_text(json.dumps({**tokenizer, "pre_tokenizer": pattern}), "utf-8")
    write_pooling(folder, pooling_mode_cls_token=True, word_embedding_dimension=384)
    embedder = LocalEmbedder(folder_model(folder))
    poison, plain = embedder.embed(["a" * 60 + "b", "eels"])
    assert np.allclose(poison, poison.size**-0.5) and not np.allclose(plain, poison, atol=1e-2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the library that runs static models
@pytest.mark.parametrize("weight", [np.nan, np.inf, 3e38])
def test_weights_that_are_no_numbers_make_no_vector(
    light_embedder: LocalEmbedder, tmp_path: Path, weight: float
) -> None:
    folder = shutil.copytree(light_embedder._model.folder, tmp_path / "mine")
    identifier = Tokenizer.from_file(str(folder / "tokenizer.json")).encode("otter", add_special_tokens=False).ids[0]
    with (folder / "model.safetensors").open("r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        tensor = json.loads(file.read(length))["embeddings"]
        file.seek(8 + length + tensor["data_offsets"][0] + identifier * tensor["shape"][1] * 4)
        file.write(np.full(tensor["shape"][1], weight, np.float32).tobytes())
    odd, plain = LocalEmbedder(folder_model(folder)).embed(["otter", "eels"])
    assert np.isfinite(odd).all() and np.allclose(np.linalg.norm([odd, plain], axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize("dimension", [0, -1, 1 << 16 | 1, 1 << 40, "8"])
def test_a_dimension_that_no_store_can_keep_is_refused(folder: Path, dimension: object) -> None:
    write_pooling(folder, pooling_mode_cls_token=True, word_embedding_dimension=dimension)
    with pytest.raises(ModelError, match="dimension"):
        folder_model(folder)


def test_wrong_dimension_is_found_when_the_model_is_loaded(folder: Path) -> None:
    write_pooling(folder, pooling_mode_cls_token=True, word_embedding_dimension=512)
    with pytest.raises(ModelError, match="gives 384 dimensions, not 512"):
        LocalEmbedder(folder_model(folder)).warm()


def test_model_that_cannot_be_loaded_is_named(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")
    write_pooling(folder, pooling_mode_cls_token=True, word_embedding_dimension=384)
    with pytest.raises(ModelError, match=r"'mine'.*cannot be loaded"):
        LocalEmbedder(folder_model(folder)).warm()


def test_tokenizer_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}", "utf-8")
    write_pooling(folder, pooling_mode_cls_token=True, word_embedding_dimension=384)
    with pytest.raises(ModelError, match=r"'mine'.*cannot be loaded"):
        LocalEmbedder(folder_model(folder)).embed(["text"])


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_folder_without_a_needed_file_is_refused(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=r"no model|has no"):
        folder_model(folder)


@pytest.mark.parametrize("content", ["{", "[]"])
def test_broken_configuration_is_refused_by_path(folder: Path, content: str) -> None:
    (folder / "config.json").write_text(content, "utf-8")
    with pytest.raises(ModelError, match=r"config\.json"):
        folder_model(folder)


def test_space_changes_with_every_part_of_its_identity(models_path: Path) -> None:
    model = installed_model(NAME, models_path)
    changed = [
        replace(model, name="other"),
        replace(model, dimension=128),
        replace(model, normalized=False),
        replace(model, hashes={**model.hashes, "model.onnx": "0" * 64}),
    ]
    digests = {variant.space.digest for variant in (model, *changed)}
    assert len(digests) == 5
    assert replace(model, folder=Path("elsewhere")).space == model.space


def test_model_that_is_not_installed_says_how_to(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not installed") as caught:
        installed_model(NAME, tmp_path)
    assert caught.value.hint == f"run `helix models install {NAME}`"
    with pytest.raises(NotFoundError):
        installed_model("nonesuch", tmp_path)
    with pytest.raises(ConfigError, match="reranker"):
        installed_model("ms-marco-MiniLM-L12-int8", tmp_path)


def test_model_of_the_hub_is_not_fetched_unless_allowed(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"BAAI/bge-small-en-v1\.5") as caught:
        library_model("baai/BGE-small-en-v1.5", tmp_path / "hub", hub=False)
    assert "model_hub" in (caught.value.hint or "")
    (tmp_path / "hub").mkdir()
    with pytest.raises(ModelError, match=r"BAAI/bge-small-en-v1\.5"):
        library_model("BAAI/bge-small-en-v1.5", tmp_path / "hub", hub=False)


def test_name_that_fastembed_does_not_know_is_a_wrong_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nonesuch"):
        library_model("nonesuch", tmp_path, hub=False)
