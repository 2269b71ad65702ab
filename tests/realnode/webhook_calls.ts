/**
 * Calls of NodePool's webhooks at a steady rate, through the API server: each creates a NodePool as a dry run, which the
 * API server sends to the mutating and to the validating webhook. Open loop: a call is sent at its time even if earlier
 * ones have no answer yet.
 */
import { Agent, request } from "node:https";
import type { ControlPlane } from "../controlplane/control_plane.ts";

const path = "/apis/nodes.lailin.xyz/v1/nodepools?dryRun=All";
const stepMs = 5;
/** As many as the API server has for webhooks at a time; further calls wait. A webhook server has at most 100 connections. */
const maxSockets = 32;
/** What an answer may need while a Pod starts beside it; the API server gives a webhook ten seconds itself. */
const timeoutMs = 30_000;

/** What became of the calls. */
export interface CallsResult {
  readonly sent: number;
  readonly perSecond: number;
  /** The most calls that waited for their answers at the same time. */
  readonly maxInFlight: number;
  /** Calls that failed, and answers without the webhook's defaults. */
  readonly failures: readonly string[];
}

/** Sends from its construction until `stopped`. */
export class WebhookCalls {
  readonly #controlPlane: ControlPlane;
  readonly #rate: number;
  readonly #agent: Agent;
  readonly #running = new Set<Promise<void>>();
  readonly #failures: string[] = [];
  readonly #startedAt = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  #sent = 0;
  #maxInFlight = 0;

  /** @param rate Calls a second. */
  constructor(controlPlane: ControlPlane, rate: number) {
    this.#controlPlane = controlPlane;
    this.#rate = rate;
    this.#agent = new Agent({ keepAlive: true, maxSockets, ca: controlPlane.ca });
    this.#timer = setInterval(() => this.#sendDue(), stepMs);
  }

  /** How many calls were sent so far. */
  get sent(): number {
    return this.#sent;
  }

  /** Ends the load and waits for the last answers. */
  async stopped(): Promise<CallsResult> {
    clearInterval(this.#timer);
    const seconds = (performance.now() - this.#startedAt) / 1000;
    await Promise.all(this.#running);
    this.#agent.destroy();
    return {
      sent: this.#sent,
      perSecond: this.#sent / seconds,
      maxInFlight: this.#maxInFlight,
      failures: this.#failures,
    };
  }

  #sendDue(): void {
    const due = Math.floor((performance.now() - this.#startedAt) * this.#rate / 1000);
    while (this.#sent < due) {
      const name = `call-${this.#sent++}`;
      const running: Promise<void> = this.#call(name).catch((error: unknown) => {
        this.#failures.push(`${name} at ${((performance.now() - this.#startedAt) / 1000).toFixed(1)} s: ${error}`);
      }).finally(() => this.#running.delete(running));
      this.#running.add(running);
      this.#maxInFlight = Math.max(this.#maxInFlight, this.#running.size);
    }
  }

  #call(name: string): Promise<void> {
    const body = JSON.stringify({ apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name }, spec: {} });
    const { server, token } = this.#controlPlane;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return new Promise((resolve, reject) => {
      const options = { method: "POST", headers, agent: this.#agent, timeout: timeoutMs };
      const asked = request(`${server}${path}`, options, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => text += part).on("error", reject);
        answer.on("end", () => {
          // The label is the mutating webhook's; the schema has no such default.
          const isRight = answer.statusCode === 201 && text.includes(`"node-pool.lailin.xyz/${name}"`);
          if (isRight) resolve();
          else reject(new Error(`${answer.statusCode} ${text}`));
        });
      });
      asked.on("timeout", () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      asked.on("error", reject);
      asked.end(body);
    });
  }
}
