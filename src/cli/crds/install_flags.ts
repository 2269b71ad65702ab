/** The flags of `install-crds`. */
import { z } from "zod";
import { connectionFlags } from "../connection_flags.ts";
import { flagSyntax } from "../flag.ts";
import { durationMs, oneOf } from "../flag_values.ts";

const overrides = "Against refusals:";

/** What is done with definitions, and how much is insisted on. */
export const installFlags = z.object({
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
export type InstallFlags = z.output<typeof installFlags>;
