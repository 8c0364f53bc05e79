"""Snapshot file: arrays and texts as one file that the next start maps into memory instead of making them anew.

A file is a line (a checksum and JSON: `stamp`, what the image is of, and where each part lies) and the parts' bytes,
each at a multiple of 64. It gets its name only when all of it is on the disk, and every part has a checksum: what
cannot be trusted to the last byte is no image.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helix import files
from helix.journal.mark import Stamp

Array = npt.NDArray[Any]

_ALIGNMENT = 64
_LONGEST_HEADER = 1 << 16
_SEPARATOR = "\0"
_SPARE_BYTES = 256 << 20


def _nothing() -> None:
    """Let go of nothing: the memory of an image that is being made belongs to others."""


@dataclass(slots=True)
class Image:
    """Named arrays, each given in pieces that follow one another, and named lists of texts that hold no NUL.

    `release` lets go of the memory that using the arrays of a file has taken; what is used again is read again.
    """

    arrays: dict[str, Sequence[Array]] = field(default_factory=dict)
    texts: dict[str, Sequence[str]] = field(default_factory=dict)
    release: Callable[[], None] = _nothing

    def array(self, name: str) -> Array:
        """Return an array of one piece of the store's image; one that was read from a file cannot be written to."""
        (piece,) = self.arrays[name]
        return piece


def write(path: Path, stamp: Stamp, image: Image) -> None:
    """Write a store's image to a file that takes the place of `path` when it is whole; only the owner may read it.

    Raises OSError, and ValueError for a text with NUL.
    """
    parts = {f"array {name}": list(pieces) for name, pieces in image.arrays.items()}
    parts |= {f"text {name}": [_packed(name, texts)] for name, texts in image.texts.items()}
    places: dict[str, dict[str, Any]] = {}
    offset = _LONGEST_HEADER
    for name, pieces in parts.items():
        checksum, rows = 0, 0
        for piece in pieces:
            checksum, rows = zlib.crc32(_bytes(piece), checksum), rows + len(piece)
        shape = (rows, *pieces[0].shape[1:])
        places[name] = {"offset": offset, "type": pieces[0].dtype.str, "shape": shape, "crc32": checksum}
        size = sum(piece.nbytes for piece in pieces)
        offset += -(-size // _ALIGNMENT) * _ALIGNMENT
    text = json.dumps({"stamp": dict(stamp), "parts": places}).encode()
    header = b"%08x %s\n" % (zlib.crc32(text), text)
    if len(header) > _LONGEST_HEADER:
        raise ValueError("an image of too many parts")
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    if shutil.disk_usage(path.parent).free < offset + _SPARE_BYTES:
        raise OSError(errno.ENOSPC, "too little room for an image", str(path))
    try:
        with os.fdopen(files.create_private(draft, exclusive=True), "wb") as file:
            file.write(header)
            for name, pieces in parts.items():
                file.seek(int(places[name]["offset"]))
                for piece in pieces:
                    file.write(_bytes(piece))
            file.truncate(offset)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def read_stamp(path: Path) -> Stamp | None:
    """Return the stamp of a store's image, which says what it is an image of, or None where there is none."""
    header = _header(path)
    return None if header is None else header["stamp"]


def read(path: Path) -> Image | None:
    """Return a store's image, its arrays mapped, or None where the file is not exactly what was written."""
    header = _header(path)
    if header is None:
        return None
    try:
        with files.open_regular(path, links=False) as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        image = Image()
        for name, place in header["parts"].items():
            kind, _, plain = name.partition(" ")
            count = int(np.prod(place["shape"]))
            array = np.frombuffer(mapped, np.dtype(place["type"]), count, place["offset"]).reshape(place["shape"])
            if zlib.crc32(_bytes(array)) != place["crc32"]:
                return None
            if kind == "array":
                image.arrays[plain] = [array]
            else:
                text = array.tobytes().decode("utf-8", "surrogatepass")
                image.texts[plain] = text.split(_SEPARATOR)[:-1]
        if hasattr(mmap, "MADV_DONTNEED"):
            image.release = partial(mapped.madvise, mmap.MADV_DONTNEED)
        # The checksums have touched every page; what is not used need not stay in memory for that.
        image.release()
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return image


def _header(path: Path) -> dict[str, Any] | None:
    try:
        with files.open_regular(path, links=False) as file:
            checksum, _, text = file.readline(_LONGEST_HEADER).rstrip(b"\n").partition(b" ")
        header = json.loads(text) if int(checksum, 16) == zlib.crc32(text) else None
    except (OSError, ValueError, RecursionError):
        return None
    whole = isinstance(header, dict) and all(isinstance(header.get(name), dict) for name in ("stamp", "parts"))
    return header if whole else None


def _packed(name: str, texts: Sequence[str]) -> Array:
    joined = _SEPARATOR.join((*texts, ""))
    if joined.count(_SEPARATOR) != len(texts):
        raise ValueError(f"a text of {name} holds NUL")
    return np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)


def _bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
