/** Tests of the recording in memory: ids, bounds, readers, and that no secret is read from it. */
import { assert, assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { type Entry, type NewEntry, Recording } from "./mod.ts";

const foo = { resource: "foos.example.dev", kind: "Foo", key: "default/a" };

function note(what: string): NewEntry {
  return { kind: "note", actor: "user", what, causes: [] };
}

test("a Recording numbers its entries, and returns those after an id", () => {
  let now = 1_000;
  const recording = new Recording({ now: () => now++ });
  const first = recording.record(note("one"));
  const second = recording.record({ ...note("two"), causes: [first] });
  assertEquals(recording.entries().map(({ id, at, causes }) => [id, at, causes]), [[1, 1_000, []], [2, 1_001, [1]]]);
  assertEquals(recording.entries(first).map(({ id }) => id), [second]);
  assertEquals([recording.find(second)?.id, recording.find(3), recording.lastId], [2, undefined, 2]);
});

test("a Recording never exceeds its bytes, and drops its oldest entries first", () => {
  const recording = new Recording({ now: () => 0, maxBytes: 64 * 1024 });
  for (let index = 0; index < 20_000; index++) {
    recording.record(note("x".repeat(index % 997)));
    assert(recording.bytes <= 64 * 1024);
  }
  const entries = recording.entries();
  assertEquals(entries.at(-1)?.id, 20_000);
  assertEquals(entries.map(({ id }) => id), entries.map((_, index) => entries[0]!.id + index));
  assertEquals(recording.dropped + recording.size, 20_000);
  assert(recording.size > 50);
  assertEquals(recording.find(1), undefined);
  recording.record(note("y".repeat(100_000)));
  assertEquals([recording.size, recording.lastId], [entries.length, 20_001]);
});

test("a Recording of 0 bytes keeps nothing, and gives its sink everything", () => {
  const written: Entry[] = [];
  const sink = { keepsStates: true, write: (entry: Entry) => void written.push(entry) };
  const recording = new Recording({ now: () => 5, maxBytes: 0, sink });
  recording.record({
    kind: "change",
    via: "list",
    change: "added",
    isInitial: true,
    causes: [],
    object: foo,
    state: { a: 1 },
  });
  assertEquals([recording.entries(), recording.bytes, written.length], [[], 0, 1]);
  assertThrows(() => new Recording({ now: () => 0, maxBytes: -1 }), /maxBytes -1/);
});

test("memory has neither whole objects nor the objects of an initial list", () => {
  const recording = new Recording({ now: () => 0 });
  const change = {
    kind: "change",
    via: "watch",
    change: "added",
    causes: [],
    object: foo,
    state: { large: 1 },
  } as const;
  recording.record(change);
  recording.record({ ...change, isInitial: true });
  assertEquals(recording.entries().map((entry) => [entry.id, "state" in entry]), [[1, false]]);
});

test("a subscriber gets each new entry until it leaves, and may leave while it is called", () => {
  const recording = new Recording({ now: () => 0 });
  const seen: number[] = [];
  const subscription: Disposable = recording.subscribe(({ id }) => {
    seen.push(id);
    if (id === 2) subscription[Symbol.dispose]();
  });
  for (const what of ["one", "two", "three"]) recording.record(note(what));
  assertEquals(seen, [1, 2]);
});

test("a sink that fails is reported once and left out", () => {
  const errors: unknown[] = [];
  let calls = 0;
  const sink = {
    keepsStates: false,
    write: () => {
      calls++;
      throw new Error("disk full");
    },
  };
  const recording = new Recording({ now: () => 0, sink, onSinkFailure: (error) => errors.push(error) });
  recording.record(note("one"));
  recording.record(note("two"));
  assertEquals([calls, errors.length, recording.size], [1, 1, 2]);
});

test("no secret is read from a recording, wherever it was", () => {
  const canary = "cAnArY7f3a9b";
  const token = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ${canary}In0.${"s".repeat(43)}`;
  const written: Entry[] = [];
  const sink = { keepsStates: true, write: (entry: Entry) => void written.push(entry) };
  const recording = new Recording({ now: () => 0, sink });
  const secret = { resource: "secrets", kind: "Secret", key: "default/s" };
  const metadata = {
    name: "s",
    annotations: { copy: canary, "kubectl.kubernetes.io/last-applied-configuration": canary },
  };
  const secretState = {
    apiVersion: "v1",
    kind: "Secret",
    metadata,
    data: { key: canary },
    stringData: { key: canary },
  };
  const pod = {
    metadata: {
      name: "p",
      managedFields: [{
        manager: "user",
        fieldsV1: { "f:spec": { "f:password": { ".": {}, [`v:"${canary}"`]: {} } } },
      }],
    },
    spec: {
      containers: [{ name: "app", env: [{ name: "API_TOKEN", value: canary }], args: [`--token=${canary}`] }],
      password: canary,
      text: `Authorization: Bearer ${token}`,
    },
  };
  const answer = { kind: "stored" } as const;
  const write = { kind: "write", causes: [], verb: "patch", answer, durationMs: 1 } as const;
  const change = { kind: "change", via: "watch", change: "updated", causes: [] } as const;
  const entries: readonly NewEntry[] = [
    { ...change, object: secret, state: secretState },
    {
      ...change,
      object: foo,
      state: pod as never,
      fields: [{ path: "spec.a", from: `Bearer ${token}`, to: { password: canary } }],
    },
    { ...write, object: secret, bodyText: JSON.stringify(secretState) },
    { ...write, object: secret, bodyText: JSON.stringify([{ op: "add", path: "/data/key", value: canary }]) },
    { ...write, object: foo, bodyText: JSON.stringify(pod), state: pod as never },
    { ...write, object: foo, bodyText: JSON.stringify([{ op: "replace", path: "/spec/password", value: canary }]) },
    { ...write, object: foo, bodyText: JSON.stringify([{ op: "add", path: "/spec/env/0/value", value: canary }]) },
    { ...write, object: foo, bodyText: `not JSON ${canary}` },
    { ...write, object: foo, answer: { kind: "failed", message: `Authorization: Bearer ${token}` } },
    { kind: "reconcile-end", causes: [], outcome: "failed", durationMs: 1, error: `password=${canary}` },
    { kind: "event", causes: [], type: "Normal", reason: "R", note: `Bearer ${token}`, object: foo },
    { kind: "error", causes: [], what: "w", error: `token: ${token}` },
    { kind: "queue", causes: [], decision: "parked", reason: `Bearer ${token}` },
    { ...note(`Bearer ${token}`), kind: "note", actor: "user", what: "w", detail: `Bearer ${token}` } as NewEntry,
  ];
  const live: Entry[] = [];
  using _live = recording.subscribe((entry) => live.push(entry));
  for (const entry of entries) recording.record(entry);
  assertEquals([written.length, live.length, recording.size], [entries.length, entries.length, entries.length]);
  for (const read of [written, live, recording.entries()]) {
    for (const entry of read) assert(!JSON.stringify(entry).includes(canary), JSON.stringify(entry));
  }
  const [first] = written;
  assertEquals(first?.kind === "change" && first.state, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s", annotations: { copy: "[masked]" } },
  });
});
