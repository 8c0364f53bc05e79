"""Made-up secrets: samples that look like a key go like one; what documents write in place of a key stays."""

from __future__ import annotations

import string

import pytest

from helix.text.secrets.redact import redact

COUNTING = string.ascii_letters + string.digits


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        *(("{}", "gsk_" + COUNTING[:52]), ("with {} in", "vcp_bCdEfGhIjKlMnOpQ" + "2345678901")),
        *(("{}", prefix + "E" * 24) for prefix in ("sk_live_", "sk_test_", "rk_live_")),
        ("DATADOG_API_KEY={}", "02" + "0" * 30),
        ("app_key: '{}'", "02" + "0" * 38),
        ("api_key: {}", "c" * 28 + "2ddd"),
        ('api_key: "{}"', "harbour-key-789"),
        ('token = "{}"', COUNTING[3:12] + "2345678901"),
        ("Authorization: Bearer {}", COUNTING[3:9] + "2345678901" + COUNTING[9:14]),
    ],
)
def test_a_made_up_sample_of_a_secret_goes_like_one(text: str, secret: str) -> None:
    """Nothing is lost by it, and whoever sees it gone knows that the real one would be."""
    assert secret not in redact(text.format(secret)).text


@pytest.mark.parametrize(
    "text",
    [
        *("sk-proj-<your-key-here>", "STRIPE_KEY=sk_test_" + "x" * 24, "api_key=YOUR_API_KEY", "token: ${VAR}"),
        *("ghp_" + "x" * 36, "api_key: '...'", "hf_" + "X" * 34, "API_KEY=" + "*" * 20, "apiKey: '{{ api_key }}'"),
        *(f'const keyStr = "{COUNTING}"', f'ALPHABET = "{COUNTING}"', f"key = '{COUNTING[:26]}0123456789'"),
    ],
)
def test_what_documents_write_for_a_secret_and_alphabets_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("login", ["postgres:postgres", "dbuser:password", "admin:admin", "root:pass", "user:pass"])
def test_a_login_of_an_address_loses_its_password_whatever_its_words(login: str) -> None:
    user = login.partition(":")[0]
    assert redact(f"amqp://{login}@queue.test/a").text == f"amqp://{user}:[REDACTED:url-password]@queue.test/a"


@pytest.mark.parametrize("login", ["user:${PASS}", "user:<password>", "{user}:{password}", "user:your-password"])
def test_a_template_of_a_login_stays(login: str) -> None:
    assert redact(f"amqp://{login}@queue.test/a").text == f"amqp://{login}@queue.test/a"


@pytest.mark.parametrize(
    "text",
    [
        *(
            'api_key="[[anything]]"',
            '"api-key": "[[harbour-lamp-key]]"',
            "API_KEY: '[[lamp]]'",
            'access_key = "[[lamplamp]]"',
        ),
        *("{'token': '[[harbour-token]]'}", "SHOP_TOKEN=[[lampvalue]]", 'db_password = "[[shop_yaml_password_x]]"'),
        *("password: [[Harbour]]", "authKey: [[password]]", 'var ShopToken string = "[[4b1dbRdW3rOcB7xLthrM4BTB]]"'),
        *(
            "postgres://${U:-shop}:${DB_PASSWORD:-[[Lamp7xQ2]]}@${HOST}/a",
            "Bearer [[harbour-lamp-token]]",
            "Bearer [[lamp77lam]]",
        ),
    ],
)
def test_what_is_given_to_the_name_of_a_secret_goes_whatever_its_words(text: str) -> None:
    secret = text[text.index("[[") + 2 : text.index("]]")]
    found = redact(text.replace("[[", "").replace("]]", ""))
    before, after = text.split("[[" + secret + "]]")
    assert found.text.startswith(before) and found.text.endswith(after) and secret not in found.text[len(before) :]


@pytest.mark.parametrize(
    "text",
    [
        *(
            '"input_token": "next_token"',
            'token == "integer"',
            "self.password = password",
            "self._client_key = keyfile",
        ),
        *('apiKey: "SHOP_API_KEY"', "password: SecretBytes", "password: isLogin", '"opencode-shop-auth": "2.1.0"'),
        *('secret: "db-credentials"', "VANTAGE_API_KEY: Shop API key for the tests", '"license": {"key": "mit"}'),
        *(
            "connect(user=user, passwd=password)",
            "Bearer token-based",
            "Authorization: Bearer SHOP_API_KEY",
            "the Authorization: header overrides it",
            "the bearer must sign",
            "`--secrets` is also used",
        ),
    ],
)
def test_the_name_of_a_secret_beside_code_or_words_takes_nothing(text: str) -> None:
    assert redact(text).text == text
