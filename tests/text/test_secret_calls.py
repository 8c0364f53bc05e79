"""Secrets that no name tells of: keys in calls of clients, behind a word, cut off, in a secret of Kubernetes."""

from __future__ import annotations

import base64

import pytest

from helix.text.secrets.redact import redact


@pytest.mark.parametrize(
    "form",
    [
        *("client = OpenAI('{}')", 'Anthropic("{}")', "require('stripe')('{}')", "cookieParser('{}')", "Fernet(b'{}')"),
        *("Client(account_sid, '{}')", "API key {}", "use token {} for it"),
        *(
            "Pass: {}",
            "curl_setopt($ch, CURLOPT_USERPWD, 'mira:{}');",
            "git clone https://{}@shop.test/shop.git",
            "the secret {}",
            "the api key `{}`",
        ),
    ],
)
@pytest.mark.parametrize("value", ["xBLt7VgxJMJW8C", "9kQw3TzR7vLp2M", "h4Xr8BnVqT2sWk"])
def test_what_a_machine_made_goes_where_no_more_than_a_word_tells_of_it(form: str, value: str) -> None:
    assert value not in redact(form.format(value)).text


def test_a_key_of_aws_tells_of_the_secret_behind_it() -> None:
    key = "AKIA" + "Q3EGWZXK7P2MTB5N"
    assert "lantern7" not in redact(f"Session('{key}', 'lantern7!Kx3')").text


@pytest.mark.parametrize(
    "text",
    [
        "PuTTY-User-Key-File-3: ssh-ed25519\nComment: mira\nPrivate-Lines: 1\n[[AAAAIKs8d7fjsdKJHsd87]]\n",
        "-----BEGIN PGP PRIVATE KEY " + "BLOCK-----\nVersion: GnuPG v2\n\n[[lQOYBFxyz3kBCADGq1s9wH2k5Y8m3pQ7Zr4T6v]]\n",
        "-----BEGIN RSA PRIVATE " + "KEY-----\nProc-Type: 4,ENCRYPTED\n\n[[lQOYBFxyz3kBCADGq1s9wH2k5Y8m3pQ7Zr4T6v]]\n",
    ],
)
def test_a_private_key_goes_that_was_cut_off(text: str) -> None:
    secret = text[text.index("[[") + 2 : text.index("]]")]
    assert secret not in redact(text.replace("[[", "").replace("]]", "")).text


def test_what_a_secret_of_kubernetes_holds_in_base64_goes() -> None:
    held = base64.b64encode(b"Kqx7RmT2vLp97z").decode()
    assert held not in redact(f"kind: Secret\ndata:\n  dsn: {held}\n").text
    assert held in redact(f"kind: ConfigMap\ndata:\n  dsn: {held}\n").text
