import { assertEquals, test } from "../../tests/testing.ts";
import type { Subject } from "./history.ts";
import { controllers, foo, Story, web } from "./testing/story.ts";
import { type ProcessFacts, whyNot } from "./why_not.ts";

const own = { controller: "foo", key: foo.key };
const reconciled = "Foo default/foo-1 (controller foo)";

/** The reasons as `kind: text`. */
function reasonsOf(story: Story, facts?: ProcessFacts, subject: Subject = foo): readonly string[] {
  const { reasons } = whyNot(story.entries, subject, { controllers, facts });
  return reasons.map(({ kind, text }) => `${kind}: ${text}`);
}

/** A reconcile that failed, and what the queue did with the key. */
function failed(outcome: "failed" | "terminal" | "given-up" = "failed"): { story: Story; end: number } {
  const story = new Story();
  return { story, end: story.ends(story.reconciles(story.scaled()), { outcome, error: "no quota" }) };
}

test("whyNot() says that no controller watches the kind, and what they watch", () => {
  assertEquals(reasonsOf(new Story(), {}, { resource: "secrets", kind: "Secret", key: "default/a" }), [
    "not-watched: no controller of this program watches Secret (secrets): foo watches Foo and Deployment",
  ]);
});

test("whyNot() says that a controller does not watch the kind, because a condition does not hold", () => {
  const story = new Story();
  const kind = { resource: web.resource, kind: web.kind };
  story.add({ kind: "activation", controller: "foo", object: kind, isActive: false, reason: "it is not installed" });
  const reasons = () => reasonsOf(story, {}, web);
  assertEquals(
    reasons()[0],
    "not-active: controller foo does not watch deployments.apps since 09:12:01: it is not installed",
  );
  story.add({ kind: "activation", controller: "foo", object: kind, isActive: true });
  assertEquals(reasons().filter((text) => text.startsWith("not-active")), []);
});

test("whyNot() says that the process is a standby, and who leads", () => {
  const story = new Story();
  const lease = 'Lease "ops/foo"';
  story.add({ kind: "lease", lease, state: "standby" });
  story.add({ kind: "lease", lease, state: "other-leader", holder: "pod-b_1" });
  assertEquals(reasonsOf(story), [
    `standby: this process is a standby of Lease "ops/foo" since 09:12:02, and reconciles nothing; pod-b_1 leads: ask that process`,
  ]);
  // Where replicas divide the keys, a standby runs all controllers but those of the leader.
  assertEquals(reasonsOf(story, { leaderOnly: ["foo"] }), [
    `standby: this process is a standby of Lease "ops/foo" since 09:12:02, and does not run the controller foo; pod-b_1 leads: ask that process`,
  ]);
  const unchanged = reasonsOf(story, { leaderOnly: [] });
  story.add({ kind: "lease", lease, state: "leading" });
  assertEquals(reasonsOf(story), unchanged);
  assertEquals(unchanged, [
    "nothing-changed: nothing has changed: the recording, which begins at 09:12:01, has no change of Foo default/foo-1",
  ]);
});

test("whyNot() says that the namespace is not watched, or that no cache has the object because of a selector", () => {
  const facts = { namespaces: ["a", "b"], selectors: { foo: "team=a" }, isCached: false };
  assertEquals(reasonsOf(new Story(), facts), [
    "other-namespace: this process does not watch the namespace default, only a and b",
  ]);
  assertEquals(reasonsOf(new Story(), { ...facts, namespaces: [] }), [
    "not-cached: Foo default/foo-1 is not known: it does not exist, or the selector does not select it (controller foo: team=a)",
  ]);
});

test("whyNot() says since when a cache does not follow the server, and why", () => {
  const story = new Story();
  const cache = {
    kind: "cache",
    cache: "deployments.apps",
    object: { resource: "deployments.apps", kind: "Deployment" },
  } as const;
  story.add({ ...cache, state: "following" });
  story.add({ ...cache, state: "waiting", reason: "unreachable", error: "connection refused" });
  story.add({ ...cache, state: "waiting", reason: "forbidden", until: story.entries[0]?.at ?? 0 });
  assertEquals(reasonsOf(story), [
    "cache-waiting: changes of deployments.apps are not seen since 09:12:02: the API server does not allow it; " +
    "the next attempt is at 09:12:01",
  ]);
  story.add({ ...cache, state: "following" });
  assertEquals(reasonsOf(story).map((text) => text.slice(0, 15)), ["nothing-changed"]);
});

