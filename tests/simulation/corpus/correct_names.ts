/**
 * Correct operators whose objects have other names, or other contents, in each run: names that the server or a random number
 * chose, UIDs in names and statuses, and lists whose order has no meaning.
 *
 * Guarantees: nothing is lost or left under any fault, whatever the names are.
 */
import {
  ConfigMap,
  controller,
  controllerReference,
  defineResource,
  done,
  eventually,
  isAlreadyExists,
  isControlledBy,
  Job,
  manifest,
  Secret,
  Service,
  type SimulationChecks,
  withChecks,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { atOnce, type CorpusCase, UserSteps, workload } from "./_case.ts";

const Run = defineResource({
  group: "runs.example.dev",
  version: "v1",
  kind: "Run",
  scope: "Namespaced",
  spec: z.object({ image: z.string().default("run:1"), ports: z.array(z.int32()).default([8080]) }),
  status: z.object({
    job: z.string().optional(),
    jobUid: z.string().optional(),
    reference: z.string().optional(),
    suffix: z.string().optional(),
    address: z.string().optional(),
  }),
});

const runs = new UserSteps("runs.example.dev/v1", "Run");
const createAndDelete = workload(
  "create and delete",
  runs.create("a", { spec: {} }),
  runs.create("b", { spec: {} }),
  runs.delete("a"),
);

/** Starts one Job for each Run. The server chooses the name; a live list finds the Job of an attempt before this one. */
const generatesOnce = controller("generates-once").for(Run).owns(Job).uses(Job, ["list", "create"]).reconcile(
  async (ctx) => {
    const { namespace, name } = ctx.object.metadata;
    const { items } = await ctx.client.listAll(Job, { namespace, signal: ctx.signal });
    const own = items.find((job) => isControlledBy(job, ctx.object));
    const metadata = { namespace, generateName: `${name}-`, ownerReferences: [controllerReference(ctx.object, Run)] };
    const containers = [{ name: "run", image: ctx.object.spec.image }];
    const spec = { template: { spec: { restartPolicy: "Never", containers } } } as const;
    const job = own ?? await ctx.client.create(Job, { metadata, spec }, { signal: ctx.signal });
    await ctx.patchStatus({ job: job.metadata.name });
    return done;
  },
);

/** Refers to the Job by its UID, also inside of a longer text. */
const refersByUid = controller("refers-by-uid").for(Run).owns(Job).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const containers = [{ name: "run", image: ctx.object.spec.image }];
  const job = await ctx.apply(manifest(Job, {
    metadata: { namespace, name },
    spec: { template: { spec: { restartPolicy: "Never", containers } } },
  }));
  await ctx.patchStatus({ jobUid: job.metadata.uid, reference: `Job/${job.metadata.uid}` });
  return done;
});

/** The name of the ConfigMap has the first part of the UID of its Run, so that no two Runs share it. */
const namesByUid = controller("names-by-uid").for(Run).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "", uid = "" } = ctx.object.metadata;
  const own = `${name}-${uid.slice(0, 8)}`;
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: own }, data: { image: ctx.object.spec.image } }));
  return done;
});

/** A random suffix is recorded before the first object has it, so it is chosen once. */
const choosesSuffix = controller("chooses-suffix").for(Run).owns(Secret).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const { suffix } = ctx.object.status ?? {};
  if (suffix === undefined) {
    // The version lets the server refuse a second choice that an old cache would lead to.
    const { resourceVersion } = ctx.object.metadata;
    const value = { metadata: { resourceVersion }, status: { suffix: crypto.randomUUID().slice(0, 6) } };
    const key = `${namespace}/${name}`;
    const chosen = await ctx.client.patch(Run, key, { kind: "merge", value }, {
      subresource: "status",
      signal: ctx.signal,
    });
    return await createSecret(chosen.status?.suffix ?? "");
  }
  return await createSecret(suffix);

  async function createSecret(chosen: string) {
    await ctx.apply(
      manifest(Secret, { metadata: { namespace, name: `${name}-${chosen}` }, stringData: { token: "t" } }),
    );
    return done;
  }
});

const addresses = ["10-1-0-1", "10-1-0-2", "10-1-0-3", "10-1-0-4"];

