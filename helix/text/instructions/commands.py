"""Commands: the forms of code and command lines that get past checks, fetch what they run, or destroy."""

from __future__ import annotations

from helix.text.instructions.forms import form
from helix.text.instructions.reasons import (
    ALWAYS_TRUE,
    DESTROYS,
    NO_CHECKS,
    REMOTE_CODE,
    SECRETS,
    SWITCH,
)

_SHELL = r"(?:(?:ba|z|k|da)?sh|python[\d.]{0,4}|perl|ruby|node|php|iex|invoke-expression)\b"
_FETCHERS = "curl wget fetch iwr irm invoke-webrequest invoke-restmethod"
_FETCHER = rf"\b(?:{'|'.join(_FETCHERS.split())})\b"
_GOOD = (
    r"(?:ok|true|pass(?:ed)?|success(?:ful)?|valid(?:ated)?|verified|clean|approved|certified|complete|reviewed|green)"
)
_JUDGED = r"(?:valid|check|verif|approv|review|status|clean|passed|quality|dq|audit|certif|fresh)"


COMMANDS = (
    # How half of all tools are installed: only from an address that anybody on the way can change it stands alone.
    form(
        REMOTE_CODE,
        0.5,
        _FETCHERS,
        rf"{_FETCHER}[^\n|]{{1,200}}\|[^\n\w]{{0,5}}(?:sudo\s{{1,3}})?{_SHELL}",
    ),
    form(
        REMOTE_CODE,
        1.0,
        _FETCHERS,
        rf"{_FETCHER}(?=[^\n|]{{0,200}}(?:http:|\s-k\b|--insecure|--no-check-certificate|//\d{{1,3}}\.\d|@|\$\())",
        rf"[^\n|]{{1,200}}\|[^\n\w]{{0,5}}(?:sudo\s{{1,3}})?{_SHELL}",
    ),
    form(
        REMOTE_CODE,
        0.5,
        "curl wget",
        r"\b(?:curl|wget)\b[^\n]{1,160}(?:&&|;)[^\n]{0,80}\b(?:chmod\s{1,3}(?:a|u)?\+x|(?:ba|z)?sh\s{1,3}[\w./-])",
    ),
    form(
        REMOTE_CODE,
        0.5,
        "-c <(",
        r"\b(?:ba|z)?sh\s{1,3}-c\s{1,3}[\"']?(?:\$\(|`)(?:curl|wget)\b[^\n]{0,80}https:|\b(?:ba|z)?sh\s{1,3}<\((?:curl|wget)\b[^\n]{0,80}https:",
    ),
    form(
        REMOTE_CODE,
        1.0,
        "curl wget requests.get urllib urlopen b64decode base64 atob fetch",
        r"(?!\b(?:ba|z)?sh\b[^\n]{0,12}(?:curl|wget)\b[^\n]{0,80}https:)"
        r"\b(?:eval|exec|source|(?:ba|z)?sh|python[\d.]{0,4}|iex)\b[^\w\n]{0,8}(?:c\s{0,3})?[^\w\n]{0,8}",
        r"\b(?:curl|wget|requests\.get|urllib|urlopen|b64decode|base64|atob|fetch)\b",
    ),
    form(
        REMOTE_CODE,
        0.6,
        "pip npm gem conda",
        r"\b(?:pip[\d.]{0,4}|npm|gem|conda)\s{1,3}(?:install|i|add)\b[^\n]{0,120}",
        r"(?:--(?:extra-)?index-url|--registry)",
    ),
    form(
        REMOTE_CODE,
        1.0,
        "--trusted-host http:",
        r"\b(?:pip[\d.]{0,4}|npm|gem|conda)\s{1,3}(?:install|i|add)\b[^\n]{0,120}(?:--trusted-host|http:)",
    ),
    form(
        SWITCH,
        0.6,
        "=",
        r"\b(?:[A-Z]{1,20}_){0,3}(?:SKIP|BYPASS|DISABLE|IGNORE|FORCE|NO|ALLOW|OVERRIDE|SUPPRESS|UNSAFE|TRUST)_[A-Z_]{1,40}",
        r"\s{0,3}=\s{0,3}[\"']?(?:1|[Tt]rue|TRUE|yes|on|ok)\b",
        flags=0,
    ),
    form(
        SWITCH,
        0.5,
        "=",
        r"\b(?:[A-Z]{1,20}_){0,3}[A-Z]{0,12}(?:STRICT|VALIDAT|CHECK|VERIFY|REQUIRE|ENFORCE|AUDIT|REVIEW|SAFE)[A-Z_]{0,30}",
        r"\s{0,3}=\s{0,3}[\"']?(?:0|[Ff]alse|FALSE|no|off)\b",
        flags=0,
    ),
    form(
        SWITCH,
        0.5,
        "-- verify stricthost chmod",
        r"(?<![\w-])--(?:no-verify|skip-[a-z-]{2,30}|mark-[a-z-]{2,30}|dangerously-[a-z-]{2,40}|yolo",
        r"|(?:no|ignore|disable|bypass)-[a-z-]{0,20}(?:check|test|valid|review|gate|hook|scan)[a-z-]{0,20}",
        r"|auto-(?:approve|scrub|accept|confirm)[a-z-]{0,20})\b",
        r"|\bverify\s{0,3}=\s{0,3}False\b|\bStrictHostKeyChecking[= ]no\b|\bchmod\s{1,3}(?:-R\s{1,3})?0?777\b",
    ),
    form(
        NO_CHECKS,
        0.5,
        "out off circuit past around",
        r"\b(?:comment(?:ed|ing)? out|(?:turn|switch)(?:ed|ing)? off|short-circuit\w{0,3}|opt out of",
        r"|(?:get|getting|work) (?:past|around))\b[^\n.]{0,40}",
        r"\b(?:check|valid|test|review|verif|audit|gate|scan|lint|guard|approv|assert|monitor)",
    ),
    form(
        ALWAYS_TRUE,
        0.6,
        "lambda assert || pass",
        r"\blambda\b[^:\n]{0,40}:\s{0,3}(?:True|None|1)\b|\bassert\s{1,3}True\b|\|\|\s{0,3}(?:true\b|:(?![\w:]))",
        r"|\bexcept\b[^:\n]{0,40}:\s{0,3}pass\b",
    ),
    form(
        ALWAYS_TRUE,
        0.6,
        "=",
        rf"(?:\b|_){_JUDGED}\w{{0,20}}[\"'\]]{{0,3}}\s{{0,3}}=\s{{0,3}}(?:[\"']{_GOOD}\b|(?-i:[A-Z]{{4,10}}\b))",
    ),
    form(
        ALWAYS_TRUE,
        0.5,
        "return",
        r"\b(?:always|just|simply|immediately|it|they|that) (?:returns?|exits?(?: with)?) ",
        r"(?:true|ok|0|1|success|pass(?:ed)?|a constant)\b",
        r"|\breturns? (?:true|0|success|ok) (?:immediately|always|regardless|no matter)\b",
    ),
    form(
        DESTROYS,
        0.7,
        "rm drop mkfs dd truncate history",
        r"\brm\s{1,3}-[a-z]{0,3}[rf][a-z]{0,3}\s{1,3}[\"']?(?:/|~|\$|\*|\.git\b)|\bdrop\s{1,3}database\b|\bmkfs\b",
        r"|\bdd\s{1,3}if=|\btruncate\s{1,3}table\b|\bhistory\s{1,3}-c\b",
    ),
    form(
        DESTROYS,
        0.5,
        "push",
        r"\bgit\s{1,3}push\b[^\n]{0,40}\s(?:-f|--force)\b|\bforce-push\w{0,3}\b[^\n]{0,30}\b(?:main|master|production)\b",
    ),
    form(
        SECRETS,
        0.4,
        ".ssh authorized_keys id_ .aws passwd shadow secrets. .netrc .npmrc .pypirc rc .docker/ .kube/ git-cred",
        r"\.ssh/|\bauthorized_keys\b|\bid_(?:rsa|ed25519)\b|\.aws/credentials|/etc/(?:passwd|shadow)|\bsecrets\.(?:ya?ml|json)\b",
        r"|\.netrc\b|\.npmrc\b|\.pypirc\b|\.(?:bash|zsh)rc\b|\.docker/config\b|\.kube/config\b|\.git-credentials\b",
    ),
)
