"""Settings: the only reader of the environment.

Flags come first, then the environment, then `.env` in the working folder, then `config.toml` in HELIX_HOME, then
defaults. Each value knows where it came from (`helix config`). Secrets are read from the environment only, at the
moment they are needed, and are no settings. A `.env` is part of a project, which may be anybody's: it may name the
scope and say what worktrees share, for commands in its folder, and nothing else.

A grammar of lines of `.env`, and values in their units.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from helix import confirmed, files, local_store
from helix.errors import ConfigError

LOGS, DAEMON_LOG = "logs", "helix.log"
"""The folder of a store's logs, and the daemon's log in it."""


def _setting(default: Any, help_text: str) -> Any:
    return field(default=default, metadata={"help": help_text})


_HOME = Path("~/.helix")
_PREFIX = "HELIX_"
_WORKTREES = ("together", "apart")
_FORMS = {"bool": "true or false", "int": "a whole number", "float": "a number"}
DOTENV = ".env"
_BELIEVED = ("config.toml", confirmed.FILE, "keys")
"""What in a home Helix believes as the user's own word."""
_OF_A_PROJECT = ("scope", "worktrees")
"""What a project's `.env` may set, for commands in its folder; a daemon serves all projects and takes neither."""
TENANT_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_ALIKE = 0.75
"""How much a variable has to be like a setting's to count as that one misspelt."""