/** An address is taken by creating the ConfigMap that has its name, which only one Run can do. */
const takesAnyAddress = controller("takes-any-address", { maxConcurrentReconciles: 2 })
  .for(Run).owns(ConfigMap).uses(ConfigMap, ["list", "create"])
  .reconcile(async (ctx) => {
    const { namespace, name } = ctx.object.metadata;
    const { items } = await ctx.client.listAll(ConfigMap, { namespace, signal: ctx.signal });
    const own = items.find((map) => isControlledBy(map, ctx.object));
    if (own !== undefined) {
      await ctx.patchStatus({ address: own.metadata.name });
      return done;
    }
    for (const address of addresses) {
      const metadata = { namespace, name: address, ownerReferences: [controllerReference(ctx.object, Run)] };
      try {
        await ctx.client.create(ConfigMap, { metadata }, { signal: ctx.signal });
        await ctx.patchStatus({ address });
        return done;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
    throw new Error(`Cannot give Run "${name}" an address: none is free`);
  });

/** Any address is right, as long as each Run has one of its own. */
const addressChecks: SimulationChecks = {
  invariants: [
    eventually("each Run has an address of its own", (state) => {
      const taken = state.list(Run).map(({ status }) => status?.address);
      return !taken.includes(undefined) && new Set(taken).size === taken.length;
    }),
  ],
  // Runs differ in nothing but who has which address.
  equivalent: () => true,
};

/** The ports of the Service are a list with keys: apply puts new ones after those of other appliers. */
const portsInAnyOrder = controller("ports-in-any-order").for(Run).owns(Service).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const ports = ctx.object.spec.ports.map((port) => ({ name: `p${port}`, port }));
  await ctx.apply(manifest(Service, { metadata: { namespace, name }, spec: { selector: { run: name }, ports } }));
  return done;
});

/** Serves at one of the ports. A port that is in use stays so, as long as the Run still offers it. */
const staysAtPort = controller("stays-at-port").for(Run).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const ports = ctx.object.spec.ports.map(String);
  const used = ctx.find(ConfigMap, `${namespace}/${name}`)?.data?.["port"];
  const port = used !== undefined && ports.includes(used) ? used : ports[0];
  if (port !== undefined) await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { port } }));
  return done;
});

export const correctNames: readonly CorpusCase[] = [
  {
    name: "generated-once",
    kind: "correct",
    class: "generateName",
    about: "Each run has other names; each Run has exactly one Job.",
    controllers: [withWorkloads(generatesOnce, createAndDelete)],
  },
  {
    name: "uid-in-status",
    kind: "correct",
    class: "UIDs in a status",
    about: "The status names the Job by its UID, which is another one after the Job was deleted and created.",
    controllers: [withWorkloads(refersByUid, createAndDelete)],
  },
  {
    name: "uid-in-name",
    kind: "correct",
    class: "UIDs in names",
    about: "The name of the ConfigMap has a part of the UID of its owner.",
    controllers: [withWorkloads(
      namesByUid,
      workload("recreate", runs.create("a", { spec: {} }), runs.delete("a"), runs.create("a", { spec: {} })),
    )],
  },
  {
    name: "suffix-chosen-once",
    kind: "correct",
    class: "random names",
    about: "The suffix is recorded before it is used, so there is one Secret with it.",
    controllers: [withWorkloads(choosesSuffix, createAndDelete)],
  },
  {
    name: "any-free-address",
    kind: "correct",
    class: "several right outcomes",
    about: "Which Run gets which address depends on the order; no two get the same.",
    controllers: [withWorkloads(
      withChecks(takesAnyAddress, addressChecks),
      workload(
        "three at once",
        atOnce(runs.create("a", { spec: {} })),
        atOnce(runs.create("b", { spec: {} })),
        runs.create("c", { spec: {} }),
        runs.delete("b"),
        runs.create("d", { spec: {} }),
      ),
    )],
  },
  {
    name: "ports-in-any-order",
    kind: "correct",
    class: "order of lists with keys",
    about: "After a change the ports may be in another order, which means nothing.",
    controllers: [withWorkloads(
      portsInAnyOrder,
      workload(
        "add and remove ports",
        runs.create("a", { spec: { ports: [80] } }),
        runs.patch("a", { spec: { ports: [443, 80] } }),
        runs.patch("a", { spec: { ports: [443, 8080] } }),
      ),
    )],
  },
  {
    name: "choice-kept",
    kind: "correct",
    class: "a choice that depends on what was before",
    about: "A port in use stays as long as the Run offers it, although another one is named first now.",
    controllers: [withWorkloads(
      staysAtPort,
      workload(
        "prefer another port",
        runs.create("a", { spec: { ports: [80, 443] } }),
        runs.patch("a", { spec: { ports: [443, 80] } }),
        runs.patch("a", { spec: { ports: [443] } }),
      ),
    )],
  },
];
