"""The test vectors of the format, made by the second writer; run as a program, this writes them anew."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from independent import DOMAIN, canonical, digests, version_id, write
from nacl.signing import SigningKey

SEED = bytes(range(32))
PASSPHRASE = "correct horse"
AT = 1_767_225_600_000_000
IDS = [f"01a20000-0000-7000-8000-00000000000{number}" for number in range(4)]
MEMORY = {
    "id": IDS[1],
    "label": "Memory",
    "props": {
        **{"name": "proxy-port", "kind": "fact", "trigger": "the proxy listens on port 8080, naïvely"},
        **{"resolution": "", "recorded_at": AT, "scope": "global", "status": "active"},
        **{"confidence": 0.7, "importance": 5.0, "trust": "user_asserted"},
    },
    "t": "node",
    "texts": ["the proxy listens on port 8080, naïvely"],
}
EPISODE = {
    "id": IDS[0],
    "label": "Episode",
    "props": {
        **{"content": "The proxy has a port.\n\nIt is 8080.", "role": "user", "scope": "global", "status": "active"},
        **{"occurred_at": AT, "recorded_at": AT, "trust": "user_asserted"},
    },
    "t": "node",
    "texts": ["The proxy has a port.", "It is 8080."],
}
ERASED = {
    "id": IDS[2],
    "label": "Memory",
    "props": {
        **{"name": f"erased-{IDS[2]}", "kind": "fact", "trigger": "", "resolution": "", "recorded_at": AT},
        **{"scope": "global", "status": "forgotten", "extractor": "erased", "slice": "2026-01-02T00:00:00+00:00"},
        "attributes": '{"helix:erased_at": "2026-01-02T00:00:00+00:00"}',
    },
    "t": "node",
    "texts": [],
}
GROUNDED = {
    **{"from": ["Memory", IDS[1]], "to": ["Episode", IDS[0]], "type": "GROUNDED_IN"},
    **{"props": {"created_at": AT, "trust": "user_asserted"}, "scope": "global", "t": "edge"},
}
RELATED = {
    **{"from": ["Memory", IDS[1]], "to": ["Memory", IDS[2]], "type": "RELATED"},
    **{"props": {"created_at": AT, "weight": 0.5, "relation": "près de"}, "scope": "global", "t": "edge"},
}
NUMBERS = (0.6, 0.8, *[0.0] * 254)
VECTOR = {
    **{"id": IDS[1], "label": "Memory", "t": "vec"},
    "v": [base64.b64encode(struct.pack("<256f", *NUMBERS)).decode()],
}
CHANGE = {
    "change": {
        **{"kind": "store", "note": {}},
        "ops": [{"id": IDS[1], "label": "Memory", "op": "node", "props": MEMORY["props"]}],
    },
    **{"seq": 1, "t": "change"},
}
SPACE = {
    "digest": hashlib.sha256(b"fake-hash/256").hexdigest(),
    "dimension": 256,
    "model": "fake-hash",
}
"""The space of the vector: that of the embedder which Helix's tests use."""


def told(lines: Sequence[Mapping[str, Any]], **fields: Any) -> dict[str, Any]:
    """Return what a strand of the lines comes to; the strand itself is another one each time."""
    rows = [line for line in lines if line["t"] in ("node", "edge")]
    groups, root = digests(rows)
    return {
        "rows": rows,
        "lines": [canonical(line).decode() for line in lines],
        "digests": [hashlib.sha256(canonical(row)).hexdigest() for row in rows],
        "groups": groups,
        "root": root,
        "version": version_id([], root),
        "strand": base64.b64encode(write(lines, SEED, PASSPHRASE, **fields)).decode(),
    }


def vectors() -> dict[str, Any]:
    """Return the vectors: of one row at the top, and under `every` of one line of each kind."""
    every = (EPISODE, MEMORY, VECTOR, ERASED, GROUNDED, RELATED, CHANGE)
    return {
        "seed": SEED.hex(),
        "signer": bytes(SigningKey(SEED).verify_key).hex(),
        "signature_of_empty_object": SigningKey(SEED).sign(DOMAIN + b"{}").signature.hex(),
        "passphrase": PASSPHRASE,
        **told([MEMORY]),
        "every": told(every, embedding=SPACE, history="all"),
    }


if __name__ == "__main__":
    file = Path(__file__).parent / "vectors.json"
    file.write_text(json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n", "utf-8")
