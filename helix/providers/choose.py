"""Which models the settings ask for, and why there is no embedder when there is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from helix.errors import ConfigError, InvalidInputError, ModelError
from helix.model.clock import Clock
from helix.providers.addresses import may_be_asked, origin_of
from helix.providers.litellm_calls import LiteLLMCalls, missing
from helix.providers.litellm_router import ProviderLedger, Router
from helix.providers.llm import Provider
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import LocalModel, folder_model, installed_model, library_model
from helix.providers.local_reranker import LocalReranker
from helix.providers.model_catalogue import KNOWN, RERANKER
from helix.settings import Settings

NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """An embedder, or None for lexical recall only, with the sentence that `helix status` shows for it."""

    embedder: LocalEmbedder | None
    reason: str


def embedder_for(settings: Settings) -> EmbedderChoice:
    """Return the embedding model of `settings.embedding_model`: a folder, an installed one, or one of fastembed.

    Exactly that model or none: what is missing or damaged is said in the reason and never replaced by another model.
    Nothing is loaded yet. Raises ConfigError when the setting names nothing that could be an embedding model.
    """
    name = settings.embedding_model.strip()
    if name.lower() == NO_MODEL:
        return EmbedderChoice(None, "lexical only: embedding_model is `none`")
    try:
        model = _resolved(name, settings)
    except ModelError as error:
        return EmbedderChoice(None, f"lexical only: {error}")
    embedder = LocalEmbedder(model, threads=settings.embedding_threads, cache_entries=settings.embedding_cache)
    return EmbedderChoice(embedder, f"{model.name} ({model.dimension} dimensions) from {model.folder}")


def reranker_for(settings: Settings) -> LocalReranker:
    """Return the reranker, a cross-encoder which looks for its model when it is first used."""
    return LocalReranker(RERANKER, settings.models_path, threads=settings.embedding_threads)


def router_for(settings: Settings, ledger: ProviderLedger, *, clock: Clock) -> Router:
    """Return the router over the settings' language models, with keys from the environment; nothing is loaded.

    Raises ConfigError when a model is not named as LiteLLM names it.
    """
    return Router(
        providers_of(settings),
        ledger,
        LiteLLMCalls(),
        clock=clock,
        budget=settings.monthly_token_budget,
        timeout_s=settings.model_timeout_s,
        may_be_asked=partial(may_be_asked, home=settings.home),
        missing=missing(),
    )


def providers_of(settings: Settings) -> tuple[Provider, ...]:
    """Return the language models of the settings in order, each once; Ollama's only where it has an address."""
    patterns = tuple(_names(settings.free_models))
    found = (
        _provider(name, settings, free=any(fnmatchcase(name, pattern) for pattern in patterns))
        for name in dict.fromkeys(_names(settings.models))
    )
    return tuple(provider for provider in found if provider is not None)


def _provider(name: str, settings: Settings, *, free: bool) -> Provider | None:
    company, _, model = name.partition("/")
    if not company or not model:
        raise ConfigError(
            f"setting 'models' names {name!r}, which has no provider", hint="write `openai/gpt-4o-mini`, for example"
        )
    if company == "ollama":
        # By its OpenAI-compatible side: what LiteLLM does for Ollama's own asks localhost, whatever the address.
        url = _address("ollama_url", settings)
        url = url.removesuffix("/v1")
        return Provider(name=name, model=f"openai/{model}", free=free, url=f"{url}/v1") if url else None
    if company == "openai" and settings.openai_url:
        return Provider(name=name, model=name, free=free, url=_address("openai_url", settings))
    return Provider(name=name, model=name, free=free, secret=f"{company.upper()}_API_KEY")


def _address(name: str, settings: Settings) -> str:
    url = str(getattr(settings, name)).rstrip("/")
    if url:
        try:
            origin_of(url)
        except InvalidInputError as error:
            words = f"setting {name!r} from {settings.sources[name]}: {error.message}"
            raise ConfigError(words, hint=error.hint) from None
    return url


def _names(text: str) -> Iterator[str]:
    return (name for part in text.split(",") if (name := part.strip()))


def _resolved(name: str, settings: Settings) -> LocalModel:
    if name in KNOWN:
        return installed_model(name, settings.models_path)
    folder = settings.home / Path(name).expanduser()  # a relative one is meant from there, wherever a process stands
    # `BAAI/bge-small-en-v1.5` is a name, even where somebody works in a folder that has one of that name.
    if name.startswith((".", "~")) or Path(name).is_absolute():
        return folder_model(folder)
    return library_model(name, settings.models_path / "hub", hub=settings.model_hub)
