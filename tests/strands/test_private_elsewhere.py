"""A session that is private on one machine of a person loses nothing on the machine where it is none."""

from __future__ import annotations

from pathlib import Path

from test_sync import folder as folder
from test_sync import pair, settle

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.capture.sessions import SessionRequest
from helix.memory.remember.request import StoreRequest
from helix.model.memory import Status
from helix.operations import capture, memories
from helix.service import Helix
from tests.strands.conftest import Machines


def held(helix: Helix) -> tuple[list[str], list[str], list[str]]:
    """Return the active memories, episodes and sessions."""
    active = [one.trigger for one in memories.memories(helix).items if one.status is Status.ACTIVE]
    episodes = [one.content for one in capture.episodes(helix).items]
    return sorted(active), sorted(episodes), sorted(one.name for one in capture.sessions(helix).items)


def test_what_is_private_on_another_machine_is_lost_on_none(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    capture.open_session(other, SessionRequest(name="hush", private=True))
    vault = "the vault is called Nautilus"
    asked = StoreRequest(trigger=vault, resolution="", kind="fact", scope="shop", session="hush")
    memories.store(one, asked)
    capture.record_episode(one, EpisodeRequest(content="we talked about the vault", session="hush", scope="shop"))
    capture.record_episode(other, EpisodeRequest(content="not kept", session="hush", scope="shop"))
    said = held(one)
    assert (len(said[0]), len(said[1]), said[2]) == (1, 2, ["hush"])
    settle(folder, one, other)
    assert held(one) == said
    assert held(other)[:2] == said[:2]
