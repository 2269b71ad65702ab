/** Tests of `replay` with small controllers: what counts as the same, what differs and how it is shown. */
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import {
  changed,
  controller,
  done,
  manifest,
  metadataOnly,
  notCached,
  type Predicate,
  requeueAfter,
} from "../../controller/mod.ts";
import type { ControllerDefinition, Result } from "../../controller/mod.ts";
import { defineResource, z } from "../../schema/mod.ts";
import { RecordedWorld } from "./testing/recorded_world.ts";

const { ConfigMap, Namespace, Secret } = builtin;
const Secrets = notCached(Secret);

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
  status: z.object({ at: z.string().optional(), copies: z.number().optional() }),
});

/** One line of a controller. */
interface Build {
  readonly scheme?: string;
  readonly result?: () => Result;
  readonly note?: string;
  readonly when?: Predicate;
  readonly readsSecret?: boolean;
  readonly readsLive?: boolean;
}

/** A ConfigMap for each Site, a time in its status, an Event. */
function sites(build: Build = {}): ControllerDefinition {
  const { scheme = "http", result = () => done, note = "Synced", when = changed.resourceVersion } = build;
  return controller("sites").for(Site).owns(ConfigMap, { when }).uses(Secrets, ["get"]).uses(ConfigMap, ["get"])
    .reconcile(async (ctx) => {
      const { name = "", namespace } = ctx.object.metadata;
      if (build.readsLive === true) await ctx.client.find(ConfigMap, "default/live", { signal: ctx.signal });
      const secret = build.readsSecret === true ? await ctx.find(Secrets, "default/key") : undefined;
      const data = {
        url: `${scheme}://${ctx.object.spec.host}`,
        key: secret === undefined ? "none" : `${secret.data?.key?.length} letters`,
      };
      const map = await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data }));
      if (ctx.object.status?.at === undefined) {
        await ctx.patchStatus({
          at: new Date(ctx.clock.now()).toISOString(),
          copies: Object.keys(map.data ?? {}).length,
        });
      }
      ctx.event("Normal", "Synced", `${note} ${name}`);
      return result();
    });
}

/** A recording of two Sites, one of which a user has changed. */
async function recordSites(build: Build = {}): Promise<RecordedWorld> {
  const recorded = await RecordedWorld.start([sites(build)], { cluster: false });
  const { world } = recorded;
  await world.create(Secret, { name: "key", data: { key: "c2VjcmV0" } });
  for (const name of ["blog", "shop"]) await world.create(Site, { name, spec: { host: `${name}.dev` } });
  await world.settled();
  await world.patch(ConfigMap, "default/blog", { kind: "merge", value: { data: { url: "http://else" } } });
  await recorded.save();
  return recorded;
}

test("[136] replay of the same build finds no difference, with times of the recorded clock", async () => {
  await using recorded = await recordSites({ result: () => requeueAfter(60_000) });
  const { code, out, err } = await recorded.replay([sites({ result: () => requeueAfter(60_000) })]);
  assertEquals([code, out], [0, ""]);
  assertMatch(err, /^op: replay: \d+ reconciles do the same$/m);
});

test("[136] replay shows the first write that differs as a diff with its time, controller, key and causes", async () => {
  await using recorded = await recordSites();
  const { code, out, err } = await recorded.replay([sites({ scheme: "https" })]);
  assertEquals(code, 2);
  const entry = recorded.entries.find((one) => one.kind === "write" && one.object.resource === "configmaps");
  assertEquals(
    out,
    `2026-01-01T00:00:00.000Z sites default/blog: this build writes something else: apply configmaps default/blog (entry ${entry?.id})
  because Site default/blog was created by unknown
--- RECORDED
+++ THIS BUILD
@@ -2,7 +2,7 @@
   apiVersion: v1
   data:
     key: none
-    url: http://blog.dev
+    url: https://blog.dev
   kind: ConfigMap
   metadata:
     name: blog
`,
  );
  assertMatch(err, /^op: replay: 0 reconciles do the same, 3 differ$/m);
});

test("[136] an additional write, one that is missing and another order of writes differ", async () => {
  await using recorded = await recordSites();
  const { entries } = recorded;
  const firstOf = (resource: string) =>
    entries.find((one) => one.kind === "write" && one.object.resource === resource)?.id ?? 0;
  // Without the patch of the status.
  const silent = controller("sites").for(Site).owns(ConfigMap).reconcile(async (ctx) => {
    const { name = "", namespace } = ctx.object.metadata;
    const data = { url: `http://${ctx.object.spec.host}`, key: "none" };
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data }));
    ctx.event("Normal", "Synced", `Synced ${name}`);
    return done;
  });
  const missing = await recorded.replay([silent]);
  assertEquals(missing.code, 2);
  const text = `this build does not patch sites.example.dev/status default/blog, as recorded (entry ${
    firstOf("sites.example.dev")
  })`;
  assert(missing.out.includes(text), missing.out);
  const eager = controller("sites").for(Site).owns(ConfigMap).reconcile(async (ctx) => {
    await ctx.patchStatus({ copies: 2 });
    return done;
  });
  const early = await recorded.replay([eager]);
  assert(
    early.out.includes("this build writes something else: patch sites.example.dev/status default/blog"),
    early.out,
  );
  const other = controller("sites").for(Site).owns(ConfigMap).uses(ConfigMap, ["create"]).reconcile(async (ctx) => {
    await ctx.client.create(ConfigMap, { metadata: { namespace: "default", name: "new" } });
    return done;
  });
  const added = await recorded.replay([other]);
  assert(added.out.includes("this build wants to create configmaps default/new, which is not recorded"), added.out);
});

