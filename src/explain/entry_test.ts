import { assertEquals, assertMatch, test } from "../../tests/testing.ts";
import type { EntryId } from "../observe/mod.ts";
import { explainEntry } from "./entry.ts";
import { controllers, foo, start, Story, web } from "./testing/story.ts";
import { explanationLines } from "./text.ts";

const own = { controller: "foo", key: foo.key };

/** The lines about an entry; or the problem. */
function linesOf(story: Story, id: EntryId, limit?: number): readonly string[] {
  const explained = explainEntry(story.entries, id, { controllers, limit });
  return explained.kind === "answered"
    ? explanationLines(explained.answer, start)
    : [explained.problem, explained.advice];
}

/** A hand edit of the Deployment, the reconcile that undoes it, and the change that its write made. */
function handEdit() {
  const story = new Story();
  const scaled = story.scaled();
  const begin = story.reconciles(scaled);
  const answer = { kind: "stored", resourceVersion: "12" } as const;
  const applied = story.add({
    ...{ kind: "write", ...own, causes: [begin], verb: "apply", object: web, answer, durationMs: 4 },
  });
  const fields = [{ path: "spec.replicas", from: 5, to: 2 }];
  const response = story.add({
    ...{ kind: "change", via: "response", change: "updated", object: web, fields, causes: [applied] },
  }, 0);
  const ended = story.ends(begin);
  return { story, scaled, begin, applied, response, ended };
}

test("[130] explainEntry() tells the same chain for a change, the reconcile that it led to, its write and its end", () => {
  const { story, scaled, begin, applied, response, ended } = handEdit();
  const expected = [
    "09:12:01  Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit)",
    "          → Foo default/foo-1 queued, waited 3 ms",
    "          → reconciled in 12 ms: applied Deployment default/web (spec.replicas 5 → 2)",
    "          What to do: to change spec.replicas for good, change Foo default/foo-1: controller foo sets it from there",
    "(the recording begins at 09:12:01)",
  ];
  for (const id of [scaled, begin - 1, begin, applied, response, ended]) {
    assertEquals(linesOf(story, id), expected, `${id}`);
  }
});

test("[130] explainEntry() tells every reconcile that a change led to, newest first, up to a limit", () => {
  const story = new Story();
  const change = story.scaled();
  for (const name of ["a", "b", "c"]) {
    const other = { controller: "foo", key: `default/${name}` };
    const queued = story.add({
      ...{ kind: "enqueue", ...other, causes: [change], object: web, role: "owns", decision: "queued" },
    }, 0);
    story.add({ kind: "reconcile-start", ...other, causes: [queued], waitedMs: 0, priority: 0, retries: 0 });
  }
  const lines = linesOf(story, change, 2);
  const queued = lines.filter((line) => line.includes("queued"));
  assertEquals(
    queued.map((line) => line.trim()),
    ["c", "b"].map((name) => `→ Foo default/${name} queued, waited 0 ms`),
  );
  assertEquals(lines.at(-2), "(1 older chain is not shown: see --limit)");
});

test("[130] explainEntry() has an answer for what belongs to no reconcile", () => {
  const story = new Story();
  const change = story.scaled();
  const rejected = story.add({
    ...{ kind: "enqueue", controller: "foo", causes: [change], object: web, role: "owns", decision: "rejected" },
  });
  const ignored = "→ controller foo ignored it: its predicate says that such a change does not matter";
  assertEquals(linesOf(story, rejected)[1]?.trim(), ignored);
  assertEquals(linesOf(story, change)[1]?.trim(), ignored);
  const lease = story.add({ kind: "lease", lease: 'Lease "a/b"', state: "lost", error: "timeout", holder: "pod-2" });
  assertEquals(linesOf(story, lease)[0], '09:12:03  Lease "a/b": lost, held by pod-2: timeout');
  const list = story.add({
    ...{ kind: "list", cache: "foos", object: foo, resourceVersion: "1", objects: 2, isInitial: true },
  });
  assertEquals(linesOf(story, list)[0], "09:12:04  foos was listed: 2 objects");
  const what = { webhook: "validating", path: "/", operation: "UPDATE", object: foo, user: "alice" } as const;
  const allowed = story.add({ kind: "review", ...what, isAllowed: true, durationMs: 1 });
  assertEquals(
    linesOf(story, allowed)[0],
    "09:12:05  the validating webhook accepted: UPDATE of Foo default/foo-1 by alice",
  );
  const refused = story.add({ kind: "review", ...what, isAllowed: false, message: "no", durationMs: 1 });
  assertMatch(linesOf(story, refused).join(), /the validating webhook rejected it: no/);
  const cache = { kind: "cache", cache: "foos", object: foo, state: "waiting", reason: "forbidden" } as const;
  assertEquals(linesOf(story, story.add(cache))[0], "09:12:07  foos: waiting: forbidden");
});

test("[130] explainEntry() says which entries there are when it is asked for another one", () => {
  const { story } = handEdit();
  assertEquals(linesOf(story, 4711), [
    "the recording has no such entry",
    "It has the entries 1 to 6, of 2026-11-23 09:12:01 to 2026-11-23 09:12:02 UTC: older ones are dropped, and each process counts its own",
  ]);
  assertMatch(linesOf(new Story(), 1)[1] ?? "", /^The recording is empty/);
});
