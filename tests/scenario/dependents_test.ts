/**
 * Ordered dependents in a World: a page, a migration after it, servers after the migration, and an address after the
 * servers that exists only when the Site asks for it.
 */
import type { Transport } from "../../src/client.ts";
import {
  ConfigMap,
  controller,
  type ControllerDefinition,
  controllerReference,
  defineResource,
  dependent,
  dependentList,
  dependents,
  Deployment,
  findCondition,
  isConditionTrue,
  Job,
  manifest,
  Namespace,
  Secret,
  Service,
  withCondition,
  z,
} from "../../src/mod.ts";
import { controllerAccess, declaredTransport, World } from "../../src/testing.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows, test } from "../testing.ts";

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({
    version: z.string().max(20).default("v1"),
    expose: z.boolean().default(true),
    shards: z.int32().min(0).max(5).default(1),
  }),
  status: z.object({
    readyReplicas: z.int32().default(0),
    conditions: z.array(z.object({
      type: z.string(),
      status: z.enum(["True", "False", "Unknown"]),
      reason: z.string(),
      message: z.string(),
      lastTransitionTime: z.string(),
      observedGeneration: z.int().optional(),
    })).optional(),
  }),
});

const page = dependent("page", ConfigMap, {
  of: Site,
  readyWhen: (live) => live.data?.approved !== "no" || "is not approved",
  desired: ({ object: { metadata, spec } }) =>
    manifest(ConfigMap, { metadata: { namespace: metadata.namespace, name: "page" }, data: { version: spec.version } }),
});

const migration = dependent("migration", Job, {
  of: Site,
  after: [page],
  readyWhen: (job) => isConditionTrue(job.status?.conditions, "Complete") || "has not completed",
  desired: ({ object: { metadata, spec } }, { page }) => {
    const container = { name: "migrate", image: "migrate", args: [`${page.data?.version}`] };
    return manifest(Job, {
      metadata: { namespace: metadata.namespace, name: `migration-${spec.version}` },
      spec: { template: { spec: { restartPolicy: "Never", containers: [container] } } },
    });
  },
});

