/** Entries for tests: what a controller foo, which owns Deployments, sees and does at 09:12 on a day. */
import type { Entry, EntryId, ObjectRef } from "../../observe/mod.ts";
import type { KnownController, Subject } from "../history.ts";

/** 09:12:00 UTC. */
export const start = Date.UTC(2026, 10, 23, 9, 12);

const foos = { resource: "foos.samplecontroller.k8s.io", kind: "Foo" };
const deployments = { resource: "deployments.apps", kind: "Deployment" };

export const foo: Subject = { ...foos, key: "default/foo-1" };
export const web: Subject = { ...deployments, key: "default/web" };

export const controllers: readonly KnownController[] = [
  { name: "foo", primary: foos, watched: [deployments] },
];

/** An entry without its id and time. */
type Part = Entry extends infer E
  ? E extends Entry ? Omit<E, "id" | "at" | "causes"> & { causes?: readonly EntryId[] } : never
  : never;

/** Collects entries. Each begins a second after the last one, unless `ms` says otherwise. */
export class Story {
  readonly entries: Entry[] = [];

  add(part: Part, ms = 1_000): EntryId {
    const id = this.entries.length + 1;
    const at = (this.entries.at(-1)?.at ?? start) + ms;
    this.entries.push({ causes: [], ...part, id, at } as Entry);
    return id;
  }

  /** A user scales the Deployment. */
  scaled(object: ObjectRef = web, manager = "kubectl-edit"): EntryId {
    const fields = [{ path: "spec.replicas", from: 2, to: 5 }];
    return this.add({
      kind: "change",
      via: "watch",
      change: "updated",
      object,
      fields,
      by: [{ manager, operation: "Update" }],
    });
  }

  /** The change queues the Foo, and a worker takes it. @returns the start of the reconcile */
  reconciles(change: EntryId, retries = 0): EntryId {
    const own = { controller: "foo", key: foo.key };
    const queued = this.add({
      kind: "enqueue",
      ...own,
      causes: [change],
      object: web,
      role: "owns",
      decision: "queued",
    }, 0);
    return this.add({ kind: "reconcile-start", ...own, causes: [queued], waitedMs: 3, priority: 0, retries }, 3);
  }

  ends(begin: EntryId, end: Partial<Extract<Entry, { readonly kind: "reconcile-end" }>> = {}): EntryId {
    const own = { controller: "foo", key: foo.key };
    return this.add({ kind: "reconcile-end", ...own, causes: [begin], outcome: "done", durationMs: 12, ...end }, 12);
  }
}
