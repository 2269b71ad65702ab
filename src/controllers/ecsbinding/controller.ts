/**
 * ecsbinding: labels each EcsBinding as bound, and with the name of its Node while that Node exists. It re-creates the custom
 * controller of the EcsBinding tutorials in the raw form: the reconciler gets a key, also for objects that are deleted.
 *
 * Guarantees: it writes only the two labels, and only when they differ; the labels follow the EcsBinding and its Node.
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
  type Result,
  type Toolbox,
} from "../../mod.ts";
import { resourceName } from "../../client.ts";
import { desiredLabels, isTooLong, nodeLabel, nodeNameOf } from "./desired.ts";
import { EcsBinding } from "./resource.ts";

/** Only the names of Nodes matter, so the cache holds only their metadata. */
const NodeName = metadataOnly(Node);

export const ecsbindingController = controller("ecsbinding", {
  eventComponent: "ecsbinding-controller",
  ownWrites: "deliver", // each update is logged, also one of the labels
})
  .for(EcsBinding, { when: changed.content, indices: { nodename: nodeNames }, writesStatus: false })
  .watches(NodeName, {
    to: ({ metadata: { name: value = "" } }, caches) =>
      caches.list(EcsBinding, { index: { name: "nodename", value } }).map(keyOf),
    when: ({ kind }) => kind !== "updated", // an updated Node still exists
  })
  .uses(EcsBinding, ["patch"])
  .reconcileKey(reconcile);

function nodeNames(binding: EcsBinding): readonly string[] {
  const nodename = nodeNameOf(binding);
  return nodename === "" ? [] : [nodename];
}

async function reconcile({ key }: Request, toolbox: Toolbox): Promise<Result> {
  logChanges(toolbox);
  const binding = toolbox.find(EcsBinding, key);
  if (binding === undefined || binding.metadata.deletionTimestamp !== undefined) return done;
  const nodename = nodeNameOf(binding);
  const hasNode = nodename !== "" && toolbox.find(NodeName, nodename) !== undefined;
  const labels = desiredLabels(binding, hasNode);
  try {
    // With the UID the patch fails for a later object of the same name.
    const metadata = { uid: binding.metadata.uid, labels };
    const live = await toolbox.change(EcsBinding, binding, { kind: "merge", value: { metadata } });
    if (live !== binding) recordLabelled(toolbox, binding, labels[nodeLabel]);
    if (hasNode && isTooLong(nodename)) recordTooLong(toolbox, binding);
  } catch (error) {
    if (!isNotFound(error)) throw error; // deleted in the meantime
  }
  return done;
}

/** Logs the changes of the EcsBinding that led to this reconcile. */
function logChanges({ causes, log }: Toolbox): void {
  const own = causes.filter(({ source }) => source === resourceName(EcsBinding));
  for (const change of new Set(own.map((cause) => cause.change))) log.info(`EcsBinding ${change}`);
}

function recordLabelled(toolbox: Toolbox, binding: EcsBinding, node: string | null): void {
  const note = node === null ? "Bound to no Node" : `Bound to Node "${node}"`;
  toolbox.event({ regarding: binding, type: "Normal", reason: "Labelled", note });
}

function recordTooLong(toolbox: Toolbox, binding: EcsBinding): void {
  const note = "The name of the Node is too long for a label: the limit is 63 characters";
  toolbox.event({ regarding: binding, type: "Warning", reason: "NodeNameTooLong", note });
}
