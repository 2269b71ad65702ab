/**
 * Marks of local runs: which process serves the webhooks of a cluster on a developer's machine, and whether it is alive.
 *
 * A local run marks each configuration that it changes or creates with an annotation: its host, its process, and the time of
 * the last renewal. Clocks differ between machines, so no observer compares this time with its own clock. As with a Lease,
 * it observes: a run is dead when nothing responds at its URL, and it has not renewed a mark while the observer waited. An
 * observer that sees the same processes, on the same machine, looks its process up and need not wait.
 *
 * Guarantees: a live run is not taken for a dead one, whatever the clocks say and whoever can reach its URL.
 */
import { z } from "zod";
import type { Clock } from "../async/mod.ts";
import { fromBase64, isProcessAlive, processFacts, processSpace } from "../runtime/mod.ts";
import { type Client, type JsonPatchOperation, retryOnConflict } from "../client/mod.ts";
import { boundedParse } from "../schema/mod.ts";
import {
  annotationPointer,
  type ConfigurationTarget,
  isFromLocalRun,
  type LiveConfiguration,
  localRunAnnotation,
  patchConfiguration,
  readConfiguration,
} from "./live_configuration.ts";
import { parseJson } from "./_decode.ts";
import { probeWebhook } from "./webhook_probe.ts";

/** How often a local run renews its mark. */
export const renewLocalRunMs = 5_000;
/** Without a renewal for this long, a run that does not respond is dead: three renewals, and one that is late. */
export const localRunDeadAfterMs = 4 * renewLocalRunMs;
/** How long its webhook may take to respond. */
const responseTimeoutMs = 3_000;

const localRunSchema = z.object({
  /** Unique for each run. */
  id: z.string().min(1),
  host: z.string(),
  process: z.int(),
  /** Where `process` means something, see `processSpace`. */
  processSpace: z.string().optional(),
  /** By the clock of its machine: for users only. */
  renewedAt: z.string(),
  /** Differs after each renewal, whatever the clock of the machine says. */
  renewals: z.int(),
});

/** The process that serves webhooks locally. */
export type LocalRun = z.output<typeof localRunSchema>;

/** A run without its renewals. */
export type LocalRunIdentity = Omit<LocalRun, "renewedAt" | "renewals">;

/** Describes a run of this process. */
export async function newLocalRun(): Promise<LocalRunIdentity> {
  const { hostname, pid } = processFacts();
  return { id: crypto.randomUUID(), host: hostname, process: pid, processSpace: await processSpace() };
}

/** True when the process of the run has certainly ended; false when it is alive, or this process cannot see it. */
export async function hasEnded(run: LocalRun): Promise<boolean> {
  return run.processSpace !== undefined && run.processSpace === await processSpace() && !isProcessAlive(run.process);
}

/** A configuration that a local run has changed or created. */
export interface LocalRunTrace {
  readonly target: ConfigurationTarget;
  /** The text of the mark; undefined for a run of a program that did not mark its configurations yet. */
  readonly mark: string | undefined;
  readonly run: LocalRun | undefined;
  /** Where the API server calls the webhooks of the run. */
  readonly url: string | undefined;
  /** PEM text of the authorities that the API server trusts there. */
  readonly ca: string | undefined;
}

/** The mark of a configuration; undefined without one. */
export function localRunOf({ annotations = {} }: Pick<LiveConfiguration, "annotations">): LocalRun | undefined {
  const parsed = parseJson(annotations[localRunAnnotation] ?? "");
  const checked = boundedParse(localRunSchema, parsed.kind === "parsed" ? parsed.value : undefined);
  return checked.kind === "valid" ? checked.value : undefined;
}

/** Finds the configurations that local runs have changed or created. */
export async function findLocalRuns(
  client: Client,
  targets: readonly ConfigurationTarget[],
  signal: AbortSignal,
): Promise<readonly LocalRunTrace[]> {
  const traces: LocalRunTrace[] = [];
  for (const target of targets) {
    const live = await readConfiguration(client, target, signal);
    if (live !== undefined && isFromLocalRun(live)) traces.push(traceOf(target, live));
  }
  return traces;
}

