/**
 * preflight(): can these controllers run on this cluster? Asked before they are started, because the runtime would wait
 * patiently for what is missing, and a person at a terminal should be told at once.
 *
 * It only reads: discovery, and a list of one object for each watched kind in each namespace.
 */
import { apiVersionOf, type Resource, resourceName } from "../../api/mod.ts";
import { isForbidden, isNotFound, isUnauthorized } from "../../client/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import { CommandError, exitCode, isCustomResource } from "../command/mod.ts";
import { type Connection, isServed } from "../connection/mod.ts";

/** What is looked at. */
interface PreflightOptions {
  readonly controllers: readonly ControllerDefinition[];
  /** Empty: all of them. */
  readonly namespaces: readonly string[];
  /** For the commands that messages name. */
  readonly operatorName: string;
  readonly signal: AbortSignal;
}

/** A controller that cannot run now, and why. */
export interface PreflightFailure {
  readonly controller: ControllerDefinition;
  readonly error: CommandError;
}

/**
 * Finds out which controllers cannot run.
 *
 * @throws Whatever says nothing about one controller: the server is gone, the signal came.
 */
export async function preflight(
  connection: Connection,
  options: PreflightOptions,
): Promise<readonly PreflightFailure[]> {
  const failures: PreflightFailure[] = [];
  for (const controller of options.controllers) {
    for (const { resource } of controller.watches) {
      const error = await checkKind(connection, controller, resource, options);
      if (error === undefined) continue;
      failures.push({ controller, error });
      break;
    }
  }
  return failures;
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
      if (isNotFound(error)) return missing(controller, resource, options, error);
      if (!isForbidden(error) && !isUnauthorized(error)) throw error;
      // The server asks about permissions first: what does not exist is forbidden as well.
      if (!(await isServed(connection, resource, signal))) return missing(controller, resource, options, error);
      return forbidden(controller, resource, { namespace, serverText: error.status.message, cause: error });
    }
  }
  return undefined;
}

function missing(
  controller: ControllerDefinition,
  resource: Resource,
  options: PreflightOptions,
  cause: unknown,
): CommandError {
  const action = `Cannot run controller "${controller.name}"`;
  const name = resourceName(resource);
  if (isCustomResource(resource)) {
    const advice = `Run: ${options.operatorName} install-crds ${controller.name}`;
    const message = `${action}: the CustomResourceDefinition ${name} is not installed`;
    return new CommandError(message, { code: exitCode.crdMissing, advice, cause });
  }
  const advice = "Install what brings it, or use a cluster that has it";
  const message = `${action}: the server does not know ${name} in ${apiVersionOf(resource)}`;
  return new CommandError(message, { code: exitCode.crdMissing, advice, cause });
}

/** Names who may not do what, and the RBAC rule that would allow it. */
function forbidden(
  controller: ControllerDefinition,
  resource: Resource,
  refusal: { readonly namespace: string | undefined; readonly serverText: string | undefined; readonly cause: unknown },
): CommandError {
  const { namespace, serverText = "", cause } = refusal;
  const who = /User "([^"]{1,256})"/.exec(serverText)?.[1];
  const where = namespace === undefined ? "" : ` in namespace "${namespace}"`;
  const state = who === undefined ? "forbidden" : `forbidden for user "${who}"`;
  const rule = `apiGroups: ["${resource.group}"], resources: ["${resource.plural}"], verbs: ["get", "list", "watch"]`;
  const kind = namespace === undefined ? "a ClusterRole" : `a Role in ${namespace}`;
  return new CommandError(
    `Cannot run controller "${controller.name}": list ${resourceName(resource)}${where} is ${state}`,
    { code: exitCode.permission, advice: `Give the user ${kind} with: ${rule}`, cause },
  );
}
