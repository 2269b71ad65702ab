/**
 * CrashProcess: the compiled binary behind a proxy that sees its writes. At a chosen one it ends the process with SIGKILL:
 * before the write reaches the server, when it was done but before its answer arrives, or after the answer and before the
 * next request. The process is then started again on the same proxy, as a kubelet would.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { CrashMoment } from "../../src/simulation/mod.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { Binary } from "./_binary.ts";
import { ApiProxy, type RequestMatch, type SeenRequest } from "./_proxy.ts";

/** Where a process ends. */
export interface CrashPoint {
  /** Counted from 1; Events, Leases and questions aside. */
  readonly write: number;
  readonly moment: CrashMoment;
}

/** After an answer nothing may follow for long; the process ends then all the same. */
const mostIdleMs = 500;
const downMs = 100;

/** Writes at which a process may end: the same that the simulation counts. */
export const isCountedWrite: RequestMatch = ({ method, path }) =>
  method !== "GET" && !/\/(events|leases|[a-z]+reviews)(\/|\?|$)/.test(path);

/** An operator that ends once; disposed of, it ends for good. */
export class CrashProcess implements AsyncDisposable {
  readonly proxy: ApiProxy;
  readonly #args: readonly string[];
  readonly #point: CrashPoint | undefined;
  #binary: Binary;
  #writes = 0;
  #struck: SeenRequest | undefined;
  #state: "alive" | "doomed" | "killed" | "again" = "alive";
  #ending: Promise<void> = Promise.resolve();

  private constructor(proxy: ApiProxy, args: readonly string[], point: CrashPoint | undefined) {
    this.proxy = proxy;
    this.#args = args;
    this.#point = point;
    this.#arm();
    this.#binary = this.#start();
  }

  static async start(controlPlane: ControlPlane, args: readonly string[], point?: CrashPoint): Promise<CrashProcess> {
    return new CrashProcess(await ApiProxy.start(controlPlane), args, point);
  }

  /** Whether it has ended where it should, and runs again. */
  get isAgain(): boolean {
    return this.#state === "again";
  }

  /** Whether it is to end or has ended, and does not run again yet. */
  get isDown(): boolean {
    return this.#state === "doomed" || this.#state === "killed";
  }

  /** @throws Error when the process has ended by itself */
  assertRuns(): void {
    if (this.isDown || this.#binary.isRunning) return;
    throw new Error(`Cannot go on: the process ended by itself\n${this.#binary.stderr}`);
  }

  /** Counted writes so far. */
  get writes(): number {
    return this.proxy.requests.filter(isCountedWrite).length;
  }

  /** Waits until the workers of the process that runs now have started. */
  async works(): Promise<void> {
    await this.#binary.logged(/starting workers/);
  }

  /** Waits until nothing that counts was written for so long. */
  async quiet(quietMs: number): Promise<void> {
    await this.proxy.quiet(quietMs, isCountedWrite);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ending;
    await this.#binary[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }

  #start(): Binary {
    return new Binary(this.#args, { kubeconfig: this.proxy.kubeconfig });
  }

  #arm(): void {
    if (this.#point === undefined) return;
    const isHit: RequestMatch = (request) => this.#isHit(request);
    this.proxy.answer(() => {
      this.#kill();
      return new Response(null, { status: 502 }); // nobody is there to read it
    }, isHit);
    if (this.#point.moment === "before") return;
    const answer = this.proxy.hold((request) => request === this.#struck, "answer");
    void answer.arrived.then(async () => {
      if (this.#point?.moment === "committed") {
        this.#kill();
        await this.#binary.ended();
        return answer.release();
      }
      this.#state = "doomed";
      answer.release();
      await sleep(mostIdleMs);
      this.#kill();
    });
  }

  /** Sees each request before the server does. @returns true for the one that comes too late */
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
