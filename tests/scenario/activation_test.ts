/** Kinds that are watched under a condition: a CRD that comes and goes, and a setting in a ConfigMap. */
import {
  bounded,
  ConfigMap,
  controller,
  defineResource,
  dependent,
  dependents,
  done,
  manifest,
  Namespace,
  Secret,
  whenObject,
  whenServed,
  z,
} from "../../src/mod.ts";
import { RecordedWorld } from "../../src/cli/replay/testing/recorded_world.ts";
import { Recording } from "../../src/observe/mod.ts";
import { CrdResource } from "../../src/schema/mod.ts";
import { controllerAccess, World } from "../../src/testing.ts";
import { assert, assertEquals, assertMatch, assertThrows, test } from "../testing.ts";

const Route = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Route",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
});

/** Applies a Route in each Namespace with a label, where the cluster has Routes, and says what it found. */
function routed(seen: string[]) {
  return controller("routed").for(Namespace, { when: ({ object }) => object.metadata.labels?.routed !== undefined })
    .owns(Route, { activation: whenServed(Route), prunes: true })
    .reconcile(async (ctx) => {
      const { name: namespace = "", labels = {} } = ctx.object.metadata;
      if (labels.routed === undefined) return done;
      seen.push(
        `${namespace}: ${ctx.isActive(Route) ? `${ctx.list(Route, { namespace }).length} routes` : "not active"}`,
      );
      if (!ctx.isActive(Route)) return done;
      await ctx.apply(
        manifest(Route, { metadata: { namespace, name: "main" }, spec: { host: `${namespace}.example.dev` } }),
      );
      return done;
    });
}

test("a kind is watched once its CRD is installed, is forgotten when the CRD is deleted, and comes back", async () => {
  const seen: string[] = [];
  await using world = await World.start({ controllers: [routed(seen)] });
  await world.create(Namespace, { name: "a", labels: { routed: "" } });
  await world.settled();
  assertEquals(seen, ["a: not active"]);

  await world.client.create(CrdResource, Route.crd);
  await world.settled();
  assertEquals(world.get(Route, "a/main").spec.host, "a.example.dev");
  assertEquals(seen.slice(1), ["a: 0 routes"]);

  seen.length = 0;
  await world.client.delete(CrdResource, "routes.example.dev");
  await world.settled();
  assertEquals(seen.at(-1), "a: not active");

  await world.client.create(CrdResource, Route.crd);
  await world.settled();
  assertEquals(world.get(Route, "a/main").spec.host, "a.example.dev");
  assertEquals(seen.at(-1), "a: 0 routes");
});

/** Holds while the ConfigMap says so. */
const whenOn = whenObject(
  ConfigMap,
  "default/features",
  (map) => map?.data?.secrets === "on" || "has not switched it on",
);

/** Counts the Secrets of each Namespace while it may. */
function counting(name: string, seen: string[] = []) {
  return controller(name).for(Namespace)
    .watches(Secret, { activation: whenOn, to: ({ metadata: { namespace = "" } }) => [namespace] })
    .reconcile((ctx) => {
      const namespace = ctx.object.metadata.name ?? "";
      if (namespace !== "default") return Promise.resolve(done);
      seen.push(ctx.isActive(Secret) ? `${ctx.list(Secret, { namespace }).length}` : "off");
      return Promise.resolve(done);
    });
}

function switched(world: World, secrets: "on" | "off") {
  return world.patch(ConfigMap, "default/features", { kind: "merge", value: { data: { secrets } } });
}

test("while a condition does not hold, nothing of the kind is requested, and a change of the object switches it", async () => {
  const requests: string[] = [];
  const seen: string[] = [];
  await using world = await World.start({
    controllers: [counting("counting", seen)],
    cluster: false,
    wrap: (transport) => (request) => {
      requests.push(new URL(request.url).pathname);
      return transport(request);
    },
  });
  await world.create(Secret, { name: "a" });
  await world.create(ConfigMap, { name: "features" });
  await world.settled();
  assertEquals([requests.filter((path) => path.endsWith("/secrets")), new Set(seen)], [[], new Set(["off"])]);

  await switched(world, "on");
  await world.settled();
  await world.create(Secret, { name: "b" });
  await world.settled();
  assertEquals(seen.slice(-2), ["1", "2"]);

  await switched(world, "off");
  await world.settled();
  const [before, listed] = [seen.length, requests.filter((path) => path.endsWith("/secrets")).length];
  await world.delete(Secret, "default/a");
  await world.settled();
  assertEquals([seen.at(-1), seen.length, requests.filter((path) => path.endsWith("/secrets")).length], [
    "off",
    before,
    listed,
  ]);

  await world.delete(ConfigMap, "default/features");
  await world.settled();
  assertEquals(seen.at(-1), "off");
});

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string() }),
  status: z.object({ message: z.string().optional() }),
});

