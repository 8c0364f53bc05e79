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
    "form",
    [
        *("-auth admin:{}", "stats auth admin:{}", "addauth digest mira:{}", "user mira insecure-password {}"),
        *(
            "signInWithEmailAndPassword(mail, '{}')",
            "authorization_basic('mira', '{}')",
            "shop.ssl.keyStorePassword {}",
        ),
        "<property><name>shop.ConnectionPassword</name><value>{}</value></property>",
        "the password {} is for staging",
    ],
)
def test_what_servers_and_clients_take_goes(form: str) -> None:
    assert "xBLt7VgxJMJW8C" not in redact(form.format("xBLt7VgxJMJW8C")).text


@pytest.mark.parametrize(
    "text",
    [
        *("stats auth $USER:$WORD", "auth https://a1b2c3.test:8443", "the auth a:b scheme", "user mira insecure2"),
        *("signInWithEmailAndPassword(mail, word2)", "shop.ssl.keyStorePassword is set in a1b2c3.conf"),
        "<property><name>shop.port</name><value>a1b2c3d4</value></property>",
        *("the password Ed25519PrivateKey", "a password PBKDF2WithHmacSHA256 hashes", "password SHA256Base64Encoded"),
    ],
)
def test_what_only_looks_like_what_they_take_stays(text: str) -> None:
    assert redact(text).text == text


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
