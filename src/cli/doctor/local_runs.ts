/**
 * What local runs (`run --webhook-host`) have published: the check that finds those that were killed, and the cleanup of
 * `doctor --fix`. While the API server calls a run that has ended, it rejects what the webhooks should review.
 */
import {
  configurationTargets,
  findDeadLocalRuns,
  findLocalRuns,
  hasEnded,
  type LocalRun,
  localRunDeadAfterMs,
  type LocalRunTrace,
  respondsLocally,
  undoLocalRuns,
} from "../../webhook/mod.ts";
import { exitCode } from "../command/mod.ts";
import { approximateDuration } from "../output/mod.ts";
import { type Check, type DoctorContext, failed, type Finding, ok, unknownIfForbidden, warning } from "./check.ts";

/** Returns one check for each configuration that a local run has changed or created. */
export async function checkLocalRuns(context: DoctorContext): Promise<readonly Check[]> {
  const { connection: { client }, controllers, webhookConfiguration, signal } = context;
  const webhooks = controllers.flatMap((controller) => controller.webhooks ?? []);
  const targets = configurationTargets(webhooks, webhookConfiguration);
  const checks: Check[] = [];
  const search = async (): Promise<Finding> => {
    for (const trace of await findLocalRuns(client, targets, signal)) {
      checks.push({ about: "webhook", subject: subjectOf(trace), ...await findingOf(trace, context) });
    }
    return ok("searched");
  };
  // What may not be read is reported by the checks of the configurations themselves.
  await unknownIfForbidden(search);
  return checks;
}

function subjectOf({ target: { kind, name } }: LocalRunTrace): string {
  return `${kind} ${name}`;
}

async function findingOf(trace: LocalRunTrace, { session, signal }: DoctorContext): Promise<Finding> {
  const { clock } = session.processEnvironment;
  const { run, url = "an unknown address" } = trace;
  const who = nameOf(run);
  const advice = `Run: ${session.operator.name} doctor --fix`;
  if (run !== undefined && await hasEnded(run)) {
    return failed(exitCode.failed, `left by a local run: ${who} has ended, and nothing responds at ${url}`, advice);
  }
  if (await respondsLocally(trace, clock, signal)) return ok(`served by a local run: ${who}, at ${url}`);
  const ageMs = run === undefined ? Infinity : clock.now() - Date.parse(run.renewedAt);
  const when = Number.isFinite(ageMs) ? `, which renewed its mark ${approximateDuration(ageMs)} ago` : "";
  const state = `served by a local run: ${who}${when}; nothing responds at ${url}`;
  if (ageMs < localRunDeadAfterMs) return warning(state, "It may be alive and reachable for the API server only");
  return failed(exitCode.failed, state, advice);
}

function nameOf(run: LocalRun | undefined): string {
  return run === undefined ? "an unknown process" : `process ${run.process} on ${run.host}`;
}

/** Undoes what killed local runs have left, of any controller. @returns One check for each configuration */
export async function fixLocalRuns(context: DoctorContext): Promise<readonly Check[]> {
  const { connection: { client }, session, webhookConfiguration, signal } = context;
  const { operator, processEnvironment: { clock } } = session;
  const webhooks = operator.controllers.flatMap((controller) => controller.webhooks ?? []);
  const targets = configurationTargets(webhooks, webhookConfiguration);
  const { dead, alive } = await findDeadLocalRuns({
    ...{ client, targets, clock, signal },
    onWait: (run) =>
      session.info(`${nameOf(run)} does not respond, waiting ${approximateDuration(localRunDeadAfterMs)} for its mark`),
  });
  await undoLocalRuns(client, dead, signal, clock);
  const checkOf = (trace: LocalRunTrace, finding: Finding): Check => {
    return { about: "webhook", subject: subjectOf(trace), ...finding };
  };
  return [
    ...dead.map((trace) => checkOf(trace, ok(`fixed: ${nameOf(trace.run)} was killed, its settings were undone`))),
    ...alive.map((trace) => checkOf(trace, ok(`nothing to fix: ${nameOf(trace.run)} is alive`))),
  ];
}
