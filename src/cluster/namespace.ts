/**
 * The life of a namespace. A new one gets the ServiceAccount `default` and the ConfigMap with the certificate authority of
 * the API server. A deleted one is emptied, kind by kind, and finalized when nothing is left; until then its conditions say
 * what remains, as in kube-controller-manager.
 */
import { builtin, type Infer, printExactJson, type Resource } from "../api/mod.ts";
import { ApiError, type Client, Discovery, isAlreadyExists, isNotFound } from "../client/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  requeueAfter,
  type Result,
  type Toolbox,
} from "../controller/mod.ts";
import { timeText } from "./_values.ts";

type Namespace = Infer<typeof builtin.Namespace>;

/** Milliseconds between two attempts to empty a namespace. */
const retryIntervalMs = 1_000;

/** The ConfigMap with the certificate authority. */
const rootCa = "kube-root-ca.crt";

/** Empties and finalizes deleted namespaces. */
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

/** What remains in a namespace. */
interface Remaining {
  /** The number of objects by kind. */
  readonly kinds: Map<string, number>;
  /** The number of objects by finalizer. */
  readonly finalizers: Map<string, number>;
}

async function empty(namespace: Namespace, toolbox: Toolbox): Promise<Result> {
  const { name = "" } = namespace.metadata;
  const left: Remaining = { kinds: new Map(), finalizers: new Map() };
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
  if (left.kinds.size > 0) return requeueAfter(retryIntervalMs);
  await finalize(namespace, toolbox);
  return done;
}

/** The namespaced kinds that can be listed and deleted, each in one version. */
async function kindsIn(client: Client, signal: AbortSignal): Promise<readonly Resource[]> {
  const found = await new Discovery(client).resources(signal);
  const kinds = new Map<string, Resource>();
  for (const { resource, verbs } of found) {
    if (resource.scope !== "Namespaced" || !verbs.includes("delete") || !verbs.includes("list")) continue;
    if (!kinds.has(nameOf(resource))) kinds.set(nameOf(resource), resource);
  }
  return [...kinds.values()];
}

/** @returns the objects that remain because of finalizers or a grace period */
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
      // 404: the kind was deleted. 405: the kind has no deleteCollection.
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
    // The kind was deleted meanwhile, and its objects with it.
    if (isNotFound(error)) return [];
    throw error;
  }
}

async function finalize(namespace: Namespace, toolbox: Toolbox): Promise<void> {
  const { name } = namespace.metadata;
  const live = await toolbox.client.find(builtin.Namespace, `${name}`, { signal: toolbox.signal });
  if (live === undefined) return;
  const finalizers = live.spec.finalizers?.filter((finalizer) => finalizer !== "kubernetes");
  const body = printExactJson({ ...live, spec: { ...live.spec, finalizers } });
  await toolbox.client.raw(`/api/v1/namespaces/${name}/finalize`, { method: "PUT", body, signal: toolbox.signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
}

function conditionsOf(namespace: Namespace, left: Remaining, nowMs: number) {
  const now = timeText(nowMs);
  const condition = (type: string, isTrue: boolean, reason: string, message: string) => {
    const current = namespace.status?.conditions?.find((one) => one.type === type);
    const status = isTrue ? "True" : "False";
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime: current?.status === status ? current.lastTransitionTime : now,
    };
  };
  const remaining = [...left.kinds].map(([name, count]) => `${name} has ${count} resource instances`).join(", ");
  const finalizers = [...left.finalizers].map(([name, count]) => `${name} in ${count} resource instances`).join(", ");
  return [
    condition(
      "NamespaceDeletionDiscoveryFailure",
      false,
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ),
    condition(
      "NamespaceDeletionGroupVersionParsingFailure",
      false,
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    condition(
      "NamespaceDeletionContentFailure",
      false,
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    left.kinds.size > 0
      ? condition(
        "NamespaceContentRemaining",
        true,
        "SomeResourcesRemain",
        `Some resources are remaining: ${remaining}`,
      )
      : condition("NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed"),
    finalizers === ""
      ? condition(
        "NamespaceFinalizersRemaining",
        false,
        "ContentHasNoFinalizers",
        "All content-preserving finalizers finished",
      )
      : condition(
        "NamespaceFinalizersRemaining",
        true,
        "SomeFinalizersRemain",
        `Some content in the namespace has finalizers remaining: ${finalizers}`,
      ),
  ];
}

function nameOf({ group, plural }: Resource): string {
  return group === "" ? `${plural}.` : `${plural}.${group}`;
}

/**
 * Creates the default ServiceAccount and the certificate authority of every namespace.
 *
 * @param caCertificate PEM text that Pods must trust; "" when the server has none
 */
export function serviceAccountController(caCertificate: string): ControllerDefinition {
  return controller("serviceaccount-controller", { maxConcurrentReconciles: 2 })
    .for(builtin.Namespace)
    .watches(builtin.ServiceAccount, { to: ({ metadata: { namespace = "" } }) => [namespace] })
    .watches(builtin.ConfigMap, {
      to: ({ metadata: { namespace = "" } }) => [namespace],
      when: ({ object }) => object.metadata.name === rootCa,
    })
    .reconcile(async (ctx) => {
      const namespace = ctx.object.metadata.name ?? "";
      if (ctx.find(builtin.ServiceAccount, `${namespace}/default`) === undefined) {
        const metadata = { name: "default", namespace };
        await ctx.client.create(builtin.ServiceAccount, { metadata }, { signal: ctx.signal }).catch(ignoreExisting);
      }
      const existing = ctx.find(builtin.ConfigMap, `${namespace}/${rootCa}`);
      const data = { "ca.crt": caCertificate };
      if (existing === undefined) {
        const metadata = { name: rootCa, namespace };
        await ctx.client.create(builtin.ConfigMap, { metadata, data }, { signal: ctx.signal }).catch(ignoreExisting);
      } else await ctx.patch(builtin.ConfigMap, existing, { kind: "merge", value: { data } });
      return done;
    });
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
