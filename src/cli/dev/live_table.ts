/**
 * The live table of `dev` on a terminal: what each controller has to do and what fails, then what to try next and how to end.
 * It is overwritten in place below the log, and removed at the end.
 */
import type { Clock } from "../../async/mod.ts";
import type { Manager, OperatorController } from "../../manager/mod.ts";
import type { Line } from "../../observe/mod.ts";
import { approximateDuration, type LiveLines, shellWord, table, toned } from "../output/mod.ts";
import type { Convergence } from "../convergence/mod.ts";

/** What the table shows. */
export interface LiveTableOptions {
  readonly controllers: readonly OperatorController[];
  readonly manager: Pick<Manager, "activity" | "parked">;
  /** Observes the controllers. */
  readonly outcomes: Pick<Convergence, "failures" | "lastErrorOf">;
  /** The start of a command line of this program: `controller dev`. */
  readonly program: string;
  readonly kubeconfig: string;
  /** Whether the samples were created. */
  readonly hasSamples: boolean;
  readonly clock: Clock;
}

/** The time between two updates. */
const frameMs = 200;
/** Lines that have scrolled off the terminal cannot be overwritten. */
const maxControllers = 12;

/** Shows the table until `signal` aborts. */
export async function showLiveTable(live: LiveLines, options: LiveTableOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    live.show(liveTable(options));
    await options.clock.sleep(frameMs, signal).catch(() => {});
  }
}

/** The lines of the table. */
export function liveTable(options: LiveTableOptions): readonly Line[] {
  const { controllers } = options;
  const shown = controllers.slice(0, maxControllers);
  const rows = shown.map(({ name }) => rowOf(name, options));
  const header = ["CONTROLLER", "OBJECTS", "QUEUED", "RUNNING", "FAILING", "LAST ERROR"];
  const [head = "", ...lines] = table([header, ...rows.map(({ cells }) => cells)]);
  const more = controllers.length - shown.length;
  return [
    { text: "", tone: "muted" },
    ...(controllers.length === 0 ? [] : [toned(head, "strong")]),
    ...lines.map((line, index) => rows[index]?.isFailing === true ? toned(line, "error") : line),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...hintsOf(options).map((text): Line => ({ text, tone: "muted" })),
  ];
}

function rowOf(
  name: string,
  { manager, outcomes, clock }: LiveTableOptions,
): { readonly cells: readonly string[]; readonly isFailing: boolean } {
  const activity = manager.activity().find(({ controller }) => controller === name);
  const failing = outcomes.failures.filter(({ controller }) => controller === name);
  const parked = manager.parked().filter(({ controller }) => controller === name);
  const { objects = 0, queued = 0, running = 0 } = activity ?? {};
  const failures = new Set([...failing, ...parked].map(({ key }) => key)).size;
  const counts = [objects, queued, running, failures].map(String);
  return { cells: [name, ...counts, lastErrorOf(name, parked[0], { outcomes, clock })], isFailing: failures > 0 };
}

function lastErrorOf(
  name: string,
  parked: { readonly key: string; readonly reason: string } | undefined,
  { outcomes, clock }: Pick<LiveTableOptions, "outcomes" | "clock">,
): string {
  if (parked !== undefined) return `${parked.key}: ${parked.reason}`;
  const last = outcomes.lastErrorOf(name);
  return last === undefined ? "" : `${approximateDuration(clock.now() - last.at)} ago, ${last.key}: ${last.error}`;
}

/** What to try next, and how to end. */
function hintsOf({ controllers, outcomes, program, kubeconfig, hasSamples }: LiveTableOptions): readonly string[] {
  const [first] = controllers;
  const [failing] = outcomes.failures;
  const tries = [
    failing === undefined ? undefined : describeLine(controllers, failing),
    first === undefined
      ? "kubectl get nodes"
      : `kubectl get ${first.primary.plural}${first.primary.scope === "Cluster" ? "" : " --all-namespaces"}`,
    first !== undefined && !hasSamples && (first.samples ?? []).length > 0
      ? `${program} ${first.name} --samples`
      : undefined,
  ].filter((line) => line !== undefined);
  return [
    "",
    "try in another terminal:",
    ...[`export KUBECONFIG=${shellWord(kubeconfig)}`, ...tries].map((line) => `  ${line}`),
    "end: Ctrl-C",
  ];
}

function describeLine(
  controllers: readonly OperatorController[],
  { controller, key }: { readonly controller: string; readonly key: string },
): string | undefined {
  const primary = controllers.find(({ name }) => name === controller)?.primary;
  if (primary === undefined) return undefined;
  const [namespace, name] = key.includes("/") ? key.split("/") : [undefined, key];
  return `kubectl describe ${primary.plural} ${name}${namespace === undefined ? "" : ` --namespace ${namespace}`}`;
}
