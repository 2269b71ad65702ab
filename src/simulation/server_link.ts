/**
 * ServerLink: the network between an operator and one API server of a fleet. A test makes it slow, cuts it, lets everything in
 * it stand still, or puts a program in the place of the server that answers nonsense.
 *
 * Guarantees: a request that was refused, that got nonsense, or that stood still until its end has not reached the server.
 */
import { aborted, type Clock, scope } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";

/** What is wrong with the way to a server. */
export type ServerFault =
  /** Nothing. */
  | { readonly kind: "none" }
  /** The server is gone: open connections break, new ones are refused. */
  | { readonly kind: "lost" }
  /** A partition that loses every packet: nothing arrives, and nobody is told. */
  | { readonly kind: "silent" }
  /** Each request, and each part of a response, takes longer. */
  | { readonly kind: "slow"; readonly delayMs: number }
  /** Another program answers at the address: pages, texts that end too early, JSON that is no Kubernetes. */
  | { readonly kind: "lying" };

export class ServerLink {
  readonly #server: Transport;
  readonly #clock: Clock;
  /** Break what is open. */
  readonly #open = new Set<(error: Error) => void>();
  #fault: ServerFault = { kind: "none" };
  /** Resolved when a silent link ends. */
  #restored = Promise.withResolvers<void>();
  /** Requests, and parts of responses, that are under way. */
  #passing = 0;
  #lies = 0;

  constructor(server: Transport, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  set(fault: ServerFault): void {
    this.#fault = fault;
    if (fault.kind === "lost") {
      for (const end of this.#open) end(refused());
      this.#open.clear();
    }
    if (fault.kind === "silent") return;
    this.#restored.resolve();
    this.#restored = Promise.withResolvers<void>();
  }

  /** True while anything is under way that takes its time. */
  get isBusy(): boolean {
    return this.#passing > 0;
  }

  /** Sends a request over the link. */
  readonly transport: Transport = async (request) => {
    await this.#pass(request.signal);
    if (this.#fault.kind === "lying") return nonsense(this.#lies++);
    using sending = scope(request.signal);
    const response = await this.#server(new Request(request, { signal: request.signal }));
    await this.#pass(sending.signal);
    return response.body === null ? response : this.#linked(response, request.signal);
  };

  /** Waits as the link demands. @throws TypeError when it is cut, the signal's reason */
  async #pass(signal: AbortSignal): Promise<void> {
    this.#passing++;
    try {
      await this.#wait(signal);
    } finally {
      this.#passing--;
    }
  }

  async #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const fault = this.#fault;
    switch (fault.kind) {
      case "none":
      case "lying":
        return;
      case "lost":
        throw refused();
      case "slow":
        return await this.#clock.sleep(fault.delayMs, signal);
      case "silent": {
        using ended = aborted(signal);
        await Promise.race([this.#restored.promise, ended]);
        return await this.#wait(signal);
      }
      default:
        fault satisfies never;
    }
  }

  /** The response, whose parts pass the link one by one. */
  #linked(response: Response, signal: AbortSignal): Response {
    const reader = response.body?.getReader();
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => undefined);
    const end = (error: Error) => broken.reject(error);
    this.#open.add(end);
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const part = await Promise.race([reader?.read(), broken.promise]);
        if (part === undefined || part.done) {
          this.#open.delete(end);
          return controller.close();
        }
        await this.#pass(signal);
        controller.enqueue(this.#fault.kind === "lying" ? new TextEncoder().encode(page) : part.value);
      },
      cancel: async (reason) => {
        this.#open.delete(end);
        await reader?.cancel(reason);
      },
    }, { highWaterMark: 0 });
    return new Response(body, { status: response.status, headers: response.headers });
  }
}

/** What a web server says that has got the address of the API server. */
const page = "<!doctype html>\n<title>Welcome</title>\n";

/** Answers that no API server gives, one after the other. */
function nonsense(number: number): Response {
  const json = { headers: { "content-type": "application/json" } };
  switch (number % 3) {
    case 0:
      return new Response(page, { headers: { "content-type": "text/html" } });
    case 1:
      return new Response('{"kind":"List","apiVersion":"v1","items":[{"metad', json);
    default:
      return new Response('{"message":"hello"}', json);
  }
}

function refused(): Error {
  return Object.assign(new TypeError("connection refused"), { code: "ECONNREFUSED" });
}
