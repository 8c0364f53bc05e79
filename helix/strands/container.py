"""Container: a strand as a file: a tar archive of `manifest.json`, `manifest.sig` and the encrypted `content`.

docs/strand-format.md specifies it. Every byte of the file is accounted for: what is not as a writer would write it is
refused. The manifest is signed and says what the encrypted content hashes to, so who made a strand and whether it is
whole are known before anything of it is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO, Protocol

from nacl.public import PublicKey
from nacl.signing import SigningKey

from helix import files
from helix.errors import InvalidInputError, NotFoundError
from helix.held_folder import held_folder, new_file
from helix.strands.rows import canonical_json, read_json
from helix.strands.sealed import (
    CHUNK,
    Encrypting,
    Opener,
    check_signature,
    decrypted,
    lock,
    new_key,
    seal,
    sign,
)

FORMAT = 1
"""The version of the format that is written; a newer one is refused."""
MOST_OF_MANIFEST = 4 << 20
LONGEST_LINE = 16 << 20
_BLOCK = 512
_SIZE_AT = slice(124, 136)
_BINARY, _LARGE = b"\x80", 8 << 30
"""How a size begins in a header that is no octal number any more, and from which size on."""
_SIGNATURE_BYTES = 64
_NAMES = ("manifest.json", "manifest.sig", "content")
_AT_ONCE = 1 << 20
_DRAFT = ".strand-draft"
_FORSAKEN_SECONDS = 3_600.0
"""A draft is written in one go: one that nobody has written to for so long was left behind by a kill."""
_NO_STRAND = "is not a strand, or was damaged"
MOST_KEYS = 256
"""Ways to the key of a content; one of them at most is a passphrase, as each of those costs seconds to try."""
_COUNT, _SIZE = range(1 << 31), range(1 << 53)
_SHAPE = {
    "content": {"bytes": _SIZE, "lines": _SIZE, "plain_bytes": _SIZE, "sha256": str},
    "counts": {"nodes": _COUNT, str: _COUNT},
    "created_at": str,
    "embedding": ({"digest": str, "dimension": _COUNT, "model": str}, type(None)),
    "groups": {str: {str: {"digest": str, "rows": _COUNT}}},
    "history": str,
    "keys": [{"type": str}],
    "root": str,
    "schema": _COUNT,
    "scopes": [str],
    "signer": str,
    "version": {
        **dict.fromkeys(("id", "selection", "tag", "who", "why"), str),
        **{"parents": [str], "since": (str, type(None))},
        "ancestry": [{"id": str, "parents": [str]}],
    },
}
"""What a manifest has: a type, the numbers that one may be, lists `[of]`, objects by name (`str`: of any other name),
and tuples of what it is one of."""


class _Read(Protocol):
    """What is read from its beginning to its end."""

    def read(self, most: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a strand says of itself, as it was signed: `data` are its fields, `bytes` how they are written."""

    data: Mapping[str, Any]
    bytes: bytes

    @property
    def created_at(self) -> datetime:
        """When the strand was written, in UTC."""
        return datetime.fromisoformat(self.data["created_at"]).astimezone(UTC)


def write(
    target: Path,
    lines: Iterable[bytes],
    fields: Callable[[], Mapping[str, Any]],
    *,
    signer: SigningKey,
    passphrase: str | None,
    recipients: Sequence[PublicKey],
) -> Manifest:
    """Write a strand to a new file, which appears whole; `fields` of its manifest is asked once all lines are through.

    Raises ConflictError where the file is there, NotFoundError without its folder, InvalidInputError where nobody
    could open it.
    """
    if not passphrase and not recipients:
        raise InvalidInputError("nobody could open the strand", hint="set HELIX_PASSPHRASE, or name whom it is for")
    if len(recipients) >= MOST_KEYS:
        raise InvalidInputError(f"a strand is for fewer than {MOST_KEYS} keys", hint="export it once more for the rest")
    key = new_key()
    keys = [lock(key, passphrase)] if passphrase else []
    keys += [seal(key, recipient) for recipient in recipients]
    draft = f".{target.name}.{os.urandom(8).hex()}{_DRAFT}"
    with new_file(target, draft) as file, tempfile.TemporaryFile(dir=target.parent) as encrypted:
        _sweep(target.parent)
        content = _write_content(encrypted, lines, key)
        said = {"content": content, "format": FORMAT, "helix": "strand", "keys": keys}
        manifest = canonical_json({**fields(), **said, "signer": bytes(signer.verify_key).hex()})
        if len(manifest) > MOST_OF_MANIFEST:
            raise InvalidInputError("the strand has too many scopes to be described", hint="export fewer scopes")
        for name, part in zip(_NAMES, (manifest, sign(manifest, signer)), strict=False):
            file.write(_header(name, len(part)) + part + _padding(len(part)))
        file.write(_header(_NAMES[2], content["bytes"]))
        shutil.copyfileobj(encrypted, file, _AT_ONCE)
        file.write(_padding(content["bytes"]) + bytes(2 * _BLOCK))
    return Manifest(json.loads(manifest), manifest)


