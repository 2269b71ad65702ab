/**
 * Ownership in a World: dependents that an owner reference cannot lead to, their clean-up by labels, pruning, and how
 * deletions treat the dependents of what is deleted.
 */
import { type Transport } from "../../src/client.ts";
import {
  ClusterRole,
  ConfigMap,
  controller,
  controllerOf,
  controllerReference,
  defineResource,
  done,
  isControlledBy,
  isInvalid,
  Job,
  manifest,
  Namespace,
  Pod,
  z,
} from "../../src/mod.ts";
import { controllerAccess, declaredTransport, World } from "../../src/testing.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows, test } from "../testing.ts";

const Team = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Team",
  scope: "Namespaced",
  spec: z.object({
    namespaces: z.array(z.string().max(63)).max(10),
    text: z.string().max(100).default("hello"),
  }),
});

/** One ConfigMap in each namespace of a Team, and a ClusterRole. */
const teams = controller("teams").for(Team)
  .owns(ConfigMap, { track: "labels", prunes: true })
  .owns(ClusterRole, { track: "labels" })
  .reconcile(async (ctx) => {
    const { name = "" } = ctx.object.metadata;
    for (const namespace of ctx.object.spec.namespaces) {
      const data = { text: ctx.object.spec.text };
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data }));
    }
    await ctx.apply(manifest(ClusterRole, { metadata: { name }, rules: [] }));
    await ctx.prune();
    return done;
  });

/** A world that allows only what `teams` declared, with two namespaces. */
async function startTeams(): Promise<World> {
  const world = await World.start({ controllers: [teams], wrap: (transport) => declaredTransport(transport, teams) });
  for (const name of ["a", "b"]) await world.create(Namespace, { name });
  return world;
}

/** `POST /api/v1/...`: the requests that were sent, without reads and Events. */
function recordWrites(writes: string[]): (transport: Transport) => Transport {
  return (transport) => async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method !== "GET" && !pathname.includes("/events.k8s.io/")) writes.push(`${request.method} ${pathname}`);
    return await transport(request);
  };
}

for (
  const [where, resource, desired] of [
    ["another namespace", ConfigMap, manifest(ConfigMap, { metadata: { namespace: "a", name: "x" } })],
    ["no namespace", ClusterRole, manifest(ClusterRole, { metadata: { name: "x" }, rules: [] })],
  ] as const
) {
  test(`[96] a controller reference from ${where} is refused before anything is sent`, async () => {
    const errors: unknown[] = [];
    const crossing = controller("crossing").for(Team).owns(resource as typeof ConfigMap).reconcile(async (ctx) => {
      await ctx.apply(desired as never).catch((error: unknown) => {
        errors.push(error);
        throw error;
      });
      return done;
    });
    const writes: string[] = [];
    await using world = await World.start({ controllers: [crossing], wrap: recordWrites(writes) });
    await world.create(Namespace, { name: "a" });
    await world.create(Team, { name: "red", spec: { namespaces: [] } });
    await world.settled();
    assertEquals(writes, []);
    assertEquals(errors.length, 1, "it is not retried until the object changes");
    assertStringIncludes(String(errors[0]), 'Team "default/red" as its controller');
    assertStringIncludes(String(errors[0]), `owns(${resource.kind}, { track: "labels" })`);
    assertStringIncludes(String(errors[0]), `watches(${resource.kind}, { to })`);
  });
}

