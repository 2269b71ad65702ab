/** --yes and --dry-run of the commands that delete from a cluster, and what they refuse without either. */
import { z } from "zod";
import { commandLineOnly, flag, UsageError } from "../flags/mod.ts";

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

/** @throws UsageError when nobody can confirm */
export function checkConfirmable(
  { yes, dryRun }: z.output<typeof deletionFlags>,
  stdin: { readonly isTerminal: boolean },
): void {
  if (yes || dryRun || stdin.isTerminal) return;
  const message = "Cannot uninstall: a confirmation is needed, and standard input is not a terminal";
  throw new UsageError(message, "Check with --dry-run, then use --yes");
}
