/**
 * FilledIn: what the server makes of what is wanted. It writes quantities in its own way (`1000m` is `1`), a webhook may
 * insist on a value, and what is owned as a whole gets defaults inside (a `fieldRef` its apiVersion), which looks the
 * same as something that was wanted once and is not any more. An apply tells; its answer is remembered here, so that it
 * is asked for once and not by every reconcile.
 *
 * Shared by all keys of a controller: a thousand children that are alike cost one apply after a restart.
 */
import { type Resource, resourceId } from "../api/mod.ts";
import type { Deviation } from "./_same.ts";

/** Answers remembered at most; the oldest goes first. */
const mostAnswers = 1_000;

export class FilledIn {
  readonly #answers = new Set<string>();

  /** True when the server is known to make this of what is wanted. */
  explains(resource: Resource, deviation: Deviation): boolean {
    return this.#answers.size > 0 && this.#answers.has(textOf(resource, deviation));
  }

  /** Remembers what an apply of all that is wanted has left as it is. */
  learn(resource: Resource, left: readonly Deviation[]): void {
    for (const deviation of left) this.#answers.add(textOf(resource, deviation));
    while (this.#answers.size > mostAnswers) {
      const [oldest = ""] = this.#answers;
      this.#answers.delete(oldest);
    }
  }
}

function textOf(resource: Resource, { field, live, wanted }: Deviation): string {
  return JSON.stringify([resourceId(resource), field, live, wanted]);
}
