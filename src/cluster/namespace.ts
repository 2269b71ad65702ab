/**
 * The end of a namespace: everything in it is deleted, kind by kind, and the namespace goes when nothing is left. What
 * keeps it is said in its conditions, as kube-controller-manager does.
 */
import { builtin, type Infer, type Resource } from "../api/mod.ts";
import { ApiError, type Client, Discovery, isNotFound } from "../client/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  requeueAfter,
  type Result,
  type Toolbox,
} from "../controller/mod.ts";

type Namespace = Infer<typeof builtin.Namespace>;

/** Milliseconds between two looks at a namespace that something keeps. */
const lookEveryMs = 1_000;

/** Deletes what is in namespaces that are being deleted. */
export function namespaceController(): ControllerDefinition {
  return controller("namespace-controller", { maxConcurrentReconciles: 4 })
    .for(builtin.Namespace, { when: ({ object }) => object.metadata.deletionTimestamp !== undefined })
    .reconcileKey(async ({ key }, toolbox) => {
      const namespace = toolbox.find(builtin.Namespace, key);
      if (namespace?.metadata.deletionTimestamp === undefined) return done;
      if (!namespace.spec.finalizers?.includes("kubernetes")) return done;
      return await empty(namespace, toolbox);
    });
}

async function empty(namespace: Namespace, toolbox: Toolbox): Promise<Result> {
  const { name = "" } = namespace.metadata;
  const left = new Map<string, number>();
  for (const resource of await kindsIn(toolbox.client, toolbox.signal)) {
    const count = await deleteAll(toolbox.client, resource, name, toolbox.signal);
    if (count > 0) left.set(nameOf(resource), count);
  }
  await toolbox.patchStatus(builtin.Namespace, namespace, {
    conditions: conditionsOf(namespace, left, toolbox.clock.now()),
  });
  if (left.size > 0) return requeueAfter(lookEveryMs);
  await finalize(namespace, toolbox);
  return done;
}

/** The kinds of which objects can be in a namespace and can be deleted together, each in one version. */
async function kindsIn(client: Client, signal: AbortSignal): Promise<readonly Resource[]> {
  const found = await new Discovery(client).resources(signal);
  const kinds = new Map<string, Resource>();
  for (const { resource, verbs } of found) {
    if (resource.scope !== "Namespaced" || !verbs.includes("delete") || !verbs.includes("list")) continue;
    if (!kinds.has(nameOf(resource))) kinds.set(nameOf(resource), resource);
  }
  return [...kinds.values()];
}

/** @returns how many are left, because finalizers or a grace period keep them */
async function deleteAll(client: Client, resource: Resource, namespace: string, signal: AbortSignal): Promise<number> {
  const before = await list(client, resource, namespace, signal);
  if (before === 0) return 0;
  await client.deleteCollection(resource, { namespace, propagationPolicy: "Background", signal }).catch(
    (error: unknown) => {
      // 404 and 405: a kind that has gone, or whose objects do not go together.
      if (!(error instanceof ApiError) || (error.code !== 404 && error.code !== 405)) throw error;
    },
  );
  return await list(client, resource, namespace, signal);
}

async function list(client: Client, resource: Resource, namespace: string, signal: AbortSignal): Promise<number> {
  try {
    return (await client.list(resource, { namespace, metadataOnly: true, signal })).items.length;
  } catch (error) {
    // A kind that has gone meanwhile has left nothing.
    if (isNotFound(error)) return 0;
    throw error;
  }
}

async function finalize(namespace: Namespace, toolbox: Toolbox): Promise<void> {
  const { name } = namespace.metadata;
  const live = await toolbox.client.find(builtin.Namespace, `${name}`, { signal: toolbox.signal });
  if (live === undefined) return;
  const finalizers = live.spec.finalizers?.filter((finalizer) => finalizer !== "kubernetes");
  const body = JSON.stringify({ ...live, spec: { ...live.spec, finalizers } });
  await toolbox.client.raw(`/api/v1/namespaces/${name}/finalize`, { method: "PUT", body, signal: toolbox.signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}

function conditionsOf(namespace: Namespace, left: ReadonlyMap<string, number>, nowMs: number) {
  const now = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const said = (type: string, isTrue: boolean, reason: string, message: string) => {
    const held = namespace.status?.conditions?.find((condition) => condition.type === type);
    const status = isTrue ? "True" : "False";
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: held?.status === status ? held.lastTransitionTime : now,
    };
  };
  const remaining = [...left].map(([name, count]) => `${name} has ${count} resource instances`).join(", ");
  return [
    said("NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered", "All resources successfully discovered"),
    said(
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    said(
      "NamespaceDeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    left.size > 0
      ? said("NamespaceContentRemaining", true, "SomeResourcesRemain", `Some resources are remaining: ${remaining}`)
      : said("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"),
    said("NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
  ];
}

function nameOf({ group, plural }: Resource): string {
  return group === "" ? `${plural}.` : `${plural}.${group}`;
}
