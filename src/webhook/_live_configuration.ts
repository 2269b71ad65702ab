/**
 * The parts of a webhook configuration that change while a cluster runs: where the API server calls and whom it believes.
 * The same for both kinds of admission configuration and for the conversion of a CRD.
 *
 * Guarantees: a change is made to the very version that was read; a conflict means: read again.
 */
import { builtin, type Resource } from "../api/mod.ts";
import type { Client, JsonPatchOperation } from "../client/mod.ts";
import { fieldOf } from "./_typed_object.ts";

/** The annotation that holds client configurations as they were before a local run, by the name of their webhook. */
export const borrowedAnnotation = "pintle.dev/webhooks-before-local";

/** One configuration object of a cluster. */
export interface ConfigurationTarget {
  /** `converting` is the conversion of the CRD of this name. */
  readonly kind: "mutating" | "validating" | "converting";
  readonly name: string;
}

/** Where the API server calls, and whom it believes. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM in Base64. */
  readonly caBundle?: string;
}

/** One client configuration in its object. */
export interface LiveEntry {
  /** The webhook's name; "" for a conversion. */
  readonly name: string;
  /** JSON pointer of the client configuration. */
  readonly pointer: string;
  readonly clientConfig: WebhookClientConfig;
}

/** What there is in the cluster. */
export interface LiveConfiguration {
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly entries: readonly LiveEntry[];
}

/** Reads a configuration; undefined when it is not installed, or converts without a webhook. */
export async function readConfiguration(
  client: Client,
  target: ConfigurationTarget,
  signal: AbortSignal,
): Promise<LiveConfiguration | undefined> {
  const { name } = target;
  if (target.kind === "converting") {
    const crd = await client.find(builtin.CustomResourceDefinition, name, { signal });
    const clientConfig = crd?.spec.conversion?.webhook?.clientConfig;
    if (crd === undefined || clientConfig === undefined) return undefined;
    return live(crd.metadata, [{ name: "", pointer: "/spec/conversion/webhook/clientConfig", clientConfig }]);
  }
  const found = target.kind === "mutating"
    ? await client.find(builtin.MutatingWebhookConfiguration, name, { signal })
    : await client.find(builtin.ValidatingWebhookConfiguration, name, { signal });
  if (found === undefined) return undefined;
  const entries = (found.webhooks ?? []).map((webhook, index) => ({
    name: webhook.name,
    pointer: `/webhooks/${index}/clientConfig`,
    clientConfig: webhook.clientConfig,
  }));
  return live(found.metadata, entries);
}

/** Applies `operations` to the version that was read. @throws ApiError, `isConflict` when it changed since */
export async function patchConfiguration(
  client: Client,
  target: ConfigurationTarget,
  read: LiveConfiguration,
  operations: readonly JsonPatchOperation[],
  signal: AbortSignal,
): Promise<void> {
  // Written like any field, compared like none: another version in the cluster is answered with 409.
  const guard = { op: "replace", path: "/metadata/resourceVersion", value: read.resourceVersion } as const;
  await client.patch(resourceOf(target), target.name, { kind: "json", operations: [guard, ...operations] }, { signal });
}

/** The kind a target is of. */
export function resourceOf(target: ConfigurationTarget): Resource {
  switch (target.kind) {
    case "mutating":
      return builtin.MutatingWebhookConfiguration;
    case "validating":
      return builtin.ValidatingWebhookConfiguration;
    case "converting":
      return builtin.CustomResourceDefinition;
    default:
      return target.kind satisfies never;
  }
}

function live(metadata: unknown, entries: readonly LiveEntry[]): LiveConfiguration {
  const resourceVersion = String(fieldOf(metadata, "resourceVersion") ?? "");
  return { resourceVersion, annotations: stringMap(fieldOf(metadata, "annotations")), entries };
}

function stringMap(value: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)]));
}
