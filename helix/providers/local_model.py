"""Embedding models on this machine: what a folder of files is, and which space its vectors lie in.

Nothing here loads a model. The space is derived from the hashes of the files, so that it is known, and can be compared
with the store's, before the first vector is made. `readable` is a text as a tokenizer can take it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helix import files
from helix.errors import ConfigError, ModelError
from helix.model.operations import MOST_NUMBERS
from helix.providers.embedder import EmbeddingSpace
from helix.providers.install import FileState, is_complete, sha256_of, states
from helix.providers.model_catalogue import BGE_QUERY_PREFIX, KNOWN, Model, Pooling, known

_MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "onnx/model_optimized.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
_STATIC_FILE = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_TOKENIZER_CONFIG = "tokenizer_config.json"
_OPTIONAL_FILES = ("config.json", "special_tokens_map.json")
_POOLING_CONFIG = "1_Pooling/config.json"
_POOLING_MODES = {
    "pooling_mode_cls_token": Pooling.CLS,
    "pooling_mode_mean_tokens": Pooling.MEAN,
    "pooling_mode_lasttoken": Pooling.LAST_TOKEN,
}
_DEFAULT_TOKENS = 512
_BGE_ENGLISH = re.compile(r"BAAI/bge-\w+-en(-v[\d.]+)?")
_MOST_TOKENS = 8192

_HUB_HINT = "set model_hub to fetch it, or use an installed model"

STATIC_LIBRARY_NAME = "minishlab/potion-base-8M"
"""The name under which fastembed runs any static model from a folder; its files alone decide the vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """An embedding model's files. `hashes` are what the files must have when they are loaded.

    `library_name` is the name by which fastembed runs the model, or None where `pooling` tells how to run it.
    """

    name: str
    folder: Path
    model_file: str
    dimension: int
    pooling: Pooling
    normalized: bool
    max_tokens: int
    hashes: Mapping[str, str]
    library_name: str | None = None
    query_prefix: str = ""

    @property
    def space(self) -> EmbeddingSpace:
        """The space of the model's vectors: any other file, pooling or dimension is another space."""
        identity = {
            "model": self.name,
            "dimension": self.dimension,
            "pooling": self.pooling.value,
            "normalized": self.normalized,
            "files": dict(self.hashes),
        }
        canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        digest = hashlib.sha256(canonical.encode("ascii")).hexdigest()
        return EmbeddingSpace(model=self.name, dimension=self.dimension, digest=digest)

    def check(self) -> None:
        """Hash the files of a local model. Raises ModelError naming those that are missing or damaged."""
        check_files(self.name, self.folder, self.hashes)


def check_files(name: str, folder: Path, hashes: Mapping[str, str]) -> None:
    """Hash the files of a local model. Raises ModelError naming those that are missing or damaged."""
    found = states(folder, hashes).items()
    if wrong := [f"{file} is {state}" for file, state in found if state is not FileState.RIGHT]:
        hint = repair_hint(name) if name in KNOWN else "the files were changed since they were first read"
        raise ModelError(f"model {name!r} in {folder}: {', '.join(wrong)}", hint=hint)


def installed_model(name: str, models_path: Path) -> LocalModel:
    """Return an installed embedding model of the catalogue.

    Raises NotFoundError for a name that is not in it, ConfigError for a reranker, ModelError for a model that is not
    completely installed.
    """
    model = _of_table(known(name), models_path / name)
    if not is_complete(known(name), model.folder):
        raise ModelError(f"model {name!r} is not installed in {models_path}", hint=repair_hint(name))
    return model


def folder_model(folder: Path) -> LocalModel:
    """Return the embedding model in a folder, as sentence-transformers or model2vec exports it.

    The files of a model of the table are recognized by their hashes and give its space wherever they lie. Pooling and
    dimension of others are read from `1_Pooling/config.json`, never guessed. Raises ModelError naming what is missing.
    """
    if not folder.is_dir():
        raise ModelError(f"there is no model folder {folder}")
    config = _json(folder / "config.json")
    static = config.get("model_type") == "model2vec" and (folder / _STATIC_FILE).is_file()
    model_file = _STATIC_FILE if static else next((file for file in _MODEL_FILES if (folder / file).is_file()), None)
    if model_file is None:
        raise ModelError(f"{folder} holds no model", hint=f"looked for {', '.join(_MODEL_FILES)}")
    required = (_TOKENIZER,) if static else (_TOKENIZER, _TOKENIZER_CONFIG)
    for file in required:
        if not (folder / file).is_file():
            raise ModelError(f"{folder} has no {file}")
    hashes = _hashes(folder, (model_file, f"{model_file}_data", *required, *_OPTIONAL_FILES))
    for model in KNOWN.values():
        if model.pooling is not None and model.hashes.items() <= hashes.items():
            return _of_table(model, folder)
    pooling, dimension = (Pooling.STATIC, config.get("hidden_dim")) if static else _pooling(folder)
    if not isinstance(dimension, int) or not 1 <= dimension <= MOST_NUMBERS:
        raise ModelError(f"{folder} does not say the dimension of its vectors")
    return LocalModel(
        name=files.real_path(folder).name,
        folder=folder,
        model_file=model_file,
        dimension=dimension,
        pooling=pooling,
        normalized=True,
        max_tokens=_max_tokens(folder),
        hashes=hashes,
        library_name=STATIC_LIBRARY_NAME if static else None,
    )


