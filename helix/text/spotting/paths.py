"""Paths: which written words name a file or a folder, and the one form in which each is kept."""

from __future__ import annotations

import re

_EXTENSIONS = frozenset(
    "adoc asm bash bat bib bz2 c cc cfg cjs clj cmake cmd conf cpp crt cs css csv cu cuh cxx cypher dart db der diff dll "
    "doc docx dylib ejs el elm env eps erb erl ex exe exs f90 fish fits frag gif go gql gradle graphql groovy gz h hbs hcl "
    "hh hpp hs htm html hxx ico idl iml inc ini ipynb jar java jinja jinja2 jl jpeg jpg js json json5 jsonl jsp jsx kt kts "
    "less lock log lua m4 map md mdx mjs mk ml mod nix npy npz odt org parquet patch pcap pdf pem php phtml pkl pl plist "
    "pm png po pod pot ppt pptx proto ps1 psd py pyc pyi pyx r rb rkt rs rst rtf s sass scala scss sh sln so sol sql "
    "sqlite srt sum svelte svg swift tar tcl tex tf tfvars tgz toml ts tsv tsx ttf txt vb vcxproj vert vim vue wasm webp "
    "whl woff woff2 xls xlsx xml xsd xsl xz yaml yml zig zip zsh".split()
)
_ONE_LETTER = frozenset("chrs")
"""Extensions of one letter: only after a name that can't be an initial."""
_WELL_KNOWN = re.compile(
    r"(?:GNU)?[Mm]akefile(?:\.[a-z]{2,4})?|Dockerfile(?:\.\w+)?|Containerfile|Gemfile|Rakefile|Jenkinsfile|Vagrantfile|Procfile"
    r"|Pipfile|README|configure\.(?:ac|in)|go\.(?:mod|sum)|[\w-]+\.(?:h|py|c|pc|cmake|m4)\.in|CODEOWNERS"
    r"|\.(?:git(?:hub|ignore|attributes|modules|keep)?|env(?:\.\w+)?|[a-z]+rc|[a-z]+ignore|[a-z]+config|profile|ssh|vscode)"
)
_DOTTED_FILE = re.compile(r"\.[a-z][\w-]*\.(\w+)")
_STEM = re.compile(r"[\w@+$~-][\w@+$~. -]*", re.ASCII)
_TOPS = frozenset(
    "app apps assets bench benchmarks bin build ci client cmake cmd common conf config configs contrib core data deps dist "
    "doc docs etc example examples frontend backend helpers include includes integration internal lib libs m4 migrations mod "
    "node_modules opt packages pages pkg plugins projects public resources scripts server share site-packages spec src "
    "static styles templates test tests third_party tools ui usr utils var vendor views web www .github .ci .circleci".split()
)
_ROOTS = frozenset(
    "bin boot dev etc home lib lib64 media mnt opt proc root run sbin srv sys tmp usr var Users Library".split()
)
_MEDIA_TYPES = frozenset(
    {"application", "audio", "chemical", "font", "image", "message", "model", "multipart", "text", "video"}
)
_LINE_SUFFIX = re.compile(r"(?::\d+){1,2}(?:-\d+)?$|#L\d+(?:-L?\d+)?$")
_DRIVE = re.compile(r"[A-Za-z]:[\\/](?![\\/])")
_PART = re.compile(r"[\w@+$~.][\w@+$~.%-]*", re.ASCII)
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:[a-z]\d*)?")
_LIBRARIES = re.compile(
    r"(?:node|vue|next|nuxt|three|react|express|ember|backbone|angular|chart|moment|d3|p5|socket|discord|alpine)\.js",
    re.I,
)
_DEEPEST, _LONGEST = 24, 240


def canonical(path: str) -> str:
    """Return a path as it is kept: forward slashes, each once, no leading `./`, no slash at the end."""
    name = path.strip().replace("\\", "/")
    while "//" in name:
        name = name.replace("//", "/")
    while name.startswith("./"):
        name = name[2:]
    return name.rstrip("/") or name[:1]


def path_in(word: str) -> str | None:
    """Return the canonical path that a word without blanks or quotes names, or None where it names none."""
    word = _LINE_SUFFIX.sub("", word)
    if not 2 < len(word) <= _LONGEST or "*" in word or "://" in word:
        return None
    if _DRIVE.match(word):
        parts = canonical(word[2:]).strip("/").split("/")
        return canonical(word) if _plausible(parts) else None
    if "/" in word or "\\" in word:
        return _slashed(word)
    return word if is_file_name(word) else None


def is_file_name(word: str) -> bool:
    """Tell whether a word without slashes is the name of a file: a known extension or a well-known name."""
    if _WELL_KNOWN.fullmatch(word):
        return True
    stem, dot, extension = word.rpartition(".")
    if not dot or not stem:
        return False
    if extension not in _EXTENSIONS and extension.lower() not in _EXTENSIONS:
        return False
    if stem.startswith("."):
        return bool(_DOTTED_FILE.fullmatch(word))
    if not _STEM.fullmatch(stem) or ".." in word or _LIBRARIES.fullmatch(word):
        return False
    if extension.lower() in _ONE_LETTER:
        return extension in _ONE_LETTER and len(stem) > 1
    return extension.islower() or stem.isupper() or "_" in stem or any(char.isdigit() for char in stem)


def _slashed(word: str) -> str | None:
    path = canonical(word)
    if "\\" in word and ("/" in word or word.startswith("\\") or re.search(r"\\[nrt\d]?(?:\\|$)", word)):
        return None
    if path.startswith(("a/", "b/")) and is_file_name(path.rpartition("/")[2]):  # the two sides of a diff
        path = path[2:]
    parts = path.removeprefix("~/").strip("/").split("/")
    while parts and parts[0] in (".", ".."):
        parts = parts[1:]
    if not parts or not _plausible(parts):
        return None
    if is_file_name(parts[-1]):
        return path
    return path if _is_folder(word, path, parts) else None


def _plausible(parts: list[str]) -> bool:
    if len(parts) > _DEEPEST or not all(_PART.fullmatch(part) for part in parts):
        return False
    return any(char.isalpha() for part in parts for char in part)


def _is_folder(word: str, path: str, parts: list[str]) -> bool:
    """Tell a path without a known extension from words that slashes hold together: and/or, HTTP/2, text/html."""
    if _VERSION.fullmatch(parts[-1]) and len(parts) < 3:
        return False
    if path.startswith("/"):
        return parts[0] in _ROOTS and (len(parts) > 1 or len(parts[0]) > 2)
    if path.startswith("~/") or word.startswith(("./", "../", ".\\", "..\\")):
        return True
    if len(parts) == 1:  # ended by its slash
        return parts[0] in _TOPS or "_" in parts[0]
    if parts[0] in _MEDIA_TYPES and len(parts) == 2:
        return False
    if parts[0] in _TOPS and all(len(part) > 1 for part in parts):
        return True
    telling = [part for part in parts if not _PLAIN_WORD.fullmatch(part) and not _VERSION.fullmatch(part)]
    if any("_" in part for part in telling):
        return True
    return len(parts) > 2 and bool(telling) and all(part[0].islower() or part[0] == "." for part in parts)
