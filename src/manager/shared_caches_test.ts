import { FakeCluster } from "../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { builtin, objectKey, untypedResource } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, metadataOnly, notCached } from "../controller/mod.ts";
import { Manager } from "./manager.ts";
import type { ManagerOptions } from "./manager_options.ts";

const { ConfigMap, Namespace, Secret } = builtin;
const key = objectKey({ namespace: "shop", name: "a" });

interface RunningManager extends AsyncDisposable {
  readonly cluster: FakeCluster;
  readonly manager: Manager;
  /** The Accept header of the last request, by path. */
  readonly accepted: ReadonlyMap<string, string>;
  until(condition: () => boolean): Promise<void>;
}

/** Starts a Manager in a cluster with a Namespace, a Secret and a ConfigMap. */
function startManager(
  definitions: readonly ControllerDefinition[],
  options: Partial<ManagerOptions> = {},
): RunningManager {
  const cluster = new FakeCluster();
  const clock = new VirtualClock();
  const accepted = new Map<string, string>();
  cluster.intercept = (request, path) => {
    accepted.set(path, request.headers.get("accept") ?? "");
    return undefined;
  };
  cluster.put("/api/v1/namespaces/shop", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  for (const kind of ["ConfigMap", "Secret"]) {
    const path = `/api/v1/namespaces/shop/${kind.toLowerCase()}s/a`;
    cluster.put(path, { apiVersion: "v1", kind, metadata: { namespace: "shop", name: "a", labels: { of: kind } } });
  }
  const client = new Client(cluster.transport, { clock });
  const manager = new Manager({ client, clock, random: seededRandom(1), strictAccess: true, ...options });
  for (const definition of definitions) manager.add(definition);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  return {
    cluster,
    manager,
    accepted,
    async until(condition) {
      for (let turn = 0; turn < 2000 && !condition(); turn++) await drain();
      assert(condition(), "the condition did not become true");
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

function watching(name: string, secrets: typeof Secret): ControllerDefinition {
  return controller(name).for(Namespace).watches(secrets, { to: () => [] }).reconcile(() => Promise.resolve(done));
}

test("a kind that is not cached is read from the server each time, and never watched", async () => {
  const Secrets = notCached(Secret);
  const seen: unknown[] = [];
  const reader = controller("reader").for(Namespace).uses(Secrets, ["get", "list"]).reconcile(async (ctx) => {
    const found = await ctx.find(Secrets, "shop/a");
    const none = await ctx.find(Secrets, "shop/none");
    const got = await ctx.get(Secrets, "shop/a");
    seen.push([found?.metadata.name, none, got.metadata.name]);
    return done;
  });
  await using b = startManager([reader], { cacheRules: [{ resource: Secret, isCached: false }] });
  await b.until(() => seen.length === 1);
  assertEquals(seen, [["a", undefined, "a"]]);
  assertEquals(b.accepted.has("/api/v1/secrets"), false);
  assertThrows(() => b.manager.caches.find(Secret, key), /no controller watches it/);
});

test("add() rejects a controller that watches a kind which a rule forbids to cache, and the error says what to use", () => {
  const manager = new Manager({
    client: new Client(new FakeCluster().transport),
    cacheRules: [{ resource: Secret, isCached: false }, { resource: ConfigMap, projection: "metadata" }],
  });
  assertThrows(() => manager.add(watching("a", Secret)), /watches secrets, which a cache rule forbids.*notCached\(\)/);
  const maps = controller("b").for(ConfigMap).reconcile(() => Promise.resolve(done));
  assertThrows(() => manager.add(maps), /configmaps, of which a cache rule keeps only the metadata.*metadataOnly\(\)/);
  manager.add(controller("b").for(metadataOnly(ConfigMap)).reconcile(() => Promise.resolve(done)));
});

test("two cache rules for one kind are refused, because one of them would have no effect", () => {
  const client = new Client(new FakeCluster().transport);
  const labels = { labelSelector: { matchLabels: { app: "web" } } };
  for (const second of [{ resource: Secret, ...labels }, { resource: Secret, isCached: false } as const]) {
    const cacheRules = [{ resource: Secret, projection: "metadata" } as const, { resource: ConfigMap }, second];
    assertThrows(
      () => new Manager({ client, cacheRules }),
      /^Cannot cache secrets: it has two cache rules\. Combine them into one rule$/,
    );
  }
});

test("for a metadataOnly kind, only metadata is requested and cached, with the kind of the resource", async () => {
  const counter = controller("counter").for(Namespace).watches(metadataOnly(Secret), { to: () => [] })
    .reconcile(() => Promise.resolve(done));
  await using b = startManager([counter]);
  await b.until(() => b.accepted.has("/api/v1/secrets"));
  assert(b.accepted.get("/api/v1/secrets")?.includes("as=PartialObjectMetadata"));
  const partial = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
  b.cluster.put("/api/v1/namespaces/shop/secrets/b", { ...partial, metadata: { namespace: "shop", name: "b" } });
  const other = objectKey({ namespace: "shop", name: "b" });
  await b.until(() => b.manager.caches.find(Secret, other) !== undefined);
  const { apiVersion, kind } = b.manager.caches.find(Secret, other) ?? {};
  assertEquals([apiVersion, kind], ["v1", "Secret"]);
});

test("a metadataOnly watch shares the whole objects that another controller watches", async () => {
  const counter = controller("counter").for(Namespace).watches(metadataOnly(Secret), { to: () => [] })
    .reconcile(() => Promise.resolve(done));
  await using b = startManager([counter, watching("whole", Secret)]);
  await b.until(() => b.manager.caches.findInformer(Secret)?.lister.find(key) !== undefined);
  assert(!b.accepted.get("/api/v1/secrets")?.includes("PartialObjectMetadata"));
  assertEquals(b.cluster.openWatches, 2, "one of Namespaces, one of Secrets");
});

test("an untyped kind shares the cache of the typed one", async () => {
  const Untyped = untypedResource({
    group: "",
    version: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    scope: "Namespaced",
  });
  const seen: unknown[] = [];
  const looker = controller("looker").for(Untyped).reconcile((ctx) => {
    seen.push(ctx.object.metadata.labels, ctx.object["data"]);
    return Promise.resolve(done);
  });
  const typed = controller("typed").for(ConfigMap).reconcile(() => Promise.resolve(done));
  await using b = startManager([looker, typed]);
  await b.until(() => seen.length > 0);
  assertEquals(seen, [{ of: "ConfigMap" }, undefined]);
  assertEquals(b.cluster.openWatches, 1);
});