test("[96] a World refuses owner references across scopes, in every form of a write, and stores nothing", async () => {
  await using world = await World.start({ controllers: [teams] });
  await world.create(Namespace, { name: "a" });
  const team = await world.create(Team, { name: "red", spec: { namespaces: [] } });
  const ownerReferences = [controllerReference(team, Team)];
  const metadata = { name: "x", namespace: "a", ownerReferences };
  await world.create(ConfigMap, { name: "target", namespace: "a" });
  const { client } = world;
  const crossing = /its owner Team "red" is in the namespace "default", not in "a"/;
  const operations = [{ op: "add" as const, path: "/metadata/ownerReferences", value: ownerReferences }];
  for (
    const write of [
      () => client.create(ConfigMap, { metadata }),
      () => client.apply(ConfigMap, { metadata }, { fieldManager: "user" }),
      () => client.patch(ConfigMap, "a/target", { kind: "merge", value: { metadata: { ownerReferences } } }),
      () => client.patch(ConfigMap, "a/target", { kind: "json", operations }),
    ]
  ) {
    const error = await assertRejects(write, crossing);
    assert(isInvalid(error));
    assertStringIncludes(String(error), 'owns(..., { track: "labels" })');
  }
  const clusterWide = () => client.create(ClusterRole, { metadata: { name: "x", ownerReferences }, rules: [] });
  await assertRejects(clusterWide, /a cluster-scoped object cannot be owned by Team "red", which is in a namespace/);
  assertEquals([names(world, "a"), world.find(ClusterRole, "x")], [["target"], undefined]);
  assertEquals(world.get(ConfigMap, "a/target").metadata.ownerReferences, undefined);
  await client.create(ConfigMap, { metadata: { ...metadata, namespace: "default" } });
});

test("[97] dependents in other namespaces and cluster-scoped ones are created, restored, changed and deleted", async () => {
  await using world = await startTeams();
  await world.create(Team, { name: "red", spec: { namespaces: ["a", "b"] } });
  await world.settled();
  const uid = world.get(Team, "default/red").metadata.uid;
  const child = world.get(ConfigMap, "a/red");
  assertEquals(child.metadata.ownerReferences, undefined);
  assertEquals(child.metadata.labels, { "pintle.dev/owner-uid": `${uid}`, "pintle.dev/controller": "teams" });
  assertEquals(child.metadata.annotations, {
    "pintle.dev/owner": "teams.example.dev default/red",
    "pintle.dev/object": "configmaps a/red",
  });
  await world.delete(ConfigMap, "a/red");
  await world.patch(ConfigMap, "b/red", { kind: "merge", value: { data: { text: "hacked" } } });
  await world.settled();
  assertEquals([world.get(ConfigMap, "a/red").data?.text, world.get(ConfigMap, "b/red").data?.text], [
    "hello",
    "hello",
  ]);
  await world.delete(Team, "default/red");
  await world.settled();
  for (
    const [resource, key] of [[Team, "default/red"], [ConfigMap, "a/red"], [ConfigMap, "b/red"], [
      ClusterRole,
      "red",
    ]] as const
  ) {
    assertEquals(world.find(resource, key), undefined);
  }
});

test("[97] the owner stays until its dependents in other namespaces are gone", async () => {
  await using world = await startTeams();
  await world.create(Team, { name: "red", spec: { namespaces: ["a"] } });
  await world.settled();
  const finalizers = (names: readonly string[]) =>
    world.patch(ConfigMap, "a/red", { kind: "merge", value: { metadata: { finalizers: [...names] } } });
  await finalizers(["example.dev/hold"]);
  await world.delete(Team, "default/red");
  await world.settled();
  assert(world.get(ConfigMap, "a/red").metadata.deletionTimestamp !== undefined);
  assert(world.find(Team, "default/red") !== undefined);
  await finalizers([]);
  await world.settled();
  assertEquals([world.find(ConfigMap, "a/red"), world.find(Team, "default/red")], [undefined, undefined]);
});

test("[97] two owners of the same dependent do not fight: the second is told, the first keeps it", async () => {
  await using world = await startTeams();
  await world.create(Team, { name: "red", spec: { namespaces: ["a"] } });
  await world.settled();
  await world.create(Namespace, { name: "other" });
  await world.create(Team, { name: "red", namespace: "other", spec: { namespaces: ["a"], text: "other" } });
  const error = await assertRejects(() => world.settled({ withinMs: 60_000 }));
  assertStringIncludes(String(error), 'still retries "other/red"');
  assertEquals(world.get(ConfigMap, "a/red").data?.text, "hello");
  await world.delete(Team, "other/red");
  await world.settled();
  assertEquals(world.get(ConfigMap, "a/red").data?.text, "hello", "the finalizer of the second owner leaves it");
  assertEquals(world.find(Team, "other/red"), undefined);
});

