/**
 * collect(): what the garbage collector does about one object. Everything that leads to a deletion is read from the
 * server at that moment; the graph only says whom to ask about.
 */
import { keyOf, type KubeObject, type OwnerReference, type Resource } from "../api/mod.ts";
import { type Client, type DeleteOptions, isNotFound } from "../client/mod.ts";
import type { GraphNode, OwnerGraph } from "./_owner_graph.ts";

const foreground = "foregroundDeletion";
const orphan = "orphan";

/** What a decision needs. */
export interface CollectParts {
  readonly client: Client;
  readonly graph: OwnerGraph;
  /** The kind that a reference means; undefined when the server has none. */
  readonly kindOf: (reference: OwnerReference) => Promise<Resource<KubeObject> | undefined>;
  /** Looks at an object again. */
  readonly enqueue: (id: string) => void;
  readonly signal: AbortSignal;
}

/** Looks at one object. @throws Error when a question cannot be answered, to be asked again */
export async function collect(node: GraphNode, parts: CollectParts): Promise<void> {
  const live = await find(node.resource, node.object, parts);
  if (live === undefined || live.metadata.uid !== node.object.metadata.uid) return;
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = live.metadata;
  if (deletionTimestamp !== undefined) {
    if (finalizers.includes(orphan)) return await orphanAll(node, live, parts);
    if (finalizers.includes(foreground)) return await awaitAll(node, live, parts);
    return;
  }
  if (ownerReferences.length > 0) await judge(node, live, ownerReferences, parts);
}

type Owner = { readonly kind: "solid" | "absent" | "waiting"; readonly reference: OwnerReference };

async function judge(
  node: GraphNode,
  live: KubeObject,
  references: readonly OwnerReference[],
  parts: CollectParts,
): Promise<void> {
  const owners = await Promise.all(references.map((reference) => ownerOf(reference, node, parts)));
  const useless = owners.filter(({ kind }) => kind !== "solid").map(({ reference }) => reference.uid);
  if (useless.length === 0) return;
  if (useless.length < owners.length) return await dropReferences(node, live, new Set(useless), parts);
  const isAwaited = owners.some(({ kind }) => kind === "waiting");
  const hasDependents = parts.graph.dependentsOf(live.metadata.uid ?? "").length > 0;
  await remove(node, live, isAwaited && hasDependents ? "Foreground" : policyOf(live), parts);
}

async function ownerOf(reference: OwnerReference, node: GraphNode, parts: CollectParts): Promise<Owner> {
  const resource = await parts.kindOf(reference);
  if (resource === undefined) {
    throw new Error(
      `Cannot judge ${node.resource.kind} "${keyOf(node.object)}": its owner's kind ${reference.kind} is not known`,
    );
  }
  const { namespace } = node.object.metadata;
  // Nothing can own across namespaces; what claims so is left alone.
  if (resource.scope === "Namespaced" && namespace === undefined) return { kind: "solid", reference };
  const owner = await parts.client.find(resource, keyOfOwner(resource, reference, namespace), {
    metadataOnly: true,
    signal: parts.signal,
  });
  if (owner === undefined || owner.metadata.uid !== reference.uid) return { kind: "absent", reference };
  const isWaiting = owner.metadata.deletionTimestamp !== undefined &&
    owner.metadata.finalizers?.includes(foreground) === true;
  return { kind: isWaiting ? "waiting" : "solid", reference };
}

function keyOfOwner(resource: Resource, { name }: OwnerReference, namespace: string | undefined): string {
  return resource.scope === "Namespaced" ? `${namespace}/${name}` : name;
}

/** Foreground deletion: the dependents go first, and those that block are waited for. */
async function awaitAll(node: GraphNode, live: KubeObject, parts: CollectParts): Promise<void> {
  const { uid = "" } = live.metadata;
  const dependents = parts.graph.dependentsOf(uid);
  for (const { id } of dependents) parts.enqueue(id);
  const blocking = dependents.filter(({ object }) =>
    object.metadata.ownerReferences?.some((reference) => reference.uid === uid && reference.blockOwnerDeletion === true)
  );
  if (blocking.length === 0) await dropFinalizer(node, live, foreground, parts);
}

/** Orphaning: the dependents stay and forget their owner. */
async function orphanAll(node: GraphNode, live: KubeObject, parts: CollectParts): Promise<void> {
  const { uid = "" } = live.metadata;
  for (const dependent of parts.graph.dependentsOf(uid)) {
    const object = await find(dependent.resource, dependent.object, parts);
    if (object !== undefined) await dropReferences(dependent, object, new Set([uid]), parts);
  }
  await dropFinalizer(node, live, orphan, parts);
}

async function dropReferences(
  node: GraphNode,
  live: KubeObject,
  uids: ReadonlySet<string>,
  parts: CollectParts,
): Promise<void> {
  const ownerReferences = live.metadata.ownerReferences?.filter((reference) => !uids.has(reference.uid)) ?? [];
  await patchMetadata(node, live, { ownerReferences }, parts);
}

async function dropFinalizer(node: GraphNode, live: KubeObject, name: string, parts: CollectParts): Promise<void> {
  const finalizers = live.metadata.finalizers?.filter((finalizer) => finalizer !== name) ?? [];
  await patchMetadata(node, live, { finalizers }, parts);
}

async function patchMetadata(node: GraphNode, live: KubeObject, change: object, parts: CollectParts): Promise<void> {
  const { uid, resourceVersion } = live.metadata;
  const value = { metadata: { ...change, uid, resourceVersion } };
  await parts.client.patch(node.resource, keyOf(live), { kind: "merge", value }, { signal: parts.signal }).catch(
    ignoreGone,
  );
}

async function remove(
  node: GraphNode,
  live: KubeObject,
  policy: DeleteOptions["propagationPolicy"],
  parts: CollectParts,
): Promise<void> {
  const { uid, resourceVersion } = live.metadata;
  const options = { preconditions: { uid, resourceVersion }, propagationPolicy: policy, signal: parts.signal };
  await parts.client.delete(node.resource, keyOf(live), options).catch(ignoreGone);
}

/** How the object itself wants its dependents to be treated. */
function policyOf(live: KubeObject): DeleteOptions["propagationPolicy"] {
  if (live.metadata.finalizers?.includes(orphan)) return "Orphan";
  return live.metadata.finalizers?.includes(foreground) ? "Foreground" : "Background";
}

async function find(
  resource: Resource<KubeObject>,
  object: KubeObject,
  parts: CollectParts,
): Promise<KubeObject | undefined> {
  return await parts.client.find(resource, keyOf(object), { metadataOnly: true, signal: parts.signal });
}

function ignoreGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
