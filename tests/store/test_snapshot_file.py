"""Images: what is read is what was written, and a file that is not exactly that is none."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from helix.store import snapshot_file
from helix.store.snapshot_file import Image
from tests.sampling import draws

STAMP: snapshot_file.Stamp = {"store": "s", "seq": 7}
texts = st.lists(st.text(st.characters(exclude_characters="\0")), max_size=5)
tables = arrays.arrays(
    st.sampled_from([np.int8, np.int32, np.int64, np.float32, np.bool_]), arrays.array_shapes(max_dims=2, min_side=0)
)


@given(pieces=st.lists(tables, min_size=1, max_size=3), words=texts)
@settings(max_examples=draws(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_image_is_read_as_it_was_written(
    tmp_path: Path, pieces: list[np.ndarray[tuple[int, ...], np.dtype[np.generic]]], words: list[str]
) -> None:
    path = tmp_path / "image"
    whole = np.concatenate([pieces[0], pieces[0]])
    snapshot_file.write(path, STAMP, Image({"a": [pieces[0], pieces[0]], "b": [pieces[-1]]}, {"words": words}))
    assert snapshot_file.read_stamp(path) == STAMP
    found = snapshot_file.read(path)
    assert found is not None
    assert found.texts == {"words": words}
    for name, expected in (("a", whole), ("b", pieces[-1])):
        assert found.array(name).dtype == expected.dtype
        assert np.array_equal(found.array(name), expected, equal_nan=expected.dtype.kind == "f")
    assert path.stat().st_mode & 0o077 == 0


def example(path: Path) -> None:
    snapshot_file.write(path, STAMP, Image({"a": [np.arange(1000)]}, {"t": ["one", "two"]}))


def test_a_file_that_was_changed_or_cut_short_is_no_image(tmp_path: Path) -> None:
    path = tmp_path / "image"
    example(path)
    whole = path.read_bytes()
    for place in (5, whole.index(np.arange(1000).tobytes()) + 4_000, whole.rindex(b"two")):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        assert snapshot_file.read(path) is None, place
    for length in (0, 10, 2_000, len(whole) - 64):
        path.write_bytes(whole[:length])
        assert snapshot_file.read(path) is None, length
    path.unlink()
    assert snapshot_file.read(path) is None
    assert snapshot_file.read_stamp(path) is None


@pytest.mark.parametrize("damage", [b"7", b'"array a"', b"i8", b"2"])
def test_a_header_that_was_changed_is_no_stamp(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "image"
    example(path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(damage, b"?" * len(damage), 1))
    assert snapshot_file.read_stamp(path) is None


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"7", b'{"stamp": 1, "parts": {}}', b'{"stamp": {}, "parts": []}', b"[" * 50_000, b"\xff"]
)
def test_a_header_of_another_shape_is_no_stamp(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "image"
    for line in (text, b"%08x %s" % (zlib.crc32(text), text)):
        path.write_bytes(line + b"\n")
        assert snapshot_file.read_stamp(path) is None
        assert snapshot_file.read(path) is None


def test_what_was_read_cannot_be_written_to_and_outlives_its_release_and_its_file(tmp_path: Path) -> None:
    path = tmp_path / "image"
    example(path)
    image = snapshot_file.read(path)
    assert image is not None
    with pytest.raises(ValueError, match="read-only"):
        image.array("a")[:] = -1
    path.unlink()
    image.release()
    assert image.array("a").tolist() == list(range(1000))


def test_a_text_with_the_separator_in_it_is_refused_and_the_old_image_stays(tmp_path: Path) -> None:
    path = tmp_path / "image"
    example(path)
    with pytest.raises(ValueError, match="NUL"):
        snapshot_file.write(path, STAMP, Image(texts={"t": ["a\0b"]}))
    assert snapshot_file.read(path) is not None
    assert [file.name for file in tmp_path.iterdir()] == ["image"]
