"""Families: tokens known by their shape (a vendor's prefix, a JWT), and strings random enough to be secrets alone.

Without it 566 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.secret_names import UNMISTAKABLE, Promise, promise_of
from helix.text.secrets.span import Span

_CANDIDATE = regex(r"[A-Za-z0-9_~.+/-]{16,}={0,2}")
_SEGMENT = regex(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_LOOKS_LIKE_DATA = 4096
_CONTEXT = 90

_SHAPES = {
    "aws-access-key": (r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",),
    "twilio-key": (r"(?:AC|SK)[0-9a-f]{32}(?!\w)",),
    "mailchimp-key": (r"[0-9a-f]{32}-us\d{1,2}(?!\w)",),
    "mailgun-key": (r"key-[0-9a-f]{32}(?!\w)", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?!\w)"),
    "discord-token": (r"[MNO][A-Za-z\d]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?!\w)",),
    "pypi-token": (r"pypi-AgE[\w-]{40,}",),
    "jwt": (r"eyJ[\w-]{8,}\.[\w-]{2,}(?:\.[\w.+/=-]*)?", r"ZXlK[A-Za-z0-9+/]{40,}={0,2}"),
    "google-key": (r"AIza[\w-]{35}(?![\w-])", r"ya29\.[\w.-]{20,}", r"GOCSPX-[\w-]{20,}", r"1//0[\w-]{30,}"),
    "github-token": (r"ghs_\d+_eyJ[\w.-]{30,}", r"gh[opsur]_\w{30,}", r"github_pat_\w{22,}"),
    "gitlab-token": (r"gl(?:pat|dt|rt|soat|ptt|ft|imt|agent|oas|cbt|ffct|rtr|wt)-[\w.-]{20,}", r"GR1348941[\w-]{20,}"),
    "slack-token": (
        r"xox[a-z]-(?:\d-)?(?:\d{6,}-){1,4}(?=\d*[A-Za-z])[A-Za-z0-9]{8,}",
        r"xox[a-z](?:\.xox[a-z])?-\d-[A-Za-z0-9]{40,}",
        r"xapp-\d-[A-Z0-9]{6,}-\d{6,}-[0-9a-f]{32,}",
    ),
    "anthropic-key": (r"sk-ant-[a-z]{3,6}\d\d-[\w-]{80,}",),
    "aws-appsync-key": (r"da2-[a-z0-9]{26}(?!\w)",),
    "openai-key": (r"sk-(?:proj|svcacct|admin|or-v1)-[\w-]{20,}",),
    "api-key": (r"sk-(?:lf-)?[\w-]{20,}",),
    "stripe-key": (r"(?:[sr]k|ek)_(?:org_)?(?:live|test|prod)_[A-Za-z0-9]{10,}", r"whsec_[\w+/]{20,}"),
    "huggingface-token": (r"hf_[A-Za-z0-9]{34}(?!\w)", r"api_org_[A-Za-z0-9]{34}(?!\w)"),
    "azure-secret": (r"[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])", r"[A-Za-z0-9]{76}AZDO\w{4}(?!\w)"),
    "aws-bedrock-key": (r"ABSK[A-Za-z0-9+/]{109,}={0,2}", r"bedrock-api-key-[A-Za-z0-9+/=]{40,}"),
    "hashicorp-token": (
        r"hv[bsr]\.[\w-]{20,}",
        r"[sbr]\.[A-Za-z0-9]{24}(?![\w])",
        r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,}",
    ),
    "facebook-token": (r"EAA[A-Za-z0-9]{80,}", r"EAACEdEose0cBA[A-Za-z0-9]+"),
    "1password-secret": (
        r"ops_eyJ[\w+/=-]{100,}",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-(?:[A-Z0-9]{5}-){2}[A-Z0-9]{5}",
    ),
    "age-key": (r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",),
    "twitter-token": (r"A{18,}[A-Za-z0-9%]{60,}",),
    "dropbox-token": (r"sl\.(?:u\.)?[\w-]{100,}",),
    "amazon-key": (r"amzn\.mws\.[0-9a-f-]{36}", r"amzn1\.oa2-cs\.v1\.[0-9a-f]{64}"),
    "ebay-key": (r"(?:PRD|SBX)-[0-9a-f]{12}(?:-[0-9a-f]{4}){4}(?!\w)",),
    "telnyx-key": (r"KEY[0-9A-F]{32}_\w{22}(?!\w)",),
    "sanity-token": (r"sk[A-Za-z0-9]{150,}(?!\w)",),
    "hex-token": (r"(?:[ec]k|cu|QN)_[0-9a-f]{32}(?!\w)", r"pk_[0-9a-f]{34}(?!\w)", r"packagist_\w{3}_[0-9a-f]{50,}"),
    "octopus-key": (r"API-[A-Z0-9]{26}(?![A-Z0-9])",),
    "sourcegraph-token": (r"sgp_(?:local_|[0-9a-fA-F]{16}_)?[0-9a-fA-F]{40}(?!\w)",),
    "easypost-key": (r"EZ[AT]K[A-Za-z0-9]{54}(?!\w)",),
    "square-token": (r"sq0[a-z]{3}-[\w-]{20,}", r"EAAA[\w-]{60}"),
    "braintree-token": (r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",),
    "cloudflare-key": (r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}",),
    "new-relic-key": (
        r"(?:eu|us|ap)\d\dxx[0-9a-f]{30,36}(?:NRAL|FFFFNRAL)",
        r"NRAK-[A-Z0-9]{20,}",
        r"[0-9a-f]{36}NRAL",
    ),
    "uuid-token": (
        r"(?:pat-(?:na|eu|ap)\d|(?:sdk|api|mob)|access-(?:sandbox|development|production)|heroku|u|local|xa[ap]t)-"
        r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)",
    ),
    "vendor-token": (
        r"(?:npm|[sr]k|hf|dckr_[op]at|cf[au]t|do[opr]_v1|lin_(?:api|oauth)|ntn|sq[aup]|sntry[su]|rdme|pnu|pscale_(?:tkn|pw|oauth)|sbp|sb_secret|gsk"
        r"|r8|fig[dour]|rubygems|CCIP(?:AT|RJ)|phx|ops|glc|glsa|fo1|fm[12][ar]?|flb_live|secret|nfp|rnd|lsv2_(?:pt|sk)|apify_api|hc[ax]ik"
        r"|pylf_v1|shp(?:at|ca|pa|ss)|shippo_(?:live|test)|duffel_(?:live|test)|[tm]fp|CLOJARS|vc[aikpr]|napi|e2b|aio|AVN[SU]|bk[uaptr]{2}"
        r"|pcsk|jina|waka|rzp_(?:live|test)|rpa|tgp_v1|bb_(?:live|test)|sm_(?:pat|aat|sat)|api_(?:live|sandbox)|lip|tr_(?:dev|prod)"
        r"|re_[A-Za-z0-9]{8}|pk_(?:prod|\d{5,})|ddp|sgs|tok|uak|ory_(?:at|pat|rt)|fw|[ou]?ak|cfk|k2sk_v1|sq0atp|snyk_\w{3}|oat|patw|cal_live|ntfy|fpk|am|mdb_sa_sk|nyk_v0|os_v2_app|wandb_v1|xnd_(?:development|production)|essu|CCDB1|apiv3|pnb|dbt[cu]|nbp|ddo|hc[rw]"
        r"|unkey|polar_\w{2,4}|vercel_blob_rw|pdl_(?:live|sdbx)_apikey|pdl_ntfset)_[\w./=+-]{16,}",
        r"(?:pul|xox[a-z]|ico|PMAK|NR[A-Z]{2}|HRKU|CFPAT|xai|pplx|nvapi|xkeysib|xsmtpsib|tk-us|s-s4t2(?:ud|af)|fio-u|p8e|csk|f[cw]|mlsn|voy|pa|llx|signkey-(?:prod|test|branch)"
        r"|FLWSECK(?:_TEST)?|pypi|tvly|BBDC|tskey(?:-\w+)?|akab|dnkey|SWM(?:TKN|KEY)-1|secret-(?:live|test)|pubkey|dt0s\d{2}|gAAAA|PRIVATE|local)[-.][\w=.-]{16,}",
        r"(?:live|test)_[A-Za-z0-9]{30,}|sk_[0-9a-f]{48}(?!\w)|(?:cio|mainnet|preprod)[A-Za-z0-9]{32}(?!\w)|a[ks]-[A-Za-z0-9]{22}(?!\w)|private_[\w+/]{27}=|cflt[\w+/]{60}",
        r"(?:SG|dp\.(?:st|pt|ct|sa|scim|audit)(?:\.[a-z0-9-]+)?|dt0[a-z]\d\d|pat[A-Za-z0-9]{14}|sk\.eyJ[\w-]+|st|pat|api_(?:live|sandbox)"
        r"|mlsn|t1|xapp|xoxe)\.[\w.-]{20,}",
        r"(?:dapi|dose|LTAI|AKID|AKLT|AQVN|YC|ATATT3|ATCTT3|ATBB|AKCp|cmVmd|oy2|PMAT|dsapi|glrt|ATTA)[\w=-]{18,}",
    ),
}
"""What a token looks like, by kind. Prefixes are families, since vendors add new tokens under old ones; whether what
follows a short or common prefix is random enough is decided by `_random_tail`."""

_KINDS = (*sorted(UNMISTAKABLE & _SHAPES.keys()), *(kind for kind in _SHAPES if kind not in UNMISTAKABLE))


def _of_kinds(kinds: Iterable[str]) -> str:
    return "|".join(f"({'|'.join(_SHAPES[kind])})" for kind in kinds)


# A prefix that nothing else has is known behind any sign: in paths, in names of files, behind `x=`. The letter of an
# escaped line break or blank (`\\n`, `%0A`, `\\u000a`) is none of the token behind it.
_ESCAPED = r"(?<=\\[nrt])|(?<=%0[9AaDd])|(?<=%20)|(?<=\\u000[9AaDd])|(?<=\\x0[9AaDd])"
_KNOWN = regex(
    rf"(?:(?<![A-Za-z0-9])|{_ESCAPED})(?:{_of_kinds(kind for kind in _KINDS if kind in UNMISTAKABLE)})"
    rf"|(?:(?<![\w+/.-])|{_ESCAPED})(?:{_of_kinds(kind for kind in _KINDS if kind not in UNMISTAKABLE)})"
)
_CAN_BE_SECRET = regex(r"\d|[a-z][A-Z]|A[A-Z]{19}|hf_|api_org_|[sr]k_|sk-|gh[opsur]_")
_SAMPLE_END, _REPEATED_END = 16, 10
_CAPITALS = regex(r"^.{2,40}[_.-][A-Z][A-Z0-9_]{15,}$")
"""The end of a sample: behind a prefix in small letters no name of anything goes on in capitals."""
_PREFIX = regex(r"^[^_.-]*[_.-](?:[a-z]{2,8}[_-])?")
_BY_ENTROPY_OF_TAIL = frozenset({"vendor-token", "api-key", "hashicorp-token"})
# Tokens that hold signs at which candidates end.
_APART = {
    "openshift-token": ("~", regex(r"(?<!\w)sha256~[\w-]{40,}")),
    "facebook-token": ("|", regex(r"(?<!\w)\d{15,16} ?(?:\||%7C) ?[\w-]{27,40}")),
    "aws-secret-key": (
        "AKIA",
        regex(r"(?<!\w)AKIA(?!\w*EXAMPLE)[A-Z0-9]{16}[\"']?[,:;|\s]{1,3}[\"']?[A-Za-z0-9+/]{40}(?![\w+/=])"),
    ),
    "amazon-token": ("Atz", regex(r"\bAtz[ar](?:\||%7C)[\w-]{60,}")),
}
# What stands before the rest of a token of an unmistakable prefix that a terminal or a mail has broken in two.
_FIRST_PART = regex(
    r"(?<![A-Za-z0-9])(?:gh[oprsu]_|github_pat_|glpat-|sk-(?:ant|proj)-|xox[bp]-)[\w-]{4,100}"
    r"(?:\r?\n|\\n)[ \t>|]{0,8}\Z"
)
_PART_REACH = 130
# Tokens with a colon: the end of what stands before it, and what stands behind.
_COLON = (
    ("telegram-token", regex(r"(?<![\w.])(?:bot)?\d{6,12}\Z"), regex(r":A[\w-]{29,45}(?![\w-])")),
    ("google-push-key", regex(r"AAAA[\w-]{7}\Z"), regex(r":APA91b[\w-]{100,}")),
    ("asana-token", regex(r"(?<![\w/])[0-2]/\d{13,20}(?:/\d{13,20})?\Z"), regex(r":[0-9a-f]{32}(?!\w)")),
    ("ghost-key", regex(r"(?<!\w)[0-9a-f]{24}\Z"), regex(r":[0-9a-f]{64}(?!\w)")),
)
_COLON_HINT = regex(r":(?:A[\w-]{29}|[0-9a-f]{32})")
_COLON_REACH = 46
_INTEGRITY = regex(
    r"(?:sha(?:1|224|256|384|512)[-:~]|md5[-:]|\bh1:|ssh-[a-z0-9-]+\s{1,2}|ecdsa-[\w-]+\s{1,2}|base64,)$", re.IGNORECASE
)
_BENIGN = regex(
    r"fingerprint|checksum|digest|integrity|\bhash|sha-?\d|md5|signature|etag|cursor|nonce|public|message-id|boundary|(?<![a-z])ids?\W{1,4}$",
    re.IGNORECASE,
)
# Names of C++ and Rust as linkers see them; what interfaces call their objects.
_NAMES = regex(r"__?[ZR]|[A-Z]{1,5}_k[gw]|(?:(?:srv)?toolu|msg|call|resp|req|run|evt|thread|chatcmpl)[_-]")
_ARMOUR = regex(r"-----BEGIN (?![A-Z ]*PRIVATE)[A-Z0-9 ]{3,40}-----")
_NAME_BEFORE = regex(r"([A-Za-z_][\w.-]{0,60})[\\\"'\])]{0,6}\s{0,4}(?::?=|(?<=[\"']):|=>)\s{0,4}[\\\"'`(]{0,5}$")

_BEHIND_NAMES = " \t\r\n\"'`(\\"


def find(text: str) -> Iterator[Span]:
    """Yield secrets that are tokens of known shape, or strings that look random without any context."""
    for kind, (sign, shape) in _APART.items():
        if sign in text or (sign == "|" and "%7C" in text):
            found = (match for match in shape.finditer(text) if strength.looks_random(match.group()))
            yield from (Span(*match.span(), kind) for match in found)
    if _COLON_HINT.search(text):
        yield from _with_colon(text)
    armoured = _ARMOUR.search(text) is not None
    for candidate in _CANDIDATE.finditer(text):
        start, end = candidate.span()
        if not _CAN_BE_SECRET.search(text, start, end):
            last = text[end - 1]
            if not (last == text[end - 2] or last.isupper()) or not _ends_like_a_sample(text, start, end):
                continue
        known = list(_known(text, start, end)) or list(_parted(text, start, end))
        yield from known
        if not known and not armoured and end - start <= _LOOKS_LIKE_DATA:
            yield from _unknown(text, start, end)


def _with_colon(text: str) -> Iterator[Span]:
    for kind, head, tail in _COLON:
        for token in tail.finditer(text):
            first = head.search(text, max(0, token.start() - _COLON_REACH), token.start())
            if first is not None and strength.looks_random(token.group()):
                yield Span(first.start(), token.end(), kind)


def _parted(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield a token that began on the line before and ends with this candidate."""
    if text.startswith("\\n", start - 1):  # an escaped line break has lent the candidate its letter
        start += 1
    gap = text[max(0, start - 10) : start]
    if "\n" not in gap and not gap.endswith("\\n"):
        return
    first = _FIRST_PART.search(text, max(0, start - _PART_REACH), start)
    rest = text[start:end]
    if first is not None and any(map(str.isdigit, rest)) and strength.word_share(rest) < 0.5:
        yield Span(first.start(), end, "api-key")


