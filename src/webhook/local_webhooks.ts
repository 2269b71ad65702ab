/**
 * localWebhooks(): serves the webhooks of a cluster on the developer's machine. It points the configurations of the
 * cluster at a URL and restores them at the end. The original settings are stored in an annotation of the configuration
 * itself, so that the next start can restore them after a killed process. A CRD that does not convert gets a conversion
 * webhook for the time of the run.
 *
 * Guarantees: a second local run never overwrites the original settings, and no run undoes what another one has published.
 * Only the client configurations and two annotations are changed.
 */
import { type Clock, systemClock } from "../async/mod.ts";
import { type Client, isNotFound, type JsonPatchOperation, retryOnConflict } from "../client/mod.ts";
import { z } from "zod";
import { boundedParse } from "../schema/mod.ts";
import {
  annotationPointer,
  type ConfigurationTarget,
  isCreatedLocally,
  type LiveConfiguration,
  localRunAnnotation,
  patchConfiguration,
  readConfiguration,
  resourceOf,
  savedConfigAnnotation,
  type WebhookClientConfig,
} from "./live_configuration.ts";
import { conversionPath } from "./conversion.ts";
import { type CertificateSource, fixedCertificate, issueCertificates } from "./certificates.ts";
import { type LocalRunIdentity, localRunOf, type LocalRunTrace, markOf } from "./local_run.ts";
import { parseJson } from "./_decode.ts";
import { resourceVersion } from "../api/mod.ts";
import { toBase64 } from "../runtime/mod.ts";

/** Options of {@link localWebhooks}. */
export interface LocalWebhooksOptions {
  readonly client: Client;
  /** See `configurationTargets`. */
  readonly targets: readonly ConfigurationTarget[];
  /** A name or address of this machine that the API server can reach. */
  readonly host: string;
  /** This process, for the marks. */
  readonly run: LocalRunIdentity;
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
  /** Restores the original settings, and removes what this run created. */
  restore(signal: AbortSignal): Promise<number>;
}

const dayMs = 24 * 3_600_000;

/** Prepares a local run. */
export async function localWebhooks(options: LocalWebhooksOptions): Promise<LocalWebhooks> {
  const { client, targets, host, run, clock = systemClock } = options;
  const { ca, cert, key } = await issueCertificates({ hosts: [host], now: clock.now(), lifetimeMs: dayMs });
  const caBundle = toBase64(ca);
  return {
    certificates: fixedCertificate({ cert, key }),
    ca,
    attach(port, signal) {
      const origin = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
      const mark = markOf(run, clock.now());
      return changeAll(targets, { clock, signal }, async (target) => {
        const live = await readConfiguration(client, target, signal);
        if (live === undefined) return false;
        await patchConfiguration(client, target, live, attachOperations(live, { origin, caBundle, mark }), signal);
        return true;
      });
    },
    restore: (signal) =>
      changeAll(
        targets,
        { clock, signal },
        (target) => undo(client, target, (live) => localRunOf(live)?.id === run.id, signal),
      ),
  };
}

/**
 * Restores the configurations that a dead local run has changed, and removes those that it created.
 *
 * @param traces from `findDeadLocalRuns`. One whose mark has changed since then is left alone
 * @returns the number of changed configurations
 */
export function undoLocalRuns(
  client: Client,
  traces: readonly LocalRunTrace[],
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<number> {
  const marks = new Map(traces.map(({ target, mark }) => [target, mark]));
  return changeAll(
    [...marks.keys()],
    { clock, signal },
    (target) => undo(client, target, (live) => live.annotations?.[localRunAnnotation] === marks.get(target), signal),
  );
}

/** @returns the number of configurations that `change` has changed; a conflict is tried again */
async function changeAll(
  targets: readonly ConfigurationTarget[],
  options: { readonly clock: Clock; readonly signal: AbortSignal },
  change: (target: ConfigurationTarget) => Promise<boolean>,
): Promise<number> {
  let changed = 0;
  for (const target of targets) if (await retryOnConflict(() => change(target), options)) changed++;
  return changed;
}

/** Undoes what a local run did to a configuration, if `isOurs` says that it is still that of the run. */
async function undo(
  client: Client,
  target: ConfigurationTarget,
  isOurs: (live: LiveConfiguration) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const live = await readConfiguration(client, target, signal);
  if (live === undefined || !isOurs(live)) return false;
  if (isCreatedLocally(live)) {
    const preconditions = { uid: live.uid, resourceVersion: resourceVersion(live.resourceVersion) };
    await client.delete(resourceOf(target), target.name, { preconditions, signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    return true;
  }
  const operations = restoreOperations(live);
  if (operations.length > 0) await patchConfiguration(client, target, live, operations, signal);
  return operations.length > 0;
}

/** What a local run publishes. */
interface Publication {
  /** `https://host:port`. */
  readonly origin: string;
  readonly caBundle: string;
  readonly mark: string;
}

function attachOperations(
  live: LiveConfiguration,
  { origin, caBundle, mark }: Publication,
): readonly JsonPatchOperation[] {
  const before = originalsOf(live) ?? new Map<string, WebhookClientConfig>();
  const originals = Object.fromEntries(
    live.entries.map((entry) => [entry.name, before.get(entry.name) ?? entry.clientConfig ?? {}]),
  );
  return [
    ...live.entries.map(({ name, pointer, clientConfig }) => {
      const path = pointer.startsWith(conversionPointer) ? conversionPath : pathOf(before.get(name) ?? clientConfig);
      const value = { url: `${origin}${path}`, caBundle };
      if (clientConfig !== undefined) return { op: "replace", path: pointer, value } as const;
      const webhook = { conversionReviewVersions: ["v1"], clientConfig: value };
      return { op: "add", path: conversionPointer, value: { strategy: "Webhook", webhook } } as const;
    }),
    ...annotate(live, { [savedConfigAnnotation]: JSON.stringify(originals), [localRunAnnotation]: mark }),
  ];
}

function annotate(
  { annotations }: LiveConfiguration,
  added: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  if (annotations === undefined) return [{ op: "add", path: "/metadata/annotations", value: added }];
  return Object.entries(added).map(([name, value]) => ({ op: "add", path: annotationPointer(name), value }));
}

function restoreOperations(live: LiveConfiguration): readonly JsonPatchOperation[] {
  const originals = originalsOf(live) ?? new Map<string, WebhookClientConfig>();
  const own = [savedConfigAnnotation, localRunAnnotation];
  return [
    ...live.entries.flatMap(({ name, pointer }) => {
      const value = originals.get(name);
      return value === undefined ? [] : [restoreOperation(pointer, value)];
    }),
    ...own.filter((name) => Object.hasOwn(live.annotations ?? {}, name))
      .map((name) => ({ op: "remove", path: annotationPointer(name) } as const)),
  ];
}

/** An original without an address stands for a CRD that had no conversion webhook. */
function restoreOperation(pointer: string, value: WebhookClientConfig): JsonPatchOperation {
  const hadWebhook = value.url !== undefined || value.service !== undefined;
  return hadWebhook
    ? { op: "replace", path: pointer, value }
    : { op: "replace", path: conversionPointer, value: { strategy: "None" } };
}

const conversionPointer = "/spec/conversion";

/** The path of the webhook, which is the same on every server. */
function pathOf({ url, service }: WebhookClientConfig = {}): string {
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
  const checked = boundedParse(originalsSchema, parsed.kind === "parsed" ? parsed.value : undefined);
  return new Map(checked.kind === "valid" ? Object.entries(checked.value) : []);
}
