/**
 * loadStoredAccess(): the access in a kubeconfig that other users have written, such as the value of a Secret.
 *
 * Guarantees: the text can neither run a program nor name a file of this machine: no exec plugin, no auth provider, no path of
 * a token, key or certificate. Otherwise whoever may write the Secret could have the process run what they want, or send the
 * token of its own ServiceAccount to a server of their choice. The server must be reached by https.
 */
import { type Logger, logger as loggerOf, printable } from "../../observe/mod.ts";
import type { Environment } from "../../runtime/mod.ts";
import { type ClusterAccess, KubeconfigError } from "./cluster_access.ts";
import { type Kubeconfig, mergeKubeconfigs } from "./kubeconfig.ts";
import { resolveAccess } from "./resolve_access.ts";

/** Options of {@link loadStoredAccess}. */
export interface StoredAccessOptions {
  /** Where the text comes from, for messages: `Secret fleet/east`. */
  readonly origin: string;
  /** The environment variables, for proxies. */
  readonly environment: Environment;
  /** Gets the warnings. @default logger("client") */
  readonly logger?: Logger;
}

/** The most characters of a text, as for files. */
const maxLength = 4 * 1024 * 1024;

/** Finds the access of the current context. @throws KubeconfigError when the text is no kubeconfig, or names more than data */
export async function loadStoredAccess(text: string, options: StoredAccessOptions): Promise<ClusterAccess> {
  const { origin, environment, logger = loggerOf("client") } = options;
  if (text.length > maxLength) {
    throw new KubeconfigError(`Cannot use the kubeconfig in ${origin}: it is larger than 4 MiB`);
  }
  const kubeconfig = mergeKubeconfigs([{ path: origin, text }]);
  assertDataOnly(kubeconfig, origin);
  const access = await resolveAccess(kubeconfig, { overrides: {}, environment, workingDirectory: "/", logger });
  if (access.server.startsWith("https://")) return access;
  throw new KubeconfigError(`Cannot use the kubeconfig in ${origin}: its server is not reached by https`);
}

const clusterFields = ["certificate-authority"] as const;
const userFields = ["tokenFile", "client-certificate", "client-key", "exec", "auth-provider"] as const;

function assertDataOnly({ clusters, users }: Kubeconfig, origin: string): void {
  const refuse = (what: string, name: string, field: string) => {
    throw new KubeconfigError(
      `Cannot use the kubeconfig in ${origin}: ${what} "${
        printable(name)
      }" has the field ${field}, which names a program or ` +
        "a file of this machine; put the data into the kubeconfig",
    );
  };
  for (const [name, { value }] of clusters) {
    const field = clusterFields.find((field) => value[field] !== undefined);
    if (field !== undefined) refuse("cluster", name, field);
  }
  for (const [name, { value }] of users) {
    const field = userFields.find((field) => value[field] !== undefined);
    if (field !== undefined) refuse("user", name, field);
  }
}
