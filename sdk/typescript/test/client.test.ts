/** Run by tests/api/test_typescript_client.py against a real server: HELIX_URL and HELIX_TOKEN say where it is. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import * as helix from "../src/index.js";
import { connect } from "../src/node.js";

const url = process.env["HELIX_URL"] ?? "";
const token = process.env["HELIX_TOKEN"] ?? "";
const client = new helix.Helix({ url, token });
const lesson = { trigger: "when the queue is full", resolution: "drain it first", kind: "PATTERN" } as const;

test("what was stored is recalled", async () => {
  const stored = await client.store(lesson);
  const { items } = await client.recall({ query: lesson.trigger, kinds: ["PATTERN"], limit: 1 });
  const node = items[0]?.node;
  assert.ok(node?.__typename === "Memory");
  assert.deepEqual([node.id, node.resolution], [stored.id, lesson.resolution]);
});

test("a refusal is thrown as its class, with its code and a hint", async () => {
  const unknown = client.run(helix.GetDocument, { nameOrId: "nothing-of-this-name" });
  await assert.rejects(unknown, (error) => error instanceof helix.NotFoundError && error.code === "NOT_FOUND");
  const stranger = new helix.Helix({ url, token: "wrong" });
  await assert.rejects(stranger.run(helix.StatusDocument, {}), helix.UnauthorizedError);
  const nobody = new helix.Helix({ url: "http://127.0.0.1:1", token });
  await assert.rejects(nobody.run(helix.StatusDocument, {}), helix.DaemonError);
});

/** Fetches, and loses the first answer on its way. */
function losing(bodies: string[]): typeof fetch {
  return async (input, init) => {
    bodies.push(String(init?.body));
    const response = await fetch(input, init);
    if (bodies.length > 1) return response;
    await response.text();
    throw new TypeError("terminated");
  };
}

test("a change whose answer is lost is sent again with its key, and counts once", async () => {
  const bodies: string[] = [];
  const before = await client.run(helix.StatsDocument, {});
  const unlucky = new helix.Helix({ url, token }, { fetch: losing(bodies) });
  await unlucky.store({ ...lesson, trigger: "when an answer is lost on its way" });
  assert.equal(bodies.length, 2);
  assert.equal(bodies[0], bodies[1]);
  assert.equal((await client.run(helix.StatsDocument, {})).total, before.total + 1);
});

test("what only reads is asked again, and a change without a key is not", async () => {
  const read: string[] = [];
  await new helix.Helix({ url, token }, { fetch: losing(read) }).run(helix.HealthDocument, {});
  const changed: string[] = [];
  const flush = new helix.Helix({ url, token }, { fetch: losing(changed) }).run(helix.FlushDocument, {});
  await assert.rejects(flush, /broke off.*may or may not have been done/);
  assert.deepEqual([read.length, changed.length], [2, 1]);
});

test("a daemon that has gone is looked for again", async () => {
  const left = createServer().listen(0, "127.0.0.1");
  await once(left, "listening");
  const { port } = left.address() as AddressInfo;
  left.close();
  const relocate = async () => ({ url, token });
  const moved = new helix.Helix({ url: `http://127.0.0.1:${port}`, token: "old" }, { relocate });
  assert.equal(await moved.run(helix.PauseWorkerDocument, { on: false }), false);
});

test("an answer that does not come in time, and one that is not wanted any more", async () => {
  const impatient = new helix.Helix({ url, token }, { timeout: 1 });
  await assert.rejects(impatient.run(helix.DoctorDocument, {}), helix.QueryTimeoutError);
  await assert.rejects(client.run(helix.DoctorDocument, {}, AbortSignal.abort()), { name: "AbortError" });
});

test("events are told as they happen", async () => {
  const events = client.subscribe(helix.EventsDocument, { types: ["memory.added"] });
  const first = events.next();
  const stored: string[] = [];
  let told: helix.EventFragment | undefined;
  void first.then(({ value }) => (told = value ?? undefined));
  while (!told) stored.push((await client.store({ ...lesson, trigger: `when ${stored.length * 7919} fails` })).id);
  assert.ok(stored.includes(told.id));
  await events.return();
});

test("a subscription ends, and is refused, as its operation is", async () => {
  const job = await client.run(helix.IngestNotesDocument, { paths: [process.env["HELIX_NOTES"] ?? ""], scope: "notes" });
  const states: string[] = [];
  for await (const one of client.subscribe(helix.JobProgressDocument, { id: job.id })) states.push(one.state);
  assert.equal(states.at(-1), "DONE");
  await assert.rejects(client.subscribe(helix.JobProgressDocument, { id: "no-job" }).next(), helix.NotFoundError);
});