def _sweep(place: Path) -> None:
    """Remove the drafts that a kill left behind."""
    with suppress(OSError), held_folder(files.real_path(place)) as folder:
        for name in folder.names():
            with suppress(OSError):  # one that cannot be removed, such as another user's, keeps none of the others
                found = folder.stat(name) if name.startswith(".") and name.endswith(_DRAFT) else None
                if found is not None and time.time() - found.st_mtime > _FORSAKEN_SECONDS:
                    folder.remove(name)


def _write_content(file: IO[bytes], lines: Iterable[bytes], key: bytes) -> dict[str, Any]:
    """Write the lines to an empty file, which is to be read from its beginning then; return what they came to."""
    packer, plain, count = zlib.compressobj(6), 0, 0
    encrypting, waiting = Encrypting(file, key), bytearray()
    for line in lines:
        if len(line) > LONGEST_LINE:
            raise InvalidInputError(f"a row of {len(line):,} bytes is longer than any reader of strands takes")
        plain, count = plain + len(line) + 1, count + 1
        waiting += line + b"\n"
        if len(waiting) >= CHUNK:
            encrypting.write(packer.compress(waiting))
            waiting.clear()
    encrypting.write(packer.compress(waiting) + packer.flush())
    encrypting.close()
    size = file.tell()
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    file.seek(0)
    return {"bytes": size, "lines": count, "plain_bytes": plain, "sha256": digest}


def inspect(path: Path) -> Manifest:
    """Return the manifest of a strand, once its signature was verified; the content is not read.

    Raises NotFoundError, or InvalidInputError for what is no strand, or one of a newer format.
    """
    with _opened(path) as file:
        return _manifest(file, path)


def verify(path: Path) -> Manifest:
    """Return the manifest of a strand, once its signature and every byte of the file were checked."""
    return verified(path)[0]


def verified(path: Path) -> tuple[Manifest, str]:
    """Return the manifest of a strand, as `verify` does, and the SHA-256 of the file, in hexadecimal digits."""
    with _opened(path) as opened:
        file = _Hashed(opened)
        manifest = _manifest(file, path)
        size = _content_size(file, manifest, path)
        hashed, left = hashlib.sha256(), size
        while left and (part := file.read(min(left, _AT_ONCE))):
            hashed.update(part)
            left -= len(part)
        if left or hashed.hexdigest() != manifest.data["content"]["sha256"] or not _ends(file, size):
            raise _damaged(path)
    return manifest, file.digest.hexdigest()


