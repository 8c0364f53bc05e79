/** Finds the daemon again after it was started anew: it has another port then, and helix/api/handover.py says how. */

let own: { page: string; key: CryptoKey } | null = null;

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const hexOf = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Asks the daemon, which knows this page now, for a key; it stays in this page's memory. */
export async function introduce(signal: AbortSignal): Promise<void> {
  if (own) return;
  const answer = await fetch("/page", { signal });
  if (!answer.ok) return;
  const { page, key } = (await answer.json()) as { page: string; key: string };
  own = { page, key: await crypto.subtle.importKey("raw", bytesOf(key), { name: "HMAC", hash: "SHA-512" }, false, ["sign", "verify"]) };
}

/** Asks whoever listens where the daemon was where it is now, and goes there if the answer is the daemon's. */
export async function follow(signal: AbortSignal): Promise<boolean> {
  if (!own) return false;
  const nonce = hexOf(crypto.getRandomValues(new Uint8Array(24)));
  const asked = new URLSearchParams({ page: own.page, nonce });
  const answer = await fetch(`/moved?${asked.toString()}`, { signal, credentials: "omit" });
  if (!answer.ok) return false;
  const { port, salt, sealed, proof } = (await answer.json()) as { port: number; salt: string; sealed: string; proof: string };
  const text = new TextEncoder();
  if (!(await crypto.subtle.verify("HMAC", own.key, bytesOf(proof), text.encode(`port ${nonce} ${port} ${salt} ${sealed}`)))) return false;
  const pad = new Uint8Array(await crypto.subtle.sign("HMAC", own.key, text.encode(`link ${nonce} ${salt}`)));
  const link = String.fromCharCode(...bytesOf(sealed).map((byte, place) => byte ^ (pad[place] ?? 0)));
  const view = new URLSearchParams({ view: window.location.pathname + window.location.search });
  window.location.replace(`http://${window.location.hostname}:${port}/open/${link}?${view.toString()}`);
  return true;
}
