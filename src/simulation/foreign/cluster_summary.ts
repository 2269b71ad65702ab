/**
 * What is compared between runs of a program: a summary as of in-memory runs, without what the cluster's own controllers make of
 * the objects of the program, because that depends on time.
 */
import { controllerOf, type KubeObject } from "../../api/mod.ts";
import { type LearnedNames, learnNames, type SummaryChange } from "../engine.ts";
import { type Outcome, type Summary, type SummaryObject, summaryOf } from "../summary.ts";
import type { Leftover } from "./leftovers.ts";
import type { ForeignRunResult } from "./run_options.ts";

/**
 * Collections that are not compared: they follow from others with any number of intermediate states, or are about the program
 * itself.
 */
export const uncomparedCollections: ReadonlySet<string> = new Set([
  ...["events", "events.events.k8s.io", "leases.coordination.k8s.io", "nodes", "namespaces", "serviceaccounts"],
  ...["endpoints", "endpointslices.discovery.k8s.io", "controllerrevisions.apps", "replicasets.apps"],
  ...["ipaddresses.networking.k8s.io", "servicecidrs.networking.k8s.io"],
  "customresourcedefinitions.apiextensions.k8s.io",
  "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  "validatingwebhookconfigurations.admissionregistration.k8s.io",
]);

/** Controllers of the cluster that make Pods. */
const podMakers: ReadonlySet<string> = new Set(["ReplicaSet", "StatefulSet", "DaemonSet", "Job"]);

/** A Pod that the cluster made follows from what the program wrote; only whether it is there, and as wanted, is compared. */
function isMadeByCluster({ collection, object }: SummaryObject): boolean {
  return collection === "pods" && podMakers.has(controllerOf(object)?.kind ?? "");
}

function comparedPart(view: SummaryObject): SummaryObject {
  if (!isMadeByCluster(view)) return view;
  const { status, spec, ...rest }: PodParts = view.object;
  const { containers, initContainers, volumes } = spec ?? {};
  const object = { ...rest, ...{ spec: { containers, initContainers, volumes }, status: { phase: status?.phase } } };
  return { ...view, object };
}

type PodParts = KubeObject & {
  readonly spec?: { readonly containers?: unknown; readonly initContainers?: unknown; readonly volumes?: unknown };
  readonly status?: { readonly phase?: unknown };
};

/** The summary of an outcome. @param learned the names that runs do not share */
export function clusterSummary(outcome: Outcome, learned?: LearnedNames): Summary {
  const changes = outcome.changes.filter((change) => !isMadeByCluster(viewOf(change)));
  return summaryOf({ ...outcome, objects: outcome.objects.map(comparedPart), changes }, learned);
}

function viewOf({ collection, change }: SummaryChange): SummaryObject {
  return { collection, object: change.current.object as KubeObject };
}

/** What runs without faults teach about names. @param outcomes the end of each run */
export function learnedNames(outcomes: readonly Outcome[]): LearnedNames {
  return learnNames(outcomes.map(({ objects, changes }) => [...changes.map(viewOf), ...objects]));
}

/** What has stayed of deleted objects, by the names that runs share: `secrets default/a`. */
export function leftoverNames(
  { leftovers, steps }: Pick<ForeignRunResult, "leftovers" | "steps">,
  learned?: LearnedNames,
): ReadonlyMap<string, Leftover> {
  const state = steps.at(-1)?.state;
  if (leftovers.length === 0 || state === undefined) return new Map();
  const { objects } = summaryOf({ ...state, objects: leftovers.map(({ view }) => view) }, learned);
  const byUid = new Map(leftovers.map((one) => [one.view.object.metadata.uid, one]));
  return new Map([...objects].flatMap(([name, { metadata: { uid } }]) => {
    const leftover = byUid.get(uid);
    return leftover === undefined ? [] : [[name, leftover]];
  }));
}
