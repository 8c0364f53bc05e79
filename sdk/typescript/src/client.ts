import type { Document } from "./document.js";
import { DaemonError, errorFrom, QueryTimeoutError } from "./errors.js";
import { RecallDocument, StoreDocument } from "./operations.js";
import type { RecallQuery, RecallQueryVariables, StoreMutation, StoreMutationVariables } from "./operations.js";

/** Where a daemon answers, and the token that it wants to be shown; pages of the daemon itself have a cookie instead. */
export interface Address {
  readonly url: string;
  readonly token?: string;
}

export interface Options {
  /** Milliseconds to wait for an answer; 35,000, a little more than the daemon's own limit. */
  timeout?: number;
  /** The agent that runs this program, if one does: what it stores is then the agent's, not its user's. */
  agent?: string;
  /** Finds the daemon again once it has gone; an idle one leaves. */
  relocate?: () => Promise<Address>;
  /** What to ask with in place of the global `fetch`. */
  fetch?: typeof fetch;
}

/**
 * What an operation of Helix answers: its one field, and of a mutation the `result` of its payload.
 *
 * A field is null where it failed, which is thrown as an error; `last` alone has nothing to tell now and then.
 */
export type Answer<Data> = Data extends { last: infer Last } ? Last : Result<NonNullable<Data[keyof Data]>>;

type Result<Field> = Field extends { result: infer Inner } ? ([keyof Field] extends ["result"] ? Inner : Field) : Field;

const KEY = "idempotencyKey";

/**
 * Talks to one daemon. `run` takes any document of operations.ts, `subscribe` a subscription.
 *
 * What may have reached the daemon is sent a second time where that does no harm: what only reads, and what has an
 * idempotency key, which has it count once; a change that takes one is given one. That is where the connection breaks
 * off, and not after the time is up. Errors are those of errors.ts.
 */
export class Helix {
  #address: Address;
  readonly #options: Options;

  constructor(address: Address, options: Options = {}) {
    this.#address = address;
    this.#options = options;
  }

  /** Finds what matters for a question. */
  recall(variables: RecallQueryVariables): Promise<Answer<RecallQuery>> {
    return this.run(RecallDocument, variables);
  }

  /** Remembers something. */
  store(variables: StoreMutationVariables): Promise<Answer<StoreMutation>> {
    return this.run(StoreDocument, variables);
  }

  /** Runs an operation and returns what it answers. */
  async run<Data, Variables>(
    document: Document<Data, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): Promise<Answer<Data>> {
    const keyed = document.text.includes(`$${KEY}:`);
    const given = keyed ? { [KEY]: newKey(), ...known(variables) } : variables;
    const again = kindOf(document) === "query" || keyed;
    const { status, text } = await this.#sent(document, given, again, signal);
    return read<Data>(status, text, kindOf(document) === "mutation");
  }

