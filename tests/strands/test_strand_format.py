"""Holds the format of strands: a second reader and writer understands it, and no hostile one is believed."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import independent
import pytest
from exchanging import root, rows_of
from format_vectors import MEMORY, NUMBERS, VECTOR, vectors
from nacl.signing import SigningKey

from helix.errors import ConflictError, InvalidInputError, UnauthorizedError
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Ref
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.operations import memories, strands
from helix.operations import strand_keys as keys
from helix.service import Helix
from helix.strands import container
from helix.strands.rows import read_row, row_digest
from helix.strands.sealed import opener
from tests.strands.conftest import Machines
from tests.waiting import ended, finished

VECTORS: dict[str, Any] = json.loads((Path(__file__).parent / "vectors.json").read_text("utf-8"))
EVERY: dict[str, Any] = VECTORS["every"]
SEED = bytes.fromhex(VECTORS["seed"])
WORDS = str(VECTORS["passphrase"])


@pytest.fixture
def strand(tmp_path: Path) -> Path:
    """The strand of the test vectors, as a file."""
    file = tmp_path / "vector.dna"
    file.write_bytes(base64.b64decode(VECTORS["strand"]))
    return file


def believing(helix: Helix, trust: Trust = Trust.USER_ASSERTED) -> Helix:
    """Have a machine believe the signer of the vectors."""
    keys.import_key(helix, "vectors", f"helix-key1:{VECTORS['signer']}")
    keys.trust_key(helix, "vectors", trust)
    return helix


def test_the_vectors_are_what_the_format_says() -> None:
    for made, held in ((vectors(), VECTORS), (vectors()["every"], EVERY)):
        but = {"strand": "", "every": ""}
        assert {**made, **but} == {**held, **but}
        rows = [line for line in held["lines"] if json.loads(line)["t"] in ("node", "edge")]
        for line, of_row in zip(rows, held["digests"], strict=True):
            row = read_row(json.loads(line))
            assert row.line().decode() == line
            assert row_digest(row.line()).hex() == of_row
        said, lines = independent.read(base64.b64decode(held["strand"]), WORDS)
        assert [independent.canonical(line).decode() for line in lines] == held["lines"]
        assert (said["root"], said["groups"], said["version"]["id"]) == (held["root"], held["groups"], held["version"])


def test_every_kind_of_line_of_the_second_writer_is_taken_in(machines: Machines, tmp_path: Path) -> None:
    helix, file = believing(machines()), tmp_path / "every.dna"
    file.write_bytes(base64.b64decode(EVERY["strand"]))
    finished(helix, strands.import_strand(helix, str(file), passphrase=WORDS))
    assert root(helix.store) == EVERY["root"]
    assert [row.line().decode() for row in rows_of(helix.store)] == [
        line for line in EVERY["lines"] if json.loads(line)["t"] in ("node", "edge")
    ]
    assert helix.store.index.vectors_of(Ref.memory(MEMORY["id"])) == [struct.pack("<256f", *NUMBERS)]
    written = tmp_path / "written.dna"
    keys.new_key(helix, "laptop")
    finished(helix, strands.export_strand(helix, str(written), passphrase=WORDS))
    said, lines = independent.read(written.read_bytes(), WORDS)
    assert said["counts"]["tombstones"] == 1
    assert [line["v"] for line in lines if line["t"] == "vec" and line["id"] == MEMORY["id"]] == [VECTOR["v"]]


def test_helix_takes_in_what_the_second_writer_wrote(machines: Machines, strand: Path) -> None:
    helix = believing(machines())
    finished(helix, strands.import_strand(helix, str(strand), passphrase=WORDS))
    (memory,) = helix.store.index.memories(Status.ACTIVE)
    assert memory.trigger == VECTORS["rows"][0]["props"]["trigger"]
    assert root(helix.store) == VECTORS["root"]
    assert strands.strand_log(helix)[0].id == VECTORS["version"]


def test_the_second_reader_reads_what_helix_wrote(machines: Machines, tmp_path: Path, strand: Path) -> None:
    helix = believing(machines())
    finished(helix, strands.import_strand(helix, str(strand), passphrase=WORDS))
    memories.confirm(helix, "proxy-port")
    keys.new_key(helix, "laptop")
    file = tmp_path / "written.dna"
    finished(helix, strands.export_strand(helix, str(file), passphrase=WORDS, history="all"))
    said, lines = independent.read(file.read_bytes(), WORDS)
    assert said["root"] == root(helix.store)
    assert [line["id"] for line in lines if line["t"] == "node"] == [VECTORS["rows"][0]["id"]]
    assert [len(line["v"]) for line in lines if line["t"] == "vec"] == [1]
    assert {line["change"]["kind"] for line in lines if line["t"] == "change"} == {"strand", "confirm"}


def test_what_is_sealed_for_a_key_is_opened_by_the_other_program_and_the_other_way_round(
    machines: Machines, tmp_path: Path
) -> None:
    helix, file = believing(machines()), tmp_path / "sealed.dna"
    own = keys.new_key(helix, "laptop").public.removeprefix("helix-key1:")
    file.write_bytes(independent.write(VECTORS["rows"], SEED, WORDS, recipients=[bytes.fromhex(own)]))
    finished(helix, strands.import_strand(helix, str(file)))
    memories.edge(
        helix, "proxy-port", memories.store(helix, StoreRequest(trigger="b", resolution="", kind="fact")).id, "solves"
    )
    written = tmp_path / "written.dna"
    finished(helix, strands.export_strand(helix, str(written), recipients=["vectors"]))
    said, lines = independent.read(written.read_bytes(), SEED)
    assert said["root"] == root(helix.store)
    assert "SOLVES" in {line["type"] for line in lines if line["t"] == "edge"}
    assert root(helix.store) != VECTORS["root"]


def test_no_key_and_no_wrong_passphrase_opens_a_strand(machines: Machines, strand: Path) -> None:
    helix = machines()
    with pytest.raises(UnauthorizedError, match="not known here"):
        strands.import_strand(helix, str(strand), passphrase=WORDS)
    believing(helix)
    for wrong in (None, "", "correct horsf"):
        job = ended(helix, strands.import_strand(helix, str(strand), passphrase=wrong))
        assert job.error_code == "UNAUTHORIZED"
    keys.revoke_key(helix, "vectors")
    with pytest.raises(UnauthorizedError, match="revoked"):
        strands.import_strand(helix, str(strand), passphrase=WORDS)
    assert helix.store.journal.last_seq == 0


def test_a_newer_strand_is_refused_with_what_to_do(machines: Machines, tmp_path: Path) -> None:
    helix, file = believing(machines()), tmp_path / "newer.dna"
    file.write_bytes(independent.write(VECTORS["rows"], SEED, WORDS, format=2))
    with pytest.raises(InvalidInputError) as refused:
        strands.import_strand(helix, str(file), passphrase=WORDS)
    assert "upgrade Helix" in str(refused.value)
    file.write_bytes(independent.write(VECTORS["rows"], SEED, WORDS, schema=99))
    assert "newer Helix" in ended(helix, strands.import_strand(helix, str(file), passphrase=WORDS)).error
    assert helix.store.journal.last_seq == 0


def test_a_version_is_known_by_no_other_id_than_its_own(machines: Machines, tmp_path: Path) -> None:
    """Otherwise a signer of little trust could pass its rows off as a version that another one will bring."""
    helix, file = believing(machines()), tmp_path / "another.dna"
    said, _ = independent.read(base64.b64decode(VECTORS["strand"]), WORDS)
    for changed in ({"id": "0" * 32}, {"parents": ["0" * 32]}, {"selection": '{"ids":[],"scopes":null}'}):
        version = {**said["version"], **changed}
        file.write_bytes(independent.write(VECTORS["rows"], SEED, WORDS, version=version))
        job = ended(helix, strands.import_strand(helix, str(file), passphrase=WORDS))
        assert (job.error_code, helix.store.journal.last_seq) == ("INVALID_INPUT", 0)
    assert strands.strand_log(helix) == []


def signed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the strand of the vectors with a manifest that was changed and then signed: the signer is hostile."""
    said, _ = independent.read(base64.b64decode(VECTORS["strand"]), WORDS)
    change(said)
    return independent.write(VECTORS["rows"], SEED, WORDS, **said)


