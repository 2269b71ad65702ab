/**
 * What a test may ask of a control plane, and what it gets back: the plain data of control_plane.ts's methods.
 */
import type { Binaries } from "./build.ts";

/** How a control plane is started. */
export interface ControlPlaneOptions {
  /** @default buildControlPlane() */
  readonly binaries?: Binaries;
  /** Flags of kube-apiserver, `--name=value`; each replaces the harness's own of that name. @default [] */
  readonly apiServerArgs?: readonly string[];
  /**
   * Files or folders that `kubectl apply` gets before the controllers start. CRDs among them are known to the garbage
   * collector from the beginning; of those that come later it learns within 30 s. @default []
   */
  readonly manifests?: readonly string[];
  /** Milliseconds that each server may take. @default 60_000 */
  readonly startTimeoutMs?: number;
}

/** What a kubeconfig is to be like. */
export interface KubeconfigOptions {
  /**
   * Who logs in: "admin" and "expired" with a client certificate (the second one's has run out), "token" and "nobody"
   * with a bearer token. All but "nobody" may do everything. @default "admin"
   */
  readonly user?: "admin" | "expired" | "token" | "nobody";
  /** The authority it trusts: the one that signed the server's certificate, another one, or the system's. @default "own" */
  readonly ca?: "own" | "wrong" | "system";
  /** Names a file with the bearer token rather than the token itself. @default false */
  readonly tokenFile?: boolean;
  /** @default the control plane's */
  readonly server?: string;
  /** The context's namespace. @default none */
  readonly namespace?: string;
}

/** What kubectl is run with. */
export interface KubectlOptions {
  /** What it reads, for `-f -`. @default nothing */
  readonly stdin?: string;
  /** @default the administrator's */
  readonly kubeconfig?: string;
}

/** How kubectl ended. */
export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
