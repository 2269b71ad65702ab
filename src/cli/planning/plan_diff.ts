/** changeDiff(): the unified diff of the YAML of one planned change, as `kubectl diff` shows objects. */
import { formatPatch, structuredPatch } from "diff";
import { printYaml } from "../../yaml/mod.ts";
import type { PlannedChange } from "./plan_result.ts";

/** The states to compare. Absent: it does not exist. */
export type ChangedStates = Pick<PlannedChange, "apiVersion" | "kind" | "namespace" | "name" | "before" | "after">;

/**
 * The lines of the diff; only those of its head if nothing differs.
 *
 * @param isCompared True for a comparison with the plan of another version
 */
export function changeDiff(change: ChangedStates, { isCompared = false } = {}): readonly string[] {
  const { before, after } = change;
  const file = [
    change.apiVersion.replace("/", "."),
    change.kind,
    ...(change.namespace === undefined ? [] : [change.namespace]),
    change.name,
  ].join(".");
  const [left, right] = isCompared ? ["OTHER", "THIS"] : ["LIVE", "PLAN"];
  const names = [`${left}/${file}`, `${right}/${file}`] as const;
  const patch = structuredPatch(...names, yamlOf(before), yamlOf(after), undefined, undefined, { context: 3 });
  return formatPatch(patch).trimEnd().split("\n").filter((line) => !/^(={5,}|Index: )/.test(line));
}

function yamlOf(object: PlannedChange["before"]): string {
  return object === undefined ? "" : printYaml(object, { style: "go" });
}
