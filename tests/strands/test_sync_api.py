"""Holds what `/sync/v1` promises: a store is exchanged with those who share it, of their scopes and by their rights."""

from __future__ import annotations

import hashlib
import json
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from exchanging import root, rows_of
from test_carrying import store
from test_sync import synced

from helix import resources
from helix.api.sync_api import SyncApi
from helix.errors import ConflictError, InvalidInputError, UnauthorizedError
from helix.model.clock import system_clock
from helix.model.edge import Label, Ref
from helix.model.memory import Status
from helix.model.operations import PutNode
from helix.model.provenance import Trust
from helix.model.strand import SYNC_PATH, MemoryShare
from helix.model.tombstone import is_tombstone, tombstone
from helix.operations import erasure, memories, sharing, syncing
from helix.operations import strand_keys as keys
from helix.service import Helix
from helix.store.erasing import SHARED, STRANDS
from helix.strands import container, http_remote, shared_place
from helix.strands.http_remote import HttpRemote
from helix.strands.keyring import Sealing
from helix.strands.lineage import version_id
from helix.strands.place import SHORT, StrandName
from helix.strands.rows import Selection, StrandRow, Tree, row_digest, row_of, schema_number
from helix.strands.shared_place import SharedPlace
from tests.api.api_server import Answer, Served, serving
from tests.strands.conftest import Machines
from tests.waiting import ended, finished, until

API, OTHER = "acme/api", "acme/secrets"
DOCUMENT: Mapping[str, Any] = json.loads(resources.text("schema", "sync/openapi.json"))


class Team:
    """A Helix that shares its memory over HTTP, and those it shares it with."""

    def __init__(self, server: Helix, served: Served) -> None:
        self.server, self.served = server, served
        keys.new_key(server, "team")
        (self.key,) = (key.public for key in keys.keys(server) if key.own)
        self.tokens: dict[str, str] = {}
        self.scopes: dict[str, tuple[str, ...]] = {}

    @property
    def address(self) -> str:
        return f"{self.served.origin}{SYNC_PATH}"

    def admit(
        self, member: Helix, name: str, *scopes: str, trust: Trust = Trust.USER_ASSERTED, **options: Any
    ) -> MemoryShare:
        """Let a member in: both sides know each other's keys, and the member has a token."""
        public = keys.new_key(member, name).public
        keys.import_key(member, "team", self.key)
        keys.trust_key(member, "team", trust)
        keys.import_key(self.server, name, public)
        keys.trust_key(self.server, name, trust)
        share = sharing.new_share(self.server, name, list(scopes or (API,)), **options)
        self.tokens[name], self.scopes[name] = share.token, share.scopes
        return share

    def sync(self, member: Helix, name: str) -> Mapping[str, Any]:
        return synced(member, self.address, token=self.tokens[name], scopes=self.scopes[name])

    def ask(self, method: str, path: str, body: bytes | None = None, *, name: str = "ada", **headers: str) -> Answer:
        """Ask as a member does; the answer has to be one that the document speaks of."""
        told = {
            "authorization": f"Bearer {self.tokens[name]}",
            **{key.replace("_", "-"): headers[key] for key in headers},
        }
        answer = self.served.request(method, SYNC_PATH + path, body, told)
        check(method, path, answer)
        return answer

    def leave(self, name: StrandName, content: bytes, offset: int = 0) -> Answer:
        told = {"upload_offset": str(offset), "upload_length": str(len(content))}
        return self.ask("PATCH", f"/uploads/{name}", content[offset:], **told)


