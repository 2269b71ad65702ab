/**
 * Operators of two controllers that are right alone and wrong together.
 *
 * Caveats: they are only found when both are played in one run.
 */
import {
  changed,
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

const condition = z.object({ type: z.string(), status: z.string() });

const Service = defineResource({
  group: "mesh.example.dev",
  version: "v1",
  kind: "MeshService",
  scope: "Namespaced",
  spec: z.object({ replicas: z.int32().min(0).max(9).default(2), certificate: z.string().default("one") }),
  status: z.object({ conditions: z.array(condition).optional() }),
});
type MeshService = Infer<typeof Service>;

const services = new UserSteps("mesh.example.dev/v1", "MeshService");

/** Creates the Deployment, with the replicas of the spec. */
const scales = controller("scales").for(Service).owns(Deployment).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const { replicas } = ctx.object.spec;
  const labels = { mesh: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "proxy", image: "proxy:1" }] } };
  await ctx.apply(manifest(Deployment, {
    metadata: { namespace, name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  }));
  return done;
});

/** Wrong: keeps at least two replicas of each Deployment, also where the other controller keeps one. */
const guards = controller("guards").for(Deployment).uses(Deployment, ["patch"]).reconcile(async (ctx) => {
  if (ctx.object.metadata.ownerReferences?.[0]?.kind !== "MeshService") return done;
  if ((ctx.object.spec?.replicas ?? 1) >= 2) return done;
  await ctx.patch(Deployment, ctx.object, { kind: "merge", value: { spec: { replicas: 2 } } });
  return done;
});

function withStatus(object: MeshService, type: string) {
  const others = object.status?.conditions?.filter((one) => one.type !== type) ?? [];
  // Wrong: a merge patch replaces the whole list, with what the cache has of the other controller's conditions.
  return { conditions: [...others, { type, status: "True" }] };
}

const when = changed.generation;

/** Writes the configuration and reports it. */
const configures = controller("configures").for(Service, { when }).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const data = { replicas: String(ctx.object.spec.replicas) };
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-mesh` }, data }));
  if (!ctx.object.status?.conditions?.some(({ type }) => type === "Configured")) {
    await ctx.patchStatus(withStatus(ctx.object, "Configured"));
  }
  return done;
});

/** Reports that the configuration has reached the proxies, once it exists. */
const distributes = controller("distributes").for(Service, { when })
  .watches(ConfigMap, { to: ({ metadata }) => [`${metadata.namespace}/${metadata.name?.replace(/-mesh$/, "")}`] })
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    if (ctx.find(ConfigMap, `${namespace}/${name}-mesh`) === undefined) return done;
    if (ctx.object.status?.conditions?.some(({ type }) => type === "Distributed")) return done;
    await ctx.patchStatus(withStatus(ctx.object, "Distributed"));
    return done;
  });

const scaleDown = workload(
  "scale down",
  services.create("web", { spec: { replicas: 3 } }),
  services.patch("web", { spec: { replicas: 1 } }),
);

const createAndChange = workload(
  "create and change",
  services.create("web", { spec: {} }),
  services.patch("web", { spec: { replicas: 3 } }),
);

export const together: readonly CorpusCase[] = [
  {
    name: "two-fight-over-replicas",
    kind: "bug",
    class: "two controllers with one field",
    about: "With one replica in the spec, two controllers set the replicas in turn, without end.",
    controllers: [withWorkloads(scales, scaleDown), withWorkloads(guards, scaleDown)],
    expected: ["quiescence", "starved-key", "end-state"],
  },
  {
    name: "condition-of-other-lost",
    kind: "bug",
    class: "two controllers with one list",
    about: "One controller overwrites the condition that the other has just written, which never comes back.",
    controllers: [withWorkloads(configures, createAndChange), withWorkloads(distributes, createAndChange)],
    expected: ["declared-state", "end-state"],
  },
];
