"""Redaction of secrets by the form they are given in: words, queries, logins, parted tokens, names and vendors."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.secrets.assignments import _name_start
from helix.text.secrets.redact import redact, redact_value
from tests.counting import calls_of

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def made_of(alphabet: str, length: int, seed: int = 7) -> str:
    """Return a string as a vendor's generator makes it; no real-looking key stands in this file."""
    return "".join(random.Random(seed).choices(alphabet, k=length))


def assert_taken_out(text: str) -> None:
    """Check that what stands in double brackets, and nothing else, is taken out of the text without them."""
    before, secret, after = text.replace("]]", "[[").split("[[")
    found = redact(before + secret + after)
    assert found.kinds
    assert found.text == f"{before}[REDACTED:{found.kinds[0]}]{after}"


@pytest.mark.parametrize(
    "text",
    [
        *("shop_password: [[password]]", 'shop_password = "[[password]]"', "'db_password': '[[secret]]'"),
        *("password_redis: [[harbour]]", "password=[[000000]]", "password=[[482]]"),
        *("deploy_token: [[password]]", "DEPLOY_TOKEN=[[harbour]]", "export SHOP_TOKEN=[[lanterns]]"),
        *('{"user": "mira", "pass": "[[harbour]]"}', 'account.setPassword("[[harbour]]");'),
        *("define('SHOP_PASSWORD', '[[harbour]]');", "ENV SHOP_PASSWORD [[harbour]]", "shop --password [[harbour]]"),
        *("shop --password=[[harbour]] --quiet", "docker run -e SHOP_PASSWORD=[[harbour]] -d shop"),
        *("host=db user=mira password=[[harbour]] port=5432", "Login{user=mira, password=[[harbour]]}"),
        *("CREATE USER mira WITH PASSWORD '[[harbour]]';", "CREATE USER 'mira' IDENTIFIED BY '[[harbour]]';"),
        *('api_key="[[Harbour9lights]]"', "db_password: [[h@rb0ur)]]"),
        *(
            "  MYSQL_ROOT_PASSWORD: [[root]]",
            "shop --password=[[HarbourLight]]",
            "helm upgrade --set auth.password=[[harbour]]",
        ),
        *(
            "kubectl create secret generic db --from-literal=password=[[HarbourLight]]",
            'connect("user=mira password=[[harbour]]")',
        ),
        *(
            "aws ssm put-parameter --name /shop/db/password --type SecureString --value [[Harbour9]]",
            "bindpw [[harbour]]",
        ),
        *('az keyvault secret set --name db-password --value "[[Harbour9]]"', "rocommunity [[harbour]]"),
        *(
            "iscsiadm -o update -n node.session.auth.password -v [[Harbour9]]",
            "nmcli dev wifi connect Shop password [[harbour9]]",
        ),
        *(
            'ftp.login("mira", "[[harbour9]]")',
            'getConnection(url, "mira", "[[harbour9]]")',
            'get(url, auth=("mira", "[[harbour9]]"))',
        ),
        *('<datasource user="mira" password="[[HarbourPass]]"/>', "<password>[[plainHarbour]]</password>"),
        *("netlify env:set SHOP_PASSWORD [[Kr4ken!Bay]]", "consul kv put shop/db/password [[Kr4ken!Bay]]"),
        *(
            'dotnet user-secrets set "Shop:Password" "[[Kr4ken!Bay]]"',
            "poetry config http-basic.shop mira [[Harbour9]]",
        ),
        "bundle config gems.shop.test mira:[[Harbour9]]",
        *(
            "rootpw --plaintext [[Kr4ken!Bay]]",
            "keytool -storepass [[tidal-77-harbour]] -list",
            "user: mira\npass: [[Harbour9]]",
        ),
        "<AdministratorPassword><Value>[[Kr4ken!Bay]]</Value></AdministratorPassword>",
        "https://api.shop.test/weather?q=Kiel&appid=[[9f86d081884c7d659a2feaa0c55ad015]]",
    ],
)
def test_a_word_is_a_password_where_a_setting_or_a_command_gives_it(text: str) -> None:
    assert_taken_out(text)


