import { assert, assertEquals, test } from "../../tests/testing.ts";
import { explain } from "./chains.ts";
import type { FieldWriter } from "../observe/mod.ts";
import { controllers, foo, start, Story, web } from "./testing/story.ts";
import { explanationLines } from "./text.ts";

const own = { controller: "foo", key: foo.key };

/** The lines about `subject`. */
function linesOf(story: Story, subject = foo, limit?: number): readonly string[] {
  return explanationLines(explain(story.entries, subject, { controllers, limit }), start);
}

/** The hand edit of the issue: a user scales the Deployment, the controller scales it back. */
function handEdit(story = new Story()): Story {
  const begin = story.reconciles(story.scaled());
  const applied = story.add({
    kind: "write",
    ...own,
    causes: [begin],
    verb: "apply",
    object: web,
    answer: { kind: "stored", resourceVersion: "12" },
    durationMs: 4,
  });
  const fields = [{ path: "spec.replicas", from: 5, to: 2 }];
  const causes = [applied];
  const response = story.add({ kind: "change", via: "response", change: "updated", object: web, fields, causes }, 0);
  story.add({ kind: "enqueue", ...own, causes: [response], object: web, role: "owns", decision: "own-write" }, 0);
  story.add({ kind: "change", via: "watch", change: "updated", object: web, isEcho: true, causes }, 0);
  const status = { verb: "patch", object: foo, subresource: "status" } as const;
  story.add({ kind: "write", ...own, ...status, causes: [begin], answer: { kind: "stored" }, durationMs: 4 }, 0);
  story.ends(begin);
  return story;
}

test("explain() tells a hand edit: who changed which field, how long the key waited, and what the controller wrote", () => {
  const expected = [
    "09:12:01  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
    "          → Foo default/foo-1 queued, waited 3 ms",
    "          → reconciled in 12 ms: applied Deployment default/web (spec.replicas 5 → 2), patched status",
    "          What to do: to change spec.replicas for good, change Foo default/foo-1: controller foo sets it from there",
    "(the recording begins at 09:12:01)",
  ];
  assertEquals(linesOf(handEdit()), expected);
  assertEquals(linesOf(handEdit(), web), expected, "the same chain explains the Deployment");
  assertEquals(linesOf(handEdit(), { ...web, key: "default/other" }).slice(0, 1), [
    "nothing about Deployment default/other is recorded; why --not says what it waits for",
  ]);
});

test("explain() shows the newest chain first, and says how many it leaves out", () => {
  const story = handEdit();
  story.ends(story.reconciles(story.scaled()), { outcome: "failed", error: "no quota" });
  const lines = linesOf(story, foo, 1);
  assertEquals(lines[0]?.slice(0, 8), "09:12:03");
  assertEquals(lines.at(-2), "(1 older chain is not shown: see --limit)");
});

test("explain() tells a failure, the Event, and when the key is retried", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled(), 2);
  const note = 'Resource "web" already exists and is not managed by Foo';
  story.add(
    { kind: "event", ...own, causes: [begin], type: "Warning", reason: "ErrResourceExists", note, object: foo },
    0,
  );
  const error = 'Cannot apply Deployment "default/web": it is not controlled by Foo "default/foo-1"';
  const end = story.ends(begin, { outcome: "failed", error });
  story.add({ kind: "queue", ...own, causes: [end], decision: "backoff", delayMs: 20_000, retries: 3 }, 0);
  assertEquals(linesOf(story).slice(1, 3), [
    "          → Foo default/foo-1 queued, waited 3 ms",
    `          → failed 3 times in a row, the last time at 09:12:01: ${error}; ` +
    `before that: recorded the warning ErrResourceExists "${note}"; retried at 09:12:21`,
  ]);
});

test("explain() does not repeat a failed write that the error of the reconcile tells", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const message = 'deployments.apps "web" is forbidden: User "operator" cannot patch resource';
  const answer = { kind: "failed", code: 403, reason: "Forbidden", message } as const;
  story.add({ kind: "write", ...own, causes: [begin], verb: "apply", object: web, answer, durationMs: 2 });
  story.ends(begin, { outcome: "failed", error: `Cannot apply Deployment: ${message}` });
  assertEquals(linesOf(story)[2], `          → failed after 12 ms: Cannot apply Deployment: ${message}; it is retried`);
  const other = new Story();
  const start = other.reconciles(other.scaled());
  other.add({ kind: "write", ...own, causes: [start], verb: "apply", object: web, answer, durationMs: 2 });
  other.ends(start);
  assertEquals(
    linesOf(other)[2],
    `          → reconciled in 12 ms: could not apply Deployment default/web: 403 Forbidden: ${message}`,
  );
});

