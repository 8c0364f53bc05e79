/** Run by tests/api/test_typescript_client.py against a real server: HELIX_URL and HELIX_TOKEN say where it is. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { readFile } from "node:fs/promises";
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
