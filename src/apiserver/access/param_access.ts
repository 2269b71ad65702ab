/**
 * Prevents that a user reads through a policy what the user may not read: who writes a policy with params needs `get` for all
 * objects of their kind, and who writes its binding needs to read the params that it names. Source: kubernetes
 * `pkg/registry/admissionregistration` of 1.36.
 */
import { findObject, nameOf, objectAt, textAt } from "../kinds/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  invalid,
  isSameJson,
  type JsonObject,
  type Kind,
  type ObjectReader,
  type User,
} from "../model/mod.ts";

const group = "admissionregistration.k8s.io";

/** What the check depends on. */
export interface ParamAccessOptions {
  readonly objects: ObjectReader;
  readonly authorizer: Authorizer;
  findKind(group: string, version: string, kind: string): Kind | undefined;
}

/** The plugin that checks policies and bindings. It runs before all that validate, as the checks of their fields. */
export function paramAccess(options: ParamAccessOptions): AdmissionPlugin {
  return { name: "ParamAccess", validate: (request) => check(options, request) };
}

function check(options: ParamAccessOptions, request: AdmissionRequest): void {
  const { kind, object, oldObject, subresource, user } = request;
  if (kind.group !== group || object === undefined || subresource !== "") return;
  if (user.groups.includes("system:masters")) return;
  const spec = objectAt(object, "spec");
  const isBinding = kind.kind.endsWith("Binding");
  const before = objectAt(oldObject ?? {}, "spec");
  const why = isBinding ? bindingError(options, request, spec) : policyError(options, user, spec, before);
  if (why === undefined) return;
  const field = isBinding ? "spec.paramRef" : "spec.paramKind";
  throw invalid({ group, resource: kind.kind, name: nameOf(object) }, [{ type: "Forbidden", field, detail: why }]);
}

function policyError(
  options: ParamAccessOptions,
  user: User,
  spec: JsonObject,
  before: JsonObject,
): string | undefined {
  const paramKind = findObject(spec, "paramKind");
  if (paramKind === undefined || isSameJson(paramKind, findObject(before, "paramKind"))) return undefined;
  const { resource, group, version } = resourceOf(options, paramKind);
  if (isAllowed(options.authorizer, user, { verb: "get", resource, group, version, namespace: "*", name: "*" })) {
    return undefined;
  }
  const [kind, apiVersion] = [textAt(paramKind, "kind"), textAt(paramKind, "apiVersion")];
  return `user ${shownUser(user)} must have "get" permission on all objects of the referenced paramKind ` +
    `(kind=${kind}, apiVersion=${apiVersion})`;
}

function bindingError(
  options: ParamAccessOptions,
  { kind, user }: AdmissionRequest,
  spec: JsonObject,
): string | undefined {
  const paramRef = findObject(spec, "paramRef");
  if (paramRef === undefined) return undefined;
  const policyName = textAt(spec, "policyName");
  const collection = kind.collection.replace("policybindings.", "policies.");
  const policy = options.objects.get(collection, "", policyName);
  const paramKind = findObject(objectAt(policy ?? {}, "spec"), "paramKind");
  const { resource, group, version } = paramKind === undefined ? everything : resourceOf(options, paramKind);
  const [name, namespace] = [textAt(paramRef, "name"), textAt(paramRef, "namespace")];
  const verb = name === "" ? "list" : "get";
  if (isAllowed(options.authorizer, user, { verb, resource, group, version, namespace, name })) return undefined;
  const shown = shownUser(user);
  const leastText = `to determine minimum required permissions and user ${shown} does not have "${verb}" permission ` +
    "for all groups, versions and resources";
  if (policy === undefined) return `unable to get policy ${policyName} ${leastText}`;
  if (paramKind !== undefined && resource === "*") {
    return `unable to resolve paramKind &{${textAt(paramKind, "apiVersion")} ${
      textAt(paramKind, "kind")
    }} ${leastText}`;
  }
  // The text of kube-apiserver for mutating policies has the two in the other order.
  const [who, what] = kind.kind.startsWith("Mutating") ? [verb, shown] : [shown, verb];
  return `user ${who} does not have "${what}" permission on the object referenced by paramRef`;
}

interface Target {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

const everything: Target = { group: "*", version: "*", resource: "*" };

/** The resource of a kind; all resources of its group when there is no such kind. */
function resourceOf(options: ParamAccessOptions, paramKind: JsonObject): Target {
  const apiVersion = textAt(paramKind, "apiVersion");
  const slash = apiVersion.indexOf("/");
  const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)];
  const kind = options.findKind(group, version, textAt(paramKind, "kind"));
  return { group, version, resource: kind?.plural ?? "*" };
}

function isAllowed(
  authorizer: Authorizer,
  user: User,
  target: Target & { readonly verb: string; readonly namespace: string; readonly name: string },
): boolean {
  return authorizer.authorize({ user, isResourceRequest: true, subresource: "", path: "", ...target }).isAllowed;
}

/** A user as Go prints the struct. */
function shownUser({ name, uid, groups, extra }: User): string {
  const fields = [...extra].sort(([left], [right]) => left < right ? -1 : 1).map(([key, values]) =>
    `${key}:[${values.join(" ")}]`
  );
  return `&{${name} ${uid} [${groups.join(" ")}] map[${fields.join(" ")}]}`;
}
