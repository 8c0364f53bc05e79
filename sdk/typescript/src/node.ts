/** Finds the daemon of this machine's store; for Node and what is like it. The rest of the package needs none of this. */
import { execFile } from "node:child_process";
import { openSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { request } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import { platform } from "node:process";
import { promisify } from "node:util";

import { Helix } from "./client.js";
import type { Address, Options } from "./client.js";
import { DaemonError } from "./errors.js";

export interface Place {
  /** The folder of the store; by default that of HELIX_DB_PATH, else `store` in HELIX_HOME, else in `~/.helix`. */
  store?: string;
  /** The command that starts a daemon where none runs, `helix` by default; null starts none. */
  command?: string | null;
}

/**
 * Returns a client of the store's daemon, which is started when none runs.
 *
 * It asks by the socket in the store's folder, which is this user's alone: once a daemon has gone, anybody may listen at
 * its port, and would be told the token. Windows has no such socket.
 */
export async function connect(place: Place = {}, options: Options = {}): Promise<Helix> {
  const locate = () => started(place);
  const agent = options.agent ?? agentOf(process.env);
  const way = platform === "win32" ? {} : { fetch: bySocket(place.store ?? storeOf(process.env)) };
  return new Helix(await locate(), { relocate: locate, ...way, ...options, ...(agent ? { agent } : {}) });
}

/** Returns a `fetch` that asks whoever listens at a store's socket, whatever the host and the port of an address. */
function bySocket(store: string): typeof fetch {
  return (address, init = {}) =>
    new Promise((resolve, reject) => {
      const { host, pathname } = new URL(String(address));
      const headers = { ...(init.headers as Record<string, string>), host };
      const signal = init.signal ?? undefined;
      const asked = request({ socketPath: socketOf(store), method: init.method ?? "GET", path: pathname, headers });
      const failed = (error: unknown) => signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause: error });
      const leave = () => void asked.destroy();
      signal?.addEventListener("abort", leave, { once: true });
      asked.on("close", () => {
        signal?.removeEventListener("abort", leave);
        reject(failed(new Error("it was closed without an answer"))); // such as one that speaks another protocol from now on
      });
      asked.on("error", (error) => reject(failed(error)));
      asked.on("response", (answer) => {
        const body = new ReadableStream<Uint8Array>({
          start(stream) {
            answer.on("data", (chunk: Uint8Array) => {
              stream.enqueue(new Uint8Array(chunk));
              if ((stream.desiredSize ?? 0) <= 0) answer.pause();
            });
            answer.on("end", () => stream.close());
            answer.on("error", (error) => stream.error(failed(error)));
          },
          pull: () => void answer.resume(),
          cancel: leave,
        });
        const type = answer.headers["content-type"] ?? "";
        const status = answer.statusCode ?? 500;
        try {
          resolve(new Response(WITHOUT_BODY.includes(status) ? null : body, { status, headers: { "content-type": type } }));
        } catch (error) {
          reject(failed(error)); // a status or a type that none has
          leave();
        }
      });
      if (signal?.aborted) leave();
      asked.end(init.body as string);
    });
}

/** Statuses of answers that say no more. */
const WITHOUT_BODY = [204, 205, 304];

const folders = new Map<string, number>();

/** Returns the path of a store's socket; of one that is too long for a socket, by a descriptor of the folder. */
function socketOf(store: string): string {
  const path = join(store, "socket");
  if (Buffer.byteLength(path) <= 100 || platform !== "linux") return path;
  if (!folders.has(store)) folders.set(store, openSync(store, "r"));
  return `/proc/self/fd/${folders.get(store)}/socket`;
}

async function started({ store = storeOf(process.env), command = "helix" }: Place): Promise<Address> {
  const found = await find(store);
  if (found) return found;
  if (command) await promisify(execFile)(command, ["--store", store, "stats"]);
  const now = await find(store);
  if (!now) throw new DaemonError(`no daemon serves ${store}`, "DAEMON", "`helix stats` starts one");
  return now;
}

/** Returns where the store's daemon answers, if the process that it says it is runs and is this user's. */
async function find(store: string): Promise<Address | undefined> {
  try {
    const { url, pid } = JSON.parse(await readFile(join(store, "daemon.json"), "utf8")) as { url: string; pid: number };
    const local = ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
    const mine = process.getuid === undefined || (await stat(store)).uid === process.getuid();
    process.kill(pid, 0); // throws where there is no such process, or it is another user's
    return local && mine ? { url, token: (await readFile(join(store, "token"), "utf8")).trim() } : undefined;
  } catch {
    return undefined;
  }
}

function storeOf(environ: NodeJS.ProcessEnv): string {
  return environ["HELIX_DB_PATH"] || join(environ["HELIX_HOME"] || join(homedir(), ".helix"), "store");
}

/** Variables that agents' clients set for what they run, and the agent that each is a mark of; helix/model/speaker.py. */
const MARKS: Record<string, string> = {
  CLAUDECODE: "claude-code",
  CLAUDE_CODE: "claude-code",
  CLAUDE_CODE_SESSION_ID: "claude-code",
  CLAUDE_CODE_ENTRYPOINT: "claude-code",
  CODEX_SANDBOX: "codex",
  CODEX_SANDBOX_NETWORK_DISABLED: "codex",
  CODEX_THREAD_ID: "codex",
  CODEX_CI: "codex",
  GEMINI_CLI: "gemini-cli",
  QWEN_CODE: "qwen-code",
  CURSOR_AGENT: "cursor",
  OPENCODE: "opencode",
  OPENCODE_CLIENT: "opencode",
  AUGMENT_AGENT: "augment",
  ANTIGRAVITY_AGENT: "antigravity",
  CLINE_ACTIVE: "cline",
  GOOSE_TERMINAL: "goose",
  COPILOT_CLI: "copilot",
  AMP_CURRENT_THREAD_ID: "amp",
};

function agentOf(environ: NodeJS.ProcessEnv): string {
  if (environ["CURSOR_EXTENSION_HOST_ROLE"] === "agent-exec") return "cursor";
  return Object.entries(MARKS).find(([mark]) => environ[mark])?.[1] ?? environ["AI_AGENT"] ?? "";
}
