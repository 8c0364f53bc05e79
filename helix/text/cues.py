"""Cues: the words by which a text tells that it holds a choice, a rule, a preference, a fault or its repair.

Not measured, as they count in `gate` and `note_kinds`; the chats that `gate` was measured on hardly speak of programs.
"""

from __future__ import annotations

import re

from helix.text.regex import regex


def cue_pattern(*alternatives: str) -> re.Pattern[str]:
    """Return a pattern that finds any of these cue words in a text as whole words, in any case."""
    return regex(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


PREFERENCE = cue_pattern(
    r"i (?:really |strongly |usually |would )?(?:prefer|like|want|dislike|hate|love|favou?r)",
    r"i (?:don't|do not) (?:like|want)|i'd rather|my preferences?|the user (?:prefers|likes|wants|dislikes)",
)
"""A note's author speaks of likes."""

DECISION = cue_pattern(
    r"we(?:'ve| have)? (?:decided|chose|chosen|agreed|opted|went with|settled on)|decided (?:to|on|against)|decision:",
)
"""A choice was made."""

PITFALL = cue_pattern(
    r"gotchas?|pitfalls?|caveats?|beware|watch out|foot-?guns?|known issues?|common (?:mistakes?|errors?)",
    r"(?:don't|do not|never|avoid|must not) .{1,600} (?:because|since|otherwise|or else|as (?:it|this))",
    r"(?:don't|do not|never|avoid|must not) .{1,600} (?:it|this) (?:will|would)",
    r"(?:breaks|fails|crashes|hangs|deadlocks|leaks) (?:when|if|because|unless|on|with)",
    r"(?:will|would) (?:break|fail|crash|hang)",
)
"""Something goes wrong, and when."""

RULE = cue_pattern(
    r"always|never|must(?: not)?|should(?: not)?|shall|prefer(?:red)?|avoid|don't|do not|make sure|ensure|only use",
    r"required?|not allowed|forbidden|no longer|instead of|rather than|is mandatory|convention",
)
"""Something is to be done or left."""

NEED = cue_pattern(
    r"(?:had|needs?|needed|have|has|forgot(?:ten)?|remembered) to|needs? (?:a|an|the)|only works?|work(?:s|ed)? only",
    r"(?:fails?|breaks?|does(?:n't| not) work) (?:without|unless|until)|not without|first step",
)
"""Something turned out to be needed."""

IMPERATIVE = cue_pattern(
    r"activate|add|apply|ask|assume|avoid|break|build|call|check|choose|commit|configure|consider|copy|create|declare",
    r"define|delete|describe|do|document|enable|explain|export|extract|favou?r|fix|follow|format|group|handle|import",
    r"include|install|invoke|keep|leave|limit|link|list|log|make|mark|match|mention|merge|mock|move|name|no|open|order",
    r"pass|pin|place|prefer|prefix|put|raise|read|rebase|release|remove|rename|replace|restart|return|review"
    r"|run|save|set",
    r"skip|sort|source|split|squash|start|stop|store|tag|test|treat|try|update|use|validate|verify|wrap|write",
)
"""Verbs with which instructions begin."""

STEP = cue_pattern(
    r"announce|approve|archive|assign|back up|bake|begin|boil|bring|bump|chop|clean|clear|click|close|collect|combine",
    r"compare|compile|confirm|connect|convert|cook|cut|deploy|disable|download|draft|drain|drop|edit|email|empty|enter",
    r"execute|fetch|fill|find|finish|flush|freeze|generate|get|give|go|heat|increase|inform|inspect|invite|label|launch",
    r"let|load|lock|log in|look|measure|migrate|mix|monitor|note|notify|pack|paste|pause|pick|plan|plug|post|pour",
    r"prepare|press|print|promote|publish|pull|purge|push|rebuild|record|refresh|register|reload|report|request|reset",
    r"resolve|restore|resume|revert|rinse|roll|rotate|schedule|scroll|select|send|serve|share|ship|shut|sign|stir",
    r"switch|sync|take|tap|tell|turn|type|unlock|unpack|unplug|upgrade|upload|wait|warm|wash|watch|wipe",
)
"""More verbs with which the steps of a procedure begin; a rule seldom does."""

TROUBLE = cue_pattern(
    r"fail(?:s|ed|ing|ures?)?|errors?|exceptions?|traceback|crash(?:es|ed|ing)?|seg(?:fault|v)s?|broken?|breaks?",
    r"(?:hard|bus|usage|page|mem(?:manage)?|protection|double)[ -]?faults?|panic(?:s|ked)?|assert(?:ion)? failed",
    r"(?:stack|buffer|heap|integer|counter|arithmetic) ?(?:over|under)flow(?:s|ed)?|(?:over|under)flow(?:s|ed)"
    r"|stall(?:s|ed)|abort(?:s|ed)|freez(?:es|ing)|froze|lock-?ups?|brown-?outs?|race condition",
    r"timed? out|timeouts?|deadlocks?|leak(?:s|ed|ing)?|hang(?:s|ing)?|hung|regressions?|corrupt(?:s|ed|ion)?",
    r"(?:does|do|did|would)(?:n't| not) (?:work|start|build|compile|load|connect|resolve)|not working",
    r"(?:can't|cannot|could(?:n't| not)) (?:find|import|connect|open|load|read|write|resolve)|refused|denied",
    r"(?:no such|missing) (?:file|module|package|command|table|column)|not found|flak(?:y|es|ed)|oom|out of memory",
)
"""Something went wrong with a program."""

REPAIR = cue_pattern(
    r"(?:the |a |my )?fix (?:was|is|:)|fixed (?:it |this |that )?(?:by|with|in|after|when|once)|fix(?:ed"
    r"|es)? (?:it|this|that)",
    r"(?:solved|resolved|cured) (?:it |this |that )?(?:by|with)|the solution (?:was|is)"
    r"|(?:the )?(?:root )?cause (?:was|is)",
    r"root cause:|turn(?:s|ed) out|work(?:s|ed) (?:now|again|after|once|when|with)|work-?around|until (?:i|we|you) \w+",
    r"the (?:problem|issue|trouble|culprit|reason) (?:was|is)|after (?:i|we|adding|setting|running|installing"
    r"|removing)\b.+",
    r"needed to|had to|because .+",
)
"""It is told how that was mended, or why it was."""

CORRECTION = regex(
    r"(?:(?:sorry|oops|no|well|hm+|wait)[,!. ]+)*"
    r"(?:(?:correction|korrektur|berichtigung|correcci(?:ó|o)n|correzione|corre(?:ç|c)(?:ã|a)o"
    r"|update|sorry|actually|in fact|wrong|scratch that|no|oops|my (?:mistake|bad|error|fault)"
    r"|(?:that|this|it)(?: was|'s| is) (?:wrong|not (?:right|true|correct)|a mistake|outdated)"
    r"|i (?:was (?:wrong|mistaken)|misspoke|made a mistake|got (?:it|that) wrong"
    r"|(?:have|need|must|had)(?: to)? correct myself|stand corrected)(?: [^,:.;]{1,50})?"
    r"|contrary to what (?:i|we) (?:said|wrote|thought)(?: \w+){0,3}"
    r"|what i (?:said|wrote)(?: \w+){0,5} was wrong)\s*[,:;.!\u2013\u2014]\s*(?:and\s+)?"
    r"|(?:actually|it turns out(?: that)?|it turned out(?: that)?|(?:i|we) (?:have|need) to correct:?)\s+)",
    re.IGNORECASE,
)
"""What stands before a statement that takes another one back."""