test("explain() names the reconcile that made a change which queues another key", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const answer = { kind: "stored" } as const;
  const write = story.add({
    kind: "write",
    ...own,
    causes: [begin],
    verb: "create",
    object: web,
    answer,
    durationMs: 2,
  });
  const change = story.add({ kind: "change", via: "response", change: "added", object: web, causes: [write] });
  const other = { controller: "foo", key: "default/foo-2" };
  const queued = story.add({
    kind: "enqueue",
    ...other,
    causes: [change],
    object: web,
    role: "owns",
    decision: "queued",
  });
  story.add({ kind: "reconcile-start", ...other, causes: [queued], waitedMs: 0, priority: 0, retries: 0 });
  assertEquals(linesOf(story, { ...foo, key: other.key }).slice(0, 3), [
    "09:12:03  Deployment default/web was created by controller foo, for Foo default/foo-1",
    "          → Foo default/foo-2 queued, waited 0 ms",
    "          → its reconcile has not ended yet",
  ]);
});

test("explain() shows a change that no controller reacted to, with the reason of each", () => {
  const story = new Story();
  const change = story.scaled();
  story.add({ kind: "enqueue", controller: "foo", causes: [change], object: web, role: "owns", decision: "unmapped" });
  story.scaled();
  assertEquals(linesOf(story, web).slice(0, 4), [
    "09:12:03  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
    "          → no controller was told: it had not started, or another process leads",
    "09:12:01  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
    "          → controller foo ignored it: the object is not owned by a Foo",
  ]);
});

test("explain() tells the reviews of webhooks", () => {
  const story = new Story();
  const what = { webhook: "validating", path: "/validate", operation: "UPDATE", object: foo, user: "alice" } as const;
  story.add({ kind: "review", ...what, isAllowed: false, message: "spec.replicas: too many", durationMs: 1 });
  assertEquals(linesOf(story).slice(0, 2), [
    "09:12:01  UPDATE of Foo default/foo-1 by alice",
    "          → the validating webhook rejected it: spec.replicas: too many",
  ]);
});

test("[security 19] explain() lets no text of others control a terminal or begin a line", () => {
  const story = new Story();
  const evil = "\u001b[2J\nfoo: all is well\u202e";
  const begin = story.reconciles(story.scaled({ ...web, kind: `Deployment${evil}` }, evil));
  story.ends(begin, { outcome: "failed", error: evil });
  const text = JSON.stringify(explain(story.entries, foo, { controllers }));
  assert(!/\\u001b|\\n|\u202e/.test(text), text);
});

test("explain() is bounded and total: any cause may be missing", () => {
  const story = handEdit(handEdit());
  for (let from = 0; from < story.entries.length; from++) {
    for (const subject of [foo, web]) {
      const { chains } = explain(story.entries.slice(from), subject, { controllers });
      assert(chains.every(({ steps }) => steps.length > 0 && steps.every(({ text }) => text !== "")));
    }
  }
  assertEquals(explain([], foo, { controllers }), { object: foo, chains: [], notes: ["the recording is empty"] });
});

test("explain() finds the own write also when the watch was faster than the response", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const fields = [{ path: "spec.replicas", from: 5, to: 2 }];
  const by = [{ manager: "foo", operation: "Apply" }, { manager: "kube-controller-manager", subresource: "status" }];
  const seen = story.add({
    kind: "change",
    via: "watch",
    change: "updated",
    object: web,
    fields,
    by,
    resourceVersion: "12",
  });
  const other = { controller: "bar", key: "default/b" };
  const queued = story.add({
    kind: "enqueue",
    ...other,
    causes: [seen],
    object: web,
    role: "watches",
    decision: "queued",
  });
  const answer = { kind: "stored", resourceVersion: "12" } as const;
  const write = story.add({
    kind: "write",
    ...own,
    causes: [begin],
    verb: "apply",
    object: web,
    answer,
    durationMs: 2,
  });
  story.add({ kind: "change", via: "response", change: "updated", isEcho: true, object: web, causes: [seen, write] });
  story.ends(begin);
  story.add({ kind: "reconcile-start", ...other, causes: [queued], waitedMs: 1, priority: 0, retries: 0 });
  const lines = linesOf(story, web);
  assertEquals(
    lines[0]?.slice(10),
    "Deployment default/web: spec.replicas 5 → 2 by controller foo, for Foo default/foo-1",
  );
  assertEquals(lines[5]?.slice(23), "in 12 ms: applied Deployment default/web (spec.replicas 5 → 2)");
});