test("the daemon of a folder is found, and started where none runs", async () => {
  const place = { store: process.env["HELIX_FOLDER"] ?? "", command: process.env["HELIX_COMMAND"] ?? "" };
  await assert.rejects(connect({ ...place, command: null }), helix.DaemonError);
  const found = await connect(place, { agent: "a-test" });
  const { id } = await found.store(lesson);
  const again = await connect({ ...place, command: null });
  assert.equal((await again.run(helix.GetDocument, { nameOrId: id })).provenance.agent, "a-test");
  const port = JSON.parse(await readFile(join(place.store, "daemon.json"), "utf8")).port as number;
  assert.equal(await again.run(helix.ShutdownDocument, {}), true);
  // Whoever takes the port of a daemon that has gone is told nothing.
  let told = 0;
  const thief = createServer((socket) => void (told += 1, socket.destroy()));
  while (true) {
    thief.listen(port, "127.0.0.1");
    if (await once(thief, "listening").then(() => true, () => false)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await assert.rejects(again.run(helix.GetDocument, { nameOrId: id }), helix.DaemonError);
  assert.equal(told, 0);
  thief.close();
});

/** Asks whoever serves at the socket of a store for something, as `connect` does. */
async function asked(serve: (socket: Socket) => void, work: (client: helix.Helix) => Promise<unknown>): Promise<unknown> {
  const store = await mkdtemp(join(tmpdir(), "helix-"));
  await writeFile(join(store, "daemon.json"), JSON.stringify({ url: "http://127.0.0.1:1", pid: process.pid }));
  await writeFile(join(store, "token"), token);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => serve(socket));
  }).listen(join(store, "socket"));
  await once(server, "listening");
  try {
    return await work(await connect({ store, command: null }, { timeout: 20_000 })).catch((error: unknown) => error);
  } finally {
    server.close();
  }
}

/** Says one thing and ends. */
const says = (text: string) => (socket: Socket) => void socket.end(text);
const body = (text: string) => says(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${text}`);

const strange: [string, (socket: Socket) => void][] = [
  ...["204 No Content", "205 Reset Content", "304 Not Modified", "101 Switching", "999 Odd", "099 Odd"].map(
    (status): [string, (socket: Socket) => void] => [status, says(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`)],
  ),
  ["null", body("null")],
  ["no data", body("{}")],
  ["no answer", body('{"data": {}}')],
  ["no payload", body('{"data": {"store": null}}')],
  ["errors that are none", body('{"errors": "boom"}')],
  ["an error without a message", body('{"errors": [{}]}')],
  ["a type that is none", says("HTTP/1.1 200 OK\r\ncontent-type: \u00ff\u0001\r\n\r\n{}")],
  ["another protocol", says("HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")],
  ["nothing", says("")],
];

for (const [name, serve] of strange) {
  test(`what no daemon answers is a DaemonError: ${name}`, async () => {
    const error = await asked(serve, (client) => client.store(lesson));
    assert.ok(error instanceof helix.DaemonError, String(error));
  });
}

test("an error of a code that is a word of the language is an error", async () => {
  const error = await asked(body('{"errors": [{"message": "x", "extensions": {"code": "constructor"}}]}'), (client) =>
    client.store(lesson),
  );
  assert.ok(error instanceof helix.HelixError && error.message === "x");
});

test("a token is shown to no other machine", async () => {
  for (const elsewhere of ["https://example.org", "http://127.0.0.1@example.org", "http://localhost.example.org", "x"]) {
    assert.throws(() => new helix.Helix({ url: elsewhere, token }), helix.DaemonError);
  }
  for (const here of ["http://localhost:1", "http://[::1]:1"]) new helix.Helix({ url: here, token });
  new helix.Helix({ url: "https://example.org" });
  const relocate = async () => ({ url: "http://example.org", token });
  const lured = new helix.Helix({ url: "http://127.0.0.1:1", token }, { relocate });
  await assert.rejects(lured.run(helix.StatusDocument, {}), /not on this machine/);
});

for (const piece of ["x".repeat(1 << 20), `data: ${"x".repeat(1 << 20)}\n`]) {
  test(`an event without end is read no further: ${piece.slice(0, 4)}`, async () => {
    const endless = (socket: Socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n");
      const more = () => {
        while (!socket.destroyed && socket.write(piece)) {}
      };
      socket.on("drain", more);
      more();
    };
    const error = await asked(endless, (client) => client.subscribe(helix.EventsDocument, {}).next());
    assert.ok(error instanceof helix.DaemonError && /more than/.test(error.message), String(error));
  });
}
