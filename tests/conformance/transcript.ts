/**
 * Transcript: one run of one case on one server, and how two of them differ.
 */
import { differenceOf as differenceBetween, type Transcript } from "../../src/cli/conformance/mod.ts";
import type { ConformanceCase } from "./conformance_case.ts";
import { expectationOf } from "./conformance_case.ts";
import { CaseRun, fullPace, type RunKubectl, type Send } from "./case_run.ts";

export type { Transcript } from "../../src/cli/conformance/mod.ts";

/** One of the servers, ready for cases. */
export interface Host {
  /** Sends with all permissions. */
  readonly send: Send;
  /** Absent if the case does not need it. */
  readonly kubectl?: RunKubectl;
  /** Creates the ServiceAccount `default` of a namespace if no controller does. @default waits for it */
  makeAccount?(namespace: string): Promise<void>;
}

/**
 * Runs a case in a new namespace, if it needs one. It stays: the servers end with the tests, and a real one would need three
 * times as many requests to empty all namespaces as all cases send.
 */
export async function transcriptOf(host: Host, subject: ConformanceCase, pace = fullPace): Promise<Transcript> {
  const unique = crypto.randomUUID().slice(0, 8);
  if (subject.needsNamespace === false) {
    const run = new CaseRun({ send: host.send, unique, pace, namespace: "default" });
    await subject.execute(run);
    return run.steps;
  }
  const run = new CaseRun({ send: host.send, unique, pace, kubectl: host.kubectl });
  const { namespace } = run;
  await run.createNamespace();
  if (subject.needsAccount === true) {
    await host.makeAccount?.(namespace);
    await run.until(`/api/v1/namespaces/${namespace}/serviceaccounts/default`, (_, code) => code === 200);
  }
  await subject.execute(run);
  return run.steps;
}

/** The differences of the other responses from those of the real server, as a patch; "" if they agree. */
export function differenceOf(real: Transcript, other: Transcript, otherName = "embedded"): string {
  return differenceBetween(real, other, ["kube-apiserver", otherName]).join("\n");
}

/** @throws Error when a case does not have its expected result */
export function judge(subject: ConformanceCase, difference: string): void {
  if (expectationOf(subject) === "agrees") {
    if (difference !== "") throw new Error(`Cannot agree with kube-apiserver:\n${difference}`);
  } else if (difference === "") {
    const reason = subject.deliberate ?? subject.known;
    throw new Error(`Cannot see a difference any longer: take the mark off the case ("${reason}")`);
  }
}
