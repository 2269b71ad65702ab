/** A small controller and workload to play with: a Secret brings two ConfigMaps. */
import { builtin, controllerReference, type UntypedObject } from "../api/mod.ts";
import { isAlreadyExists } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../controller/mod.ts";
import type { Workload } from "../manager/mod.ts";

const { ConfigMap, Secret } = builtin;

export const secret: UntypedObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "team", namespace: "default" },
};

const named = { apiVersion: "v1", kind: "Secret", name: "team" };

/** Create, delete and create again. */
export const churn: Workload = {
  name: "churn",
  steps: [{ kind: "create", object: secret }, { kind: "delete", object: named }, { kind: "create", object: secret }],
};

/** Looks at both ConfigMaps, each time. */
export const careful: ControllerDefinition = controller("careful").for(Secret).owns(ConfigMap).reconcile(
  async (ctx) => {
    for (const name of ["hello", "welcome"]) {
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name }, data: { text: name } }));
    }
    return done;
  },
);

/** Takes the second for granted where the first is there. */
export const careless: ControllerDefinition = controller("careless").for(Secret).owns(ConfigMap).reconcile(
  async (ctx) => {
    if (ctx.find(ConfigMap, "default/hello") !== undefined) return done;
    for (const name of ["hello", "welcome"]) {
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name }, data: { text: name } }));
    }
    return done;
  },
);

/** Creates, and takes what it finds there for its own. */
export const trusting: ControllerDefinition = controller("trusting").for(Secret).owns(ConfigMap).reconcile(
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

/** Deletes by name: whatever is there by then. */
export const blunt: ControllerDefinition = controller("blunt").for(Secret).owns(ConfigMap).reconcile(
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

/** Create, and say that what it brought is not wanted any more. */
export const dropped: Workload = {
  name: "drop",
  steps: [
    { kind: "create", object: secret },
    { kind: "patch", object: named, patch: { metadata: { labels: { drop: "yes" } } } },
  ],
};

/** Writes what time it is, whenever it is asked. */
export const restless: ControllerDefinition = controller("restless").for(Secret).owns(ConfigMap).reconcile(
  async (ctx) => {
    const data = { text: String(ctx.clock.now()) };
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "time" }, data }));
    await ctx.clock.sleep(1_000, ctx.signal);
    return done;
  },
);
