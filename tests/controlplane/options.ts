/**
 * Options and results of the methods in control_plane.ts.
 */
import type { Binaries } from "./build.ts";

/** How a control plane is started. */
export interface ControlPlaneOptions {
  /** @default buildControlPlane() */
  readonly binaries?: Binaries;
  /** Flags of kube-apiserver, `--name=value`; each replaces the harness's own of that name. @default [] */
  readonly apiServerArgs?: readonly string[];
  /**
   * Files or folders for `kubectl apply` before the controllers start. The garbage collector knows their CRDs
   * from the beginning; it notices later CRDs within 30 s. @default []
   */
  readonly manifests?: readonly string[];
  /** Milliseconds for the start of each server. @default patienceMs of poll.ts */
  readonly startTimeoutMs?: number;
}

/** Options of a kubeconfig. */
export interface KubeconfigOptions {
  /**
   * The user: "admin" and "expired" have a client certificate (the second one is expired), "token" and "nobody"
   * a bearer token. All except "nobody" have all permissions. @default "admin"
   */
  readonly user?: "admin" | "expired" | "token" | "nobody";
  /** The trusted CA: the one that signed the server's certificate, another one, or the system's. @default "own" */
  readonly ca?: "own" | "wrong" | "system";
  /** Names a file with the bearer token rather than the token itself. @default false */
  readonly tokenFile?: boolean;
  /** @default the control plane's */
  readonly server?: string;
  /** The context's namespace. @default none */
  readonly namespace?: string;
}

/** Options of a kubectl command. */
export interface KubectlOptions {
  /** Its stdin, for `-f -`. @default empty */
  readonly stdin?: string;
  /** @default the administrator's */
  readonly kubeconfig?: string;
}

/** The result of a kubectl command. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