@pytest.mark.parametrize("field", sorted(independent.read(base64.b64decode(VECTORS["strand"]), WORDS)[0]))
@pytest.mark.parametrize("value", [None, [], {}, "x", -1, [{}], {"a": {}}, True], ids=repr)
def test_a_hostile_manifest_is_refused_and_nothing_else_happens(
    machines: Machines, tmp_path: Path, field: str, value: object
) -> None:
    file = tmp_path / "hostile.dna"
    file.write_bytes(signed(lambda said: said.update({field: value})))
    try:
        manifest = container.verify(file)
        list(container.content(file, manifest, opener(WORDS, [])))
    except (InvalidInputError, UnauthorizedError):
        return
    assert field in ("embedding", "groups", "scopes", "counts", "history", "schema", "root", "created_at", "keys")


def content_of(rows: bytes, tmp_path: Path, **content: int) -> Path:
    """Write a strand whose content is any bytes, by a hostile signer; return its file."""
    file = tmp_path / "hostile.dna"
    if file.exists():
        file.unlink()

    said, _ = independent.read(base64.b64decode(VECTORS["strand"]), WORDS)
    fields = {name: value for name, value in said.items() if name not in ("content", "keys", "signer")}
    container.write(file, rows.split(b"\n"), lambda: fields, signer=SigningKey(SEED), passphrase=WORDS, recipients=())
    return file


