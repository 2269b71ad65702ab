/**
 * The OTLP receiver of the OpenTelemetry collector as a process of a test (collector/main.go), and the spans that it has taken. It
 * is built once into the user's cache.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { goProgram } from "../controlplane/go_build.ts";
import { until } from "../controlplane/mod.ts";
import { freePort } from "../free_port.ts";

/** A span as the collector's JSON has it. */
export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface CollectedRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[];
  }[];
}

/** A running receiver. */
export class Collector implements AsyncDisposable {
  /** What a program takes as OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  #text = "";

  private constructor(child: ChildProcess, endpoint: string) {
    this.#child = child;
    this.endpoint = endpoint;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#text += text);
    this.#closed = new Promise((resolve) => child.once("close", () => resolve()));
  }

  /** Starts the program, built first if this machine has not built it yet. @throws Error when it cannot be built */
  static async start(): Promise<Collector> {
    const moduleDir = join(import.meta.dirname ?? ".", "collector");
    // Where the control plane was built, this can be built, too.
    const program = await goProgram({ name: "collector", moduleDir, programs: { collector: "pintle/collector" } });
    const address = `127.0.0.1:${await freePort()}`;
    const child = spawn(program, [address], { stdio: ["ignore", "pipe", "inherit"] });
    const collector = new Collector(child, `http://${address}`);
    await until("see the collector listen", () => {
      if (collector.#text.startsWith("listening\n")) return { kind: "found", value: undefined };
      return { kind: "pending", state: collector.#text };
    });
    return collector;
  }

  /** What it has taken, as text. */
  get text(): string {
    return this.#text;
  }

  /** The spans in the order of their arrival. */
  get spans(): readonly CollectedSpan[] {
    return this.#requests.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    );
  }

  /** The attributes of the program that has sent spans, as JSON by name. */
  get resource(): ReadonlyMap<string, string> {
    const attributes = this.#requests.flatMap(({ resourceSpans }) => resourceSpans)[0]?.resource.attributes ?? [];
    return new Map(attributes.map(({ key, value }) => [key, JSON.stringify(value)]));
  }

  get #requests(): readonly CollectedRequest[] {
    // The last piece is not a whole line yet.
    return this.#text.split("\n").slice(1, -1).map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#closed;
  }
}
