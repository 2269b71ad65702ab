/**
 * CrashProcess: the compiled binary behind a proxy that sees its writes. At a chosen write it kills the process (SIGKILL):
 * before the write reaches the server, after the commit and before the response arrives, or after the response and before
 * the next request. Then it starts the process again on the same proxy, as a kubelet would.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { KeyState } from "../../src/manager/mod.ts";
import type { CrashMoment } from "../../src/simulation/mod.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { Binary } from "./_binary.ts";
import { DebugEndpoint } from "./_debug_endpoint.ts";
import { ApiProxy, type RequestMatch, type SeenRequest } from "./_proxy.ts";

/** The write and the moment at which the process is killed. */
export interface CrashPoint {
  /** The number of the write, from 1, without Events, Leases and access reviews. */
  readonly write: number;
  readonly moment: CrashMoment;
}

/** A key of a queue. */
export type CrashKey = Pick<KeyState, "key" | "state" | "retries">;

/** If no request follows the response for this long, the process is killed without one. */
const mostIdleMs = 500;
const downMs = 100;

/** Writes that count for crash points: the same as in the simulation. */
export const isCountedWrite: RequestMatch = ({ method, path }) =>
  method !== "GET" && !/\/(events|leases|[a-z]+reviews)(\/|\?|$)/.test(path);

/** An operator that is killed once; disposing ends it. */
export class CrashProcess implements AsyncDisposable {
  readonly proxy: ApiProxy;
  readonly #args: readonly string[];
  readonly #debug: DebugEndpoint;
  readonly #point: CrashPoint | undefined;
  #binary: Binary;
  #writes = 0;
  #struck: SeenRequest | undefined;
  #state: "alive" | "doomed" | "killed" | "again" = "alive";
  #ending: Promise<void> = Promise.resolve();

  private constructor(proxy: ApiProxy, debug: DebugEndpoint, args: readonly string[], point: CrashPoint | undefined) {
    this.proxy = proxy;
    this.#debug = debug;
    this.#args = [...args, ...debug.flags];
    this.#point = point;
    this.#arm();
    this.#binary = this.#start();
  }

  static async start(controlPlane: ControlPlane, args: readonly string[], point?: CrashPoint): Promise<CrashProcess> {
    return new CrashProcess(await ApiProxy.start(controlPlane), await DebugEndpoint.create(), args, point);
  }

  /** True after the kill at the chosen write and the restart. */
  get isAgain(): boolean {
    return this.#state === "again";
  }

  /** True from the kill until the restart. */
  get isDown(): boolean {
    return this.#state === "doomed" || this.#state === "killed";
  }

  /** @throws Error when the process has ended without being killed */
  assertRuns(): void {
    if (this.isDown || this.#binary.isRunning) return;
    throw new Error(`Cannot continue: the process ended without being killed\n${this.#binary.stderr}`);
  }

  /** Counted writes so far. */
  get writes(): number {
    return this.proxy.requests.filter(isCountedWrite).length;
  }

  /** The keys that its queues hold now; those that wait for a retry included. */
  async keys(): Promise<readonly CrashKey[]> {
    const { value } = await this.#debug.ask<{ readonly keys: readonly CrashKey[] }>(this.#binary, "/debug/keys");
    return value.keys;
  }

  /** Waits until the workers of the process that runs now have started. */
  async works(): Promise<void> {
    await this.#binary.logged(/starting workers/);
  }

  /** Waits until no counted write was sent for the given time. */
  async quiet(quietMs: number): Promise<void> {
    await this.proxy.quiet(quietMs, isCountedWrite);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ending;
    await this.#binary[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
    await this.#debug[Symbol.asyncDispose]();
  }

  #start(): Binary {
    return new Binary(this.#args, { kubeconfig: this.proxy.kubeconfig });
  }

  #arm(): void {
    if (this.#point === undefined) return;
    const isHit: RequestMatch = (request) => this.#isHit(request);
    this.proxy.respond(() => {
      this.#kill();
      return new Response(null, { status: 502 }); // the process has ended
    }, isHit);
    if (this.#point.moment === "before") return;
    const response = this.proxy.hold((request) => request === this.#struck, "response");
    void response.arrived.then(async () => {
      if (this.#point?.moment === "committed") {
        this.#kill();
        await this.#binary.ended();
        return response.release();
      }
      this.#state = "doomed";
      response.release();
      await sleep(mostIdleMs);
      this.#kill();
    }, () => undefined); // a write that never came shows in the state that is waited for
  }

  /** Called for each request before it is forwarded. @returns true if the process must be killed first */
  #isHit(request: SeenRequest): boolean {
    if (this.#state === "doomed") return true;
    if (this.#state !== "alive" || !isCountedWrite(request) || ++this.#writes !== this.#point?.write) return false;
    this.#struck = request;
    return this.#point.moment === "before";
  }

  #kill(): void {
    if (this.#state === "killed" || this.#state === "again") return;
    this.#state = "killed";
    this.#binary.signal("SIGKILL");
    this.#ending = this.#startAgain();
  }

  async #startAgain(): Promise<void> {
    await this.#binary.ended();
    await sleep(downMs);
    this.#binary = this.#start();
    this.#state = "again";
  }
}