const servers = dependent("servers", Deployment, {
  of: Site,
  after: [migration],
  readyWhen: (live) => live.status?.readyReplicas === live.spec.replicas,
  desired: ({ object: { metadata, spec } }, { migration }) => {
    const labels = { app: "site" };
    const annotations = { migrated: `${migration.metadata.name}` };
    const containers = [{ name: "web", image: `web:${spec.version}` }];
    const template = { metadata: { labels, annotations }, spec: { containers } };
    return manifest(Deployment, {
      metadata: { namespace: metadata.namespace, name: "servers" },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
  },
});

const address = dependent("address", Service, {
  of: Site,
  after: [servers],
  when: ({ object }) => object.spec.expose,
  desired: ({ object: { metadata } }, { servers }) =>
    manifest(Service, {
      metadata: { namespace: metadata.namespace, name: "address" },
      spec: { selector: servers.spec.selector.matchLabels, ports: [{ port: 80 }] },
    }),
});

const shards = dependentList("shards", ConfigMap, {
  of: Site,
  after: [page],
  desired: ({ object: { metadata, spec } }) =>
    Array.from(
      { length: spec.shards },
      (_, at) => manifest(ConfigMap, { metadata: { namespace: metadata.namespace, name: `shard-${at}` } }),
    ),
});

function siteController(graph: ReturnType<typeof dependents>): ControllerDefinition {
  return controller("site").for(Site).dependents(graph).reconcile(async (ctx) => {
    const state = await ctx.applyDependents();
    const conditions = withCondition(ctx.object.status?.conditions, state.condition, ctx.clock.now());
    await ctx.patchStatus({ readyReplicas: state.find(servers)?.status?.readyReplicas ?? 0, conditions });
    return state.result();
  });
}

const site = siteController(dependents([page, migration, servers, address, shards]));

/** `PATCH deployments/servers`: the writes to dependents, in order, without repetitions. */
function recorder() {
  const writes: string[] = [];
  const wrap = (transport: Transport): Transport => async (request) => {
    const found = /(configmaps|jobs|deployments|services)\/([^/?]+)$/.exec(new URL(request.url).pathname);
    const write = found === null ? undefined : `${request.method} ${found[1]}/${found[2]}`;
    if (write !== undefined && request.method !== "GET" && writes.at(-1) !== write) writes.push(write);
    return await declaredTransport(transport, site)(request);
  };
  return { writes, wrap };
}

const startSite = (wrap: (transport: Transport) => Transport) => World.start({ controllers: [site], wrap });
const conditionOf = (world: World) =>
  findCondition(world.get(Site, "default/a").status?.conditions, "DependentsReady") ??
    { status: "", reason: "", message: "" };
const patchSite = (world: World, spec: object) =>
  world.patch(Site, "default/a", { kind: "merge", value: { spec } as never });

test("[104] dependents are created in order, each after the gates before it have opened", async () => {
  const { writes, wrap } = recorder();
  await using world = await startSite(wrap);
  await world.create(Site, { name: "a", spec: {} });
  await world.settled();
  const order = writes.filter((write) => write.startsWith("PATCH"));
  assertEquals(order, [
    "PATCH configmaps/page",
    "PATCH jobs/migration-v1",
    "PATCH configmaps/shard-0",
    "PATCH deployments/servers",
    "PATCH services/address",
  ]);
  assertEquals(world.get(Deployment, "default/servers").metadata.annotations?.["pintle.dev/after"], "migration page");
  assertEquals(world.get(Service, "default/address").spec.selector, { app: "site" });
  assertEquals([conditionOf(world).status, conditionOf(world).message], ["True", "5 dependents are ready"]);
  assertEquals(world.get(Site, "default/a").status?.readyReplicas, 2);
});

test("[104] a closed gate holds what comes after it and nothing else, and the status names it", async () => {
  const { writes, wrap } = recorder();
  await using world = await startSite(wrap);
  await world.create(ConfigMap, { name: "page" });
  await world.create(Site, { name: "a", spec: {} });
  await assertRejects(() => world.settled({ withinMs: 30_000 }), /still retries "default\/a"/);
  assertEquals(writes, [], "the foreign object stays, and nothing comes after it");
  assertEquals(conditionOf(world).reason, "Failed");
  assertStringIncludes(
    conditionOf(world).message,
    'page failed: Cannot apply ConfigMap "default/page": it has no controller',
  );
  assertStringIncludes(conditionOf(world).message, "migration waits for page, which failed");
  assertStringIncludes(conditionOf(world).message, "address waits for servers; shards waits for page");
  await world.delete(ConfigMap, "default/page");
  await world.settled();
  assertEquals(conditionOf(world).status, "True");
  await world.patch(ConfigMap, "default/page", { kind: "merge", value: { data: { approved: "no" } } });
  await world.settled();
  assertEquals(conditionOf(world).reason, "NotReady");
  assertStringIncludes(
    conditionOf(world).message,
    'page is not ready: ConfigMap "default/page" is not approved; migration waits for page, which is not ready',
  );
  writes.length = 0;
  await world.delete(Service, "default/address");
  await patchSite(world, { version: "v2" });
  await world.settled();
  assertEquals(writes, ["PATCH configmaps/page"], "what comes after the closed gate is neither changed nor restored");
  assert(world.find(Deployment, "default/servers") !== undefined);
});

test("[104] an update passes the gates in the same order, and what is no longer named is deleted at the end", async () => {
  const { writes, wrap } = recorder();
  await using world = await startSite(wrap);
  await world.create(Site, { name: "a", spec: { shards: 3 } });
  await world.settled();
  writes.length = 0;
  await patchSite(world, { version: "v2", shards: 1 });
  await world.settled();
  assertEquals(writes, [
    "PATCH configmaps/page",
    "PATCH jobs/migration-v2",
    "PATCH deployments/servers",
    ...["DELETE configmaps/shard-1", "DELETE configmaps/shard-2", "DELETE jobs/migration-v1"],
  ]);
  assertEquals(world.find(Job, "default/migration-v1"), undefined);
  assertEquals(world.list(ConfigMap, "default").map(({ metadata }) => metadata.name), [
    "kube-root-ca.crt",
    "page",
    "shard-0",
  ]);
  assertEquals(world.get(Deployment, "default/servers").spec.template.metadata?.annotations?.migrated, "migration-v2");
});

test("[104] when `when` becomes false, the dependent and what comes after it are deleted, the last one first", async () => {
  const gate = dependent("gate", ConfigMap, {
    of: Site,
    when: ({ object }) => object.spec.expose,
    desired: () => manifest(ConfigMap, { metadata: { namespace: "default", name: "gate" } }),
  });
  const behind = dependent("behind", Service, {
    of: Site,
    after: [gate],
    desired: () =>
      manifest(Service, { metadata: { namespace: "default", name: "behind" }, spec: { ports: [{ port: 80 }] } }),
  });
  const last = dependent("last", Secret, {
    of: Site,
    after: [behind],
    propagationPolicy: "Background",
    desired: () => manifest(Secret, { metadata: { namespace: "default", name: "last" } }),
  });
  const gated = siteController(dependents([gate, behind, last]));
  const deleted: string[] = [];
  const wrap = (transport: Transport): Transport => async (request) => {
    if (request.method === "DELETE") {
      const { propagationPolicy } = await request.clone().json();
      deleted.push(`${new URL(request.url).pathname.split("/").at(-1)} ${propagationPolicy}`);
    }
    return await transport(request);
  };
  await using world = await World.start({ controllers: [gated], wrap });
  await world.create(Site, { name: "a", spec: {} });
  await world.settled();
  await world.patch(Service, "default/behind", {
    kind: "merge",
    value: { metadata: { finalizers: ["example.dev/hold"] } },
  });
  await patchSite(world, { expose: false });
  await world.settled();
  assertEquals(deleted, ["last Background", "behind Foreground"]);
  assertEquals(conditionOf(world).reason, "Deleting");
  assertStringIncludes(conditionOf(world).message, "gate is being deleted: it is excluded by its when");
  assertStringIncludes(conditionOf(world).message, "behind is being deleted: it comes after gate, which is excluded");
  await world.patch(Service, "default/behind", { kind: "merge", value: { metadata: { finalizers: null } } } as never);
  await world.settled();
  assertEquals(deleted, ["last Background", "behind Foreground", "gate Foreground"]);
  assertEquals(conditionOf(world).status, "True");
  await patchSite(world, { expose: true });
  await world.settled();
  assert(world.find(Secret, "default/last") !== undefined);
});

test("[104] the deletion of the owner goes the other way round, and includes the Pods of the servers", async () => {
  const { writes, wrap } = recorder();
  await using world = await startSite(wrap);
  await world.create(Site, { name: "a", spec: {} });
  await world.settled();
  writes.length = 0;
  await world.patch(Service, "default/address", {
    kind: "merge",
    value: { metadata: { finalizers: ["example.dev/hold"] } },
  });
  await world.delete(Site, "default/a");
  await world.settled();
  assertEquals(writes, ["DELETE configmaps/shard-0", "DELETE services/address"]);
  assertEquals(world.get(Deployment, "default/servers").status?.readyReplicas, 2);
  await world.patch(Service, "default/address", { kind: "merge", value: { metadata: { finalizers: null } } } as never);
  await world.settled();
  assertEquals(writes.slice(2), ["DELETE deployments/servers", "DELETE jobs/migration-v1", "DELETE configmaps/page"]);
  assertEquals(world.find(Site, "default/a"), undefined);
});

test("[104] dependents that the controller no longer has are deleted in the order that their annotations say", async () => {
  const deleted: string[] = [];
  const wrap = (transport: Transport): Transport => async (request) => {
    if (request.method === "DELETE") deleted.push(`${new URL(request.url).pathname.split("/").at(-1)}`);
    return await transport(request);
  };
  const shorter = controller("site").for(Site).owns(Secret, { prunes: true }).dependents(dependents([page]))
    .reconcile(async (ctx) => (await ctx.applyDependents()).result());
  await using world = await World.start({ controllers: [shorter], wrap });
  const owner = await world.create(Site, { name: "a", spec: {} });
  await world.settled();
  // Until everything is ready, nothing is deleted.
  const approve = (approved: string | null) =>
    world.patch(ConfigMap, "default/page", { kind: "merge", value: { data: { approved } } });
  await approve("no");
  // As an earlier version of the controller has left them.
  const ownerReferences = [controllerReference(owner, Site)];
  for (const [name, after] of [["first", "page"], ["second", "first page"], ["third", "second first page"]] as const) {
    const annotations = { "pintle.dev/dependent": name, "pintle.dev/after": after };
    await world.create(Secret, { name, ownerReferences, annotations });
  }
  await world.settled();
  assertEquals(deleted, []);
  await approve(null);
  await world.settled();
  assertEquals(deleted, ["third", "second", "first"]);
  assert(world.find(ConfigMap, "default/page") !== undefined);
});

test("[104] a status of an older generation opens no gate", async () => {
  const seen: string[] = [];
  const watched = dependent("servers", Deployment, {
    of: Site,
    readyWhen(live) {
      seen.push(`${live.metadata.generation}/${live.status?.observedGeneration}`);
      return (live.status?.readyReplicas ?? 0) > 0;
    },
    desired({ object: { spec } }) {
      const labels = { app: "site" };
      const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: `web:${spec.version}` }] } };
      return manifest(Deployment, {
        metadata: { namespace: "default", name: "servers" },
        spec: { selector: { matchLabels: labels }, template },
      });
    },
  });
  await using world = await World.start({ controllers: [siteController(dependents([watched]))] });
  await world.create(Site, { name: "a", spec: {} });
  await world.settled();
  await patchSite(world, { version: "v2" });
  await world.settled();
  const older = seen.filter((one) => {
    const [generation, observed] = one.split("/");
    return observed !== "undefined" && Number(observed) < Number(generation);
  });
  assertEquals(older, []);
  assert(seen.includes("2/2"), seen.join(" "));
});

