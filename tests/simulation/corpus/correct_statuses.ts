/**
 * Correct operators whose states pass through something that looks wrong: counts that lag, conflicts that end, and objects of
 * two controllers.
 */
import {
  ConfigMap,
  controller,
  defineResource,
  Deployment,
  done,
  type Infer,
  manifest,
  NotControlledError,
  withCondition,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
});

const Fleet = defineResource({
  group: "fleets.example.dev",
  version: "v1",
  kind: "Fleet",
  scope: "Namespaced",
  spec: z.object({
    size: z.int32().min(0).max(9).default(2),
    mirrors: z.array(z.string()).default([]),
    color: z.string().default("red"),
  }),
  status: z.object({
    ships: z.int32().optional(),
    ready: z.int32().optional(),
    conditions: z.array(condition).optional(),
  }),
});
type Fleet = Infer<typeof Fleet>;

const fleets = new UserSteps("fleets.example.dev/v1", "Fleet");
const maps = new UserSteps("v1", "ConfigMap");

/** One Deployment for each ship; the status counts those that exist and those that are ready. */
const countsShips = controller("counts-ships").for(Fleet).owns(Deployment, { prunes: true }).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const ships: Infer<typeof Deployment>[] = [];
  for (let ordinal = 0; ordinal < ctx.object.spec.size; ordinal++) {
    const labels = { ship: `${name}-${ordinal}` };
    const template = { metadata: { labels }, spec: { containers: [{ name: "ship", image: "ship:1" }] } };
    ships.push(
      await ctx.apply(manifest(Deployment, {
        metadata: { namespace, name: `${name}-${ordinal}` },
        spec: { replicas: 1, selector: { matchLabels: labels }, template },
      })),
    );
  }
  await ctx.prune();
  const ready = ships.filter(({ status }) => (status?.readyReplicas ?? 0) > 0).length;
  await ctx.patchStatus({ ships: ships.length, ready });
  return done;
});

/** Reports an object of others that is in the way, and goes on when it is gone. */
const reportsConflict = controller("reports-conflict").for(Fleet).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const report = async (status: "True" | "False", message: string) => {
    const free = { type: "Free", status, reason: "Checked", message } as const;
    await ctx.patchStatus({ conditions: withCondition(ctx.object.status?.conditions, free, ctx.clock.now()) });
  };
  try {
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { color: ctx.object.spec.color } }));
  } catch (error) {
    if (!(error instanceof NotControlledError)) throw error;
    await report("False", `ConfigMap "${name}" belongs to others`);
    throw error;
  }
  await report("True", "");
  return done;
});

/** Two controllers of one operator, each with its own fields of the same ConfigMap. */
const writesColor = controller("writes-color").for(Fleet).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  await ctx.apply(
    manifest(ConfigMap, { metadata: { namespace, name: `${name}-paint` }, data: { color: ctx.object.spec.color } }),
  );
  return done;
});

const writesSize = controller("writes-size").for(Fleet).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const data = { size: String(ctx.object.spec.size) };
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-paint` }, data }));
  return done;
});

const growAndShrink = workload(
  "grow and shrink",
  fleets.create("a", { spec: { size: 1 } }),
  fleets.patch("a", { spec: { size: 3 } }),
  fleets.patch("a", { spec: { size: 0 } }),
);

const repaint = workload(
  "repaint",
  fleets.create("a", { spec: {} }),
  fleets.patch("a", { spec: { color: "blue", size: 3 } }),
  fleets.delete("a"),
);

export const correctStatuses: readonly CorpusCase[] = [
  {
    name: "counts-lag",
    kind: "correct",
    class: "counts in a status that lag",
    about: "The counts follow the ships with a delay, and are right in the end.",
    controllers: [withWorkloads(countsShips, growAndShrink)],
  },
  {
    name: "conflict-reported",
    kind: "correct",
    class: "a foreign object in the way",
    about: "While a ConfigMap of others is in the way, the key is retried; then all is well.",
    controllers: [withWorkloads(
      reportsConflict,
      workload(
        "in the way",
        maps.create("a", { data: { of: "others" } }),
        fleets.create("a", { spec: {} }),
        maps.delete("a"),
      ),
    )],
  },
  {
    name: "one-object-of-two",
    kind: "correct",
    class: "two controllers with fields of one object",
    about: "Each controller applies its own fields, so neither overwrites the other.",
    controllers: [withWorkloads(writesColor, repaint), withWorkloads(writesSize, repaint)],
  },
];
