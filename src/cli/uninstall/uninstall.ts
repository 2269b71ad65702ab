/**
 * `uninstall`: removes an operator from a cluster, in the order in which nothing gets stuck:
 *
 * 1. the objects of its kinds, while the controllers still run and remove their finalizers
 * 2. the webhook configurations, which would refuse requests when nothing serves the webhooks
 * 3. the workload, until its Pods are gone
 * 4. what they needed to stop in order: their Leases and permissions, and the rest of what `manifests` prints
 * 5. the definitions of the kinds
 *
 * Guarantees: a step begins when the one before has ended; if objects do not go in time, everything else stays, so that the
 * controllers can finish. Deletions name the UID that was shown. What has another owner's labels stays.
 */
import { z } from "zod";
import {
  checkConfirmable,
  confirmDeletion,
  controllersOf,
  type CrdContext,
  definitionRows,
  deletionFlags,
  findDefinitions,
  type InstalledDefinition,
  objectsOf,
  removeDefinitions,
  warnFinalizers,
} from "../crds/mod.ts";
import { type Call, crdsOf, type ExitCode, exitCode, subcommand } from "../command/mod.ts";
import { connect, connectionFlags, waitForServer } from "../connection/mod.ts";
import { commandLineOnly, durationMs, flag, namespaceName } from "../flags/mod.ts";
import { createInstallPlan, manifestFlags } from "../manifests/mod.ts";
import { count, table } from "../output/mod.ts";
import { deleteObjects } from "./delete_objects.ts";
import { findInstallation, type Installation, removeInstallation } from "./installation.ts";

const { name, createNamespace, existingNamespace, namespaced, watchNamespace, certSecret } = manifestFlags.shape;
const { serviceMonitor, monitoring, webhookConfiguration } = manifestFlags.shape;

const uninstallFlags = z.object({
  ...deletionFlags.shape,
  timeout: flag(durationMs().prefault("5m"), {
    ...commandLineOnly,
    flags: "--timeout <duration>",
    about: "how long to wait for the objects, then for the Pods, and then for the definitions",
    example: "--timeout 10m",
  }),
  ...{ name, createNamespace, existingNamespace, namespaced, watchNamespace, certSecret },
  ...{ serviceMonitor, monitoring, webhookConfiguration },
  ...connectionFlags.shape,
  namespace: flag(namespaceName().optional(), {
    flags: "-n, --namespace <name>",
    about: "namespace that the controllers run in (default: NAME-system)",
    completes: "namespace",
  }),
});

type UninstallFlags = z.output<typeof uninstallFlags>;

/** The command. */
export const uninstall = subcommand({
  description: [
    "Deletes every object of the kinds of controllers while the controllers still run, then the webhook configurations, the",
    "workload, its Leases and permissions, and the definitions last. Shows first what it would delete, and asks for a confirmation.",
    "Give the flags of manifests with which the operator was installed. If finalizers keep objects, it says which, and",
    "deletes nothing more.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers that were installed (default: all)" },
  examples: [
    { line: "--dry-run", about: "show what would be deleted" },
    { line: "--yes --timeout 10m", about: "in a script" },
    { line: "-n team-a --namespaced", about: "an installation of manifests -n team-a --namespaced" },
  ],
  flags: uninstallFlags,
  run: uninstallOperator,
});

/** What there is to delete. */
interface Found {
  readonly definitions: readonly InstalledDefinition[];
  readonly installation: Installation;
}

async function uninstallOperator(call: Call<UninstallFlags>): Promise<ExitCode> {
  const { flags, session } = call;
  const { clock, random, stdin } = session.processEnvironment;
  checkConfirmable(flags, stdin);
  const plan = createInstallPlan({
    positionals: call.positionals,
    flags: { ...manifestFlags.parse({}), ...flags },
    session,
    // Its ConfigMap is found by its name, whatever was in the file.
    runConfig: { text: "", keys: new Set(), checksum: "" },
  });
  const { signal } = new AbortController(); // a signal ends the process; the next run continues
  using connection = await connect(flags, session);
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const context = { connection, session, signal };
  const found: Found = {
    definitions: await findDefinitions(crdsOf(controllersOf(call)), context),
    installation: await findInstallation(plan, context),
  };
  if (found.definitions.length + objectsIn(found.installation).length === 0) return exitCode.done;
  if (flags.dryRun || !flags.yes) show(found, context);
  warnFinalizers(found.definitions, context);
  if (flags.dryRun) return exitCode.done;
  if (!flags.yes) await confirmDeletion(textOf(found), context);
  await deleteObjects(found.definitions, flags.timeout, context);
  await removeInstallation(found.installation, { plan, timeoutMs: flags.timeout }, context);
  await removeDefinitions(found.definitions, flags.timeout, context);
  return exitCode.done;
}

function show({ definitions, installation }: Found, { session }: CrdContext): void {
  if (definitions.length > 0) session.print(...table(definitionRows(definitions)));
  const objects = objectsIn(installation);
  if (objects.length > 0) session.print("INSTALLATION", ...objects.map(({ title }) => title));
}

/** In the order in which they are deleted. */
function objectsIn({ serving, used }: Installation) {
  return [...serving, ...used];
}

function textOf({ definitions, installation }: Found): string {
  const parts = [
    count(objectsOf(definitions), "object"),
    `${count(objectsIn(installation).length, "object")} of the installation`,
    count(definitions.length, "definition"),
  ];
  return parts.join(", ");
}
