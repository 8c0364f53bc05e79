"""Principal: who asks a server that serves many tenants, and what their role lets them do there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from helix.model.worded import Worded


class Role(Worded):
    """What a key or a person may do in a tenant, the most first."""

    OWNER = "owner", "All of it, and who else may do what."
    ADMIN = "admin", "Erase for good, rebuild, pause: what changes the store as a whole."
    EDITOR = "editor", "Read and write as a person, who decides what agents may not."
    AGENT = "agent", "Read and write as an agent: never with a person's trust."
    READER = "reader", "Read."
    HOOK = "hook", "Tell what happens in a client's sessions, and nothing else."

    def reaches(self, least: Role) -> bool:
        """Return whether this role may do what at least `least` may."""
        order = list(Role)
        return order.index(self) <= order.index(least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who asks: a key or a person, in one tenant. `scopes` bind it to these projects; empty: it sees the whole tenant.

    `number` is the tenant's: its name may be another one's later. 0 for whichever has the name, as an issuer says it.
    `key` is the prefix of the key that was shown; empty for a person whose issuer vouches for them. `peer` is
    the public key of the store that is synced by it; empty for none.
    """

    tenant: str
    number: int
    name: str
    role: Role
    scopes: tuple[str, ...] = ()
    key: str = ""
    peer: str = ""

    @property
    def agent(self) -> str:
        """The agent that it speaks as; empty for a person."""
        return self.name if self.role in (Role.AGENT, Role.HOOK) else ""

    def to_json(self) -> str:
        """Return it as one process tells another."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Principal:
        """Return what `to_json` wrote."""
        told = json.loads(text)
        return cls(**{**told, "role": Role(told["role"]), "scopes": tuple(told["scopes"])})
