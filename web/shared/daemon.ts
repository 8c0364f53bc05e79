/**
 * Proves that the daemon still listens where a page came from, and finds it again after it was started anew.
 *
 * Once a daemon has ended, another user of the machine may take its port. So a page asks for nothing there before whoever
 * listens has shown the key that the page got while it was loaded; helix/api/handover.py has the other side.
 */

interface Own {
  page: string;
  port: number;
  key: CryptoKey;
}
/** What this page was given; `null` where a server gives none, which nobody else can take the place of. */
type Known = Own | null;

const PATIENCE = 5_000; // milliseconds
const text = new TextEncoder();
const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Asked once, while this page is loaded: a failure stands until it is loaded again. */
const known: Promise<Known> = introduced();
known.catch(() => undefined); // whoever asks is told

async function introduced(): Promise<Known> {
  const answer = await fetch("/page");
  if (answer.status === 404) return null;
  if (!answer.ok) throw new TypeError("the daemon does not know this page");
  const { page, port, key } = (await answer.json()) as { page: string; port: number; key: string };
  const hmac = { name: "HMAC", hash: "SHA-512" };
  return { page, port, key: await crypto.subtle.importKey("raw", bytesOf(key), hmac, false, ["sign", "verify"]) };
}

/** Asks whoever listens where this page came from, without the cookie that lets it in. */
async function question(own: Own, path: string, signal?: AbortSignal | null) {
  const nonce = hexOf(crypto.getRandomValues(new Uint8Array(24)));
  const asked = new URLSearchParams({ page: own.page, nonce });
  const late = AbortSignal.timeout(PATIENCE); // who listens there now may say nothing
  const until = signal ? AbortSignal.any([signal, late]) : late;
  const answer = await fetch(`${path}?${asked.toString()}`, { signal: until, credentials: "omit" });
  const told: unknown = answer.ok ? await answer.json().catch(() => null) : null;
  const proves = (proof: unknown, words: string) =>
    crypto.subtle.verify("HMAC", own.key, bytesOf(String(proof)), text.encode(words));
  return { nonce, told: told as Record<string, unknown> | null, proves };
}

let asking: Promise<boolean> | null = null;

/** Returns whether the daemon of this page listens there now; throws a TypeError where nobody does. */
export function isDaemon(): Promise<boolean> {
  asking ??= proven().finally(() => (asking = null));
  return asking;
}

async function proven(): Promise<boolean> {
  const own = await known;
  if (!own) return true;
  const { nonce, told, proves } = await question(own, "/alive");
  return told !== null && proves(told.proof, `alive ${nonce} ${own.port}`);
}

/** Says that something else listens where the daemon did. */
export class NotTheDaemon extends TypeError {}

/** Fetches from the daemon of this page, and from nobody else; throws a TypeError where it does not listen. */
export const fromDaemon: typeof fetch = async (input, init) => {
  if (!(await isDaemon())) throw new NotTheDaemon("another program listens where the daemon was");
  return fetch(input, init);
};

/** Asks whoever listens where the daemon was where it is now, and goes there if the answer is the daemon's. */
export async function follow(signal: AbortSignal): Promise<boolean> {
  const own = await known.catch(() => null);
  if (!own) return false;
  const { nonce, told, proves } = await question(own, "/moved", signal);
  if (!told) return false;
  const [port, salt, sealed] = [String(told.port), String(told.salt), String(told.sealed)];
  if (!(await proves(told.proof, `port ${nonce} ${port} ${salt} ${sealed}`))) return false;
  const pad = new Uint8Array(await crypto.subtle.sign("HMAC", own.key, text.encode(`link ${nonce} ${salt}`)));
  const link = String.fromCharCode(...bytesOf(sealed).map((byte, place) => byte ^ (pad[place] ?? 0)));
  const view = new URLSearchParams({ view: window.location.pathname + window.location.search });
  window.location.replace(`http://${window.location.hostname}:${port}/open/${link}?${view.toString()}`);
  return true;
}
