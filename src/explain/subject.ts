/**
 * findSubject(): the object that a user means with `KIND [NAMESPACE/]NAME`: a kind as kubectl accepts it, and a name.
 *
 * Guarantees: a kind that could mean two is refused, with the names that are exact; an unknown one with those that exist.
 */
import { type Entry, type ObjectRef } from "../observe/mod.ts";
import type { KindNames, KnownController, Subject } from "./history.ts";
import { joined, shown } from "./words.ts";

/** What a user typed. */
export interface SubjectWords {
  /** `Deployment`, `deployments`, `deploy`, `deployments.apps`. */
  readonly kind: string;
  /** `NAME`, or `NAMESPACE/NAME`. */
  readonly name: string;
  /** The namespace of a name without one. @default the only one in which the recording has the name, else "default" */
  readonly namespace?: string;
}

/** The object, or why none was found and what to do. */
export type FoundSubject =
  | { readonly kind: "found"; readonly subject: Subject }
  | {
    readonly kind: "unknown";
    /** True if it is the kind that nobody knows. */
    readonly isKind: boolean;
    readonly problem: string;
    readonly advice: string;
  };

/** The short names of Kubernetes' own kinds that controllers watch most, as `kubectl api-resources` lists them. */
const shortNames: Readonly<Record<string, string>> = {
  cm: "configmaps",
  crd: "customresourcedefinitions.apiextensions.k8s.io",
  cj: "cronjobs.batch",
  deploy: "deployments.apps",
  ds: "daemonsets.apps",
  ep: "endpoints",
  ev: "events",
  hpa: "horizontalpodautoscalers.autoscaling",
  ing: "ingresses.networking.k8s.io",
  netpol: "networkpolicies.networking.k8s.io",
  no: "nodes",
  ns: "namespaces",
  pdb: "poddisruptionbudgets.policy",
  po: "pods",
  pv: "persistentvolumes",
  pvc: "persistentvolumeclaims",
  quota: "resourcequotas",
  rc: "replicationcontrollers",
  rs: "replicasets.apps",
  sa: "serviceaccounts",
  sc: "storageclasses.storage.k8s.io",
  sts: "statefulsets.apps",
  svc: "services",
};

/** Finds the object. @param entries The recording, for kinds and keys that the controllers do not declare */
export function findSubject(
  { kind: word, name, namespace }: SubjectWords,
  entries: readonly Entry[],
  controllers: readonly KnownController[],
): FoundSubject {
  const refs = refsOf(entries);
  const kinds = new Map<string, KindNames>(
    [...refs, ...controllers.flatMap(({ primary, watched }) => [primary, ...watched])]
      .map((ref) => [ref.resource, ref]),
  );
  const found = [...kinds.values()].filter((kind) => isMeant(kind, word));
  const [kind] = found;
  if (kind === undefined) {
    const known = [...kinds.keys()].sort().map(shown);
    const advice = known.length === 0
      ? "The recording is empty, and there are no controllers"
      : `Known are ${joined(known)}`;
    return { kind: "unknown", isKind: true, problem: "neither a controller nor the recording knows the kind", advice };
  }
  if (found.length > 1) {
    const names = found.map(({ resource }) => shown(resource));
    return {
      kind: "unknown",
      isKind: false,
      problem: "the kind is not unique",
      advice: `Name one of ${joined(names)}`,
    };
  }
  const { resource } = kind;
  const key = keyOf({ kind: word, name, namespace }, kind, refs);
  return key === undefined
    ? {
      kind: "unknown",
      isKind: false,
      problem: "the name has more than one slash, or an empty part",
      advice: "Write NAMESPACE/NAME",
    }
    : { kind: "found", subject: { resource, kind: kind.kind, key } };
}

/** The objects of the entries, each once. */
function refsOf(entries: readonly Entry[]): readonly ObjectRef[] {
  const refs = new Map<string, ObjectRef>();
  for (const entry of entries) {
    // An Event may be about an object whose kind no controller watches; then its resource is not known.
    if (!("object" in entry) || entry.object === undefined || entry.object.resource === "") continue;
    if (entry.kind === "enqueue" && entry.role === "source") continue;
    refs.set(`${entry.object.resource} ${entry.object.key}`, entry.object);
  }
  return [...refs.values()];
}

function isMeant(
  { resource, kind, singular = kind.toLowerCase(), shortNames: own = [] }: KindNames,
  word: string,
): boolean {
  const wanted = word.toLowerCase();
  const dot = resource.indexOf(".");
  const [plural, group] = dot === -1 ? [resource, ""] : [resource.slice(0, dot), resource.slice(dot + 1)];
  const names = [plural, singular, kind.toLowerCase(), ...own];
  if (names.includes(wanted) || shortNames[wanted] === resource) return true;
  const [head = "", ...rest] = wanted.split(".");
  const suffix = rest.join(".");
  // kubectl also takes the version between both: deployments.v1.apps.
  const isGroup = suffix === group || (/^v\d/.test(suffix) && rest.slice(1).join(".") === group);
  return rest.length > 0 && names.includes(head) && isGroup;
}

function keyOf({ name, namespace }: SubjectWords, kind: KindNames, refs: readonly ObjectRef[]): string | undefined {
  const parts = name.split("/");
  if (parts.length > 2 || parts.includes("")) return undefined;
  if (parts.length === 2) return name;
  if (namespace !== undefined && kind.isClusterScoped !== true) return `${namespace}/${name}`;
  if (kind.isClusterScoped === true) return name;
  const known = refs.filter(({ resource, key }) => resource === kind.resource && key !== undefined);
  if (known.some(({ key }) => key === name)) return name;
  const inNamespaces = known.filter(({ key }) => key?.endsWith(`/${name}`));
  const [only] = inNamespaces;
  return inNamespaces.length === 1 && only?.key !== undefined ? only.key : `default/${name}`;
}