test("whyNot() says until when a key is parked, and its last error", () => {
  const { story } = failed();
  const until = (story.entries[0]?.at ?? 0) + 480_000;
  story.add({ kind: "queue", ...own, decision: "parked", reason: "its writes were reverted 6 times", until });
  const text =
    `parked: ${reconciled} is not reconciled until 09:20:01: its writes were reverted 6 times; its last error: no quota`;
  assertEquals(reasonsOf(story), [text]);
  assertEquals(reasonsOf(story, {}, web), [text], "the Deployment concerns the same key");
  story.add({ kind: "queue", ...own, decision: "unparked" });
  assertEquals(reasonsOf(story), [`queued: ${reconciled} is no longer parked since 09:12:03`]);
});

test("whyNot() takes parked keys that the recording has dropped from the process", () => {
  const parked = [{ ...own, reason: "its writes were reverted" }];
  assertEquals(reasonsOf(new Story(), { parked }), [
    `parked: ${reconciled} is not reconciled for now: its writes were reverted`,
  ]);
});

test("whyNot() says until when a key waits after failures, and with which error", () => {
  const { story, end } = failed();
  story.add({ kind: "queue", ...own, causes: [end], decision: "backoff", delayMs: 40_000, retries: 6 }, 0);
  assertEquals(reasonsOf(story), [
    `backoff: ${reconciled} waits until 09:12:41 for its next attempt, after 6 failures in a row with: no quota`,
  ]);
});

test("whyNot() says that a failure is not retried, and what would help", () => {
  assertEquals(reasonsOf(failed("terminal").story), [
    `not-retried: ${reconciled} failed at 09:12:01: no quota; it is not retried, because only a change can help`,
  ]);
  assertEquals(reasonsOf(failed("given-up").story), [
    `not-retried: ${reconciled} failed at 09:12:01: no quota; it was retried as often as allowed, and waits for a change`,
  ]);
});

test("whyNot() says that a key is queued, running, or due later", () => {
  const story = new Story();
  const begin = story.reconciles(story.scaled());
  assertEquals(reasonsOf(story), [`running: ${reconciled} is being reconciled since 09:12:01 (0 ms)`]);
  const end = story.ends(begin, { outcome: "requeue", afterMs: 30_000 });
  story.add({ kind: "queue", ...own, causes: [end], decision: "delayed", delayMs: 30_000 }, 0);
  assertEquals(reasonsOf(story), [
    `delayed: ${reconciled} is reconciled again at 09:12:31, as its last reconcile asked; a change comes earlier`,
  ]);
  story.add({ kind: "enqueue", ...own, object: web, role: "owns", decision: "queued" });
  assertEquals(reasonsOf(story), [`queued: ${reconciled} is queued since 09:12:02 and waits for a free worker`]);
});

test("whyNot() says that a predicate rejected the last change, or that it was the controller's own write", () => {
  const story = new Story();
  const change = story.scaled();
  const decided = { kind: "enqueue", controller: "foo", causes: [change], object: web, role: "owns" } as const;
  story.add({ ...decided, decision: "rejected" });
  const said =
    "the last change, at 09:12:01: Deployment default/web: spec.replicas 2 → 5 by kubectl (kubectl-edit); controller foo";
  assertEquals(reasonsOf(story, {}, web), [
    `ignored: ${said} ignored it: its predicate says that such a change does not matter`,
  ]);
  story.entries.pop();
  story.add({ ...decided, key: foo.key, decision: "own-write" });
  assertEquals(reasonsOf(story, {}, web).map((text) => text.slice(0, 15)), ["nothing-changed"]);
});

test("whyNot() says that nothing changed since the last successful reconcile", () => {
  const story = new Story();
  story.ends(story.reconciles(story.scaled()));
  assertEquals(reasonsOf(story), [
    "nothing-changed: nothing is left to do: the last reconcile succeeded at 09:12:01, and nothing has changed since",
  ]);
  assertEquals(reasonsOf(new Story()), [
    "nothing-changed: the recording is empty: this process has seen nothing of Foo default/foo-1",
  ]);
});
