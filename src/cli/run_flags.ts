/** The flags of `run`. */
import { z } from "zod";
import { connectionFlags } from "./connection_flags.ts";
import { electionFlags } from "./election_flags.ts";
import { flagSyntax } from "./flag.ts";
import { durationMs, durationMsOrForever, text, wholeNumber } from "./flag_values.ts";
import { servingFlags } from "./serving_flags.ts";

/** How controllers are run, and which. */
export const runFlags = z.object({
  all: z.boolean().default(false).register(flagSyntax, {
    flags: "--all",
    about: "run all controllers, instead of naming them",
    fromEnvironment: true,
  }),
  workers: wholeNumber(1, 1_000).optional().register(flagSyntax, {
    flags: "--workers <count>",
    about: "objects that each controller reconciles at the same time, instead of its own number",
    example: "--workers 4",
    fromEnvironment: true,
  }),
  resync: durationMs().optional().register(flagSyntax, {
    flags: "--resync <duration>",
    about: "how often every object counts as changed, instead of the controller's own period; 0 is never",
    example: "--resync 10m",
    fromEnvironment: true,
  }),
  gracefulShutdownTimeout: durationMsOrForever().prefault("30s").register(flagSyntax, {
    flags: "--graceful-shutdown-timeout <duration>",
    about: "how long running reconciles may take to finish after a signal; 0 does not wait, forever has no limit",
    example: "--graceful-shutdown-timeout 1m",
    fromEnvironment: true,
  }),
  allNamespaces: z.boolean().default(false).register(flagSyntax, {
    flags: "-A, --all-namespaces",
    about: "work on all namespaces; so it is anyway, unless --namespace is given",
    fromEnvironment: true,
  }),
  dryRun: z.boolean().default(false).register(flagSyntax, {
    flags: "--dry-run",
    about: "ask the server to validate every write and to store none; logs what would be written, -v also the bodies",
    fromEnvironment: true,
  }),
  once: z.boolean().default(false).register(flagSyntax, {
    flags: "--once",
    about: "reconcile every object, then end: with 0 when all are as they should be, else with 1",
    fromEnvironment: true,
  }),
  ...servingFlags.shape,
  ...electionFlags.shape,
  ...connectionFlags.shape,
  namespace: z.array(text()).default([]).register(flagSyntax, {
    flags: "-n, --namespace <name>",
    about: "work on this namespace only; may be given several times; the context's namespace does not matter",
    arity: "list",
    completes: "namespace",
    fromEnvironment: true,
  }),
});

/** What the flags say. */
export type RunFlags = z.output<typeof runFlags>;
