/**
 * `uninstall-crds`: takes away the CustomResourceDefinitions of controllers, and with them all objects of the kinds.
 *
 * Guarantees: nothing is deleted before somebody has seen how much goes and has said yes, here or with --yes; what is
 * deleted is what was looked at, not one that was made anew; it ends when they are gone, or says what holds them. A
 * definition that is not there is no error.
 */
import { z } from "zod";
import { isNotFound } from "../../client/mod.ts";
import { type Crd, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { connect, connectionFlags, waitForServer } from "../connection/mod.ts";
import { awaitGone, finalizerText, type Inventory, inventoryOf } from "./await_gone.ts";
import { commandFailure, type CrdContext, nameOf, readCrd, selectCrds, withPermissionAdvice } from "./crd_context.ts";
import { type Cell, count, table } from "../output/mod.ts";
import { crdName } from "./apply_crd.ts";
import { type Call, type ExitCode, exitCode, subcommand } from "../command/mod.ts";
import { durationMs, flagSyntax, UsageError } from "../flags/mod.ts";

const uninstallFlags = z.object({
  yes: z.boolean().default(false).register(flagSyntax, {
    flags: "-y, --yes",
    about: "do not ask",
  }),
  dryRun: z.boolean().default(false).register(flagSyntax, {
    flags: "--dry-run",
    about: "delete nothing, and show what would go",
  }),
  timeout: durationMs().prefault("1m").register(flagSyntax, {
    flags: "--timeout <duration>",
    about: "how long to wait until they are gone",
    example: "--timeout 5m",
  }),
  ...connectionFlags.shape,
});

type UninstallFlags = z.output<typeof uninstallFlags>;

/** The command. */
export const uninstallCrds = subcommand({
  description: [
    "Deletes the custom resource definitions of controllers, and with them every object of these kinds, and waits until",
    "they are gone. Shows first how many objects would go, and asks. Let controllers run meanwhile that clean up after",
    "their objects: nobody else takes their finalizers off.",
    "\n\nIt needs the verbs get and delete on customresourcedefinitions.apiextensions.k8s.io, and get and list on the kinds.",
  ].join(" "),
  words: { syntax: "[names...]", about: "controllers whose definitions are meant (default: all)" },
  examples: [
    { line: "--dry-run", about: "see what would go" },
    { line: "NAME", about: "what one controller brought, after a question" },
    { line: "--yes --timeout 5m", about: "all of them, in a script" },
  ],
  flags: uninstallFlags,
  run: uninstall,
});

/** A definition that is there, and what would go with it. */
interface InstalledDefinition {
  readonly crd: StoredCrd;
  readonly inventory: Inventory;
}

async function uninstall(call: Call<UninstallFlags>): Promise<ExitCode> {
  const { flags, session } = call;
  const { clock, random, stdin } = session.processEnvironment;
  const crds = selectCrds(call);
  if (crds.length === 0) return exitCode.done;
  if (!flags.yes && !flags.dryRun && !stdin.isTerminal) {
    const message = "Cannot uninstall: nobody is there to ask, standard input is no terminal";
    throw new UsageError(message, "Look with --dry-run, then use --yes");
  }
  const { signal } = new AbortController(); // a signal ends the process, and the next run goes on from there
  using connection = await connect(flags, session);
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const work = { connection, session, signal };
  const definitions = await findDefinitions(crds, work);
  if (definitions.length === 0) return exitCode.done;
  if (flags.dryRun || !flags.yes) session.print(table(rowsOf(definitions), session.paint));
  warn(definitions, work);
  if (flags.dryRun) return exitCode.done;
  if (!flags.yes && !(await isConfirmed(definitions, work))) throw commandFailure("Cannot uninstall: nobody said yes");
  await remove(definitions, flags.timeout, work);
  return exitCode.done;
}

async function findDefinitions(crds: readonly Crd[], work: CrdContext): Promise<readonly InstalledDefinition[]> {
  const definitions: InstalledDefinition[] = [];
  const { session } = work;
  for (const crd of crds) {
    const live = await readCrd(work, crd.metadata.name, ["delete"]);
    if (live === undefined) session.print(`${crdName(crd)} not found\n`);
    else definitions.push({ crd: live, inventory: await inventoryOf(live, session.operator.controllers, work) });
  }
  return definitions;
}

function rowsOf(definitions: readonly InstalledDefinition[]): readonly (readonly Cell[])[] {
  const head: readonly Cell[] = ["DEFINITION", "OBJECTS", "NAMESPACES", "BEING DELETED"];
  return [
    head,
    ...definitions.map(({ crd, inventory: { objects, namespaces, deleting } }): readonly Cell[] => [
      nameOf(crd),
      objects === 0 ? "0" : { text: String(objects), tone: "bad" },
      crd.spec.scope === "Namespaced" ? String(namespaces) : "-",
      String(deleting),
    ]),
  ];
}

/** Says which objects will not go by themselves. */
function warn(definitions: readonly InstalledDefinition[], { session }: CrdContext): void {
  for (const { crd, inventory } of definitions) {
    for (const use of inventory.finalizers) {
      const { controller } = use;
      const advice = controller === undefined
        ? "they go when who put it there takes it off"
        : `they go while it runs: ${session.operator.name} run ${controller}`;
      session.say(`${nameOf(crd)}: ${finalizerText(use)}; ${advice}`);
    }
  }
}

async function isConfirmed(
  definitions: readonly InstalledDefinition[],
  { connection, session }: CrdContext,
): Promise<boolean> {
  const objects = definitions.reduce((sum, { inventory }) => sum + inventory.objects, 0);
  const what = `${count(definitions.length, "definition")} and ${count(objects, "object")}`;
  const answer = await session.ask(`Delete ${what} from ${connection.server} for good? [y/N]`);
  return /^y(es)?$/i.test((answer ?? "").trim());
}

async function remove(definitions: readonly InstalledDefinition[], timeoutMs: number, work: CrdContext): Promise<void> {
  const { connection, session, signal } = work;
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
  const gone = (crd: StoredCrd) => session.print(`${crdName(crd)} deleted\n`);
  await awaitGone(definitions.map(({ crd }) => crd), { timeoutMs, gone }, work);
}
