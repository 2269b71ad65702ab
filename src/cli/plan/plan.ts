/**
 * `plan`: shows what `run` would do now, with this program, on a cluster. It reads the objects of the declared kinds, runs the
 * controllers on a copy of them in this process until nothing is left to do, and prints the difference.
 *
 * Guarantees: the cluster gets GET and LIST requests and no other. While the controllers run, this process calls nobody: a
 * controller that calls another system fails in the plan, and a daemon that does is named. A controller writes no file and
 * prints nothing.
 */
import { combinedSelector, keyOf, resourceName } from "../../api/mod.ts";
import { type Scope, scope, untilAborted } from "../../async/mod.ts";
import { clusterLoggers } from "../../cluster/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { readText, refuseOutgoingCalls } from "../../runtime/mod.ts";
import {
  type Call,
  CommandError,
  type ExitCode,
  exitCode,
  listenForInterrupts,
  selectOrAll,
  subcommand,
} from "../command/mod.ts";
import { connect, type Connection, waitForServer } from "../connection/mod.ts";
import { useGraph } from "../graphs/mod.ts";
import { count, formatValue } from "../output/mod.ts";
import {
  changedBetween,
  differencesOf,
  parsePlan,
  type Plan,
  planLimits,
  PlannedCluster,
  type PlannedKind,
  plannedKinds,
  planOf,
  type Snapshot,
  takeSnapshot,
} from "../planning/mod.ts";
import { configurePlannedControllers, controllerFlagGroups, namespacesOf } from "../run/mod.ts";
import { applyManifests } from "./apply_manifests.ts";
import { type ManifestObject, readManifests } from "./manifest_files.ts";
import { type PlanFlags, planFlags } from "./plan_flags.ts";
import { planLines, planNames, summaryText } from "./print_plan.ts";
import { upgradeDefinitions } from "./upgrade_definitions.ts";

/** The command. */
export const plan = subcommand({
  description: [
    "Shows what run would do now, with this program, on that cluster: a diff for each object. It only reads from the cluster",
    "and runs the controllers on a copy in this process. Exit code: 0 for no changes, 2 for changes, other codes for errors;",
    "an invalid command line is 1.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers to plan (default: all)" },
  examples: [
    { line: "", about: "what would all controllers do" },
    { line: "NAME -n team-a", about: "one controller, in one namespace" },
    { line: "--files new.yaml", about: "what would happen after kubectl apply -f new.yaml" },
    { line: "--crds", about: "what would install-crds of this version change, and the controllers after it" },
    { line: "-o json > running.json", about: "with the running version: keep what it would do" },
    { line: "--against running.json", about: "with the new version: only what it would do differently" },
  ],
  flags: planFlags,
  prepare: useGraph,
  extraFlags: controllerFlagGroups,
  hidesExtraFlags: true,
  silentLoggers: (
    { controllers },
  ) => ["manager", "client", "cache", ...clusterLoggers(), ...controllers.flatMap(loggersOf)],
  async run(call) {
    using interrupts = listenForInterrupts(call.session);
    using stopping = scope(interrupts.stop);
    return await Promise.race([interrupts.forced, runPlan(call, stopping)]);
  },
});

function loggersOf({ name }: OperatorController): readonly string[] {
  return [`controller.${name}`, `events.${name}`];
}

async function runPlan(call: Call<PlanFlags>, stopping: Scope): Promise<ExitCode> {
  const { flags, session } = call;
  const { signal } = stopping;
  try {
    const against = flags.against === undefined ? undefined : await readPlan(flags.against);
    const found = await untilAborted(createPlan(call, signal), signal);
    const result = against === undefined ? found : differencesOf(found, against, flags.against ?? "");
    if (against !== undefined) noteChangedObjects(call, changedBetween(found, against));
    printResult(call, result);
    return codeOf(result);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new CommandError("Cannot plan: a signal ended it", { code: exitCode.failed });
  } finally {
    session.processEnvironment.stdout.flush();
  }
}

async function readPlan(path: string): Promise<Plan> {
  const text = await readText(path, { isRegular: true }).catch((cause: unknown) => {
    const state = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`Cannot read the plan "${path}": ${state}`, { code: exitCode.failed, cause });
  });
  return parsePlan(text, path);
}

