/** Check: the result of one check of `doctor`, the context that all checks share, and how results are printed. */
import type { ExitCode, Session } from "../command/mod.ts";
import { isForbidden } from "../../client/mod.ts";
import type { AccessPlace, OperatorController } from "../../manager/mod.ts";
import type { ClusterSource } from "../clusters/mod.ts";
import type { CrdContext } from "../crds/mod.ts";
import { type Cell, printable, redactText } from "../../observe/mod.ts";
import { formatValue, type ObjectFormat, table } from "../output/mod.ts";

/** The groups of checks, in their order. */
type CheckKind = "fleet" | "cluster" | "definition" | "permission" | "lease" | "webhook" | "finalizer" | "stalled";

/** The result of a check. */
type Verdict =
  | { readonly kind: "ok" }
  /** The controllers can run nevertheless. */
  | { readonly kind: "warning" }
  /** The controllers cannot run. `code` is the exit code that `run` would end with. */
  | { readonly kind: "failed"; readonly code: ExitCode }
  /** This user cannot find it out. */
  | { readonly kind: "unknown" };

/** A line of `doctor`. */
export interface Check {
  readonly about: CheckKind;
  /** The cluster of a fleet. Absent for the hub, and without a fleet. */
  readonly cluster?: string;
  /** The checked object: `foos.example.dev`, a controller, a Lease. */
  readonly subject: string;
  readonly verdict: Verdict;
  /** The state or the problem, without a full stop. */
  readonly state: string;
  /** What to do. */
  readonly advice?: string;
}

/** The part of a Check that the check finds out. */
export type Finding = Pick<Check, "verdict" | "state" | "advice">;

/** Everything is in order. */
export function ok(state: string): Finding {
  return { verdict: { kind: "ok" }, state };
}

/** A problem that does not keep the controllers from running. */
export function warning(state: string, advice?: string): Finding {
  return { verdict: { kind: "warning" }, state, advice };
}

/** A problem that keeps the controllers from running. */
export function failed(code: ExitCode, state: string, advice?: string): Finding {
  return { verdict: { kind: "failed", code }, state, advice };
}

/** A result that this user cannot find out. */
export function unknown(state: string, advice?: string): Finding {
  return { verdict: { kind: "unknown" }, state, advice };
}

/** The cluster, the controllers and the namespaces to check. */
export interface DoctorContext extends CrdContext {
  readonly controllers: readonly OperatorController[];
  /** The namespaces that the controllers would watch; empty: all. */
  readonly namespaces: readonly string[];
  /** True when the controllers would select their namespaces by labels. */
  readonly selectsNamespaces: boolean;
  /** The name of the webhook configurations; "" when there are no webhooks. */
  readonly webhookConfiguration: string;
  /** The namespace of the Lease and of the certificates. */
  readonly ownNamespace: string;
  /** The Lease of the replicas, whether --leader-elect is given, and whether --shards is. */
  readonly lease: { readonly name: string; readonly isUsed: boolean; readonly isSharded: boolean };
  /** Where the clusters of the fleet are listed; undefined: there is one cluster. */
  readonly clusters: ClusterSource | undefined;
  /** What of the fleet is checked. */
  readonly place: AccessPlace;
}

/** Runs a check. A 403 only says that this user may not read the object: the result is unknown. */
export async function unknownIfForbidden(check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    if (isForbidden(error)) return unknown(`it may not be read: ${error.status.message ?? "forbidden"}`);
    throw error;
  }
}

/** Prints the checks: one line each, or one value in `format`. */
export function printChecks(checks: readonly Check[], format: ObjectFormat | undefined, session: Session): void {
  if (format === undefined) return session.print(...table(checks.map(rowOf)));
  const values = checks.map(({ about, cluster, subject, verdict, state, advice }) => ({
    check: about,
    ...(cluster === undefined ? {} : { cluster }),
    subject,
    status: verdict.kind,
    state: redactText(state),
    ...(advice === undefined ? {} : { advice }),
  }));
  const canRun = checks.every(({ verdict }) => verdict.kind !== "failed");
  session.printDocument(formatValue({ canRun, checks: values }, format));
}

const verdicts = {
  ok: { text: "ok", tone: "success" },
  warning: { text: "warning", tone: "warning" },
  failed: { text: "FAILED", tone: "error" },
  unknown: { text: "unknown", tone: "muted" },
} as const satisfies Record<Verdict["kind"], Cell>;

function rowOf({ about, cluster, subject, verdict, state, advice }: Check): readonly Cell[] {
  const object = cluster === undefined ? subject : `${printable(cluster)}: ${subject}`;
  return [verdicts[verdict.kind], about, object, redactText(advice === undefined ? state : `${state}. ${advice}`)];
}