_FROM_ONE = (
    "buffer_pool_mb",
    "max_db_gb",
    "graph_memory_mb",
    "kuzu_threads",
    "reopen_after",
    "text_limit",
    "page_size",
    "recurrences",
)
_SERVER = re.compile(
    r"https://[\w.-]+(?::\d{1,5})?/?|http://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?/?", re.ASCII
)
_BOUNDS: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys((*_FROM_ONE, "embedding_threads", "rerank_candidates", "hook_ms"), (1, math.inf)),
    **dict.fromkeys(("monthly_token_budget", "idle_exit_minutes", "prompt_tokens", "prompt_every"), (0, math.inf)),
    "archive_days": (0, 36_500),
    "port": (0, 65_535),
    "model_timeout_s": (0.1, 600),
    **dict.fromkeys(("heuristic_confidence_cutoff", "guard_share", "context_floor", "holdback"), (0, 1)),
    "unused_penalty": (0, 0.1),
}
"""The least and the most that a number may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its default. `sources` maps a setting's name to where its value came from."""

    home: Path = _setting(_HOME, "folder of the store, models, token and logs")
    db_path: Path | None = _setting(None, "folder of the store; default: the project's own, else <home>/store")
    engine: str = _setting(
        "", "address of a PostgreSQL server that keeps the journal, without a password; empty: a file of the store"
    )
    tenant: str = _setting("main", "which of the server's tenants is served")
    require_quorum: bool = _setting(False, "whether a change that would be on one machine alone is refused")
    engine_vouched: bool = _setting(
        False, "whether whoever runs the server says that a commit survives the loss of a machine: managed ones"
    )
    archive_days: int = _setting(
        0,
        "days for which that server's archives and backups are kept: until when they hold what is erased; 0: not known",
    )
    server: str = _setting(
        "", "address of a team's server that commands ask instead of a daemon; its key comes from HELIX_KEY"
    )
    oidc_issuer: str = _setting(
        "", "address of the issuer whose people `helix engine serve` lets in; empty: keys alone"
    )
    oidc_audience: str = _setting("", "what the tokens of that issuer name as their audience")
    oidc_claim: str = _setting(
        "", "claim that says `TENANT:ROLE` of a person, or a list of that; empty: `helix user add` alone says so"
    )
    host: str = _setting("127.0.0.1", "address the daemon binds to; only loopback addresses are accepted")
    port: int = _setting(0, "port of the daemon; 0 takes one that the store never had (see SECURITY.md)")
    idle_exit_minutes: float = _setting(120.0, "a daemon that a client started leaves when unused so long; 0: never")
    log_level: str = _setting("info", "level of the daemon's log: debug, info, warning, error")

    embedding_model: str = _setting(
        "bge-small-en-v1.5-int8", "embedding model: an installed name, a model fastembed knows, a folder, or `none`"
    )
    embedding_cache: int = _setting(2000, "how many embedded texts are kept in memory")
    embedding_threads: int = _setting(2, "threads of the embedding model")
    model_hub: bool = _setting(False, "whether models beside those of `helix models` may be fetched from the hub")

    low_memory: bool = _setting(
        False, "small caches, vectors mapped as they are asked for, none in the graph; goes with a buffer_pool_mb of 64"
    )
    buffer_pool_mb: int = _setting(256, "memory Kuzu may use for pages, in MiB; at least 128 unless low_memory is on")
    max_db_gb: int = _setting(64, "address space Kuzu may map, in GiB (a power of two)")
    graph_memory_mb: int = _setting(
        1_024, "memory that a Cypher statement may take beside Kuzu's pages, in MiB; kept to on Linux"
    )
    kuzu_threads: int = _setting(2, "threads of one Kuzu query")
    reopen_after: int = _setting(200, "graph transactions after which Kuzu is closed and opened to fold its log in")

    models: str = _setting(
        "gemini/gemini-2.5-flash, ollama/llama3.2, openai/gpt-4o-mini",
        "language models in the order in which they are asked, by LiteLLM's names; each needs its provider's key in "
        "the environment (GEMINI_API_KEY, OPENAI_API_KEY), Ollama an ollama_url; where all lack that, Helix asks none. "
        "`helix models confirm` allows addresses on other machines, hosted providers' too",
    )
    free_models: str = _setting(
        "gemini/*flash*, ollama/*",
        "which of them cost nothing, * for any letters: a free tier, or your own machine; the others are paid for. "
        "Helix cannot see whether a key is billed: take Gemini out where yours is",
    )
    monthly_token_budget: int = _setting(
        0, "tokens of paid language models in a calendar month (UTC), in and out; 0 forbids every paid call"
    )
    ollama_url: str = _setting("", "address of an Ollama server, such as http://127.0.0.1:11434; empty: none")
    openai_url: str = _setting(
        "", "address of an OpenAI-compatible server in place of OpenAI's, with its /v1; it is sent no key"
    )
    model_timeout_s: float = _setting(30.0, "longest call to a language model, in seconds")
    heuristic_confidence_cutoff: float = _setting(
        0.6, "confidence of what was extracted by rules below which a language model is asked, where there is one"
    )

    s3_endpoint: str = _setting(
        "",
        "address of a server that speaks S3's protocol, for `helix sync s3://bucket`; empty: AWS_ENDPOINT_URL, or AWS",
    )

    scope: str = _setting("", "scope of commands that name none; empty: the project of the folder they are run in")
    hook_ms: int = _setting(
        300, "the longest that a hook keeps an agent waiting; `helix connect` writes it down for the client"
    )
    holdback: float = _setting(
        0.1, "share of the tasks that are shown no memories, at random, so that `helix report` can compare; 0: none"
    )
    unused_penalty: float = _setting(
        0.1, "what is added to `failed` of a memory that a task was shown and that passed without it; 0.1 at most"
    )
    context_floor: float = _setting(0.25, "relevance (0..1) below which a memory is not put before an agent")
    brief_tokens: int = _setting(600, "about how many tokens a session's brief may take; 0: no brief")
    prompt_tokens: int = _setting(
        150, "about how many tokens of memories a prompt of yours may bring, once for each task; 0: none"
    )
    prompt_every: int = _setting(5, "how many prompts lie at least between two that bring memories")
    other_agents: bool = _setting(
        True, "whether sub-agents that are none of Helix's own are given the memories which fit their prompt"
    )
    action_tokens: int = _setting(400, "about how many tokens the memories at one command or edit may take")
    worktrees: str = _setting("together", "whether linked worktrees of a repository share a scope: together, apart")
    text_limit: int = _setting(65_536, "longest text of one episode or memory, in characters")
    recipe: str = _setting("default", "recall recipe used where none is named")
    recipes: Mapping[str, Any] = field(
        default_factory=dict,
        metadata={"help": 'recipes of your own, by name: {"mine": {"base": "default", "words": 0.5}}'},
    )
    rerank: bool = _setting(False, "whether a cross-encoder reads the best again where a recall does not say")
    rerank_candidates: int = _setting(25, "how many of the best it reads")
    duplicate_threshold: float = _setting(
        0.0, "cosine at which a stored memory counts as the same thing (NOOP); 0: what was measured for the model"
    )
    update_threshold: float = _setting(
        0.0, "cosine at which a stored memory may be a refinement of an older one (UPDATE); 0: as measured"
    )
    gate_threshold: float = _setting(
        0.4, "worth (0..1) below which a sentence of an episode stays part of that episode only"
    )
    cluster_threshold: float = _setting(
        0.66, "cosine from which episodes that share their telling words are taken to say one thing"
    )
    recurrences: int = _setting(3, "how often a thing has to be said that nobody said in so many words")
    derived_confidence: float = _setting(
        0.5, "confidence below which a derived memory is quarantined until more speaks for it"
    )
    salience_floor: float = _setting(0.5, "salience below which a memory leaves default recall")
    guard_share: float = _setting(
        0.2, "share of the active memories that one background job may retire, archive, forget or quarantine"
    )

    consolidation_budget: float = _setting(
        150.0, "importance of new episodes at which they are consolidated in the background; 0: only when asked"
    )

    cypher_timeout_ms: int = _setting(5_000, "longest run of one Cypher query")
    cypher_rows: int = _setting(1_000, "most rows one Cypher query returns")
    request_timeout_ms: int = _setting(30_000, "longest run of one GraphQL request")
    page_size: int = _setting(200, "largest page of a list")
    max_depth: int = _setting(12, "deepest GraphQL selection")
    max_aliases: int = _setting(30, "most aliases in one GraphQL document")
    max_tokens: int = _setting(2_000, "most lexical tokens in one GraphQL document")

    sources: Mapping[str, str] = field(default_factory=dict, metadata={"internal": True})
    one_of_many: bool = field(default=False, metadata={"internal": True})
    """Whether a process has many stores open: what only some of them need is made when it is asked for."""
    warnings: tuple[str, ...] = field(default=(), metadata={"internal": True})
    """What of a project's folder was not taken, in a sentence each."""

    @property
    def store_path(self) -> Path:
        """Folder of the settings' store; with an engine, of what is kept here of a tenant."""
        if self.engine:  # whatever else is set: the daemon of a tenant is found by the tenant alone
            return self.home / "tenants" / hashlib.sha256(self.engine.encode()).hexdigest()[:12] / self.tenant
        return self.db_path if self.db_path is not None else self.home / "store"

    @property
    def models_path(self) -> Path:
        """Folder of the installed models by the settings; shared by all stores of a home."""
        return self.home / "models"


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"{_PREFIX}{name.upper()}"