test("[136] another outcome, another Event and another decision differ, too", async () => {
  await using recorded = await recordSites();
  const slow = await recorded.replay([sites({ result: () => requeueAfter(5_000) })]);
  assertEquals(slow.code, 2);
  assert(slow.out.includes("this build ends the reconcile in another way"), slow.out);
  assert(slow.out.includes("-outcome: done\n+afterMs: 5000\n+outcome: requeue\n"), slow.out);
  const failing = await recorded.replay([sites({
    result: () => {
      throw new Error("no such host");
    },
  })]);
  assert(failing.out.includes("+error: no such host\n+outcome: failed"), failing.out);
  const loud = await recorded.replay([sites({ note: "Done with" })]);
  assert(loud.out.includes("-note: Synced blog\n"), loud.out);
  const deaf = await recorded.replay([sites({ when: () => false })]);
  assert(deaf.out.includes('decides otherwise about a change of ConfigMap "default/blog"'), deaf.out);
  assert(deaf.out.includes("-decision: queues default/blog\n+decision: rejected\n"), deaf.out);
});

test("[136] a read of which the recording has no answer, and a Secret, are reported and not guessed", async () => {
  await using plain = await recordSites();
  const live = await plain.replay([sites({ readsLive: true })]);
  assertEquals(live.code, 1);
  assertMatch(live.err, /nothing could be compared, it sends GET/);
  assertMatch(
    live.err,
    /not compared: sites default\/blog: it sends GET \/api\/v1\/namespaces\/default\/configmaps\/live, of which the recording has no answer/,
  );
  assertMatch(live.err, /replay: 0 reconciles do the same, 3 could not be compared/);
  await using secret = await recordSites({ readsSecret: true });
  assert(!(await secret.text()).includes("c2VjcmV0"));
  const same = await secret.replay([sites({ readsSecret: true })]);
  assertEquals([same.code, same.out], [1, ""]);
  assertMatch(same.err, /it reads Secret "default\/key", whose data is in no recording/);
  await using read = await recordSites({ readsLive: true });
  assertEquals((await read.replay([sites({ readsLive: true })])).code, 0);
  assertMatch((await read.replay([sites({ readsLive: true })])).err, /replay: 3 reconciles do the same\n/);
});

test("[136] --key, --until and --controllers choose what is compared, and -o json has all differences", async () => {
  await using recorded = await recordSites();
  const changed = [sites({ scheme: "https" })];
  const shop = await recorded.replay(changed, ["--key", "default/shop", "-o", "json"]);
  const document = JSON.parse(shop.out);
  assertEquals(document.reconciles, { same: 0, differ: 1, notCompared: 0, unfinished: 0 });
  const [difference] = document.differences;
  assertEquals([difference.key, difference.part, difference.recorded.verb], ["default/shop", "write", "apply"]);
  assertEquals(difference.replayed.body.data.url, "https://shop.dev");
  assertEquals(difference.causes, ["Site default/shop was created by unknown"]);
  const early = await recorded.replay(changed, ["--until", String(difference.entry - 1), "--key", "default/shop"]);
  assertEquals(early.code, 0, early.err);
  const before = await recorded.replay(changed, ["--until", "2020-01-01T00:00:00Z"]);
  assertEquals(before.code, 1);
  assertMatch(before.err, /nothing could be compared, it has no reconcile of these controllers and this key/);
  const none = await recorded.replay([controller("other").for(ConfigMap).reconcile(() => Promise.resolve(done))]);
  assertEquals(none.code, 1);
  assertMatch(
    none.err,
    /Cannot replay controller "sites": it was recorded by op 1, and this program has none of that name, .*\. Choose others with --controllers/,
  );
  const both = [...changed, controller("other").for(ConfigMap).reconcile(() => Promise.resolve(done))];
  const other = await recorded.replay(both, ["--controllers", "other"]);
  assertMatch(other.err, /it has no reconcile of these controllers and this key/);
  assertEquals((await recorded.replay(changed, ["--until", "noon"])).code, 1);
});

