"""URLs: where they begin and end in prose, and the one form in which each is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind
from helix.text.spotting.codes import COMMIT_DIGITS
from helix.text.spotting.found import FoundEntity

_URL = re.compile(r"\b(https?|ftps?|ssh|git|wss?|file)://([^\s<>\"'`|\\^{}\x00-\x1f]{2,2000})", re.IGNORECASE)
_COMMIT = re.compile(r"/commits?/([0-9a-f]{7,40})(?![0-9a-z])")
_ADDRESSED = re.compile(r"[^/]*@.*")
_QUERY = re.compile(r"[?#]")


def urls_in(text: str) -> Iterator[FoundEntity]:
    """Yield a text's URLs without query, fragment, credentials or e-mail address, and the commits that they show."""
    for match in _URL.finditer(text):
        rest = _without_punctuation(match.group(2))
        start, end = match.start(), match.start(2) + len(rest)
        place = _QUERY.split(rest, maxsplit=1)[0]
        host, slash, path = place.partition("/")
        host = host.rpartition("@")[2].lower()
        if not host:
            continue
        path = _ADDRESSED.sub("", path)
        yield FoundEntity(start, end, EntityKind.URL, f"{match.group(1).lower()}://{host}{slash}{path}".rstrip("/"))
        if commit := _COMMIT.search(slash + path):
            yield FoundEntity(start, end, EntityKind.COMMIT, commit.group(1)[:COMMIT_DIGITS])


def _without_punctuation(url: str) -> str:
    """Return a URL without the punctuation of the sentence around it; a closing bracket stays if it was opened."""
    surplus = url.count(")") - url.count("(")
    end = len(url)
    while end and (url[end - 1] in ".,;:!?*_]" or (url[end - 1] == ")" and surplus > 0)):
        surplus -= url[end - 1] == ")"
        end -= 1
    return url[:end]
