/**
 * Operators that do not reach a state that is declared, or not from every state before it (Acto: misoperations). No fault is
 * needed: with the same spec, a new object and a changed one end differently.
 */
import {
  ConfigMap,
  controller,
  defineResource,
  Deployment,
  done,
  isControlledBy,
  manifest,
  withSamples,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const Proxy = defineResource({
  group: "proxies.example.dev",
  version: "v1",
  kind: "Proxy",
  scope: "Namespaced",
  spec: z.object({
    replicas: z.int32().min(0).max(9).optional(),
    options: z.record(z.string(), z.string()).optional(),
    image: z.string().default("proxy:1"),
    configName: z.string().default("proxy-config"),
  }),
  status: z.object({ phase: z.string().optional(), message: z.string().optional() }),
});

const proxies = new UserSteps("proxies.example.dev/v1", "Proxy");

/** Writes the options of a Proxy into its ConfigMap. */
const keepsRemovedOptions = controller("keeps-removed-options").for(Proxy).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const key = `${namespace}/${name}-options`;
  const existing = ctx.find(ConfigMap, key);
  const { options = {} } = ctx.object.spec;
  if (existing === undefined) {
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-options` }, data: options }));
    return done;
  }
  if (!isControlledBy(existing, ctx.object)) throw new Error(`Cannot write the options of "${name}": ${key} exists`);
  // Wrong: a merge patch without the removed keys leaves them where they are.
  await ctx.patch(ConfigMap, existing, { kind: "merge", value: { data: options } });
  return done;
});

const failsForGood = controller("fails-for-good").for(Proxy).owns(Deployment).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const { image } = ctx.object.spec;
  // Wrong: the user has no way back: a corrected image is never looked at.
  if (ctx.object.status?.phase === "Failed") return done;
  if (!/^[a-z0-9/.-]+:[a-z0-9.]+$/.test(image)) {
    await ctx.patchStatus({ phase: "Failed", message: `image "${image}" has no tag` });
    return done;
  }
  const labels = { proxy: name };
  await ctx.apply(manifest(Deployment, {
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "proxy", image }] } },
    },
  }));
  await ctx.patchStatus({ phase: "Running" });
  return done;
});

/** The name of the ConfigMap can be chosen. */
const leavesOldConfig = controller("leaves-old-config").for(Proxy).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace } = ctx.object.metadata;
  // Wrong: the ConfigMap with the name before stays, and its owner is alive.
  await ctx.apply(manifest(ConfigMap, {
    metadata: { namespace, name: ctx.object.spec.configName },
    data: { image: ctx.object.spec.image },
  }));
  return done;
});

export const misoperations: readonly CorpusCase[] = [
  {
    name: "removed-option-stays",
    kind: "bug",
    class: "misoperation: a removed value stays",
    about: "An option that is removed from the spec stays in force.",
    controllers: [withWorkloads(
      keepsRemovedOptions,
      workload(
        "remove an option",
        proxies.create("edge", { spec: { options: { debug: "yes", retries: "3" } } }),
        proxies.patch("edge", { spec: { options: { debug: null } } }),
      ),
    )],
    expected: ["declared-state", "end-state"],
  },
  {
    name: "no-way-back",
    kind: "bug",
    class: "misoperation: no rollback from a bad state",
    about: "After one wrong image, a Proxy with the right image never runs.",
    controllers: [withSamples(failsForGood, [{
      apiVersion: "proxies.example.dev/v1",
      kind: "Proxy",
      metadata: { name: "edge", namespace: "default" },
      spec: { image: "proxy:1" },
    } as never])],
    expected: ["declared-state", "end-state"],
  },
  {
    name: "old-config-stays",
    kind: "bug",
    class: "misoperation: the child of a changed name is leaked",
    about: "The ConfigMap with the old name stays as long as the Proxy lives, and others still read it.",
    controllers: [withWorkloads(
      leavesOldConfig,
      workload(
        "rename",
        proxies.create("edge", { spec: {} }),
        proxies.patch("edge", { spec: { configName: "edge-config" } }),
      ),
    )],
    expected: ["declared-state", "end-state", "object-lifecycle"],
  },
];