def library_model(name: str, cache: Path, *, hub: bool) -> LocalModel:
    """Return an embedding model of fastembed, from `cache`, or the public hub where `hub` allows it.

    Raises ConfigError when fastembed does not know the name, ModelError when the files cannot be had.
    """
    # Half a second of imports that only such a name needs: the list of models is fastembed's.
    from fastembed import TextEmbedding
    from fastembed.common.model_description import DenseModelDescription, ModelSource

    found = next((m for m in TextEmbedding.list_supported_models() if m["model"].lower() == name.lower()), None)
    if found is None:
        models = ", ".join(model.name for model in KNOWN.values() if model.pooling is not None)
        hint = f"use {models}, a folder, a model that fastembed knows, or `none`"
        raise ConfigError(f"embedding_model {name!r} is neither a model nor a folder", hint=hint)
    description = DenseModelDescription(**{**found, "sources": ModelSource(**found["sources"])})
    if not hub and not cache.is_dir():
        raise ModelError(f"model {description.model!r} is not in {cache}", hint=_HUB_HINT)
    try:
        folder = TextEmbedding.download_model(description, str(cache), retries=1, local_files_only=not hub)
    except ValueError as error:
        hint = "the hub cannot be reached" if hub else _HUB_HINT
        raise ModelError(f"model {description.model!r} is not in {cache}: {error}", hint=hint) from error
    files = (description.model_file, *description.additional_files, _TOKENIZER, _TOKENIZER_CONFIG, *_OPTIONAL_FILES)
    return LocalModel(
        name=description.model,
        folder=folder,
        model_file=description.model_file,
        dimension=int(found["dim"]),
        pooling=Pooling.STATIC if description.model_file == _STATIC_FILE else Pooling.LIBRARY,
        normalized=True,
        max_tokens=_max_tokens(folder),
        hashes=_hashes(folder, files),
        library_name=description.model,
        query_prefix=BGE_QUERY_PREFIX if _BGE_ENGLISH.fullmatch(description.model) else "",
    )


def _of_table(model: Model, folder: Path) -> LocalModel:
    if model.pooling is None:
        raise ConfigError(f"{model.name!r} is a {model.kind}, not an embedding model")
    return LocalModel(
        name=model.name,
        folder=folder,
        model_file=model.model_file,
        dimension=model.dimension,
        pooling=model.pooling,
        normalized=model.normalized,
        max_tokens=model.max_tokens,
        hashes=model.hashes,
        query_prefix=model.query_prefix,
        library_name=STATIC_LIBRARY_NAME if model.pooling is Pooling.STATIC else None,
    )


def repair_hint(name: str) -> str:
    """Return what to do where a model of the catalogue is not there or not right."""
    return f"run `helix models install {name}`"


def _hashes(folder: Path, files: Sequence[str]) -> dict[str, str]:
    """Return the hashes of those files that are there."""
    found = {file: sha256_of(folder / file) for file in files}
    return {file: digest for file, digest in found.items() if digest is not None}


def _pooling(folder: Path) -> tuple[Pooling, object]:
    config = _json(folder / _POOLING_CONFIG)
    chosen = [pooling for mode, pooling in _POOLING_MODES.items() if config.get(mode) is True]
    if len(chosen) != 1:
        hint = f"{_POOLING_CONFIG} needs exactly one of {', '.join(_POOLING_MODES)} set, and word_embedding_dimension"
        raise ModelError(f"{folder} does not say how its vectors are pooled", hint=hint)
    return chosen[0], config.get("word_embedding_dimension")


def _max_tokens(folder: Path) -> int:
    """Return the context of the tokenizer, where its configuration tells one that can be meant."""
    length = _json(folder / _TOKENIZER_CONFIG).get("model_max_length")
    return length if isinstance(length, int) and 0 < length <= _MOST_TOKENS else _DEFAULT_TOKENS


def _json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; empty where there is no file. Raises ModelError when it is not one."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(files.read_text(path, 16 * files.SMALL))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path} should hold a JSON object")
    return content


_CHARACTERS_PER_TOKEN = 16
"""A text is cut at this many characters for each token the model reads: no text of words comes near it."""


def readable(text: str, max_tokens: int) -> str:
    """Return a text for an embedding model: without lone surrogates, cut far behind the last token it reads."""
    return text[: max_tokens * _CHARACTERS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")
