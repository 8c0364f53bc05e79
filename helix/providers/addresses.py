"""Addresses of language models: what leaves this machine only goes where the user has said yes to, once.

A setting with another machine's address may have been written for another purpose, or by somebody else, and a hosted
provider's key may stand in the environment for another program. Until the address is confirmed, background work goes
without that model, and `helix status` says so.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from urllib.parse import urlsplit

from helix.confirmed import MODEL_ADDRESSES, confirm, confirmed
from helix.errors import InvalidInputError

HOSTED = {
    "anthropic": "https://api.anthropic.com",
    "cerebras": "https://api.cerebras.ai",
    "cohere": "https://api.cohere.com",
    "deepseek": "https://api.deepseek.com",
    "fireworks_ai": "https://api.fireworks.ai",
    "gemini": "https://generativelanguage.googleapis.com",
    "groq": "https://api.groq.com",
    "mistral": "https://api.mistral.ai",
    "openai": "https://api.openai.com",
    "openrouter": "https://openrouter.ai",
    "perplexity": "https://api.perplexity.ai",
    "together_ai": "https://api.together.xyz",
    "xai": "https://api.x.ai",
}
"""Where LiteLLM sends texts for hosted providers, as they are shown. Others are shown and confirmed by their name."""

_PORTS = {"http": 80, "https": 443}
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-:")
_NAME = re.compile(r"(?!localhost\b)[a-z][a-z0-9_]*")


def hosted_place(company: str) -> str:
    """Return a hosted model provider's address as shown and confirmed, or its name where Helix knows none."""
    return origin_of(HOSTED[company]) if company in HOSTED else company


def origin_of(url: str) -> str:
    """Return scheme, host and port of a language model's address, as confirmed and shown; or a hosted one's name.

    Raises InvalidInputError for what is no plain address of a server: no two libraries would read it alike.
    """
    if _NAME.fullmatch(url):
        return hosted_place(url)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        host, port = "", 0
    if not host or not port or "@" in parts.netloc or not _PLAIN.issuperset(host):
        raise InvalidInputError(
            "a language model's address is not one of a server", hint="such as http://127.0.0.1:11434"
        )
    return f"{parts.scheme}://[{host}]:{port}" if ":" in host else f"{parts.scheme}://{host}:{port}"


def is_here(url: str) -> bool:
    """Return whether a language model's address is this machine's own, by a name or number that is nothing else."""
    origin = origin_of(url)
    host = urlsplit(origin).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def may_be_asked(url: str, home: Path) -> bool:
    """Return whether texts may be sent to a language model's address: here, or one that the user confirmed."""
    try:
        return is_here(url) or origin_of(url) in confirmed(home, MODEL_ADDRESSES)
    except InvalidInputError:
        return False


def confirm_address(url: str, home: Path) -> str:
    """Confirm that a model's address may get texts, and return it as shown. Raises InvalidInputError for none."""
    origin = origin_of(url)
    confirm(home, MODEL_ADDRESSES, origin)
    return origin
