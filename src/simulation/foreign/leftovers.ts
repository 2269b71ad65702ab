/**
 * leftoversOf(): what a program has created for an object of a user, and what stays when that object is deleted. Nothing in
 * Kubernetes says for what an object was created but an owner reference, so labels, annotations and names are read, too.
 *
 * Caveats: what stays in every run may be meant to stay, as volume claims are. Only what stays in addition is a leak.
 */
import type { KubeObject } from "../../api/mod.ts";
import type { SummaryObject } from "../summary.ts";

/** An object that has stayed. */
export interface Leftover {
  readonly view: SummaryObject;
  /** The deleted object that it was created for. */
  readonly of: KubeObject;
}

/** What is asked for leftovers. */
export interface LeftoverQuestion {
  /** What the program has created, and exists. */
  readonly created: readonly SummaryObject[];
  /** What users have created, and exists. */
  readonly live: readonly KubeObject[];
  /** What users have created, and have deleted. */
  readonly deleted: readonly KubeObject[];
}

/** The created objects that belong to a deleted one. Without a living object of users, each of them belongs to one. */
export function leftoversOf({ created, live, deleted }: LeftoverQuestion): readonly Leftover[] {
  const last = live.length === 0 ? deleted.at(-1) : undefined;
  const gone = deleted.filter((one) => !live.some((other) => isSameName(one, other)));
  return created.flatMap((view) => {
    const { object } = view;
    const owner = deleted.find((one) => hasOwner(object, one));
    const isNeeded = live.some((one) => hasOwner(object, one) || isNamedAfter(object, one));
    const of = owner ?? (isNeeded ? undefined : gone.find((one) => isNamedAfter(object, one)) ?? last);
    return of === undefined ? [] : [{ view, of }];
  });
}

function hasOwner({ metadata: { ownerReferences = [] } }: KubeObject, { metadata: { uid } }: KubeObject): boolean {
  return ownerReferences.some((owner) => owner.uid === uid);
}

function isSameName(one: KubeObject, other: KubeObject): boolean {
  return one.kind === other.kind && one.metadata.namespace === other.metadata.namespace &&
    one.metadata.name === other.metadata.name;
}

/** True when a label, an annotation or the name of an object has the name of another one. */
function isNamedAfter({ metadata }: KubeObject, { metadata: { namespace, name = "" } }: KubeObject): boolean {
  const values = Object.values({ ...metadata.annotations, ...metadata.labels });
  if (values.some((value) => value === name || value === `${namespace}/${name}`)) return true;
  const isNear = metadata.namespace === undefined || namespace === undefined || metadata.namespace === namespace;
  return isNear && `-${metadata.name ?? ""}-`.includes(`-${name}-`);
}
