import { FakeCluster } from "../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { builtin, objectKey, untypedResource } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, metadataOnly, notCached } from "../controller/mod.ts";
import { Manager, type ManagerOptions } from "./manager.ts";

const { ConfigMap, Namespace, Secret } = builtin;
const key = objectKey({ namespace: "shop", name: "a" });

interface Bench extends AsyncDisposable {
  readonly cluster: FakeCluster;
  readonly manager: Manager;
  /** What the server was asked to send, by path. */
  readonly accepted: ReadonlyMap<string, string>;
  until(condition: () => boolean): Promise<void>;
}

/** A Manager at work on a Namespace, a Secret and a ConfigMap. */
function bench(definitions: readonly ControllerDefinition[], options: Partial<ManagerOptions> = {}): Bench {
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
      assert(condition(), "it did not come to that");
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
  await using b = bench([reader], { cacheRules: [{ resource: Secret, isCached: false }] });
  await b.until(() => seen.length === 1);
  assertEquals(seen, [["a", undefined, "a"]]);
  assertEquals(b.accepted.has("/api/v1/secrets"), false);
  assertThrows(() => b.manager.caches.find(Secret, key), /no controller watches it/);
});

test("a controller that watches what a rule forbids to cache is refused, and told what to do", () => {
  const manager = new Manager({
    client: new Client(new FakeCluster().transport),
    cacheRules: [{ resource: Secret, isCached: false }, { resource: ConfigMap, projection: "metadata" }],
  });
  assertThrows(() => manager.add(watching("a", Secret)), /watches secrets, which a cache rule forbids.*notCached\(\)/);
  const maps = controller("b").for(ConfigMap).reconcile(() => Promise.resolve(done));
  assertThrows(() => manager.add(maps), /configmaps, of which a cache rule keeps the metadata alone.*metadataOnly\(\)/);
  manager.add(controller("b").for(metadataOnly(ConfigMap)).reconcile(() => Promise.resolve(done)));
});

test("metadata alone is asked for and kept, under the kind's own name", async () => {
  const counter = controller("counter").for(Namespace).watches(metadataOnly(Secret), { to: () => [] })
    .reconcile(() => Promise.resolve(done));
  await using b = bench([counter]);
  await b.until(() => b.accepted.has("/api/v1/secrets"));
  assert(b.accepted.get("/api/v1/secrets")?.includes("as=PartialObjectMetadata"));
  const partial = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
  b.cluster.put("/api/v1/namespaces/shop/secrets/b", { ...partial, metadata: { namespace: "shop", name: "b" } });
  const other = objectKey({ namespace: "shop", name: "b" });
  await b.until(() => b.manager.caches.find(Secret, other) !== undefined);
  const { apiVersion, kind } = b.manager.caches.find(Secret, other) ?? {};
  assertEquals([apiVersion, kind], ["v1", "Secret"]);
});

test("who needs metadata alone shares the whole objects that another controller watches", async () => {
  const counter = controller("counter").for(Namespace).watches(metadataOnly(Secret), { to: () => [] })
    .reconcile(() => Promise.resolve(done));
  await using b = bench([counter, watching("whole", Secret)]);
  await b.until(() => b.manager.caches.findInformer(Secret)?.lister.find(key) !== undefined);
  assert(!b.accepted.get("/api/v1/secrets")?.includes("PartialObjectMetadata"));
  assertEquals(b.cluster.openWatches, 2, "one of Namespaces, one of Secrets");
});

test("an untyped kind is watched as any other, and shares the cache of the typed one", async () => {
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
  await using b = bench([looker, typed]);
  await b.until(() => seen.length > 0);
  assertEquals(seen, [{ of: "ConfigMap" }, undefined]);
  assertEquals(b.cluster.openWatches, 1);
});
