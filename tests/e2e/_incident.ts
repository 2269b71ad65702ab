/**
 * Incident: a process of the compiled binary on a real control plane to which something happens, and what `why` says about it.
 * The transcript of the questions and answers is compared with a file in tests/golden/why/, in which times, durations, counts
 * and the names of the test are replaced. PINTLE_WRITE_GOLDENS=1 writes the files instead: read them before you commit them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { assertEquals } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { DebugEndpoint } from "./_debug_endpoint.ts";

const folder = join(import.meta.dirname ?? ".", "..", "golden", "why");
const isWriting = process.env["PINTLE_WRITE_GOLDENS"] === "1";
/** A pattern that is being written may never match. */
const writingMs = 10_000;

/** How the process of an incident is started. */
export interface IncidentOptions {
  readonly controller: string;
  /** Flags of `run`. */
  readonly args: readonly string[];
  /** @default that of the control plane's administrator */
  readonly kubeconfig?: string;
  /** What the golden file says instead of the names of this test: by name of the test. */
  readonly names: Readonly<Record<string, string>>;
}

/** A question, and what its answer has once the process has seen the incident. */
export interface Question {
  /** What follows `why`. */
  readonly ask: readonly string[];
  readonly seen: RegExp;
}

export class Incident implements AsyncDisposable {
  readonly #endpoint: DebugEndpoint;
  readonly #binary: Binary;
  readonly #names: Readonly<Record<string, string>>;
  #address = "";

  private constructor(endpoint: DebugEndpoint, binary: Binary, names: Readonly<Record<string, string>>) {
    this.#endpoint = endpoint;
    this.#binary = binary;
    this.#names = names;
  }

  /** Starts the process, and waits until its controller works. */
  static async start(
    controlPlane: ControlPlane,
    { controller, args, kubeconfig = controlPlane.kubeconfig, names }: IncidentOptions,
  ): Promise<Incident> {
    const endpoint = await DebugEndpoint.create();
    const binary = new Binary(["run", controller, ...endpoint.flags, ...args], { kubeconfig });
    const incident = new Incident(endpoint, binary, names);
    await binary.logged(/starting workers/);
    incident.#address = await endpoint.addressOf(binary);
    return incident;
  }

  get tokenFile(): string {
    return this.#endpoint.tokenFile;
  }

  get address(): string {
    return this.#address;
  }

  /** What the process has logged. */
  get log(): string {
    return this.#binary.stderr;
  }

  /** The output of `why` as the user sees it. */
  async why(...args: readonly string[]): Promise<string> {
    const asked = ["why", ...args, "--address", this.#address, ...this.#endpoint.tokenFlags];
    const { code, stdout, stderr } = await runBinary(asked);
    assertEquals([code, stderr], [0, ""]);
    return stdout;
  }

  /** Waits until the answer has what `seen` finds. */
  async answered({ ask, seen }: Question): Promise<string> {
    return await until(`see ${seen} in why ${ask.join(" ")}`, async () => {
      const answer = this.#replaced(await this.why(...ask));
      return seen.test(answer)
        ? { kind: "found", value: answer }
        : { kind: "pending", state: `${answer}\n${this.log}` };
    }, isWriting ? { timeoutMs: writingMs } : {});
  }

  /** Asks the questions, and compares the transcript with the golden file. @param name `foo_hand_edit` */
  async compare(name: string, questions: readonly Question[]): Promise<void> {
    const path = join(folder, `${name}.txt`);
    for (const question of questions) await this.answered(question);
    if (isWriting) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, await this.#transcript(questions));
      return;
    }
    const golden = existsSync(path) ? readFileSync(path, "utf8") : "";
    let transcript = "";
    await until(`see tests/golden/why/${name}.txt`, async () => {
      transcript = await this.#transcript(questions);
      return transcript === golden ? { kind: "found", value: undefined } : { kind: "pending", state: transcript };
    }).catch(() => assertEquals(transcript, golden, this.log));
  }

  async #transcript(questions: readonly Question[]): Promise<string> {
    const parts: string[] = [];
    for (const { ask } of questions) {
      parts.push(this.#replaced(`$ controller why ${ask.join(" ")}\n\n${await this.why(...ask)}`));
    }
    return parts.join("\n");
  }

  #replaced(text: string): string {
    // With the longest first: a name may begin with another one.
    const names = Object.entries(this.#names).toSorted(([left], [right]) => right.length - left.length);
    const named = names.reduce((result, [name, placeholder]) => result.replaceAll(name, placeholder), text);
    return named.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "YYYY-MM-DDThh:mm:ssZ").replaceAll(
      /\b(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\b/g,
      "hh:mm:ss",
    )
      .replaceAll(/\b[\d.]+ (ms|s|min)\b/g, "N ms")
      .replaceAll(/\b\d+ (failure|time|reconcile)s?\b/g, "N $1s")
      .replaceAll(/\b127\.0\.0\.1:\d+/g, "HOST:PORT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It removes its webhooks from the cluster.
    this.#binary.signal("SIGTERM");
    await this.#binary.ended();
    await this.#binary[Symbol.asyncDispose]();
    await this.#endpoint[Symbol.asyncDispose]();
  }
}

/**
 * Waits until the second is over: managedFields have seconds, so that writers of the same one cannot be told apart. People are
 * slower than that.
 */
export async function nextSecond(): Promise<void> {
  const second = () => Math.floor(Date.now() / 1_000);
  const begin = second();
  await until(
    "see the next second",
    () => second() > begin ? { kind: "found", value: undefined } : { kind: "pending", state: "it is the same one" },
  );
}
