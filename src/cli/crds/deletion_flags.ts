/** --yes and --dry-run of the commands that delete from a cluster, and the confirmation that they need without either. */
import { z } from "zod";
import { commandLineOnly, flag, UsageError } from "../flags/mod.ts";
import { commandFailure, type CrdContext } from "./crd_context.ts";

export const deletionFlags = z.object({
  yes: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "-y, --yes",
    about: "delete without a confirmation",
  }),
  dryRun: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--dry-run",
    about: "delete nothing, and show what would be deleted",
  }),
});

/** Asks the user. @param what is deleted, `2 objects` @throws CommandError without a confirmation */
export async function confirmDeletion(what: string, { connection, session }: CrdContext): Promise<void> {
  const answer = await session.prompt(`Delete ${what} from ${connection.server} permanently? [y/N]`);
  if (/^y(es)?$/i.test((answer ?? "").trim())) return;
  throw commandFailure("Cannot uninstall: it was not confirmed");
}

/** @throws UsageError when nobody can confirm */
export function checkConfirmable(
  { yes, dryRun }: z.output<typeof deletionFlags>,
  stdin: { readonly isTerminal: boolean },
): void {
  if (yes || dryRun || stdin.isTerminal) return;
  const message = "Cannot uninstall: a confirmation is needed, and standard input is not a terminal";
  throw new UsageError(message, "Check with --dry-run, then use --yes");
}