@pytest.mark.parametrize(
    "text",
    [
        *("the password is wrong", "use the --password option", "the --password flag\n", "password=password"),
        *("user.password = password", "login(user=user, password=harbour)", 'password: "password"', "token = token"),
        *("shop_password: ${PASSWORD}", "shop_password: <your-password>", "DEPLOY_TOKEN=xxxxxxxx", "pass: 12"),
        *('"password": "Passwort"', '"new_password": "Kennwort:"', '"password": "Ask for a new password."'),
        *('secret = "SHOP_SECRET_2"', "const token = session!.shopToken;", "credentials: 'same-origin'"),
        *("IDENTIFIED BY 'password'", "export SHOP_TOKEN=token", 'setPassword("newPassword")'),
        *(
            'define("PASSWORD", "password")',
            "the community = great people",
            "pin = 13",
            "led_pin = 4821",
        ),
        *("<password>password</password>", "<password>${shop.password}</password>", '<field password="newPassword"/>'),
        *("--name password --description harbour", 'signal.connect("clicked", "harbour")', 'login("user", "password")'),
        *(
            "db_password = password",
            "helm upgrade --set auth.password=$PASSWORD",
            "salt = os.urandom(16)",
            "bindpw <password>",
        ),
    ],
)
def test_a_word_that_gives_no_password_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        *("https://shop.test/#access_token=[[HARBOUR_LIGHT]]&view=all", "/resume?token=[[HARBOUR_LIGHT]]&view=all"),
        *("/resume?token=[[HARBOUR_LIGHT]];view=all", "https://shop.test/cb?client%5Fsecret=[[HARBOUR_LIGHT]]&a=1"),
        *(
            "https://shop.test/cb?client%255Fsecret=[[HARBOUR_LIGHT]]&a=1",
            "wss://shop.test/s?token=[[ann-harbour]]&a=1",
        ),
        *("jdbc:mysql://(host=a,user=mira,password=[[harbour]])/db", "//mira:[[HARBOUR_LIGHT]]@shop.test/path"),
        *("mira:[[Harbour-9]]@tcp(db.test:3306)/shop", "proxy mira:[[Harbour-9]]@proxy.test:8080"),
        *("https://[[HARBOURLIGHTSOFTHESOUTH]]@git.test/a.git", "ssh://[[harbourlight1234567]]@git.test/a.git"),
        "https://hooks.slack.com/services/[[TKraKenBy/BHarBourL/Zq83hfKd02mvPa71Tx4wQ9Lm]]",
        *(f"https://shop.test/{part}/[[{made_of(ALNUM, 24)}]]/send" for part in ("token", "api/key", "v1/apikey")),
        f"Cookie: JSESSIONID=[[{made_of(HEX, 32)}]]; theme=dark",
        '{"headers": {"Cookie": "shop_session=[[harbour-lamp]]; theme=dark"}}',
        "Set-Cookie: shop_session=[[harbour-lamp]]; Path=/; Expires=Wednesday",
        "get(url, cookies={'shop_session': '[[harbour lamp]]'})",
        "https://shop.test/?next=%2F[[sk-proj-Ab3xK9mQ7zR2wT5vY8nL4p]]",
        "https://shop.test/?k=[[%73k%2Dproj%2DAb3xK9mQ7zR2wT5vY8nL4p]]",
        "https://mira:[[%23%40%5E]]@shop.test/a",
        "wget --password=[[Harbour_Lamp]] https://shop.test",
        "mcp --token [[lamp12]] --port 3000",
        "Cookie: session=[[a1b2]]; theme=dark",
        "https://shop.test/a?AWSAccessKeyId=[[lamp]]&a=1",
        "using [[ghp_LampHarbourLampHarbour]] here",
        "run with SHOP_API_KEY=[[HARBOUR_LAMP_42]] set",
        "Authorization: Bearer [[words_of_a_made_up_harbour]]",
        "curl -H 'X-Api-Key: [[sk-shop-HARBOUR-998877]]' https://shop.test",
    ],
)
def test_a_secret_of_an_address_or_header_goes_whatever_its_words(text: str) -> None:
    assert_taken_out(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "/resume?token=YOUR_TOKEN&a=1",
            "https://shop.test/?token=${TOKEN}",
            "https://shop.test/?access_token=ACCESS_TOKEN",
        ),
        *(
            "https://shop.test/?page_token=SECOND_PAGE",
            "//shop.test/path",
            "// user: see a@b",
            "https://mira@shop.test/a",
        ),
        *("https://shop.test/docs/token/how-tokens-are-made-here", "https://shop.test/key/value", "Cookie: theme=dark"),
        *("mailto:mira@mail.test:25", "shop:1.25@sha256:12345", "sip:mira@phone.test:5060", "ssh:git@git.test:22"),
        *("Authorization: Bearer your_access_token_here", "https://hooks.slack.com/services/", "#token: none"),
    ],
)
def test_what_documents_write_in_an_address_or_header_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("broken", ["\n", "\r\n", "\\n", "\n  ", "\n> "])
@pytest.mark.parametrize("prefix", ["ghp_", "glpat-", "sk-proj-", "sk-ant-"])
def test_a_token_that_a_line_break_parts_goes_whole(prefix: str, broken: str) -> None:
    first, rest = made_of(ALNUM, 8), "a1" + made_of(ALNUM, 24)
    redacted = redact(f"with {prefix}{first}{broken}{rest} in").text
    assert first not in redacted
    assert rest not in redacted


