"""Habits: the forms by which a weakness is made the custom, an occasion is waited for, and leave to act is claimed.

What they add on data that they were not written from: 31 of 664 public injections and 1 of 16 fresh ones; of 3,450
commit messages 1 is taken for an instruction by them alone. They add nothing on the 100 injections of `rules`.
"""

from __future__ import annotations

from helix.text.injection.forms import form
from helix.text.injection.instruction_rules import Reason

_NOT_DENIED = r"(?<!not )(?<!never )(?<!n't )"
_GUARD = (
    r"(?:tls|ssl|https|x509|certificates?|signatures?|signing|firewall|sandbox\w{0,3}|encryption|hash(?:es|ing)?"
    r"|checksums?|authenti\w{3,9}|authori[sz]ation|log-?in|mfa|2fa|csrf|cors|saniti[sz]\w{2,6}|escaping|rate limits?"
    r"|branch protection|selinux|secret scan\w{0,4}|strong passwords?)"
)
_SOMEBODY = (
    r"(?:the |an?y? |your )?(?:user|someone|somebody|anyone|anybody|owner|developer|reviewer|maintainer|person)s?"
)
_NOBODY = r"(?:nobody|no one|no-one)"
_TOLD = r"(?:read|process|summari|review|work|see|handl|pars|open|touch|upgrad)"
# As in `forms`, every repetition is bounded.
HABITS = (
    form(
        Reason.CUSTOM,
        0.3,
        "convention style standard agreement rule practice policy habit project repo team base custom same",
        r"\b(?:by convention|the convention|(?:standard|practice|custom) here",
        r"|this (?:project|repo\w{0,7}|team|code ?base)",
        r"|(?:our|house|project|team|company|this is (?:the|our)) (?:convention|style|standard|agreement|rule|custom",
        r"|practice|policy|habit)s?|in our (?:project|repo\w{0,7}|code ?base)",
        r"|(?:do|did) the same|same (?:the )?next time)\b",
    ),
    form(
        Reason.CUSTOM,
        0.3,
        ("new ", "keep to", "stick to", "pattern", "example", "so should you"),
        r"\b(?:(?:all|any) new (?:\w{2,12}|code)|(?:in|for) new code|(?:keep|stick) to (?:it|this|that)",
        r"|(?:repeat|reuse|follow) (?:this|that|their|the) (?:pattern|example)|so should you)\b",
    ),
    form(
        Reason.CUSTOM,
        0.3,
        "projekt konvention projet proyecto repositorio progetto projeto \u672c\u9879\u76ee \u7ea6\u5b9a \u89c4\u8303",
        r"\b(?:in diesem (?:projekt|repo\w{0,7})|konvention|dans ce projet|en este (?:proyecto|repositorio)",
        r"|in questo progetto|neste projeto)\b|\u672c\u9879\u76ee|\u7ea6\u5b9a|\u89c4\u8303",
    ),
    form(
        Reason.WEAKENS,
        0.6,
        "password secret credential token key",
        r"\b(?:passwords?|secrets?|credentials?|tokens?|(?:live|api|private) keys?)\b[^.\n]{0,50}\b",
        r"(?:(?:in|as) (?:plain|clear) ?-?text|unhashed|unencrypted|(?:into|to|in) the (?:logs?|code|source)",
        r"|hard-?coded|committed)\b|\bsame password\b",
    ),
    form(
        Reason.WEAKENS,
        0.6,
        ".env password credentials keys secrets",
        _NOT_DENIED,
        r"\b(?:commit|check in|log|print|hard-?code)(?:s|ted|ting|ging|ing)? (?:\w{1,12} ){0,4}",
        r"(?:\.env\b|passwords?|credentials|live keys|secrets)\b",
    ),
    form(
        Reason.WEAKENS,
        0.6,
        "concatenat f-string interpolat formatting prepared parameteri",
        r"\b(?:sql|quer(?:y|ies))\b[^.\n]{0,60}\b(?:concatenat\w{1,4}|f-strings?|string (?:formatting|interpolation))",
        r"|\b(?:prepared|parameteri[sz]ed) (?:statements?|queries) (?:are|is)(?:n't| not| never)",
    ),
    form(
        Reason.WEAKENS,
        0.6,
        "eval exec pickle yaml.load shell",
        r"\b(?:eval|exec|pickle\.loads?|yaml\.load)\b[^.\n]{0,60}\b(?:client|user|request|input|json|untrusted|remote)",
        r"|\binput\b[^.\n]{0,40}\b(?:straight|directly|raw|unchecked)\b[^.\n]{0,20}\b(?:shell|eval|exec|sql|query)",
    ),
    form(
        Reason.WEAKENS,
        0.6,
        "unsigned without cors",
        r"\b(?:publish|ship|release|install|deploy)\w{0,3} (?:\w{1,12} ){0,4}unsigned\b",
        rf"|\bwithout (?:\w{{2,12}} )?{_GUARD}\b|\bcors\b[^.\n]{{0,12}}\*",
    ),
    form(
        Reason.WEAKENS,
        0.6,
        "rter wort mots contrase senha zertifikat signatur \u5bc6\u7801",
        r"\b(?:passw\u00f6rter|kennw\u00f6rter|mots de passe|contrase\u00f1as?|senhas?)\b[^.\n]{0,40}",
        r"\b(?:klartext|im code|en clair|dans le code|texto plano|imprimen|registros|en el c\u00f3digo|texto puro)\b",
        r"|\b(?:zertifikate?|signaturen?)\b[^.\n]{0,40}\bnicht gepr\u00fcft",
        r"|\u5bc6\u7801[^\u3002\n]{0,6}(?:\u5199\u5728|\u660e\u6587)",
    ),
    form(
        Reason.NO_CHECKS,
        0.6,
        "delet disabl skip deactiv bypass drop remov ignor strip off",
        # `To disable X, ...` is what a manual says.
        rf"\b{_NOT_DENIED}(?<!to )(?:delet|disabl|skip|deactivat|bypass|dropp?|remov|ignor|stripp?)(?:e|es|ed|ing|s)? ",
        rf"(?:\w{{1,12}} ){{0,3}}{_GUARD}\b",
        rf"|\b(?:turn|switch|shut)\w{{0,3}} off (?:\w{{1,12}} ){{0,3}}{_GUARD}\b",
        rf"|\b(?:turn|switch|shut)\w{{0,3}} (?:\w{{1,12}} ){{0,3}}{_GUARD} (?:\w{{1,12}} ){{0,2}}off\b",
        rf"|\b{_GUARD} (?:\w{{2,12}} ){{0,2}}(?:is|are|was|were|stays?) (?:\w{{2,12}} )?",
        r"(?:off|disabled|dropped|skipped)\b",
    ),
    form(
        Reason.NO_CHECKS,
        0.6,
        "rejectunauthorized insecureskipverify tls_reject verify_none",
        r"rejectUnauthorized['\"]?\s{0,3}[:=]\s{0,3}false|InsecureSkipVerify\s{0,3}[:=]\s{0,3}true",
        r"|TLS_REJECT_UNAUTHORIZED['\"]?\s{0,3}[:=]\s{0,3}['\"]?0|\bVERIFY_NONE\b",
    ),
    form(
        Reason.NO_CHECKS,
        0.6,
        "pr\u00fcfung v\u00e9rification verificaci",
        r"\b\w{0,20}pr\u00fcfung(?:en)?\b[^.\n]{0,30}\b(?:\u00fcbersprungen|deaktiviert|ausgeschaltet|abgeschaltet)",
        r"|\b(?:v\u00e9rifications?|verificaci\u00f3n)\b[^.\n]{0,40}\b(?:d\u00e9sactiv|ignor|saut|desactiv|omit)",
    ),
    form(
        Reason.ALWAYS_TRUE,
        0.6,
        "return",
        r"\b(?:auth\w{0,12}|log-?in|permission|signature|token)s?\b[^.\n]{0,50}\breturn(?:s|ing)? true\b",
    ),
    form(
        Reason.ADMITS,
        0.9,
        "door",
        _NOT_DENIED,
        r"\b(?:leave|add|put|build|plant|hide|open|keep) (?:\w{1,12} ){0,3}back ?-?doors?\b",
    ),
    form(
        Reason.TRIGGER,
        0.5,
        "asks asked inquire wants detect notice encounter mention",
        rf"\b(?:if|when(?:ever)?|should) {_SOMEBODY} (?:ever )?(?:asks?|wants? to know|inquires?)\b",
        r"|\b(?:if|when(?:ever)?|in case|should) you(?:'re| are)? (?:ever )?",
        r"(?:(?:be )?asked|detect|notice|encounter)\b",
        r"|\b(?:(?:up)?on|at) (?:the )?(?:next |first )?mention(?:ing)? of\b",
    ),
    form(
        Reason.TRIGGER,
        0.5,
        (
            *("on reading", "on hearing", "on seeing", "the word", "phrase", "you have", "you get", "you gain"),
            *(
                "says",
                "types",
                "mentions",
                "thanks",
                " say ",
                "memory is",
                "note is",
                "text is",
                "message is",
                "file is",
            ),
            *("entry is", "nobody", "no one", "no-one"),
        ),
        r"\b(?:up)?on (?:reading|hearing|seeing)\b",
        r"|\b(?:as soon as|once|when) you (?:have|get|gain) (?:\w{1,9} ){0,2}access\b",
        r"|\b(?:when(?:ever)?|once|if|after) (?:the (?:word|phrase)",
        rf"|{_SOMEBODY} (?:says?|types?|mentions?|thanks?))\b",
        r"|\b(?:if|when(?:ever)?|once) this (?:memory|note|text|message|entry|file) is (?:ever )?",
        r"(?:recalled|read|loaded|retrieved|shown)\b",
        rf"|\b(?:if|when(?:ever)?|once|until) {_NOBODY} (?:is|'s) (?:\w{{2,8}} )?(?:watch|look|around|there)",
    ),
    form(
        Reason.TRIGGER,
        0.5,
        "fragt fragen demand pregunt \u5982\u679c",
        r"\b(?:wenn|falls|sobald)\b[^.,\n]{0,30}\b(?:fragt|gefragt|fragen)\b",
        r"|\b(?:si|quand|lorsqu\w?)\b[^.,\n]{0,30}\bdemand\w{1,4}\b|\b(?:si|cuando)\b[^.,\n]{0,30}\bpregunt\w{1,4}\b",
        r"|\u5982\u679c[^\u3002\uff0c,\n]{0,12}[\u95ee\u8be2]",
    ),
    form(
        Reason.DICTATES,
        0.4,
        (" that", " yes", "'", '"'),
        rf"\b(?:say|answer|reply|report|claim|pretend|state|tell (?:{_SOMEBODY}|them|him|her)) (?:that\b|yes\b|['\"])",
    ),
    form(
        Reason.SECRECY,
        0.5,
        (
            *("as if", "as though", " never", "the subject", "without comment", "without remark", "without explain"),
            *("be told", "be informed", "be notified", "be bothered", "that no", "need to "),
            *("t explain", "t comment", "t say"),
        ),
        r"\b(?:act|behave|pretend|go on)\b[^.\n]{0,30} (?:as (?:if|though)|(?:it|that|they) (?:\w{2,8} )?never)\b",
        r"|\bchange the subject\b|\bwithout (?:comment\w{0,4}|remark\w{0,3}|explaining)\b",
        rf"|\bnot? (?:to be|be) (?:told|informed|notified|bothered)\b|\bthat {_NOBODY} (?:notices|knows|sees|learns)\b",
        r"|\b(?:may|must|should|can|do)(?: not|n't) (?:explain|comment|say) (?:why|this|that|it|on)\b",
        rf"|\b{_SOMEBODY} (?:does|do)(?: not|n't) need to (?:know|hear|learn)\b",
    ),
    form(
        Reason.SECRECY,
        0.6,
        "discr besoin erf\u00e4hrt avisar nadie ohne pr\u00e9venir avertir",
        r"\bdiscr\u00e8tement\b|\bl'utilisateur n'a pas besoin\b|\bsans (?:pr\u00e9venir|avertir)\b",
        r"|\b(?:benutzer|nutzer|anwender) erf\u00e4hrt\b[^.\n]{0,20}\bnichts\b",
        r"|\bohne dass (?:es )?(?:der|jemand|einer)\b",
        r"|\bsin (?:avisar|que (?:nadie|el usuario))\b",
    ),
    form(
        Reason.CONSENT,
        0.5,
        "authoris authoriz approved cleared permission consented agreed knows signed given",
        r"\b(?:you|it|agents?|assistants?|(?:this|the) model)",
        r" (?:(?:is|are|'re|have|has|was|were)(?: been)?(?: already)? (?:authori[sz]ed|pre-?approved|cleared) to",
        r"|(?:have|has)(?: been given)? (?:the |full )?permission)\b|\bas (?:already )?(?:approved|confirmed)\b",
        rf"|\b{_SOMEBODY} (?:knows about (?:it|this)",
        r"|(?:has|have) (?:already )?(?:consented|agreed|approved|signed off|given))\b",
        r"|\b(?:legal|security|management|compliance|the c[tes]o) (?:has|have) (?:signed off|approved|cleared)\b",
    ),
    form(
        Reason.CONSENT,
        0.5,
        ("no need to ask", "further questions", "ask for ", "that i ", "that you ", "that agent", "that assistant"),
        r"\bno need to ask\b|\bwithout further questions\b",
        r"|\bnever (?:have to )?ask for (?:confirmation|approval|permission)\b",
        rf"|\b{_SOMEBODY} (?:confirmed|said|agreed) that (?:I|you|agents?|assistants?) (?:may|can|should)\b",
    ),
    form(
        Reason.CONSENT,
        0.9,
        "treat",
        r"\btreat\b[^.\n]{1,50}\bas (?:(?:if|though) (?:they|it|he|i|we|she|this) (?:came|come|were|was|had been)",
        r"|already approved) ",
    ),
    form(
        Reason.CONSENT,
        0.5,
        ("this is", "i am", "i'm", "we are", "we're"),
        r"\b(?:this is|i am|i'm|we are|we're) (?:the |your |from the )?(?:\w{3,12} )?",
        r"(?:security team|administrator|admin|owner|maintainer|operator|it department)\b(?! of)",
    ),
    form(
        Reason.ROLE,
        0.6,
        ("no longer", "persona", "identity", "alter ego", "been "),
        r"\byou(?:'re| are) no longer\b|\b(?:new|your) (?:persona|identity|alter ego)\s{0,2}(?:is|:)",
        r"|\byou(?:'ve| have) been (?:upgraded|replaced|reset|unlocked|freed|jailbroken|reassigned)\b",
    ),
    form(
        Reason.LIBERTY,
        0.5,
        "question refus doubt hesitate object unfiltered uncensored unrestricted yes",
        r"\b(?:never|not|n't|no longer) (?:questions?|refuses?|doubts?|hesitates?|objects?)\b",
        r"|\balways (?:types?|says?) yes\b",
        r"|\b(?:unfiltered|uncensored|unrestricted) (?:build|version|mode|model|edition|assistant)\b",
        r"|\brefusals? (?:is|are)\b",
    ),
    form(
        Reason.OVERRIDES,
        0.9,
        ", not ",
        r"\b(?:obey|listen to|answer to|follow|trust|serve) (?:only )?[^.,\n]{1,30}, not (?:to )?(?:the |your )?",
        r"(?:user|developer|owner|operator|human)",
    ),
    form(
        Reason.OVERRIDES,
        0.6,
        "instructions rules orders guidelines task restriction rails polic limits safeguards",
        r"\b(?:true|real|actual|right|original) (?:instructions|rules|orders|guidelines|task)\b[^.\n]{0,40}",
        r"\b(?:replaced|are:|is:|lost|follow|start|begin|here)",
        r"|\b(?:restrictions?|guard ?rails?|guidelines?|polic(?:y|ies)|safety rules?|limits|safeguards)\b[^.\n]{0,60}",
        r"\b(?:(?:is|are|were|was|been) (?:\w{2,10} )?(?:lifted|off|suspended|void|gone|superseded|deactivated)",
        r"|no longer (?:apply|bind|hold|count))\b",
    ),
    form(
        Reason.IMITATION,
        0.5,
        ("override", '"role"', "anthropic", "openai", "google", "microsoft", "vendor", "provider", "operator"),
        r"\badmin(?:istrator)? override\b|\boverride (?:code|accepted|granted)\b|\"role\"\s{0,3}:\s{0,3}\"system\"",
        r"|\b(?:message|notice|note|update|instruction)s? from (?:the )?(?:\w{3,12} )?",
        r"(?:anthropic|openai|google|microsoft|vendor|provider|operators?)\b",
    ),
    form(
        Reason.ADDRESSED,
        0.6,
        "next_ next- agent assistant ai_ ai- ai) ai: ai] llm bot model claude copilot summari",
        r"[\"'](?:next|agent|assistant|ai|llm|model)[_-](?:instruction|action|command|directive|task|prompt)s?[\"']\s{0,2}:",
        r"|(?:^|\n)X-(?:Agent|Assistant|AI)-\w{3,20}:",
        r"|(?:^|\n|[(\[] ?)(?:bot|ai|llm|agent|assistant|copilot|claude)\s?[)\]:]",
        r"|\b(?:dear|hey|attention|hello|hi),? (?:\w{2,12} )?",
        r"(?:bots?|assistants?|ai|agents?|llms?|models?|summari[sz]er|claude|copilot)\b",
        r"|\b(?:any|every|all|whichever|whatever) (?:ai|llm|language model|assistant|(?:coding )?agent|bot|model)s?",
        rf" (?:that |which |who )?{_TOLD}",
    ),
    form(
        Reason.TEMPLATE,
        0.5,
        "</",
        r"</(?:tool_results?|function_results?|user|human)>\s{0,4}<(?:user|human|assistant|system)>",
    ),
    form(
        Reason.TRANSFERS,
        0.6,
        "account iban wallet payout refund fees",
        r"\b(?:replace|change|swap|substitute|set|redirect|route|transfer)\b[^.\n]{0,40}",
        r"\b(?:bank account|iban|wallet|payout|account number|refunds?|fees)\b",
    ),
    form(
        Reason.CARRIES_AWAY,
        0.6,
        "push gist paste public",
        r"\bgit remote add\b[^\n]{0,120}\bgit push\b|\bgit push\b[^\n]{0,60}--(?:mirror|all)\b|\bgh gist create\b",
        r"|\b(?:to|on|in) (?:a |the )?(?:public )?",
        r"(?:pastebin|gist|paste ?site|public (?:channel|bucket|repo\w{0,7}))\b",
    ),
)
