/**
 * declaredTransport(): a Transport that rejects requests which a controller did not declare, for tests with a server that
 * does not know the controllers. The servers of World, `dev` and the simulation decide themselves, with the same rules.
 */
import { isAllowedBy } from "../../api/mod.ts";
import type { Transport } from "../../client/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import { controllerGrants, policyRules } from "./access_grants.ts";
import { type DeniedRequest, undeclaredReason } from "./missing_declaration.ts";
import { type RequestInfo, requestInfo, writeAction } from "./request_info.ts";

/**
 * Thrown by {@link declaredTransport}: a controller sent a request that it did not declare.
 *
 * @example
 * ```ts
 * import { UndeclaredAccessError } from "@pintle/controller/testing";
 *
 * const reason = 'controller "keeper" did not declare get on configmaps. Declare .uses(ConfigMap, ["get"])';
 * const error = new UndeclaredAccessError('get configmaps "default/a"', reason);
 * console.assert(error.message.startsWith('Cannot get configmaps "default/a": controller "keeper" did not'));
 * ```
 */
export class UndeclaredAccessError extends Error {
  /** The name of the class. */
  override readonly name = "UndeclaredAccessError";

  /**
   * Creates the error.
   *
   * @param action What the request would have done: `get configmaps "default/a"`.
   * @param reason Which controller did not declare what, and what to declare.
   */
  constructor(action: string, reason: string) {
    super(`Cannot ${action}: ${reason}`);
  }
}

/**
 * Returns a Transport that sends declared requests, and requests that are not about a resource (`/version`, discovery). It rejects all others with
 * an UndeclaredAccessError instead of sending them. An apply that has created an object, for which RBAC requires a second
 * verb, is rejected afterwards. A World needs no such Transport: its server denies what is not declared.
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
  const grants = controllerGrants(definition);
  const rules = policyRules(grants);
  const check = (request: Request, wanted: DeniedRequest) => {
    const granted = [...rules.get("") ?? [], ...wanted.namespace === "" ? [] : rules.get(wanted.namespace) ?? []];
    if (granted.some((rule) => isAllowedBy(rule, wanted))) return;
    throw new UndeclaredAccessError(writeAction(request), undeclaredReason(definition, grants, wanted));
  };
  return async (request) => {
    // As another user, the permissions of that user count, which only the server knows.
    const users = impersonatedParts(request);
    for (const part of users) check(request, part);
    const info = users.length > 0 ? undefined : requestInfo(request);
    if (info === undefined) return await transport(request);
    check(request, accessRequest(info));
    const response = await transport(request);
    if (info.verb !== "patch" || response.status !== 201) return response;
    try {
      check(request, accessRequest({ ...info, verb: "create" }));
      return response;
    } catch (error) {
      response.body?.cancel().catch(() => {});
      throw error;
    }
  };
}

function accessRequest({ verb, group, resource: target, namespace = "", name = "" }: RequestInfo): DeniedRequest {
  const [resource = "", subresource = ""] = target.split("/");
  return { verb, isResourceRequest: true, group, resource, subresource, namespace, name, path: "" };
}

/** What the sender of a request must be allowed to impersonate; nothing without another user. */
function impersonatedParts({ headers }: Request): readonly DeniedRequest[] {
  const user = headers.get("impersonate-user");
  if (user === null) return [];
  const part = (resource: string, name: string, about: Partial<DeniedRequest> = {}): DeniedRequest => (
    {
      ...{ verb: "impersonate", isResourceRequest: true, group: "", subresource: "", namespace: "", path: "" },
      ...about,
      resource,
      name,
    }
  );
  const [, namespace, account] = /^system:serviceaccount:([^:]+):(.+)$/.exec(user) ?? [];
  const group = "authentication.k8s.io";
  const values = (name: string) => headers.get(name)?.split(", ") ?? [];
  const extra = [...headers.keys()].flatMap((name) => {
    const key = /^impersonate-extra-(.+)$/.exec(name)?.[1];
    if (key === undefined) return [];
    const about = { group, subresource: decodeURIComponent(key) };
    return values(name).map((value) => part("userextras", value, about));
  });
  return [
    account === undefined ? part("users", user) : part("serviceaccounts", account, { namespace }),
    ...values("impersonate-uid").map((uid) => part("uids", uid, { group })),
    ...values("impersonate-group").map((name) => part("groups", name)),
    ...extra,
  ];
}
