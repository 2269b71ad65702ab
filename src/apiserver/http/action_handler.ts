/**
 * Requests to the action of a subresource or to a review kind: reads the body like that of a create, then calls the handler.
 */
import { type Draft, forbidden, internalError, isDraft, type Kind, read } from "../model/mod.ts";
import {
  type ActionCall,
  type ActionResponse,
  type Call,
  decodeObject,
  type KnownKind,
  represented,
  type ReviewHandler,
  type SubresourceHandler,
} from "../registry/mod.ts";
import { objectResponse, plainObjectResponse } from "./response.ts";
import { writeParameters } from "./query_options.ts";
import { bodySource } from "./read_body.ts";
import { callOf, type Exchange, type ResourceRequest, type ResourceServices } from "./exchange.ts";

/** Handles an action. @throws StatusError */
export async function handleAction(exchange: Exchange, handler: SubresourceHandler): Promise<Response> {
  const { info, kind, format } = exchange;
  // A WebSocket begins with a GET, but it does what the verb create is needed for.
  if (handler.isConnection === true && info.verb !== "create") {
    const { isAllowed, reason } = exchange.services.decide(exchange.user, info, "create", info.name);
    // It gives only the reason of the authorizer, which RBAC does not have.
    if (!isAllowed) throw forbidden({ group: info.group, resource: info.resource, name: info.name }, reason);
  }
  const call = await actionCall(exchange, bodyKind(exchange, kind), handler.isConnection);
  const response: ActionResponse = await handler.handle(call);
  if (response.kind === "response") return response.response;
  if (response.kind === "connection") return await response.connect(exchange.request);
  const isOwn = read(response.object, "kind") === kind.kind && info.subresource !== "";
  return await (isOwn
    ? objectResponse(kind, represented(response.object), response.code, format)
    : plainObjectResponse(response.object, response.code, format));
}

/** Handles a request to a proxy, whose path, types and body are those of another program. @throws StatusError */
export async function handleProxy(
  services: ResourceServices,
  { request, info, query, user, known, warnings, remoteAddress }: ResourceRequest,
  handler: SubresourceHandler,
): Promise<Response> {
  const rest = info.parts.slice(3).join("/");
  const path = rest === "" || rest.startsWith("/") ? rest : `/${rest}`;
  const response = await handler.handle({
    kind: known.kind,
    subresource: info.subresource,
    namespace: known.kind.scope === "Cluster" ? "" : info.namespace,
    name: info.name,
    verb: info.verb === "" ? "get" : actionVerb(info.verb),
    body: undefined,
    user,
    isDryRun: false,
    query,
    signal: request.signal,
    registry: services.registry,
    proxied: { path: info.path.endsWith("/") && !path.endsWith("/") ? `${path}/` : path, remoteAddress },
    warn: (text) => void warnings.add(text),
  });
  if (response.kind === "connection") return await response.connect(request);
  throw internalError(`a proxy responded with ${response.kind}`);
}

/** Handles the creation of a review. @throws StatusError */
export async function handleReview(exchange: Exchange, handler: ReviewHandler): Promise<Response> {
  const { kind, format } = exchange;
  const call = await actionCall(exchange, exchange.known);
  const object = await handler.review(call);
  return await objectResponse(kind, represented(object), 201, format);
}

/** The kind of the body: that of the object, or another one, such as the Eviction of a Pod. */
function bodyKind(exchange: Exchange, kind: Kind): KnownKind | undefined {
  const { known, info, services } = exchange;
  const body = kind.subresources.get(info.subresource)?.body;
  if (body === undefined) return known;
  return services.registry.kinds.findKind(body.group, body.version, body.kind);
}

async function actionCall(
  exchange: Exchange,
  known: KnownKind | undefined,
  isConnection = false,
): Promise<ActionCall> {
  const { info, query, request, kind, user, services, warnings } = exchange;
  const parameters = writeParameters(query, "CreateOptions", request.headers.get("user-agent") ?? "");
  const verb = actionVerb(info.verb);
  const hasBody = !isConnection && (verb === "create" || verb === "update" || verb === "patch");
  const call = callOf(exchange, parameters);
  const body = hasBody ? await actionBody(exchange, { ...call, ...known }, known) : undefined;
  if (body !== undefined && info.subresource !== "") services.registry.admitAction(call, info.name, body);
  return {
    kind,
    subresource: info.subresource,
    namespace: kind.scope === "Cluster" ? "" : info.namespace,
    name: info.name,
    verb,
    body,
    user,
    isDryRun: parameters.isDryRun,
    query,
    signal: request.signal,
    registry: services.registry,
    warn: (text) => void warnings.add(text),
  };
}

function actionVerb(verb: string): ActionCall["verb"] {
  switch (verb) {
    case "create":
    case "get":
    case "update":
    case "patch":
    case "delete":
      return verb;
    default:
      throw internalError(`no action has the verb ${verb}`);
  }
}

async function actionBody(exchange: Exchange, call: Call, known: KnownKind | undefined): Promise<Draft> {
  const { request, kind, info, services } = exchange;
  const source = await bodySource(request, known?.kind ?? kind, services.decoders);
  const parsed = source();
  if (known === undefined) return withHead(parsed.draft, kind.subresources.get(info.subresource)?.body);
  const draft = decodeObject(services.registry.kinds, call, parsed);
  known.kind.setDefaults(draft);
  await services.registry.prepareAction(call, draft);
  return draft;
}

/** Sets apiVersion, kind and metadata in a body of an unregistered kind, to which no rules apply. */
function withHead(
  draft: Draft,
  body: { readonly group: string; readonly version: string; readonly kind: string } | undefined,
): Draft {
  if (body === undefined) return draft;
  const { group, version, kind } = body;
  draft["apiVersion"] ??= group === "" ? version : `${group}/${version}`;
  draft["kind"] ??= kind;
  if (!isDraft(read(draft, "metadata"))) draft["metadata"] = {};
  return draft;
}