/** A ConfigMap and, where the cluster has Routes, a Route and what comes after it. */
function sites() {
  const page = dependent("page", ConfigMap, {
    of: Site,
    desired: ({ object: { metadata: { namespace } } }) =>
      manifest(ConfigMap, { metadata: { namespace, name: "page" } }),
  });
  const route = dependent("route", Route, {
    of: Site,
    after: [page],
    activation: whenServed(Route),
    desired: ({ object: { metadata: { namespace }, spec: { host } } }) =>
      manifest(Route, { metadata: { namespace, name: "main" }, spec: { host } }),
  });
  const note = dependent("note", Secret, {
    of: Site,
    after: [route],
    desired: ({ object: { metadata: { namespace } } }) => manifest(Secret, { metadata: { namespace, name: "note" } }),
  });
  return controller("sites").for(Site).dependents(dependents([page, route, note])).reconcile(async (ctx) => {
    const state = await ctx.applyDependents();
    await ctx.patchStatus({ message: state.condition.message });
    return state.result();
  });
}

test("dependents whose kind is not active are skipped, the status says so, and their owner can be deleted", async () => {
  await using world = await World.start({ controllers: [sites()] });
  await world.create(Site, { name: "one", spec: { host: "a.example.dev" } });
  await world.settled();
  const message = () => world.get(Site, "default/one").status?.message;
  assertEquals(
    message(),
    "1 dependents are ready; route is not active: routes.example.dev is not installed; note comes after route, which is not active",
  );
  await world.client.create(CrdResource, Route.crd);
  await world.settled();
  assertEquals([message(), world.find(Secret, "default/note") !== undefined], ["3 dependents are ready", true]);

  await world.client.delete(CrdResource, "routes.example.dev");
  await world.settled();
  assert(world.find(Secret, "default/note") !== undefined, "what comes after it stays");
  assertMatch(message() ?? "", /^1 dependents are ready; route is not active/);
  await world.delete(Site, "default/one");
  await world.settled();
  assertEquals([world.find(Site, "default/one"), world.find(ConfigMap, "default/page")], [undefined, undefined]);
});

test("in selected namespaces, a conditional kind is active in each of them, and keys wait for none while it is filled", async () => {
  const seen: string[] = [];
  const counter = controller("counter").for(ConfigMap, { when: ({ object }) => object.metadata.name === "mine" })
    .watches(bounded(Secret, { maxObjects: 1 }), {
      activation: whenOn,
      to: ({ metadata: { namespace } }) => [`${namespace}/mine`],
    })
    .reconcile(async (ctx) => {
      const { namespace = "", name } = ctx.object.metadata;
      if (name !== "mine") return done;
      const secrets = await ctx.list(bounded(Secret, { maxObjects: 1 }), { namespace });
      const data = secrets.map(({ data }) => Object.keys(data ?? {}).join()).toSorted();
      seen.push(`${namespace}: ${ctx.isActive(bounded(Secret, { maxObjects: 1 })) ? data.join(" ") : "off"}`);
      return done;
    });
  const namespaceSelector = { matchLabels: { team: "a" } };
  await using world = await World.start({ controllers: [counter], cluster: false, namespaceSelector });
  for (const namespace of ["one", "two"]) {
    await world.create(Namespace, { name: namespace, ...(namespace === "one" ? { labels: { team: "a" } } : {}) });
    await world.create(ConfigMap, { namespace, name: "mine" });
    for (const name of ["a", "b"]) await world.create(Secret, { namespace, name, data: { [name]: "" } });
  }
  await world.create(ConfigMap, { name: "features", data: { secrets: "on" } });
  await world.settled();
  assertEquals(seen.at(-1), "one: a b");

  await world.patch(Namespace, "two", { kind: "merge", value: { metadata: { labels: { team: "a" } } } });
  await world.settled();
  assertEquals(seen.at(-1), "two: a b");
  seen.length = 0;
  await switched(world, "off");
  await world.settled();
  assertEquals(seen.toSorted(), ["one: off", "two: off"]);
  await world.patch(Namespace, "one", { kind: "merge", value: { metadata: { labels: { team: null } } } as never });
  seen.length = 0;
  await switched(world, "on");
  await world.settled();
  assertEquals(new Set(seen), new Set(["two: a b"]));
});

