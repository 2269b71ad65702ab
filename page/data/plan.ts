/**
 * The plan of the page: what the controllers of a process would write now. It is computed when a user asks for it, and stays
 * until the next one, also while other views are shown.
 */
import type { PlanAnswer } from "../../src/manager/debug/plan_answers.ts";
import { type Api, Problem } from "./api.ts";

/** How far the plan is. */
export type PlanState =
  | { readonly kind: "none" }
  | { readonly kind: "computing" }
  | { readonly kind: "failed"; readonly problem: string; readonly isBusy: boolean }
  | { readonly kind: "complete"; readonly answer: PlanAnswer };

/** The plan of one process. */
export class Plans {
  #state: PlanState = { kind: "none" };
  readonly #listeners = new Set<() => void>();

  get state(): PlanState {
    return this.#state;
  }

  /** Calls `react` with each change. @returns what ends that */
  subscribe(react: () => void): () => void {
    this.#listeners.add(react);
    return () => this.#listeners.delete(react);
  }

  /** Asks for a new plan, unless one is being computed. */
  async compute(api: Api): Promise<void> {
    if (this.#state.kind === "computing") return;
    this.#set({ kind: "computing" });
    try {
      this.#set({ kind: "complete", answer: await api.get<PlanAnswer>("debug/plan") });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.#set({ kind: "failed", problem: error.message, isBusy: error.kind === "busy" });
    }
  }

  #set(state: PlanState): void {
    this.#state = state;
    for (const react of this.#listeners) react();
  }
}

/** `1 to delete, 2 to update`. */
export function summaryText({ changes }: PlanAnswer): string {
  const actions = ["delete", "replace", "update", "create"] as const;
  const counted = actions.map((action) => [changes.filter((one) => one.action === action).length, action] as const);
  return counted.filter(([count]) => count > 0).map(([count, action]) => `${count} to ${action}`).join(", ");
}
