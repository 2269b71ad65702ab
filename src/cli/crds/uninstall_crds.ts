/**
 * `uninstall-crds`: deletes the CustomResourceDefinitions of controllers, and with them all objects of the kinds.
 *
 * Guarantees: nothing is deleted before the user has seen how many objects are affected and has confirmed, at the prompt or
 * with --yes; the deletion names the UID, so that a definition that was created again is not deleted; the command ends when
 * the definitions are gone, or names what blocks them. A definition that does not exist is not an error.
 */
import { z } from "zod";
import { isNotFound } from "../../client/mod.ts";
import { type Crd, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { connect, connectionFlags, waitForServer } from "../connection/mod.ts";
import { awaitGone, finalizerText, type Inventory, inventoryOf } from "./await_gone.ts";
import { controllersOf, type CrdContext, definitionName, readCrd, withPermissionAdvice } from "./crd_context.ts";
import type { Cell } from "../../observe/mod.ts";
import { count, table } from "../output/mod.ts";
import { crdName } from "./apply_crd.ts";
import { checkConfirmable, confirmDeletion, deletionFlags } from "./deletion_flags.ts";
import { type Call, crdsOf, type ExitCode, exitCode, subcommand } from "../command/mod.ts";
import { commandLineOnly, durationMs, flag } from "../flags/mod.ts";

const uninstallFlags = z.object({
  ...deletionFlags.shape,
  timeout: flag(durationMs().prefault("1m"), {
    ...commandLineOnly,
    flags: "--timeout <duration>",
    about: "how long to wait until everything is deleted",
    example: "--timeout 5m",
  }),
  ...connectionFlags.shape,
});

type UninstallFlags = z.output<typeof uninstallFlags>;

/** The command. */
export const uninstallCrds = subcommand({
  description: [
    "Deletes the custom resource definitions of controllers, and with them every object of these kinds. Shows first how",
    "many objects are affected, and asks for a confirmation. Waits until everything is deleted. Controllers with",
    "finalizers must run meanwhile: only they remove their finalizers.",
    "\n\nIt needs the verbs get and delete on customresourcedefinitions.apiextensions.k8s.io, and get and list on the kinds.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers whose definitions to delete (default: all)" },
  examples: [
    { line: "--dry-run", about: "show what would be deleted" },
    { line: "NAME", about: "the definitions of one controller, after a confirmation" },
    { line: "--yes --timeout 5m", about: "all definitions, in a script" },
  ],
  flags: uninstallFlags,
  run: uninstall,
});

/** A live definition, and the objects that are deleted with it. */
export interface InstalledDefinition {
  readonly crd: StoredCrd;
  readonly inventory: Inventory;
}

async function uninstall(call: Call<UninstallFlags>): Promise<ExitCode> {
  const { flags, session } = call;
  const { clock, random, stdin } = session.processEnvironment;
  const crds = crdsOf(controllersOf(call));
  if (crds.length === 0) return exitCode.done;
  checkConfirmable(flags, stdin);
  const { signal } = new AbortController(); // a signal ends the process; the next run continues
  using connection = await connect(flags, session);
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const context = { connection, session, signal };
  const definitions = await findDefinitions(crds, context);
  if (definitions.length === 0) return exitCode.done;
  if (flags.dryRun || !flags.yes) session.print(...table(definitionRows(definitions)));
  warnFinalizers(definitions, context);
  if (flags.dryRun) return exitCode.done;
  if (!flags.yes) {
    const objects = objectsOf(definitions);
    await confirmDeletion(`${count(definitions.length, "definition")} and ${count(objects, "object")}`, context);
  }
  await removeDefinitions(definitions, flags.timeout, context);
  return exitCode.done;
}

/** Finds the live definitions, and counts their objects. A missing one is printed. */
export async function findDefinitions(
  crds: readonly Crd[],
  context: CrdContext,
): Promise<readonly InstalledDefinition[]> {
  const definitions: InstalledDefinition[] = [];
  const { session } = context;
  for (const crd of crds) {
    const live = await readCrd(context, crd.metadata.name, ["delete"]);
    if (live === undefined) session.print(`${crdName(crd)} not found`);
    else definitions.push({ crd: live, inventory: await inventoryOf(live, session.operator.controllers, context) });
  }
  return definitions;
}

/** The rows of a table about definitions, with its head. */
export function definitionRows(definitions: readonly InstalledDefinition[]): readonly (readonly Cell[])[] {
  const head: readonly Cell[] = ["DEFINITION", "OBJECTS", "NAMESPACES", "BEING DELETED"];
  return [
    head,
    ...definitions.map(({ crd, inventory: { objects, namespaces, deleting } }): readonly Cell[] => [
      definitionName(crd),
      objects === 0 ? "0" : { text: String(objects), tone: "error" },
      crd.spec.scope === "Namespaced" ? String(namespaces) : "-",
      String(deleting),
    ]),
  ];
}

/** Warns about finalizers, which block the deletion until their owners remove them. */
export function warnFinalizers(definitions: readonly InstalledDefinition[], { session }: CrdContext): void {
  for (const { crd, inventory } of definitions) {
    for (const use of inventory.finalizers) {
      const { controller } = use;
      const advice = controller === undefined
        ? "they stay until its owner removes it"
        : `they stay until it runs: ${session.operator.name} run ${controller}`;
      session.info(`${definitionName(crd)}: ${finalizerText(use)}; ${advice}`);
    }
  }
}

/** How many objects there are of all kinds. */
export function objectsOf(definitions: readonly InstalledDefinition[]): number {
  return definitions.reduce((sum, { inventory }) => sum + inventory.objects, 0);
}

/** Deletes the definitions, and waits until they are gone. @throws CommandError that says what blocks one after `timeoutMs` */
export async function removeDefinitions(
  definitions: readonly InstalledDefinition[],
  timeoutMs: number,
  context: CrdContext,
): Promise<void> {
  const { connection, session, signal } = context;
  for (const { crd } of definitions) {
    const { name = "", uid } = crd.metadata;
    try {
      await withPermissionAdvice(
        { resource: CrdResource, verbs: ["get", "delete"] },
        () => connection.client.delete(CrdResource, name, { preconditions: { uid }, signal }),
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  const onGone = (crd: StoredCrd) => session.print(`${crdName(crd)} deleted`);
  await awaitGone(definitions.map(({ crd }) => crd), { timeoutMs, onGone }, context);
}
