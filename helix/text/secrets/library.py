"""Library: the patterns of the detect-secrets package, run on strings, without its files, settings or network."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from helix.text.secrets import strength
from helix.text.secrets.span import Span
from helix.text.secrets.vocabulary import UNMISTAKABLE


class _Detector(NamedTuple):
    kind: str
    module: str
    name: str
    anchors: tuple[str, ...]


_DETECTORS = (
    _Detector("artifactory-credential", "artifactory", "ArtifactoryDetector", ("AKC", "AP")),
    _Detector("aws-access-key", "aws", "AWSKeyDetector", ("AKIA", "ASIA", "A3T", "ABIA", "ACCA", "aws", "AWS", "Aws")),
    _Detector("azure-storage-key", "azure_storage_key", "AzureStorageKeyDetector", ("AccountKey=",)),
    _Detector("cloudant-credential", "cloudant", "CloudantDetector", ("clou", "Clou", "CLOU")),
    _Detector("discord-token", "discord", "DiscordBotTokenDetector", (".",)),
    _Detector("github-token", "github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _Detector("gitlab-token", "gitlab_token", "GitLabTokenDetector", ("gl", "GR1348941")),
    _Detector("ibm-cloud-key", "ibm_cloud_iam", "IbmCloudIamDetector", ("ibm", "IBM", "iam", "IAM")),
    _Detector("ibm-cos-key", "ibm_cos_hmac", "IbmCosHmacDetector", ("secret", "SECRET", "Secret")),
    _Detector("mailchimp-key", "mailchimp", "MailchimpDetector", ("-us",)),
    _Detector("pypi-token", "pypi_token", "PypiTokenDetector", ("pypi-",)),
    _Detector("sendgrid-key", "sendgrid", "SendGridDetector", ("SG.",)),
    _Detector("softlayer-credential", "softlayer", "SoftlayerDetector", ("softlayer", "SOFTLAYER")),
    _Detector("square-secret", "square_oauth", "SquareOAuthDetector", ("sq0csp-",)),
    _Detector("stripe-key", "stripe", "StripeDetector", ("k_live_",)),
    _Detector("telegram-token", "telegram_token", "TelegramBotTokenDetector", (":AA",)),
    _Detector("twilio-key", "twilio", "TwilioKeyDetector", ("AC", "SK")),
)
"""Every detector of the package but nine: entropy (two) and keyword want quotes and take a commit for a secret, an IP
address is none, and basic auth, private key, JWT, npm, OpenAI and Slack see a part of the secret only, fire on plain
samples or take quadratic time on hostile lines; `blocks`, `headers`, `families` and `assignments` cover what those are
for. A detector is not even loaded before one of its anchors occurs, since the package takes 0.2 s to import."""

_ANCHORED = [(anchor, detector) for detector in _DETECTORS for anchor in detector.anchors]
_WORDY = 0.8


def find(text: str) -> Iterator[Span]:
    """Yield what the package's detectors see, without what is plainly filler."""
    for detector in dict.fromkeys([detector for anchor, detector in _ANCHORED if anchor in text]):
        for pattern in _patterns(detector.module, detector.name):
            yield from _matches(text, pattern, detector.kind)


def _matches(text: str, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    # The package's patterns of assignments are the ones that ignore case; there the last group is the value.
    assignment = bool(pattern.flags & re.IGNORECASE)
    for match in pattern.finditer(text):
        group = match.lastindex if assignment and match.lastindex else 0
        value = match[group].strip(' \t\r\n=:"')
        sample = strength.is_blank(value) if kind in UNMISTAKABLE else strength.is_filler(value)
        wordy = strength.word_share(value) > _WORDY and kind not in UNMISTAKABLE
        if not sample and not wordy and any(char.isdigit() for char in value):
            start = text.index(value, match.start(group))
            yield Span(start, start + len(value), kind)


@cache
def _patterns(module: str, name: str) -> tuple[re.Pattern[str], ...]:
    # The package imports itself in a circle, which only comes out right when it is entered by its root.
    importlib.import_module("detect_secrets")
    detector = getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)
    return tuple(detector.denylist)
