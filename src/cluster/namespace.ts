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

/** What keeps a namespace. */
interface Leftovers {
  /** How many objects of each kind. */
  readonly kinds: Map<string, number>;
  /** How many objects each finalizer holds. */
  readonly finalizers: Map<string, number>;
}

async function empty(namespace: Namespace, toolbox: Toolbox): Promise<Result> {
  const { name = "" } = namespace.metadata;
  const left: Leftovers = { kinds: new Map(), finalizers: new Map() };
  for (const resource of await kindsIn(toolbox.client, toolbox.signal)) {
    const objects = await deleteAll(toolbox.client, resource, name, toolbox.signal);
    if (objects.length > 0) left.kinds.set(nameOf(resource), objects.length);
    for (const finalizer of objects.flatMap(finalizersOf)) {
      left.finalizers.set(finalizer, (left.finalizers.get(finalizer) ?? 0) + 1);
    }
  }
  await toolbox.patchStatus(builtin.Namespace, namespace, {
    conditions: conditionsOf(namespace, left, toolbox.clock.now()),
  });
  if (left.kinds.size > 0) return requeueAfter(lookEveryMs);
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

/** @returns what is left, because finalizers or a grace period keep it */
async function deleteAll(
  client: Client,
  resource: Resource,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const before = await list(client, resource, namespace, signal);
  if (before.length === 0) return before;
  await client.deleteCollection(resource, { namespace, propagationPolicy: "Background", signal }).catch(
    (error: unknown) => {
      // 404 and 405: a kind that has gone, or whose objects do not go together.
      if (!(error instanceof ApiError) || (error.code !== 404 && error.code !== 405)) throw error;
    },
  );
  return await list(client, resource, namespace, signal);
}

function finalizersOf(object: unknown): readonly string[] {
  if (typeof object !== "object" || object === null || !("metadata" in object)) return [];
  const { metadata } = object;
  if (typeof metadata !== "object" || metadata === null || !("finalizers" in metadata)) return [];
  return Array.isArray(metadata.finalizers) ? metadata.finalizers.map(String) : [];
}

async function list(
  client: Client,
  resource: Resource,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  try {
    const { items } = await client.list(resource, { namespace, metadataOnly: true, signal });
    return items;
  } catch (error) {
    // A kind that has gone meanwhile has left nothing.
    if (isNotFound(error)) return [];
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

function conditionsOf(namespace: Namespace, left: Leftovers, nowMs: number) {
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
  const remaining = [...left.kinds].map(([name, count]) => `${name} has ${count} resource instances`).join(", ");
  const held = [...left.finalizers].map(([name, count]) => `${name} in ${count} resource instances`).join(", ");
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
    left.kinds.size > 0
      ? said("NamespaceContentRemaining", true, "SomeResourcesRemain", `Some resources are remaining: ${remaining}`)
      : said("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"),
    held === ""
      ? said(
        "NamespaceFinalizersRemaining",
        false,
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
      )
      : said(
        "NamespaceFinalizersRemaining",
        true,
        "SomeFinalizersRemain",
        `Some content in the namespace has finalizers remaining: ${held}`,
      ),
  ];
}

function nameOf({ group, plural }: Resource): string {
  return group === "" ? `${plural}.` : `${plural}.${group}`;
}