function traceOf(target: ConfigurationTarget, live: LiveConfiguration): LocalRunTrace {
  const config = live.entries.map(({ clientConfig }) => clientConfig).find((one) => one?.url !== undefined);
  const mark = live.annotations?.[localRunAnnotation];
  const ca = config?.caBundle === undefined ? undefined : pemOf(config.caBundle);
  return { target, mark, run: localRunOf(live), url: config?.url, ca };
}

function pemOf(base64: string): string | undefined {
  try {
    return new TextDecoder().decode(fromBase64(base64));
  } catch {
    return undefined;
  }
}

/** Checks whether something responds at the URL of a run that has the key of its certificate. */
export async function respondsLocally({ url, ca }: LocalRunTrace, clock: Clock, signal: AbortSignal): Promise<boolean> {
  if (url === undefined) return false;
  const result = await probeWebhook(url, "{}", { ca, timeoutMs: responseTimeoutMs, clock, signal });
  return result.kind === "response";
}

/** Options of {@link findDeadLocalRuns}. */
export interface ObserveOptions {
  readonly client: Client;
  readonly targets: readonly ConfigurationTarget[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called before the time to wait for a renewal. */
  readonly onWait?: (run: LocalRun) => void;
}

/**
 * Finds the configurations of dead local runs. Waits for renewals only if there is a run that does not respond.
 *
 * @returns Those to undo; and those of live runs
 */
export async function findDeadLocalRuns(
  options: ObserveOptions,
): Promise<{ readonly dead: readonly LocalRunTrace[]; readonly alive: readonly LocalRunTrace[] }> {
  const { client, targets, clock, signal, onWait = () => {} } = options;
  const found = await findLocalRuns(client, targets, signal);
  const [alive, ended] = [new Set<string>(), new Set<string>()];
  const silent = () => found.find(({ run }) => run !== undefined && !alive.has(run.id) && !ended.has(run.id))?.run;
  for (const trace of found) {
    if (trace.run === undefined || alive.has(trace.run.id)) continue;
    if (await hasEnded(trace.run)) ended.add(trace.run.id);
    else if (await respondsLocally(trace, clock, signal)) alive.add(trace.run.id);
  }
  const first = silent();
  if (first !== undefined) onWait(first);
  for (let waitedMs = 0; waitedMs < localRunDeadAfterMs && silent() !== undefined; waitedMs += renewLocalRunMs) {
    await clock.sleep(renewLocalRunMs, signal);
    for (const { target, mark, run } of await findLocalRuns(client, targets, signal)) {
      const before = found.find((trace) => trace.target.kind === target.kind && trace.target.name === target.name);
      if (run !== undefined && mark !== before?.mark) alive.add(run.id);
    }
  }
  const isAlive = ({ run }: LocalRunTrace) => run !== undefined && alive.has(run.id);
  return { dead: found.filter((trace) => !isAlive(trace)), alive: found.filter(isAlive) };
}

/** The text of the mark of a run at a time. */
export function markOf(run: LocalRunIdentity, now: number, renewals = 0): string {
  return JSON.stringify({ ...run, renewedAt: new Date(now).toISOString(), renewals } satisfies LocalRun);
}

/**
 * Renews the mark of a run on one of its configurations, which is enough for observers.
 *
 * @returns false when there is none: a user, or a process that took the run for dead, has removed its marks
 */
export async function renewLocalRun(
  run: LocalRunIdentity,
  { client, targets, clock, signal }: Pick<ObserveOptions, "client" | "targets" | "clock" | "signal">,
): Promise<boolean> {
  for (const target of targets) {
    const isRenewed = await retryOnConflict(async () => {
      const live = await readConfiguration(client, target, signal);
      const marked = live === undefined ? undefined : localRunOf(live);
      if (live === undefined || marked?.id !== run.id) return false;
      const path = annotationPointer(localRunAnnotation);
      const operation: JsonPatchOperation = {
        op: "replace",
        path,
        value: markOf(run, clock.now(), marked.renewals + 1),
      };
      await patchConfiguration(client, target, live, [operation], signal);
      return true;
    }, { clock, signal });
    if (isRenewed) return true;
  }
  return false;
}
