/** The flags of `plan`: those of `run` about what it works on, what is planned on top, and the output. */
import { z } from "zod";
import { connectionFlags } from "../connection/mod.ts";
import { commandLineOnly, durationMs, flag, namespaceName, oneOf, text } from "../flags/mod.ts";
import { graphFlag } from "../graphs/mod.ts";
import { selectorFlag } from "../run/mod.ts";

export const planFlags = z.object({
  allNamespaces: flag(z.boolean().default(false), {
    flags: "-A, --all-namespaces",
    about: "plan all namespaces, also for controllers that have a namespace of their own",
  }),
  selector: selectorFlag,
  files: flag(text().optional(), {
    ...commandLineOnly,
    flags: "-f, --files <path>",
    about: "first apply the objects of a file, of the files of a folder, or of standard input (-), as kubectl would",
    example: "--files new-foo.yaml",
    completes: "file",
  }),
  graph: graphFlag,
  crds: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--crds",
    about: "first install the definitions of this program, and convert and default all stored objects",
  }),
  against: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--against <file>",
    about: "show only what differs from the plan of another version: its output of plan -o json",
    example: "--against running.json",
    completes: "file",
  }),
  output: flag(oneOf(["diff", "json", "yaml", "name"]).prefault("diff"), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "diff for people and for patch; json or yaml for programs; name for one line per object",
    example: "--output json",
  }),
  showCluster: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--show-cluster",
    about: "also show what the simulated cluster does, such as the Pods of a Deployment",
  }),
  horizon: flag(durationMs().prefault("2h"), {
    ...commandLineOnly,
    flags: "--horizon <duration>",
    about: "simulated time after which what still goes on counts as endless",
    example: "--horizon 24h",
  }),
  ...connectionFlags.shape,
  namespace: flag(z.array(namespaceName()).default([]), {
    flags: "-n, --namespace <name>",
    about: "plan this namespace only; can be repeated (default: all; the context's namespace is not used)",
    arity: "list",
    completes: "namespace",
  }),
});

/** The values of the flags. */
export type PlanFlags = z.output<typeof planFlags>;
