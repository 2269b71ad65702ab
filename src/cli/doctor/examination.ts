/** Examination: what all checks of `doctor` share. */
import { isForbidden } from "../../client/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { CrdWork } from "../crds/crd_work.ts";
import { type Finding, unknown } from "./check.ts";

/** On what, for whom and where. */
export interface Examination extends CrdWork {
  readonly controllers: readonly OperatorController[];
  /** The namespaces that the controllers would work on; empty: all. */
  readonly namespaces: readonly string[];
  /** Where the Lease and the certificates are. */
  readonly ownNamespace: string;
  /** The Lease that replicas would share. */
  readonly lease: { readonly name: string; readonly isWanted: boolean };
}

/** What looking gives; a 403 is no finding about the thing itself. */
export async function looking(look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (isForbidden(error)) return unknown(`it may not be looked at: ${error.status.message ?? "forbidden"}`);
    throw error;
  }
}

/** `3 s`, `5 min`, `2 h`, `40 d`: how long, to a reader. */
export function roughly(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
