/**
 * The state of a cluster in a form that can be compared between runs on real time: fields, and how often each object was created
 * and deleted. Names that the server or the program generated are replaced by what they are generated from, and UIDs by the
 * objects that they belong to, also inside of other texts, as in the names of volumes.
 */
import { type KubeObject, parseExactJson, printExactJson } from "../../api/mod.ts";
import { type SummaryChange } from "../engine.ts";
import { fieldsOf, lifecyclesOf, type SummaryObject } from "../summary.ts";

/**
 * Collections that are not compared: they follow from others with any number of intermediate states, or are about the program
 * itself.
 */
export const uncomparedCollections: ReadonlySet<string> = new Set([
  ...["events", "events.events.k8s.io", "leases.coordination.k8s.io", "nodes", "namespaces", "serviceaccounts"],
  ...["endpoints", "endpointslices.discovery.k8s.io", "controllerrevisions.apps", "replicasets.apps"],
  "customresourcedefinitions.apiextensions.k8s.io",
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

/** The names that stand for those that differ between runs. */
export class StableNames {
  readonly #uids = new Map<string, string>();
  readonly #generated = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** Learns the names of objects, in the order of their creation. */
  learn(changes: readonly SummaryChange[]): void {
    for (const { collection, change } of changes) {
      if (change.kind !== "added") continue;
      const { metadata } = change.current.object as KubeObject;
      const { uid = "", name = "", namespace = "", generateName } = metadata;
      if (this.#uids.has(uid)) continue;
      let stable = name;
      if (generateName !== undefined && generateName !== "") {
        const role = `${collection} ${namespace}/${generateName}`;
        const number = (this.#counts.get(role) ?? 0) + 1;
        this.#counts.set(role, number);
        stable = `${generateName}${number}`;
        this.#generated.set(name, stable);
      }
      this.#uids.set(uid, `uid-of-${collection}-${namespace}-${stable}`);
    }
  }

  /** The name that stands for a name of an object. */
  nameOf(name: string): string {
    return this.#generated.get(name) ?? name;
  }

  /** The object with stable names. @param live the UIDs of all objects; others belong to deleted ones */
  in(object: KubeObject, live: ReadonlySet<string>): KubeObject {
    let text = printExactJson(object);
    for (const [name, stable] of this.#generated) if (text.includes(name)) text = text.replaceAll(name, stable);
    for (const uid of live) {
      const stable = this.#uids.get(uid);
      if (stable !== undefined && text.includes(uid)) text = text.replaceAll(uid, stable);
    }
    return parseExactJson(text) as KubeObject;
  }
}

/** The compared fields of objects, by object and path. */
export function clusterFields(objects: readonly SummaryObject[], names: StableNames): ReadonlyMap<string, string> {
  const live = new Set(objects.map(({ object }) => object.metadata.uid ?? ""));
  return fieldsOf(objects.map(({ collection, object }) => ({ collection, object: names.in(object, live) })));
}

/** How often each compared object was created and deleted. */
export function clusterLifecycles(changes: readonly SummaryChange[], names: StableNames): ReadonlyMap<string, string> {
  return lifecyclesOf(changes.map(({ collection, change }) => {
    const { object } = change.current;
    const { namespace, name = "" } = (object as KubeObject).metadata;
    const stable = names.nameOf(name);
    return {
      collection,
      change: { ...change, current: { key: namespace === undefined ? stable : `${namespace}/${stable}`, object } },
    };
  }));
}
