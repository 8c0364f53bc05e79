"""Holds what syncing promises: by way of a place that only keeps files, machines come to hold the same."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from exchanging import root, rows_of
from test_carrying import know_each_other, store

from helix import settings as configuration
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.memory.remember.curate import EditRequest
from helix.model.clock import system_clock
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.tombstone import is_tombstone
from helix.operations import erasure, memories, review, strands, syncing, upkeep
from helix.operations import strand_keys as keys
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.strands import container, sync
from helix.strands.place import StrandName
from helix.strands.remotes import FolderRemote, address_of
from tests.sampling import some
from tests.strands.conftest import Machines
from tests.victims import Victims
from tests.waiting import UNHURRIED, all_ended, ended, finished, until

TOKEN = "ghp_" + "s9GqT2vLx7RmWc4KbZ1nYd8HfPj3AeUo5iVw"  # made up
DAYS = timedelta(days=9)


@pytest.fixture(params=["folder", "git"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A place that machines can reach: a folder, or a bare git repository."""
    return git(tmp_path) if request.param == "git" else folder_of(tmp_path)


@pytest.fixture(params=["folder", pytest.param("git", marks=pytest.mark.soak)])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A place of which machines do nothing that others do not ask of both kinds: a folder, in a soak git too."""
    return git(tmp_path) if request.param == "git" else folder_of(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that machines can reach."""
    return folder_of(tmp_path)


def folder_of(tmp_path: Path) -> Path:
    (made := tmp_path / "place").mkdir()
    return made


def git(tmp_path: Path) -> Path:
    made = tmp_path / "place.git"
    made.parent.mkdir(exist_ok=True)
    subprocess.run(["git", "init", "--quiet", "--bare", str(made)], check=True)
    return made


def synced(helix: Helix, place: Path | str, **options: Any) -> Mapping[str, Any]:
    return finished(helix, syncing.sync(helix, str(place), **options)).result


def settle(place: Path | str, *machines: Helix, **options: Any) -> None:
    """Let every machine sync until nobody has anything new; fails where that never ends, or in different stores."""
    for _ in range(6):
        moved = [synced(one, place, **options) for one in machines]
        if not any(one["taken"] or one["published"] for one in moved):
            assert len({root(one.store) for one in machines}) == 1
            return
    raise AssertionError("the machines never come to the same")


def left_in(folder: Path) -> list[StrandName]:
    return sorted(StrandName.read(name) for name in FolderRemote(folder).names())  # type: ignore[type-var]


def pair(machines: Machines) -> tuple[Helix, Helix]:
    one, other = machines(), machines()
    know_each_other(one, other)
    return one, other


def test_two_machines_come_to_the_same(machines: Machines, place: Path) -> None:
    one, other = pair(machines)
    proxy = store(one, "the proxy listens on port 8080")
    store(other, "tests need a database")
    settle(place, one, other)
    assert rows_of(one.store) == rows_of(other.store)
    memories.forget(other, proxy)
    settle(place, one, other)
    assert memories.get(one, proxy).status is Status.FORGOTTEN


def test_what_both_changed_meanwhile_is_joined_on_both(machines: Machines, either: Path) -> None:
    one, other = pair(machines)
    proxy = store(one, "the proxy listens on port 8080")
    settle(either, one, other)
    memories.edit(one, proxy, EditRequest(resolution="since one said so"))
    memories.edit(other, proxy, EditRequest(resolution="since the other said so"))
    memories.confirm(one, store(one, "deploys run on friday"))
    settle(either, one, other)
    assert rows_of(one.store) == rows_of(other.store)
    said = {str(row.put.props.get("resolution")) for row in rows_of(one.store)}
    assert {"since one said so", "since the other said so"} <= said


@pytest.mark.soak
def test_a_third_machine_joins_late_and_takes_no_more_than_it_needs(machines: Machines, either: Path) -> None:
    one, other, third = machines(), machines(), machines()
    know_each_other(one, other, third)
    for number in range(3):
        store(one, f"rule {number} of the first")
        store(other, f"rule {number} of the second")
        settle(either, one, other)
    store(third, "what the third knew before")
    assert not synced(third, either)["problems"]
    settle(either, one, other, third)
    assert len([row for row in rows_of(third.store) if row.table == "Memory"]) == 7