def described() -> tuple[tuple[str, str, Any], ...]:
    """Return (name, help, default) of every setting, in order, for `helix config`."""
    return tuple(
        (f.name, str(f.metadata["help"]), {} if f.default is MISSING else f.default)
        for f in fields(Settings)
        if not f.metadata.get("internal")
    )


def load(
    overrides: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    for_daemon: bool = False,
) -> Settings:
    """Load the settings once, in the order of precedence; a daemon leaves out what is of one project.

    `overrides` are flags (None values are ignored). Raises ConfigError naming the setting and its source.
    """
    environ = os.environ if environ is None else environ
    cwd = Path.cwd() if cwd is None else cwd
    theirs = _from_variables(_dotenv(cwd / DOTENV))
    allowed = () if for_daemon else _OF_A_PROJECT
    layers: list[tuple[str, Mapping[str, Any]]] = [
        ("flag", {k: v for k, v in (overrides or {}).items() if v is not None}),
        ("environment", _of_environment(environ, for_daemon=for_daemon)),
        (DOTENV, {name: raw for name, raw in theirs.items() if name in allowed}),
    ]
    home_text = next((str(layer["home"]) for _, layer in layers if "home" in layer), "~/.helix")
    config = Path(home_text).expanduser() / "config.toml"
    _check_own(config.parent)
    layers.append((str(config), _toml(config)))
    known = {f.name: f for f in fields(Settings) if not f.metadata.get("internal")}
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    warnings = [*_untaken(cwd / DOTENV, theirs)]
    for source, layer in reversed(layers):
        for name, raw in layer.items():
            if name not in known:
                raise ConfigError(f"unknown setting {name!r} in {source}", hint="`helix config` lists the settings")
            try:
                value = _convert(name, raw, known[name].type, source)
            except ConfigError as error:
                if source != DOTENV:
                    raise
                warnings.append(f"{cwd / DOTENV} is passed over: {error.message}")  # nobody's folder stops a command
                continue
            values[name], sources[name] = value, source
    values.setdefault("home", Path("~/.helix").expanduser())
    if "db_path" not in values:
        local, why = local_store.find(cwd, values["home"])
        if local is not None:
            values["db_path"], sources["db_path"] = local, "project"
        warnings += [why] if why else []
    elif why := local_store.trouble_with(values["db_path"], values["home"]):
        raise ConfigError(
            f"the store {values['db_path']} cannot be used: {why}",
            hint="a project's own store lies in HELIX_HOME: `helix init --local` there, and `helix connect` again",
        )
    settings = Settings(
        **values, sources={name: sources.get(name, "default") for name in known}, warnings=tuple(warnings)
    )
    _check_open(settings.store_path)
    _check(settings)
    return settings