test("[97] copies of a dependent, and objects with forged labels, belong to no one", async () => {
  await using world = await startTeams();
  await world.create(Team, { name: "red", spec: { namespaces: ["a"] } });
  await world.settled();
  const { labels, annotations } = world.get(ConfigMap, "a/red").metadata;
  await world.create(ConfigMap, { name: "copy", namespace: "a", labels, annotations });
  const owner = { apiVersion: "v1", kind: "Namespace", name: "a", uid: `${world.get(Namespace, "a").metadata.uid}` };
  const forged = { ...annotations, "pintle.dev/object": "configmaps a/controlled" };
  const ownerReferences = [{ ...owner, controller: true }];
  await world.create(ConfigMap, { name: "controlled", namespace: "a", labels, annotations: forged, ownerReferences });
  const strange = {
    ...annotations,
    "pintle.dev/object": "configmaps a/strange",
    "pintle.dev/owner": "teams.example.dev x",
  };
  await world.create(ConfigMap, { name: "strange", namespace: "a", labels, annotations: strange });
  await world.delete(Team, "default/red");
  await world.settled();
  assertEquals(names(world, "a"), ["controlled", "copy", "strange"]);
});

test("[97] dependents of an owner that went without its finalizer are deleted, also if it exists again", async () => {
  await using world = await startTeams();
  await world.create(Team, { name: "red", spec: { namespaces: ["a"] } });
  await world.create(Team, { name: "blue", spec: { namespaces: ["a"] } });
  await world.settled();
  const blue = world.get(ConfigMap, "a/blue").metadata.uid;
  const finalizers: string[] = [];
  for (const name of ["red", "blue"]) {
    await world.patch(Team, `default/${name}`, { kind: "merge", value: { metadata: { finalizers } } });
    await world.delete(Team, `default/${name}`);
  }
  await world.create(Team, { name: "blue", spec: { namespaces: ["a"] } });
  await world.settled();
  assertEquals(world.find(ConfigMap, "a/red"), undefined);
  assert(world.get(ConfigMap, "a/blue").metadata.uid !== blue, "the new owner has its own dependent");
});

test("[97] tracking by labels adds a finalizer, and a controller without one is refused", () => {
  assertEquals(teams.finalizer, "example.dev/teams");
  const own = controller("own").for(Team).owns(ConfigMap, { track: "labels" }).finalize(
    () => Promise.resolve(done),
    "x.dev/y",
  )
    .reconcile(() => Promise.resolve(done));
  assertEquals(own.finalizer, "x.dev/y");
  assertThrows(
    () => controller("raw").for(Team).owns(ConfigMap, { track: "labels" }).reconcileKey(() => Promise.resolve(done)),
    /Cannot track configmaps by labels in controller "raw": reconcileKey\(\) has no finalizer/,
  );
  const rules = controllerAccess(teams).map(({ resource, verbs }) => `${resource}: ${verbs.join(" ")}`);
  assertEquals(rules.slice(0, 3), [
    "teams: get list watch patch",
    "configmaps: get list watch create patch delete",
    "clusterroles: get list watch create patch delete",
  ]);
});

test("[98] ctx.prune() removes what is no longer applied, and leaves what it does not own", async () => {
  await using world = await startTeams();
  await world.create(Team, { name: "red", spec: { namespaces: ["a", "b"] } });
  await world.settled();
  await world.create(ConfigMap, { name: "settings", namespace: "b" });
  await world.patch(Team, "default/red", { kind: "merge", value: { spec: { namespaces: ["a"] } } });
  await world.settled();
  assertEquals([names(world, "a"), names(world, "b")], [["red"], ["settings"]]);
});

