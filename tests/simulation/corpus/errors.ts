/**
 * Operators that take an answer for something else than it is: errors that are ignored, conflicts and AlreadyExists as
 * success, and a lost answer that is taken for a lost request.
 */
import {
  ConfigMap,
  controller,
  controllerReference,
  defineResource,
  done,
  isAlreadyExists,
  isConflict,
  Job,
  manifest,
  Secret,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

const Backup = defineResource({
  group: "backups.example.dev",
  version: "v1",
  kind: "Backup",
  scope: "Namespaced",
  spec: z.object({ target: z.string().default("s3"), keep: z.int32().default(3), round: z.int32().default(1) }),
  status: z.object({ job: z.string().optional(), target: z.string().optional(), round: z.int32().optional() }),
});

const backups = new UserSteps("backups.example.dev/v1", "Backup");
const jobSpec = {
  template: { spec: { restartPolicy: "Never", containers: [{ name: "backup", image: "backup:1" }] } },
} as const;

/** Writes the settings of a Backup into a ConfigMap. */
const swallowsErrors = controller("swallows-errors").for(Backup).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  const { target } = ctx.object.spec;
  try {
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-settings` }, data: { target } }));
    await ctx.patchStatus({ target });
  } catch (error) {
    // Wrong: a reconcile that ends without an error is not tried again.
    ctx.log.error("cannot reconcile", { error });
  }
  return done;
});

/** Adds itself to the list of backups that a ConfigMap of the users has. */
const conflictIsSuccess = controller("conflict-is-success")
  .for(Backup)
  .watches(ConfigMap, { to: () => [] })
  .uses(ConfigMap, ["update"])
  .reconcile(async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const index = ctx.find(ConfigMap, `${namespace}/index`);
    if (index === undefined) throw new Error(`Cannot add Backup "${name}" to the index: there is none`);
    const { target } = ctx.object.spec;
    if (index.data?.[name] === target) return done;
    const changed = { ...index, data: { ...index.data, [name]: target } };
    await ctx.client.update(ConfigMap, changed, { signal: ctx.signal }).catch((error: unknown) => {
      // Wrong: somebody else changed the ConfigMap, but nobody wrote this entry.
      if (!isConflict(error)) throw error;
    });
    return done;
  });

/** The token of a Backup, which says for which target it is. */
const existsIsSuccess = controller("exists-is-success").for(Backup).owns(Secret).uses(Secret, ["create"]).reconcile(
  async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const { target } = ctx.object.spec;
    const metadata = { namespace, name: `${name}-token`, ownerReferences: [controllerReference(ctx.object, Backup)] };
    try {
      await ctx.client.create(Secret, { metadata, stringData: { target } }, { signal: ctx.signal });
    } catch (error) {
      // Wrong: the Secret that exists may be that of the deleted Backup of this name, which goes in a moment.
      if (!isAlreadyExists(error)) throw error;
    }
    await ctx.patchStatus({ target });
    return done;
  },
);

/** Starts one Job for each round, and records its name. */
const generatesTwice = controller("generates-twice").for(Backup).owns(Job).uses(Job, ["create"]).reconcile(
  async (ctx) => {
    const { namespace, name = "" } = ctx.object.metadata;
    const { round } = ctx.object.spec;
    if (ctx.object.status?.round === round) return done;
    const owners = [controllerReference(ctx.object, Backup)];
    const metadata = { namespace, generateName: `${name}-`, ownerReferences: owners };
    // Wrong: when the answer is lost, or the process ends here, the next attempt starts a second Job.
    const job = await ctx.client.create(Job, { metadata, spec: jobSpec }, { signal: ctx.signal });
    await ctx.patchStatus({ round, job: job.metadata.name });
    return done;
  },
);

/** The settings of a Backup have a port, by its number in the list. */
const dependsOnOrder = controller("depends-on-order").for(Backup).owns(ConfigMap).reconcile(async (ctx) => {
  const { namespace, name = "" } = ctx.object.metadata;
  // Wrong: the cache has no order, so after a restart a backup may get the port of another one.
  const names = ctx.list(Backup, { namespace }).map((one) => one.metadata.name);
  const data = { port: String(9_000 + names.indexOf(name)) };
  await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name: `${name}-port` }, data }));
  return done;
});

export const errors: readonly CorpusCase[] = [
  {
    name: "write-error-swallowed",
    kind: "bug",
    class: "errors ignored",
    about: "A write that fails once is never tried again: the settings are missing although the server is well.",
    controllers: [withWorkloads(
      swallowsErrors,
      workload(
        "create and change",
        backups.create("a", { spec: { target: "s3" } }),
        backups.patch("a", { spec: { target: "gcs" } }),
      ),
    )],
    expected: ["end-state"],
  },
  {
    name: "conflict-as-success",
    kind: "bug",
    class: "conflict taken for success",
    about: "The entry of a Backup is missing in the index because somebody else wrote the index at the same time.",
    controllers: [withWorkloads(
      conflictIsSuccess,
      workload(
        "two entries",
        new UserSteps("v1", "ConfigMap").create("index", { data: { first: "tape" } }),
        backups.create("a", { spec: {} }),
        backups.create("b", { spec: {} }),
      ),
    )],
    expected: ["end-state"],
  },
  {
    name: "exists-as-success",
    kind: "bug",
    class: "AlreadyExists taken for success",
    about:
      "A Backup that was deleted and created again has no token: the old one was taken for its own, and then collected.",
    controllers: [withWorkloads(
      existsIsSuccess,
      workload(
        "recreate at once",
        backups.create("a", { spec: { target: "s3" } }),
        backups.delete("a"),
        backups.create("a", { spec: { target: "gcs" } }),
      ),
    )],
    expected: ["end-state", "object-lifecycle"],
  },
  {
    name: "generated-twice",
    kind: "bug",
    class: "generateName after a lost answer",
    about: "A backup runs twice at the same time, because the answer to the first create was lost.",
    controllers: [withWorkloads(
      generatesTwice,
      workload("two rounds", backups.create("a", { spec: {} }), backups.patch("a", { spec: { round: 2 } })),
    )],
    expected: ["end-state", "object-lifecycle"],
  },
  {
    name: "port-by-list-order",
    kind: "bug",
    class: "order of a list without order",
    about: "After a restart, backups answer on the ports of each other.",
    controllers: [withWorkloads(
      dependsOnOrder,
      workload(
        "three backups",
        backups.create("b", { spec: {} }),
        backups.create("c", { spec: {} }),
        backups.create("a", { spec: {} }),
      ),
    )],
    expected: ["end-state"],
  },
];
