/** Results of runs of a program, for tests of what is learned from them. */
import type { KubeObject } from "../../../api/mod.ts";
import { clusterSummary } from "../cluster_summary.ts";
import type { ForeignRunResult, StepEnd } from "../run_options.ts";

/** A ConfigMap of the namespace `default`, whose UID is its name. */
export function configMap(name: string, data: Readonly<Record<string, string>>): KubeObject {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name, uid: name }, data };
  return object;
}

/** The end of a step at which these objects exist, each of them created once. */
export function stepEnd(objects: readonly KubeObject[], step = 1): StepEnd {
  const state = {
    objects: objects.map((object) => ({ collection: "configmaps", object })),
    changes: objects.map((object, index) => {
      const { namespace = "", name = "" } = object.metadata;
      const change = { kind: "added", revision: index + 1, current: { key: `${namespace}/${name}`, object } } as const;
      return { collection: "configmaps", change };
    }),
    deletedNamespaces: new Set<string>(),
    outcomes: [],
  };
  const summary = clusterSummary(state);
  return { step, state, outcomes: [], summary, isSettled: true, maxGapMs: 10, tookMs: 100, revision: objects.length };
}

/** A run with one step after the start of the program. */
export function runOf(objects: readonly KubeObject[], more: Partial<ForeignRunResult> = {}): ForeignRunResult {
  return {
    ...{
      firstStep: 1,
      steps: [stepEnd([], 0), stepEnd(objects)],
      points: [],
      hasStarted: true,
      watches: 1,
      collections: ["configmaps"],
    },
    ...{ violations: [], performed: [], exits: [], leftovers: [], applied: 1, requests: 0, entries: [], output: [] },
    ...{ errors: [], ms: 1, ...more },
  };
}
