/**
 * applyCrd(): one CustomResourceDefinition by server-side apply, and what it changed.
 *
 * It takes over fields that others wrote (an earlier `kubectl apply -f crds/`): the definition of a kind belongs to the
 * program that implements it. What others added besides stays.
 */
import type { Infer } from "../api/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import { type Client, isForbidden, retryOnConflict } from "../client/mod.ts";
import type { Crd } from "../schema/mod.ts";
import { CommandError } from "./command_error.ts";
import { CustomResourceDefinition } from "./custom_resources.ts";
import { exitCode } from "./exit_code.ts";
import { crdName, type CrdResult } from "./print_crds.ts";

/** Options of {@link applyCrd}. */
export interface ApplyCrdOptions {
  readonly fieldManager: string;
  /** Has the server check everything and store nothing. */
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default systemRandom */
  readonly random?: Random;
}

/** Applies a CRD. @throws CommandError when that is forbidden, ApiError when the server refuses it */
export async function applyCrd(client: Client, crd: Crd, options: ApplyCrdOptions): Promise<CrdResult> {
  const { signal, clock, random } = options;
  try {
    return await retryOnConflict(() => applyOnce(client, crd, options), { signal, clock, random });
  } catch (error) {
    throw isForbidden(error) ? forbidden(error) : error;
  }
}

async function applyOnce(client: Client, crd: Crd, options: ApplyCrdOptions): Promise<CrdResult> {
  const { fieldManager, isDryRun, signal } = options;
  const before = await client.find(CustomResourceDefinition, crd.metadata.name, { signal });
  const after = await client.apply(CustomResourceDefinition, crd, {
    fieldManager,
    force: true,
    dryRun: isDryRun,
    signal,
  });
  const change = before === undefined ? "created" : meaning(before) === meaning(after) ? "unchanged" : "configured";
  return { change, name: crdName(crd), object: withoutManagedFields(after) };
}

/** What a definition says, without the server's bookkeeping: equal texts mean that nothing changed. */
function meaning(crd: Infer<typeof CustomResourceDefinition>): string {
  const { spec, metadata: { labels, annotations } } = crd;
  return JSON.stringify([spec, labels, annotations]);
}

function withoutManagedFields(object: Infer<typeof CustomResourceDefinition>): object {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function forbidden(cause: Error): CommandError {
  const rule =
    'apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["get", "create", "patch"]';
  return new CommandError(cause.message, {
    code: exitCode.permission,
    advice:
      `Be a user who has a ClusterRole with: ${rule}; or give one what install-crds --dry-run=client -o yaml prints`,
    cause,
  });
}