test("[104] an error of one dependent does not hold those beside it; several errors are one", async () => {
  const failing = (name: string) =>
    dependent(name, ConfigMap, {
      of: Site,
      desired: (): never => {
        throw new Error(`no luck with ${name}`);
      },
    });
  const beside = dependent("beside", Secret, {
    of: Site,
    desired: () => manifest(Secret, { metadata: { namespace: "default", name: "beside" } }),
  });
  const graph = dependents([failing("one"), failing("two"), beside]);
  await using world = await World.start({ controllers: [siteController(graph)] });
  await world.create(Site, { name: "a", spec: {} });
  await assertRejects(() => world.settled({ withinMs: 10_000 }), /still retries/);
  assert(world.find(Secret, "default/beside") !== undefined);
  assertEquals(conditionOf(world).message, "one failed: no luck with one; two failed: no luck with two");
});

test("[97, 100] dependents in other namespaces are tracked by labels, and deleted in reverse", async () => {
  const far = dependent("far", ConfigMap, {
    of: Site,
    track: "labels",
    desired: () => manifest(ConfigMap, { metadata: { namespace: "other", name: "far" } }),
  });
  const near = dependent("near", Secret, {
    of: Site,
    after: [far],
    desired: (_ctx, { far }) =>
      manifest(Secret, {
        metadata: { namespace: "default", name: "near", annotations: { far: `${far.metadata.uid}` } },
      }),
  });
  const remote = siteController(dependents([far, near]));
  await using world = await World.start({
    controllers: [remote],
    wrap: (transport) => declaredTransport(transport, remote),
  });
  await world.create(Namespace, { name: "other" });
  await world.create(Site, { name: "a", spec: {} });
  await world.settled();
  assertEquals(
    world.get(Secret, "default/near").metadata.annotations?.far,
    world.get(ConfigMap, "other/far").metadata.uid,
  );
  await world.delete(Site, "default/a");
  await world.settled();
  assertEquals([world.find(ConfigMap, "other/far"), world.find(Secret, "default/near")], [undefined, undefined]);
});

