/**
 * declaredTransport(): a Transport that rejects requests which a controller did not declare, as RBAC does in a cluster
 * with the controller's Role. It is for tests: a missing `uses()` fails there and not in production.
 */
import type { Transport } from "../../client/mod.ts";
import type { ControllerDefinition, Verb } from "../../controller/mod.ts";
import { type AccessRule, controllerAccess } from "./access_rules.ts";
import { type RequestInfo, requestInfo, writeAction } from "./request_info.ts";

/**
 * Thrown by {@link declaredTransport}: a controller sent a request that it did not declare.
 *
 * @example
 * ```ts
 * import { UndeclaredAccessError } from "@pintle/controller/testing";
 *
 * const action = 'get ConfigMap "default/a"';
 * const error = new UndeclaredAccessError("keeper", action, { verb: "get", resource: "configmaps" });
 * console.assert(error.message.includes('controller "keeper" did not declare get on configmaps'));
 * ```
 */
export class UndeclaredAccessError extends Error {
  /** The name of the class. */
  override readonly name = "UndeclaredAccessError";

  /**
   * Creates the error.
   *
   * @param action What the request would have done, for the message.
   */
  constructor(
    controller: string,
    action: string,
    { verb, resource }: { readonly verb: Verb; readonly resource: string },
  ) {
    super(
      `Cannot ${action}: controller "${controller}" did not declare ${verb} on ${resource}. Declare it with uses()`,
    );
  }
}

/**
 * Returns a Transport that sends declared requests, and requests that are not about a resource (`/version`, discovery). It rejects all others with
 * an UndeclaredAccessError instead of sending them. An apply that has created an object, for which RBAC requires a second
 * verb, is rejected afterwards. Pass it to `WorldOptions.wrap` to find a missing `uses()`.
 *
 * @param transport Sends the allowed requests.
 * @param definition The controller whose declarations count.
 * @example
 * ```ts
 * import { ConfigMap, controller, done, Namespace } from "@pintle/controller";
 * import { Client } from "@pintle/controller/client";
 * import { declaredTransport } from "@pintle/controller/testing";
 *
 * const keeper = controller("keeper").for(Namespace).reconcile(() => Promise.resolve(done));
 * const transport = declaredTransport(() => Promise.resolve(Response.json({})), keeper);
 * const error = await new Client(transport).get(ConfigMap, "default/a").catch((reason: unknown) => reason);
 * console.assert(String(error).includes("did not declare get on configmaps"));
 * ```
 */
export function declaredTransport(transport: Transport, definition: ControllerDefinition): Transport {
  const rules = controllerAccess(definition);
  const undeclared = (request: Request, missing: RequestInfo) =>
    new UndeclaredAccessError(definition.name, writeAction(request), missing);
  return async (request) => {
    const info = requestInfo(request);
    if (info === undefined) return await transport(request);
    if (!rules.some((rule) => allows(rule, info))) throw undeclared(request, info);
    const response = await transport(request);
    if (info.verb !== "patch" || response.status !== 201) return response;
    const created: RequestInfo = { ...info, verb: "create" };
    if (rules.some((rule) => allows(rule, created))) return response;
    await response.body?.cancel();
    throw undeclared(request, created);
  };
}

/** True when the rule allows the request. */
function allows(rule: AccessRule, { verb, group, resource, namespace, name }: RequestInfo): boolean {
  const isNamed = rule.names === undefined || (name !== undefined && rule.names.includes(name));
  const isAbout = isNamed && (rule.namespace === undefined || rule.namespace === namespace);
  return isAbout && rule.group === group && rule.resource === resource && rule.verbs.includes(verb);
}
