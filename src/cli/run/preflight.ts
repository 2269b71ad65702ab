/**
 * preflight(): checks whether controllers can run on a cluster, before they start: the runtime of controllers would wait
 * for a missing kind or permission, and a user at a terminal should see an error at once.
 *
 * Guarantees: it only reads: discovery, one object of each watched kind in each namespace, and the definitions of kinds that
 * are converted, if this user may read them.
 */
import { builtin, type LabelSelector, type Resource, resourceName } from "../../api/mod.ts";
import { isForbidden, isNotFound, isUnauthorized } from "../../client/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import { isCustomResource, type OperatorController } from "../../manager/mod.ts";
import { CrdResource } from "../../schema/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import {
  type Connection,
  isConversionFailure,
  isServed,
  permissionAdvice,
  unknownKindError,
} from "../connection/mod.ts";

/** What to check. */
interface PreflightOptions {
  readonly controllers: readonly OperatorController[];
  /** True when this run installs the conversion webhooks. @default false: `install-crds` has installed them */
  readonly installsConversions?: boolean;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** For the commands that messages name. */
  readonly operatorName: string;
  /** What the advice has behind the name of a controller, such as ` --graph FILE`. @default nothing */
  readonly graphOption?: string;
  readonly signal: AbortSignal;
}

/** A controller that cannot run now, and why. */
export interface PreflightFailure {
  readonly controller: ControllerDefinition;
  readonly error: CommandError;
}

/**
 * Returns the controllers that cannot run.
 *
 * @throws An error that concerns no single controller: the server is unreachable, or the signal aborted. CommandError when
 * the server does not convert a kind: a controller must not read the content of one version under the name of another
 */
export async function preflight(
  connection: Connection,
  options: PreflightOptions,
): Promise<readonly PreflightFailure[]> {
  const failures: PreflightFailure[] = [];
  for (const controller of options.controllers) {
    for (const { resource, activation } of controller.watches) {
      // The kind need not exist yet.
      if (activation !== undefined) continue;
      const error = await checkKind(connection, controller, resource, options);
      if (error === undefined) continue;
      failures.push({ controller, error });
      break;
    }
    if (options.installsConversions !== true) await assertConverting(connection, controller, options);
  }
  return failures;
}

/**
 * The namespaces in which to check controllers whose namespaces are selected by labels: the first one that matches. What is
 * missing in another one does not keep the others from working, and readiness reports it.
 *
 * @throws CommandError when this user may not list Namespaces
 */
export async function selectedNamespaces(
  { client }: Connection,
  labelSelector: LabelSelector,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    const options = { labelSelector, limit: 1, metadataOnly: true, signal } as const;
    const { items } = await client.list(builtin.Namespace, options);
    return items.flatMap(({ metadata }) => metadata.name ?? []);
  } catch (error) {
    if (!isForbidden(error) && !isUnauthorized(error)) throw error;
    const advice = permissionAdvice(builtin.Namespace, ["list", "watch"], undefined);
    const message = "Cannot select namespaces by their labels: list namespaces is forbidden";
    throw new CommandError(message, { code: exitCode.permission, advice, cause: error });
  }
}

async function checkKind(
  connection: Connection,
  controller: ControllerDefinition,
  resource: Resource,
  options: PreflightOptions,
): Promise<CommandError | undefined> {
  const { signal } = options;
  const { namespace: own } = controller.options;
  const namespaces = own === undefined ? options.namespaces : [own];
  const isEverywhere = namespaces.length === 0 || resource.scope === "Cluster";
  for (const namespace of isEverywhere ? [undefined] : namespaces) {
    try {
      await connection.client.list(resource, { namespace, limit: 1, metadataOnly: true, signal });
    } catch (error) {
      if (isNotFound(error)) return missingKindError(controller, resource, options, error);
      // The webhook that converts may be one that this run is about to serve.
      if (isConversionFailure(error)) return undefined;
      if (!isForbidden(error) && !isUnauthorized(error)) throw error;
      // The server checks permissions first: a kind that does not exist is forbidden, too.
      if (!(await isServed(connection, resource, signal))) {
        return missingKindError(controller, resource, options, error);
      }
      return forbiddenError(controller, resource, { namespace, serverText: error.status.message, cause: error });
    }
  }
  return undefined;
}

/** @throws CommandError when the server has a definition with several versions and does not convert between them */
async function assertConverting(
  { client }: Connection,
  controller: OperatorController,
  { operatorName, graphOption = "", signal }: PreflightOptions,
): Promise<void> {
  for (const { kind, resource } of controller.webhooks ?? []) {
    if (kind !== "converting") continue;
    const name = resourceName(resource);
    const live = await client.find(CrdResource, name, { signal }).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
    });
    if (live === undefined || live.spec.versions.length < 2 || live.spec.conversion?.strategy === "Webhook") continue;
    throw new CommandError(
      `Cannot run controller "${controller.name}": the CustomResourceDefinition ${name} has no conversion webhook`,
      { code: exitCode.crdMissing, advice: `Run: ${operatorName} install-crds ${controller.name}${graphOption}` },
    );
  }
}

function missingKindError(
  controller: ControllerDefinition,
  resource: Resource,
  options: PreflightOptions,
  cause: unknown,
): CommandError {
  const action = `Cannot run controller "${controller.name}"`;
  if (isCustomResource(resource)) {
    const name = resourceName(resource);
    const advice = `Run: ${options.operatorName} install-crds ${controller.name}${options.graphOption ?? ""}`;
    const message = `${action}: the CustomResourceDefinition ${name} is not installed`;
    return new CommandError(message, { code: exitCode.crdMissing, advice, cause });
  }
  return unknownKindError(action, resource, cause);
}

/** The error for a missing permission, with the RBAC rule as advice. */
function forbiddenError(
  controller: ControllerDefinition,
  resource: Resource,
  denial: { readonly namespace: string | undefined; readonly serverText: string | undefined; readonly cause: unknown },
): CommandError {
  const { namespace, serverText = "", cause } = denial;
  const user = /User "([^"]{1,256})"/.exec(serverText)?.[1];
  const where = namespace === undefined ? "" : ` in namespace "${namespace}"`;
  const state = user === undefined ? "forbidden" : `forbidden for user "${user}"`;
  const advice = permissionAdvice(resource, ["get", "list", "watch"], namespace);
  return new CommandError(
    `Cannot run controller "${controller.name}": list ${resourceName(resource)}${where} is ${state}`,
    { code: exitCode.permission, advice, cause },
  );
}
