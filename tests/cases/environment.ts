/**
 * CaseEnvironment: where a case of a controller runs. A case describes what a user does to a cluster and what the user then
 * sees. It does not depend on the cluster (a real control plane, or an API server in memory) or on how the controller runs
 * (the compiled binary, or the same command line in this process). Each environment implements this interface and runs all
 * cases.
 *
 * A case may leave objects in its namespace; it deletes cluster-scoped objects with `after`.
 */
import type { Client } from "../../src/client/mod.ts";

/** The result of a check that a case repeats: the value, or the state until then. */
export type Probe<T> = { readonly kind: "found"; readonly value: T } | {
  readonly kind: "pending";
  readonly state: string;
};

/** A request that a program sent. */
export interface RecordedRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body: string;
}

/** A request that the proxy holds. */
export interface HeldRequest {
  /** Resolves when the request, or its response, has arrived. */
  readonly arrived: Promise<void>;
  /** Forwards it. */
  release(): void;
}

/** A proxy between a program and the API server. */
export interface RecordingProxy {
  /** All requests so far, in order. */
  readonly requests: readonly RecordedRequest[];
  /** The requests that write. */
  readonly writes: readonly RecordedRequest[];
  /** Responds to matching requests instead of the server, until it is disposed. */
  respond(response: () => Response, matches: (request: RecordedRequest) => boolean): Disposable;
  /** Holds the next matching request; or its response, when the server has already performed the request. */
  hold(matches: (request: RecordedRequest) => boolean, side?: "request" | "response"): HeldRequest;
  /** Waits until there was no write for `quietMs`. */
  quiet(quietMs: number): Promise<void>;
}

/** How a program ended. */
export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is run. */
export interface RunOptions {
  /** The proxy for its requests. @default none */
  readonly proxy?: RecordingProxy;
  /** "full": every write to stdout fails, as on a full disk. @default "kept" */
  readonly stdout?: "kept" | "full";
}

/** A running program `controller`. It is ended, if necessary with SIGKILL, when it is disposed. */
export interface Program extends AsyncDisposable {
  /** The text on stdout so far. */
  readonly stdout: string;
  /** The text on stderr so far. */
  readonly stderr: string;
  /** Waits for a match in its log. */
  logged(pattern: RegExp, timeoutMs?: number): Promise<void>;
  /** Sends a signal. */
  signal(name: "SIGTERM" | "SIGKILL"): void;
  ended(): Promise<ProgramResult>;
}

/** A cluster, and the program `controller` to run on it. */
export interface CaseEnvironment {
  /** The client of an administrator. */
  readonly client: Client;
  /** The namespace of the case. */
  readonly namespace: string;
  /** A suffix for unique names of cluster-scoped objects, or in a shared namespace. */
  readonly suffix: string;
  /** The folder of the case. */
  readonly folder: string;
  /** Runs a command to its end. */
  call(args: readonly string[]): Promise<ProgramResult>;
  /** Starts `controller run ...`. */
  run(args: readonly string[], options?: RunOptions): Program;
  startProxy(): Promise<RecordingProxy>;
  /** Repeats a check until it finds a value. @throws Error with the last state after the timeout */
  until<T>(action: string, probe: () => Probe<T> | Promise<Probe<T>>, timeoutMs?: number): Promise<T>;
  /** Registers a cleanup that runs after the case, also after a failure. */
  after(undo: () => Promise<unknown>): void;
}

/** One guarantee of a controller, and its test. */
export interface Case {
  /** The guarantee in one sentence. */
  readonly name: string;
  /** Needs the controllers of the control plane, such as the garbage collector. @default only the API server */
  readonly needs?: "kube-controller-manager";
  readonly run: (env: CaseEnvironment) => Promise<void>;
}