test("[104] ctx.prune() leaves dependents that wait", async () => {
  const pruning = controller("site").for(Site).owns(Service, { prunes: true }).owns(ConfigMap, { prunes: true })
    .dependents(dependents([page, migration, servers, address])).reconcile(async (ctx) => {
      const state = await ctx.applyDependents();
      await ctx.prune();
      return state.result();
    });
  await using world = await World.start({ controllers: [pruning] });
  await world.create(Site, { name: "a", spec: {} });
  await world.settled();
  await world.patch(ConfigMap, "default/page", { kind: "merge", value: { data: { approved: "no" } } });
  await world.settled();
  assert(world.find(Service, "default/address") !== undefined);
});

test("[104] the permissions of ordered dependents are derived, with their deletion and the finalizer", () => {
  const rules = controllerAccess(site).map(({ resource, verbs }) => `${resource}: ${verbs.join(" ")}`);
  assertEquals(rules, [
    "sites: get list watch patch",
    "configmaps: get list watch create patch delete",
    "sites/finalizers: update",
    "jobs: get list watch create patch delete",
    "deployments: get list watch create patch delete",
    "services: get list watch create patch delete",
    "sites/status: patch",
    "events: create patch",
  ]);
  assertEquals(site.finalizer, "example.dev/site");
});

