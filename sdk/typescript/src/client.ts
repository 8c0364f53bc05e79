import type { Document } from "./document.js";
import { DaemonError, errorFrom, QueryTimeoutError } from "./errors.js";
import type { HelixError } from "./errors.js";
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
/** Hosts that are this machine and no other. */
const LOOPBACK = ["127.0.0.1", "[::1]", "localhost"];
/** Bytes of the largest answer that is read, several times what a daemon ever says, and characters of the largest event. */
const MOST_ANSWER = 256 << 20;
const MOST_EVENT = 8 << 20;

/**
 * Talks to one daemon. `run` takes any document of operations.ts, `subscribe` a subscription.
 *
 * What may have reached the daemon is sent a second time where that does no harm: what only reads, and what has an
 * idempotency key, which has it count once; a change that takes one is given one. That is where the connection breaks
 * off, and not after the time is up. Errors are those of errors.ts. A token is shown to this machine's daemon alone: with
 * one, an address of another machine is a DaemonError.
 */
export class Helix {
  #address: Address;
  readonly #options: Options;

  constructor(address: Address, options: Options = {}) {
    this.#address = local(address);
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
        yield read<Data>(response.status, await textOf(response));
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
        return { status: response.status, text: await textOf(response) };
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
      this.#address = local(await this.#options.relocate());
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
  let rest = "";
  let kind = "";
  let data: string[] = [];
  let size = 0;
  for await (const part of parts(response)) {
    const lines = part.split("\n");
    lines[0] = rest + lines[0]; // not looked through anew with each part that comes
    rest = lines.pop() ?? "";
    for (const line of lines.map((one) => one.replace(/\r$/, ""))) {
      if (line.startsWith("event:")) kind = line.slice(6).trimStart();
      else if (line.startsWith("data:")) size += data.push(line.slice(5).trimStart()) && line.length;
      else if (line === "") {
        if (kind) yield [kind, data.join("\n")];
        kind = "";
        data = [];
        size = 0;
      }
    }
    if (size + rest.length > MOST_EVENT) throw tooMuch(MOST_EVENT);
  }
}

/** Yields the text of a body as it comes. */
async function* parts(response: Response): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader(); // not every browser iterates over a body
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      yield decoder.decode(part.value, { stream: true });
    }
  } finally {
    void reader?.cancel().catch(() => undefined); // of what broke off there is nothing to let go of
  }
}

async function textOf(response: Response): Promise<string> {
  const found: string[] = [];
  let size = 0;
  for await (const part of parts(response)) {
    size += found.push(part) && part.length;
    if (size > MOST_ANSWER) throw tooMuch(MOST_ANSWER);
  }
  return found.join("");
}

/** Returns an address whose token may be shown there. */
function local(address: Address): Address {
  if (address.token && !(URL.canParse(address.url) && LOOPBACK.includes(new URL(address.url).hostname))) {
    const hint = "a token is shown to this machine's daemon alone";
    throw new DaemonError(`${address.url} is not on this machine`, "DAEMON", hint);
  }
  return address;
}

/** Returns the one field of an answer; its first error is thrown as the class that its code names. */
function read<Data>(status: number, text: string, payload = false): Answer<Data> {
  let answer: unknown;
  let failed: HelixError | undefined;
  try {
    const body = JSON.parse(text);
    if (body.errors?.length) failed = told(body.errors[0]);
    else [answer] = Object.values(body.data);
    if (payload && !failed) answer = (answer as { result: unknown }).result;
  } catch (error) {
    const hint = "another program may have taken its port: `helix stop` and try again";
    throw new DaemonError(`HTTP ${status} and no GraphQL`, "DAEMON", hint, { cause: error });
  }
  if (failed) throw failed;
  return answer as Answer<Data>;
}

function told({ message, extensions }: { message: unknown; extensions?: { code?: unknown; hint?: unknown } }): HelixError {
  if (typeof message !== "string") throw new TypeError("an error without a message");
  const { code, hint } = extensions ?? {};
  return errorFrom(typeof code === "string" ? code : "INTERNAL", message, typeof hint === "string" ? hint : undefined);
}

function tooMuch(most: number): DaemonError {
  return new DaemonError(`the daemon answers with more than ${most} bytes`, "DAEMON", "another program may have its port");
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