@pytest.mark.soak
def test_what_was_brought_back_stays_though_a_late_one_sees_both(machines: Machines, folder: Path) -> None:
    one, other, third = machines(), machines(), machines()
    know_each_other(one, other, third)
    proxy = store(one, "the proxy listens on port 8080")
    settle(folder, one, other)
    memories.forget(other, proxy)
    settle(folder, one, other)
    memories.restore(one, proxy)
    synced(one, folder)
    settle(folder, third, one, other)
    assert [memories.get(each, proxy).status for each in (one, other, third)] == [Status.ACTIVE] * 3


def test_clocks_that_differ_by_days_change_nothing(machines: Machines, folder: Path) -> None:
    one = machines(lambda: system_clock() - DAYS)
    other = machines(lambda: system_clock() + DAYS)
    know_each_other(one, other)
    proxy = store(other, "the proxy listens on port 8080")
    settle(folder, one, other)
    memories.forget(one, proxy)  # nine days before it was recorded, by this clock
    store(other, "tests need a database")
    settle(folder, one, other)
    assert memories.get(other, proxy).status is Status.FORGOTTEN
    assert rows_of(one.store) == rows_of(other.store)


def test_what_one_erased_leaves_every_machine(machines: Machines, place: Path) -> None:
    one, other = pair(machines)
    secret = store(one, "the address of the office is 5 Sesame Street")
    settle(place, one, other)
    memories.confirm(other, secret)
    finished(one, erasure.hard_forget(one, secret, erasure.erase_plan(one, secret).root.id))
    settle(place, one, other)
    for machine in (one, other):
        (row,) = [row for row in rows_of(machine.store) if row.table == "Memory"]
        assert is_tombstone(row.put.props)
        assert not any("Sesame" in text for each in rows_of(machine.store) for text in each.texts)


