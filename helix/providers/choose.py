"""Which models the settings ask for, and why there is no embedder when there is none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from helix.errors import ModelError
from helix.providers.fastembed_embedder import FastembedEmbedder
from helix.providers.fastembed_reranker import FastembedReranker
from helix.providers.local_model import LocalModel, folder_model, installed_model, library_model
from helix.providers.models import KNOWN, RERANKER
from helix.settings import Settings

NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """An embedder, or None for lexical recall only, with the sentence that `helix status` shows for it."""

    embedder: FastembedEmbedder | None
    reason: str


def embedder_for(settings: Settings) -> Choice:
    """Return the embedder of `settings.embedding_model`: a folder, an installed model, or one fastembed knows.

    Exactly that model or none: what is missing or damaged is said in the reason and never replaced by another model.
    Nothing is loaded yet. Raises ConfigError when the setting names nothing that could be an embedding model.
    """
    name = settings.embedding_model.strip()
    if name.lower() == NO_MODEL:
        return Choice(None, "lexical only: embedding_model is `none`")
    try:
        model = _resolved(name, settings)
    except ModelError as error:
        return Choice(None, f"lexical only: {error}")
    embedder = FastembedEmbedder(model, threads=settings.embedding_threads, cache_entries=settings.embedding_cache)
    return Choice(embedder, f"{model.name} ({model.dimension} dimensions) from {model.folder}")


def reranker_for(settings: Settings) -> FastembedReranker:
    """Return the cross-encoder, which looks for its model when it is first used."""
    return FastembedReranker(RERANKER, settings.models_path, threads=settings.embedding_threads)


def _resolved(name: str, settings: Settings) -> LocalModel:
    if name in KNOWN:
        return installed_model(name, settings.models_path)
    folder = Path(name).expanduser()
    # `BAAI/bge-small-en-v1.5` is a name unless such a folder is there; what is written as a path must exist as one.
    if folder.is_absolute() or name.startswith(".") or ("/" in name and folder.is_dir()):
        return folder_model(folder)
    return library_model(name, settings.models_path / "hub", hub=settings.model_hub)
