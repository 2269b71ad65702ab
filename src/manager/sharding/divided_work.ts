/**
 * DividedWork: what the replicas of a group divide between them, as a text for their Leases. Replicas with another text, such
 * as those of another operator with the same Lease name, or with another shard key, would each reconcile keys that the other
 * one has, and leave out keys that none has.
 */
import { formatLabelSelector, type LabelSelector } from "../../api/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";

/** The objects that a process works on. */
export interface WorkScope {
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
}

type Divided = Pick<ControllerDefinition, "name" | "options">;

/** Describes the work of a process. @param definitions the controllers whose keys are divided */
export function dividedWork(definitions: readonly Divided[], { namespaces, namespaceSelector }: WorkScope): string {
  const controllers = definitions.map(controllerText).sort().join(", ");
  if (namespaceSelector !== undefined) {
    return `${controllers} in namespaces with ${formatLabelSelector(namespaceSelector)}`;
  }
  return namespaces === undefined ? controllers : `${controllers} in ${[...new Set(namespaces)].sort().join(", ")}`;
}

function controllerText({ name, options: { shardKey = "uid", selector, namespace } }: Divided): string {
  const key = typeof shardKey === "object" ? `label ${shardKey.label}` : shardKey;
  const selected = selector === undefined ? "" : ` of ${formatLabelSelector(selector)}`;
  // The text of a function differs between builds of the same program.
  return `${name} by ${typeof key === "function" ? "a function" : key}${selected}${
    namespace === undefined ? "" : ` in ${namespace}`
  }`;
}
