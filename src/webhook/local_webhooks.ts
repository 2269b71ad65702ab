/**
 * localWebhooks(): serves the webhooks of a cluster on the developer's machine. It points the configurations of the
 * cluster at a URL and restores them at the end. The original settings are stored in an annotation of the configuration
 * itself, so that the next start can restore them after a killed process.
 *
 * Guarantees: a second local run never overwrites the original settings. Only the client configurations and the
 * annotation are changed.
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { type Client, type JsonPatchOperation, retryOnConflict } from "../client/mod.ts";
import { z } from "zod";
import {
  type ConfigurationTarget,
  type LiveConfiguration,
  patchConfiguration,
  readConfiguration,
  savedConfigAnnotation,
  type WebhookClientConfig,
} from "./live_configuration.ts";
import { type CertificateSource, fixedCertificate, issueCertificates } from "./certificates.ts";
import { parseJson } from "./_decode.ts";

/** Options of {@link localWebhooks}. */
export interface LocalWebhooksOptions {
  readonly client: Client;
  /** See `configurationTargets`. */
  readonly targets: readonly ConfigurationTarget[];
  /** A name or address of this machine that the API server can reach. */
  readonly host: string;
  /** @default systemClock */
  readonly clock?: Clock;
}

/** Webhooks that run on this machine instead of in the cluster. */
export interface LocalWebhooks {
  /** A certificate for the host, valid for one day. */
  readonly certificates: CertificateSource;
  /** PEM text of the authority that signed it. */
  readonly ca: string;
  /** Points the cluster to this machine. @returns the number of changed configurations; missing ones are skipped */
  attach(port: number, signal: AbortSignal): Promise<number>;
  /** Restores the original settings. */
  restore(signal: AbortSignal): Promise<number>;
}

const dayMs = 24 * 3_600_000;

/** Prepares a local run. */
export async function localWebhooks(options: LocalWebhooksOptions): Promise<LocalWebhooks> {
  const { client, targets, host, clock = systemClock } = options;
  const { ca, cert, key } = await issueCertificates({ hosts: [host], now: clock.now(), lifetimeMs: dayMs });
  const caBundle = new TextEncoder().encode(ca).toBase64();
  return {
    certificates: fixedCertificate({ cert, key }),
    ca,
    attach(port, signal) {
      const origin = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
      return changeAll(client, targets, { clock, signal }, (live) => attachOperations(live, origin, caBundle));
    },
    restore: (signal) => restoreWebhooks(client, targets, signal, clock),
  };
}

/**
 * Restores the settings after a local run that was killed. Every start without local webhooks calls it.
 *
 * @returns the number of changed configurations
 */
export function restoreWebhooks(
  client: Client,
  targets: readonly ConfigurationTarget[],
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<number> {
  return changeAll(client, targets, { clock, signal }, restoreOperations);
}

async function changeAll(
  client: Client,
  targets: readonly ConfigurationTarget[],
  options: { readonly clock: Clock; readonly signal: AbortSignal },
  change: (live: LiveConfiguration) => readonly JsonPatchOperation[],
): Promise<number> {
  let changed = 0;
  for (const target of targets) {
    await retryOnConflict(async () => {
      const live = await readConfiguration(client, target, options.signal);
      const operations = live === undefined ? [] : change(live);
      if (live === undefined || operations.length === 0) return;
      await patchConfiguration(client, target, live, operations, options.signal);
      changed++;
    }, options);
  }
  return changed;
}

function attachOperations(live: LiveConfiguration, origin: string, caBundle: string): readonly JsonPatchOperation[] {
  const before = originalsOf(live) ?? new Map<string, WebhookClientConfig>();
  const originals = Object.fromEntries(
    live.entries.map((entry) => [entry.name, before.get(entry.name) ?? entry.clientConfig]),
  );
  return [
    ...live.entries.map(({ name, pointer, clientConfig }) => {
      const value = { url: `${origin}${pathOf(before.get(name) ?? clientConfig)}`, caBundle };
      return { op: "replace", path: pointer, value } as const;
    }),
    live.annotations === undefined
      ? { op: "add", path: "/metadata/annotations", value: { [savedConfigAnnotation]: JSON.stringify(originals) } }
      : { op: "add", path: annotationPointer, value: JSON.stringify(originals) },
  ];
}

function restoreOperations(live: LiveConfiguration): readonly JsonPatchOperation[] {
  const originals = originalsOf(live);
  if (originals === undefined) return [];
  return [
    ...live.entries.flatMap(({ name, pointer }) => {
      const value = originals.get(name);
      return value === undefined ? [] : [{ op: "replace", path: pointer, value } as const];
    }),
    { op: "remove", path: annotationPointer },
  ];
}

const annotationPointer = `/metadata/annotations/${savedConfigAnnotation.replaceAll("/", "~1")}`;

/** The path of the webhook, which is the same on every server. */
function pathOf(clientConfig: WebhookClientConfig): string {
  const { url, service } = clientConfig;
  if (url !== undefined && URL.canParse(url)) return new URL(url).pathname;
  return service?.path ?? "/";
}

const originalsSchema = z.record(
  z.string(),
  z.object({
    url: z.string().optional(),
    caBundle: z.string().optional(),
    service: z.object({
      namespace: z.string(),
      name: z.string(),
      path: z.string().optional(),
      port: z.number().optional(),
    }).optional(),
  }),
);

/** The content of the annotation; undefined without one. An invalid annotation counts as empty and is removed. */
function originalsOf(live: LiveConfiguration): ReadonlyMap<string, WebhookClientConfig> | undefined {
  const { annotations = {} } = live;
  if (!Object.hasOwn(annotations, savedConfigAnnotation)) return undefined;
  const parsed = parseJson(annotations[savedConfigAnnotation] ?? "");
  const checked = originalsSchema.safeParse(parsed.kind === "parsed" ? parsed.value : undefined);
  return new Map(checked.success ? Object.entries(checked.data) : []);
}
