/** AuthorizerChain: several authorizers, of which one must allow a request. Source: apiserver `authorization/union` of 1.36. */
import type { Attributes, Authorizer, Decision } from "../model/mod.ts";

export class AuthorizerChain implements Authorizer {
  readonly #authorizers: readonly Authorizer[];

  /** @param authorizers in the order in which they are asked */
  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers;
  }

  authorize(attributes: Attributes): Decision {
    const reasons: string[] = [];
    for (const authorizer of this.#authorizers) {
      const decision = authorizer.authorize(attributes);
      if (decision.isAllowed) return decision;
      if (decision.reason !== "") reasons.push(decision.reason);
    }
    return { isAllowed: false, reason: reasons.join("\n") };
  }
}
