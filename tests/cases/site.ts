/**
 * Site: where a case of a controller runs. A case says what a person does to a cluster and what they then see; it knows
 * neither the cluster (a real control plane, or an API server in memory) nor what runs the controller (the compiled
 * binary, or the same command line in this process). Whoever has both implements this interface and runs all cases.
 *
 * What a case makes in its namespace may stay; what lives in none it takes away with `after`.
 */
import type { Client } from "../../src/client/mod.ts";

/** What a case waits for: it is there, or why not yet. */
export type Probe<T> = { readonly kind: "found"; readonly value: T } | {
  readonly kind: "pending";
  readonly state: string;
};

/** A request that a controller sent. */
export interface WireRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
}

/** A request that is held back. */
export interface Hold {
  /** Resolves when such a request, or its answer, has come. */
  readonly arrived: Promise<void>;
  /** Lets it go on. */
  release(): void;
}

/** Between one run and the API server. */
export interface Wire {
  /** All requests so far, in order. */
  readonly requests: readonly WireRequest[];
  /** Those that change something. */
  readonly writes: readonly WireRequest[];
  /** Answers the requests that match in the server's place, until it is disposed of. */
  answer(response: () => Response, matches: (request: WireRequest) => boolean): Disposable;
  /** Holds the next request that matches, or its answer: the server has done then what was asked, and nobody knows. */
  hold(matches: (request: WireRequest) => boolean, side?: "request" | "answer"): Hold;
  /** Waits until nothing has been written for so long. */
  quiet(quietMs: number): Promise<void>;
}

/** How a program ended. */
export interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is run. */
export interface RunOptions {
  /** What its requests go over. @default straight to the server */
  readonly wire?: Wire;
  /** "full": whatever it prints is refused, as by a disk without room. @default "kept" */
  readonly stdout?: "kept" | "full";
}

/** The program `controller`, running. Ends, if need be by force, when disposed. */
export interface Program extends AsyncDisposable {
  /** What it printed so far. */
  readonly stdout: string;
  /** What it logged so far. */
  readonly stderr: string;
  /** Waits for a text in its log. */
  logged(pattern: RegExp, timeoutMs?: number): Promise<void>;
  /** SIGTERM asks it to end, SIGKILL leaves it no time for anything. */
  signal(name: "SIGTERM" | "SIGKILL"): void;
  ended(): Promise<Ending>;
}

/** A cluster, and the program `controller` to run on it. */
export interface Site {
  /** The administrator's. */
  readonly client: Client;
  /** A namespace of the case's own. */
  readonly namespace: string;
  /** Makes names unique that live in no namespace, or in one that is shared. */
  readonly suffix: string;
  /** A folder of files of the case's own. */
  readonly folder: string;
  /** Runs a command to its end. */
  call(args: readonly string[]): Promise<Ending>;
  /** Starts `controller run ...`. */
  run(args: readonly string[], options?: RunOptions): Program;
  wire(): Promise<Wire>;
  /** Asks until the answer is there. @throws Error with the last state when it takes too long */
  until<T>(action: string, probe: () => Probe<T> | Promise<Probe<T>>, timeoutMs?: number): Promise<T>;
  /** Does it when the case is over, whatever came of it. */
  after(undo: () => Promise<unknown>): void;
}

/** One line of what a controller promises, and the proof. */
export interface Case {
  /** A sentence. */
  readonly name: string;
  /** The server's own controllers take part: garbage collection. @default only the API server */
  readonly needs?: "kube-controller-manager";
  readonly run: (site: Site) => Promise<void>;
}
