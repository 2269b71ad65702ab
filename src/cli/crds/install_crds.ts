/** The flags of `install-crds`. */
/* MERGED install_crds.ts
 * `install-crds`: the CustomResourceDefinitions of controllers, brought to the state this program was built with.
 *
 * Guarantees: nothing is written unless all of them may be; objects that are stored keep what they say, or the command
 * refuses and names them; it ends when the server serves the kinds and all objects are stored in the newest version.
 * Each step looks at what is there, so that a run that was killed is finished by the next one, and a second one changes
 * nothing. Server-side apply: what others added (a conversion's authority, labels) stays.
 */
import { z } from "zod";
import { connect, connectionFlags, waitForServer } from "../connection/mod.ts";
import { durationMs, flagSyntax, oneOf, UsageError } from "../flags/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import { applyCrd, crdName, type CrdResult, printChanges, printObjects, resultLine } from "./apply_crd.ts";
import { awaitEstablished } from "./await_established.ts";
import { type CrdContext, selectCrds } from "./crd_context.ts";
import { migrateStorage } from "./migrate_storage.ts";
import { type CrdPlan, planCrd, withInstallerMark } from "./plan_crd.ts";
import { type Call, exitCode, subcommand } from "../command/mod.ts";

const overrides = "Against refusals:";

/** What is done with definitions, and how much is insisted on. */
const installFlags = z.object({
  dryRun: oneOf(["client", "server"]).optional().register(flagSyntax, {
    flags: "--dry-run <where>",
    about: "change nothing: client asks no server, server has the server check everything",
    example: "--dry-run=server",
  }),
  diff: z.boolean().default(false).register(flagSyntax, {
    flags: "--diff",
    about: "change nothing, and print the fields that would change with - and +",
  }),
  output: oneOf(["yaml", "json", "name"]).optional().register(flagSyntax, {
    flags: "-o, --output <format>",
    about: "print the definitions (yaml, json) or their names, instead of what was done",
    example: "-o yaml",
  }),
  timeout: durationMs().prefault("1m").register(flagSyntax, {
    flags: "--timeout <duration>",
    about: "how long to wait until the server serves the kinds",
    example: "--timeout 2m",
  }),
  allowBreaking: z.boolean().default(false).register(flagSyntax, {
    flags: "--allow-breaking",
    about: "install what stored objects or clients would suffer from; what breaks is told",
    group: overrides,
  }),
  allowDowngrade: z.boolean().default(false).register(flagSyntax, {
    flags: "--allow-downgrade",
    about: "put an older definition over a newer one",
    group: overrides,
  }),
  forceConflicts: z.boolean().default(false).register(flagSyntax, {
    flags: "--force-conflicts",
    about: "take fields over that another program writes",
    group: overrides,
  }),
  ...connectionFlags.shape,
});

/** What the flags say. */
type InstallFlags = z.output<typeof installFlags>;

/** The command. */
export const installCrds = subcommand({
  description: [
    "Installs the custom resource definitions of controllers, or brings them up to date, and waits until the server",
    "serves the kinds. Refuses what stored objects would suffer from. Objects that are stored in an old version are",
    "rewritten in the new one. Can be run again at any time: it goes on where it was stopped, and changes nothing more.",
    "\n\nIt needs the verbs get, create and patch on customresourcedefinitions.apiextensions.k8s.io, and get, list and",
    "patch on the kinds themselves where objects have to be looked at or rewritten.",
  ].join(" "),
  words: { syntax: "[names...]", about: "controllers whose definitions are meant (default: all)" },
  examples: [
    { line: "NAME", about: "what one controller needs" },
    { line: "", about: "what all controllers need" },
    { line: "--diff", about: "see which fields would change, and whether they may" },
    { line: "--dry-run=server", about: "have the server check everything, and store nothing" },
    { line: "--dry-run=client -o yaml", about: "print the definitions, without a cluster" },
  ],
  flags: installFlags,
  async run(call) {
    assertNoContradiction(call.flags);
    const results = call.flags.dryRun === "client" ? installWithoutServer(call) : await installOnServer(call);
    printObjects(results, call.flags.output, call.session);
    return exitCode.done;
  },
});

function assertNoContradiction({ diff, dryRun, output }: InstallFlags): void {
  if (!diff || (dryRun !== "client" && output === undefined)) return;
  const other = dryRun === "client" ? "--dry-run=client" : "--output";
  throw new UsageError(`Cannot install: --diff and ${other} are both given`, "Leave one of them out");
}

function installWithoutServer(call: Call<InstallFlags>): readonly CrdResult[] {
  const { session } = call;
  const program = { name: session.operator.name, version: session.version };
  return selectCrds(call).map((crd): CrdResult => {
    const result: CrdResult = {
      change: "unchecked",
      name: crdName(crd),
      object: withInstallerMark(crd, program),
      changes: [],
    };
    if (call.flags.output === undefined) session.print(resultLine(result, "client"));
    return result;
  });
}

async function installOnServer(call: Call<InstallFlags>): Promise<readonly CrdResult[]> {
  const { flags, session } = call;
  const { clock, random } = session.processEnvironment;
  const crds = selectCrds(call);
  if (crds.length === 0) return [];
  const { signal } = new AbortController(); // a signal ends the process, and the next run goes on from there
  using connection = await connect(flags, session);
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const work = { connection, session, signal };
  const isDryRun = flags.diff || flags.dryRun === "server";
  const planning = { ...flags, isDryRun, timeoutMs: flags.timeout };
  const plans: CrdPlan[] = [];
  for (const crd of crds) plans.push(await planCrd(crd, planning, work));
  return isDryRun ? await applyDryRun(plans, call, work) : await applyPlans(plans, call, work);
}

/** Asks the server what would become of each plan. */
async function applyDryRun(
  plans: readonly CrdPlan[],
  { flags, session }: Call<InstallFlags>,
  work: CrdContext,
): Promise<readonly CrdResult[]> {
  const results: CrdResult[] = [];
  for (const { live, first, wanted } of plans) {
    // The server would refuse to drop a version that objects are stored in; they are rewritten before it is.
    const result = await applyCrd(live, first, { ...flags, isDryRun: true, wanted }, work);
    results.push(result);
    if (flags.diff) printChanges(result, session);
    else if (flags.output === undefined) session.print(resultLine(result, "server"));
  }
  return results;
}

async function applyPlans(
  plans: readonly CrdPlan[],
  { flags, session }: Call<InstallFlags>,
  work: CrdContext,
): Promise<readonly CrdResult[]> {
  const results: CrdResult[] = [];
  const options = { ...flags, isDryRun: false };
  for (const { live, first } of plans) {
    const result = await applyCrd(live, first, options, work);
    if (flags.output === undefined) session.print(resultLine(result, undefined));
    results.push(result);
  }
  await awaitEstablished(plans.map(({ first }) => first), flags.timeout, work);
  for (const [index, { live, first, wanted }] of plans.entries()) {
    await migrateStorage(wanted.metadata.name, work);
    if (first === wanted) continue;
    const { object } = await applyCrd(live, wanted, options, work);
    const result = results[index];
    if (result !== undefined) results[index] = { ...result, object };
    await awaitEstablished([wanted], flags.timeout, work);
    session.say(`${wanted.metadata.name}: without ${removedVersions(first, wanted).join(", ")} now`);
  }
  return results;
}

function removedVersions(first: Crd, wanted: Crd): readonly string[] {
  const kept = new Set(wanted.spec.versions.map(({ name }) => name));
  return first.spec.versions.map(({ name }) => name).filter((name) => !kept.has(name));
}
