"""Client ids: what a client calls a session or a call of a tool, as it may be kept."""

from __future__ import annotations

import hashlib
import re

from helix.text.cleaning import LONE_SURROGATE, clean
from helix.text.secrets import families
from helix.text.secrets.redact import redact

_ID = re.compile(r"(?!.*://)[\w.:+/@~#-]*={0,2}", re.ASCII)
"""What ids are made of; `NAME=value` and an address are texts, which may say a password."""

_LONGEST = 300
_OF_OPENCODE = re.compile(r"ses_[0-9a-f]{12}[0-9A-Za-z]{14}")


def told_id(name: str) -> str:
    """Return a client's id of a session or call as text, or a digest of one that holds a secret or is no text.

    Such ids are random by nature: what only looks like a key is none. A name with anything else in it than ids have is
    read as a text. Live hooks and imported histories know what happened by the same id.
    """
    if LONE_SURROGATE.search(name):
        return f"~{short_digest(name)}"
    if _ID.fullmatch(name):
        secret = any(span.kind != "high-entropy" for span in families.find(name))
    else:
        secret = redact(name).text != name
    return f"~{short_digest(name)}" if secret else name


def kept_session(name: str) -> str:
    """Return what a session is called in the store, whoever names it: a digest of an id that only looks like a key.

    Redacted, such ids would all be one name. opencode's are each read so, as four in five of them look like keys.
    """
    told = " ".join(clean(name).split())
    if len(told) <= _LONGEST and (_OF_OPENCODE.fullmatch(told) or told_id(told) == told != redact(told).text):
        return digested_session(told)
    return told


def digested_session(name: str) -> str:
    """Return the digest that stands for a client's id of a session; `kept_session` leaves it as it is."""
    return f"ses_{short_digest(name)}"


def short_digest(*parts: str) -> str:
    """Return 16 hex digits that stand for one text or several: a name for what has no other."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
