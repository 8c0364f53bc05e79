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
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from nacl.public import PublicKey
from nacl.signing import SigningKey

from helix import files
from helix.errors import ConflictError, InvalidInputError, NotFoundError
from helix.strands.rows import canonical
from helix.strands.sealed import Argon2, Encrypting, Opener, check_signature, decrypted, lock, new_key, seal, sign

FORMAT = 1
"""The version of the format that is written; a newer one is refused."""
MOST_OF_MANIFEST = 4 << 20
LONGEST_LINE = 16 << 20
_BLOCK = tarfile.BLOCKSIZE
_SIGNATURE_BYTES = 64
_NAMES = ("manifest.json", "manifest.sig", "content")
_AT_ONCE = 1 << 20
_NO_STRAND = "is no strand, or was damaged"
_NEEDED: Mapping[str, type | tuple[type, ...]] = {
    "content": dict,
    "counts": dict,
    "created_at": str,
    "embedding": (dict, type(None)),
    "groups": dict,
    "history": str,
    "keys": list,
    "root": str,
    "schema": int,
    "scopes": list,
    "signer": str,
    "version": dict,
}
_NEEDED_OF_VERSION = ("ancestry", "id", "parents", "selection", "since", "tag", "who", "why")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a strand says of itself, as it was signed: `data` are its fields, `bytes` how they are written."""

    data: Mapping[str, Any]
    bytes: bytes

    @property
    def created_at(self) -> datetime:
        """When it was written."""
        return datetime.fromisoformat(self.data["created_at"])


def write(
    target: Path,
    lines: Iterable[bytes],
    fields: Callable[[], Mapping[str, Any]],
    *,
    signer: SigningKey,
    passphrase: str | None,
    recipients: Sequence[PublicKey],
    cost: Argon2 | None = None,
) -> Manifest:
    """Write a strand to a new file, which appears whole; `fields` is asked once all lines are through.

    Raises ConflictError where the file is there, NotFoundError without its folder, InvalidInputError where nobody
    could open it.
    """
    if os.path.lexists(target):
        raise ConflictError(f"{target} exists already", hint="name another file, or remove it first")
    if not target.parent.is_dir():
        raise NotFoundError(f"there is no folder {target.parent}", hint="make it first")
    if passphrase is None and not recipients:
        raise InvalidInputError("nobody could open the strand", hint="give a passphrase, or name whom it is for")
    key = new_key()
    keys = [lock(key, passphrase, cost or Argon2())] if passphrase is not None else []
    keys += [seal(key, recipient) for recipient in recipients]
    drafts = [target.with_name(f".{target.name}.{os.urandom(8).hex()}.{part}") for part in ("content", "new")]
    try:
        content = _write_content(drafts[0], lines, key)
        said = {"content": content, "format": FORMAT, "helix": "strand", "keys": keys}
        data = {**fields(), **said, "signer": bytes(signer.verify_key).hex()}
        manifest = canonical(data)
        if len(manifest) > MOST_OF_MANIFEST:
            raise InvalidInputError("the strand has too many scopes to be described", hint="export fewer scopes")
        with os.fdopen(files.create_private(drafts[1], exclusive=True), "wb") as file:
            for name, part in zip(_NAMES, (manifest, sign(manifest, signer)), strict=False):
                file.write(_header(name, len(part)) + part + _padding(len(part)))
            file.write(_header(_NAMES[2], content["bytes"]))
            with drafts[0].open("rb") as encrypted:
                shutil.copyfileobj(encrypted, file, _AT_ONCE)
            file.write(_padding(content["bytes"]) + bytes(2 * _BLOCK))
            file.flush()
            os.fsync(file.fileno())
        drafts[1].rename(target)
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)
    return Manifest(json.loads(manifest), manifest)


def _write_content(draft: Path, lines: Iterable[bytes], key: bytes) -> dict[str, Any]:
    packer, plain, count = zlib.compressobj(6), 0, 0
    with os.fdopen(files.create_private(draft, exclusive=True), "wb") as file:
        encrypting = Encrypting(file, key)
        for line in lines:
            plain, count = plain + len(line) + 1, count + 1
            encrypting.write(packer.compress(line + b"\n"))
        encrypting.write(packer.flush())
        encrypting.close()
    with draft.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"bytes": draft.stat().st_size, "lines": count, "plain_bytes": plain, "sha256": digest}


def inspect(path: Path) -> Manifest:
    """Return what a strand says of itself, once its signature was verified; the content is not read.

    Raises NotFoundError, or InvalidInputError for what is no strand, or one of a newer format.
    """
    with _opened(path) as file:
        return _manifest(file, path)


def verify(path: Path) -> Manifest:
    """Return what `inspect` does, once every byte of the file was checked."""
    with _opened(path) as file:
        manifest = _manifest(file, path)
        size = _content_size(file, manifest, path)
        hashed, left = hashlib.sha256(), size
        while left and (part := file.read(min(left, _AT_ONCE))):
            hashed.update(part)
            left -= len(part)
        end = _padding(size) + bytes(2 * _BLOCK)
        if left or hashed.hexdigest() != manifest.data["content"]["sha256"] or file.read(len(end) + 1) != end:
            raise _damaged(path)
    return manifest


def content(path: Path, manifest: Manifest, opener: Opener) -> Iterator[bytes]:
    """Yield the lines of a strand that was verified; raises UnauthorizedError without its key.

    Raises InvalidInputError where the content is not what the manifest says, however it was packed: never more is
    unpacked than it says, and no line is longer than LONGEST_LINE.
    """
    said = manifest.data["content"]
    key = opener(manifest.data["keys"])
    with _opened(path) as file:
        if _manifest(file, path).bytes != manifest.bytes:
            raise _damaged(path)
        size = _content_size(file, manifest, path)
        count = 0
        for line in _lines(decrypted(file, size, key), int(said["plain_bytes"])):
            count += 1
            yield line
        if count != said["lines"]:
            raise InvalidInputError("the strand has not as many lines as it says")


def _lines(chunks: Iterable[bytes], plain_bytes: int) -> Iterator[bytes]:
    opener, rest, left = zlib.decompressobj(), b"", plain_bytes
    try:
        for chunk in chunks:
            packed = chunk
            while packed:
                part = opener.decompress(packed, _AT_ONCE)
                packed, left = opener.unconsumed_tail, left - len(part)
                if left < 0 or len(rest) > LONGEST_LINE:
                    raise InvalidInputError("the strand holds more than it says")
                *lines, rest = (rest + part).split(b"\n")
                yield from lines
    except zlib.error as error:
        raise InvalidInputError(f"the content of the strand cannot be unpacked: {error}") from error
    if rest or left or not opener.eof or opener.unused_data:
        raise InvalidInputError("the content of the strand is cut, or something follows its end")


def _opened(path: Path) -> BinaryIO:
    try:
        return files.open_regular(path)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {path}", hint="check the path") from error
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}", hint="name a strand's file") from error


def _manifest(file: BinaryIO, path: Path) -> Manifest:
    written = _member(file, _NAMES[0], MOST_OF_MANIFEST, path)
    signature = _member(file, _NAMES[1], _SIGNATURE_BYTES, path)
    try:
        data = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise _damaged(path) from error
    if not isinstance(data, dict) or data.get("helix") != "strand" or not isinstance(data.get("format"), int):
        raise _damaged(path)
    if data["format"] > FORMAT:
        raise InvalidInputError(
            f"{path} is a strand of format {data['format']}, newer than this Helix",
            hint="upgrade Helix, then try again",
        )
    check_signature(written, signature, str(data.get("signer")))
    _check_fields(data, path)
    if canonical(data) != written:
        raise _damaged(path)
    return Manifest(data, written)


def _check_fields(data: Mapping[str, Any], path: Path) -> None:
    """Raise InvalidInputError where a signed manifest lacks what one has: its signer may be hostile."""
    try:
        if not all(isinstance(data[name], kind) for name, kind in _NEEDED.items()):
            raise ValueError("a field is of another kind")
        version, said = data["version"], data["content"]
        if not all(name in version for name in _NEEDED_OF_VERSION):
            raise ValueError("its version lacks something")
        texts = [version["id"], version["selection"], version["why"], version["tag"], *version["parents"]]
        texts += [text for one in version["ancestry"] for text in (one["id"], *one["parents"])]
        numbers = [said["bytes"], said["lines"], said["plain_bytes"], *data["counts"].values()]
        if not all(isinstance(text, str) for text in texts) or not isinstance(version["since"], str | None):
            raise ValueError("its version is none")
        if not all(isinstance(number, int) and number >= 0 for number in numbers) or "nodes" not in data["counts"]:
            raise ValueError("it counts what cannot be counted")
        [int(group["rows"]) for tables in data["groups"].values() for group in tables.values()]
        [str(way["type"]) for way in data["keys"]]
        datetime.fromisoformat(data["created_at"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInputError(f"{path} is no strand that can be read: {error}") from error


def _member(file: BinaryIO, name: str, most: int, path: Path) -> bytes:
    size = _size(file, name, path)
    if size > most:
        raise _damaged(path)
    data, padding = file.read(size), _padding(size)
    if len(data) != size or file.read(len(padding)) != padding:
        raise _damaged(path)
    return data


def _content_size(file: BinaryIO, manifest: Manifest, path: Path) -> int:
    size = _size(file, _NAMES[2], path)
    if size != manifest.data["content"]["bytes"]:
        raise _damaged(path)
    return size


def _size(file: BinaryIO, name: str, path: Path) -> int:
    """Return the size that a member's header says; the header has to be the very one that would be written."""
    header = file.read(_BLOCK)
    with suppress(tarfile.TarError, ValueError, UnicodeError):
        size = tarfile.TarInfo.frombuf(header, "utf-8", "strict").size
        if size >= 0 and header == _header(name, size):
            return size
    raise _damaged(path)


def _header(name: str, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member.tobuf(tarfile.GNU_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


def _damaged(path: Path) -> InvalidInputError:
    return InvalidInputError(f"{path} {_NO_STRAND}", hint="get the file once more from whoever made it")
