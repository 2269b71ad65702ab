/**
 * Correct operators that work by time: timers that are due, periods that never end, and times in statuses.
 *
 * Guarantees: each of them finds in the objects, not in its memory, what is due.
 */
import {
  ConfigMap,
  controller,
  defineResource,
  Deployment,
  done,
  type Infer,
  manifest,
  requeueAfter,
  Secret,
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
  observedGeneration: z.int32().optional(),
});

const Token = defineResource({
  group: "tokens.example.dev",
  version: "v1",
  kind: "Token",
  scope: "Namespaced",
  spec: z.object({
    everySeconds: z.int32().default(60),
    ttlSeconds: z.int32().default(120),
    replicas: z.int32().default(1),
  }),
  status: z.object({
    phase: z.string().optional(),
    syncedAtSeconds: z.int32().optional(),
    conditions: z.array(condition).optional(),
    observedGeneration: z.int32().optional(),
  }),
});
type Token = Infer<typeof Token>;

const tokens = new UserSteps("tokens.example.dev/v1", "Token");

function deploymentOf({ metadata: { namespace, name = "" } }: Token, replicas: number) {
  const labels = { token: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "main:1" }] } };
  return manifest(Deployment, {
    metadata: { namespace, name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  });
}

/** Looks at a Token every minute, and writes only if something is to be changed. */
const polls = controller("polls").for(Token).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const data = { every: String(ctx.object.spec.everySeconds) };
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-settings` }, data }));
  return requeueAfter(60_000);
});

/** Writes a new Secret in each period; the number of the period is its content. */
const rotates = controller("rotates").for(Token).owns(Secret).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const periodMs = ctx.object.spec.everySeconds * 1_000;
  const now = ctx.clock.now();
  const period = Math.floor(now / periodMs);
  await ctx.apply(
    manifest(Secret, { metadata: { namespace, name: `${name}-key` }, stringData: { key: `key ${period}` } }),
  );
  return requeueAfter((period + 1) * periodMs - now);
});

/** Stops a Token when its time is over. Each pass computes what is left from the time of its creation. */
const expires = controller("expires").for(Token).owns(Deployment).reconcile(async (ctx) => {
  const now = ctx.clock.now();
  const createdAt = Date.parse(ctx.object.metadata.creationTimestamp ?? "");
  const leftMs = createdAt + ctx.object.spec.ttlSeconds * 1_000 - now;
  const isOver = leftMs <= 0;
  await ctx.apply(deploymentOf(ctx.object, isOver ? 0 : 1));
  await ctx.patchStatus({ phase: isOver ? "Expired" : "Running" });
  return isOver ? done : requeueAfter(leftMs);
});

/** Reports when it has last changed the Deployment, as text in a condition and as a number of seconds. */
const reportsTimes = controller("reports-times").for(Token).owns(Deployment).reconcile(async (ctx) => {
  const { namespace, name, generation } = ctx.object.metadata;
  const { replicas } = ctx.object.spec;
  const cached = ctx.find(Deployment, `${namespace}/${name}`);
  const live = await ctx.apply(deploymentOf(ctx.object, replicas));
  const isReady = (live.status?.availableReplicas ?? 0) === replicas;
  const now = ctx.clock.now();
  const ready = {
    type: "Ready",
    status: isReady ? "True" : "False",
    reason: "Counted",
    message: "",
    observedGeneration: generation,
  } as const;
  const conditions = withCondition(ctx.object.status?.conditions, ready, now);
  const known = cached === live ? ctx.object.status?.syncedAtSeconds : undefined;
  await ctx.patchStatus({
    conditions,
    syncedAtSeconds: known ?? Math.floor(now / 1_000),
    observedGeneration: generation,
  });
  return done;
});

export const correctTime: readonly CorpusCase[] = [
  {
    name: "polls-every-minute",
    kind: "correct",
    class: "timers that are due",
    about: "A timer is always due, and nothing is written when it is.",
    controllers: [withWorkloads(
      polls,
      workload(
        "create and change",
        tokens.create("a", { spec: {} }),
        tokens.patch("a", { spec: { everySeconds: 30 } }),
        tokens.delete("a"),
      ),
    )],
  },
  {
    name: "rotates-each-period",
    kind: "correct",
    class: "time-driven",
    about: "The key is written anew in each period, without end.",
    controllers: [withWorkloads(
      rotates,
      workload("three periods", tokens.create("a", { spec: {} }), { kind: "advance", toMs: 200_000 }),
    )],
  },
  {
    name: "expires-in-time",
    kind: "correct",
    class: "timers that are due",
    about: "What is left of the time to live is computed from the object in each pass.",
    controllers: [withWorkloads(
      expires,
      workload("expire", tokens.create("a", { spec: {} }), { kind: "advance", toMs: 600_000 }),
    )],
  },
  {
    name: "times-in-status",
    kind: "correct",
    class: "times in a status",
    about: "The time of the last change is in the status, as text and as a number.",
    controllers: [withWorkloads(
      reportsTimes,
      workload(
        "scale",
        tokens.create("a", { spec: {} }),
        tokens.patch("a", { spec: { replicas: 3 } }),
        tokens.patch("a", { spec: { replicas: 0 } }),
      ),
    )],
  },
];
