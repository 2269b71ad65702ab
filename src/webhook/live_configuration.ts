/**
 * Reads and changes the webhook configurations of a cluster: the address that the API server calls and the authorities
 * that it trusts. Covers both kinds of admission configuration and the conversion of a CRD.
 *
 * Guarantees: a patch applies only to the version that was read; a conflict is read and tried again.
 */
import { builtin, pointerStep, type Resource } from "../api/mod.ts";
import { type Client, type JsonPatchOperation, retryOnConflict } from "../client/mod.ts";
import { fieldOf } from "./_decode.ts";
import type { Clock } from "../async/mod.ts";
import { toBase64 } from "../runtime/mod.ts";

/** The annotation with the original client configurations during a local run, by the name of their webhook. */
export const savedConfigAnnotation = "pintle.dev/webhooks-before-local";

/** The annotation that names the process of a local run, see `local_run.ts`. */
export const localRunAnnotation = "pintle.dev/local-run-owner";

/** The label of configurations that a local run created, and that are removed with it. */
export const localRunLabel = "pintle.dev/local-run";

/** The JSON pointer of an annotation. */
export function annotationPointer(name: string): string {
  return `/metadata/annotations/${pointerStep(name)}`;
}

/** One configuration object of a cluster. */
export interface ConfigurationTarget {
  /** `converting` means the conversion of the CRD with this name. */
  readonly kind: "mutating" | "validating" | "converting";
  readonly name: string;
}

/** The address that the API server calls, and the authorities that it trusts. */
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

/** One client configuration inside a configuration object. */
export interface LiveEntry {
  /** The webhook's name; "" for a conversion. */
  readonly name: string;
  /** JSON pointer of the client configuration. */
  readonly pointer: string;
  /** Undefined for a CRD that converts without a webhook. */
  readonly clientConfig: WebhookClientConfig | undefined;
}

/** A configuration as it is in the cluster. */
export interface LiveConfiguration {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly entries: readonly LiveEntry[];
}

/** True when a local run created the configuration. */
export function isCreatedLocally({ labels = {} }: LiveConfiguration): boolean {
  return labels[localRunLabel] === "true";
}

/** True when a local run has changed or created the configuration. */
export function isFromLocalRun(live: LiveConfiguration): boolean {
  const names = [savedConfigAnnotation, localRunAnnotation];
  return isCreatedLocally(live) || names.some((name) => Object.hasOwn(live.annotations ?? {}, name));
}

/** Reads a configuration; undefined when it is not installed. */
export async function readConfiguration(
  client: Client,
  target: ConfigurationTarget,
  signal: AbortSignal,
): Promise<LiveConfiguration | undefined> {
  const { name } = target;
  if (target.kind === "converting") {
    const crd = await client.find(builtin.CustomResourceDefinition, name, { signal });
    if (crd === undefined) return undefined;
    const clientConfig = crd.spec.conversion?.webhook?.clientConfig;
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

/** Applies `operations` to the version that was read. @throws ApiError, `isConflict` when it has changed since */
export async function patchConfiguration(
  client: Client,
  target: ConfigurationTarget,
  read: LiveConfiguration,
  operations: readonly JsonPatchOperation[],
  signal: AbortSignal,
): Promise<void> {
  // Replacing resourceVersion makes the API server compare it: any other version in the cluster gives a 409.
  const guard = { op: "replace", path: "/metadata/resourceVersion", value: read.resourceVersion } as const;
  await client.patch(resourceOf(target), target.name, { kind: "json", operations: [guard, ...operations] }, { signal });
}

/** The resource of a target. */
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
  return {
    uid: String(fieldOf(metadata, "uid") ?? ""),
    resourceVersion: String(fieldOf(metadata, "resourceVersion") ?? ""),
    labels: stringMap(fieldOf(metadata, "labels")),
    annotations: stringMap(fieldOf(metadata, "annotations")),
    entries,
  };
}

function stringMap(value: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)]));
}

/** Options of {@link publishCaBundle}. */
interface PublishOptions {
  readonly client: Client;
  readonly targets: readonly ConfigurationTarget[];
  /** The Service of this installation; entries that name another one are left alone. @default all entries are written */
  readonly service?: { readonly namespace: string; readonly name: string };
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Sets `bundle` (PEM) as the authorities of every target. Writes only targets that have another bundle, and never those
 * through which the API server calls another installation. A target that fails keeps no other one from being written.
 *
 * @returns the number of changed objects; targets that are not installed are skipped
 * @throws the first failure, when all targets were tried: an ApiError when one cannot be read or written (conflicts are
 * retried), an Error when a CRD has no conversion webhook
 */
export async function publishCaBundle(bundle: string, options: PublishOptions): Promise<number> {
  const { client, targets, service, clock, signal } = options;
  const isOurs = ({ clientConfig }: LiveEntry) => {
    const called = clientConfig?.service;
    if (service === undefined || called === undefined) return true;
    return called.namespace === service.namespace && called.name === service.name;
  };
  const caBundle = toBase64(bundle);
  const publish = async (target: ConfigurationTarget): Promise<boolean> => {
    const live = await readConfiguration(client, target, signal);
    if (live?.entries.some(({ clientConfig }) => clientConfig === undefined)) {
      const state = "it has no conversion webhook, so that all versions have the same content. Run install-crds";
      throw new Error(`Cannot publish the webhook authorities in ${target.name}: ${state}`);
    }
    const stale = live?.entries.filter((entry) => isOurs(entry) && entry.clientConfig?.caBundle !== caBundle) ?? [];
    // During a local run the webhooks are served with a certificate of another authority.
    if (live === undefined || stale.length === 0 || isFromLocalRun(live)) return false;
    const operations = stale.map((
      { pointer },
    ) => ({ op: "add", path: `${pointer}/caBundle`, value: caBundle } as const));
    await patchConfiguration(client, target, live, operations, signal);
    return true;
  };
  let changed = 0;
  const failures: unknown[] = [];
  for (const target of targets) {
    try {
      if (await retryOnConflict(() => publish(target), { clock, signal })) changed++;
    } catch (error) {
      signal.throwIfAborted();
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return changed;
}