test("an apply of a kind that is not active is an error that says why, and is made good when it becomes active", async () => {
  const careless = controller("careless").for(Namespace)
    .owns(Secret, { activation: whenOn }).reconcile(async (ctx) => {
      const namespace = ctx.object.metadata.name;
      if (namespace === "default") await ctx.apply(manifest(Secret, { metadata: { namespace, name: "s" } }));
      return done;
    });
  const recorder = new Recording({ now: () => 0, maxBytes: 1_000_000 });
  await using world = await World.start({ controllers: [careless], cluster: false, recorder });
  await world.settled();
  const failed = recorder.entries().find((entry) => entry.kind === "reconcile-end" && entry.outcome === "terminal");
  assertEquals(
    failed?.kind === "reconcile-end" ? failed.error : "",
    'Cannot apply Secret "default/s": secrets is not active: ConfigMap "default/features" has not switched it on. ' +
      "Call ctx.isActive(Secret) before",
  );
  await world.create(ConfigMap, { name: "features", data: { secrets: "on" } });
  await world.settled();
  assert(world.find(Secret, "default/s") !== undefined);
});

test("a recording of a kind that comes and goes replays with the same writes", async () => {
  await using recorded = await RecordedWorld.start([routed([])]);
  const { world } = recorded;
  await world.create(Namespace, { name: "a", labels: { routed: "" } });
  await world.settled();
  for (const host of ["one", "two"]) {
    await world.client.create(CrdResource, Route.crd);
    await world.settled();
    await world.patch(Route, "a/main", { kind: "merge", value: { spec: { host } } });
    await world.settled();
    await world.client.delete(CrdResource, "routes.example.dev");
    await world.settled();
  }
  await recorded.save();
  const { code, out, err } = await recorded.replay([routed([])]);
  assertEquals({ code, out }, { code: 0, out: "" }, err);
});

test("the permissions have the kind, and the one object that decides", () => {
  const rules = controllerAccess(routed([])).map(({ resource, verbs, names }) => ({ resource, verbs, names }));
  assertEquals(rules.filter(({ resource }) => /routes|customresource/.test(resource)), [
    { resource: "customresourcedefinitions", verbs: ["list", "watch"], names: ["routes.example.dev"] },
    { resource: "routes", verbs: ["get", "list", "watch", "create", "patch", "delete"], names: undefined },
  ]);
  const [rule] = controllerAccess(counting("counting")).filter(({ names }) => names !== undefined);
  assertEquals(rule, {
    group: "",
    resource: "configmaps",
    scope: "Namespaced",
    namespace: "default",
    verbs: ["list", "watch"],
    names: ["features"],
  });
});

test("whenServed() holds for a definition that is established and serves the version, until it is deleted", () => {
  const { evaluate } = whenServed(Route);
  const established = { conditions: [{ type: "Established", status: "True" }] };
  const definition = { ...Route.crd, status: established };
  assertEquals(evaluate(definition), true);
  assertEquals(evaluate(undefined), "routes.example.dev is not installed");
  assertEquals(evaluate(Route.crd), "routes.example.dev is not established");
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const deleted = { ...definition, metadata: { ...definition.metadata, deletionTimestamp } };
  assertEquals(evaluate(deleted), "routes.example.dev is being deleted");
  const versions = Route.crd.spec.versions.map((version) => ({ ...version, served: false }));
  const unserved = { ...definition, spec: { ...definition.spec, versions } };
  assertEquals(evaluate(unserved), "routes.example.dev has no version v1");
});

test("whenObject() holds when the function says so, and a function that throws says why it does not", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "a", name: "b" } };
  const answers = [true, false, "is odd"].map((answer) => whenObject(ConfigMap, "a/b", () => answer).evaluate(map));
  assertEquals(answers, [true, 'ConfigMap "a/b" does not meet the condition', 'ConfigMap "a/b" is odd']);
  const failing = whenObject(ConfigMap, "a/b", () => {
    throw new Error("no luck");
  });
  assertEquals(failing.evaluate(undefined), 'the condition on ConfigMap "a/b" failed: no luck');
});

test("conditions and their watches are checked when they are declared", () => {
  assertThrows(() => whenObject(ConfigMap, "features", () => true), /its keys have the form namespace\/name/);
  assertThrows(() => whenObject(Namespace, "a/b", () => true), /its keys have the form name/);
  const one = dependent("one", ConfigMap, { of: Namespace, desired: () => "later", activation: whenOn });
  const two = dependent("two", ConfigMap, { of: Namespace, desired: () => "later" });
  assertThrows(() => dependents([one, two]), /"two" and "one" are of the kind ConfigMap, and have another activation/);
  const owning = controller("a").for(Namespace).owns(ConfigMap);
  assertThrows(() => owning.dependents(dependents([one])), /configmaps is watched in another way/);
});
