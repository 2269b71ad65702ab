/** Traffic: how much goes on between clients and the server in memory, and the moment when nothing does. */
import { drain } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";

/** Drains without a request after which nobody is about to send one: code may be loaded between two of them. */
const quietDrains = 3;

/** The same, while a request has no answer: it then waits for time to pass. */
const patience = 25;

/** A transport that is watched. */
export class Traffic {
  readonly #to: Transport;
  #sent = 0;
  #pending = 0;

  constructor(to: Transport) {
    this.#to = to;
  }

  /** Requests so far. */
  get sent(): number {
    return this.#sent;
  }

  readonly fetch: Transport = async (request) => {
    this.#sent++;
    this.#pending++;
    try {
      return await this.#to(request);
    } finally {
      this.#pending--;
    }
  };

  /** Resolves when every request is answered and no answer has led to another one, or all wait for the clock. */
  async rest(): Promise<void> {
    for (let [seen, still] = [this.#sent, 0]; still < (this.#pending > 0 ? patience : quietDrains); still++) {
      await drain();
      if (seen === this.#sent) continue;
      [seen, still] = [this.#sent, -1];
    }
  }
}