@pytest.mark.parametrize(
    "lines",
    [
        b"[" * 100_000,
        b"{}",
        b'{"t":"node"}',
        b'{"t":"node","label":"Memory","id":"x","props":{},"texts":["a"]}',
        b'{"t":"node","label":"Nothing","id":"x","props":{},"texts":[]}',
        b'{"id":"x","label":"Memory","props":{"name":["a"]},"t":"node","texts":[]}',
        b'{"id":"' + b"x" * 5_000 + b'","label":"Memory","props":{},"t":"node","texts":[]}',
        b'{"from":["Memory","a"],"props":{},"scope":"","t":"edge","to":["Memory","b"],"type":"DROP"}',
        b'{"from":["Entity","a"],"props":{"created_at":1},"scope":"","t":"edge","to":["Task","b"],"type":"SOLVES"}',
        b'{"key":["0","Memory","x"],"t":"gone"}',
        b"\xff\xfe",
        VECTORS["lines"][0].encode().replace(b'"t":"node"', b'"t":"node" '),
        VECTORS["lines"][0].encode() + b"\n" + VECTORS["lines"][0].encode(),
        VECTORS["lines"][0].encode().replace(b"0.7", b"1e400"),
        VECTORS["lines"][0].encode().replace(b'"kind":"fact"', b'"kind":"order"'),
        VECTORS["lines"][0].encode().replace(b'"kind":"fact"', b'"kind":"fact","secret_field":1'),
    ],
)
def test_a_hostile_content_leaves_the_store_as_it_was(machines: Machines, tmp_path: Path, lines: bytes) -> None:
    helix = believing(machines())
    job = ended(helix, strands.import_strand(helix, str(content_of(lines, tmp_path)), passphrase=WORDS))
    assert job.error_code == "INVALID_INPUT", job
    assert not list(helix.store.index.memories(Status.ACTIVE))
    assert helix.store.journal.meta("strand_under_way") is None


def test_an_older_version_is_not_taken_for_a_newer_one(machines: Machines, tmp_path: Path) -> None:
    here, there = believing(machines()), machines()
    own = keys.new_key(there, "there")
    keys.import_key(here, "there", own.public)
    keys.trust_key(here, "there", Trust.USER_ASSERTED)
    files = []
    for number in range(2):
        memories.store(there, memories.StoreRequest(trigger=f"rule {number}", resolution="", kind="fact"))
        files.append(tmp_path / f"{number}.dna")
        finished(there, strands.export_strand(there, str(files[-1]), passphrase=WORDS))
    for file in files:
        finished(here, strands.import_strand(here, str(file), passphrase=WORDS))
    seq = here.store.journal.last_seq
    assert ended(here, strands.import_strand(here, str(files[0]), passphrase=WORDS)).error_code == ConflictError.code
    assert finished(here, strands.import_strand(here, str(files[1]), passphrase=WORDS)).result["already"]
    assert here.store.journal.last_seq == seq


def test_a_signer_raises_nothing_above_what_is_believed_of_it(machines: Machines, strand: Path) -> None:
    helix = believing(machines(), Trust.TOOL_OUTPUT)
    finished(helix, strands.import_strand(helix, str(strand), passphrase=WORDS))
    (memory,) = helix.store.index.memories(Status.ACTIVE)
    assert memory.provenance.trust is Trust.TOOL_OUTPUT
    assert memory.confidence <= 0.6
