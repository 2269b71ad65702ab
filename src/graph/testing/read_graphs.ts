/** readGraphs(): the controllers of graphs in a text, for tests. */
import { lineOf, parseYaml } from "../../yaml/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { graphControllers } from "../mod.ts";

/** The controllers of the documents of a text. */
export function readGraphs(text: string, name = "graph.yaml"): readonly OperatorController[] {
  const lines = text.split("\n");
  const starts = [0, ...lines.flatMap((line, at) => line === "---" ? [at + 1] : [])];
  return graphControllers(starts.map((start, at) => {
    const document = parseYaml(lines.slice(start, (starts[at + 1] ?? lines.length + 1) - 1).join("\n"), {
      dialect: "go",
    });
    return { value: document.value(), name, lineOf: (path) => start + lineOf(document, path) };
  }));
}