def dump_environment(settings: Settings) -> dict[str, str]:
    """Return the variables by which another process reads the same settings, where they are no defaults."""
    return {
        variable_of(f.name): _written(getattr(settings, f.name))
        for f in fields(Settings)
        if not f.metadata.get("internal")
        and settings.sources.get(f.name, "default") != "default"
        and (f.name not in _OF_A_PROJECT or settings.sources[f.name] != DOTENV)
        and getattr(settings, f.name) is not None
    }


def _written(value: Any) -> str:
    return json.dumps(dict(value)) if isinstance(value, Mapping) else str(value)


def unknown_variables(environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> dict[str, str]:
    """Return the HELIX_ variables, of `.env` too, that are no setting: to each the one it is like, "" for none."""
    from difflib import get_close_matches  # only for whoever asks: hooks must start fast

    given = {*_dotenv((Path.cwd() if cwd is None else cwd) / ".env"), *(os.environ if environ is None else environ)}
    known = [variable_of(name).removeprefix(_PREFIX) for name, _, _ in described()]
    strange = {name.removeprefix(_PREFIX) for name in given if name.startswith(_PREFIX)}.difference(known)
    alike = {name: get_close_matches(name.upper(), known, 1, _ALIKE) for name in sorted(strange)}
    return {_PREFIX + name: _PREFIX + found[0] if found else "" for name, found in alike.items()}


def secret(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return a secret of the settings from the environment, or None; never from a file, never logged."""
    return (os.environ if environ is None else environ).get(name)


_MOST_OURS = 100
"""Lines of a project's `.env` that are read: each name that is no setting is compared with all that are."""
_OURS = re.compile(rf"\s*(?:export\s+)?{_PREFIX}[A-Z_]{{1,60}}\s*=.{{0,4096}}$")


def _of_environment(environ: Mapping[str, str], *, for_daemon: bool) -> dict[str, str]:
    """Return the settings of the environment; a daemon takes no scope from there.

    The session of an agent has one, pinned for its commands, and any of these may start the daemon.
    """
    return {name: raw for name, raw in _from_variables(environ).items() if not (for_daemon and name == "scope")}


def _from_variables(environ: Mapping[str, str]) -> dict[str, str]:
    names = {variable_of(f.name): f.name for f in fields(Settings) if not f.metadata.get("internal")}
    return {names[key]: value for key, value in environ.items() if key in names and value != ""}


def _dotenv(path: Path) -> Mapping[str, str]:
    """Return what a project's `.env` says to Helix first; nothing of one larger than anybody types."""
    if not files.is_file(path):
        return {}
    try:
        lines = files.read_text(path, errors="replace").splitlines()
    except OSError:  # whose it is, and what else is in it, is no matter of ours
        return {}
    ours = "\n".join(islice((line for line in lines if _OURS.match(line)), _MOST_OURS))
    if not ours:
        return {}
    from dotenv import dotenv_values  # only where there is something to read: hooks must start fast

    return {key: value for key, value in dotenv_values(stream=StringIO(ours), interpolate=False).items() if value}


def _untaken(path: Path, theirs: Mapping[str, str]) -> tuple[str, ...]:
    """Return in a sentence what a project's `.env` sets that it may not."""
    names = sorted(variable_of(name) for name in theirs if name not in _OF_A_PROJECT)
    hint = "set it in your environment, or in config.toml of your Helix home (~/.helix)"
    return (f"{path} may not set {', '.join(names)}, which is ignored: {hint}",) if names else ()


def _check_own(home: Path) -> None:
    """Raise ConfigError where another user could say what is confirmed, whose keys are believed, or where text goes.

    Root works in nobody else's home: its owner could not read what root writes there.
    """
    _check_open(home)
    for path in (home, *(home / name for name in _BELIEVED)):
        if files.is_anothers(path):
            words = f"{path} belongs to another user: Helix believes nothing that is written there"
            raise ConfigError(words, hint="move it away, or set HELIX_HOME to a folder of your own")


def _check_open(folder: Path) -> None:
    if files.is_closed_to_root(folder):
        raise ConfigError(f"{folder} {files.ROOTS_WORDS}", hint=files.ROOTS_HINT)


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(files.read_text(path))
    except FileNotFoundError:
        return {}
    except PermissionError as error:
        otherwise = f"{path.parent} is another user's: `sudo chown -R YOU` it, or set HELIX_HOME to one of your own"
        raise ConfigError(f"{path} cannot be read", hint=files.closed_hint(path, otherwise)) from error
    except OSError as error:
        words = f"{path} cannot be read: {error.strerror or error}"
        raise ConfigError(words, hint="it should be a small text file; mend or remove it") from error
    except RecursionError as error:
        raise ConfigError(f"{path} is nested too deep", hint="no setting needs more than two levels") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint='texts stand in quotes: scope = "mine"') from error


def _convert(name: str, raw: Any, kind: Any, source: str) -> Any:
    wanted = str(kind)
    try:
        if "Path" in wanted:
            return Path(str(raw)).expanduser().absolute()
        if wanted == "bool":
            return _boolean(raw)
        if wanted == "int":
            return int(str(raw))
        if wanted == "float":
            return float(str(raw))
        if "Mapping" in wanted:
            return _table(raw)
        if name == "worktrees" and raw not in _WORKTREES:
            raise ValueError(raw)
    except (ValueError, RecursionError) as error:
        form = " or ".join(_WORKTREES) if name == "worktrees" else _FORMS.get(wanted, "a table, or one as JSON")
        raise _refused(name, f"{form}, not {str(raw)!r:.80}", source) from error
    return str(raw)


def _table(raw: Any) -> Mapping[str, Any]:
    table = json.loads(raw) if isinstance(raw, str) else raw
    if not isinstance(table, Mapping):
        raise ValueError(raw)
    return dict(table)


def _boolean(raw: Any) -> bool:
    word = str(raw).strip().lower()
    if word in {"1", "true", "yes", "on"}:
        return True
    if word in {"0", "false", "no", "off"}:
        return False
    raise ValueError(word)


def _check(settings: Settings) -> None:
    if settings.host not in {"127.0.0.1", "::1", "localhost"}:
        raise ConfigError(
            f"host {settings.host!r} is not a loopback address", hint="Helix serves its own machine only: use 127.0.0.1"
        )
    if not TENANT_NAME.fullmatch(settings.tenant):
        words = "small letters, digits and inner hyphens, 63 at most"
        raise _refused("tenant", words, settings.sources["tenant"])
    if settings.server and not _SERVER.fullmatch(settings.server):
        words = "https://HOST, or http:// for this machine: a key is shown to nobody in between"
        raise _refused("server", words, settings.sources["server"])
    if holds_secret(settings.engine):
        words = "an address without a password: that comes from PGPASSWORD or a password file (PGPASSFILE)"
        raise _refused("engine", words, settings.sources["engine"])
    for name, (least, most) in _BOUNDS.items():
        if not least <= getattr(settings, name) <= most:
            words = f"at least {least:g}" if most == math.inf else f"between {least:g} and {most:g}"
            raise _refused(name, words, settings.sources[name])
    if settings.max_db_gb & (settings.max_db_gb - 1):
        raise _refused("max_db_gb", "a power of two", settings.sources["max_db_gb"])


def holds_secret(address: str) -> bool:
    """Return whether a server's address in the settings has a password; anything that may be one counts."""
    before = address.split("://", 1)[-1].rpartition("@")[0]  # the last one: a password may have any sign in it
    return ":" in before or "@" in before or "password" in unquote(address)


def _refused(name: str, wanted: str, source: str) -> ConfigError:
    default = next(default for known, _, default in described() if known == name)
    return ConfigError(f"setting {name!r} from {source} must be {wanted}", hint=f"without it Helix takes {default!r}")
