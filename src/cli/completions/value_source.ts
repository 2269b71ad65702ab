/**
 * ValueSource: values for completion that come from the kubeconfig and from the cluster. A shell waits for them: the cluster
 * gets one request with a short timeout, and only with credentials that start no other program, because a plugin could open
 * a browser.
 *
 * Guarantees: it never throws; values that are not available in time are left out.
 */
import { type Flag, flagsOf } from "../flags/mod.ts";
import { builtin } from "../../api/mod.ts";
import { scope } from "../../async/mod.ts";
import { loadClusterAccess, loadKubeconfig } from "../../client/mod.ts";
import { homeDirectory, processFacts } from "../../runtime/mod.ts";
import { connect, connectionFlags } from "../connection/mod.ts";
import type { Session } from "../command/mod.ts";

/** A word that completion offers. */
export interface Candidate {
  readonly value: string;
  /** A description, for shells that show it. */
  readonly about: string;
}

/** Values that are neither in the program nor in a folder. */
export type RemoteKind = Exclude<NonNullable<Flag["completes"]>, "file" | "directory" | "controller" | "workload">;

/** Returns values of flags: contexts of the kubeconfig, namespaces of the cluster. */
export interface ValueSource {
  /** @param typed The flags on the command line, by long name */
  valuesOf(kind: RemoteKind, typed: ReadonlyMap<string, string>): Promise<readonly Candidate[]>;
}

/** A user does not wait longer for a completion. */
const clusterTimeoutMs = 1_000;

/** Creates the source for a session. */
export function createValueSource(session: Session): ValueSource {
  return {
    async valuesOf(kind, typed) {
      try {
        return kind === "namespace" ? await namespaces(session, typed) : await entries(kind, session, typed);
      } catch {
        return []; // a shell cannot show an error here
      }
    },
  };
}

function candidatesOf(values: Iterable<string>): readonly Candidate[] {
  return [...new Set(values)].sort().map((value) => ({ value, about: "" }));
}

async function kubeconfigOf({ environment }: Session, typed: ReadonlyMap<string, string>) {
  const { workingDirectory } = processFacts();
  const path = typed.get("--kubeconfig");
  return await loadKubeconfig({ path, environment, home: homeDirectory(environment), workingDirectory });
}

async function entries(
  kind: Exclude<RemoteKind, "namespace">,
  session: Session,
  typed: ReadonlyMap<string, string>,
): Promise<readonly Candidate[]> {
  const { contexts, clusters, users } = await kubeconfigOf(session, typed);
  switch (kind) {
    case "context":
      return candidatesOf(contexts.keys());
    case "cluster":
      return candidatesOf(clusters.keys());
    case "user":
      return candidatesOf(users.keys());
    default:
      return kind satisfies never;
  }
}

async function namespaces(session: Session, typed: ReadonlyMap<string, string>): Promise<readonly Candidate[]> {
  const { contexts } = await kubeconfigOf(session, typed);
  const known = [...contexts.values()].flatMap(({ value: { namespace } }) => namespace ?? []);
  const live = await liveNamespaces(session, typed).catch(() => []);
  return candidatesOf([...known, ...live]);
}

async function liveNamespaces(session: Session, typed: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const { environment, processEnvironment: { clock } } = session;
  const values = flagsOf(connectionFlags).filter(({ longName, arity }) => typed.has(longName) && arity !== "list")
    .map(({ key, longName, isSwitch }) => [key, isSwitch ? true : typed.get(longName)]);
  const flags = connectionFlags.parse(Object.fromEntries(values));
  const { workingDirectory } = processFacts();
  const { kubeconfig, context, cluster, user } = flags;
  const overrides = { kubeconfig, context, cluster, user };
  const home = homeDirectory(environment);
  const { credentials } = await loadClusterAccess({ overrides, environment, home, workingDirectory });
  if (credentials.kind === "exec" || credentials.kind === "oidc") return [];
  using connection = await connect(flags, session);
  const never = new AbortController().signal;
  using limited = scope(never, { timeoutMs: clusterTimeoutMs, clock });
  const options = { metadataOnly: true, limit: 500, signal: limited.signal };
  const { items } = await connection.client.list(builtin.Namespace, options);
  return items.map(({ metadata: { name } }) => name ?? "");
}
