"""The embedder over real models: unit vectors of the text alone, in order, without network, beside each other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helix.errors import ModelError
from helix.providers.local_embedder import PROBE_TEXT, LocalEmbedder
from helix.providers.local_model import installed_model

CHECKOUT = Path(__file__).resolve().parents[2]

TEXTS = [
    "the release was rolled back because the migration locked the table",
    "short",
    "",
    "use a context manager so that the file is closed even when the parser raises " * 6,
    "def add(a: int, b: int) -> int:\n    return a + b",
    "short",
    "null \x00 byte, lone \ud800 surrogate, 漢字 and 😀",
]

OFFLINE = """
import sys
from pathlib import Path
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import installed_model
embedder = LocalEmbedder(installed_model("bge-small-en-v1.5-int8", Path(sys.argv[1])))
print(embedder.embed(["no network"]).tobytes().hex())
"""

LOADED = """
import sys
from pathlib import Path
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import installed_model
LocalEmbedder(installed_model("bge-small-en-v1.5-int8", Path(sys.argv[1]))).warm()
print(*sorted({"fastembed", "huggingface_hub", "PIL", "requests"} & set(sys.modules)))
"""

MEMORY = """
import sys
from pathlib import Path
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import installed_model
def peak():
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
embedder = LocalEmbedder(installed_model("bge-small-en-v1.5-int8", Path(sys.argv[1])))
texts = [f"{number} " + "parser cache index token " * 60 for number in range(40)]
embedder.embed(texts[:4])
before = peak()
embedder.embed(texts)
print((peak() - before) // 1024)
"""


def python(code: str, *arguments: object, prefix: tuple[str, ...] = ()) -> str:
    command = [*prefix, sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_vectors_are_unit_float32_rows(real_embedder: LocalEmbedder) -> None:
    rows = real_embedder.embed(TEXTS)
    assert rows.shape == (len(TEXTS), 384) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert real_embedder.embed([]).shape == (0, 384)


@pytest.mark.soak
def test_an_installed_model_loads_nothing_for_images_or_for_the_hub(models_path: Path) -> None:
    assert python(LOADED, models_path) == ""


def test_quantized_vector_is_a_function_of_its_text_alone(real_embedder: LocalEmbedder) -> None:
    together = real_embedder.embed(TEXTS)
    assert all(np.array_equal(row, real_embedder.embed([text])[0]) for text, row in zip(TEXTS, together, strict=True))


def test_texts_of_one_meaning_are_closer_than_others(real_embedder: LocalEmbedder) -> None:
    query, same, other = real_embedder.embed(
        ["why did the tests fail on CI?", "the build server's test run broke", "grandmother's recipe for plum cake"]
    )
    assert query @ same > query @ other + 0.1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text(max_size=60), max_size=30))
def test_rows_keep_the_order_of_texts_through_cache_and_threads(
    light_embedder: LocalEmbedder, texts: list[str]
) -> None:
    rows = light_embedder.embed(texts)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert all(np.array_equal(row, light_embedder.embed([text])[0]) for text, row in zip(texts, rows, strict=True))
    assert light_embedder.cache_info().entries <= 8


@pytest.mark.soak
def test_cached_text_is_not_embedded_again(models_path: Path) -> None:
    embedder = LocalEmbedder(installed_model("bge-small-en-v1.5-int8", models_path), cache_entries=2)
    first = embedder.embed(["one", "two", "one"])
    assert (embedder.cache_info().misses, embedder.cache_info().hits) == (2, 0)
    again = embedder.embed(["two", "one"])
    assert embedder.cache_info().hits == 2
    assert np.array_equal(again, first[[1, 0]])
    again[:] = 0.0
    assert np.array_equal(embedder.embed(["one"])[0], first[0])


def test_long_text_is_cut_before_the_tokenizer_sees_it(real_embedder: LocalEmbedder) -> None:
    long = "word " * 20_000
    assert np.array_equal(real_embedder.embed([long])[0], real_embedder.embed([long + "and more"])[0])


@pytest.mark.soak
def test_query_gets_through_while_a_bulk_job_runs(real_embedder: LocalEmbedder) -> None:
    texts = [f"{number} " + "a sentence of a long bulk job " * 40 for number in range(24)]
    done = threading.Event()
    rows: list[np.ndarray] = []

    def bulk() -> None:
        rows.append(real_embedder.embed(texts))
        done.set()

    thread = threading.Thread(target=bulk)
    alone = real_embedder.embed(["a query"])
    looked_up = real_embedder.cache_info().misses
    thread.start()
    while real_embedder.cache_info().misses < looked_up + len(texts):
        time.sleep(0.001)
    beside = real_embedder.embed(["a query"])
    assert not done.is_set()
    thread.join()
    assert np.array_equal(alone, beside)
    assert np.array_equal(rows[0][7], real_embedder.embed([texts[7]])[0])


@pytest.mark.soak
def test_threads_that_meet_at_the_first_text_load_one_model(models_path: Path) -> None:
    embedder = LocalEmbedder(installed_model("bge-small-en-v1.5-int8", models_path))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: embedder.embed(["same text", "other text"]), range(4)))
    assert all(np.array_equal(result, results[0]) for result in results)


def test_space_is_known_without_loading_the_model(models_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from helix.providers.local_embedder import LocalEmbedder
from helix.providers.local_model import installed_model
embedder = LocalEmbedder(installed_model("bge-small-en-v1.5-int8", Path(sys.argv[1])))
assert not {"fastembed", "onnxruntime"} & set(sys.modules)
print(embedder.space.model, embedder.space.dimension, embedder.space.digest)
"""
    expected = installed_model("bge-small-en-v1.5-int8", models_path).space
    assert python(code, models_path) == f"bge-small-en-v1.5-int8 384 {expected.digest}"


def test_warm_gives_the_probe_vector(real_embedder: LocalEmbedder) -> None:
    assert np.array_equal(real_embedder.warm(), real_embedder.embed([PROBE_TEXT])[0])


def test_embedding_works_without_any_network(models_path: Path, real_embedder: LocalEmbedder) -> None:
    if subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine does not let tests leave the network")
    there = python(OFFLINE, models_path, prefix=("unshare", "-rn"))
    assert there == real_embedder.embed(["no network"]).tobytes().hex()


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_memory_does_not_grow_with_the_number_of_texts(models_path: Path) -> None:
    assert int(python(MEMORY, models_path)) < 64


def test_damaged_model_is_refused_by_name_before_it_gives_a_vector(
    models_path: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    name = "bge-small-en-v1.5-int8"
    shutil.copytree(models_path / name, tmp_path / name)
    damage(tmp_path / name / "model.onnx")
    embedder = LocalEmbedder(installed_model(name, tmp_path))
    with pytest.raises(ModelError, match=r"model\.onnx is damaged") as caught:
        embedder.embed(["text"])
    assert caught.value.hint == f"run `helix models install {name}`"
