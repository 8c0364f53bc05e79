"""Models for the tests of providers: the real ones, installed once, and tiny ones in wheels made on the spot."""

from __future__ import annotations

import base64
import hashlib
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from helix.providers.install import install
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import installed_model
from helix.providers.model_catalogue import Carrier, Model, ModelFile, ModelKind

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def models_path() -> Path:
    """The folder the real models are in: HELIX_TEST_MODELS, else `build/models` of the checkout."""
    path = Path(os.environ.get("HELIX_TEST_MODELS", CHECKOUT / "build" / "models"))
    install("bge-small-en-v1.5-int8", path)
    return path


@pytest.fixture(scope="session")
def real_embedder(models_path: Path) -> LocalEmbedder:
    """The default model, loaded once; without a cache, so that every vector is computed."""
    return LocalEmbedder(installed_model("bge-small-en-v1.5-int8", models_path), cache_entries=0)


@pytest.fixture(scope="session")
def light_embedder(models_path: Path) -> LocalEmbedder:
    """The static model, at a tenth of a millisecond a text."""
    install("potion-base-8M", models_path)
    return LocalEmbedder(installed_model("potion-base-8M", models_path), cache_entries=8)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip and uv take for the only index there is."""
    folder = tmp_path / "index"
    folder.mkdir()
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
        monkeypatch.setenv(f"{tool}_CACHE_DIR", str(tmp_path / f"{tool}-cache"))
    return folder


@pytest.fixture
def tiny_models(index: Path) -> tuple[Model, Model]:
    """Two models of two files each, in one wheel that lies in the index."""
    first, second = _publish(index, "tiny-models", {"first": _files(1), "second": _files(2)})
    return first, second


def _publish(index: Path, package: str, contents: dict[str, dict[str, bytes]]) -> tuple[Model, ...]:
    """Write a wheel that holds the files of each model, and return the models."""
    module = package.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    members = {f"{module}/{model}/{name}": data for model, files in contents.items() for name, data in files.items()}
    # Importing the package would end the process that does it: it is data only.
    members[f"{module}/__init__.py"] = b"raise SystemExit('imported')\n"
    members[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n".encode()
    members[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{member},{_record_hash(data)},{len(data)}\n" for member, data in members.items())
    members[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = index / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    packed = wheel.read_bytes()
    carrier = Carrier(
        package=package,
        version="1.0",
        wheel=wheel.name,
        size=len(packed),
        sha256=hashlib.sha256(packed).hexdigest(),
    )
    return tuple(
        Model(
            name=model,
            kind=ModelKind.EMBEDDING,
            carrier=carrier,
            files=tuple(
                ModelFile(member=f"{module}/{model}/{name}", size=len(data), sha256=hashlib.sha256(data).hexdigest())
                for name, data in files.items()
            ),
            model_file="weights.bin",
            licence="none",
            description="bytes",
        )
        for model, files in contents.items()
    )


def _files(seed: int) -> dict[str, bytes]:
    return {"settings.json": b'{"seed": %d}' % seed, "weights.bin": random.Random(seed).randbytes(300_000)}


def _record_hash(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def damage() -> Callable[[Path], None]:
    """Return a function that flips one byte in the middle of a file, so that its size stays."""

    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)

    return flip
