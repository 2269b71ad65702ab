/** ClusterAccess values, exec plugins and a recording logger for tests. */
import type { Fields, Logger } from "../../observe/mod.ts";
import { type ClusterAccess, type ExecPlugin, Masked } from "../kubeconfig/mod.ts";

/** A minimal access to `server`, with `fields`. */
export function accessTo(server: string, fields: Partial<ClusterAccess> = {}): ClusterAccess {
  return {
    source: { kind: "flags" },
    server,
    namespace: "default",
    certificateAuthority: undefined,
    insecureSkipTlsVerify: false,
    serverName: undefined,
    proxy: undefined,
    clientCertificate: undefined,
    credentials: { kind: "none" },
    impersonate: undefined,
    user: "jane",
    requestTimeoutMs: undefined,
    ...fields,
  };
}

/** PEM text as a source. */
export function pemData(pem: string): { readonly kind: "data"; readonly pem: Masked } {
  return { kind: "data", pem: new Masked(pem) };
}

/** An exec plugin that runs `command`. */
export function execPlugin(command: string, fields: Partial<ExecPlugin> = {}): ExecPlugin {
  return {
    apiVersion: "client.authentication.k8s.io/v1",
    command,
    args: [],
    env: [],
    installHint: undefined,
    provideClusterInfo: false,
    interactiveMode: "Never",
    clusterConfig: undefined,
    directory: "/",
    ...fields,
  };
}

/** One log record. */
export interface LogRecord {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly fields: Fields;
}

/** A Logger that stores its records. */
export class RecordingLogger implements Logger {
  readonly records: LogRecord[] = [];

  debug(message: string, fields: Fields = {}): void {
    this.records.push({ level: "debug", message, fields });
  }

  info(message: string, fields: Fields = {}): void {
    this.records.push({ level: "info", message, fields });
  }

  warn(message: string, fields: Fields = {}): void {
    this.records.push({ level: "warn", message, fields });
  }

  error(message: string, fields: Fields = {}): void {
    this.records.push({ level: "error", message, fields });
  }

  with(): Logger {
    return this;
  }

  /** The messages of warnings. */
  get warnings(): readonly string[] {
    return this.records.filter(({ level }) => level === "warn").map(({ message }) => message);
  }
}
