/**
 * What every controller of Pods does with them: find those of an owner, make one from a template, say how it is.
 *
 * Pods are read live. A count that decides what is created or deleted must not come from a cache that lags.
 */
import {
  builtin,
  controllerOf,
  controllerReference,
  type Infer,
  isControlledBy,
  keyOf,
  type KubeObject,
  type LabelSelector,
  type Resource,
} from "../api/mod.ts";
import { ApiError, type Client, isNotFound } from "../client/mod.ts";

export type Pod = Infer<typeof builtin.Pod>;

/** The template of Pods that workloads carry. */
export type PodTemplate = Infer<typeof builtin.ReplicaSet>["spec"]["template"];

/** The object Pods are made for. */
export interface PodOwner {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** A selector as objects carry it: the server has checked its operators, and the published types do not name them. */
export function selectorOf(served: Infer<typeof builtin.ReplicaSet>["spec"]["selector"] | undefined): LabelSelector {
  return (served ?? {}) as LabelSelector;
}

/** The Pods of a namespace that the owner controls, or that nobody does and the selector takes: those are adopted. */
export async function podsOf(
  client: Client,
  owner: PodOwner,
  selector: Parameters<typeof selectorOf>[0],
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const { namespace } = owner.object.metadata;
  const { items } = await client.list(builtin.Pod, { namespace, labelSelector: selectorOf(selector), signal });
  const adopted = await Promise.all(items.map(async (pod) => {
    if (isControlledBy(pod, owner.object)) return pod;
    const isFree = controllerOf(pod) === undefined && pod.metadata.deletionTimestamp === undefined && isActive(pod);
    return isFree ? await adopt(client, builtin.Pod, pod, owner, signal) : undefined;
  }));
  return adopted.filter((pod) => pod !== undefined);
}

/** Puts the owner's reference on an object that has no controller. */
export async function adopt<R extends Resource>(
  client: Client,
  resource: R,
  object: Infer<R> & KubeObject,
  owner: PodOwner,
  signal: AbortSignal,
): Promise<Infer<R>> {
  const ownerReferences = [...object.metadata.ownerReferences ?? [], controllerReference(owner.object, owner.resource)];
  const metadata = { ownerReferences, uid: object.metadata.uid, resourceVersion: object.metadata.resourceVersion };
  // A merge patch of metadata is one of every kind; the type of a Resource that is a parameter cannot say so.
  return await client.patch(resource, keyOf(object), { kind: "merge", value: { metadata } as never }, { signal });
}

/** What a new Pod has beyond its template. */
export interface PodExtras {
  /** Absent: the server draws one behind the owner's name. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Partial<Pod["spec"]>;
}

/** Creates a Pod for an owner. */
export async function createPod(
  client: Client,
  owner: PodOwner,
  template: PodTemplate,
  extras: PodExtras,
  signal: AbortSignal,
): Promise<Pod> {
  const { name, namespace } = owner.object.metadata;
  return await client.create(builtin.Pod, {
    metadata: {
      ...(extras.name === undefined ? { generateName: `${name}-` } : { name: extras.name }),
      namespace,
      labels: { ...template?.metadata?.labels, ...extras.labels },
      annotations: { ...template?.metadata?.annotations, ...extras.annotations },
      finalizers: template?.metadata?.finalizers,
      ownerReferences: [controllerReference(owner.object, owner.resource)],
    },
    spec: { containers: [], ...template?.spec, ...extras.spec },
  }, { signal });
}

/** True for the refusal to create something in a namespace that is going: nothing is wrong, and nothing is left to do. */
export function isNamespaceGoing(error: unknown): boolean {
  return error instanceof ApiError &&
    error.status.details?.causes?.some(({ reason }) => reason === "NamespaceTerminating") === true;
}

/** Deletes this very Pod; one that is gone is fine. */
export async function deletePod(client: Client, pod: Pod, signal: AbortSignal, graceSeconds?: number): Promise<void> {
  const options = { preconditions: { uid: pod.metadata.uid }, gracePeriodSeconds: graceSeconds, signal };
  await client.delete(builtin.Pod, keyOf(pod), options).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** True for a Pod that runs or will: neither finished nor on its way out. */
export function isActive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isFinished(pod);
}

/** True for a Pod whose containers have ended for good. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed";
}

/** True for a Pod that takes traffic. */
export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === "True";
}

/** True for a Pod that has been ready for so many seconds. @param now milliseconds since 1970 */
export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return isReady(pod) && msUntilAvailable(pod, minReadySeconds, now) <= 0;
}

/** Milliseconds until a ready Pod counts as available; Infinity while it is not ready. */
export function msUntilAvailable(pod: Pod, minReadySeconds: number, now: number): number {
  const condition = readyCondition(pod);
  if (condition?.status !== "True") return Infinity;
  if (minReadySeconds === 0) return 0;
  return Date.parse(`${condition.lastTransitionTime}`) + minReadySeconds * 1000 - now;
}

/** Pods that can best be missed come first: unscheduled, not running, not ready, cheap to delete, young. */
export function inOrderOfDeletion(pods: readonly Pod[]): readonly Pod[] {
  return pods.toSorted((left, right) =>
    rank(left) - rank(right) || deletionCost(left) - deletionCost(right) ||
    `${right.metadata.creationTimestamp}`.localeCompare(`${left.metadata.creationTimestamp}`) ||
    `${left.metadata.name}`.localeCompare(`${right.metadata.name}`)
  );
}

function rank(pod: Pod): number {
  if (pod.spec.nodeName === undefined) return 0;
  if (pod.status?.phase !== "Running") return 1;
  return isReady(pod) ? 3 : 2;
}

function deletionCost(pod: Pod): number {
  return Number(pod.metadata.annotations?.["controller.kubernetes.io/pod-deletion-cost"] ?? 0) || 0;
}

function readyCondition(pod: Pod) {
  return pod.status?.conditions?.find(({ type }) => type === "Ready");
}
