"""Remote scope: the scope that a project has by the address of its git remote, and how a name is written in one.

A grammar of the addresses that git takes.
"""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote, urlsplit

from helix.scopes import is_this_machine, scope_key

_LONGEST_REMOTE = 2_048
_UNFIT = re.compile(r"[^\w.@+/:-]+")
_SCP = re.compile(r"(?:[^@/:]+@)?(?P<host>\[[^\]]+\]|[^:/@]{2,}):(?!//)(?P<path>.+)")
_WITH_SECRET = re.compile(r"\\|;|^[^/]*@[^/]*:")
"""In a path what may be a user's password: `user:word@host:a/b`, `https:\\\\user:word@host`, `a/b;password=word`."""
_TWO_HOSTS = re.compile(r"\[[^/]*@")
"""In `[evil.example]@github.com:a/b` git asks the host in brackets, and lets go of the rest."""
_AZURE_SSH = re.compile(r"v3/([^/]+)/([^/]+)/([^/]+)")
_AZURE_HTTPS = re.compile(r"(?:([^/]+)/)?_git/([^/]+)")
_BITBUCKET_SERVER_SSH = 7999


def scope_of_remote(url: str) -> str:
    """Return a project's scope of a git remote: host and path, without `.git`; empty for one on this disk.

    `git@host:A/b.git`, `https://user:word@host/a/b` and `ssh://git@host:2222/a/b/` are one project. So is a host's
    second name in an SSH configuration (`git@github.com-me:`), and what Azure DevOps and Bitbucket Server have under
    other paths for SSH. A name in the path that no scope can have as it is (`~ada`, `a%20b`) ends with a digest of it.
    A path of one name, as an owner's page has, keeps a `.git`: no repository of that owner's lies below it.
    """
    port = None
    if len(url) > _LONGEST_REMOTE or _TWO_HOSTS.search(url) or not url.isprintable():
        return ""  # what cannot be seen (a tab, a joiner) is dropped here and not by git
    if "://" in url:
        try:
            split = urlsplit(url)
            told, host, path, port = split.netloc, split.hostname or "", split.path, split.port
        except ValueError:
            return ""
        if split.scheme == "file":
            return ""
        if "?" in url or "#" in url:
            return ""  # over SSH they are letters of the path like any other, and `a/b#c` is another folder than `a/b`
        if "%" in split.netloc and split.scheme not in ("http", "https"):
            return ""  # git decodes it first: in `ssh://evil.example%2f@github.com/a/b` it asks evil.example
    elif (match := _SCP.fullmatch(url)) is not None:
        told, host, path = match["host"], match["host"], match["path"]
    else:
        return ""
    host, path = host.strip("[]"), re.sub(r"/{2,}", "/", path).strip("/")
    if fit(host) != host or any(letter.lower() != letter for letter in told if not letter.isascii()):
        return ""  # of a letter in a circle git asks for that letter, and of a capital sharp s for `ss`
    if _WITH_SECRET.search(path) or not {".", ".."}.isdisjoint(unquote(path).split("/")):
        return ""  # git asks for what `a/b/../../c/d` leads to, and that lay below `a/b` and saw what is known there
    host, path = _of_forge(host.lower(), (path[:-4] if path[-4:].lower() == ".git" else path).rstrip("/"), port)
    path = "/".join(map(told_apart, path.split("/")))
    host = f"{host}:{port}" if port and is_this_machine(host) else host
    return scope_key(f"{host}/{path}" if "/" in path else f"{host}/{path}.git") if host and path else ""


def _of_forge(host: str, path: str, port: int | None) -> tuple[str, str]:
    """Return host and path as they are over HTTPS, of forges that have other ones for SSH, and without an alias."""
    rest, dot, last = host.rpartition(".")
    if dot and not last.startswith("xn--"):
        host = f"{rest}.{last.partition('-')[0]}"  # no top-level domain has a hyphen but those in punycode
    if host in ("ssh.dev.azure.com", "vs-ssh.visualstudio.com") and (found := _AZURE_SSH.fullmatch(path)):
        return "dev.azure.com", "{}/{}/_git/{}".format(*found.groups())
    organisation, _, domain = host.partition(".")
    if domain == "visualstudio.com":
        host, path = "dev.azure.com", f"{organisation}/{re.sub(r'(?i)^DefaultCollection/', '', path)}"
    if host == "dev.azure.com":
        organisation, _, inner = path.partition("/")
        if found := _AZURE_HTTPS.fullmatch(inner):
            path = f"{organisation}/{found[1] or found[2]}/_git/{found[2]}"  # the first project is not named
    elif port == _BITBUCKET_SERVER_SSH and path.count("/") == 1:
        path = f"scm/{path}"
    return host, path


def told_apart(name: str) -> str:
    """Return a name of a remote's path as a scope has it, with a digest at its end where others would be written so."""
    return name if fit(name) == name else f"{fit(name)}~{scope_digest(name)}"


def scope_digest(name: str) -> str:
    return hashlib.sha256(scope_key(name).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def fit(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-/")
