"""People: who an issuer vouches for gets in, as who whoever runs the server says; every other token does not."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from helix.errors import ConfigError, EngineError, InvalidInputError, UnauthorizedError
from helix.journal.postgres.tenant_states import SUSPENDED
from helix.model.principal import Role
from helix.server.oidc import Verifier
from helix.server.people import People
from tests.sampling import some
from tests.server.issuer import AUDIENCE, Issuer, issuing
from tests.server.team import RECALL, STORE, Process, Team
from tests.waiting import MOST_SECONDS, until

STATUS = "{ status { edges } }"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    """An issuer that all tests of the file share."""
    with issuing() as made:
        yield made


@pytest.fixture(scope="module")
def here(team: Team, issuer: Issuer) -> Process:
    """A process that lets its people in."""
    return team.start(
        HELIX_OIDC_ISSUER=issuer.address, HELIX_OIDC_AUDIENCE=AUDIENCE, HELIX_OIDC_CLAIM="helix"
    ).announced()


@pytest.mark.soak
def test_a_person_may_what_their_role_says(team: Team, issuer: Issuer, here: Process) -> None:
    tenant = team.tenant()
    token = issuer.token("person-1")
    assert here.code(token, STATUS) == "FORBIDDEN"  # known to the issuer, and no member of a tenant
    of = team.server.tenant(tenant)
    team.accounts.add_member(of, issuer.address, "person-1", Role.READER, by="the test", name="Ada", home=True)
    until(lambda: here.code(token, STATUS) == "OK")
    assert here.code(token, STORE, t="a", r="b", s="shop") == "FORBIDDEN"
    team.accounts.add_member(of, issuer.address, "person-1", Role.EDITOR, by="the test", name="Ada")
    until(lambda: here.code(token, STORE, t="a", r="b", s="shop") == "OK")
    team.accounts.remove_member(of, issuer.address, "person-1", by="the test")
    until(lambda: here.code(token, STATUS) == "FORBIDDEN")


@pytest.mark.soak
def test_who_may_use_several_tenants_names_one_or_is_in_the_first(team: Team, issuer: Issuer, here: Process) -> None:
    second, first, third = team.tenant(), team.tenant(), team.tenant()
    for tenant, name in ((first, "Ada"), (second, "Grace")):
        team.accounts.add_member(
            team.server.tenant(tenant), issuer.address, "person-2", Role.EDITOR, by="the test", name=name, home=True
        )
    token = issuer.token("person-2")
    here.data(token, STORE, t="the till jams", r="off and on", s="shop")  # whoever added her later changed nothing
    assert here.data(team.key(first), RECALL, q="till jams", s="shop")["recall"]["items"]
    names = {
        tenant: [one.name for one in team.accounts.members(team.server.tenant(tenant))] for tenant in (first, second)
    }
    assert names == {first: ["Ada"], second: ["Grace"]}
    for name in ("a\nb", "operator root"):
        with pytest.raises(InvalidInputError, match="name"):
            team.accounts.add_member(
                team.server.tenant(third), issuer.address, "person-2", Role.READER, by="the test", name=name
            )
    assert "data" in here.ask(token, STATUS, headers={"x-helix-tenant": second})
    told = here.ask(token, STATUS, headers={"x-helix-tenant": third})
    assert told["errors"][0]["extensions"]["code"] == "FORBIDDEN"


def test_whom_an_owner_added_is_in_that_tenant_only_where_they_name_it(
    team: Team, issuer: Issuer, here: Process
) -> None:
    """Any owner may add anybody, and before their own tenant does: what they write is for those they mean."""
    strange, own = team.tenant(), team.tenant()
    person = {"issuer": issuer.address, "subject": "person-6", "role": "editor"}
    token, at_strange = issuer.token("person-6"), {"x-helix-tenant": strange}
    assert here.send("POST", "/v1/users", team.key(strange, Role.OWNER), json=person).is_success
    until(lambda: here.code(token, STATUS, headers=at_strange) == "OK")
    told = here.ask(token, STORE, t="the till jams", r="off and on", s="shop")["errors"][0]
    assert told["extensions"]["code"] == "FORBIDDEN" and strange in told["extensions"]["hint"]
    team.accounts.add_member(team.server.tenant(own), issuer.address, "person-6", Role.EDITOR, by="the test", home=True)
    until(lambda: here.code(token, STORE, t="the till jams", r="off and on", s="shop") == "OK")
    assert here.data(team.key(own), RECALL, q="till jams", s="shop")["recall"]["items"]
    team.accounts.remove_member(team.server.tenant(own), issuer.address, "person-6", by="the test")
    until(lambda: here.code(token, STATUS) == "FORBIDDEN")
    at_own = {"x-helix-tenant": own}
    assert here.send("POST", "/v1/users", team.key(own, Role.OWNER), json=person).is_success  # their word is not his
    until(lambda: here.code(token, STATUS, headers=at_own) == "OK")
    assert here.code(token, STATUS) == "FORBIDDEN"


@pytest.mark.parametrize("how", some(["suspended", "removed", "gone"], 1))
def test_who_names_no_tenant_is_in_no_other_one_while_their_first_lets_them_in_no_more(
    team: Team, issuer: Issuer, here: Process, how: str
) -> None:
    """Any owner may add anybody: what they go on to write is not for that one."""
    first, second = team.tenant(), team.tenant()
    for tenant in (first, second):
        of = team.server.tenant(tenant)
        team.accounts.add_member(of, issuer.address, f"person-{how}", Role.EDITOR, by="the test", home=True)
    token = issuer.token(f"person-{how}")
    until(lambda: here.code(token, STATUS) == "OK")
    of = team.server.tenant(first)
    if how == "suspended":
        team.server.set_state(of.id, "suspended")
    elif how == "removed":
        team.accounts.remove_member(of, issuer.address, f"person-{how}", by="the test")
    else:
        team.server.delete(of.id)
    until(lambda: here.code(token, STATUS) == "FORBIDDEN")
    assert "data" in here.ask(token, STATUS, headers={"x-helix-tenant": second})
    assert here.code(token, STATUS) == "FORBIDDEN"


def test_a_claim_shows_nothing_of_a_removed_tenant_whose_name_another_one_has(
    team: Team, issuer: Issuer, here: Process
) -> None:
    """At once: a claim has the name alone, and the process may not have noticed yet."""
    slug = team.tenant()
    token = issuer.token("person-5", helix=f"{slug}:owner")
    here.data(token, STORE, t="the till jams", r="quastel", s="shop")
    asked = "{ memories { edges { node { resolution } } } }"
    assert "quastel" in str(here.data(token, asked))
    team.anew(slug)
    assert here.data(token, asked)["memories"]["edges"] == []


def test_what_was_said_of_a_person_goes_before_a_claim_also_while_their_tenant_is_suspended(team: Team) -> None:
    """What counts for a few seconds would be the claim otherwise, when the tenant comes back."""
    tenant = team.server.tenant(team.tenant())
    verifier = Claiming(helix=f"{tenant.slug}:owner")
    team.accounts.add_member(tenant, verifier.issuer, "person-9", Role.READER, by="the test", scopes=["acme/api"])
    team.server.set_state(tenant.id, SUSPENDED)
    known = People(team.accounts, verifier, "helix").known("a.b.c", tenant.slug)
    assert known is not None
    assert (known.role, known.scopes) == (Role.READER, ("acme/api",))


class Claiming(Verifier):
    """What takes any token for that of a person of whom it says something."""

    def __init__(self, **claims: str) -> None:
        super().__init__("https://issuer.example", "helix")
        self._said = {"sub": "person-9", **claims}

    def claims(self, token: str) -> dict[str, object]:
        return {**self._said}


@pytest.mark.parametrize("ends", ["membership", "tenant"])
def test_what_a_person_has_open_ends_with_their_membership_and_with_the_tenant(
    team: Team, issuer: Issuer, here: Process, ends: str
) -> None:
    slug = team.tenant()
    tenant = team.server.tenant(slug)
    token = issuer.token(f"person-4-{ends}", **({} if ends == "membership" else {"helix": f"{slug}:reader"}))
    if ends == "membership":
        team.accounts.add_member(tenant, issuer.address, f"person-4-{ends}", Role.READER, by="the test", home=True)
    until(lambda: here.code(token, STATUS) == "OK")

    async def watched() -> None:
        socket = await connect(
            f"{here.url.replace('http', 'ws', 1)}/graphql",
            additional_headers={"authorization": f"Bearer {token}"},
            subprotocols=[Subprotocol("graphql-transport-ws")],
            proxy=None,
        )
        await socket.send(json.dumps({"type": "connection_init"}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        if ends == "membership":
            team.accounts.remove_member(tenant, issuer.address, f"person-4-{ends}", by="the test")
        else:
            team.server.set_state(tenant.id, SUSPENDED)
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), MOST_SECONDS)

    asyncio.run(watched())


def test_a_claim_may_say_who_may_what(team: Team, issuer: Issuer, here: Process) -> None:
    tenant = team.tenant()
    token = issuer.token("person-3", helix=f"{tenant}:reader")
    assert here.code(token, STATUS) == "OK"
    assert here.send("POST", "/leave", token).status_code == 404  # it is no session of a browser here
    assert here.code(issuer.token("person-3", helix=[f"{tenant}:editor", "x:y", 3]), STORE, t="a", r="b", s="s") == "OK"
    for claim in (f"{tenant}:god", tenant, f"{tenant}:", 7, {"a": 1}, None):
        assert here.code(issuer.token("person-3", helix=claim), STATUS) == "FORBIDDEN", claim


def test_what_a_person_calls_themselves_is_a_name_and_nobody_else_s(team: Team, issuer: Issuer, here: Process) -> None:
    tenant = team.tenant()
    owner, claim = team.key(tenant), f"{tenant}:editor"

    def who(subject: str, **claims: object) -> str:
        words = secrets.token_hex(8)
        told = here.data(issuer.token(subject, helix=claim, **claims), STORE, t=words, r=words, s="shop")
        history = "query($n: String!) { history(nameOrId: $n) { edges { node { by } } } }"
        newest = here.data(owner, history, n=told["store"]["result"]["id"])["history"]["edges"][0]
        return str(newest["node"]["by"])

    for said in ("ada\nroot\x1b[31m", "operator root", "half \ud800", "nul\x00", "  ", ["ada"], "x" * 200):
        assert who("person-5", email=said) == "person-5"
        assert re.fullmatch("person [0-9a-f]{12}", who("auth|5", email=said))
    assert who("person-5", name="Ada") == "Ada"


def test_a_member_whose_subject_may_be_no_name_does_not_act_under_it(team: Team, issuer: Issuer, here: Process) -> None:
    tenant = team.tenant()
    owner, at = team.key(tenant, Role.OWNER), {"x-helix-tenant": tenant}
    for subject, name in (("operator root", "person [0-9a-f]{12}"), ("person-7", "person-7")):
        person = {"issuer": issuer.address, "subject": subject, "role": "owner"}
        assert here.send("POST", "/v1/users", owner, json=person).is_success
        token = issuer.token(subject)
        until(lambda token=token: here.code(token, STATUS, headers=at) == "OK")
        asked = {"name": "ci", "role": "reader"}
        assert here.send("POST", "/v1/keys", token, json=asked, headers=at).is_success
        newest = here.send("GET", "/v1/audit", owner).json()["audit"][0]
        assert newest["action"] == "key.create" and re.fullmatch(name, newest["actor"])


def test_who_removes_a_person_is_told_that_a_claim_may_let_them_in_still(
    team: Team, issuer: Issuer, here: Process
) -> None:
    tenant = team.tenant()
    owner, person = team.key(tenant, Role.OWNER), {"issuer": issuer.address, "subject": "person-8"}
    assert here.send("POST", "/v1/users", owner, json={**person, "role": "reader"}).is_success
    told = here.send("DELETE", "/v1/users", owner, json=person).json()
    assert told["removed"] == "person-8" and "the claim `helix` of their issuer" in told["warning"]
    assert here.code(issuer.token("person-8", helix=f"{tenant}:owner"), STATUS) == "OK"


def test_a_token_that_does_not_hold_lets_nobody_in(issuer: Issuer) -> None:
    verifier, now = Verifier(issuer.address, AUDIENCE), int(time.time())
    assert verifier.claims(issuer.token())["sub"] == "ada"
    stranger = ec.generate_private_key(ec.SECP256R1())
    good = jwt.decode(issuer.token(), options={"verify_signature": False})
    header = {"kid": issuer.name}
    head, body, _ = issuer.token().split(".")
    none = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": issuer.name}).encode()).decode().rstrip("=")
    public = json.dumps(issuer.keys()["keys"][0])
    wrong = [
        issuer.token(exp=now - 3_600),
        issuer.token(exp=None),
        issuer.token(aud="another"),
        issuer.token(aud=None),
        issuer.token(iss="https://another.example"),
        issuer.token(sub=None),
        issuer.token(nbf=now + 3_600),
        jwt.encode(good, stranger, algorithm="ES256", headers=header),
        jwt.encode(good, stranger, algorithm="ES256", headers={"kid": "unknown"}),
        jwt.encode(good, rsa.generate_private_key(65_537, 2_048), algorithm="RS256", headers=header),
        jwt.encode(good, hashlib.sha256(public.encode()).hexdigest(), algorithm="HS256", headers=header),
        f"{none}.{body}.",
        f"{head}.{body}.AAAA",
        f"{head}.{body}.",
        "a.b.c",
        "é.é.é",
        "." * 2,
        "a" * 20_000 + ".b.c",
    ]
    for token in wrong:
        with pytest.raises(UnauthorizedError):
            verifier.claims(token)


def test_an_issuer_may_change_its_key(issuer: Issuer) -> None:
    verifier = Verifier(issuer.address, AUDIENCE, cooldown=0)
    verifier.claims(issuer.token())
    issuer.turn()
    assert verifier.claims(issuer.token())["sub"] == "ada"


@pytest.mark.parametrize("same_id", [True, False])
def test_a_key_that_the_issuer_withdrew_lets_nobody_in_from_then_on(issuer: Issuer, same_id: bool) -> None:
    moment = [0.0]
    verifier = Verifier(issuer.address, AUDIENCE, clock=lambda: moment[0])
    withdrawn, name = issuer.token(), issuer.name
    verifier.claims(withdrawn)
    issuer.turn()
    issuer.name = name if same_id else issuer.name
    moment[0] += 301
    with pytest.raises(UnauthorizedError):
        verifier.claims(withdrawn)
    assert verifier.claims(issuer.token())["sub"] == "ada"


def test_a_key_holds_for_an_hour_while_the_issuer_is_away() -> None:
    moment = [0.0]
    with issuing() as gone:
        token, verifier = gone.token(), Verifier(gone.address, AUDIENCE, clock=lambda: moment[0])
        verifier.claims(token)
    for moment[0] in (301.0, 3_599.0):
        assert verifier.claims(token)["sub"] == "ada"
    moment[0] = 3_601.0
    with pytest.raises(EngineError):
        verifier.claims(token)


@pytest.mark.soak
def test_strangers_at_an_issuer_that_hangs_hold_up_nobody_whose_key_is_known(issuer: Issuer) -> None:
    moment = [0.0]
    verifier = Verifier(issuer.address, AUDIENCE, clock=lambda: moment[0])
    member = issuer.token()
    verifier.claims(member)
    issuer.turn()
    before = issuer.asked
    moment[0] += 31
    with issuer.hanging() as asked, ThreadPoolExecutor(1) as stranger:
        stranger.submit(verifier.claims, issuer.token())
        assert asked.wait(MOST_SECONDS)
        for _ in range(20):
            with pytest.raises(UnauthorizedError):
                verifier.claims(issuer.token())
        assert verifier.claims(member)["sub"] == "ada"
    assert issuer.asked == before + 1, "once, for the first stranger"


@pytest.mark.parametrize("told", [{"use": "enc"}, {"key_ops": ["encrypt"], "use": None}])
def test_a_key_for_something_else_checks_no_signature(issuer: Issuer, told: dict[str, object]) -> None:
    (key,) = issuer.keys()["keys"]
    changed = {name: value for name, value in {**key, **told}.items() if value is not None}
    issuer.told = json.dumps({"keys": [changed]}).encode()
    with pytest.raises(UnauthorizedError):
        Verifier(issuer.address, AUDIENCE).claims(issuer.token())


def test_a_subject_that_is_no_text_is_nobody(issuer: Issuer) -> None:
    with pytest.raises(UnauthorizedError):
        Verifier(issuer.address, AUDIENCE).claims(issuer.token("\ud800"))


def test_an_issuer_that_is_away_is_no_yes() -> None:
    with issuing() as gone:
        token, verifier = gone.token(), Verifier(gone.address, AUDIENCE)
    with pytest.raises(EngineError):
        verifier.claims(token)


@pytest.mark.parametrize("told", ["<html>", "[" * 99_999, "\udcff"], ids=["page", "nested", "bytes"])
def test_an_issuer_that_tells_anything_else_than_keys_is_no_yes(told: str) -> None:
    with issuing() as issuer:
        token, verifier = issuer.token(), Verifier(issuer.address, AUDIENCE)
        issuer.told = told.encode("utf-8", "surrogateescape")
        with pytest.raises(EngineError, match="does not tell its keys"):
            verifier.claims(token)


def test_an_issuer_in_the_open_is_refused() -> None:
    for address in ("http://issuer.example", "ftp://issuer.example", "issuer.example"):
        with pytest.raises(ConfigError):
            Verifier(address, AUDIENCE)
    with pytest.raises(ConfigError):
        Verifier("https://issuer.example", "")
