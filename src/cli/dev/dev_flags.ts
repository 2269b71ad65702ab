/** The flags of `dev`. */
/* MERGED dev/dev_words.ts  The words of `dev`: names of controllers, then `--`, then a command. */
import { z } from "zod";
import { flagSyntax, text, UsageError, wholeNumber } from "../flags/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { type Call, selectControllers } from "../command/mod.ts";

export const devFlags = z.object({
  all: z.boolean().default(false).register(flagSyntax, {
    flags: "--all",
    about: "run all controllers, instead of naming them",
  }),
  samples: z.boolean().default(false).register(flagSyntax, {
    flags: "--samples",
    about: "create the objects that show what the controllers do",
  }),
  untilSettled: z.boolean().default(false).register(flagSyntax, {
    flags: "--until-settled",
    about: "end when the controllers have nothing left to do: with 0 when all is as it should be, else with 1",
  }),
  port: wholeNumber(0, 65_535).prefault("0").register(flagSyntax, {
    flags: "--port <number>",
    about: "where the API server listens, on the loopback interface; 0 is any that is free",
    example: "--port 6443",
  }),
  nodes: wholeNumber(0, 1_000).prefault("3").register(flagSyntax, {
    flags: "--nodes <count>",
    about: "simulated nodes",
    example: "--nodes 10",
  }),
  writeKubeconfig: text().optional().register(flagSyntax, {
    flags: "--write-kubeconfig <path>",
    about: "where the kubeconfig is written; it is removed at the end (default: a file of its own)",
    example: "--write-kubeconfig dev.yaml",
  }),
  quiet: z.boolean().default(false).register(flagSyntax, {
    flags: "-q, --quiet",
    about: "do not say where the cluster and its kubeconfig are",
  }),
});

/** What the flags say. */
export type DevFlags = z.output<typeof devFlags>;

/** What was named. */
interface DevArguments {
  readonly names: readonly OperatorController[];
  /** Empty: none. */
  readonly command: readonly string[];
}

/** Reads them. @throws UsageError when they make no sense */
export function parseDevArguments({ words, session, flags: { all, samples } }: Call<DevFlags>): DevArguments {
  const { args } = session.processEnvironment;
  const dashes = args.indexOf("--");
  const command = dashes < 0 ? [] : args.slice(dashes + 1);
  if (dashes >= 0 && command.length === 0) {
    throw new UsageError("Cannot run a command: there is none behind --", "Example: dev -- kubectl get namespaces");
  }
  const named = words.slice(0, words.length - command.length);
  if (all && named.length > 0) {
    throw new UsageError("Cannot run controllers: both names and --all are given", "Leave one of them out");
  }
  const names = all ? session.operator.controllers : selectControllers(session.operator, named);
  if (samples && names.length === 0) {
    throw new UsageError("Cannot create samples: no controller is named whose they are", "Name one, or add --all");
  }
  return { names, command };
}
