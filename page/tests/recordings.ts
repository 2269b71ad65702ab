/** Recordings for the tests of the page, as the lines of a file. */
import type { Entry, EntryId } from "../../src/observe/recording/entries.ts";

const foo = { resource: "foos.samplecontroller.k8s.io", kind: "Foo" } as const;
const deployment = { resource: "deployments.apps", kind: "Deployment" } as const;
const start = Date.UTC(2026, 10, 23, 9, 12);

/** An entry without what the builder adds. */
type NewEntry = Entry extends infer E
  ? E extends Entry ? Omit<E, "id" | "causes"> & { readonly causes?: readonly EntryId[] } : never
  : never;

/** Adds entries to the lines of a file. */
class Lines {
  readonly #lines: string[] = [];
  #id = 0;

  constructor() {
    const header = {
      pintleRecording: 1,
      operator: "controller",
      version: "0.1.0",
      controllers: ["foo"],
      startedAt: start,
    };
    this.#lines.push(JSON.stringify(header));
  }

  add(entry: NewEntry): EntryId {
    this.#id++;
    this.#lines.push(JSON.stringify({ id: this.#id, causes: [], ...entry }));
    return this.#id;
  }

  toString(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

function fooState(key: string, replicas: number) {
  const [namespace = "", name = ""] = key.split("/");
  return {
    apiVersion: "samplecontroller.k8s.io/v1alpha1",
    kind: "Foo",
    metadata: { namespace, name, uid: `foo-${key}` },
    spec: { deploymentName: name, replicas },
  };
}

function deploymentState(key: string, replicas: number, isAvailable: boolean) {
  const [namespace = "", name = ""] = key.split("/");
  const status = isAvailable ? "True" : "False";
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace,
      name,
      uid: `deployment-${key}`,
      ownerReferences: [{ apiVersion: "v1", kind: "Foo", name, uid: `foo-${key}`, controller: true }],
    },
    spec: { replicas },
    status: {
      conditions: [{ type: "Available", status, reason: isAvailable ? "AsDesired" : "MinimumReplicasUnavailable" }],
    },
  };
}

/** A Foo that is created, and the Deployment that its controller makes. */
function created(lines: Lines, key: string, at: number): void {
  const object = { ...foo, key };
  const dependent = { ...deployment, key };
  const change = lines.add({
    kind: "change",
    at,
    via: "watch",
    change: "added",
    object,
    resourceVersion: `${at}`,
    by: [{ manager: "kubectl-create", operation: "Update" }],
    state: fooState(key, 2),
  });
  const enqueue = lines.add({
    kind: "enqueue",
    at,
    controller: "foo",
    key,
    object,
    role: "for",
    decision: "queued",
    causes: [change],
  });
  const begin = lines.add({
    kind: "reconcile-start",
    at: at + 3,
    controller: "foo",
    key,
    waitedMs: 3,
    priority: 0,
    retries: 0,
    causes: [enqueue],
  });
  const write = lines.add({
    kind: "write",
    at: at + 9,
    controller: "foo",
    key,
    verb: "apply",
    object: dependent,
    fieldManager: "foo",
    contentType: "application/apply-patch+yaml",
    body: { spec: { replicas: 2 } },
    answer: { kind: "stored", resourceVersion: `${at}1` },
    durationMs: 6,
    causes: [begin],
    state: deploymentState(key, 2, true),
  });
  lines.add({
    kind: "change",
    at: at + 9,
    via: "response",
    change: "added",
    object: dependent,
    resourceVersion: `${at}1`,
    causes: [write],
    state: deploymentState(key, 2, true),
  });
  lines.add({
    kind: "reconcile-end",
    at: at + 12,
    controller: "foo",
    key,
    outcome: "done",
    durationMs: 9,
    causes: [begin],
  });
}

