/** A steady load: changes of Foos and NodePools at a rate, whether or not earlier ones have been answered. */
import type { Client } from "../../src/client/mod.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { NodePool } from "../../src/controllers/nodepool/mod.ts";

/** What is changed. */
export interface LoadOptions {
  readonly client: Client;
  /** In each of the two namespaces. */
  readonly foos: number;
  readonly pools: number;
  /** Changes a second; one in ten is of a NodePool, for which the server calls the webhooks. */
  readonly rate: number;
}

/** How the changes went. */
export interface LoadCounts {
  sent: number;
  failed: number;
}

const stepMs = 20;
/** Changes that may be without an answer, as while the server is stopped. Further ones count as failed. */
const mostPending = 1_000;

/** The name of a NodePool. */
export function poolName(number: number): string {
  return `pool-${number}`;
}

/** The namespace of the operator that is never killed. */
export const steadyNamespace = "steady";

/** The key of a Foo. Those of the namespace `default` are created by the Go program of the bench. */
export function fooKey(namespace: string, number: number): string {
  return `${namespace}/foo-${String(number).padStart(6, "0")}`;
}

/** Sends from its construction until it is disposed, which waits for the last answers. */
export class Load implements AsyncDisposable {
  readonly counts: LoadCounts = { sent: 0, failed: 0 };
  readonly #options: LoadOptions;
  readonly #pending = new Set<Promise<void>>();
  readonly #startedAt = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  #due = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sendDue(), stepMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
  }

  #sendDue(): void {
    const due = Math.floor(((performance.now() - this.#startedAt) / 1_000) * this.#options.rate);
    for (; this.#due < due; this.#due++) {
      if (this.#pending.size >= mostPending) {
        this.counts.failed += 1;
        continue;
      }
      const change = this.#change(this.#due).then(
        () => void (this.counts.sent += 1),
        () => void (this.counts.failed += 1),
      )
        .finally(() => this.#pending.delete(change));
      this.#pending.add(change);
    }
  }

  async #change(number: number): Promise<unknown> {
    const { client, foos, pools } = this.#options;
    if (number % 10 === 0) {
      const value = { spec: { labels: { "example.com/round": String(number) } } };
      return await client.patch(NodePool, poolName((number / 10) % pools), { kind: "merge", value });
    }
    const [namespace, index] = [number % 2 === 0 ? "default" : steadyNamespace, Math.floor(number / 2)];
    const value = { spec: { replicas: 1 + (Math.floor(index / foos) + index) % 5 } };
    return await client.patch(Foo, fooKey(namespace, index % foos), { kind: "merge", value });
  }
}