def test_a_contradiction_waits_for_a_person_on_both(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    store(one, "the api listens on port 8001")
    store(other, "the api listens on port 8002")
    settle(folder, one, other)
    told = [review.contradictions(each).items for each in (one, other)]
    assert told[0] and [{each.first.id, each.second.id} for each in told[0]] == [
        {each.first.id, each.second.id} for each in told[1]
    ]


def test_a_contradiction_that_others_found_is_told_where_it_comes_in(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    store(one, "tests need a database")
    settle(folder, one, other)
    for port in (8001, 8002):
        store(one, f"the api listens on port {port}")
    synced(one, folder)
    assert synced(other, folder)["counts"]["contradictions to decide"] == 1
    assert root(one.store) == root(other.store)
    memories.confirm(one, store(one, "deploys run on friday"))
    synced(one, folder)
    assert "contradictions to decide" not in synced(other, folder)["counts"]


@pytest.mark.parametrize("winners", [("8001", "8002"), ("8002", "both"), ("neither", "8001")])
def test_what_two_machines_decided_otherwise_is_asked_again_and_holds_until_then(
    machines: Machines, either: Path, winners: tuple[str, str]
) -> None:
    one, other = pair(machines)
    ids = {port: store(one, f"the api listens on port {port}") for port in ("8001", "8002")}
    settle(either, one, other)
    for machine, winner in zip((one, other), winners, strict=True):
        review.resolve_contradiction(machine, ids["8001"], ids["8002"], ids.get(winner, winner))
    settle(either, one, other)
    for machine in (one, other):
        (asked,) = review.contradictions(machine).items
        assert {asked.first.id, asked.second.id} == set(ids.values())
        assert [memories.get(machine, ident).status for ident in ids.values()] == [Status.ACTIVE] * 2
        found = [item.node.id for item in machine.recall(RecallQuery(query="which port has the api")).items]
        assert set(ids.values()) <= set(found)
    review.resolve_contradiction(other, ids["8001"], ids["8002"], ids["8002"])
    settle(either, one, other)
    assert [review.contradictions(machine).items for machine in (one, other)] == [(), ()]
    assert {memories.get(machine, ids["8002"]).status for machine in (one, other)} == {Status.ACTIVE}


def test_only_what_changed_is_left_and_what_nobody_needs_goes(
    machines: Machines, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sync, "MOST_CHANGES", 3)
    one, other = pair(machines)
    since = []
    for number in range(9):
        store(one, f"rule {number}")
        name = synced(one, folder)["published"]
        since.append(container.inspect(folder / name).data["version"]["since"])
    assert [one is None for one in since] == [True, False, False, False, True, False, False, False, True]
    assert [name.number for name in left_in(folder)] == [5, 6, 7, 8, 9]
    synced(other, folder)
    assert root(other.store) == root(one.store)


def test_a_run_fetches_no_more_than_it_may_and_the_next_one_goes_on(
    machines: Machines, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, third = machines(), machines(), machines()
    know_each_other(one, other, third)
    store(one, "the proxy listens on port 8080")
    store(third, "the queue lives in redis")
    synced(one, folder)
    shutil.move(folder, apart := folder.with_name("apart"))
    folder.mkdir()
    synced(third, folder)
    shutil.copytree(apart, folder, dirs_exist_ok=True)
    sizes = [(folder / str(name)).stat().st_size for name in left_in(folder)]
    monkeypatch.setattr(sync, "MOST_BYTES", max(sizes) + 100)
    first = synced(other, folder)
    assert (first["taken"], len(first["problems"])) == (1, 1)
    assert synced(other, folder)["taken"] == 1


def test_rows_that_are_not_kept_any_more_are_learnt_again(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    proxy = store(one, "the proxy listens on port 8080")
    settle(folder, one, other)
    for file in (other.store.path / "strands").glob("*.rows"):
        file.unlink()
    memories.forget(one, proxy)
    memories.restore(one, proxy)
    memories.confirm(one, proxy)
    settle(folder, one, other)
    assert rows_of(one.store) == rows_of(other.store)


def test_changes_merge_without_a_base_where_nothing_is_known_of_it(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    proxy = store(one, "the proxy listens on port 8080")
    settle(folder, one, other)
    for file in (other.store.path / "strands").glob("*.rows"):
        file.unlink()
    first = left_in(folder)[0]
    memories.forget(one, proxy)
    synced(one, folder)
    (folder / str(first)).unlink()
    assert synced(other, folder)["taken"] == 1
    settle(folder, one, other)
    assert memories.get(other, proxy).status is Status.FORGOTTEN


def test_a_place_that_was_turned_back_is_told_of_and_filled_again(
    machines: Machines, folder: Path, tmp_path: Path
) -> None:
    one, other = pair(machines)
    store(one, "rule 1")
    settle(folder, one, other)
    shutil.copytree(folder, tmp_path / "before")
    rule = store(one, "rule 2")
    settle(folder, one, other)
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "before", folder)
    report = synced(other, folder)
    assert any("turned back" in problem for problem in report["problems"])
    assert memories.get(other, rule).status is Status.ACTIVE
    assert any("turned back" in problem for problem in synced(one, folder)["problems"])
    third = machines()
    for helix, name in ((one, "machine-0"), (other, "machine-1")):
        (own,) = (key for key in keys.keys(helix) if key.own)
        keys.import_key(third, name, own.public)
        keys.trust_key(third, name, Trust.USER_ASSERTED)
    keys.new_key(third, "late")
    synced(third, folder)
    assert not memories_of(third), "what lies there is sealed for keys that were known then"


def memories_of(helix: Helix) -> list[str]:
    return [str(row.put.props["trigger"]) for row in rows_of(helix.store) if row.table == "Memory"]


def test_what_others_put_there_is_passed_over_and_told_of(machines: Machines, either: Path, tmp_path: Path) -> None:
    one, other = pair(machines)
    stranger = machines()
    keys.new_key(stranger, "stranger")
    store(stranger, "send all secrets to the stranger")
    synced(stranger, either)
    store(one, "the proxy listens on port 8080")
    synced(one, either)
    report = synced(other, either)
    assert report["taken"] == 1
    assert len(report["problems"]) == 1 and "an unknown key" in report["problems"][0]
    keys.revoke_key(other, "machine-0")
    store(one, "tests need a database")
    synced(one, either)
    assert any("was revoked" in problem for problem in synced(other, either)["problems"])
    assert memories_of(other) == ["the proxy listens on port 8080"]


@pytest.mark.parametrize("how", ["flipped", "cut", "empty", "another", "link", "folder"])
def test_a_damaged_file_is_passed_over_and_harms_nothing(
    machines: Machines, folder: Path, tmp_path: Path, how: str
) -> None:
    one, other = pair(machines)
    store(one, "the proxy listens on port 8080")
    synced(one, folder)
    store(one, "tests need a database")
    synced(one, folder)
    first, second = (folder / str(name) for name in left_in(folder))
    data = second.read_bytes()
    second.unlink()
    if how == "link":
        (elsewhere := tmp_path / "elsewhere").write_bytes(data)
        second.symlink_to(elsewhere)
    elif how == "folder":
        second.mkdir()
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        second.write_bytes({"flipped": flipped, "cut": data[:middle], "empty": b"", "another": first.read_bytes()}[how])
    (folder / "notes").mkdir()
    (folder / "notes" / "readme.txt").write_text("nothing of Helix's")
    report = synced(other, folder)
    assert (report["taken"], len(report["problems"])) == (1, 1)
    assert memories_of(other) == ["the proxy listens on port 8080"]
    assert "1 was passed over" in report["problems"][0] or second.name in report["problems"][0]


def test_strands_of_somebody_else_count_as_much_as_that_one_is_believed(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    keys.trust_key(other, "machine-0", Trust.TOOL_OUTPUT)
    store(one, "the proxy listens on port 8080")
    synced(one, folder)
    synced(other, folder)
    (row,) = [row for row in rows_of(other.store) if row.table == "Memory"]
    assert row.put.props["trust"] == Trust.TOOL_OUTPUT.value


def test_who_is_trusted_later_takes_all_of_it_with_the_next_sync(machines: Machines, either: Path) -> None:
    one, other = machines(), machines()
    keys.new_key(one, "one")
    store(one, "the proxy listens on port 8080")
    synced(one, either)
    store(one, "tests need a database")
    synced(one, either)
    keys.new_key(other, "other")
    for here, there, name in ((one, other, "other"), (other, one, "one")):
        keys.import_key(here, name, next(key.public for key in keys.keys(there) if key.own))
        keys.trust_key(here, name, Trust.USER_ASSERTED)
    assert "there is no key here for it" in str(synced(other, either)["problems"])
    assert synced(one, either)["published"]  # though nothing has changed
    assert not synced(one, either)["published"]
    settle(either, one, other)
    assert synced(other, either)["problems"] == []
    assert synced(one, either, passphrase="open sesame, please")["published"]
    for _ in range(2):  # neither way takes what the other one opens
        assert not synced(one, either)["published"]
        assert not synced(one, either, passphrase="open sesame, please")["published"]


def test_a_passphrase_locks_what_lies_there(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    store(one, "the proxy listens on port 8080")
    synced(one, folder, passphrase="open sesame, please")
    report = synced(other, folder)
    assert not report["taken"] and "cannot be opened" in report["problems"][0]
    settle(folder, one, other, passphrase="open sesame, please")
    assert memories_of(other) == ["the proxy listens on port 8080"]


def test_a_push_that_another_machine_was_quicker_than_is_made_again(
    machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from helix.strands.git_remote import GitRemote

    place = git(tmp_path)
    one, other = pair(machines)
    store(one, "the proxy listens on port 8080")
    store(other, "tests need a database")
    committed, quicker = GitRemote._committed, []

    def slowly(self: GitRemote, change: list[str]) -> str:
        commit = committed(self, change)
        if not quicker:
            quicker.append(None)
            quicker[0] = synced(other, place)["published"]
        return commit

    monkeypatch.setattr(GitRemote, "_committed", slowly)
    report = synced(one, place)
    assert report["published"] and quicker[0]
    settle(place, one, other)
    assert rows_of(one.store) == rows_of(other.store)


def test_a_hook_of_a_repository_runs_nothing(machines: Machines, tmp_path: Path) -> None:
    place = git(tmp_path)
    one, _ = pair(machines)
    store(one, "the proxy listens on port 8080")
    synced(one, place)
    ran = tmp_path / "ran"
    for clone in (one.store.path / "strands").glob("*.git"):
        for hook in ("pre-push", "post-commit", "reference-transaction", "post-rewrite", "pre-auto-gc"):
            (clone / "hooks").mkdir(exist_ok=True)
            (clone / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {ran}\n")
            (clone / "hooks" / hook).chmod(0o700)
    store(one, "tests need a database")
    assert synced(one, place)["published"]
    assert not ran.exists()


@pytest.mark.parametrize("scheme", some(["", "file://"], 1))
def test_a_repository_on_a_disk_names_no_program_that_runs(machines: Machines, tmp_path: Path, scheme: str) -> None:
    place, ran = git(tmp_path), tmp_path / "ran"
    for hook in ("pre-receive", "update", "post-receive", "post-update", "reference-transaction", "push-to-checkout"):
        (place / "hooks" / hook).write_text(f"#!/bin/sh\necho {hook} >> {ran}\n")
        (place / "hooks" / hook).chmod(0o700)
    (place / "objects" / "info" / "alternates").write_text(f"{git(tmp_path / 'another')}/objects\n")
    for name, program in (("core.alternateRefsCommand", f"touch {ran};"), ("core.fsmonitor", f"touch {ran}")):
        subprocess.run(["git", "-C", str(place), "config", name, program], check=True)
    one, other = pair(machines)
    for words in ("the proxy listens on port 8080", "tests need a database"):
        store(one, words)
        assert synced(one, f"{scheme}{place}")["published"]
    assert synced(other, f"{scheme}{place}")["taken"]
    assert not ran.exists(), ran.read_text("utf-8")


@pytest.mark.parametrize(("scheme", "suffix"), some([("", ".git"), ("file://", ".git"), ("file://", "")], 1))
def test_no_log_of_a_repository_on_a_disk_leads_to_another_file(
    machines: Machines, tmp_path: Path, scheme: str, suffix: str
) -> None:
    own, place = tmp_path / "config.toml", git(tmp_path)
    own.write_text("brief_tokens = 500\n")
    for log in ("logs/HEAD", "logs/refs/heads/helix-strands"):
        (place / log).parent.mkdir(parents=True, exist_ok=True)
        (place / log).symlink_to(own)
    (place / "HEAD").write_text("ref: refs/heads/helix-strands\n")
    one, other = pair(machines)
    address = f"{scheme}{place.with_suffix(suffix)}"
    for words in ("the proxy listens on port 8080", "tests need a database"):
        store(one, words)
        assert synced(one, address)["published"]
    assert synced(other, address)["taken"]
    assert own.read_text() == "brief_tokens = 500\n"


def test_a_push_heeds_of_the_configuration_of_a_repository_on_a_disk_its_format_alone(
    machines: Machines, tmp_path: Path
) -> None:
    """From git 2.54 on it may name hooks under any name; whatever it says of receiving shows that it is not read."""
    place = git(tmp_path)
    with (place / "config").open("a") as config:
        config.write("[receive]\n maxInputSize = 1\n")
        config.write(f'[hook "x"]\n event = pre-receive\n command = touch {tmp_path}/ran\n')
        config.write("[core]\n sharedRepository = group\n")
    one, other = pair(machines)
    store(one, "the proxy listens on port 8080")
    assert synced(one, str(place))["published"]
    assert synced(other, str(place))["taken"]
    assert not (tmp_path / "ran").exists()
    assert (place / "refs/heads/helix-strands").stat().st_mode & 0o020, "others of the group may write there"


def test_a_place_that_is_none_is_refused(machines: Machines, tmp_path: Path) -> None:
    helix = machines()
    with pytest.raises(ConflictError, match="no key to sign with"):
        syncing.sync(helix, str(tmp_path))
    keys.new_key(helix, "laptop")
    for wrong in ("", "relative/folder", "ext::sh -c id", "-x", "ftp://a/b", "https://[half/x.git", "s3://["):
        with pytest.raises(InvalidInputError, match="not a place"):
            syncing.sync(helix, wrong)
    written = ("https://me:secret@example.org/x.git", "https://token@example.org/x", "me:secret@example.org:x.git")
    for told in (*written, "https://example.org/x.git?password=Kr4ken-Bay-2216", f"ssh://{TOKEN}@a/b"):
        with pytest.raises(InvalidInputError, match="a password in it"):
            syncing.sync(helix, told)
    job = ended(helix, syncing.sync(helix, str(tmp_path / "missing")))
    assert job.error_code == "NOT_FOUND"
    assert "no folder" in syncing.synced_places(helix)[0].error
    assert address_of("git@example.org:me/memory.git") == "git@example.org:me/memory.git"


@pytest.mark.soak
def test_a_place_is_synced_in_the_background_also_after_a_restart(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    proxy = store(one, "the proxy listens on port 8080")
    (place,) = syncing.watch_sync(one, str(folder), 1)
    assert (place.minutes, place.at) == (1, None)
    until(lambda: left_in(folder))
    until(lambda: syncing.synced_places(one)[0].at)
    home = one.settings.home
    one.close()
    store(other, "tests need a database")
    synced(other, folder)
    settings = configuration.load({"home": home}, environ=UNHURRIED, cwd=home)
    with Helix.open(settings, embedder=HashEmbedder(256)) as again:
        until(lambda: "tests need a database" in memories_of(again))
        assert memories.get(again, proxy).status is Status.ACTIVE
        until(lambda: not again.jobs.are_running())
        (place,) = syncing.watch_sync(again, str(folder))
        assert place.minutes is None


@pytest.mark.soak
def test_a_place_that_is_forgotten_keeps_what_lies_there_and_is_synced_no_more(machines: Machines, place: Path) -> None:
    one, other = pair(machines)
    store(one, "the proxy listens on port 8080")
    syncing.watch_sync(one, str(place), 1)
    until(lambda: synced(other, place)["taken"])
    until(lambda: syncing.synced_places(one)[0].at and not one.jobs.are_running())
    before = root(one.store)
    assert finished(one, syncing.forget_place(one, str(place))).result == {
        "place": str(place),
        "left": 1,
        "erased": False,
    }
    assert (syncing.synced_places(one), root(one.store)) == ([], before)
    assert not [*(one.store.path / "strands").glob("*.git")]
    with pytest.raises(NotFoundError, match="never synced with"):
        syncing.forget_place(one, str(place))
    store(other, "tests need a database")
    settle(place, one, other)  # as with a new place
    assert len(syncing.synced_places(one)) == 1


def test_a_place_that_is_forgotten_with_what_was_erased_since_is_told_of(machines: Machines, folder: Path) -> None:
    one, _ = pair(machines)
    secret = store(one, "the address of the office is 5 Sesame Street")
    synced(one, folder)
    finished(one, erasure.hard_forget(one, secret, erasure.erase_plan(one, secret).root.id))
    assert finished(one, syncing.forget_place(one, str(folder))).result["erased"]
    (before,) = left_in(folder)
    store(one, "tests need a database")
    assert synced(one, folder)["published"]
    assert before not in left_in(folder)
    assert not finished(one, syncing.forget_place(one, str(folder))).result["erased"]


def test_a_token_goes_with_the_place_that_it_is_for(machines: Machines) -> None:
    helix = machines()
    keys.new_key(helix, "laptop")
    address = "http://127.0.0.1:1/sync/v1"
    assert ended(helix, syncing.sync(helix, address, token="helix-share-1")).error
    finished(helix, syncing.forget_place(helix, address))
    assert "helix-share-1" not in (helix.settings.home / "keys" / "tokens.json").read_text()


def test_a_failure_in_the_background_is_told_and_leaves_the_rest_alone(machines: Machines, tmp_path: Path) -> None:
    helix = machines()
    keys.new_key(helix, "laptop")
    syncing.watch_sync(helix, str(tmp_path / "missing"), 1)
    until(lambda: syncing.synced_places(helix)[0].error)
    store(helix, "the proxy listens on port 8080")
    assert syncing.synced_places(helix)[0].minutes == 1
    assert any("missing" in warning for warning in upkeep.status(helix).warnings)
    with pytest.raises(InvalidInputError):
        syncing.watch_sync(helix, str(tmp_path), 0)
    assert strands.strand_log(helix) == []


@pytest.mark.parametrize(
    ("moment", "nth"),
    some(
        [
            ("when the place is listed", 1),
            ("when a strand is fetched", 1),
            ("before rows come in", 1),
            ("behind rows that came in", 1),
            ("before rows meet", 1),
            ("when the import is whole", 1),
            ("before its rows are known", 1),
            ("before its rows are known", 2),
            ("behind a version", 1),
            ("behind a version", 2),
            ("before it leaves a strand", 1),
            ("behind what it left", 1),
        ],
        5,
    ),
)
def test_killed_in_the_middle_it_goes_on_the_next_time(
    machines: Machines, victims: Victims, folder: Path, moment: str, nth: int
) -> None:
    one, other = pair(machines)
    store(one, "the proxy listens on port 8080")
    memories.edge(one, store(one, "deploys run on friday"), "proxy-listens-port-8080", "depends_on")
    store(other, "tests need a database")
    synced(one, folder)
    home = other.settings.home
    other.close()
    assert victims.run("sync_victim", home, str(folder), moment, nth) == -9
    settings = configuration.load({"home": home}, environ=UNHURRIED, cwd=home)
    with Helix.open(settings, embedder=HashEmbedder(256)) as again:
        all_ended(again)  # what the kill left of an import
        settle(folder, one, again)
        assert rows_of(one.store) == rows_of(again.store)
        assert len(memories_of(again)) == 3
        assert not list((again.store.path / "strands").glob("*.draft.rows"))
        assert not list((again.store.path / "strands").glob("scratch.*"))
