/**
 * declaredTransport(): a Transport that refuses what a controller did not declare, as RBAC would refuse it in a cluster
 * that has the controller's own Role. For tests: a forgotten `uses()` fails there, and not in production.
 */
import type { Transport } from "../client/mod.ts";
import type { ControllerDefinition } from "../controller/mod.ts";
import { writeAction } from "./_write_action.ts";
import { type AccessRule, controllerAccess } from "./access_rules.ts";
import { type RequestInfo, requestInfo } from "./request_info.ts";

/** A controller did what it did not declare. */
export class UndeclaredAccessError extends Error {
  override readonly name = "UndeclaredAccessError";

  constructor(controller: string, action: string, { verb, resource }: Pick<RequestInfo, "verb" | "resource">) {
    super(`Cannot ${action}: controller "${controller}" did not declare ${verb} on ${resource}; see uses()`);
  }
}

/** True when `error`, or what caused it, is an UndeclaredAccessError. */
export function isUndeclared(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof UndeclaredAccessError) return true;
  }
  return false;
}

/**
 * Lets pass what the controller declared. Requests for no resource (`/version`, discovery) pass, too.
 *
 * The transport rejects with an UndeclaredAccessError instead of sending; where an apply turned out to create, for which
 * a server asks for a second verb, it rejects afterwards.
 */
export function declaredTransport(transport: Transport, definition: ControllerDefinition): Transport {
  const rules = controllerAccess(definition);
  const refuse = (request: Request, missing: RequestInfo) =>
    new UndeclaredAccessError(definition.name, writeAction(request), missing);
  return async (request) => {
    const info = requestInfo(request);
    if (info === undefined) return await transport(request);
    if (!rules.some((rule) => allows(rule, info))) throw refuse(request, info);
    const response = await transport(request);
    if (info.verb !== "patch" || response.status !== 201) return response;
    const created: RequestInfo = { ...info, verb: "create" };
    if (rules.some((rule) => allows(rule, created))) return response;
    await response.body?.cancel();
    throw refuse(request, created);
  };
}

/** True when the rule covers what is asked for. */
function allows(rule: AccessRule, { verb, group, resource, namespace, name }: RequestInfo): boolean {
  const isNamed = rule.names === undefined || (name !== undefined && rule.names.includes(name));
  const isMeant = isNamed && (rule.namespace === undefined || rule.namespace === namespace);
  return isMeant && rule.group === group && rule.resource === resource && rule.verbs.includes(verb);
}
