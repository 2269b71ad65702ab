/**
 * CurrentRules: rules that can be replaced while the controller runs, because the configuration file has changed.
 *
 * Guarantees: after a replacement every Service is reconciled, so that Ingresses of hosts that are no longer allowed go.
 */
import type { EventSource } from "../../mod.ts";
import type { Rules } from "./rules.ts";

export class CurrentRules implements Rules {
  #rules: Rules;
  readonly #listeners = new Set<() => void>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  get hosts(): Rules["hosts"] {
    return this.#rules.hosts;
  }

  get classes(): Rules["classes"] {
    return this.#rules.classes;
  }

  replace(rules: Rules): void {
    this.#rules = rules;
    for (const reconcileAll of this.#listeners) reconcileAll();
  }

  /** Reconciles all Services after a replacement. */
  get source(): EventSource {
    return {
      name: "rules",
      run: (enqueue, signal, { keys }) =>
        new Promise((resolve) => {
          const reconcileAll = () => keys().forEach(enqueue);
          this.#listeners.add(reconcileAll);
          signal.addEventListener("abort", () => {
            this.#listeners.delete(reconcileAll);
            resolve();
          }, { once: true });
        }),
    };
  }
}
