/**
 * `install-crds`: installs the CustomResourceDefinitions of controllers, or updates them to the state of this program.
 *
 * Guarantees: nothing is written unless all definitions can be installed; stored objects keep their content, or the command
 * fails and names them; it ends when the server serves the kinds and all objects are stored in the newest version. Each
 * step reads the live state first: a run after a killed one continues, and a second run changes nothing. Server-side apply
 * keeps the fields of other managers, such as labels or the CA bundle of a conversion webhook. A kind with a conversion is
 * installed with the address of its webhook. With `--clusters`, all of this holds for each cluster of a fleet by itself.
 */
import { z } from "zod";
import { clustersFlag } from "../clusters/mod.ts";
import { connect, connectionFlags, waitForServer } from "../connection/mod.ts";
import { commandLineOnly, durationMs, flag, oneOf, text, UsageError } from "../flags/mod.ts";
import { graphFlag, useGraph } from "../graphs/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import { applyCrd, crdName, type CrdResult, printChanges, printObjects, resultLine } from "./apply_crd.ts";
import { awaitEstablished } from "./await_established.ts";
import { controllersOf, type CrdContext, readCrd } from "./crd_context.ts";
import { type FleetPlace, installInFleet, type InstallTarget } from "./install_in_fleet.ts";
import { migrateStorage } from "./migrate_storage.ts";
import { type CrdPlan, planCrd, withInstallerMark } from "./plan_crd.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { type Call, crdsOf, exitCode, subcommand, webhookServiceName } from "../command/mod.ts";
import type { WebhookAddress } from "../../webhook/mod.ts";
import { publishAuthorities, withConversionAdvice } from "./conversion_webhook.ts";

const overrides = "Overriding safety checks:";

const installFlags = z.object({
  dryRun: flag(oneOf(["client", "server"]).optional(), {
    ...commandLineOnly,
    flags: "--dry-run <where>",
    about: "change nothing: client works without a server, server lets the server check everything",
    example: "--dry-run=server",
  }),
  diff: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--diff",
    about: "change nothing, and print the fields that would change, with - and +",
  }),
  output: flag(oneOf(["yaml", "json", "name"]).optional(), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "print the definitions (yaml, json) or their names (name), instead of the results",
    example: "-o yaml",
  }),
  graph: graphFlag,
  timeout: flag(durationMs().prefault("1m"), {
    ...commandLineOnly,
    flags: "--timeout <duration>",
    about: "how long to wait until the server serves the kinds",
    example: "--timeout 2m",
  }),
  allowBreaking: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--allow-breaking",
    about: "install a definition that breaks stored objects or clients, with warnings",
    group: overrides,
  }),
  allowDowngrade: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--allow-downgrade",
    about: "replace a newer definition by an older one",
    group: overrides,
  }),
  forceConflicts: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--force-conflicts",
    about: "take over fields that another program writes",
    group: overrides,
  }),
  clusters: clustersFlag,
  webhookNamespace: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--webhook-namespace <name>",
    about: "namespace of the Service of conversion webhooks (default: that of the definition in the cluster, " +
      "else NAME-system as in manifests)",
  }),
  ...connectionFlags.shape,
});

type InstallFlags = z.output<typeof installFlags>;

/** A cluster, with what its lines begin with. */
interface InstallContext extends CrdContext {
  readonly prefix: string;
}

/** The command. */
export const installCrds = subcommand({
  description: [
    "Installs or updates the custom resource definitions of controllers, and waits until the server serves the kinds.",
    "Fails without a change if a definition would break stored objects. Rewrites objects that are stored in an old",
    "version. Can be run again at any time: it continues where it stopped.",
    "\n\nIt needs the verbs get, create and patch on customresourcedefinitions.apiextensions.k8s.io, and get, list and",
    "patch on the kinds themselves when stored objects must be checked or rewritten.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers whose definitions to install (default: all)" },
  examples: [
    { line: "NAME", about: "the definitions of one controller" },
    { line: "", about: "the definitions of all controllers" },
    { line: "--diff", about: "show which fields would change, and check whether they may" },
    { line: "--dry-run=server", about: "let the server check everything, and store nothing" },
    { line: "--dry-run=client -o yaml", about: "print the definitions, without a cluster" },
    { line: "--clusters contexts:*", about: "in each cluster of the kubeconfig, as a fleet" },
  ],
  flags: installFlags,
  prepare: useGraph,
  async run(call) {
    assertNoContradiction(call.flags);
    const results = call.flags.dryRun === "client" ? installWithoutServer(call) : await installOnServer(call);
    printObjects(results, call.flags.output, call.session);
    return exitCode.done;
  },
});