async function createPlan(call: Call<PlanFlags>, signal: AbortSignal): Promise<Plan> {
  const { flags, session } = call;
  const { operator, processEnvironment: { clock, random } } = session;
  const namespaces = namespacesOf(flags);
  const controllers = await configure(call, namespaces);
  const kinds = plannedKinds(controllers, namespaces);
  using connection = await connect(flags, session);
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const files = await filesOf(call, connection, controllers);
  const snapshot = await readCluster(call, { connection, kinds, files, signal });
  await using cluster = await PlannedCluster.start({
    ...{ snapshot, kinds, controllers, namespaces, signal },
    operatorName: operator.name,
    cacheRules: operator.cacheRules,
    horizonMs: flags.horizon,
    showsCluster: flags.showCluster,
    optionsOf: ({ options }) => ({ selector: combinedSelector(options.selector, flags.selector) }),
  });
  using _guard = refuseOutgoingCalls("a plan calls no other system");
  const refused = flags.crds
    ? await cluster.as("crds", () => upgradeDefinitions(cluster.client, { controllers, snapshot }))
    : [];
  await cluster.as("files", () => applyManifests(cluster.client, files));
  await cluster.runControllers();
  for (const limit of planLimits(cluster, { controllers, snapshot })) session.info(limit);
  const program = { name: operator.name, version: session.version };
  return planOf(cluster, { operator: program, controllers, snapshot, refused, showsCluster: flags.showCluster });
}

/** The controllers as `run` configures them, without output and without files. */
async function configure(call: Call<PlanFlags>, namespaces: readonly string[]): Promise<readonly OperatorController[]> {
  const { session: { operator, metrics, logFormat }, flags: { allNamespaces }, extraFlags: flags, positionals } = call;
  const controllers = selectOrAll(operator, positionals);
  return await configurePlannedControllers({
    ...{ operator, controllers, flags, namespaces, allNamespaces, metrics, logFormat },
  });
}

async function filesOf(
  { flags: { files }, session }: Call<PlanFlags>,
  { namespace }: Connection,
  controllers: readonly OperatorController[],
): Promise<readonly ManifestObject[]> {
  if (files === undefined) return [];
  return await readManifests(files, { controllers, namespace, stdin: session.processEnvironment.stdin });
}

async function readCluster(
  { flags, session }: Call<PlanFlags>,
  { connection, kinds, files, signal }: {
    readonly connection: Connection;
    readonly kinds: readonly PlannedKind[];
    readonly files: readonly ManifestObject[];
    readonly signal: AbortSignal;
  },
): Promise<Snapshot> {
  using progress = session.progress();
  const isRead = ({ resource, object }: ManifestObject) =>
    kinds.some((kind) =>
      resourceName(kind.resource) === resourceName(resource) && !kind.metadataOnly &&
      (kind.namespaces.length === 0 || kind.namespaces.includes(object.metadata.namespace ?? ""))
    );
  return await takeSnapshot(connection.client, {
    ...{ kinds, signal },
    single: files.filter((file) => !isRead(file)).map(({ resource, object }) => ({ resource, key: keyOf(object) })),
    installsDefinitions: flags.crds,
    operatorName: session.operator.name,
    now: session.processEnvironment.clock.now(),
    onProgress: (text) => {
      if (session.processEnvironment.stderr.isTerminal) progress.report(text);
    },
  });
}

function noteChangedObjects({ session }: Call<PlanFlags>, changed: number): void {
  if (changed === 0) return;
  session.info(
    `${count(changed, "object")} changed in the cluster between the two plans: make both again, one after the other`,
  );
}

function printResult({ flags: { output }, session }: Call<PlanFlags>, result: Plan): void {
  switch (output) {
    case "json":
    case "yaml":
      session.printDocument(formatValue(result, output));
      break;
    case "name":
      session.print(...planNames(result));
      break;
    case "diff":
      session.print(...planLines(result));
      break;
    default:
      output satisfies never;
  }
  if (output !== "json" && output !== "yaml") session.info(`plan: ${summaryText(result)}`);
}

/** @throws CommandError when the controllers failed for some objects: then the plan is not complete */
function codeOf({ changes, refused, endless, failing }: Plan): ExitCode {
  const [first] = failing;
  if (first !== undefined) {
    const others = failing.length === 1 ? "" : `; and ${failing.length - 1} more`;
    throw new CommandError(
      `Cannot plan everything: ${first.controller} ${first.key} would fail: ${first.problem}${others}`,
      { code: exitCode.failed, advice: "The rest of the plan is complete: -o json lists all failures" },
    );
  }
  return changes.length + refused.length + endless.length > 0 ? exitCode.changes : exitCode.done;
}
