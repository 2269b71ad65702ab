/** x */
/* MERGED completions/value_source.ts
 * What stands in the kubeconfig and in the cluster, for completing flags. A shell waits for it, so the cluster is asked
 * once and briefly, and only with credentials that need no other program: a plugin might open a browser.
 *
 * Guarantees: never throws; what cannot be had quickly is left out.
 */
import { type Flag, flagsOf } from "../flags/mod.ts";
import { builtin } from "../../api/mod.ts";
import { scope } from "../../async/mod.ts";
import { loadClusterAccess, loadKubeconfig } from "../../client/mod.ts";
import { homeDirectory, processFacts } from "../../runtime/mod.ts";
import { connect, connectionFlags } from "../connection/mod.ts";
import type { Session } from "../command/mod.ts";

/** One word that may stand there. */
export interface Candidate {
  readonly value: string;
  /** What it is, for shells that show it. */
  readonly about: string;
}

/** Where values come from that are not known here: contexts of the kubeconfig, namespaces of the cluster. */
export interface ValueSource {
  /** @param typed The flags that are given, by long name. */
  valuesOf(kind: NonNullable<Flag["completes"]>, typed: ReadonlyMap<string, string>): Promise<readonly Candidate[]>;
}

/** What a person waits for a list of names without wondering. */
const clusterTimeoutMs = 1_000;

/** Makes the source. */
export function valueSource(session: Session): ValueSource {
  return {
    async valuesOf(kind, typed) {
      try {
        return kind === "namespace" ? await namespaces(session, typed) : await entries(kind, session, typed);
      } catch {
        return []; // a shell has no place for an error
      }
    },
  };
}

function named(values: Iterable<string>): readonly Candidate[] {
  return [...new Set(values)].sort().map((value) => ({ value, about: "" }));
}

async function kubeconfigOf({ environment }: Session, typed: ReadonlyMap<string, string>) {
  const { workingDirectory } = processFacts();
  const path = typed.get("--kubeconfig");
  return await loadKubeconfig({ path, environment, home: homeDirectory(environment), workingDirectory });
}

async function entries(
  kind: string,
  session: Session,
  typed: ReadonlyMap<string, string>,
): Promise<readonly Candidate[]> {
  const { contexts, clusters, users } = await kubeconfigOf(session, typed);
  switch (kind) {
    case "context":
      return named(contexts.keys());
    case "cluster":
      return named(clusters.keys());
    case "user":
      return named(users.keys());
    default:
      return [];
  }
}

async function namespaces(session: Session, typed: ReadonlyMap<string, string>): Promise<readonly Candidate[]> {
  const { contexts } = await kubeconfigOf(session, typed);
  const known = [...contexts.values()].flatMap(({ value: { namespace } }) => namespace ?? []);
  const live = await liveNamespaces(session, typed).catch(() => []);
  return named([...known, ...live]);
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
  if (credentials.kind === "exec" || credentials.kind === "authProvider") return [];
  using connection = await connect(flags, session);
  const never = new AbortController().signal;
  using limited = scope(never, { timeoutMs: clusterTimeoutMs, clock });
  const options = { metadataOnly: true, limit: 500, signal: limited.signal };
  const { items } = await connection.client.list(builtin.Namespace, options);
  return items.map(({ metadata: { name } }) => name ?? "");
}
