/**
 * `run-graph`: runs the controllers of a graph as `run` runs those of the program.
 *
 * Guarantees: the whole graph is checked before a request is sent.
 */
import { z } from "zod";
import { subcommand } from "../command/mod.ts";
import { useGraphFile } from "../graphs/mod.ts";
import { runControllers, runFlags } from "../run/mod.ts";

const { all: _, ...shape } = runFlags.shape;

/** The command. */
export const runGraph = subcommand({
  description: [
    "Runs the controllers of a graph: a file, or a folder of files, with ResourceGraphDefinitions of kro. Each one defines a",
    "kind, and the resources of its objects as templates with expressions. Schemas, expressions and their types are checked",
    "before anything runs. install-crds --graph installs the definitions of the kinds.",
  ].join(" "),
  positionals: { syntax: "<path>", about: "file or folder with the graphs", completes: "file" },
  examples: [
    { line: "webapp.yaml", about: "on the cluster of the current context" },
    { line: "webapp.yaml --once", about: "reconcile every object once, then end" },
    { line: "graphs -n team-a --dry-run", about: "show what all graphs of a folder would write in a namespace" },
  ],
  flags: z.object(shape),
  isService: true,
  prepare: async ({ positionals: [path = ""], session }) => await useGraphFile(path, session),
  run: (call) =>
    runControllers({ ...call, positionals: [], flags: { ...call.flags, all: true }, configFile: undefined }),
});