  /** Yields what a subscription tells, until it ends, the loop is left or `signal` aborts. */
  async *subscribe<Data, Variables>(
    document: Document<Data, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): AsyncGenerator<Answer<Data>, void> {
    const leaving = new AbortController();
    const signals = signal ? [signal, leaving.signal] : [leaving.signal];
    const response = await this.#found(document, variables, "text/event-stream", AbortSignal.any(signals), false);
    try {
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        yield read<Data>(response.status, await response.text());
        return;
      }
      for await (const [kind, data] of events(response)) {
        if (kind === "complete") return;
        if (kind === "next") yield read<Data>(response.status, data);
      }
    } catch (error) {
      throw error instanceof TypeError ? brokenOff(this.#address.url, error) : error;
    } finally {
      leaving.abort();
    }
    throw brokenOff(this.#address.url, "the stream ended");
  }

  async #sent(document: Document<unknown, never>, variables: unknown, again: boolean, signal?: AbortSignal) {
    const timeout = this.#options.timeout ?? 35_000;
    const late = AbortSignal.timeout(timeout);
    const limit = signal ? AbortSignal.any([signal, late]) : late;
    try {
      return await repeated(again, async () => {
        const accept = "application/graphql-response+json, application/json;q=0.9";
        const response = await this.#found(document, variables, accept, limit, again);
        return { status: response.status, text: await response.text() };
      });
    } catch (error) {
      if (late.aborted && !signal?.aborted) {
        const hint = "`helix status` shows whether it is busy; what was asked for may still be carried out";
        const said = `the daemon at ${this.#address.url} did not answer within ${timeout} ms`;
        throw new QueryTimeoutError(said, "TIMEOUT", hint, { cause: error });
      }
      throw error instanceof TypeError ? brokenOff(this.#address.url, error) : error;
    }
  }

  /** Sends a request; where none answers and it may be sent again, the daemon is looked for once more. */
  async #found(
    document: Document<unknown, never>,
    variables: unknown,
    accept: string,
    signal: AbortSignal,
    again: boolean,
  ): Promise<Response> {
    const ask = this.#options.fetch ?? fetch;
    const request = () =>
      ask(`${this.#address.url}/graphql`, {
        method: "POST",
        redirect: "error",
        signal,
        headers: {
          accept,
          "content-type": "application/json",
          ...(this.#address.token ? { authorization: `Bearer ${this.#address.token}` } : {}),
          ...(this.#options.agent ? { "x-helix-agent": this.#options.agent } : {}),
        },
        body: JSON.stringify({ query: document.text, variables }),
      });
    try {
      return await request();
    } catch (error) {
      // A fetch does not say whether what it sent has arrived; only a refused connection is sure not to have.
      if (!this.#options.relocate || !(error instanceof TypeError) || !(again || isRefused(error))) throw error;
      this.#address = await this.#options.relocate();
      return request();
    }
  }
}

async function repeated<T>(again: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!again || !(error instanceof TypeError)) throw error;
    return work();
  }
}

/** Yields the type and the data of each server-sent event. */
async function* events(response: Response): AsyncGenerator<[kind: string, data: string], void> {
  const decoder = new TextDecoder();
  let rest = "";
  let kind = "";
  let data: string[] = [];
  const reader = response.body?.getReader(); // not every browser iterates over a body
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines.map((one) => one.replace(/\r$/, ""))) {
      if (line.startsWith("event:")) kind = line.slice(6).trimStart();
      else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
      else if (line === "") {
        if (kind) yield [kind, data.join("\n")];
        kind = "";
        data = [];
      }
    }
  }
}

/** Returns the one field of an answer; its first error is thrown as the class that its code names. */
function read<Data>(status: number, text: string, payload = false): Answer<Data> {
  let body: { data?: Data | null; errors?: { message: string; extensions?: { code?: string; hint?: string } }[] };
  try {
    body = JSON.parse(text);
  } catch (error) {
    const hint = "another program may have taken its port: `helix stop` and try again";
    throw new DaemonError(`HTTP ${status} and no GraphQL`, "DAEMON", hint, { cause: error });
  }
  const [first] = body.errors ?? [];
  if (first) throw errorFrom(first.extensions?.code ?? "INTERNAL", first.message, first.extensions?.hint);
  if (!body.data) throw new DaemonError(`HTTP ${status} and no data`, "DAEMON");
  const [answer] = Object.values(body.data);
  return (payload ? (answer as { result: unknown }).result : answer) as Answer<Data>;
}

function brokenOff(url: string, cause: unknown): DaemonError {
  const hint = "what was asked for may or may not have been done: look before you send it again";
  return new DaemonError(`the connection to the daemon at ${url} broke off`, "DAEMON", hint, { cause });
}

function isRefused(error: TypeError): boolean {
  const { code, message } = (error.cause ?? {}) as { code?: string; message?: string };
  return code === "ECONNREFUSED" || code === "ENOENT" || /connection refused|no such file/i.test(message ?? ""); // as Node says it, and Deno
}

function kindOf(document: Document<unknown, never>): string | undefined {
  return /^\s*(query|mutation|subscription)\b/m.exec(document.text)?.[1];
}

function known(variables: unknown): object {
  return Object.fromEntries(Object.entries(variables ?? {}).filter(([, value]) => value != null));
}

function newKey(): string {
  return crypto.randomUUID();
}