class _Hashed:
    """A file that is read once from its beginning, with the digest over what was read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.digest = file, hashlib.sha256()

    def read(self, most: int) -> bytes:
        """Return the next bytes."""
        part = self._file.read(most)
        self.digest.update(part)
        return part


def _ends(file: _Read, size: int) -> bool:
    """Return whether a file goes on behind a content of that size as a strand ends, and has no more."""
    end = _padding(size) + bytes(2 * _BLOCK)
    return file.read(len(end) + 1) == end


def content(path: Path, manifest: Manifest, opener: Opener) -> Iterator[bytes]:
    """Yield the lines of a strand whose signature was verified; raises UnauthorizedError without its key.

    Raises InvalidInputError where the content is not what the manifest says, however it was packed: never more is
    unpacked than it says, and no line is longer than LONGEST_LINE. Every byte of the file was checked once the last
    line is through, as by `verify`: before that nothing may be done with any.
    """
    said = manifest.data["content"]
    key = opener(manifest.data["keys"])
    with _opened(path) as file:
        if _manifest(file, path).bytes != manifest.bytes:
            raise _damaged(path)
        size, count, hashed = _content_size(file, manifest, path), 0, hashlib.sha256()

        def read(most: int) -> bytes:
            part = file.read(most)
            hashed.update(part)
            return part

        for line in _lines(decrypted(read, size, key), said["plain_bytes"]):
            count += 1
            if count > said["lines"]:
                break
            yield line
        if count != said["lines"]:
            raise InvalidInputError("the strand has not as many lines as it says")
        if hashed.hexdigest() != said["sha256"] or not _ends(file, size):
            raise _damaged(path)


def _lines(chunks: Iterable[bytes], plain_bytes: int) -> Iterator[bytes]:
    opener, rest, left = zlib.decompressobj(), b"", plain_bytes
    try:
        for chunk in chunks:
            packed = chunk
            while packed:
                part = opener.decompress(packed, _AT_ONCE)
                packed, left = opener.unconsumed_tail, left - len(part)
                *lines, rest = (rest + part).split(b"\n")
                if left < 0 or opener.unused_data or max(map(len, (rest, *lines[:1]))) > LONGEST_LINE:
                    raise InvalidInputError("the strand holds more than it says")
                yield from lines
    except zlib.error as error:
        raise InvalidInputError(f"the content of the strand cannot be unpacked: {error}") from error
    if rest or left or not opener.eof:
        raise InvalidInputError("the content of the strand is cut")


def _opened(path: Path) -> BinaryIO:
    try:
        return files.open_regular(path)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {path}", hint="check the path") from error
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}", hint="name a strand's file") from error


def _manifest(file: _Read, path: Path) -> Manifest:
    written = _member(file, _NAMES[0], MOST_OF_MANIFEST, path)
    signature = _member(file, _NAMES[1], _SIGNATURE_BYTES, path)
    try:
        data = read_json(written)
        whole = isinstance(data, dict) and data.get("helix") == "strand" and canonical_json(data) == written
    except (ValueError, RecursionError) as error:
        raise _damaged(path) from error
    if not whole or type(data.get("format")) is not int or data["format"] < 1:
        raise _damaged(path)
    if data["format"] > FORMAT:
        raise InvalidInputError(
            f"{path} is a strand of format {data['format']}, newer than this Helix",
            hint="upgrade Helix, then try again",
        )
    check_signature(written, signature, str(data.get("signer")))
    manifest = Manifest(data, written)
    if not _fits(data, _SHAPE) or not _is_date(manifest) or not _can_be_opened(data["keys"]):
        raise InvalidInputError(
            f"{path} is not a strand that can be read: it says of itself what none does",
            hint="ask whoever made it which program wrote it",
        )
    return manifest


def _fits(value: Any, shape: Any) -> bool:
    """Return whether a value has a shape, see `_SHAPE`: a manifest's signer may be hostile."""
    match shape:
        case range():
            return type(value) is int and value in shape
        case tuple():
            return any(_fits(value, one) for one in shape)
        case list():
            return isinstance(value, list) and all(_fits(one, shape[0]) for one in value)
        case dict():
            rest = [] if str not in shape or not isinstance(value, dict) else value.keys() - shape.keys()
            named = {name: one for name, one in shape.items() if name is not str}
            return (
                isinstance(value, dict)
                and all(name in value and _fits(value[name], one) for name, one in named.items())
                and all(_fits(value[name], shape[str]) for name in rest)
            )
    return isinstance(value, shape)


def _is_date(manifest: Manifest) -> bool:
    try:
        return bool(manifest.created_at) and datetime.fromisoformat(manifest.data["created_at"]).tzinfo is not None
    except (ValueError, OverflowError):
        return False


def _can_be_opened(keys: Sequence[Mapping[str, Any]]) -> bool:
    return len(keys) <= MOST_KEYS and sum(way["type"] == "passphrase" for way in keys) <= 1


def _member(file: _Read, name: str, most: int, path: Path) -> bytes:
    size = _size(file, name, path)
    if size > most:
        raise _damaged(path)
    data, padding = file.read(size), _padding(size)
    if len(data) != size or file.read(len(padding)) != padding:
        raise _damaged(path)
    return data


def _content_size(file: _Read, manifest: Manifest, path: Path) -> int:
    size = _size(file, _NAMES[2], path)
    if size != manifest.data["content"]["bytes"]:
        raise _damaged(path)
    return size


def _size(file: _Read, name: str, path: Path) -> int:
    """Return the size that a member's header says; the header has to be the very one that would be written."""
    header = file.read(_BLOCK)
    number = header[_SIZE_AT]
    with suppress(ValueError):
        size = int.from_bytes(number[1:], "big") if number[:1] == _BINARY else int(number[:-1], 8)
        if size >= 0 and header == _header(name, size):
            return size
    raise _damaged(path)


def _header(name: str, size: int) -> bytes:
    """Return the one header that a member may have, as GNU tar and Python's `tarfile` read it."""
    number = b"%011o\0" % size if size < _LARGE else _BINARY + size.to_bytes(11, "big")
    before = name.encode().ljust(100, b"\0") + b"0000600\0" + 2 * b"0000000\0" + number + b"00000000000\0"
    behind = b"0".ljust(101, b"\0") + b"ustar  "
    checksum = b"%06o\0 " % (sum(before) + sum(behind) + sum(b" " * 8))
    return (before + checksum + behind).ljust(_BLOCK, b"\0")


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


def _damaged(path: Path) -> InvalidInputError:
    return InvalidInputError(f"{path} {_NO_STRAND}", hint="get the file once more from whoever made it")