@pytest.mark.parametrize("text", ["starts with ghp_\nand 36 signs", "ghp_abcdef\nfollowed-by-words-of-prose"])
def test_a_line_behind_a_prefix_is_no_rest_of_a_token(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("sign", ["\x00", "\x1b", "\x7f", "\u200b"])
def test_a_sign_that_nobody_sees_hides_no_token(sign: str) -> None:
    token = "ghp_" + made_of(ALNUM, 36)
    assert redact(f"with {token[:12]}{sign}{token[12:]} in").text == "with [REDACTED:github-token] in"


@pytest.mark.parametrize("letter", ["a", "B", "7"])
@pytest.mark.parametrize("prefix", ["gloas-", "glptt-", "fw_", "fpk_", "hvs.", "vcp_", "sk-", "tvly-"])
def test_a_token_of_one_letter_goes_like_one(prefix: str, letter: str) -> None:
    token = prefix + letter * 40
    assert token not in redact(f"with {token} in").text


@pytest.mark.parametrize("prefix", ["hvs.", "vcp_", "sb_secret_", "sk-ant-api03-"])
def test_a_token_of_words_in_capitals_goes_like_one(prefix: str) -> None:
    token = prefix + "MADE_UP_HARBOUR_LIGHT_1"
    assert token not in redact(f"with {token} in").text


@pytest.mark.parametrize(
    "token",
    [
        *(f"{prefix}{made_of(ALNUM, 40)}" for prefix in ("mdb_sa_sk_", "nyk_v0_", "wandb_v1_", "am_", "fpk_", "fw-")),
        *(f"{prefix}{made_of(ALNUM, 40)}" for prefix in ("os_v2_app_", "xnd_production_", "llx-", "glwt-")),
        "sk_" + made_of(HEX, 48),
        "signkey-prod-" + made_of(HEX, 64),
        "xaat-{}-{}-{}-{}-{}".format(*(made_of(HEX, size, size) for size in (8, 4, 4, 4, 12))),
        f"ghs_12345_eyJ{made_of(ALNUM, 40)}.{made_of(ALNUM, 60)}.{made_of(ALNUM, 43)}",
        "123456789:A" + made_of(ALNUM + "-_", 34),
        *(prefix + made_of(HEX, 32) for prefix in ("ek_", "cu_", "QN_", "key-")),
        *(
            prefix + made_of(ALNUM, 32)
            for prefix in ("cio", "mainnet", "dbtc_", "nbp_", "unkey_", "polar_oat_", "hcw_")
        ),
        *(prefix + made_of(ALNUM + "-_", 86) for prefix in ("apiv3_", "essu_", "Atza|", "vercel_blob_rw_")),
        *("sk_org_live_" + made_of(ALNUM, 40), "ak-" + made_of(ALNUM, 22), "cflt" + made_of(ALNUM + "+/", 60)),
        *(
            "pk_" + made_of(HEX, 34),
            "packagist_out_" + made_of(HEX, 58),
            "ATTA" + made_of(HEX, 64) + made_of("0123ABCD", 8),
        ),
        *("amzn1.oa2-cs.v1." + made_of(HEX, 64), "private_" + made_of(ALNUM, 27) + "=", "sk" + made_of(ALNUM, 178)),
        "{}-{}-{}".format(*(made_of(HEX, size, size) for size in (32, 8, 8))),
        "PRD-{}-{}-{}-{}-{}".format(*(made_of(HEX, size, size) for size in (12, 4, 4, 4, 4))),
        f"pdl_live_apikey_{made_of(string.ascii_lowercase, 26)}_{made_of(ALNUM, 22)}_{made_of(ALNUM, 3)}",
        f"1/{made_of('123456789', 16)}:{made_of(HEX, 32)}",
        f"{made_of(HEX, 24)}:{made_of(HEX, 64, 3)}",
        f"AKIA{made_of('ABCDEFG234567', 16)},{made_of(ALNUM + '+/', 40)}",
        f"AAAA{made_of(ALNUM, 7)}:APA91b{made_of(ALNUM + '-_', 134)}",
        f"KEY{made_of('0123456789ABCDEF', 32)}_{made_of(ALNUM, 22)}",
        f"{made_of(ALNUM, 3)}8Q~{made_of(ALNUM, 20)}.{made_of('abc_', 13)}",
        f"SCRAM-SHA-256$4096:{made_of(ALNUM, 22)}==${made_of(ALNUM, 43)}=:{made_of(ALNUM, 43, 3)}=",
        "{SSHA}" + made_of(ALNUM, 38) + "==",
    ],
)
def test_a_token_of_a_vendors_documented_shape_goes_whole(token: str) -> None:
    redaction = redact(f"with {token} in")
    assert redaction.text == f"with [REDACTED:{redaction.kinds[0]}] in"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "fw-version-of-the-board-rev2",
            "am_monthly_report_2026",
            "llx-tree-view-component",
            "cu_seqlens_k_of_all_heads",
        ),
        *("private_networking_for_all_of_them", "mainnetShelleyGenesisHashForTheNodeConfig", "1/2: " + "ab" * 16),
    ],
)
def test_a_name_that_begins_like_a_token_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        *(f"ran {prefix}{made_of(ALNUM, 24)} in" for prefix in ("toolu_01", "msg_01", "call_", "LA_kwDO", "resp_")),
        f'{{\\"toolCallId\\":\\"{made_of(ALNUM, 26)}\\"}}',
        *(
            "shop --session bx-q0ym-wtr-dashboard open",
            "Session: 019ed89f-2278-7363-9e9f-609e8d5fd6ef\\n  Phase: active",
        ),
        *(
            "permissions:\\n  id-token: write\\n+permissions: {}",
            "PASS - Fixed!\\n4. multiply",
            "try-except-pass (SIM105)",
        ),
        *("with --enable-psk --enable-opensslcoexist", "--proxy-password and\\n--oauth2-bearer take arguments"),
    ],
)
def test_what_events_of_agents_hold_stays(text: str) -> None:
    """Names that interfaces give their objects, and words at the end of a line that is escaped as in JSON."""
    assert redact(text).text == text


