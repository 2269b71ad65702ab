/** Small controllers for tests of the simulation: a correct one, and some with a typical defect. A Secret owns two ConfigMaps. */
import { builtin, controllerReference, type UntypedObject } from "../../api/mod.ts";
import { isAlreadyExists } from "../../client/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import type { Workload } from "../../manager/mod.ts";

const { ConfigMap, Secret } = builtin;

export const secret: UntypedObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "team", namespace: "default" },
};

const secretName = { apiVersion: "v1", kind: "Secret", name: "team" };

/** Creates, deletes and creates the Secret. */
export const recreateWorkload: Workload = {
  name: "recreate",
  steps: [
    { kind: "create", object: secret },
    { kind: "delete", object: secretName },
    { kind: "create", object: secret },
  ],
};

/** Creates the Secret, then labels it so that {@link deletesByName} deletes its ConfigMap. */
export const dropWorkload: Workload = {
  name: "drop",
  steps: [
    { kind: "create", object: secret },
    { kind: "patch", object: secretName, patch: { metadata: { labels: { drop: "yes" } } } },
  ],
};

/** Without a defect: applies both ConfigMaps each time. */
export const correct: ControllerDefinition = controller("correct").for(Secret).owns(ConfigMap).reconcile(
  async (ctx) => {
    for (const name of ["hello", "welcome"]) {
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name }, data: { text: name } }));
    }
    return done;
  },
);

const numbered = ["a", "b", "c", "d"];

/** Creates four ConfigMaps at once, for {@link allocatesNumbers}. */
export const numberedWorkload: Workload = {
  name: "numbered",
  steps: numbered.map((name) => ({
    kind: "create",
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } },
    atOnce: true,
  })),
};

/** Without a defect: gives each ConfigMap a number that no other has, and fails for good if one was given twice. */
export const allocatesNumbers: ControllerDefinition = controller("allocates-numbers").for(ConfigMap)
  .uses(ConfigMap, ["get", "patch"]).reconcile(async (ctx) => {
    if (ctx.object.data?.number === undefined) {
      const taken = new Set(ctx.list(ConfigMap).map(({ data }) => data?.number));
      const number = numbered.map((_, index) => String(index)).find((one) => !taken.has(one));
      await ctx.patch(ConfigMap, ctx.object, { kind: "merge", value: { data: { number } } });
    }
    const live = await Promise.all(numbered.map((name) => ctx.client.find(ConfigMap, `default/${name}`)));
    const given = live.flatMap((one) => one?.data?.number ?? []);
    if (new Set(given).size < given.length) throw new Error(`Cannot continue: ${given} has a number twice`);
    return done;
  });

/** Defect: it assumes that the second ConfigMap exists when the first one does. */
export const assumesSecondWrite: ControllerDefinition = controller("assumes-second-write").for(Secret).owns(ConfigMap)
  .reconcile(
    async (ctx) => {
      if (ctx.find(ConfigMap, "default/hello") !== undefined) return done;
      for (const name of ["hello", "welcome"]) {
        await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name }, data: { text: name } }));
      }
      return done;
    },
  );

/** Defect: it changes an existing ConfigMap of another owner. */
export const changesForeignObject: ControllerDefinition = controller("changes-foreign-object").for(Secret).owns(
  ConfigMap,
)
  .reconcile(
    async (ctx) => {
      const metadata = {
        namespace: "default",
        name: "hello",
        ownerReferences: [controllerReference(ctx.object, Secret)],
      };
      const { signal } = ctx;
      if (ctx.find(ConfigMap, "default/hello") !== undefined) return done;
      await ctx.client.create(ConfigMap, { metadata, data: { text: "hello" } }, { signal }).catch(
        async (error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
          const patch = { kind: "merge", value: { metadata: { labels: { mine: "yes" } } } } as const;
          await ctx.client.patch(ConfigMap, "default/hello", patch, { signal });
        },
      );
      return done;
    },
  );

/** Defect: it deletes what it did not declare to delete. */
export const deletesUndeclared: ControllerDefinition = controller("deletes-undeclared").for(Secret).owns(ConfigMap)
  .reconcile(async (ctx) => {
    const { signal } = ctx;
    await ctx.client.delete(ConfigMap, "default/none", { signal }).catch(() => {});
    return done;
  });

/** Defect: it deletes by name, whatever object has that name now. */
export const deletesByName: ControllerDefinition = controller("deletes-by-name").for(Secret).owns(ConfigMap, {
  deletes: true,
}).reconcile(
  async (ctx) => {
    const key = "default/hello";
    if (ctx.object.metadata.labels?.["drop"] === undefined) {
      await ctx.apply(
        manifest(ConfigMap, { metadata: { namespace: "default", name: "hello" }, data: { text: "hello" } }),
      );
    } else if (ctx.find(ConfigMap, key) !== undefined) {
      await ctx.client.delete(ConfigMap, key, { signal: ctx.signal });
    }
    return done;
  },
);

/** Defect: it writes the current time, so each of its writes causes the next one. */
export const neverSettles: ControllerDefinition = controller("never-settles", { ownWrites: "deliver" }).for(Secret)
  .owns(ConfigMap).reconcile(
    async (ctx) => {
      const data = { text: String(ctx.clock.now()) };
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "time" }, data }));
      await ctx.clock.sleep(1_000, ctx.signal);
      return done;
    },
  );
