"""Marks: what gives an instruction away by its form: markup, code, headings, encodings, invisible characters."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

CARRIES_AWAY = "an address that carries data away"
RUNS_CODE = "markup that runs code"
BLANK = "a blank that the reader is to fill in"
REPETITION = "a text, how often to write it, and what to put between"
IMITATION = "imitates the messages of a model or a tool"
TEMPLATE = "speaks in the markup that parts a model's turns"
ADMITS = "lets somebody in"
SECRECY = "keeps something from the user"
STANDING = "gives an order for all time to come"
ROLE = "gives the agent another role"
OVERRIDES = "sets earlier instructions aside"
INVISIBLE = "invisible or reordered characters"
CONCEALED = "text concealed from people"
ADDRESSED = "speaks to whatever agent reads it"
REMOTE_CODE = "runs code from elsewhere"
NO_CHECKS = "passes over checks"
SWITCH = "a switch that turns checks off"
ALWAYS_TRUE = "a check that cannot fail"
DESTRUCTION = "a command that destroys"
SECRETS = "names where secrets are kept"


class Form(NamedTuple):
    """A form, what it is worth, and texts of which one stands in every text that has it; none: it is always tried."""

    reason: str
    weight: float
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _form(reason: str, weight: float, anchors: str, *parts: str, flags: int = re.IGNORECASE) -> Form:
    return Form(reason, weight, tuple(anchors.split()), re.compile("".join(parts), flags))


_SHELL = r"(?:(?:ba|z|k|da)?sh|python[\d.]{0,4}|perl|ruby|node|php|iex|invoke-expression)\b"
_FETCHERS = "curl wget fetch iwr irm invoke-webrequest invoke-restmethod"
_FETCHER = rf"\b(?:{'|'.join(_FETCHERS.split())})\b"
_FROM_NOW = (
    r"\b(?:from (?:now|here|today|this (?:point|moment|day))(?: on(?:wards?)?| forward)|going forward|henceforth"
    r"|hereafter|as of now|ab (?:jetzt|sofort)|von nun an|a partir de (?:ahora|maintenant|agora)|d\u00e9sormais"
    r"|d'ora in poi)\b"
)
_GOOD = (
    r"(?:ok|true|pass(?:ed)?|success(?:ful)?|valid(?:ated)?|verified|clean|approved|certified|complete|reviewed|green)"
)
_JUDGED = r"(?:valid|check|verif|approv|review|status|clean|passed|quality|dq|audit|certif|fresh)"

# Every repetition is bounded, so that no text takes more than a set number of steps for each of its characters.
FORMS = (
    _form(
        CARRIES_AWAY,
        1.0,
        "![",
        r"!\[[^\]\n]{0,99}\]\(\s{0,3}https?://[^)\s]{1,199}[=/][\[{<$]",
    ),
    _form(RUNS_CODE, 0.6, "<", r"<\w{1,20}[\s/][^<>\n]{0,150}\bon[a-z]{3,12}\s{0,3}=\s{0,3}\\?[\"'\w]"),
    _form(
        RUNS_CODE,
        0.6,
        "javascript: vbscript: data:text",
        r"\b(?:href|src|action)\s{0,3}=\s{0,3}\\?[\"']?\s{0,3}(?:javascript|vbscript|data:text/html)",
    ),
    _form(
        REPETITION,
        0.6,
        "",
        r"(['\"\u2018\u201c])[^'\"\n]{1,60}['\"\u2019\u201d][^'\"\n]{0,60}\b\d{2,4}\b[^'\"\n]{0,120}",
        r"(['\"])[^\w'\"\n]{1,3}\2",
    ),
    _form(
        IMITATION,
        0.6,
        "<| inst] sys>> </ <assistant <system <tool <function tool_calls function_call",
        r"<\|[a-z_]{3,20}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|tool_calls?|function_calls?|tool_result",
        r"|system-reminder|system_prompt)\b[^>\n]{0,80}>|\"(?:tool_calls|function_call)\"\s{0,3}:",
    ),
    _form(
        TEMPLATE,
        1.0,
        "<| inst] sys>> _of_turn> \uff5c",
        r"<[|\uff5c]{1,2}\s{0,2}(?:im_start|im_end|im_sep|start_header_id|end_header_id|eot_id|begin_of_text|endoftext",
        r"|endofprompt|system|user|assistant|end_of_turn)\s{0,2}[|\uff5c]{1,2}>",
        r"|(?-i:\[/?INST\]|<</?SYS>>)|<(?:start|end)_of_turn>",
    ),
    _form(STANDING, 0.4, "from forward hence here as ab nun partir sormais ora", _FROM_NOW),
    _form(
        ROLE,
        0.7,
        "you du eres tu sei",
        _FROM_NOW,
        r"[,: ]{1,3}(?:you(?:'re| are| will be| act| become)|bist du|eres|tu es|vous \u00eates|sei)\b",
    ),
    _form(
        SECRECY,
        0.6,
        "nothing nobody one between hide conceal know see learn",
        r"\b(?:say nothing|tell (?:nobody|no one|no-one)|between (?:us\b|you and me)"
        r"|(?:hide|conceal) (?:that|the fact)\b|(?:nobody|no one) (?:notices|finds out|sees it|will know)"
        r"|(?:user|owner|team|operator|maintainers?) (?:must|should|need) (?:not|never) (?:know|see|learn))",
    ),
    _form(
        NO_CHECKS,
        0.6,
        "approve",
        r"\b(?:self-approve|approve (?:it|them|this|that|your own[^\n.]{0,20})(?: yourself)?\b)",
    ),
    _form(
        OVERRIDES,
        0.6,
        "aside only",
        r"\b(?:set|put|push|leave) aside\b[^.\n]{0,60}\b(?:earlier|before|previous\w{0,2}|above|rules?|instructions?)\b"
        r"|\bonly this (?:note|text|message|memory|file|line) counts\b",
    ),
    _form(
        OVERRIDES,
        0.6,
        "nothing none",
        r"\b(?:nothing|none of)\b[^.\n]{0,60}\b(?:counts?|applies|apply|matters?|holds?|binds?)\b",
    ),
    _form(
        ADMITS,
        0.4,
        "authorized_keys",
        r"\b(?:add|append|put|copy|write|echo|insert|place|install)\w{0,3}\b[^\n]{0,120}\bauthorized_keys\b|>>[^\n]{0,40}authorized_keys\b",
    ),
    _form(
        IMITATION,
        0.6,
        "system admin developer root",
        r"(?:^|\n)\W{0,4}(?:SYSTEM|ADMIN|ADMINISTRATOR|DEVELOPER|ROOT)",
        r"(?: (?:MESSAGE|NOTE|NOTICE|PROMPT|OVERRIDE|UPDATE))?\W{0,3}:",
        flags=0,
    ),
    _form(
        INVISIBLE,
        0.7,
        "\u202d \u202e \u2066 \u2067 \u2068 \u200b \u200c \u200d \u2060 \ufeff \u00ad",
        r"[\u202d\u202e\u2066-\u2068]|(?<=[A-Za-z])[\u200b-\u200d\u2060\ufeff\u00ad]{1,9}(?=[A-Za-z])",
    ),
    _form(INVISIBLE, 1.0, "", "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007e]{2}"),
    _form(
        CONCEALED,
        0.4,
        "style",
        r"style\s{0,3}=\s{0,3}\\?[\"'][^\"'\n]{0,99}(?:display\s{0,3}:\s{0,3}none|font-size\s{0,3}:\s{0,3}[01](?:px|pt)?\b",
        r"|opacity\s{0,3}:\s{0,3}0(?!\.)|visibility\s{0,3}:\s{0,3}hidden|color\s{0,3}:\s{0,3}(?:white|#fff))",
    ),
    _form(
        CONCEALED,
        0.6,
        "<!--",
        r"<!--[^>]{0,200}\b(?:assistants?|agents?|llms?|chatbots?|language models?|ai)\b",
    ),
    _form(
        ADDRESSED,
        0.6,
        "ai agent assistant llm model chatbot claude copilot chatgpt gemini",
        r"(?:^|[.!?\n]\s{0,3}|<!--\s{0,3})[#*>\s]{0,4}",
        r"(?:(?:dear|hey|hi|attention|to|for|(?:note|message|reminder) (?:to|for)|important)[,:]? )?",
        r"(?:(?:any|all|the|every|whatever|you) )?",
        r"(?:claude|copilot|chatgpt|gemini",
        r"|ai(?: agents?| assistants?| models?)?|assistants?|agents?|llms?|chatbots?|language models?)",
        r"(?: (?:reading|processing|using|that|which|working)\b[^\n.:,]{0,60})?\s{0,2}[,:!](?=\s)",
    ),
    _form(
        REMOTE_CODE,
        1.0,
        _FETCHERS,
        rf"{_FETCHER}[^\n|]{{1,200}}\|[^\n\w]{{0,5}}(?:sudo\s{{1,3}})?{_SHELL}",
    ),
    _form(
        REMOTE_CODE,
        1.0,
        "curl wget requests.get urllib urlopen b64decode base64 atob fetch",
        r"\b(?:eval|exec|source|(?:ba|z)?sh|python[\d.]{0,4}|iex)\b[^\w\n]{0,8}(?:c\s{0,3})?[^\w\n]{0,8}",
        r"\b(?:curl|wget|requests\.get|urllib|urlopen|b64decode|base64|atob|fetch)\b",
    ),
    _form(
        REMOTE_CODE,
        0.6,
        "pip npm gem conda",
        r"\b(?:pip[\d.]{0,4}|npm|gem|conda)\s{1,3}(?:install|i|add)\b[^\n]{0,120}",
        r"(?:--(?:extra-)?index-url|--registry)",
    ),
    _form(
        REMOTE_CODE,
        1.0,
        "--trusted-host http:",
        r"\b(?:pip[\d.]{0,4}|npm|gem|conda)\s{1,3}(?:install|i|add)\b[^\n]{0,120}(?:--trusted-host|http:)",
    ),
    _form(
        SWITCH,
        0.6,
        "=",
        r"\b(?:[A-Z]{1,20}_){0,3}(?:SKIP|BYPASS|DISABLE|IGNORE|FORCE|NO|ALLOW|OVERRIDE|SUPPRESS|UNSAFE|TRUST)_[A-Z_]{1,40}",
        r"\s{0,3}=\s{0,3}[\"']?(?:1|[Tt]rue|TRUE|yes|on|ok)\b",
        flags=0,
    ),
    _form(
        SWITCH,
        0.5,
        "=",
        r"\b(?:[A-Z]{1,20}_){0,3}[A-Z]{0,12}(?:STRICT|VALIDAT|CHECK|VERIFY|REQUIRE|ENFORCE|AUDIT|REVIEW|SAFE)[A-Z_]{0,30}",
        r"\s{0,3}=\s{0,3}[\"']?(?:0|[Ff]alse|FALSE|no|off)\b",
        flags=0,
    ),
    _form(
        SWITCH,
        0.5,
        "-- verify stricthost chmod",
        r"(?<![\w-])--(?:no-verify|skip-[a-z-]{2,30}|mark-[a-z-]{2,30}|dangerously-[a-z-]{2,40}|yolo",
        r"|(?:no|ignore|disable|bypass)-[a-z-]{0,20}(?:check|test|valid|review|gate|hook|scan)[a-z-]{0,20}",
        r"|auto-(?:approve|scrub|accept|confirm)[a-z-]{0,20})\b",
        r"|\bverify\s{0,3}=\s{0,3}False\b|\bStrictHostKeyChecking[= ]no\b|\bchmod\s{1,3}(?:-R\s{1,3})?0?777\b",
    ),
    _form(
        NO_CHECKS,
        0.5,
        "out off circuit past around",
        r"\b(?:comment(?:ed|ing)? out|(?:turn|switch)(?:ed|ing)? off|short-circuit\w{0,3}|opt out of",
        r"|(?:get|getting|work) (?:past|around))\b[^\n.]{0,40}",
        r"\b(?:check|valid|test|review|verif|audit|gate|scan|lint|guard|approv|assert|monitor)",
    ),
    _form(
        ALWAYS_TRUE,
        0.6,
        "lambda assert || pass",
        r"\blambda\b[^:\n]{0,40}:\s{0,3}(?:True|None|1)\b|\bassert\s{1,3}True\b|\|\|\s{0,3}(?:true\b|:(?![\w:]))",
        r"|\bexcept\b[^:\n]{0,40}:\s{0,3}pass\b",
    ),
    _form(
        ALWAYS_TRUE,
        0.6,
        "=",
        rf"(?:\b|_){_JUDGED}\w{{0,20}}[\"'\]]{{0,3}}\s{{0,3}}=\s{{0,3}}(?:[\"']{_GOOD}\b|(?-i:[A-Z]{{4,10}}\b))",
    ),
    _form(
        ALWAYS_TRUE,
        0.5,
        "return",
        r"\b(?:always|just|simply|immediately|it|they|that) (?:returns?|exits?(?: with)?) ",
        r"(?:true|ok|0|1|success|pass(?:ed)?|a constant)\b",
        r"|\breturns? (?:true|0|success|ok) (?:immediately|always|regardless|no matter)\b",
    ),
    _form(
        DESTRUCTION,
        0.7,
        "rm drop mkfs dd truncate history",
        r"\brm\s{1,3}-[a-z]{0,3}[rf][a-z]{0,3}\s{1,3}[\"']?(?:/|~|\$|\*|\.git\b)|\bdrop\s{1,3}database\b|\bmkfs\b",
        r"|\bdd\s{1,3}if=|\btruncate\s{1,3}table\b|\bhistory\s{1,3}-c\b",
    ),
    _form(
        DESTRUCTION,
        0.5,
        "push",
        r"\bgit\s{1,3}push\b[^\n]{0,40}\s(?:-f|--force)\b|\bforce-push\w{0,3}\b[^\n]{0,30}\b(?:main|master|production)\b",
    ),
    _form(
        SECRETS,
        0.4,
        ".ssh authorized_keys id_rsa .aws passwd secrets. .netrc .npmrc bashrc",
        r"\.ssh/|\bauthorized_keys\b|\bid_(?:rsa|ed25519)\b|\.aws/credentials|/etc/(?:passwd|shadow)|\bsecrets\.(?:ya?ml|json)\b",
        r"|\.netrc\b|\.npmrc\b|\.(?:bash|zsh)rc\b",
    ),
)

_HEADING = re.compile(
    r"(?:^|\n)[ \t]{0,8}[*#=!\[<~_-]{2,20}[ \t]{0,3}([^\n*=~\[\]<>]{6,160})|\A\W{0,3}([^\W\d][^\n:.]{8,80}):"
)
_BRACKETED = re.compile(r"[\[{<'\"]([A-Z][A-Z_]{3,20})[\]}>'\"]")
_MOST_BLANKS = 8
_ENCODED = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/]{24,}+={0,2}")
_LEAST_UPPER = 2
_TAGS = {code: code - 0xE0000 for code in range(0xE0020, 0xE007F)}
_UNSEEN = dict.fromkeys(
    map(
        ord,
        "\u00ad\u200b\u200c\u200d\u2060\u2061\u2062\u2063\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    )
)
_FILL_IN = Form(BLANK, 0.4, (), _BRACKETED)


def marks(text: str) -> Iterator[tuple[int, Form]]:
    """Yield the forms that a text has as it was written, and where each begins."""
    lowered = text.lower()
    for form in FORMS:
        if not form.anchors or any(anchor in lowered for anchor in form.anchors):
            for match in form.pattern.finditer(text):
                yield match.start(), form
    for count, match in enumerate(_BRACKETED.finditer(text)):
        # A handful of them, so that looking for each again stays linear.
        if count == _MOST_BLANKS:
            return
        if match[1] in text[match.end() :]:
            yield match.start(), _FILL_IN


def headings(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines in capitals that stand as headings: starred, ruled, or at the very beginning before a colon."""
    for match in _HEADING.finditer(text):
        words = (match[1] or match[2]).split()
        loud = [word for word in words if len(word) > 1 and word.isupper()]
        if len(loud) >= _LEAST_UPPER and 2 * len(loud) >= len(words):
            yield match.start(), " ".join(words)


def seen(text: str) -> str:
    """Return the text as an agent reads it: characters that people do not see taken out or made plain."""
    return text if text.isascii() else text.translate(_TAGS).translate(_UNSEEN)


def decoded(text: str) -> Iterator[tuple[int, str]]:
    """Yield the readable texts that stand in a text in base64, and where."""
    for match in _ENCODED.finditer(text):
        blob = match[0].rstrip("=")
        try:
            told = base64.b64decode(blob + "=" * (-len(blob) % 4), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if told.isprintable() and " " in told:
            yield match.start(), told