/** Somebody scales the Deployment of a Foo, and the controller scales it back. */
function edited(lines: Lines, key: string, at: number): void {
  const dependent = { ...deployment, key };
  const change = lines.add({
    kind: "change",
    at,
    via: "watch",
    change: "updated",
    object: dependent,
    resourceVersion: `${at}`,
    oldVersion: `${at - 1}`,
    fields: [{ path: "spec.replicas", from: 2, to: 5 }],
    by: [{ manager: "kubectl-edit", operation: "Update" }],
    state: deploymentState(key, 5, false),
  });
  const enqueue = lines.add({
    kind: "enqueue",
    at,
    controller: "foo",
    key,
    object: dependent,
    role: "owns",
    decision: "queued",
    causes: [change],
  });
  const begin = lines.add({
    kind: "reconcile-start",
    at: at + 3,
    controller: "foo",
    key,
    waitedMs: 3,
    priority: 0,
    retries: 0,
    causes: [enqueue],
  });
  const write = lines.add({
    kind: "write",
    at: at + 10,
    controller: "foo",
    key,
    verb: "apply",
    object: dependent,
    fieldManager: "foo",
    body: { spec: { replicas: 2 } },
    answer: { kind: "stored", resourceVersion: `${at}2` },
    durationMs: 7,
    causes: [begin],
  });
  lines.add({
    kind: "change",
    at: at + 10,
    via: "response",
    change: "updated",
    object: dependent,
    resourceVersion: `${at}2`,
    fields: [{ path: "spec.replicas", from: 5, to: 2 }],
    causes: [write],
    state: deploymentState(key, 2, true),
  });
  lines.add({
    kind: "reconcile-end",
    at: at + 12,
    controller: "foo",
    key,
    outcome: "done",
    durationMs: 9,
    causes: [begin],
  });
}

/** A Foo whose reconciles fail. */
function failed(lines: Lines, key: string, at: number, error: string): void {
  const object = { ...foo, key };
  const change = lines.add({
    kind: "change",
    at,
    via: "watch",
    change: "added",
    object,
    resourceVersion: `${at}`,
    state: fooState(key, 1),
  });
  let cause = lines.add({
    kind: "enqueue",
    at,
    controller: "foo",
    key,
    object,
    role: "for",
    decision: "queued",
    causes: [change],
  });
  for (let attempt = 0, time = at; attempt < 4; attempt++, time += 1_000 * 2 ** attempt) {
    const begin = lines.add({
      kind: "reconcile-start",
      at: time,
      controller: "foo",
      key,
      waitedMs: 0,
      priority: 0,
      retries: attempt,
      causes: [cause],
    });
    const end = lines.add({
      kind: "reconcile-end",
      at: time + 5,
      controller: "foo",
      key,
      outcome: "failed",
      durationMs: 5,
      error,
      causes: [begin],
    });
    cause = lines.add({
      kind: "queue",
      at: time + 5,
      controller: "foo",
      key,
      decision: "backoff",
      delayMs: 1_000 * 2 ** attempt,
      retries: attempt + 1,
      causes: [end],
    });
  }
}

/** Created, edited by hand and failing objects. */
export function incident(): string {
  const lines = new Lines();
  const names = ["checkout", "cart", "catalog", "payments", "search", "sessions"];
  names.forEach((name, index) => created(lines, `shop/${name}`, start + index * 400));
  edited(lines, "shop/checkout", start + 21_000);
  edited(lines, "shop/cart", start + 47_000);
  failed(lines, "shop/ledger", start + 60_000, 'Cannot adopt Deployment "shop/ledger": controlled by another owner');
  edited(lines, "shop/checkout", start + 90_000);
  return lines.toString();
}

/** @param count Foos, each with a Deployment */
export function manyObjects(count: number): string {
  const lines = new Lines();
  for (let index = 0; index < count; index++) {
    created(lines, `load/foo-${String(index).padStart(4, "0")}`, start + index * 20);
  }
  return lines.toString();
}

/** Names and texts that would be markup, or would turn the text around. */
export const hostile = '<img src=x onerror="document.title=1">';

export function hostileRecording(): string {
  const lines = new Lines();
  created(lines, `shop/${hostile.replaceAll("/", "")}`, start);
  failed(lines, "shop/attack\u202egnp", start + 1_000, `${hostile} <script>document.title=2</script>`);
  lines.add({
    kind: "event",
    at: start + 2_000,
    type: "Warning",
    reason: hostile,
    note: `</pre>${hostile}`,
    object: { ...foo, key: `shop/${hostile.replaceAll("/", "")}` },
  });
  return lines.toString();
}
