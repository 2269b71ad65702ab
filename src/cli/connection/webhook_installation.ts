/**
 * findWebhookConfigurationName(): which webhook configurations of a cluster are those of this program? Their name contains the
 * namespace of the installation, so that a program outside of the cluster looks for them by the label that `manifests` sets.
 */
import { builtin } from "../../api/mod.ts";
import { ApiError, type Client, InvalidResponseError } from "../../client/mod.ts";
import { webhookConfigurationName } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { isAllowed } from "./cluster_queries.ts";
import type { Connection } from "./connect.ts";

/** The label of all objects of an operator, with the operator's name as its value. */
export const operatorLabel = "app.kubernetes.io/name";

/** What the search needs. */
interface SearchOptions {
  readonly connection: Pick<Connection, "client" | "namespace" | "isInCluster">;
  readonly operatorName: string;
  /** The value of `--webhook-configuration`. @default found */
  readonly given?: string;
  readonly signal?: AbortSignal;
}

/**
 * Returns the name: the one that is given; in a Pod that of its namespace; else the one installation that the cluster has, or
 * the name of an installation with the defaults of `manifests`.
 *
 * @throws UsageError when the cluster has several installations, and none is in the namespace of the connection
 */
export async function findWebhookConfigurationName(options: SearchOptions): Promise<string> {
  const { connection: { client, namespace, isInCluster }, operatorName, given, signal } = options;
  if (given !== undefined) return given;
  const own = webhookConfigurationName(operatorName, namespace);
  if (isInCluster) return own;
  const found = await installedNames(client, operatorName, signal).catch((error: unknown): readonly string[] => {
    // The requests that follow report it.
    if (error instanceof ApiError || error instanceof InvalidResponseError) return [];
    throw error;
  });
  if (found.includes(own)) return own;
  const [only = webhookConfigurationName(operatorName), ...others] = found;
  if (others.length === 0) return only;
  throw new UsageError(
    `Cannot choose the webhook configurations of ${operatorName}: there are several installations, ${found.join(", ")}`,
    `Name one with --webhook-configuration ${only}`,
  );
}

const kinds = [builtin.MutatingWebhookConfiguration, builtin.ValidatingWebhookConfiguration] as const;

/** Asks for the permission first, so that a user without it leaves no denied requests in the audit log. */
async function installedNames(
  client: Client,
  operatorName: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const names = new Set<string>();
  for (const kind of kinds) {
    if (!(await isAllowed(client, { verb: "list", group: kind.group, resource: kind.plural }, signal))) continue;
    const { items } = await client.listAll(kind, { labelSelector: `${operatorLabel}=${operatorName}`, signal });
    for (const { metadata: { name = "" } } of items) names.add(name);
  }
  return [...names].sort();
}