/** Applies the ConfigMaps that a Team names, in its namespace, and prunes the others. */
const lists = controller("lists").for(Team).owns(ConfigMap, { prunes: true }).reconcile(async (ctx) => {
  for (const name of ctx.object.spec.namespaces) {
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace: ctx.object.metadata.namespace, name } }));
  }
  await ctx.prune();
  return done;
});

/** The ConfigMaps of a namespace, without the one that Kubernetes creates in each. */
const names = (world: World, namespace = "default") =>
  world.list(ConfigMap, namespace).map(({ metadata }) => `${metadata.name}`).filter((name) =>
    name !== "kube-root-ca.crt"
  );

test("[96] ctx.apply() sets further owners that are desired, removes them again, and leaves those of other clients", async () => {
  const writes: string[] = [];
  const shares = controller("shares").for(Team).owns(ConfigMap).reconcile(
    async (ctx) => {
      const { name = "", namespace } = ctx.object.metadata;
      const { controller: _no, ...reference } = controllerReference(ctx.get(ConfigMap, "default/other"), ConfigMap);
      const ownerReferences = ctx.object.spec.namespaces.includes("shared") ? [reference] : [];
      await ctx.apply(manifest(ConfigMap, { metadata: { name, namespace, ownerReferences } }));
      return done;
    },
  );
  await using world = await World.start({ controllers: [shares], cluster: false, wrap: recordWrites(writes) });
  await world.create(ConfigMap, { name: "other" });
  const third = await world.create(ConfigMap, { name: "third" });
  await world.settled();
  const owners = () => world.get(ConfigMap, "default/red").metadata.ownerReferences?.map(({ name }) => name);
  await world.create(Team, { name: "red", spec: { namespaces: ["shared"] } });
  await world.settled();
  assertEquals(owners(), ["red", "other"]);
  await world.patch(Team, "default/red", { kind: "merge", value: { spec: { namespaces: [] } } });
  await world.settled();
  assertEquals(owners(), ["red"]);
  const { controller: _no, ...reference } = controllerReference(third, ConfigMap);
  const operations = [{ op: "add", path: "/metadata/ownerReferences/-", value: reference }] as const;
  await world.patch(ConfigMap, "default/red", { kind: "json", operations });
  await world.settled();
  const before = writes.length;
  await world.patch(Team, "default/red", { kind: "merge", value: { metadata: { labels: { touched: "yes" } } } });
  await world.settled();
  assertEquals([owners(), writes.length], [["red", "third"], before]);
});

test("[98] ctx.prune() leaves what another controller created for the same owner", async () => {
  await using world = await World.start({
    controllers: [lists],
    wrap: (transport) => declaredTransport(transport, lists),
  });
  const team = await world.create(Team, { name: "red", spec: { namespaces: ["x", "y"] } });
  await world.settled();
  const ownerReferences = world.get(ConfigMap, "default/x").metadata.ownerReferences;
  await world.create(ConfigMap, { name: "of-another-controller", ownerReferences });
  await world.patch(Team, "default/red", { kind: "merge", value: { spec: { namespaces: ["y"] } } });
  await world.settled();
  assertEquals(names(world), ["of-another-controller", "y"]);
  assert(isControlledBy(world.get(ConfigMap, "default/of-another-controller"), team));
});

test("[98] ctx.prune() deletes nothing while the owner on the server is newer than the one that was reconciled", async () => {
  let world: World | undefined;
  const deleted: string[] = [];
  const racing = controller("racing").for(Team).owns(ConfigMap, { prunes: true }).reconcile(async (ctx) => {
    const { namespaces } = ctx.object.spec;
    for (const name of namespaces) {
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name } }));
    }
    // A user asks for x again after this attempt has read the Team, and before it prunes.
    if (namespaces.length === 0) {
      await world?.patch(Team, "default/red", { kind: "merge", value: { spec: { namespaces: ["x"] } } });
    }
    await ctx.prune();
    return done;
  });
  const wrap = (transport: Transport): Transport => async (request) => {
    if (request.method === "DELETE") deleted.push(new URL(request.url).pathname);
    return await transport(request);
  };
  await using started = world = await World.start({ controllers: [racing], wrap });
  await started.create(Team, { name: "red", spec: { namespaces: ["x"] } });
  await started.settled();
  await started.patch(Team, "default/red", { kind: "merge", value: { spec: { namespaces: [] } } });
  await started.settled();
  assertEquals([deleted, names(started)], [[], ["x"]]);
});

