"""Request: what a caller asks to remember, as it came, and made ready to be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.memory.capture.quarantine import screen, texts_of
from helix.memory.change import intake as checks
from helix.memory.change.compose import Prepared, ReadText, prepare
from helix.memory.change.intake import Intake
from helix.memory.contradiction.classify import NewStatement
from helix.memory.scores import FIRST_CERTAINTY, bounded_confidence, half_life_of, importance_of
from helix.model.held import Screening
from helix.model.memory import GLOBAL_SCOPE, Memory, body
from helix.model.provenance import STATED, Provenance, Trust
from helix.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """What a caller asks to remember, as it came.

    Trust that is not stated is a person's; an agent's where one is named, or where the text reads like an instruction.
    Confidence that is not stated goes by the trust, and none is above what that class allows.
    """

    trigger: str
    resolution: str
    kind: str
    scope: str = GLOBAL_SCOPE
    name: Annotated[str | None, "A readable name. By default it is made from the trigger."] = None
    confidence: Annotated[float | None, "How sure it is, 0 to 1. By default, and at most, what its trust allows."] = (
        None
    )
    importance: Annotated[float | None, "How important it is, 1 to 10. By default it is judged by the text."] = None
    files: Annotated[Sequence[str], "Files it is about: recall for them finds it whatever the words."] = ()
    trust: Annotated[
        Trust | None, "How far its source is to be trusted: where it is not said, a user's, or an agent's with `agent`."
    ] = None
    source: str = ""
    agent: str = ""
    session: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    attributes: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedMemory:
    """A memory as it is to be stored: its text cleaned, redacted, screened, read and embedded, each once."""

    draft: Memory
    screening: Screening
    wanted_name: str
    files: tuple[str, ...]
    prepared: Prepared
    session: str = ""
    redacted: tuple[str, ...] = field(default=())

    @property
    def said(self) -> NewStatement:
        draft = self.draft
        return NewStatement(
            kind=draft.kind,
            trigger=draft.trigger,
            resolution=draft.resolution,
            trust=draft.provenance.trust,
            attributes=draft.attributes,
        )

    @property
    def voice(self) -> str:
        """Who says it: its source, else its agent; all who name neither are one."""
        return self.draft.source or self.draft.provenance.agent


def prepare_request(store: Store, request: StoreRequest) -> PreparedMemory:
    """Return a request to remember a memory, ready to be written; raises InvalidInputError or EmbeddingSpaceError."""
    store.check_space()
    intake = Intake(store.runtime.settings.text_limit)
    kind = checks.known_kind(request.kind)
    trigger, resolution = intake.pair(request.trigger, request.resolution)
    files = intake.labels(request.files, "file")
    checks.period(request.valid_from, request.valid_to)
    agent, source = intake.label(request.agent, "agent"), intake.label(request.source, "source")
    attributes = intake.attributes(request.attributes)
    said = body(trigger, resolution)
    name = intake.name(request.name) if request.name else ""
    session = intake.session(request.session)
    screening = screen(request.trust, said, name, agent, source, session, *files, *texts_of(attributes))
    agents = screening.held or agent
    trust = request.trust or (Trust.AGENT_INFERRED if agents else Trust.USER_ASSERTED)
    prepared = prepare(store, [ReadText.of(said, files)])[0]
    draft = Memory(
        id="",
        name="",
        kind=kind,
        trigger=trigger,
        resolution=resolution,
        recorded_at=store.runtime.clock(),
        scope=intake.scope(request.scope),
        confidence=bounded_confidence(checks.fraction(request.confidence, "confidence", FIRST_CERTAINTY[trust]), trust),
        importance=checks.poignancy(request.importance, importance_of(said, prepared.mentions, kind)),
        half_life_days=half_life_of(kind),
        valid_from=checks.moment(request.valid_from),
        valid_to=checks.moment(request.valid_to),
        source=source,
        attributes=attributes,
        provenance=Provenance(slice=source, extractor=STATED, agent=agent, trust=trust),
    )
    return PreparedMemory(
        draft=draft,
        screening=screening,
        wanted_name=name,
        files=files,
        prepared=prepared,
        session=session,
        redacted=tuple(intake.redacted),
    )
