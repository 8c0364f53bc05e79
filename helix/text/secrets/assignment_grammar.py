"""Grammar of assignments: what stands between the name of a secret and its value; `assignments` judges what it reads.

Of 45 passwords and keys that strangers' code has for variables that are not set, and shows in dumps, it reads 42 where
1 was read without its fallbacks and dumps. They were looked up when it was written. On 24,000 files of packages and
documentation these touch 8, all of one package, with a made-up key.

Of 15 forms in which tests fill in a password and 5 in which SQL or code hashes one it reads 20 where it read 1: they
were looked up. Of 6,000 files it touches none by them.
"""

from __future__ import annotations

import re

from helix.text.regex import regex

HINT = regex(
    r"p(?:ass|wd|w\b|at\b|s[kw]|in\b)|s(?:e(?:cret|nha|ssion|ssid)|rt|alt)|k(?:ey|ennwort)|token|a(?:uth|ccess|pi)"
    r"|wachtwoord|haslo|c(?:red|ontrasena|rumb|ookie|ommunit)|bearer|jwt|l(?:ogin|icen)"
)
ASSIGNMENT = regex(
    r"""
    (?P<name>[A-Za-z_][\w.\-]{0,80})
    (?P<close>(?:\\{0,3}["'`])?[\])]{0,2}(?:\[\])?)
    (?:(?:\s?:\s?&?(?:'static\ )?[A-Za-z_][\w.\[\]|,\ ]{0,40}|\ \*?string)    # a type annotation, also of Go
       (?=\s?=[^=]|\s{1,4}by\ lazy))?
    (?:
        (?P<value_key>["']?\s{0,4}(?:[,:{]|:\s{0,4}\{)?
            (?:(?<=\{)"type":"\w{1,20}",)?
            (?:\s{1,40}["']?(?:description|type|sensitive)["']?[ \t]{0,4}[:=][^\n{}]{0,80}){0,3}
            (?:\s{1,40}|(?<=[{,]))["']?(?:(?:\w{0,10}[_:]|initial|parameter|default)?val(?:ue)?|default)["']?\s{0,4}[:=]\s{0,4})
      | (?P<by_flag>["']?,?\s{1,4}(?:--type[ =]\w{1,20}\ )?["']?
            (?:--value|--secret-string|(?<=\.password\ )-v)["']?[,\s=]{1,4})
      | (?P<fallback>(?:\s{0,4}(?:\|\||\?\?)=?|(?:(?<=[)\]])|\s)\s{0,4}\?:|(?<=["']\))\s{0,4}\{
              |(?:(?<=["'][)\]])|(?<=(?-i:[A-Z])))\s{1,4}or\b)
            \s{0,4}(?=["'][^\s"']{4}))                 # what is taken where a variable is not set
      | (?P<assign>(?:[ \t]{0,40}|\s{0,40}(?==\s?[\"']))(?:={1,3}>?|:{1,3}=|[?+!]=|:[-=]?)\s{0,12}
            (?:(?:!!\w{1,20}|&(?!(?:mut|dyn|impl)\b)[\w-]{1,40})[ \t]{1,4}   # a tag or an anchor of YAML
              |<<[-~<]?[ \t]?["']?\w{1,20}["']?[ \t]{0,4}\n[ \t]{0,40}
              |(?:[\w.:]{0,40}[.:])?(?:md5|sha\d{1,3}|crypt|hash_?(?:sync|pw|password)|password_hash|make_password
                |generate_password_hash|(?<=bcrypt\.)hash|(?<=hash::)make)\(\s{0,4}(?=[bN]?["']))?)   # what is hashed
      | (?P<lazy>\s{1,4}by\ lazy\s{0,4}\{\s{0,12}(?="))
      | (?P<fill>/?i?\]?["'`]?(?:\s?,\s?\{[^{}\n]{0,40})?\s?\}?\){0,2}    # what a test types into a field of that name
            (?:\.(?:clear\(\)\.)?(?:type|fill|val|set_?value|send_?keys|press_?sequentially)\(
              |\ ?,\ (?:with:\s?|\{\s?target:\s?\{\s?value:\s?)?|(?<=["'])\ with\ )
            (?=["']))
      | (?P<comma>\s{0,4},(?:\s{0,4}|[ \t]{0,12})(?=\\?["']))
      | (?P<call>\(\s{0,4}(?=\\?["']))
      | (?P<tag>>(?!\s))
      | (?P<prose>[ \t]+(?:is|was)[ \t:]{1,3})
      | (?P<blank>[ \t]{1,8})
    )
    (?:
        (?:[A-Za-z]{0,2}|@|string\(\d{1,5}\)[ ]|\[\]byte\()(?:"(?=\\"))?\\{0,3}
        (?:"(?P<double>[^"\n]{1,2000})"|'(?P<single>[^'\n]{1,2000})'|`(?P<back>[^`\n]{1,2000})`)
      | (?:\\{0,3}["'`])?(?P<plain>[^\s"'`<>,;]{1,500})  # behind a quote that nothing closes: what was cut off
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What a plan of Terraform puts in a value's place.
THEN = regex(r"\"[ \t]{1,4}->[ \t]{1,4}\"(?P<value>[^\"\n]{3,500})\"")
# Several values under one name: passwords: ["...", "..."], or lines of a list of YAML.
LIST = regex(r"[\"']?\]?\s{0,4}(?:=>?|:=?)\s{0,4}(?:[\[(](?=[\s\"'])|(?=\n[ \t]{0,40}-[ \t]))")
ITEM = regex(
    r"[\s,]{0,80}(?:-[ \t]{1,4})?(?:\"(?P<double>[^\"\n]{1,500})\"|'(?P<single>[^'\n]{1,500})'"
    r"|(?P<plain>[^\s\"'\[\](){},:#]{1,200})(?=[ \t]{0,8}(?:[\n,\])]|$)))"
)
