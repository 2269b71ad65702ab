/** The desired labels of an EcsBinding: a pure function of the object and of whether its Node exists. */
import type { EcsBinding } from "./resource.ts";

/** The label of every EcsBinding. */
export const boundLabel = "hopegi.com/bound";

/** The label with the name of the Node, while that Node exists. */
export const nodeLabel = "hopegi.com/node";

/** The limit of the API server for the value of a label. Names of Nodes can be longer. */
const maxLabelLength = 63;

/** The desired labels; null removes a label. */
export type DesiredLabels = Readonly<Record<typeof boundLabel | typeof nodeLabel, string | null>>;

/** @param hasNode Whether the Node that the EcsBinding names exists */
export function desiredLabels(binding: EcsBinding, hasNode: boolean): DesiredLabels {
  const nodename = nodeNameOf(binding);
  const isNamed = hasNode && nodename !== "" && !isTooLong(nodename);
  return { [boundLabel]: "true", [nodeLabel]: isNamed ? nodename : null };
}

/** The name of the Node; "" when there is none. */
export function nodeNameOf({ spec: { nodename = "" } = {} }: EcsBinding): string {
  return nodename;
}

/** True when the name of a Node is too long for a label. */
export function isTooLong(nodename: string): boolean {
  return nodename.length > maxLabelLength;
}