@pytest.mark.parametrize("member", ["d", "p", "q", "dp", "dq", "qi"])
def test_the_private_members_of_a_key_in_json_go(member: str) -> None:
    value = made_of(ALNUM + "-_", 43)
    text = f'{{"kty": "RSA", "n": "{made_of(ALNUM, 60, 3)}", "{member}": "{value}"}}'
    assert value not in redact(text).text


def test_a_static_key_of_openvpn_goes() -> None:
    lines = "\n".join(made_of(HEX, 32, line) for line in range(16))
    text = f"-----BEGIN OpenVPN Static key V1-----\n{lines}\n-----END OpenVPN Static key V1-----"
    assert redact(f"with\n{text}\nin").text == "with\n[REDACTED:private-key]\nin"


@pytest.mark.parametrize(("prefix", "size"), [("xprv", 107), ("zprv", 107), ("nsec1", 58)])
def test_a_private_key_of_a_wallet_goes(prefix: str, size: int) -> None:
    assert redact(
        f"with {prefix}{made_of('234567890acdefghjk' if size == 58 else '23456789ABCDabcd', size)} in"
    ).kinds == ("private-key",)


@pytest.mark.parametrize(
    "named", ["mnemonic = '{}'", 'SHOP_MNEMONIC="{}"', "seed phrase: {}", "the recovery phrase is {}"]
)
def test_the_words_by_which_a_wallet_is_restored_go(named: str) -> None:
    words = "harbour lantern ridge copper violin change anchor walnut ember glacier again any"
    assert redact(named.format(words)).text == named.format("[REDACTED:password]")
    assert not redact(named.format("of the people who have to write it down again and again and")).findings