test("explain() tells writers of the same second apart by what changed", () => {
  const kubectl = { manager: "kubectl-edit", operation: "Update" };
  const status = { manager: "kube-controller-manager", operation: "Update", subresource: "status" };
  const texts = ["spec.replicas", "status.replicas"].map((path) => {
    const story = new Story();
    const fields = [{ path, from: 1, to: 2 }];
    const by = [status, kubectl];
    story.reconciles(story.add({ kind: "change", via: "watch", change: "updated", object: web, fields, by }));
    return linesOf(story, web)[0]?.slice(10);
  });
  assertEquals(texts, [
    "Deployment default/web: spec.replicas 1 → 2 by kubectl (kubectl-edit)",
    "Deployment default/web: status.replicas 1 → 2 by kube-controller-manager",
  ]);
});

test("explain() names no client that cannot have made a change: removed fields have no manager", () => {
  const story = handEdit();
  const removed = (by: readonly FieldWriter[]) =>
    story.reconciles(story.add({
      kind: "change",
      via: "watch",
      change: "updated",
      object: web,
      fields: [{ path: "metadata.labels.tier", from: "web" }],
      by,
    }));
  const own = { manager: "foo", operation: "Apply", time: new Date(start).toISOString() };
  story.entries.push(
    ...story.entries.splice(0).map((entry) => entry.kind === "write" ? { ...entry, fieldManager: "foo" } : entry),
  );
  removed([own]);
  removed([{ manager: "kubectl-create", operation: "Update", time: "2020-01-01T00:00:00Z" }]);
  const text = 'Deployment default/web: metadata.labels.tier removed (it was "web") by another client';
  assertEquals(linesOf(story, web).filter((line) => line.includes("removed")).map((line) => line.slice(10)), [
    text,
    text,
  ]);
});

test("explain() leaves out reconciles in which nothing was to do, and says how many: isAll shows them", () => {
  const story = new Story();
  const fields = [{ path: "status.replicas", from: 1, to: 2 }];
  for (let n = 0; n < 3; n++) {
    const status = story.add({ kind: "change", via: "watch", change: "updated", object: web, fields });
    story.ends(story.reconciles(status));
  }
  handEdit(story);
  assertEquals(
    linesOf(story).slice(-2)[0],
    "(3 reconciles found everything as desired and wrote nothing, the last at 09:12:03: see --all)",
  );
  const all = explain(story.entries, foo, { controllers, isAll: true });
  assertEquals(all.chains.map(({ outcome }) => outcome), ["done", "unchanged", "unchanged", "unchanged"]);
});

test("explain() shows that a change by another client led to no write", () => {
  const story = new Story();
  story.ends(story.reconciles(story.scaled()));
  assertEquals(linesOf(story).slice(0, 3), [
    "09:12:01  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
    "          → Foo default/foo-1 queued, waited 3 ms",
    "          → reconciled in 12 ms: everything was as desired, nothing was written",
  ]);
});

/** A reconcile that fails, `count` times in a row. */
function failing(story: Story, count: number, error = "no quota"): void {
  let cause = story.add({
    kind: "enqueue",
    ...own,
    causes: [story.scaled()],
    object: web,
    role: "owns",
    decision: "queued",
  });
  for (let retries = 0; retries < count; retries++) {
    const begin = { kind: "reconcile-start", ...own, causes: [cause], waitedMs: 3, priority: 0, retries } as const;
    const end = story.ends(story.add(begin), { outcome: "failed", error });
    cause = story.add(
      { kind: "queue", ...own, causes: [end], decision: "backoff", delayMs: 5, retries: retries + 1 },
      0,
    );
  }
}

