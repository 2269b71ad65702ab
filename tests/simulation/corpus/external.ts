/**
 * Operators that call a system outside of the cluster, played by {@link Cloud}: two that pay twice after a crash, one that pays
 * for each size, and one that gives each request a key, so that the cloud recognizes a repeated one.
 */
import {
  controller,
  defineResource,
  done,
  type ExternalSystem,
  withChecks,
  withWorkloads,
  z,
} from "../../../src/mod.ts";
import { type CorpusCase, UserSteps, workload } from "./_case.ts";

interface Disk {
  readonly sizeGb: number;
  /** The key of the request that created it. */
  readonly requestKey: string | undefined;
}

/** A cloud with disks. It survives the operator. */
class Cloud implements ExternalSystem {
  readonly name = "cloud";
  readonly #disks = new Map<string, Disk>();
  #created = 0;

  reset(): void {
    this.#disks.clear();
    this.#created = 0;
  }

  /** The sizes of all disks; their ids depend on how many were created before. */
  state(): unknown {
    return [...this.#disks.values()].map(({ sizeGb }) => sizeGb).sort((one, other) => one - other);
  }

  /** @param requestKey a repeated request with the same key returns the disk of the first one */
  createDisk(sizeGb: number, requestKey?: string): Promise<string> {
    for (const [id, disk] of this.#disks) {
      if (requestKey !== undefined && disk.requestKey === requestKey) return Promise.resolve(id);
    }
    const id = `disk-${++this.#created}`;
    this.#disks.set(id, { sizeGb, requestKey });
    return Promise.resolve(id);
  }

  /** A disk that does not exist is no error. */
  deleteDisk(id: string): Promise<void> {
    this.#disks.delete(id);
    return Promise.resolve();
  }

  findDisk(requestKey: string): Promise<string | undefined> {
    const found = [...this.#disks].find(([, disk]) => disk.requestKey === requestKey);
    return Promise.resolve(found?.[0]);
  }
}

const Volume = defineResource({
  group: "volumes.example.dev",
  version: "v1",
  kind: "CloudVolume",
  scope: "Namespaced",
  spec: z.object({ sizeGb: z.int32().min(1).default(10) }),
  status: z.object({ disk: z.string().optional(), sizeGb: z.int32().optional() }),
});

const volumes = new UserSteps("volumes.example.dev/v1", "CloudVolume");
const cloud = new Cloud();

const paysTwice = controller("pays-twice").for(Volume)
  .finalize(async (ctx) => {
    if (ctx.object.status?.disk !== undefined) await cloud.deleteDisk(ctx.object.status.disk);
    return done;
  })
  .reconcile(async (ctx) => {
    if (ctx.object.status?.disk !== undefined) return done;
    const { sizeGb } = ctx.object.spec;
    // Wrong: if the id is not recorded, the next attempt creates a second disk, and nothing ever deletes the first one.
    const disk = await cloud.createDisk(sizeGb);
    await ctx.patchStatus({ disk, sizeGb });
    return done;
  });

const forgetsOldDisk = controller("forgets-old-disk").for(Volume)
  .finalize(async (ctx) => {
    if (ctx.object.status?.disk !== undefined) await cloud.deleteDisk(ctx.object.status.disk);
    return done;
  })
  .reconcile(async (ctx) => {
    const { uid } = ctx.object.metadata;
    const { sizeGb } = ctx.object.spec;
    const before = ctx.object.status;
    if (before?.disk !== undefined && before.sizeGb === sizeGb) return done;
    const disk = await cloud.createDisk(sizeGb, `${uid} ${sizeGb}`);
    // Wrong: from here on only this process knows the disk before.
    await ctx.patchStatus({ disk, sizeGb });
    if (before?.disk !== undefined) await cloud.deleteDisk(before.disk);
    return done;
  });

const keepsEachDisk = controller("keeps-each-disk").for(Volume)
  .finalize(async (ctx) => {
    const disk = await cloud.findDisk(`${ctx.object.metadata.uid} ${ctx.object.spec.sizeGb}`);
    if (disk !== undefined) await cloud.deleteDisk(disk);
    return done;
  })
  .reconcile(async (ctx) => {
    const { sizeGb } = ctx.object.spec;
    // Wrong: the disk with the size before has another key, so nothing finds it any more.
    const disk = await cloud.createDisk(sizeGb, `${ctx.object.metadata.uid} ${sizeGb}`);
    await ctx.patchStatus({ disk, sizeGb });
    return done;
  });

const repeatsWithKey = controller("repeats-with-key").for(Volume).uses(Volume, ["get"])
  .finalize(async (ctx) => {
    const disk = await cloud.findDisk(ctx.object.metadata.uid ?? "");
    if (disk !== undefined) await cloud.deleteDisk(disk);
    return done;
  })
  .reconcile(async (ctx) => {
    const { namespace, name, uid } = ctx.object.metadata;
    const { sizeGb } = ctx.object.spec;
    // An old cache may show a volume that is gone; nobody would delete its disk.
    const live = await ctx.client.find(Volume, `${namespace}/${name}`, { signal: ctx.signal });
    if (live?.metadata.uid !== uid) return done;
    const disk = await cloud.createDisk(sizeGb, uid);
    await ctx.patchStatus({ disk, sizeGb });
    return done;
  });

const checks = { externalSystems: [cloud] };
const createAndDelete = workload(
  "create and delete",
  volumes.create("a", { spec: {} }),
  volumes.create("b", { spec: { sizeGb: 20 } }),
  volumes.delete("a"),
);

export const external: readonly CorpusCase[] = [
  {
    name: "disk-created-twice",
    kind: "bug",
    class: "external system called twice",
    about: "After a crash a second disk is created, and the first one is paid for ever.",
    controllers: [withWorkloads(withChecks(paysTwice, checks), createAndDelete)],
    expected: ["end-state"],
  },
  {
    name: "old-disk-leaked",
    kind: "bug",
    class: "external object leaked",
    about: "After a crash the disk with the old size stays, and is paid for ever.",
    controllers: [withWorkloads(
      withChecks(forgetsOldDisk, checks),
      workload("grow", volumes.create("a", { spec: {} }), volumes.patch("a", { spec: { sizeGb: 20 } })),
    )],
    expected: ["end-state"],
  },
  {
    name: "each-size-paid",
    kind: "bug",
    class: "external object leaked",
    about: "Each change of the size leaves a disk behind, which is paid for ever; no fault is needed.",
    controllers: [withWorkloads(
      withChecks(keepsEachDisk, checks),
      workload(
        "grow and shrink",
        volumes.create("a", { spec: {} }),
        volumes.patch("a", { spec: { sizeGb: 20 } }),
        volumes.patch("a", { spec: { sizeGb: 5 } }),
      ),
    )],
    expected: ["declared-state"],
  },
];

export const correctExternal: readonly CorpusCase[] = [
  {
    name: "disk-with-request-key",
    kind: "correct",
    class: "external system with request keys",
    about: "A repeated request has the same key, so the cloud creates one disk.",
    controllers: [withWorkloads(withChecks(repeatsWithKey, checks), createAndDelete)],
  },
];
