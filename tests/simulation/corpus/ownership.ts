/**
 * Operators that do not ask whose an object is before they change or delete it, or that refer to it in a way that the garbage
 * collector does not follow.
 */
import {
  ConfigMap,
  controller,
  controllerReference,
  defineResource,
  done,
  isControlledBy,
  keyOf,
  manifest,
  Service,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const Site = defineResource({
  group: "sites.example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({
    theme: z.string().default("light"),
    mirrors: z.array(z.string()).default([]),
    enabled: z.boolean().default(true),
  }),
  status: z.object({ mirrors: z.array(z.string()).optional() }),
});

const sites = new UserSteps("sites.example.dev/v1", "Site");
const maps = new UserSteps("v1", "ConfigMap");

/** The ConfigMap of a Site has its name. */
const adoptsByName = controller("adopts-by-name").for(Site).owns(ConfigMap).uses(ConfigMap, ["create", "patch"])
  .reconcile(
    async (ctx) => {
      const { namespace, name = "" } = ctx.object.metadata;
      const { theme } = ctx.object.spec;
      const ownerReferences = [controllerReference(ctx.object, Site)];
      if (ctx.find(ConfigMap, `${namespace}/${name}`) === undefined) {
        await ctx.client.create(ConfigMap, { metadata: { namespace, name, ownerReferences }, data: { theme } });
        return done;
      }
      // Wrong: the ConfigMap may be the work of a user. It is overwritten, and collected together with the Site.
      const value = { metadata: { ownerReferences }, data: { theme } };
      await ctx.client.patch(ConfigMap, `${namespace}/${name}`, { kind: "merge", value }, { signal: ctx.signal });
      return done;
    },
  );

/** When a Site is disabled, its objects go. */
const deletesByLabel = controller("deletes-by-label").for(Site).owns(ConfigMap, { deletes: true })
  .uses(ConfigMap, ["list", "delete"])
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const labels = { site: name };
    if (ctx.object.spec.enabled) {
      await ctx.apply(
        manifest(ConfigMap, { metadata: { namespace, name: `${name}-pages`, labels }, data: { index: "" } }),
      );
      return done;
    }
    // Wrong: a label selects, it does not own. Whatever users have labelled for their own purposes goes too.
    for (const map of ctx.list(ConfigMap, { namespace, labelSelector: { matchLabels: { site: name } } })) {
      await ctx.client.delete(ConfigMap, keyOf(map), { signal: ctx.signal });
    }
    return done;
  });

/** Copies the settings of a Site to other namespaces. */
const ownsAcrossNamespaces = controller("owns-across-namespaces").for(Site)
  .watches(ConfigMap, { to: ({ metadata }) => [`default/${metadata.name}`] })
  .uses(ConfigMap, ["create"])
  .reconcile(async (ctx) => {
    const { name = "" } = ctx.object.metadata;
    for (const namespace of ctx.object.spec.mirrors) {
      if (ctx.find(ConfigMap, `${namespace}/${name}`) !== undefined) continue;
      // Wrong: an owner in another namespace counts as absent, so the copy is collected, created again, and so on.
      const metadata = { namespace, name, ownerReferences: [controllerReference(ctx.object, Site)] };
      await ctx.client.create(ConfigMap, { metadata, data: { theme: ctx.object.spec.theme } }, { signal: ctx.signal });
    }
    return done;
  });

/** Replaces the whole Service when the theme changes. */
const updatesWhole = controller("updates-whole").for(Site).owns(Service).uses(Service, ["create", "update"]).reconcile(
  async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const { theme } = ctx.object.spec;
    const existing = ctx.find(Service, `${namespace}/${name}`);
    const ownerReferences = [controllerReference(ctx.object, Site)];
    if (existing === undefined) {
      const metadata = { namespace, name, ownerReferences, annotations: { theme } };
      await ctx.client.create(Service, { metadata, spec: { selector: { site: name }, ports: [{ port: 80 }] } });
      return done;
    }
    if (!isControlledBy(existing, ctx.object)) throw new Error(`Cannot update Service "${name}": it exists already`);
    const hasPort = existing.spec?.ports?.[0]?.port === 80;
    if (hasPort && existing.metadata.annotations?.theme === theme) return done;
    // Wrong: without the resourceVersion the server cannot notice that the Service was changed since it was read.
    const { resourceVersion: _, ...metadata } = existing.metadata;
    const spec = { ...existing.spec, ports: [{ port: 80 }] };
    const changed = { ...existing, spec, metadata: { ...metadata, annotations: { ...metadata.annotations, theme } } };
    await ctx.client.update(Service, changed, { signal: ctx.signal });
    return done;
  },
);

export const ownership: readonly CorpusCase[] = [
  {
    name: "adopted-by-name",
    kind: "bug",
    class: "adoption without a look at the owner",
    about: "A ConfigMap of a user that has the name of a Site is overwritten, and deleted together with the Site.",
    controllers: [withWorkloads(
      adoptsByName,
      workload(
        "create and change",
        sites.create("blog", { spec: {} }),
        sites.patch("blog", { spec: { theme: "dark" } }),
        sites.delete("blog"),
      ),
    )],
    expected: ["foreign-objects", "end-state", "object-lifecycle"],
  },
  {
    name: "deleted-by-label",
    kind: "bug",
    class: "deletes objects of others with the same label",
    about: "The ConfigMap of a user that has the label of a Site is deleted when the Site is disabled.",
    controllers: [withWorkloads(
      deletesByLabel,
      workload(
        "disable",
        maps.create("notes", { metadata: { labels: { site: "blog" } }, data: { text: "do not delete" } }),
        sites.create("blog", { spec: {} }),
        sites.patch("blog", { spec: { enabled: false } }),
      ),
    )],
    expected: ["foreign-objects", "end-state", "object-lifecycle"],
  },
  {
    name: "owned-across-namespaces",
    kind: "bug",
    class: "owner reference to another namespace",
    about: "The garbage collector deletes the copy, and the operator creates it again, without end.",
    controllers: [withWorkloads(
      ownsAcrossNamespaces,
      workload("mirror", sites.create("blog", { spec: { mirrors: ["kube-public"] } })),
    )],
    expected: ["quiescence", "object-lifecycle", "end-state"],
  },
  {
    name: "update-loses-fields",
    kind: "bug",
    class: "update instead of patch",
    about: "What another client wrote into the Service between the read and the update is lost.",
    controllers: [withWorkloads(
      updatesWhole,
      workload("change", sites.create("blog", { spec: {} }), sites.patch("blog", { spec: { theme: "dark" } })),
    )],
    expected: ["lost-update", "end-state"],
  },
];
