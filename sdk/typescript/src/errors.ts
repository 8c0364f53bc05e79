/** What Helix refuses, or fails at. `code` is stable, `hint` says what to do next; see helix/errors.py. */
export class HelixError extends Error {
  constructor(
    message: string,
    readonly code = "INTERNAL",
    readonly hint?: string,
    options?: ErrorOptions,
  ) {
    super(hint ? `${message} (${hint})` : message, options);
    this.name = new.target.name;
  }
}

/** The request itself is wrong: an unknown kind, an empty text, a number out of range. */
export class InvalidInputError extends HelixError {}

/** No node, edge, model or file of that id or name. */
export class NotFoundError extends HelixError {}

/** The request collides with what is there, such as a name already in use. */
export class ConflictError extends HelixError {}

/** A path handed to `ingest git` is not a git repository. */
export class NotARepositoryError extends InvalidInputError {}

/** A setting has a value that cannot be read or used. */
export class ConfigError extends HelixError {}

/** Something about the files of a store. */
export class StoreError extends HelixError {}

/** Another process owns the store: nothing is wrong with it. */
export class StoreLockedError extends StoreError {}

/** A file of the store cannot be read as what it should be. */
export class StoreCorruptError extends StoreError {}

/** The store was written by a newer Helix than this one. */
export class StoreTooNewError extends StoreError {}

/** The disk or quota is full: nothing was written, nothing is lost. */
export class DiskFullError extends StoreError {}

/** The server that keeps the journal cannot be reached, or does not say that a change is durable. */
export class EngineError extends StoreError {}

/** Another process writes the tenant by now. */
export class NotHomeError extends EngineError {}

/** The graph is being rebuilt: recall answers lexically, graph queries have to wait. */
export class GraphUnavailableError extends StoreError {}

/** The store's vectors belong to another embedding space than the model that is set. */
export class EmbeddingSpaceError extends StoreError {}

/** An embedding or reranking model is missing, damaged or of the wrong dimension. */
export class ModelError extends HelixError {}

/** The Cypher gate lets only reading statements through. */
export class CypherRefusedError extends HelixError {}

/** A query ran into its time limit. */
export class QueryTimeoutError extends HelixError {}

/** The daemon cannot be started, reached or stopped. */
export class DaemonError extends HelixError {}

/** The bearer token, cookie, Host or Origin is missing or wrong. */
export class UnauthorizedError extends HelixError {}

/** A background job was about to take more of the store out of recall than `guard_share` allows. */
export class GuardError extends HelixError {}

/** An agent asked for what only a person may: what raises trust, and what nothing brings back. */
export class PersonNeededError extends HelixError {}

/** The key or the person is known, and may not do this: their role, their scopes or their tenant's quota says so. */
export class ForbiddenError extends HelixError {}

/** A tenant or a key asks a server more at once, or in a minute, than it may; later it may again. */
export class TooManyRequestsError extends HelixError {}

/** Capture is paused: nothing new is ingested, and no background job runs, until `helix pause --off`. */
export class PausedError extends HelixError {}

const CLASSES: Record<string, typeof HelixError> = {
  INVALID_INPUT: InvalidInputError,
  NOT_FOUND: NotFoundError,
  CONFLICT: ConflictError,
  NOT_A_REPOSITORY: NotARepositoryError,
  CONFIG: ConfigError,
  STORE: StoreError,
  STORE_LOCKED: StoreLockedError,
  STORE_CORRUPT: StoreCorruptError,
  STORE_TOO_NEW: StoreTooNewError,
  DISK_FULL: DiskFullError,
  ENGINE: EngineError,
  NOT_HOME: NotHomeError,
  GRAPH_UNAVAILABLE: GraphUnavailableError,
  EMBEDDING_SPACE: EmbeddingSpaceError,
  MODEL: ModelError,
  CYPHER_REFUSED: CypherRefusedError,
  TIMEOUT: QueryTimeoutError,
  DAEMON: DaemonError,
  UNAUTHORIZED: UnauthorizedError,
  GUARD: GuardError,
  PERSON_NEEDED: PersonNeededError,
  FORBIDDEN: ForbiddenError,
  TOO_MANY_REQUESTS: TooManyRequestsError,
  PAUSED: PausedError,
};

/** Returns an error of the class that a code names; of HelixError itself for a code of a newer Helix. */
export function errorFrom(code: string, message: string, hint?: string, options?: ErrorOptions): HelixError {
  const known = Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined;
  return new (known ?? HelixError)(message, code, hint, options);
}