function assertNoContradiction({ diff, dryRun, output, clusters }: InstallFlags): void {
  if (clusters !== undefined && (output !== undefined || dryRun === "client")) {
    const other = output !== undefined ? "--output" : "--dry-run=client";
    throw new UsageError(
      `Cannot install: --clusters and ${other} are both given`,
      "The definitions are the same for all clusters: print them without --clusters",
    );
  }
  if (!diff || (dryRun !== "client" && output === undefined)) return;
  const other = dryRun === "client" ? "--dry-run=client" : "--output";
  throw new UsageError(`Cannot install: --diff and ${other} are both given`, "Leave one of them out");
}

function installWithoutServer(call: Call<InstallFlags>): readonly CrdResult[] {
  const { session } = call;
  const program = { name: session.operator.name, version: session.version };
  return crdsOf(controllersOf(call), addressOf(call)).map((crd): CrdResult => {
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

/** The Service that `manifests` prints. */
function addressOf({ flags, session: { operator } }: Call<InstallFlags>): WebhookAddress {
  const namespace = flags.webhookNamespace ?? `${operator.name}-system`;
  return { kind: "service", namespace, name: webhookServiceName(operator.name) };
}

async function installOnServer(call: Call<InstallFlags>): Promise<readonly CrdResult[]> {
  const { flags, session } = call;
  const address = addressOf(call);
  const { signal } = new AbortController(); // a signal ends the process; the next run continues
  const controllers = controllersOf(call);
  if (flags.clusters === undefined) {
    const crds = crdsOf(controllers, address);
    if (crds.length === 0) return [];
    using connection = await connect(flags, session);
    return await installIn({ connection, crds, prefix: "", signal }, call);
  }
  using hub = await connect(flags, session);
  await installInFleet({
    ...{ hub, session, signal, source: flags.clusters, flags },
    crdsOf: (place) => crdsOf(controllers.filter((controller) => runsIn(place, controller)), address),
    installIn: (target) => installIn({ ...target, signal }, call),
  });
  return [];
}

function runsIn(place: FleetPlace, { options }: OperatorController): boolean {
  return (options.runsIn === "hub") === (place === "hub");
}

/** Installs definitions in one cluster. */
async function installIn(
  { connection, crds, prefix, signal }: InstallTarget & { readonly signal: AbortSignal },
  call: Call<InstallFlags>,
): Promise<readonly CrdResult[]> {
  const { flags, session } = call;
  const { clock, random } = session.processEnvironment;
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const context = { connection, session, signal, prefix };
  const isDryRun = flags.diff || flags.dryRun === "server";
  const planning = { ...flags, isDryRun, timeoutMs: flags.timeout };
  const plans: CrdPlan[] = [];
  for (const crd of crds) plans.push(await planCrd(crd, planning, context));
  return isDryRun ? await applyDryRun(plans, call, context) : await applyPlans(plans, call, context);
}

/** Applies the plans as a server-side dry run. */
async function applyDryRun(
  plans: readonly CrdPlan[],
  { flags, session }: Call<InstallFlags>,
  context: InstallContext,
): Promise<readonly CrdResult[]> {
  const results: CrdResult[] = [];
  const { prefix } = context;
  for (const { live, initial, desired } of plans) {
    // The server rejects the removal of a version that objects are stored in. A real run rewrites them before it.
    const result = await applyCrd(live, initial, { ...flags, isDryRun: true, desired }, context);
    results.push(result);
    if (flags.diff) printChanges({ ...result, name: `${prefix}${result.name}` }, session);
    else if (flags.output === undefined) session.print(`${prefix}${resultLine(result, "server")}`);
  }
  return results;
}

async function applyPlans(
  plans: readonly CrdPlan[],
  { flags, session }: Call<InstallFlags>,
  context: InstallContext,
): Promise<readonly CrdResult[]> {
  const results: CrdResult[] = [];
  const { prefix } = context;
  const options = { ...flags, isDryRun: false };
  for (const { live, initial } of plans) {
    const result = await applyCrd(live, initial, options, context);
    if (flags.output === undefined) session.print(`${prefix}${resultLine(result, undefined)}`);
    results.push(result);
  }
  await awaitEstablished(plans.map(({ initial }) => initial), flags.timeout, context);
  for (const { desired: { metadata: { name }, spec } } of plans) {
    if (spec.conversion?.strategy !== "Webhook") continue;
    const installed = await readCrd(context, name);
    if (installed !== undefined) await publishAuthorities(name, installed, context);
  }
  for (const [index, { live, initial, desired }] of plans.entries()) {
    await withConversionAdvice(desired, () => migrateStorage(desired.metadata.name, context));
    if (initial === desired) continue;
    const { object } = await applyCrd(live, desired, options, context);
    const result = results[index];
    if (result !== undefined) results[index] = { ...result, object };
    await awaitEstablished([desired], flags.timeout, context);
    session.info(`${prefix}${desired.metadata.name}: removed version ${removedVersions(initial, desired).join(", ")}`);
  }
  return results;
}

function removedVersions(initial: Crd, desired: Crd): readonly string[] {
  const kept = new Set(desired.spec.versions.map(({ name }) => name));
  return initial.spec.versions.map(({ name }) => name).filter((name) => !kept.has(name));
}