test("explain() makes one chain of a failure and its retries, and another one when a change came between", () => {
  const story = new Story();
  failing(story, 4);
  failing(story, 2);
  failing(story, 1, "another error");
  const { chains } = explain(story.entries, foo, { controllers });
  assertEquals(chains.map(({ steps }) => steps.at(2)?.text.slice(0, 60)), [
    "failed after 12 ms: another error; retried at 09:12:13",
    "failed 2 times in a row, the last time at 09:12:10: no quota",
    "failed 4 times in a row, the last time at 09:12:06: no quota",
  ]);
  assert(chains.every(({ steps }) => steps[0]?.text.startsWith("Deployment default/web: spec.replicas 2 → 5 by")));
});

test("explain() tells two clients that write the same field, once", () => {
  const lines = linesOf(handEdit(handEdit(handEdit())));
  assertEquals(lines.slice(3), [
    "          → the same happened 3 times since 09:12:01",
    "          What to do: let only one of them write spec.replicas of Deployment default/web: " +
    "stop kubectl (kubectl-edit), or change what Foo default/foo-1 asks for",
    "(the recording begins at 09:12:01)",
  ]);
});

test("explain() tells a repair and its repeats once, whatever controllers of Kubernetes note meanwhile", () => {
  const story = new Story();
  const noted = [
    { path: "status.observedGeneration", from: 1, to: 2 },
    { path: 'metadata.annotations["deployment.kubernetes.io/revision"]', to: "1" },
  ];
  const repair = (isNoted: boolean) => {
    const others = isNoted
      ? [story.add({ kind: "change", via: "watch", change: "updated", object: web, fields: noted })]
      : [];
    const causes = [...others, story.scaled()].map((change) =>
      story.add({ kind: "enqueue", ...own, causes: [change], object: web, role: "owns", decision: "queued" }, 0)
    );
    const begin = story.add({ kind: "reconcile-start", ...own, causes, waitedMs: 3, priority: 0, retries: 0 });
    const answer = { kind: "stored", resourceVersion: String(story.entries.length) } as const;
    const sent = { verb: "apply", object: web, answer, durationMs: 4 } as const;
    const write = story.add({ kind: "write", ...own, causes: [begin], ...sent }, 0);
    const fields = [{ path: "spec.replicas", from: 5, to: 2 }, ...(isNoted ? noted : [])];
    story.add({ kind: "change", via: "response", change: "updated", causes: [write], object: web, fields }, 0);
    story.ends(begin);
  };
  for (const isNoted of [false, false, true, false, false]) repair(isNoted);
  assertEquals(linesOf(story).slice(0, 4), [
    "09:12:10  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
    "          → Foo default/foo-1 queued, waited 3 ms",
    "          → reconciled in 12 ms: applied Deployment default/web (spec.replicas 5 → 2)",
    "          → the same happened 5 times since 09:12:01",
  ]);
});

test("explain() shows a change whose key no worker has taken yet, and no change of the status alone", () => {
  const story = new Story();
  const queue = (path: string) => {
    const fields = [{ path, from: 1, to: 2 }];
    const change = story.add({ kind: "change", via: "watch", change: "updated", object: web, fields });
    return story.add({ kind: "enqueue", ...own, causes: [change], object: web, role: "owns", decision: "queued" }, 0);
  };
  queue("spec.replicas");
  const last = queue("status.replicas");
  assertEquals(linesOf(story, web), [
    "09:12:01  Deployment default/web: spec.replicas 1 → 2",
    "          → Foo default/foo-1 queued, and not reconciled since: why --not says what it waits for",
    "(the recording begins at 09:12:01)",
  ]);
  story.add({ kind: "reconcile-start", ...own, causes: [last], waitedMs: 3, priority: 0, retries: 0 });
  assertEquals(explain(story.entries, web, { controllers }).chains.length, 1, "both went into this reconcile");
});

test("explain() tells that a foreign object was left alone, also when the reconciler handles that", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const what = { what: "write of deployments.apps", reason: "not-controlled", object: web } as const;
  const error = 'Cannot apply Deployment "default/web": it has no controller, expected Foo "default/foo-1"';
  story.add({ kind: "error", ...own, causes: [begin], ...what, error });
  story.ends(begin);
  assertEquals(linesOf(story).slice(2, 4), [
    "          → reconciled in 12 ms: left Deployment default/web alone, because it does not belong to Foo default/foo-1",
    "          What to do: delete or rename Deployment default/web, or change what Foo default/foo-1 asks for; " +
    "the controller never changes what it does not own",
  ]);
});