@pytest.mark.parametrize("name", ["AUTH_SALT", "AUTH_KEY", "LOGGED_IN_KEY"])
def test_a_key_of_signs_goes_whatever_it_looks_like(name: str) -> None:
    made = made_of(ALNUM + "!@#$%^&*() -_[]{}<>~+=,.;:/?|", 60)
    assert redact(f"define('{name}', '<`{made}');").text == f"define('{name}', '[REDACTED:credential]');"
    assert not redact(f"define('{name}', 'put your own phrase here, it may be long');").findings


def test_a_secret_key_of_minisign_goes() -> None:
    key = "RWRTY0Iy" + made_of(ALNUM + "+/", 204)
    assert (
        redact(f"untrusted comment: minisign\n{key}\n").text == "untrusted comment: minisign\n[REDACTED:private-key]\n"
    )


@pytest.mark.parametrize(
    "name",
    [
        *("snmp_community", "community_string", "snmpCommunity", "privKey", "privacy_key", "sshkey", "aws_creds"),
        *("key_material", "authentication_key", "db_pswd", "clientSecret", "password_mysql", "user_pin", "apiKeys"),
        *("ldap_bindpw", "password_couchbase", "private_key_pem"),
    ],
)
def test_a_name_promises_the_secret_that_it_holds(name: str) -> None:
    assert redact_value(name, "Kr4ken-Bay-2211").findings


@pytest.mark.parametrize(
    "text", ["api_hash = '[[{}]]'", "TELEGRAM_API_HASH=[[{}]]", "app.config['SECRET_KEY'] = '[[{}]]'"]
)
def test_a_key_goes_by_the_words_of_its_name(text: str) -> None:
    assert_taken_out(text.format(made_of(HEX, 32)))


def test_a_secret_id_is_a_secret_where_it_is_no_name() -> None:
    assert_taken_out("secret_id: [[6f1c2b3a-9d8e-4f70-8a1b-2c3d4e5f6071]]")
    assert not redact("secret_id: arn:aws:secretsmanager:eu-west-1:4711:secret:shop/db").findings


@pytest.mark.parametrize("name", ["community", "led_pin", "password_hint", "tokens", "primary_key", "communities"])
def test_a_name_of_something_else_promises_nothing(name: str) -> None:
    assert not redact_value(name, "Kr4ken-Bay-2211").findings


@given(
    st.text(alphabet=" \n\x00\x1b\u200babAB19_-:=@/?&#;()'\"", max_size=60), st.sampled_from(["token=", "ghp_", "//u:"])
)
def test_redacting_twice_changes_nothing(around: str, inside: str) -> None:
    once = redact(f"{around}{inside}{around}").text
    assert redact(once).text == once


@pytest.mark.parametrize("word", ["auth", "apikey", "key.", "pwd_"])
def test_a_word_without_end_is_looked_at_no_oftener_than_one_of_a_names_length(word: str) -> None:
    short, long = (calls_of(_name_start, lambda count=count: redact(word * count)) for count in (40, 4_000))  # type: ignore[arg-type, misc]
    assert 0 < long <= short
    assert_taken_out(f"{word * 400} {word}=[[Kr4ken-Bay-2211]] {word * 400}")