def _ends_like_a_sample(text: str, start: int, end: int) -> bool:
    """Whether a candidate without digits goes on with one letter over and over, or in capitals behind small letters."""
    if text[end - _REPEATED_END : end] == text[end - 1] * _REPEATED_END:
        return True
    return text[start].islower() and text[end - _SAMPLE_END : end].isupper()


def _known(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _KNOWN.finditer(text, start, end):
        kind = _KINDS[(match.lastindex or 1) - 1]
        value = match.group()
        made_up = strength.is_template(value) if kind in UNMISTAKABLE else strength.is_stand_in(value)
        if made_up or strength.is_published_sample(value):
            continue
        if kind not in _BY_ENTROPY_OF_TAIL or _random_tail(value):
            yield Span(match.start(), match.end(), kind)


def _random_tail(value: str) -> bool:
    tail = _PREFIX.sub("", value, count=1)
    if tail.startswith("eyJ"):  # data in JSON, which may have no digits in base64
        return True
    if strength.is_made_up(value) or _CAPITALS.search(value):
        return True
    letters = "".join(filter(str.isalpha, tail))
    if strength.is_jumbled(letters, most_words=0.65):  # one token in ten has no two digits
        return True
    return strength.looks_random(tail, least=14) and strength.word_share(tail) <= 0.5


def _unknown(text: str, start: int, end: int) -> Iterator[Span]:
    before = text[max(0, start - _CONTEXT) : start]
    if text[max(0, start - 1) : start + 1] in ("\\n", "\\r", "\\t"):  # an escaped line break, no letter of the value
        start += 1
    found = [match for match in _SEGMENT.finditer(text, start, end) if _looks_unknown(match.group())]
    if not found or _is_told_to_be_none(text, before, start, end):
        return
    for segment in found:
        if not _INTEGRITY.search(text, max(start, segment.start() - 12), segment.start()):
            yield Span(segment.start(), segment.end(), "high-entropy")


def _looks_unknown(value: str) -> bool:
    random = strength.looks_high_entropy(value.rstrip("="))
    return random and not (_NAMES.match(value) or strength.is_published_sample(value))


def _is_told_to_be_none(text: str, before: str, start: int, end: int) -> bool:
    """Whether what stands around a random string says that it is an excerpt, an address, a digest or another name."""
    if text.startswith("..", start) or text.startswith(("..", "…"), end) or text.endswith("..", start, end):
        return True
    name = _NAME_BEFORE.search(before) if before.rstrip(_BEHIND_NAMES).endswith((":", "=", ">")) else None
    if name is not None and promise_of(name[1]) is Promise.NONE and not name[1].isupper():
        return True
    return _in_address(text, start) or bool(_INTEGRITY.search(before) or _BENIGN.search(before))


def _in_address(text: str, start: int) -> bool:
    before = text[max(0, start - 400) : start + 3]
    word = before[max(before.rfind(char) for char in " \t\n\"'<(") + 1 :]
    return "://" in word or "@" in word or word.startswith(("www.", "//", "data:"))