def check(method: str, path: str, answer: Answer) -> None:
    """Fail where the document does not speak of an answer, or speaks of another one."""
    path = path.partition("?")[0]
    found = [one for one in DOCUMENT["paths"] if re.fullmatch(re.sub(r"\{\w+\}", ".+", one), path)]
    said = DOCUMENT["paths"][found[0]][method.lower()]["responses"][str(answer.status)]
    if "$ref" in said:
        said = DOCUMENT["components"]["responses"][said["$ref"].rpartition("/")[2]]
    for header in said.get("headers", {}):
        assert header.lower() in answer.headers, (method, path, header)
    if "application/json" in said.get("content", {}):
        schema = said["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json, {**schema, "components": DOCUMENT["components"]})


@pytest.fixture
def team(machines: Machines) -> Iterator[Team]:
    server = machines()
    with serving(server) as served:
        yield Team(server, served)


def of(helix: Helix, *scopes: str) -> str:
    """Return the root over some scopes of a store."""
    return root(helix.store, Selection.of(scopes))


def words_in(helix: Helix) -> str:
    return "\n".join(text for row in rows_of(helix.store) for text in row.texts)


def settle(team: Team, members: Mapping[str, Helix]) -> None:
    for _ in range(6):
        moved = [team.sync(member, name) for name, member in members.items()]
        if not any(one["taken"] or one["published"] for one in moved):
            return
    raise AssertionError("they never come to an end")


def test_a_team_comes_to_the_same_and_other_scopes_stay_where_they_are(team: Team, machines: Machines) -> None:
    ada, bob = machines(), machines()
    team.admit(ada, "ada")
    team.admit(bob, "bob")
    first = store(ada, "the proxy listens on port 8080", scope=API)
    store(ada, "adas own diary", scope="global")
    store(bob, "tests need a database", scope=API)
    store(team.server, "the deploy key rotates", scope=OTHER)
    settle(team, {"ada": ada, "bob": bob})
    assert of(ada, API) == of(bob, API) == of(team.server, API)
    for helix in (team.server, bob):
        assert "adas own diary" not in words_in(helix)
    for helix in (ada, bob):
        assert "the deploy key rotates" not in words_in(helix)
        assert "tests need a database" in words_in(helix)
    memories.forget(bob, first)
    settle(team, {"bob": bob, "ada": ada})
    assert memories.get(ada, first).status is Status.FORGOTTEN


def test_nothing_is_moved_where_nothing_changed(team: Team, machines: Machines) -> None:
    ada = machines()
    team.admit(ada, "ada")
    store(ada, "the proxy listens on port 8080", scope=API)
    settle(team, {"ada": ada})
    before = team.ask("GET", "/strands").json
    told = team.sync(ada, "ada")
    assert (told["taken"], told["published"], told["problems"]) == (0, "", [])
    assert team.ask("GET", "/strands").json == before


def test_who_only_reads_takes_and_leaves_nothing(team: Team, machines: Machines) -> None:
    ada = machines()
    share = team.admit(ada, "ada", write=False)
    store(team.server, "tests need a database", scope=API)
    store(ada, "the proxy listens on port 8080", scope=API)
    told = team.sync(ada, "ada")
    assert (told["taken"], told["published"]) == (1, "")
    assert "tests need a database" in words_in(ada)
    name = StrandName(share.key.rpartition(":")[2][:SHORT], 1, "0" * SHORT, "0" * SHORT)
    assert team.leave(name, b"anything").code == "INVALID_INPUT"
    team.sync(ada, "ada")
    assert "the proxy" not in words_in(team.server)


def test_a_member_is_believed_no_more_than_its_key(team: Team, machines: Machines) -> None:
    ada = machines()
    team.admit(ada, "ada", trust=Trust.TOOL_OUTPUT)
    made = store(ada, "the proxy listens on port 8080", scope=API)
    mine = store(team.server, "tests need a database", scope=API)
    settle(team, {"ada": ada})
    assert memories.get(team.server, made).provenance.trust is Trust.TOOL_OUTPUT
    assert memories.get(ada, made).provenance.trust is memories.get(team.server, mine).provenance.trust


def test_a_token_opens_its_share_until_that_is_revoked(team: Team, machines: Machines) -> None:
    ada = machines()
    share = team.admit(ada, "ada")
    assert team.ask("GET", "/").json["scopes"] == [API]
    kept = Path(team.server.settings.home / "keys" / "shares.json").read_text()
    assert share.token not in kept
    assert [one.token for one in sharing.shares(team.server)] == [""]
    for shown in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Bearer a-token-of-the-tests"}):
        assert team.served.request("GET", f"{SYNC_PATH}/strands", headers=shown).status == 401
    as_member = {"authorization": f"Bearer {share.token}", "content-type": "application/json"}
    for path in ("/graphql", "/metrics", "/mcp", "/hooks/claude"):
        assert team.served.request("POST", path, b'{"query":"{ health }"}', as_member).status == 401
    left = StrandName("0" * SHORT, 1, "0" * SHORT, "0" * SHORT)
    SharedPlace(team.server.store.path, share).publish(team.server.settings.home / "keys" / "shares.json", str(left))
    keys.revoke_key(team.server, "ada")
    assert team.ask("GET", "/strands").status == 401
    assert not lying_there(team)
    syncing.PlaceTokens(ada.settings.home).keep(team.address, share.token)
    with pytest.raises(UnauthorizedError, match=r"the token for .* is not known there"):
        raise_from(ada, team)


@pytest.mark.soak
def test_a_share_gives_nothing_that_another_one_of_its_name_had(team: Team, machines: Machines) -> None:
    ada = machines()
    team.admit(ada, "ada", API, OTHER)
    store(ada, "the proxy listens on port 8080", scope=API)
    store(team.server, "the deploy key rotates on fridays", scope=OTHER)
    settle(team, {"ada": ada})
    sharing.revoke_share(team.server, "ada")
    assert not lying_there(team)
    team.tokens["ada"], team.scopes["ada"] = sharing.new_share(team.server, "ada", [API]).token, (API,)
    assert team.ask("GET", "/strands").json == {"strands": []}
    store(team.server, "the cache lives in redis", scope=API)
    store(team.server, "the deploy key moved to the vault", scope=OTHER)
    assert not team.sync(ada, "ada")["problems"]
    settle(team, {"ada": ada})
    assert "redis" in words_in(ada) and "vault" not in words_in(ada)


def test_what_a_turn_under_way_leaves_behind_its_revocation_is_in_no_share(team: Team, machines: Machines) -> None:
    """The folder of a share is its own, so that no later one of the name serves what comes into it too late."""
    ada = machines()
    before = team.admit(ada, "ada", API, OTHER)
    sharing.revoke_share(team.server, "ada")
    name = StrandName("0" * SHORT, 1, "0" * SHORT, "0" * SHORT)
    late = machines().settings.home / "late"
    late.write_bytes(b"rows of another scope")
    SharedPlace(team.server.store.path, before).publish(late, str(name))
    team.tokens["ada"] = sharing.new_share(team.server, "ada", [API]).token
    assert team.ask("GET", "/strands").json == {"strands": []}
    assert team.ask("GET", f"/strands/{name}").status == 404


def reshared(team: Team, *scopes: str) -> None:
    """Have the other side say all at once that it shares other scopes."""
    kept = team.server.settings.home / "keys" / "shares.json"
    said = json.loads(kept.read_text())
    kept.write_text(json.dumps({name: {**one, "scopes": list(scopes)} for name, one in said.items()}))


@pytest.mark.parametrize("before", [True, False])
def test_the_other_side_does_not_say_what_of_this_store_it_gets(team: Team, machines: Machines, before: bool) -> None:
    ada = machines()
    team.admit(ada, "ada", trust=Trust.TOOL_OUTPUT)
    store(ada, "adas own diary", scope="global")
    store(ada, "the proxy listens on port 8080", scope=API)
    if before:
        settle(team, {"ada": ada})
    reshared(team, "global")
    for scopes in ({}, {"scopes": [API]}, {"scopes": []}):
        job = ended(ada, syncing.sync(ada, team.address, token=team.tokens["ada"], **scopes))
        assert "diary" not in words_in(team.server)
        assert job.error_code == ConflictError.code and "global" in (job.error or "")
    told = synced(ada, team.address, scopes=["global"])
    assert told["published"] and "diary" in words_in(team.server)


def raise_from(member: Helix, team: Team) -> None:
    """Sync, and raise what the job failed with."""
    job = ended(member, syncing.sync(member, team.address))
    for kind in (UnauthorizedError, InvalidInputError):
        if job.error_code == kind.code:
            raise kind(job.error or "")
    raise AssertionError(job)


def test_a_store_without_the_key_of_the_other_side_leaves_nothing(team: Team, machines: Machines) -> None:
    ada = machines()
    team.admit(ada, "ada")
    store(ada, "the proxy listens on port 8080", scope=API)
    keys.revoke_key(ada, "team")
    syncing.PlaceTokens(ada.settings.home).keep(team.address, team.tokens["ada"])
    with pytest.raises(UnauthorizedError, match="revoked"):
        raise_from(ada, team)
    assert team.ask("GET", "/strands").json == {"strands": []}


def sealing(team: Team, member: Helix) -> Sealing:
    return keys.keyring_of(member).sealing_between(None, team.key)


def crafted(
    team: Team, member: Helix, folder: Path, rows: Sequence[StrandRow], scopes: Sequence[str] = (API,), **said: Any
) -> tuple[StrandName, bytes]:
    """Return a strand that a member signed as its Helix never would, and its name."""
    by, tree, file = sealing(team, member), Tree(), folder / f"{len(list(folder.iterdir()))}.dna"
    rows = sorted(rows, key=lambda row: row.key)
    for row in rows:
        tree.add(row, row_digest(row.line()))
    selection = Selection.of(scopes).named
    version = {"id": version_id(selection, tree.root, []), "parents": [], "ancestry": [], "selection": selection}
    counts = {"nodes": tree.nodes, "edges": tree.edges, "tombstones": sum(row.is_erased for row in rows)}
    fields = {
        "schema": schema_number(),
        "created_at": system_clock().isoformat(),
        "embedding": None,
        "scopes": sorted(tree.groups),
        "version": {**version, "since": None, "why": "", "tag": "", "who": "ada"},
        "root": tree.root,
        "groups": tree.groups,
        "history": "none",
        "counts": {**counts, "texts": tree.texts, "gone": 0, "changes": 0},
        **said,
    }
    keyed = {"signer": by.signer, "passphrase": None, "recipients": by.recipients}
    container.write(file, (row.line() for row in rows), lambda: fields, **keyed)  # type: ignore[arg-type]
    return named(by, version["id"], file.read_bytes()), file.read_bytes()


def named(by: Sealing, version: str, content: bytes, number: int = 1) -> StrandName:
    signer = bytes(by.signer.verify_key).hex()[:SHORT]
    return StrandName(signer, number, version[:SHORT], hashlib.sha256(content).hexdigest()[:SHORT])


def lying_there(team: Team) -> list[Path]:
    """Return every file of the shares' places."""
    folder = team.server.store.path / STRANDS / SHARED
    return [file for file in folder.rglob("*") if file.is_file()]


def test_what_is_no_strand_of_the_share_is_refused_and_nothing_of_it_stays(
    team: Team, machines: Machines, tmp_path: Path
) -> None:
    ada = machines()
    team.admit(ada, "ada")
    store(ada, "the proxy listens on port 8080", scope=API)
    (tmp_path / "out").mkdir()
    rows = [row for row in rows_of(ada.store) if row.scope == API]
    name, content = crafted(team, ada, tmp_path / "out", rows)
    wrong = [
        (named(sealing(team, ada), "0" * 32, b"no strand at all"), b"no strand at all"),
        (named(sealing(team, ada), "0" * 32, content), content),
        (StrandName(name.signer, 1, name.version, "0" * SHORT), content),
        (StrandName("0" * SHORT, 1, name.version, name.sha256), content),
        (StrandName(name.signer, 1, name.version, name.sha256), content[:-512]),
        crafted(team, ada, tmp_path / "out", rows, scopes=(API, OTHER)),
        crafted(team, ada, tmp_path / "out", rows, scopes=(OTHER,)),
    ]
    stranger = machines()
    keys.new_key(stranger, "eve")
    keys.import_key(stranger, "team", team.key)
    wrong.append(crafted(team, stranger, tmp_path / "out", rows))
    for other, told in wrong:
        answer = team.leave(other, told)
        assert answer.code == "INVALID_INPUT", other
        assert str(team.server.settings.home) not in answer.body.decode()  # where it lies is nobody else's matter
    assert not lying_there(team)
    for path in ("../../token", "x", "%2e%2e/%2e%2e/token", f"{name}/../..", f"{name}%00"):
        for method in ("GET", "DELETE"):
            assert team.ask(method, f"/strands/{path}").status == 400
        assert team.ask("HEAD", f"/uploads/{path}").status == 400
    told = {"upload_offset": "0", "upload_length": str(shared_place.MOST_BYTES + 1)}
    assert team.ask("PATCH", f"/uploads/{name}", b"x", **told).status == 400
    for header in ("", "-1", "x", "9" * 30):
        assert team.ask("PATCH", f"/uploads/{name}", b"x", upload_offset=header, upload_length="1").status == 400
    assert team.leave(name, content).status == 201
    assert [file.read_bytes() for file in lying_there(team)] == [content]


def test_what_one_may_leave_in_all_has_an_end(
    team: Team, machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = machines()
    team.admit(ada, "ada")
    rows = [row for row in rows_of(ada.store) if row.scope == API]
    (tmp_path / "out").mkdir()
    name, content = crafted(team, ada, tmp_path / "out", rows)
    monkeypatch.setattr(shared_place, "MOST_IN_ALL", len(content) + 100)
    assert team.leave(name, content).status == 201
    again, more = crafted(team, ada, tmp_path / "out", rows)
    assert team.leave(again, more).code == "INVALID_INPUT"
    small = {"upload_offset": "0", "upload_length": "50"}
    assert team.ask("PATCH", f"/uploads/{again}", more[:1], **small).status == 204
    assert team.leave(again, more, offset=1).code == "INVALID_INPUT"
    assert [file.read_bytes() for file in lying_there(team) if file.suffix == ".dna"] == [content]


def patched(helix: Helix, row: StrandRow, **props: Any) -> StrandRow:
    put = row.put
    assert isinstance(put, PutNode)
    return row_of(PutNode(label=put.label, id=put.id, props={**put.props, **props}), row.texts)


def test_a_signed_strand_changes_nothing_outside_of_its_scopes(team: Team, machines: Machines, tmp_path: Path) -> None:
    """Ada is believed as much as can be: she may still not touch what is not shared with her."""
    ada = machines()
    team.admit(ada, "ada")
    secret = store(team.server, "the deploy key rotates", scope=OTHER)
    held = next(row for row in rows_of(team.server.store) if row.key == ("0", "Memory", secret))
    erased = tombstone(Ref.memory(secret), held.put.props, system_clock())
    assert isinstance(erased, PutNode)
    (tmp_path / "out").mkdir()
    before = of(team.server, OTHER)
    for number, rows in enumerate(
        (
            [patched(ada, held, resolution="ada says so")],
            [patched(ada, held, resolution="ada says so", scope=API)],
            [row_of(PutNode(label=Label.MEMORY, id=secret, props={**erased.props, "scope": API}))],
        ),
        1,
    ):
        name, content = crafted(team, ada, tmp_path / "out", rows)
        team.leave(StrandName(name.signer, number, name.version, name.sha256), content)
        job = team.ask("POST", "/turns").json["job"]
        until(lambda job=job: team.ask("GET", f"/turns/{job}").json["state"] != "running")
        assert of(team.server, OTHER) == before
    assert memories.get(team.server, secret).resolution == ""


def test_an_erasure_reaches_the_other_side_and_every_strand_that_was_left(team: Team, machines: Machines) -> None:
    ada = machines()
    team.admit(ada, "ada")
    gone = store(ada, "the passphrase of the vault is on the wall", scope=API)
    store(ada, "tests need a database", scope=API)
    settle(team, {"ada": ada})
    store(team.server, "the proxy listens on port 8080", scope=API)
    settle(team, {"ada": ada})
    before = {file.name for file in lying_there(team)}
    finished(ada, erasure.hard_forget(ada, gone, erasure.erase_plan(ada, gone).root.id))
    settle(team, {"ada": ada})
    (left,) = (row for row in rows_of(team.server.store) if row.key == ("0", "Memory", gone))
    assert is_tombstone(left.put.props)
    assert "vault" not in words_in(team.server)
    assert not before & {file.name for file in lying_there(team)}
    assert of(ada, API) == of(team.server, API)


class Cutting:
    """A proxy that ends each of its first connections after so many bytes of what it carries."""

    def __init__(self, port: int, cuts: Sequence[int]) -> None:
        self._to, self._cuts = port, list(cuts)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._socket.accept()
                most = self._cuts.pop(0) if self._cuts else 1 << 40
                there = socket.create_connection(("127.0.0.1", self._to))
                ends = [self._carry(here, there, most), self._carry(there, here, most)]
                threading.Thread(target=self._closed, args=(ends, here, there), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket, most: int) -> threading.Thread:
        def carry() -> None:
            left = most
            with suppress(OSError):
                while left > 0 and (data := one.recv(min(left, 1 << 14))):
                    other.sendall(data)
                    left -= len(data)
            if left <= 0:
                for end in (one, other):
                    with suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)

        thread = threading.Thread(target=carry, daemon=True)
        thread.start()
        return thread

    def _closed(self, ends: Sequence[threading.Thread], *sockets: socket.socket) -> None:
        for thread in ends:
            thread.join()
        for one in sockets:
            one.close()


@contextmanager
def cut(team: Team, cuts: Sequence[int]) -> Iterator[Callable[[str], HttpRemote]]:
    """Have a member's connections break off. The Host that the server wants is its own, as behind any proxy."""
    with ExitStack() as stack:
        proxy = Cutting(team.served.port, cuts)
        stack.callback(proxy.close)

        def remote(name: str) -> HttpRemote:
            found = HttpRemote(f"http://127.0.0.1:{proxy.port}{SYNC_PATH}", team.tokens[name], lambda: False)
            stack.callback(found.close)
            return found

        yield remote


@pytest.mark.soak
def test_what_breaks_off_goes_on_where_it_ended(
    team: Team, machines: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_remote, "PART_BYTES", 4_000)
    ada = machines()
    team.admit(ada, "ada")
    for number in range(40):
        store(ada, f"the proxy {random.Random(number).randbytes(200).hex()} listens", scope=API)
    (tmp_path / "out").mkdir()
    name, content = crafted(team, ada, tmp_path / "out", [row for row in rows_of(ada.store) if row.scope == API])
    (source := tmp_path / "source.dna").write_bytes(content)
    assert len(content) > 12_000
    with cut(team, [300, 3_000, 1 << 40, 2_000]) as remote:
        remote("ada").publish(source, str(name))
    with cut(team, [900, 6_000, 5_000]) as remote:
        remote("ada").fetch(str(name), tmp_path / "fetched.dna", 1 << 20)
    assert (tmp_path / "fetched.dna").read_bytes() == content
    whole = HttpRemote(team.address, team.tokens["ada"], lambda: False)
    with closing(whole), pytest.raises(InvalidInputError, match="may be fetched"):
        whole.fetch(str(name), tmp_path / "large.dna", 1_000)


def test_all_requests_go_by_one_connection(team: Team, machines: Machines) -> None:
    team.admit(machines(), "ada")
    with cut(team, [1 << 40, *[0] * 5]) as remote:  # whoever connects again is cut off
        ada = remote("ada")
        assert ada.terms().may_leave and ada.names() == []


def test_parts_that_do_not_fit_are_told_where_to_go_on(team: Team, machines: Machines, tmp_path: Path) -> None:
    ada = machines()
    team.admit(ada, "ada")
    store(ada, "the proxy listens on port 8080", scope=API)
    (tmp_path / "out").mkdir()
    rows = [row for row in rows_of(ada.store) if row.scope == API]
    name, content = crafted(team, ada, tmp_path / "out", rows)
    half = len(content) // 2
    told = {"upload_offset": "0", "upload_length": str(len(content))}
    assert team.ask("PATCH", f"/uploads/{name}", content[:half], **told).status == 204
    again = team.ask("PATCH", f"/uploads/{name}", content[:half], **told)
    assert (again.status, again.headers["upload-offset"]) == (409, str(half))
    other, otherwise = crafted(team, ada, tmp_path / "out", rows, created_at="2020-01-01T00:00:00+00:00")
    assert (
        team.ask("PATCH", f"/uploads/{other}", otherwise[:10], **{**told, "upload_length": str(len(otherwise))}).status
        == 204
    )
    assert team.ask("HEAD", f"/uploads/{name}").headers["upload-offset"] == "0"  # one comes in at a time
    assert team.leave(name, content).status == 201
    assert team.ask("HEAD", f"/uploads/{name}").headers["upload-complete"] == "?1"
    ranged = team.ask("GET", f"/strands/{name}", range="bytes=10-19")
    assert (ranged.status, ranged.body) == (206, content[10:20])
    assert team.ask("DELETE", f"/strands/{name}").status == 204
    assert team.ask("GET", f"/strands/{name}").status == 404


def test_the_document_tells_of_every_route(team: Team, machines: Machines) -> None:
    team.admit(machines(), "ada")
    assert team.ask("GET", "/openapi.json").json == DOCUMENT
    told = {(path, method.upper()) for path, methods in DOCUMENT["paths"].items() for method in methods}
    routes: Any = SyncApi.mount(SyncApi.__new__(SyncApi)).routes
    there = {(route.path.replace(":path", ""), method) for route in routes for method in route.methods}
    assert told <= there
    assert there - told == {(path, "HEAD") for path, method in told if method == "GET"}


def test_a_place_is_synced_in_some_scopes_alone(machines: Machines, tmp_path: Path) -> None:
    """Without a server, too: what is left in a folder is of the scopes that were said, now and later."""
    (place := tmp_path / "place").mkdir()
    one, other = machines(), machines()
    for here, there, name in ((one, other, "one"), (other, one, "other")):
        keys.new_key(here, name)
        keys.import_key(there, name, next(key.public for key in keys.keys(here) if key.own))
        keys.trust_key(there, name, Trust.USER_ASSERTED)
    store(one, "the proxy listens on port 8080", scope=API)
    store(one, "the deploy key rotates", scope=OTHER)
    for _ in range(2):
        synced(one, place, scopes=[API])
        synced(other, place, scopes=[API])
    assert of(one, API) == of(other, API)
    assert "deploy key" not in words_in(other)
    assert [(one.place, one.scopes) for one in syncing.synced_places(other)] == [(str(place), (API,))]
    synced(one, place)  # as before
    assert "deploy key" not in words_in(other)
    synced(other, place, scopes=[])  # all of it from now on
    problems = synced(one, place)["problems"]
    assert any("other scopes" in problem for problem in problems)
