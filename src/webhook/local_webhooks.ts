/**
 * Webhooks on the developer's own machine: the configurations of a cluster that can reach it are pointed at a URL, and put
 * back at the end. What stood there is kept in an annotation of the configuration itself, so that a process that was killed
 * leaves behind what the next start needs to put it back.
 *
 * Guarantees: the original is never overwritten by a second borrower; fields other than the client configurations and the
 * annotation are not touched.
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { type Client, type JsonPatchOperation, retryOnConflict } from "../client/mod.ts";
import { z } from "zod";
import {
  borrowedAnnotation,
  type ConfigurationTarget,
  type LiveConfiguration,
  patchConfiguration,
  readConfiguration,
  type WebhookClientConfig,
} from "./_live_configuration.ts";
import { issueCertificates } from "./_issue_certificates.ts";
import { parseJson } from "./_parse_json.ts";
import { type CertificateSource, fixedCertificate } from "./certificate_source.ts";

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

/** Webhooks that run here instead of in the cluster. */
export interface LocalWebhooks {
  /** For the server: a certificate for the host, valid for a day. */
  readonly certificates: CertificateSource;
  /** PEM text of the authority that signed it. */
  readonly ca: string;
  /** Points the cluster here. @returns how many configurations now do; one that is not installed is passed over */
  attach(port: number, signal: AbortSignal): Promise<number>;
  /** Puts back what stood there. */
  restore(signal: AbortSignal): Promise<number>;
}

const dayMs = 24 * 3_600_000;

/** Prepares to serve the webhooks of a cluster from here. */
export async function localWebhooks(options: LocalWebhooksOptions): Promise<LocalWebhooks> {
  const { client, targets, host, clock = systemClock } = options;
  const { ca, cert, key } = await issueCertificates({ hosts: [host], now: clock.now(), lifetimeMs: dayMs });
  const caBundle = new TextEncoder().encode(ca).toBase64();
  return {
    certificates: fixedCertificate({ cert, key }),
    ca,
    attach(port, signal) {
      const origin = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
      return changeAll(client, targets, { clock, signal }, (live) => borrowing(live, origin, caBundle));
    },
    restore: (signal) => restoreWebhooks(client, targets, signal, clock),
  };
}

/**
 * Puts back what a local run left behind, if one was killed. Every start calls it that does not run webhooks locally.
 *
 * @returns how many configurations were changed
 */
export function restoreWebhooks(
  client: Client,
  targets: readonly ConfigurationTarget[],
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<number> {
  return changeAll(client, targets, { clock, signal }, returning);
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

function borrowing(live: LiveConfiguration, origin: string, caBundle: string): readonly JsonPatchOperation[] {
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
      ? { op: "add", path: "/metadata/annotations", value: { [borrowedAnnotation]: JSON.stringify(originals) } }
      : { op: "add", path: annotationPointer, value: JSON.stringify(originals) },
  ];
}

function returning(live: LiveConfiguration): readonly JsonPatchOperation[] {
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

const annotationPointer = `/metadata/annotations/${borrowedAnnotation.replaceAll("/", "~1")}`;

/** Where the webhook is called, whoever serves it. */
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

/** What the annotation holds; undefined without one. An annotation that makes no sense counts as empty, and goes. */
function originalsOf(live: LiveConfiguration): ReadonlyMap<string, WebhookClientConfig> | undefined {
  const { annotations = {} } = live;
  if (!Object.hasOwn(annotations, borrowedAnnotation)) return undefined;
  const parsed = parseJson(annotations[borrowedAnnotation] ?? "");
  const checked = originalsSchema.safeParse(parsed.kind === "parsed" ? parsed.value : undefined);
  return new Map(checked.success ? Object.entries(checked.data) : []);
}
