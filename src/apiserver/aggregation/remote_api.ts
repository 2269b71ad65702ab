/**
 * RemoteApi: one APIService with a Service. It checks whether the API server behind it answers, writes the condition, and reads
 * its discovery: at once, after each change that concerns it, every 30 s, and sooner after a failure.
 */
import { Backoff, type Clock, type Random, scope } from "../../async/mod.ts";
import { boundedText, type HttpClient } from "../../runtime/mod.ts";
import { joinHostPort } from "../forward/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import type { Registry } from "../registry/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import { type ApiService, type ServiceReference, writeAvailability } from "./api_service.ts";
import { aggregatorUser, availabilityOf } from "./availability.ts";
import { backendClient, backendOf, type FrontProxy } from "./backends.ts";
import { readDiscovery, type ReadRemote } from "./remote_discovery.ts";
import { userHeaders } from "./user_headers.ts";

/** Options of a {@link RemoteApi}. */
export interface RemoteApiOptions {
  /** The spec as text, to see its changes. */
  readonly spec: string;
  readonly storage: ObjectStorage;
  readonly registry: () => Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly frontProxy?: FrontProxy;
  readonly onError: (error: unknown) => void;
  /** Called when the entry of discovery has changed. */
  onDiscovery(): void;
}

/** Between two checks, and after the first failures: the resync and the backoff of kube-aggregator. */
const [checkMs, firstRetryMs] = [30_000, 5];
const maxDocumentBytes = 8 * 1024 * 1024;

/** One APIService with a Service. */
export class RemoteApi implements Disposable {
  readonly name: string;
  readonly spec: string;
  readonly service: ServiceReference;
  readonly client: HttpClient;
  readonly #apiService: ApiService;
  readonly #options: RemoteApiOptions;
  readonly #stop = new AbortController();
  readonly #backoff: Backoff;
  #timer: Disposable | undefined;
  #isChecking = false;
  #isDirty = false;
  /** What was read last, without its freshness. */
  #discovered: JsonObject;
  #isFresh = false;

  constructor(apiService: ApiService, options: RemoteApiOptions) {
    const { service } = apiService;
    if (service === undefined) throw new TypeError(`Cannot check APIService "${apiService.name}": it has no Service`);
    this.name = apiService.name;
    this.spec = options.spec;
    this.service = service;
    this.client = backendClient(apiService, options.frontProxy);
    this.#apiService = apiService;
    this.#options = options;
    this.#backoff = new Backoff({ initialMs: firstRetryMs, maxMs: checkMs, clock: options.clock });
    this.#discovered = { version: apiService.version };
  }

  /** The entry of aggregated discovery. */
  get entry(): JsonObject {
    return { ...this.#discovered, freshness: this.#isFresh ? "Current" : "Stale" };
  }

  /** Checks soon; during a check, once more after it. */
  check(): void {
    this.#isDirty = true;
    if (this.#isChecking || this.#stop.signal.aborted) return;
    this.#isChecking = true;
    this.#run().catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#options.onError(error);
    }).finally(() => {
      this.#isChecking = false;
      if (this.#isDirty) this.check();
    });
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
    this.#timer?.[Symbol.dispose]();
    this.client.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let delayMs = checkMs;
    while (this.#isDirty && !signal.aborted) {
      this.#isDirty = false;
      this.#timer?.[Symbol.dispose]();
      const availability = await availabilityOf(this.#apiService, { ...this.#options, client: this.client, signal });
      if (signal.aborted) return;
      await writeAvailability(this.name, availability, this.#options);
      const isServing = availability.status === "True";
      const hasDiscovery = await this.#discover(isServing);
      const hasFailed = availability.reason === "FailedDiscoveryCheck" || (isServing && !hasDiscovery);
      delayMs = hasFailed ? this.#backoff.next() : checkMs;
      if (!hasFailed) this.#backoff.reset();
    }
    if (signal.aborted) return;
    this.#timer = this.#options.clock.timer(delayMs, () => this.check());
  }

  /** Reads the discovery. @returns true if it could be read */
  async #discover(isServing: boolean): Promise<boolean> {
    let [discovered, isFresh] = [this.#discovered, false];
    if (isServing) {
      const { group, version } = this.#apiService;
      try {
        discovered = await readDiscovery(group, version, this.#read);
        isFresh = true;
      } catch {
        // It stays stale; the next check tries again.
      }
    }
    const before = JSON.stringify(this.entry);
    [this.#discovered, this.#isFresh] = [discovered, isFresh];
    if (JSON.stringify(this.entry) !== before) this.#options.onDiscovery();
    return this.#isFresh;
  }

  readonly #read: ReadRemote = async (path, accept) => {
    const { storage, random, clock } = this.#options;
    using time = scope(this.#stop.signal, { timeoutMs: 5_000, clock });
    const backend = backendOf(storage, this.service, random);
    const address = backend.address();
    const url = `https://${joinHostPort(address.hostname, address.port)}${path}`;
    const headers = { host: [backend.host], ...userHeaders(aggregatorUser) };
    const request = new Request(url, { headers: { accept }, signal: time.signal });
    const response = await this.client.fetch(request, { headers });
    if (response.status === 503) throw new Error(`${path} answers with ${response.status}`);
    const text = await boundedText(response, { maxBytes: maxDocumentBytes, what: "document" });
    if (response.status !== 200) return undefined;
    return { body: JSON.parse(text), type: response.headers.get("content-type") ?? "" };
  };
}
