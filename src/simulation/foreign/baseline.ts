/**
 * prepareCluster(): what all runs of a program start with: a storage with the simulated nodes, the objects of the user's files
 * (CRDs, Secrets, webhook configurations) and the objects of the program itself, with its Pod running.
 */
import { builtin, type UntypedObject } from "../../api/mod.ts";
import type { ObjectStorage } from "../../apiserver/mod.ts";
import type { Clock, Random } from "../../async/mod.ts";
import { transientCollections } from "../engine.ts";
import { ControlPlane } from "./control_plane.ts";
import { StepRunner } from "./perform_step.ts";
import { inCreationOrder, type ProgramIdentity, programObjects } from "./program_objects.ts";

/** Options of {@link prepareCluster}. */
export interface PrepareClusterOptions {
  readonly identity: ProgramIdentity;
  /** Of the program. @default 1 */
  readonly replicas?: number;
  /** The objects of `--crds`. */
  readonly objects: readonly UntypedObject[];
  /** PEM text of the authority of the server. */
  readonly ca: string;
  readonly signingKey?: string;
  /** API versions of the past that the server serves all the same. @default none */
  readonly removedVersions?: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/** The start of all runs. */
export interface PreparedCluster {
  /** To be copied by each run. */
  readonly storage: ObjectStorage;
  /** The Pods that the replicas of the program are. */
  readonly podNames: readonly string[];
}

/** The server has rejected an object of the user's files. */
export class PrepareError extends Error {
  override readonly name = "PrepareError";
}

const pollMs = 20;
/** Nothing has changed for this time: the cluster is at rest. */
const quietMs = 300;
const timeoutMs = 20_000;

/** Prepares the storage. @throws PrepareError */
export async function prepareCluster(options: PrepareClusterOptions): Promise<PreparedCluster> {
  const { identity, objects, clock, signal, replicas = 1 } = options;
  await using control = new ControlPlane(options);
  await control.ready();
  const { namespace, name } = identity;
  const users = new StepRunner({
    ...{ client: control.user, clock, namespace },
    restartOperator: () => Promise.resolve(),
  });
  // Webhooks come last: the program serves them, and its own Pod is there before them.
  const [webhooks, others] = [objects.filter(isWebhook), objects.filter((object) => !isWebhook(object))];
  for (const group of [inCreationOrder([...programObjects(identity, replicas), ...others]), webhooks]) {
    for (const object of group) await create(object, users, signal);
    await settled(control, clock, signal);
  }
  const labelSelector = `app.kubernetes.io/name=${name}`;
  const { items } = await control.user.listAll(builtin.Pod, { namespace, labelSelector, signal });
  const podNames = Array.from({ length: replicas }, (_, index) => items[index]?.metadata.name ?? `${name}-${index}`);
  return { storage: control.api.server.storage.copy(), podNames };
}

function isWebhook({ kind }: UntypedObject): boolean {
  return kind === "MutatingWebhookConfiguration" || kind === "ValidatingWebhookConfiguration";
}

async function create(object: UntypedObject, users: StepRunner, signal: AbortSignal): Promise<void> {
  const outcome = await users.perform({ kind: "apply", objects: [object] }, signal);
  if (outcome.kind === "done") return;
  throw new PrepareError(`Cannot create ${object.kind} "${object.metadata.name ?? ""}": ${outcome.message}`);
}

async function settled(control: ControlPlane, clock: Clock, signal: AbortSignal): Promise<void> {
  const startedAt = clock.monotonic();
  let [seen, changedAt] = [control.revision, startedAt];
  while (clock.monotonic() - changedAt < quietMs && clock.monotonic() - startedAt < timeoutMs) {
    await clock.sleep(pollMs, signal);
    const changes = [...control.api.server.storage.changesAfter(seen)];
    seen = control.revision;
    if (changes.some(({ collection }) => !transientCollections.has(collection))) changedAt = clock.monotonic();
  }
}
