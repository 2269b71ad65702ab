/**
 * PlanAnswers: what the controllers of a process would write now, over HTTP. Who computes it is a parameter, because the Manager
 * knows no simulated cluster.
 *
 * Guarantees: one plan at a time, until its computation has ended; it ends with the client that asked, and after two
 * minutes; the number of keys is bounded.
 */
import { type Clock, scope } from "../../async/mod.ts";
import { errorText } from "../../observe/mod.ts";
import { jsonResponse, refuse } from "./debug_guard.ts";

/** What would happen to one object. */
export interface PlanRow {
  readonly action: "delete" | "replace" | "update" | "create";
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Who causes it: `foo: Foo default/web`. */
  readonly by: readonly string[];
  /** Finalizers that a deleted object waits for. */
  readonly waitsFor?: readonly string[];
  /** The lines of a unified diff of YAML, values of Secrets masked. Absent when the answer would be too large. */
  readonly diff?: readonly string[];
}

/** A key that has no complete plan, or a warning about it. */
export interface PlanProblem {
  readonly controller: string;
  readonly key: string;
  readonly problem: string;
}

/** The answer of `/debug/plan`. */
export interface PlanAnswer {
  /** When the cluster was read, as `2026-01-06T10:00:00.000Z`. */
  readonly time: string;
  readonly controllers: readonly string[];
  /** Deletions first. */
  readonly changes: readonly PlanRow[];
  /** Keys whose reconcile would fail, so that they have no plan. */
  readonly failing: readonly PlanProblem[];
  /** Keys that would go on for ever. */
  readonly endless: readonly PlanProblem[];
  /** Events of type Warning. */
  readonly warnings: readonly PlanProblem[];
  /** The reconciled keys. */
  readonly keys: number;
  /** Keys that were not reconciled, because there are more than the limit. */
  readonly leftOut: readonly { readonly controller: string; readonly keys: number }[];
  /** What the plan does not know, in sentences. */
  readonly notes: readonly string[];
}

/** Computes a plan. Rejects with a sentence for the user. It has ended when its promise is settled. */
export type PlanSource = (
  options: { readonly maxKeys: number; readonly signal: AbortSignal },
) => Promise<PlanAnswer>;

/** Keys of one plan, unless the request names another number. */
export const defaultPlanKeys = 500;
const maxPlanKeys = 5_000;
const timeoutMs = 120_000;

/** Answers with plans. */
export class PlanAnswers {
  readonly #clock: Clock;
  readonly #plan: PlanSource | undefined;
  #isBusy = false;

  constructor({ clock, plan }: { readonly clock: Clock; readonly plan?: PlanSource }) {
    this.#clock = clock;
    this.#plan = plan;
  }

  /** `/debug/plan?limit=500` */
  async respond(request: Request): Promise<Response> {
    if (this.#plan === undefined) return refuse(501, "This process cannot compute a plan");
    const maxKeys = Number(new URL(request.url).searchParams.get("limit") ?? defaultPlanKeys);
    if (!(Number.isSafeInteger(maxKeys) && maxKeys >= 1 && maxKeys <= maxPlanKeys)) {
      return refuse(400, `limit is not a number from 1 to ${maxPlanKeys}`);
    }
    if (this.#isBusy) return refuse(409, "Another plan is being computed. Ask again when it has ended");
    this.#isBusy = true;
    using limited = scope(request.signal, { timeoutMs, clock: this.#clock });
    try {
      const answer = await this.#plan({ maxKeys, signal: limited.signal });
      return jsonResponse(200, { now: this.#clock.now(), ...answer });
    } catch (error) {
      if (!limited.signal.aborted) return refuse(503, errorText(error));
      return refuse(503, `Cannot plan: it took more than ${timeoutMs / 1_000} s. Plan fewer keys with limit`);
    } finally {
      this.#isBusy = false;
    }
  }
}
