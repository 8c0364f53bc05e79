"""A page finds the daemon that follows its own, and whoever listens at the old port instead learns nothing."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import quote

import pytest
from api_server import BEARER, TOKEN, Served

from helix.api.access import Access
from helix.api.handover import Handover
from helix.errors import NotFoundError, UnauthorizedError

NONCE = "ab" * 24


def mac(key: str, text: str) -> bytes:
    return hmac.new(bytes.fromhex(key), text.encode(), hashlib.sha512).digest()


def unsealed(key: str, told: dict[str, str]) -> str:
    told_in_all = f"port {NONCE} {told['port']} {told['salt']} {told['sealed']}"
    assert mac(key, told_in_all).hex() == told["proof"]
    pad = mac(key, f"link {NONCE} {told['salt']}")
    return bytes(a ^ b for a, b in zip(bytes.fromhex(told["sealed"]), pad, strict=False)).decode()


def test_the_next_daemon_of_the_store_lets_a_page_of_the_last_one_in_at_its_view(served: Served) -> None:
    page = Handover(Access(TOKEN)).new_page()  # of another process with the same token
    told = served.request("GET", f"/moved?page={page['page']}&nonce={NONCE}").json
    assert told["port"] == served.port
    link = unsealed(page["key"], told)
    looked = served.request("HEAD", f"/open/{link}", headers={"sec-fetch-site": "none"})
    assert looked.status == 405, "who looks whether there is a page has not used the link up"
    entered = served.request("GET", f"/open/{link}?view=/decide%3Ftab=gaps", headers={"sec-fetch-site": "none"})
    assert (entered.status, entered.headers["location"]) == (303, "/decide?tab=gaps")
    assert served.request("GET", f"/open/{link}", headers={"sec-fetch-site": "none"}).status == 403


@pytest.mark.parametrize(
    "view",
    ["//evil.example/x", "/\\evil.example", "https://evil.example", '/"><script>', "/a\r\nb", "/%0d%0aset-cookie:a"],
)
def test_a_link_leads_nowhere_but_to_a_view(served: Served, view: str) -> None:
    for site in ("none", "cross-site"):
        link = served.ask("mutation { openLink { result { url } } }")["openLink"]["url"].rpartition("/")[2]
        answer = served.request("GET", f"/open/{link}?view={quote(view)}", headers={"sec-fetch-site": site})
        assert answer.headers.get("location", "/") == "/"
        assert (
            b"evil" not in answer.body and b"<script" not in answer.body and "set-cookie:a" not in str(answer.headers)
        )


@pytest.mark.parametrize(
    "view", ["/happened/session/foo(bar)?scope=shop", "/happened/session/it's~mine!*", "/?q=what's+(new)!*~"]
)
def test_a_link_leads_to_a_view_whose_address_holds_all_that_a_browser_leaves_raw(served: Served, view: str) -> None:
    link = served.ask("mutation { openLink { result { url } } }")["openLink"]["url"].rpartition("/")[2]
    answer = served.request("GET", f"/open/{link}?view={quote(view)}", headers={"sec-fetch-site": "none"})
    assert (answer.status, answer.headers["location"]) == (303, view)


def test_a_page_of_another_store_or_of_long_ago_is_not_let_in() -> None:
    now = [1_800_000_000.0]
    handover = Handover(Access(TOKEN), clock=lambda: now[0])
    page = handover.new_page()
    stranger = Handover(Access("another token"), clock=lambda: now[0]).new_page()
    for _ in range(30):
        with pytest.raises(NotFoundError):
            handover.where(stranger["page"], NONCE, 1)
    assert handover.where(page["page"], NONCE, 1)["port"] == 1  # what strangers ask is not counted
    now[0] += 12 * 3600 + 1
    with pytest.raises(UnauthorizedError):
        handover.where(page["page"], NONCE, 1)
    for wrong in ("", "1", f"{page['page']}0", "9" * 12 + "." + "0" * 32):
        with pytest.raises((NotFoundError, UnauthorizedError)):
            handover.where(wrong, NONCE, 1)


def test_a_daemon_proves_to_a_page_that_it_listens_where_the_page_came_from(served: Served) -> None:
    page = served.request("GET", "/page", headers=BEARER).json
    assert page["port"] == served.port
    told = served.request("GET", f"/alive?page={page['page']}&nonce={NONCE}").json
    assert told == {"proof": mac(page["key"], f"alive {NONCE} {served.port}").hex()}
    elsewhere = Handover(Access(TOKEN)).alive(page["page"], NONCE, 1)
    assert elsewhere != told, "who listens where the daemon was may ask it where it is now, and hand that on"
    for wrong in (f"page={page['page']}", f"page={page['page'][:-1]}&nonce={NONCE}", f"page=1&nonce={NONCE}"):
        assert served.request("GET", f"/alive?{wrong}").status == 404


def test_links_that_are_asked_for_with_one_nonce_have_no_pad_in_common() -> None:
    """The letters of a link are ASCII: under one pad the high bit of each place would never change."""
    now = [1_800_000_000.0]
    handover = Handover(Access(TOKEN), clock=lambda: now[0])
    page = handover.new_page()["page"]
    sealed = []
    for _ in range(60):
        now[0] += 10
        sealed.append(bytes.fromhex(str(handover.where(page, NONCE, 1)["sealed"])))
    assert any(one[place] ^ other[place] > 127 for one in sealed for other in sealed for place in range(len(one)))


def test_only_so_many_links_are_given_within_a_minute() -> None:
    now = [1_800_000_000.0]
    handover = Handover(Access(TOKEN), clock=lambda: now[0])
    page = handover.new_page()["page"]
    for _ in range(20):
        handover.where(page, NONCE, 1)
    with pytest.raises(UnauthorizedError):
        handover.where(page, NONCE, 1)
    now[0] += 61
    assert handover.where(page, NONCE, 1)["port"] == 1


def test_only_a_known_browser_gets_a_key(served: Served) -> None:
    assert served.request("GET", "/page").status == 401
    assert set(served.request("GET", "/page", headers=BEARER).json) == {"page", "key", "port"}
