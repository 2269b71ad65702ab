/** The flags of `dev`. */
import { z } from "zod";
import { flagSyntax } from "../flag.ts";
import { text, wholeNumber } from "../flag_values.ts";

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
