/**
 * Sends AdmissionReviews to a webhook server at a steady rate, as a kube-apiserver does: HTTP/1.1 over TLS with a
 * verified certificate. Open loop: a review is sent at its time even if earlier ones have no response yet. Every
 * second review uses a new connection, the others reuse connections, so that both kinds see every certificate.
 */
import { Buffer } from "node:buffer";
import { Agent, request } from "node:https";

/** The target and the rate of reviews. */
export interface ReviewLoadOptions {
  readonly port: number;
  readonly path: string;
  /** PEM text of the trusted CA. */
  readonly ca: string;
  /** Reviews a second. */
  readonly rate: number;
  /** The object of the n-th review. */
  readonly object: (number: number) => object;
  /** True if the response is correct. */
  readonly isRight: (response: ReviewResponse) => boolean;
}

/** The part of a response that tests read. */
export interface ReviewResponse {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patch?: string;
}

const stepMs = 5;

/** Sends from its construction until `stopped`. */
export class ReviewLoad implements AsyncDisposable {
  readonly #options: ReviewLoadOptions;
  readonly #kept: Agent;
  readonly #fresh: Agent;
  readonly #running = new Set<Promise<void>>();
  readonly #startedAt = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #failures: string[] = [];
  readonly #certificates = new Map<string, number>();
  #sent = 0;
  #perSecond: number | undefined;

  constructor(options: ReviewLoadOptions) {
    const { ca } = options;
    this.#options = options;
    this.#kept = new Agent({ keepAlive: true, maxSockets: 16, ca });
    this.#fresh = new Agent({ keepAlive: false, maxSockets: Infinity, ca, maxCachedSessions: 0 });
    this.#timer = setInterval(() => this.#sendDue(), stepMs);
  }

  /** How many new connections saw the certificate with this serial number. */
  shown(serialNumber: string): number {
    return this.#certificates.get(serialNumber) ?? 0;
  }

  /** The failures so far. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Ends the load and waits for the last responses. @returns the reviews sent per second */
  async stopped(): Promise<number> {
    if (this.#perSecond !== undefined) return this.#perSecond;
    clearInterval(this.#timer);
    this.#sendDue(); // the machine may have had no time for the timer lately
    const seconds = (performance.now() - this.#startedAt) / 1000;
    await Promise.all(this.#running);
    this.#kept.destroy();
    this.#fresh.destroy();
    return this.#perSecond = this.#sent / seconds;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopped();
  }

  #sendDue(): void {
    const due = Math.floor((performance.now() - this.#startedAt) * this.#options.rate / 1000);
    while (this.#sent < due) {
      const running: Promise<void> = this.#send(this.#sent++).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
  }

  async #send(number: number): Promise<void> {
    const uid = `review-${number}`;
    try {
      const response = await this.#ask(number, uid);
      if (response.uid !== uid || !this.#options.isRight(response)) throw new Error(JSON.stringify(response));
    } catch (error) {
      this.#failures.push(`${uid}: ${error}`);
    }
  }

  #ask(number: number, uid: string): Promise<ReviewResponse> {
    const { port, path, object } = this.#options;
    const body = JSON.stringify(reviewOf(uid, object(number)));
    const isFresh = number % 2 === 0;
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const agent = isFresh ? this.#fresh : this.#kept;
      const asked = request({ host: "127.0.0.1", port, path, method: "POST", headers, agent }, (answer) => {
        if (isFresh) this.#note(answer.socket);
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => text += part).on("error", reject);
        answer.on("end", () => {
          if (answer.statusCode !== 200) return reject(new Error(`${answer.statusCode} ${text}`));
          resolve(JSON.parse(text).response);
        });
      });
      asked.on("error", reject);
      asked.end(body);
    });
  }

  #note(socket: object): void {
    if (!("getPeerCertificate" in socket) || typeof socket.getPeerCertificate !== "function") return;
    const serialNumber = String(socket.getPeerCertificate().serialNumber).toLowerCase();
    this.#certificates.set(serialNumber, this.shown(serialNumber) + 1);
  }
}

/** The review that the API server sends when a user creates a NodePool. */
function reviewOf(uid: string, object: object): object {
  const kind = { group: "nodes.lailin.xyz", version: "v1", kind: "NodePool" };
  const resource = { group: "nodes.lailin.xyz", version: "v1", resource: "nodepools" };
  const userInfo = { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] };
  const question = { uid, kind, resource, requestKind: kind, requestResource: resource, operation: "CREATE", userInfo };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { ...question, object, oldObject: null, dryRun: false },
  };
}
