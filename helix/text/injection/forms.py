"""Forms: the patterns by which an instruction gives itself away: markup, addresses, headings, forms of speech.

What they add: 12 of 68 public injections that the rules over concepts do not catch.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from helix.text.injection.instruction_rules import Reason
from helix.text.regex import regex


class InstructionForm(NamedTuple):
    """A form, what it is worth, and texts of which one stands in every text that has it; none: it is always tried."""

    reason: Reason
    weight: float
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def form(
    reason: Reason, weight: float, anchors: str | tuple[str, ...], *parts: str, flags: int = re.IGNORECASE
) -> InstructionForm:
    """Return a form of instructions to an agent, a pattern in parts; `anchors` in one text are parted by blanks."""
    found = tuple(anchors.split()) if isinstance(anchors, str) else anchors
    return InstructionForm(reason, weight, found, regex("".join(parts), flags))


_FROM_NOW = (
    r"(?:\b(?:from (?:now|here|today|this (?:point|moment|day))(?: on(?:wards?)?| forward)|going forward|henceforth"
    r"|hereafter|as of (?:now|today)|(?:starting|beginning) (?:now|today|with this)"
    r"|(?:for|in) (?:all|any|every|each) future|until further notice"
    r"|ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an|k\u00fcnftig|[a\u00e0] partir de (?:ahora|maintenant|agora)"
    r"|d\u00e8s (?:maintenant|\u00e0 pr\u00e9sent)|d\u00e9sormais|dor\u00e9navant|de ahora en adelante|d'ora in poi)\b"
    r"|\b(?:vanaf (?:nu|heden)|d[ae] (?:ora|adesso|agora) (?:in poi|em diante)|a partir de (?:hoy|hoje)|od teraz"
    r"|\u043e\u0442\u043d\u044b\u043d\u0435|\u0432\u043f\u0440\u0435\u0434\u044c"
    r"|\u0441 \u044d\u0442\u043e\u0433\u043e \u043c\u043e\u043c\u0435\u043d\u0442\u0430)\b"
    r"|\u3053\u308c(?:\u4ee5\u964d|\u304b\u3089)|\u4eca\u5f8c|\uc55e\uc73c\ub85c|\uc9c0\uae08\ubd80\ud130"
    r"|\u0645\u0646 \u0627\u0644\u0622\u0646"
    r"|\u4ece(?:\u73b0\u5728|\u4eca\u5929|\u4eca)(?:\u5f00\u59cb|\u8d77|\u4ee5\u540e)|\u4ece\u6b64|\u4eca\u540e)"
)
_FROM_NOW_WORDS = (
    *("from now", "from here", "from today", "from this", "forward", "henceforth", "hereafter", "as of ", "starting"),
    *("beginning", " future", "until further", "ab jetzt", "ab sofort", "ab heute", "von nun", "von jetzt"),
    *("k\u00fcnftig", " partir de ", "maintenant", "pr\u00e9sent", "sormais", "navant", "de ahora", "d'ora"),
    *(
        "vanaf ",
        " in poi",
        "em diante",
        "od teraz",
        "\u043e\u0442\u043d\u044b",
        "\u0432\u043f\u0440\u0435",
        "\u0441 \u044d\u0442\u043e",
    ),
    *("\u3053\u308c", "\u4eca\u5f8c", "\uc55e\uc73c", "\uc9c0\uae08", "\u0645\u0646 \u0627\u0644", "hoje", "hoy"),
    *("\u4ece\u73b0", "\u4ece\u4eca", "\u4ece\u6b64", "\u4eca\u540e"),
)
# Every repetition is bounded, so that no text takes more than a set number of steps for each of its characters.
FORMS = (
    form(
        Reason.CARRIES_AWAY,
        1.0,
        "![",
        r"!\[[^\]\n]{0,99}\]\(\s{0,3}https?://[^)\s]{1,199}[=/][\[{<$]",
    ),
    form(Reason.CARRIES_AWAY, 0.5, "http", r"https?://[^\s)\"'<>]{1,199}[?&=](?:\$[({]|[<{\[])"),
    form(
        Reason.CARRIES_AWAY,
        1.0,
        ".env .netrc id_rsa id_ed25519 .ssh/ .aws/ .npmrc /etc/",
        r"\b(?:curl|wget|nc|ncat|scp|rsync|http)\b[^\n]{0,160}?(?:@|<|=|\$\(cat\b|\s)\s{0,3}[\"']?[~./\w$-]{0,60}"
        r"(?:\.env\b|\.netrc\b|\bid_(?:rsa|ed25519)\b|\.ssh/|\.aws/|\.npmrc\b|/etc/(?:passwd|shadow)\b)",
    ),
    form(
        Reason.CARRIES_AWAY,
        1.0,
        ".env .netrc id_ .ssh .aws .npmrc /etc/ printenv",
        r"(?:\.env|\.netrc|\bid_(?:rsa|ed25519)|\.ssh/|\.aws/|\.npmrc|/etc/(?:passwd|shadow)|\bprintenv)\b[^\n|]{0,60}"
        r"\|[^\n]{0,60}\b(?:curl|wget|nc|ncat|mail|telnet)\b",
    ),
    form(
        Reason.PREEMPTS,
        0.4,
        ("first things", "first and foremost", "only then", "before doing"),
        r"\b(?:first things first|first and foremost|only then|before doing)\b",
    ),
    form(
        Reason.ADDRESSED,
        0.5,
        "prompt:",
        r"(?://|/\*|#|--|;)\s{0,3}(?:system |llm |ai )?prompt:\s",
    ),
    form(Reason.RUNS_CODE, 0.6, "<", r"<\w{1,20}[\s/][^<>\n]{0,150}\bon[a-z]{3,12}\s{0,3}=\s{0,3}\\?[\"'\w]"),
    form(
        Reason.RUNS_CODE,
        0.6,
        "javascript: vbscript: data:text",
        r"\b(?:href|src|action)\s{0,3}=\s{0,3}\\?[\"']?\s{0,3}(?:javascript|vbscript|data:text/html)",
    ),
    form(
        Reason.REPETITION,
        0.6,
        "",
        r"(['\"\u2018\u201c])[^'\"\n]{1,60}['\"\u2019\u201d][^'\"\n]{0,60}\b\d{2,4}\b[^'\"\n]{0,120}",
        r"(['\"])[^\w'\"\n]{1,3}\2",
    ),
    form(
        Reason.IMITATION,
        0.6,
        "<| inst] sys>> </ <instructions <assistant <system <tool <function tool_calls function_call",
        r"<\|[a-z_]{3,20}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|tool_calls?|function_calls?|tool_result",
        r"|system-reminder|system_prompt|instructions?|admin)\b[^>\n]{0,80}>|\"(?:tool_calls|function_call)\"\s{0,3}:",
    ),
    form(
        Reason.TEMPLATE,
        1.0,
        "<| inst] sys>> _of_turn> \uff5c",
        r"<[|\uff5c]{1,2}\s{0,2}(?:im_start|im_end|im_sep|start_header_id|end_header_id|eot_id|begin_of_text|endoftext",
        r"|endofprompt|system|user|assistant|end_of_turn)\s{0,2}[|\uff5c]{1,2}>",
        r"|(?-i:\[/?INST\]|<</?SYS>>)|<(?:start|end)_of_turn>",
    ),
    form(Reason.STANDING, 0.4, _FROM_NOW_WORDS, _FROM_NOW),
    form(
        Reason.STANDING,
        0.4,
        (
            "every time",
            "each time",
            "chaque fois",
            "cada vez",
            "jedes mal",
            "subsequent",
            " later ",
            " further ",
            "keep in mind",
            "until ",
        ),
        r"\b(?:(?:every|each) time|chaque fois|cada vez|jedes mal"
        r"|(?:all|any) (?:subsequent|later|further) \w{3,20}|keep in mind for"
        r"|until (?:i|we|you(?:'re| are)|told) (?:say|tell|told|hear|otherwise)\b)",
    ),
    form(
        Reason.ROLE,
        0.7,
        _FROM_NOW_WORDS,
        _FROM_NOW,
        r"[,: ]{1,3}(?:you(?:'re| are| will be| act| become)|bist du|eres|tu es|vous \u00eates|sei)\b",
    ),
    form(
        Reason.SECRECY,
        0.6,
        "nothing nobody one between hide conceal know see learn hear find told yourself",
        r"\b(?:say nothing|tell (?:nobody|no one|no-one)|between (?:us\b|you and me)"
        r"|(?:hide|conceal) (?:that|the fact)\b|(?:nobody|no one) (?:notices|finds out|sees it|will know|learns|hears)"
        r"|(?:user|owner|team|operator|maintainer|human|person)s?"
        r" (?:(?:must|should|needs?|do|does|may|can)(?:n't| not| never)|cannot)"
        r" [^.\n]{0,20}?\b(?:know|see|learn|hear|find out|be told|notice|be bothered)\b"
        r"|keep (?:this|it|that)[^.\n]{0,20} (?:to yourself|from the (?:user|owner|team|human)))",
    ),
    form(
        Reason.NO_CHECKS,
        0.6,
        "approve",
        r"(?<!not )(?<!never )(?<!n't )\b",
        r"(?:self-approve|approve (?:it|them|this|that|your own[^\n.]{0,20})(?: yourself)?\b)",
    ),
    form(
        Reason.OVERRIDES,
        0.6,
        "aside only",
        r"\b(?:set|put|push|leave) aside\b[^.\n]{0,60}\b(?:earlier|before|previous\w{0,2}|above|rules?|instructions?)\b"
        r"|\bonly this (?:note|text|message|memory|file|line) counts\b",
    ),
    form(
        Reason.OVERRIDES,
        0.6,
        "nothing none",
        r"\b(?:nothing|none of)\b[^.\n]{0,60}\b(?:counts?|applies|apply|matters?|holds?|binds?)\b",
    ),
    form(
        Reason.ADMITS,
        0.4,
        "authorized_keys",
        r"\b(?:add|append|put|copy|write|echo|insert|place|install)\w{0,3}\b[^\n]{0,120}\bauthorized_keys\b|>>[^\n]{0,40}authorized_keys\b",
    ),
    form(
        Reason.IMITATION,
        0.6,
        "system admin developer root",
        r"(?:^|\n)\W{0,4}(?:SYSTEM|ADMIN|ADMINISTRATOR|DEVELOPER|ROOT)",
        r"(?: (?:MESSAGE|NOTE|NOTICE|PROMPT|OVERRIDE|UPDATE))?\W{0,3}:",
        flags=0,
    ),
    form(
        Reason.IMITATION,
        0.6,
        ("# system", "# developer", "# admin", "end of ", "new user", "new system", "new developer"),
        r"(?:^|\n)\W{0,4}#{1,6} (?:system|developer|admin)(?: (?:message|prompt|note))?\s{0,2}:"
        r"|\bend of (?:the )?(?:tool|function|system|document|user|search) (?:output|results?|messages?|prompt|input)\b"
        r"|(?:^|[\n.]\s{0,3})new (?:user|system|developer) (?:message|prompt|turn)\s{0,2}:",
    ),
    form(
        Reason.IMITATION,
        0.9,
        "[",
        r"\[\W{0,2}(?:system|admin|administrator|developer|root)[ _-]",
        r"(?:override|message|prompt|instructions?|command)\W{0,2}\]",
    ),
    form(
        Reason.TASK,
        0.6,
        "your",
        r"\byour (?:new |only |real |actual |true )?(?:job|task|goal|mission|purpose|objective) (?:now )?is\b",
    ),
    form(
        Reason.ADDRESSED,
        0.5,
        "agent assist asistent llm bots bot: bot, ai: ai, ai. ais ki: kis ki- ias sprachmodell model mod\u00e8les",
        r"\b(?:notes?|messages?|reminder|notice|hints?|policy|rules?|instructions?|hinweise?|nachricht|nota|avis|aviso)"
        r" (?:to|for|an|f\u00fcr|pour|aux|para) (?:(?:all|any|the|every|alle|les|los) )?(?:(?:ai|coding|automated) )?"
        r"(?:agents?|assistants?|bots?|llms?|ais?|kis?|ias?|sprachmodelle?|language models?|modelos de lenguaje"
        r"|mod\u00e8les de langage|asistentes|ki-\w{4,12})\s{0,2}[:,.!]",
    ),
    form(
        Reason.TASK,
        0.6,
        "stop",
        r"\bstop (?:what you(?:'re| are) doing|(?:your|the) (?:current|present) (?:task|work))\b",
    ),
    form(
        Reason.INVISIBLE,
        0.7,
        "\u202d \u202e \u2066 \u2067 \u2068 \u200b \u200c \u200d \u2060 \ufeff \u00ad",
        r"[\u202d\u202e\u2066-\u2068]|(?<=[A-Za-z])[\u200b-\u200d\u2060\ufeff\u00ad]{1,9}(?=[A-Za-z])",
    ),
    form(Reason.INVISIBLE, 1.0, "", "(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007e]{2}"),
    form(
        Reason.CONCEALED,
        0.4,
        "style",
        r"style\s{0,3}=\s{0,3}\\?[\"'][^\"'\n]{0,99}(?:display\s{0,3}:\s{0,3}none|font-size\s{0,3}:\s{0,3}[01](?:px|pt)?\b",
        r"|opacity\s{0,3}:\s{0,3}0(?!\.)|visibility\s{0,3}:\s{0,3}hidden|color\s{0,3}:\s{0,3}(?:white|#fff))",
    ),
    form(
        Reason.CONCEALED,
        0.6,
        "<!--",
        r"<!--[^>]{0,200}\b(?:assistants?|agents?|llms?|chatbots?|language models?|ai)\b",
    ),
    form(
        Reason.CONCEALED,
        0.6,
        "[//]: [comment]:",
        r"\[(?://|comment)\]:\s{0,3}[#<][^\n]{0,200}\b",
        r"(?:assistants?|agents?|llms?|(?:chat)?bots?|language models?|ai)\b",
    ),
    form(
        Reason.ADDRESSED,
        0.6,
        "ai, ai: ai! ai) ki- agent assistant assistent asistente llm model bot: bots bot, bot! claude copilot gpt"
        " gemini reviewer instructions: rules: notes: tools: coder",
        r"(?:^|[.!?\n>\"]\s{0,3}|\]: # \(|<!--\s{0,3}|//\s{0,3}|/\*\s{0,3}|#\s{0,3})[#*>@/\s]{0,4}",
        r"(?:(?:dear|hey|hello|hi|attention|to|for|(?:note|message|reminder|notice) (?:to|for)|important",
        r"|an|f\u00fcr|pour|aux?|para|note|todo)",
        r"[,:(]? ?)?(?:(?:any|all|the|every|whatever|you|alle|tous les|todos los) )?",
        r"(?:(?:coding|automated|autonomous|fellow|review|ai|helpful)[ -]){0,2}",
        r"(?:claude|copilot|chatgpt|gemini",
        r"|ai(?: (?:agents?|assistants?|models?|reviewers?|coders?|tools?|systems?))?|assistants?(?: ia)?",
        r"|agents?(?: ia)?|llms?|(?:chat)?bots?|language models?"
        r"|(?:ki|ai)-(?:assistent\w{0,4}|agent\w{0,3}|modell\w{0,2})|asistentes?(?: de ia)?|(?<=automated )reviewers?)",
        r"(?: (?:instructions?|rules?|notes?|tools?))?(?: @(?:claude|copilot|chatgpt|gemini)){0,3}",
        r"(?: (?:reading|processing|using|that|which|working)\b[^\n.:,]{0,60})?\)?\s{0,2}[,:!](?=\s)",
    ),
    form(
        Reason.ADDRESSED,
        0.6,
        "to_ for_ _to _for",
        r"[\"'](?:message|note|instructions?|hint|system)_(?:to|for)_(?:the_)?(?:ai|assistant|agent|model|llm)[\"']\s{0,2}:",
    ),
)