test("[98] ctx.prune() without a declared kind is a TypeError that says what to declare", async () => {
  const errors: unknown[] = [];
  const forgetful = controller("forgetful").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    await ctx.prune().catch((error: unknown) => errors.push(error));
    return done;
  });
  await using world = await World.start({ controllers: [forgetful] });
  await world.settled();
  assert(errors[0] instanceof TypeError);
  assertStringIncludes(errors[0].message, "owns(..., { prunes: true })");
});

/** Deletes the Jobs of a Team as its text says. */
function cleaner(policy: "Background" | "Foreground" | "Orphan" | undefined) {
  const labels = { app: "job" };
  return controller("cleaner").for(Team).owns(Job, { deletes: true }).reconcile(async (ctx) => {
    const metadata = { namespace: "default", name: "work", labels };
    if (ctx.object.spec.text === "hello") {
      const template = { spec: { restartPolicy: "Never", containers: [{ name: "a", image: "a" }] } } as const;
      await ctx.apply(manifest(Job, { metadata, spec: { template } }));
      return done;
    }
    const job = ctx.find(Job, "default/work");
    if (job !== undefined) await ctx.delete(Job, job, { propagationPolicy: policy });
    return done;
  });
}

for (
  const [policy, sent, pods] of [
    [undefined, "Background", 0],
    ["Background", "Background", 0],
    ["Foreground", "Foreground", 0],
    ["Orphan", "Orphan", 1],
  ] as const
) {
  test(`[99] ctx.delete() of a Job with the policy ${policy} sends ${sent} and leaves ${pods} Pods`, async () => {
    const policies: unknown[] = [];
    const wrap = (transport: Transport): Transport => async (request) => {
      if (request.method === "DELETE") policies.push((await request.clone().json()).propagationPolicy);
      return await transport(request);
    };
    await using world = await World.start({ controllers: [cleaner(policy)], wrap });
    await world.create(Team, { name: "red", spec: { namespaces: [] } });
    await world.settled();
    assertEquals(world.list(Pod, "default").length, 1);
    await world.patch(Team, "default/red", { kind: "merge", value: { spec: { text: "bye" } } });
    await world.settled();
    assertEquals(policies, [sent]);
    assertEquals([world.find(Job, "default/work"), world.list(Pod, "default").length], [undefined, pods]);
  });
}

test("[99] ctx.deleteAll() by labels deletes only what the object owns", async () => {
  const sweeping = controller("sweeping").for(Team).owns(ConfigMap, { deletes: true }).reconcile(async (ctx) => {
    const { name = "", namespace } = ctx.object.metadata;
    if (ctx.object.spec.text === "hello") {
      for (const kind of ["old", "new"]) {
        await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-${kind}`, labels: { kind } } }));
      }
      return done;
    }
    const count = await ctx.deleteAll(ConfigMap, { labelSelector: { matchLabels: { kind: "old" } } });
    ctx.log.info("deleted", { count });
    return done;
  });
  await using world = await World.start({
    controllers: [sweeping],
    wrap: (transport) => declaredTransport(transport, sweeping),
  });
  for (const name of ["blue", "red"]) await world.create(Team, { name, spec: { namespaces: [] } });
  await world.create(ConfigMap, { name: "foreign", labels: { kind: "old" } });
  await world.settled();
  await world.patch(Team, "default/red", { kind: "merge", value: { spec: { text: "bye" } } });
  await world.settled();
  assertEquals(names(world), ["blue-new", "blue-old", "foreign", "red-new"]);
  assert(controllerOf(world.get(ConfigMap, "default/blue-old"))?.name === "blue");
});
