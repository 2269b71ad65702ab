/**
 * undeclaredReason(): says why the rules of a controller do not allow a request, and which declaration would. It is the last
 * part of the 403 that World, `dev` and the simulation respond with.
 */
import { type AccessRequest, builtin, type Resource } from "../../api/mod.ts";
import { type ControllerDefinition, type Verb, verbs } from "../../controller/mod.ts";
import type { AccessGrant } from "./access_grants.ts";

/** A denied request of a controller. */
export interface DeniedRequest extends AccessRequest {
  /** "" for the whole cluster. */
  readonly namespace: string;
  /** The name of the kind. @default that of a known kind, else the plural */
  readonly kind?: string;
}

/**
 * Returns the reason, without a full stop: `controller "greeter" did not declare create on configmaps. Declare
 * .uses(ConfigMap, ["create"])`.
 *
 * @param grants Those of the controller.
 */
export function undeclaredReason(
  definition: ControllerDefinition,
  grants: readonly AccessGrant[],
  denied: DeniedRequest,
): string {
  const who = `controller ${JSON.stringify(definition.name)}`;
  const { verb, path, group, resource, subresource, isResourceRequest } = denied;
  if (!isResourceRequest) return `${who} may not ${verb} the path ${path}, and no declaration allows that`;
  const target = subresource === "" ? resource : `${resource}/${subresource}`;
  if (verb.startsWith("impersonate")) return `${who} may not ${verb} ${target}. Declare it with .impersonates({ ... })`;
  if (!isVerb(verb)) return `${who} may not ${verb} ${target}, and no declaration allows that`;
  const elsewhere = grants.filter(({ rule }) =>
    rule.group === group && rule.resource === target && rule.verbs.includes(verb)
  );
  const advice = `Declare ${declarationFor(definition, denied, verb)}`;
  if (elsewhere.length === 0) return `${who} did not declare ${verb} on ${target}. ${advice}`;
  const namespaces = elsewhere.flatMap(({ namespace }) => namespace === undefined ? [] : JSON.stringify(namespace));
  const only = `${who} may ${verb} ${target} in the namespace ${namespaces.join(" or ")} only`;
  // The Events of a controller for a cluster-scoped kind are written to one namespace; a declaration covers others.
  return elsewhere.every(({ rule }) => rule.namespace !== undefined) ? `${only}. ${advice}` : only;
}

function isVerb(verb: string): verb is Verb {
  return (verbs as readonly string[]).includes(verb);
}

/** The declaration that allows a request: `.owns(ConfigMap, { deletes: true })`. */
function declarationFor(definition: ControllerDefinition, denied: DeniedRequest, verb: Verb): string {
  const { primary, watches, writesStatus, options } = definition;
  const { subresource } = denied;
  const kind = kindOf(definition, denied);
  if (isAbout(builtin.Event, denied) && options.recordsEvents === false) return "the option recordsEvents: true";
  if (isAbout(primary, denied) && subresource === "status" && verb === "patch" && !writesStatus) {
    return `.for(${kind}, { writesStatus: true })`;
  }
  const watch = watches.find(({ resource }) => isAbout(resource, denied));
  if (watch?.role === "owns" && subresource === "" && verb === "delete") return `.owns(${kind}, { deletes: true })`;
  if (watch?.role === "watches" && subresource === "" && verb === "patch") {
    return `.watches(${kind}, { ..., writes: true })`;
  }
  return `.uses(${kind}, ["${verb}"]${subresource === "" ? "" : `, "${subresource}"`})`;
}

function kindOf({ watches, permissions }: ControllerDefinition, denied: DeniedRequest): string {
  const declared = [...watches, ...permissions].map(({ resource }) => resource);
  const known = [...declared, ...Object.values(builtin)].find((resource) => isAbout(resource, denied));
  return known?.kind ?? denied.kind ?? denied.resource;
}

function isAbout({ group, plural }: Resource, denied: DeniedRequest): boolean {
  return group === denied.group && plural === denied.resource;
}