test("[136] a recording that was cut, or whose first file is gone, is replayed as far as it is known", async () => {
  await using recorded = await recordSites();
  await recorded.save((lines) => [...lines.slice(0, -1), lines.at(-1)?.slice(0, 20) ?? ""]);
  const cut = await recorded.replay([sites()]);
  assertEquals(cut.code, 0);
  assertMatch(cut.err, /op: line \d+ has no end: the replay ends before it/);
  const header = JSON.stringify({ ...JSON.parse((await recorded.text()).split("\n")[0] ?? ""), part: 2 });
  const middle = recorded.entries.findIndex(({ kind }) => kind === "reconcile-start");
  await recorded.save((lines) => [`${header}\n`, ...lines.slice(middle + 1)]);
  const late = await recorded.replay([sites()]);
  assertMatch(late.err, /op: the first files of the recording are gone/);
  assertMatch(late.err, /not compared: sites default\/blog: it reads .*, of which the recording has no state/);
  assert(late.code === 0 || late.code === 1, late.err);
});

test("[136] --step shows each input and each reconcile, and waits for Enter on a terminal", async () => {
  await using recorded = await recordSites();
  const all = await recorded.replay([sites({ scheme: "https" })], ["--step", "--key", "default/shop"]);
  assertEquals(all.code, 2);
  const lines = all.out.split("\n").map((line) => line.replace(/^\S+ \d+ /, ""));
  assertEquals(lines.slice(0, 3), [
    "first list of sites.example.dev: 0 objects",
    "first list of configmaps: 0 objects",
    "Site default/blog was created by unknown",
  ]);
  assert(lines.includes("sites default/shop: reconcile, because Site default/shop was created by unknown"), all.out);
  assert(
    lines.includes("sites default/shop: this build writes something else: apply configmaps default/shop"),
    all.out,
  );
  const json = await recorded.replay([sites()], ["--step", "-o", "json"]);
  const documents = json.out.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(documents.at(-1).kind, "Replay");
  assertEquals(documents.filter(({ step }) => step === "reconcile").map(({ text }) => text), [
    ...Array.from({ length: 3 }, () => "this build does the same"),
  ]);
  const terminal = { isTerminal: true, answers: ["", "", "q"] };
  const stepped = await recorded.replay([sites()], ["--step"], { terminal });
  assertEquals(stepped.out.match(/^2026-/gm)?.length, 3, stepped.out);
  const rest = await recorded.replay([sites()], ["--step"], { terminal: { isTerminal: true, answers: ["c"] } });
  assertMatch(rest.err, /3 reconciles do the same/);
});

test("[136] caches of metadata, of several versions, of one namespace and of selected objects are what they were", async () => {
  const names = controller("names").for(ConfigMap).watches(metadataOnly(Secret), {
    to: ({ metadata: { name = "", namespace } }) => [`${namespace}/${name}`],
  }).reconcile((ctx) => {
    const { name, namespace } = ctx.object.metadata;
    const secret = ctx.find(metadataOnly(Secret), `${namespace}/${name}`);
    ctx.event("Normal", "Seen", `${secret?.kind ?? "none"} of ${ctx.list(metadataOnly(Secret)).length}`);
    return Promise.resolve(done);
  });
  const inOne = controller("in-one", { namespace: "one" }).for(ConfigMap).reconcile((ctx) => {
    ctx.event("Normal", "Counted", `${ctx.list(ConfigMap).length} here`);
    return Promise.resolve(done);
  });
  const selector = { matchLabels: { team: "red" } };
  const red = controller("red", { selector }).for(ConfigMap).reconcile((ctx) => {
    ctx.event("Normal", "Counted", `${ctx.list(ConfigMap).length} red`);
    return Promise.resolve(done);
  });
  await using recorded = await RecordedWorld.start([names, inOne, red]);
  const { world } = recorded;
  await world.create(Namespace, { name: "one" });
  for (const namespace of ["default", "one"]) {
    await world.create(ConfigMap, { name: "a", namespace });
    await world.create(ConfigMap, { name: "b", namespace, labels: { team: "red" } });
    await world.create(Secret, { name: "a", namespace });
  }
  await world.settled();
  await world.delete(Secret, "one/a");
  await world.patch(ConfigMap, "one/b", { kind: "merge", value: { metadata: { labels: { team: "blue" } } } });
  await world.patch(ConfigMap, "default/b", { kind: "merge", value: { data: { a: "b" } } });
  await recorded.save();
  const { code, out, err } = await recorded.replay([names, inOne, red]);
  assertEquals([code, out], [0, ""], err);
  assertMatch(err, /^op: replay: \d\d reconciles do the same\n$/);
  const notes = new Set(recorded.entries.flatMap((entry) => entry.kind === "event" ? [entry.note] : []));
  for (const note of ["2 here", "2 red", "1 red", "Secret of 2", "none of 1"]) {
    assert(notes.has(note), [...notes].join());
  }
});
