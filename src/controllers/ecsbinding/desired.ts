/** The labels that an EcsBinding has: a pure function of it and of whether its Node is there. */
import type { EcsBinding } from "./resource.ts";

/** On every EcsBinding. */
export const boundLabel = "hopegi.com/bound";

/** On those whose Node is there: its name. */
export const nodeLabel = "hopegi.com/node";

/** The server takes no longer value of a label; names of Nodes may be longer. */
const longestValue = 63;

/** What the labels are to be; null for one that is not to be there. */
export type DesiredLabels = Readonly<Record<typeof boundLabel | typeof nodeLabel, string | null>>;

/** @param hasNode whether there is a Node of the name that the EcsBinding gives */
export function desiredLabels(binding: EcsBinding, hasNode: boolean): DesiredLabels {
  const { nodename = "" } = binding.spec;
  const isNamed = hasNode && nodename !== "" && !isTooLong(nodename);
  return { [boundLabel]: "true", [nodeLabel]: isNamed ? nodename : null };
}

/** True for the name of a Node that cannot be the value of a label. */
export function isTooLong(nodename: string): boolean {
  return nodename.length > longestValue;
}