/** The advice about a write that failed with `answer`. */
function adviceAfter(answer: { readonly code?: number; readonly message: string }): string | undefined {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const failed = { kind: "failed", ...answer } as const;
  story.add({ kind: "write", ...own, causes: [begin], verb: "apply", object: web, answer: failed, durationMs: 2 });
  story.ends(begin, { outcome: "failed", error: answer.message });
  const [chain] = explain(story.entries, foo, { controllers }).chains;
  return chain?.steps.find(({ kind }) => kind === "advice")?.text;
}

test("explain() says what to do about each kind of answer, and nothing where that is not certain", () => {
  const advice = [
    { code: 403, message: 'User "ops" cannot patch resource "deployments"' },
    { code: 403, message: 'admission webhook "p.example" denied the request: no' },
    { code: 401, message: "Unauthorized" },
    { code: 409, message: "the object has been modified" },
    { code: 422, message: "spec.replicas: Invalid value" },
    { code: 500, message: "internal error" },
    { message: "the connection was refused" },
  ].map(adviceAfter);
  assertEquals(advice, [
    "give ops that permission: the command manifests prints what the controllers need, for kubectl apply",
    "change Foo default/foo-1, or the policy of the cluster that the message names",
    "give the process valid credentials",
    "nothing, unless it goes on: another client wrote at the same time, and the attempt is repeated with what it wrote",
    "change Foo default/foo-1: the server does not accept what follows from it",
    undefined,
    "restore the connection to the API server; the process tries again by itself, and loses nothing",
  ]);
});

/** A reconcile that deletes the Deployment, and the watch, which shows a deletion before or after that reconcile began. */
function deletion(order: "watch first" | "while it runs", answer: { readonly uid?: string }): string | undefined {
  const story = new Story();
  const queued = story.scaled();
  const seen = () =>
    story.add({ kind: "change", via: "watch", change: "deleted", object: web, uid: "u-1", resourceVersion: "13" });
  const early = order === "watch first" ? seen() : undefined;
  const begin = story.reconciles(queued);
  const gone = early ?? seen();
  const removed = { kind: "removed", ...answer } as const;
  story.add({ kind: "write", ...own, causes: [begin], verb: "delete", object: web, answer: removed, durationMs: 2 });
  story.ends(begin);
  story.reconciles(gone);
  return linesOf(story, web)[0]?.slice(10);
}

test("explain() finds the own deletion also when the watch was faster than the response, and no other one", () => {
  const byController = "Deployment default/web was deleted by controller foo, for Foo default/foo-1";
  const byOther = "Deployment default/web was deleted by another client";
  assertEquals([deletion("while it runs", {}), deletion("while it runs", { uid: "u-1" })], [
    byController,
    byController,
  ]);
  assertEquals([deletion("while it runs", { uid: "u-2" }), deletion("watch first", {})], [byOther, byOther]);
});

test("explain() says that an own object was new, also when the watch was faster and the object is deleted by now", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  const what = { object: web, uid: "u-1", resourceVersion: "12" } as const;
  const seen = story.add({ kind: "change", via: "watch", change: "added", ...what });
  const answer = { kind: "stored", resourceVersion: "12", uid: "u-1" } as const;
  const write = story.add({
    kind: "write",
    ...own,
    causes: [begin],
    verb: "apply",
    object: web,
    answer,
    durationMs: 2,
  });
  story.add({ kind: "change", via: "response", change: "updated", isEcho: true, ...what, causes: [seen, write] });
  story.ends(begin);
  story.reconciles(story.add({ kind: "change", via: "response", change: "deleted", ...what }));
  const lines = linesOf(story, web);
  assertEquals(
    lines.find((line) => line.includes("applied"))?.slice(23),
    "in 12 ms: applied Deployment default/web (it is new)",
  );
  assertEquals(
    lines[0]?.slice(10),
    "Deployment default/web was deleted by another client",
    "not by the apply of that version",
  );
});
