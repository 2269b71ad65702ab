/**
 * ecsbinding: labels each EcsBinding as bound, and with the name of its Node while that is there. Re-creates the custom
 * controller of the EcsBinding tutorials, in the raw form: it is called with a key, and for what has gone, too.
 *
 * Guarantees: only the two labels are ever written, and only when they differ; they follow the EcsBinding and the coming
 * and going of Nodes.
 */
import {
  changed,
  controller,
  done,
  isNotFound,
  keyOf,
  metadataOnly,
  Node,
  type Request,
  resourceName,
  type Result,
  type Toolbox,
} from "../../mod.ts";
import { desiredLabels, isTooLong, nodeLabel } from "./desired.ts";
import { EcsBinding } from "./resource.ts";

/** Names are all that matters of Nodes. */
const NodeName = metadataOnly(Node);

export const ecsbindingController = controller("ecsbinding", { eventComponent: "ecsbinding-controller" })
  .for(EcsBinding, { when: changed.content, indices: { nodename: nodesOf }, writesStatus: false })
  .watches(NodeName, {
    to: ({ metadata: { name: value = "" } }, caches) =>
      caches.list(EcsBinding, { index: { name: "nodename", value } }).map(keyOf),
    when: ({ kind }) => kind !== "updated", // it is still there
  })
  .uses(EcsBinding, ["patch"])
  .reconcileKey(label);

function nodesOf({ spec: { nodename = "" } }: EcsBinding): readonly string[] {
  return nodename === "" ? [] : [nodename];
}

async function label({ key }: Request, toolbox: Toolbox): Promise<Result> {
  logChanges(toolbox);
  const binding = toolbox.find(EcsBinding, key);
  if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return done;
  const { nodename = "" } = binding.spec;
  const hasNode = nodename !== "" && toolbox.find(NodeName, nodename) !== undefined;
  const labels = desiredLabels(binding, hasNode);
  try {
    // With the UID it is this very object, and not one of its name that came after it.
    const metadata = { uid: binding.metadata.uid, labels };
    const live = await toolbox.change(EcsBinding, binding, { kind: "merge", value: { metadata } });
    tell(toolbox, { binding, isNew: live !== binding, node: labels[nodeLabel] });
    if (hasNode && isTooLong(nodename)) tellTooLong(toolbox, binding);
  } catch (error) {
    if (!isNotFound(error)) throw error; // it has gone meanwhile
  }
  return done;
}

/** What happened to the object itself, as far as it led to this attempt. */
function logChanges({ causes, log }: Toolbox): void {
  const own = causes.filter(({ source }) => source === resourceName(EcsBinding));
  for (const change of new Set(own.map((cause) => cause.change))) log.info(`EcsBinding ${change}`);
}

interface Labelling {
  readonly binding: EcsBinding;
  readonly isNew: boolean;
  readonly node: string | null;
}

function tell(toolbox: Toolbox, { binding, isNew, node }: Labelling): void {
  if (!isNew) return;
  const note = node === null ? "Bound to no Node" : `Bound to Node "${node}"`;
  toolbox.event({ regarding: binding, type: "Normal", reason: "Labelled", note });
}

function tellTooLong(toolbox: Toolbox, binding: EcsBinding): void {
  const note = "The name of the Node is too long for a label: 63 characters are the most";
  toolbox.event({ regarding: binding, type: "Warning", reason: "NodeNameTooLong", note });
}
