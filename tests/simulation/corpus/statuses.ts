/**
 * Operators that report wrongly: a generation as observed that is not, a status that each pass writes anew, and conditions that
 * overwrite those of another controller.
 */
import {
  ConfigMap,
  controller,
  defineResource,
  Deployment,
  done,
  type Infer,
  manifest,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const condition = z.object({ type: z.string(), status: z.string(), reason: z.string().optional() });

const Queue = defineResource({
  group: "queues.example.dev",
  version: "v1",
  kind: "Queue",
  scope: "Namespaced",
  spec: z.object({ size: z.int32().min(0).max(100).default(1), backend: z.string().default("memory") }),
  status: z.object({
    observedGeneration: z.int32().optional(),
    passes: z.int32().optional(),
    conditions: z.array(condition).optional(),
    size: z.int32().optional(),
    ready: z.boolean().optional(),
  }),
});
type Queue = Infer<typeof Queue>;

const queues = new UserSteps("queues.example.dev/v1", "Queue");

function settingsOf({ metadata: { namespace, name = "" }, spec: { size, backend } }: Queue) {
  return manifest(ConfigMap, {
    metadata: { namespace, name: `${name}-settings` },
    data: { size: String(size), backend },
  });
}

function deploymentOf({ metadata: { namespace, name = "" }, spec: { size } }: Queue) {
  const labels = { queue: name };
  return manifest(Deployment, {
    metadata: { namespace, name },
    spec: {
      replicas: size,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "queue", image: "queue:1" }] } },
    },
  });
}

/** Skips a Queue whose generation it has handled. */
const observesFirst = controller("observes-first").for(Queue).owns(ConfigMap).reconcile(async (ctx) => {
  const { generation } = ctx.object.metadata;
  if (ctx.object.status?.observedGeneration === generation) return done;
  // Wrong: the generation is recorded as done before it is.
  await ctx.patchStatus({ observedGeneration: generation });
  await ctx.apply(settingsOf(ctx.object));
  return done;
});

/** Records the generation of the live object, while the work was done for the cached one. */
const observesLive = controller("observes-live").for(Queue).owns(ConfigMap).uses(Queue, ["get"]).reconcile(
  async (ctx) => {
    const { namespace, name, generation } = ctx.object.metadata;
    if (ctx.object.status?.observedGeneration === generation) return done;
    await ctx.apply(settingsOf(ctx.object));
    const live = await ctx.client.get(Queue, `${namespace}/${name}`, { signal: ctx.signal });
    // Wrong: the newest generation may be one whose settings nobody has applied.
    await ctx.patchStatus({ observedGeneration: live.metadata.generation });
    return done;
  },
);

/** Counts its passes. */
const countsPasses = controller("counts-passes", { ownWrites: "deliver" }).for(Queue).owns(ConfigMap).reconcile(
  async (ctx) => {
    await ctx.apply(settingsOf(ctx.object));
    // Wrong: each write of the status brings the key back, which writes the status.
    await ctx.patchStatus({ passes: (ctx.object.status?.passes ?? 0) + 1 });
    return done;
  },
);

/** Reports whether the Deployment is ready when it is created. */
const readyTooEarly = controller("ready-too-early").for(Queue).owns(Deployment, {
  when: ({ kind }) => kind !== "updated",
})
  .reconcile(async (ctx) => {
    const live = await ctx.apply(deploymentOf(ctx.object));
    // Wrong: updates of the Deployment are not watched, so the status keeps what was true at the last write.
    const ready = (live.status?.readyReplicas ?? 0) >= ctx.object.spec.size;
    await ctx.patchStatus({ ready, size: ctx.object.spec.size });
    return done;
  });

const createAndGrow = workload(
  "create and grow",
  queues.create("jobs", { spec: { size: 1 } }),
  queues.patch("jobs", { spec: { size: 3 } }),
);

export const statuses: readonly CorpusCase[] = [
  {
    name: "generation-observed-first",
    kind: "bug",
    class: "observedGeneration before the work",
    about: "After a crash the status says that the newest generation is observed, and its settings are never applied.",
    controllers: [withWorkloads(observesFirst, createAndGrow)],
    expected: ["end-state"],
  },
  {
    name: "generation-of-live-object",
    kind: "bug",
    class: "observedGeneration of another read",
    about: "A change that comes during a pass is reported as observed and never applied.",
    controllers: [withWorkloads(
      observesLive,
      workload(
        "change during a pass",
        { ...queues.create("jobs", { spec: { size: 1 } }), untilWrites: 1 },
        queues.patch("jobs", { spec: { size: 3 } }),
      ),
    )],
    expected: ["declared-state", "end-state"],
  },
  {
    name: "status-on-each-pass",
    kind: "bug",
    class: "hot loop: status written on each pass",
    about: "The operator writes the status without end, as fast as the server answers.",
    controllers: [withWorkloads(countsPasses, workload("create", queues.create("jobs", { spec: {} })))],
    expected: ["quiescence", "starved-key"],
  },
  {
    name: "ready-never-reported",
    kind: "bug",
    class: "liveness: changes of a child not watched",
    about: "A Queue whose members have become ready is reported as not ready until the next change of its spec.",
    controllers: [withWorkloads(readyTooEarly, createAndGrow)],
    expected: ["end-state"],
  },
];
