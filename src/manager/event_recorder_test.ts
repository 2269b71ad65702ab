import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { KubeObject } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import type { EventNote } from "../controller/mod.ts";
import { logger } from "../observe/mod.ts";
import { EventRecorder } from "./event_recorder.ts";

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface TestRecorder extends AsyncDisposable {
  readonly recorder: EventRecorder;
  readonly clock: VirtualClock;
  readonly sent: readonly Sent[];
  stop(): Promise<void>;
  kill(): void;
}

type Respond = (sent: Sent, attempt: number) => Response | Error;

const storeEvent: Respond = ({ path, body }) => {
  const [, namespace, name] = /\/namespaces\/([^/]+)\/events\/?(.*)$/.exec(path) ?? [];
  return Response.json({ apiVersion: "events.k8s.io/v1", kind: "Event", metadata: { namespace, name }, ...body });
};

/** A recorder in front of the API server `respond`. */
function startRecorder(respond: Respond = storeEvent): TestRecorder {
  const sent: Sent[] = [];
  const client = new Client(async (request) => {
    const one = { method: request.method, path: new URL(request.url).pathname, body: await request.json() };
    sent.push(one);
    const response = respond(one, sent.length);
    if (response instanceof Error) throw response;
    return response;
  });
  const clock = new VirtualClock();
  const recorder = new EventRecorder({
    client,
    reportingController: "test/foo",
    reportingInstance: "host-1",
    clock,
    random: seededRandom(1),
    log: logger("test"),
  });
  const stop = new AbortController();
  const kill = new AbortController();
  const running = recorder.run(stop.signal, kill.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  return { recorder, clock, sent, stop: end, kill: () => kill.abort(), [Symbol.asyncDispose]: end };
}

/** Lets the recorder run until it has sent this number of requests. */
async function requests(b: TestRecorder, count: number): Promise<void> {
  for (let turn = 0; turn < 1000 && b.sent.length < count; turn++) await drain();
  assertEquals(b.sent.length, count);
}

function foo(name: string): KubeObject {
  return { apiVersion: "example.dev/v1", kind: "Foo", metadata: { name, namespace: "shop", uid: `uid-${name}` } };
}

function note(name: string, text = "it works"): EventNote {
  return { regarding: foo(name), type: "Normal", reason: "Synced", note: text };
}

test("an Event has the note, the object and the reporter", async () => {
  await using b = startRecorder();
  b.recorder.record(note("a"));
  await b.stop();
  assertEquals(b.sent.length, 1);
  const { method, path, body } = b.sent[0] ?? { method: "", path: "", body: {} };
  assertEquals([method, path], ["POST", "/apis/events.k8s.io/v1/namespaces/shop/events"]);
  assertEquals(body["regarding"], {
    apiVersion: "example.dev/v1",
    kind: "Foo",
    name: "a",
    namespace: "shop",
    uid: "uid-a",
  });
  assertEquals([body["type"], body["reason"], body["note"], body["action"]], [
    "Normal",
    "Synced",
    "it works",
    "Reconcile",
  ]);
  assertEquals([body["reportingController"], body["reportingInstance"]], ["test/foo", "host-1"]);
  assertMatch(String(body["eventTime"]), /^2026-01-01T00:00:00\.000000Z$/);
});

test("[55] the same note again increases the count of the existing Event", async () => {
  await using b = startRecorder();
  b.recorder.record(note("a"));
  await requests(b, 1);
  b.recorder.record(note("a"));
  await requests(b, 2);
  b.recorder.record(note("a"));
  await b.stop();
  assertEquals(b.sent.map((one) => one.method), ["POST", "PATCH", "PATCH"]);
  assertEquals(b.sent.slice(1).map((one) => (one.body["series"] as { count: number }).count), [2, 3]);
});

test("[55] after six minutes the same note is a new Event", async () => {
  await using b = startRecorder();
  b.recorder.record(note("a"));
  await b.clock.advance(6 * 60_000);
  b.recorder.record(note("a"));
  await b.stop();
  assertEquals(b.sent.map((one) => one.method), ["POST", "POST"]);
});

/** The note or the count in each request. */
function notesAndCounts(b: TestRecorder): readonly unknown[] {
  return b.sent.map(({ body }) => body["note"] ?? (body["series"] as { count: number }).count);
}

test("[55] ten notes that differ only in their text become one Event with a count", async () => {
  await using b = startRecorder();
  for (let count = 1; count <= 12; count++) {
    b.recorder.record(note("a", `cannot reach 10.0.0.${count}`));
    await requests(b, count);
  }
  const apart = Array.from({ length: 9 }, (_, index) => `cannot reach 10.0.0.${index + 1}`);
  assertEquals(notesAndCounts(b), [...apart, "(combined from similar events): cannot reach 10.0.0.10", 2, 3]);
  assertEquals(new Set(b.sent.slice(10).map((one) => one.path)).size, 1);
});

test("[55] notes with another reason, type, action or object are not combined", async () => {
  await using b = startRecorder();
  for (let count = 0; count < 9; count++) b.recorder.record(note("a", `note ${count}`));
  b.recorder.record({ ...note("a"), reason: "Other" });
  b.recorder.record({ ...note("a"), type: "Warning" });
  b.recorder.record({ ...note("a"), action: "Delete" });
  b.recorder.record({ ...note("a"), regarding: { ...foo("a"), kind: "Bar" } });
  b.recorder.record(note("b"));
  await b.stop();
  assertEquals(notesAndCounts(b).slice(9), Array.from({ length: 5 }, () => "it works"));
});

test("[55] the same note ten times is one text and increases one count", async () => {
  await using b = startRecorder();
  for (let count = 1; count <= 11; count++) {
    b.recorder.record(note("a"));
    await requests(b, count);
  }
  await b.stop();
  assertEquals(notesAndCounts(b), ["it works", 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test("[55] similar notes are combined while none comes more than 600 s after the one before", async () => {
  await using b = startRecorder();
  for (let count = 0; count < 9; count++) b.recorder.record(note("a", `note ${count}`));
  await b.clock.advance(600_000);
  b.recorder.record(note("a", "in time"));
  await b.clock.advance(600_001);
  b.recorder.record(note("a", "too late"));
  await b.stop();
  assertEquals(notesAndCounts(b).slice(9), ["(combined from similar events): in time", "too late"]);
});

test("[55] the next accepted Event has the count of those that the spam filter rejected", async () => {
  await using b = startRecorder();
  for (let count = 1; count <= 25; count++) {
    b.recorder.record(note("a"));
    await requests(b, count);
  }
  for (let count = 0; count < 75; count++) b.recorder.record(note("a"));
  await b.clock.advance(300_000);
  b.recorder.record(note("a"));
  await b.stop();
  assertEquals([b.sent.length, notesAndCounts(b).at(-1), b.recorder.dropped], [26, 101, 75]);
});

test("[56] one object gets 25 Events at once, then one per 300 s; another object is not affected", async () => {
  await using b = startRecorder();
  for (let count = 0; count < 40; count++) b.recorder.record({ ...note("a"), reason: `Reason${count}` });
  b.recorder.record(note("b"));
  const about = (name: string) => b.sent.filter((one) => (one.body["regarding"] as { name: string }).name === name);
  await requests(b, 26);
  assertEquals([about("a").length, about("b").length, b.recorder.dropped], [25, 1, 15]);
  await b.clock.advance(300_000);
  b.recorder.record(note("a", "later"));
  b.recorder.record(note("a", "too soon"));
  await b.stop();
  assertEquals(about("a").length, 26);
});

test("[56] while the server is unreachable, record() does not wait and the queue has a limit", async () => {
  await using b = startRecorder(() => new Error("connection refused"));
  for (let count = 0; count < 3000; count++) b.recorder.record(note(`a${count}`));
  assert(b.recorder.dropped >= 1900, `dropped ${b.recorder.dropped}`);
  b.kill();
  await b.stop();
});

test("[57] an error response is final, a failed connection is tried 12 times", async () => {
  const rejected = Response.json({ kind: "Status", code: 403, reason: "Forbidden" }, { status: 403 });
  await using forbidden = startRecorder(() => rejected.clone());
  forbidden.recorder.record(note("a"));
  await forbidden.stop();
  assertEquals(forbidden.sent.length, 1);

  await using broken = startRecorder(() => new Error("connection refused"));
  broken.recorder.record(note("a"));
  await broken.clock.advance(12 * 20_000);
  assertEquals(broken.sent.length, 12);
});

test("[57] the count of an expired Event is written to a new Event", async () => {
  const gone = () => Response.json({ kind: "Status", code: 404, reason: "NotFound" }, { status: 404 });
  let patches = 0;
  await using b = startRecorder((sent, attempt) =>
    sent.method === "PATCH" && patches++ === 0 ? gone() : storeEvent(sent, attempt)
  );
  b.recorder.record(note("a"));
  await requests(b, 1);
  b.recorder.record(note("a"));
  await b.stop();
  assertEquals(b.sent.map((one) => one.method), ["POST", "PATCH", "POST", "PATCH"]);
});

test("[57] everything recorded before the stop is sent before run() returns", async () => {
  await using b = startRecorder();
  for (let count = 0; count < 20; count++) b.recorder.record(note(`a${count}`));
  await b.stop();
  assertEquals(b.sent.length, 20);
});

test("a note longer than 1 KiB is truncated between characters", async () => {
  await using b = startRecorder();
  b.recorder.record(note("a", "ä".repeat(600)));
  await b.stop();
  const text = String(b.sent[0]?.body["note"]);
  assert(new TextEncoder().encode(text).length <= 1024);
  assertMatch(text, /^ä+…$/);
});

test("the names of Events do not depend on other processes, and are unique in one process", async () => {
  const names: string[][] = [];
  for (let process = 0; process < 2; process++) {
    await using b = startRecorder();
    for (const reason of ["One", "Other"]) b.recorder.record({ ...note("a"), reason });
    await requests(b, 2);
    names.push(b.sent.map(({ body }) => JSON.stringify(body["metadata"])));
  }
  assertEquals(names[0], names[1]);
  assert(names[0]?.[0] !== names[0]?.[1]);
});