test("[104] a list that cannot be ordered is refused", () => {
  const cases: readonly [() => unknown, RegExp][] = [
    [() => dependents([migration, page]), /"migration" is after "page", which does not stand before it/],
    [() => dependents([page, page]), /"page" occurs twice/],
    [
      () =>
        dependents([
          page,
          dependent("x", Secret, { of: Namespace, desired: () => manifest(Secret, { metadata: { name: "x" } }) }),
        ]),
      /"x" belongs to namespaces, those before it to sites\.example\.dev/,
    ],
    [
      () =>
        dependents([
          page,
          dependent("far", ConfigMap, {
            of: Site,
            track: "labels",
            desired: () => manifest(ConfigMap, { metadata: { name: "x" } }),
          }),
        ]),
      /only one has track: "labels"/,
    ],
    [
      () => dependent("Not A Name", Secret, { of: Site, desired: () => manifest(Secret, { metadata: { name: "x" } }) }),
      /Not A Name/,
    ],
    [() => controller("a").for(Namespace).dependents(dependents([page])), /they belong to sites\.example\.dev/],
    [
      () => controller("a").for(Site).dependents(dependents([page])).dependents(dependents([page])),
      /it has dependents already/,
    ],
    [
      () => controller("a").for(Site).watches(ConfigMap, { to: () => [] }).dependents(dependents([page])),
      /watched in another way/,
    ],
    [
      () =>
        controller("a").for(Site)
          .dependents(dependents([dependent("x", ConfigMap, {
            of: Site,
            reads: [Secret],
            desired: () => manifest(ConfigMap, { metadata: { name: "x" } }),
          })]))
          .reconcile(async (ctx) => (await ctx.applyDependents()).result()),
      /Cannot read secrets in the dependent "x".*Declare it with watches\(Secret, \{ to \}\)/,
    ],
  ];
  for (const [build, message] of cases) assertThrows(build, message);
});

test("the functions of a dependent see the owner and the dependents in `after`, with their types", () => {
  dependent("x", ConfigMap, {
    of: Site,
    after: [page, servers, shards],
    reads: [Secret],
    desired(ctx, earlier) {
      const text: string | undefined = earlier.page.data?.version;
      const count: number | undefined = earlier.servers.spec.replicas;
      const names: readonly (string | undefined)[] = earlier.shards.map(({ metadata }) => metadata.name);
      const version: string = ctx.object.spec.version;
      void ctx.find(Secret, "default/x")?.data;
      // @ts-expect-error: it is not in `after`
      void earlier.migration;
      // @ts-expect-error: it is not in `reads`
      void ctx.find(Service, "default/x");
      // @ts-expect-error: a ConfigMap has no replicas
      void earlier.page.spec;
      return manifest(ConfigMap, { metadata: { name: "x" }, data: { text: `${text}${count}${names}${version}` } });
    },
  });
  // @ts-expect-error: the desired object has another kind
  dependent("y", ConfigMap, { of: Site, desired: () => manifest(Secret, { metadata: { name: "x" } }) });
});
