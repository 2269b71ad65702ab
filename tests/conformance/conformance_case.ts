/** ConformanceCase: requests for both servers. The files of cases/ list them; conformance_test.ts compares. */
import type { Call, CaseRun } from "./case_run.ts";

export interface ConformanceCase {
  /** Names the compared behaviour. Unique in its group; the key of the recording. */
  readonly name: string;
  /**
   * Why the embedded server differs on purpose. Such a case runs as well, and must differ: a reason that
   * is not true any more must be removed.
   */
  readonly deliberate?: string;
  /** A known difference that should be fixed (known_differences.ts). The case must differ until then. */
  readonly known?: string;
  /** Needs the controllers of a cluster: kube-controller-manager there, src/cluster here. @default false */
  readonly needsControllers?: boolean;
  /** Has a namespace of its own. Without one, a case uses `default` and changes nothing there. @default true */
  readonly needsNamespace?: boolean;
  /** Creates Pods, which need the ServiceAccount `default` of their namespace. @default false */
  readonly needsAccount?: boolean;
  /** Runs kubectl, so it has no recording: kubectl is part of the real control plane. @default false */
  readonly needsKubectl?: boolean;
  execute(run: CaseRun): Promise<void>;
}

/** Options of a case. */
export type CaseTraits = Omit<ConformanceCase, "name" | "execute">;

/** A wait between two requests, for a state that no request of the case shows. */
export type Wait = (run: CaseRun) => Promise<void>;

/** A case that sends fixed requests one after the other. */
export function requests(
  name: string,
  calls: (run: CaseRun) => readonly (Call | Wait)[],
  traits: CaseTraits = {},
): ConformanceCase {
  const execute = async (run: CaseRun) => {
    for (const call of calls(run)) await (typeof call === "function" ? call(run) : run.call(call));
  };
  return { name, ...traits, execute };
}

/** A case that reads responses before it sends the next request. */
export function scenario(name: string, act: (run: CaseRun) => Promise<void>, traits: CaseTraits = {}): ConformanceCase {
  return { name, ...traits, execute: act };
}

/** The expected result of a case. */
export function expectationOf({ deliberate, known }: ConformanceCase): "agrees" | "differs" {
  return deliberate === undefined && known === undefined ? "agrees" : "differs";
}
