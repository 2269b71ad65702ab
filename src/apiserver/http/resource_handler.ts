/**
 * resourceHandler(): requests about objects, from URL, query and body to a verb of the registry and back.
 */
import type { Clock, Random } from "../../async/mod.ts";
import { type Kind, notServed, type User } from "../model/mod.ts";
import type { Call, KnownKind, Registry } from "../registry/mod.ts";
import { type AnswerForm, answerForm, listAnswer, objectAnswer } from "./answer.ts";
import type { BodyDecoder } from "./body_decoder.ts";
import { handleAction, handleReview } from "./action_handler.ts";
import { negotiate, type Negotiated } from "./media_types.ts";
import { handlePatch } from "./patch_handler.ts";
import { deleteParameters, listParameters, type WriteOptionsKind, writeParameters } from "./query_options.ts";
import { bodySource } from "./read_body.ts";
import { decodeObject, selectionOf } from "../registry/mod.ts";
import { readDeleteOptions } from "./delete_options.ts";
import type { RequestInfo } from "./request_info.ts";
import type { Watches } from "./watches.ts";
import { checkRoute, notAllowed } from "./route.ts";
import { putScale, scaleAnswer } from "./scale_handler.ts";

/** What handling needs, the same for all requests. */
export interface ResourceServices {
  readonly registry: Registry;
  readonly watches: Watches;
  readonly clock: Clock;
  readonly random: Random;
  /** Of bodies that are neither JSON nor YAML. */
  readonly decoders: readonly BodyDecoder[];
  /** Refuses with 403 what the user may not do. */
  authorize(user: User, info: RequestInfo, verb: string, name: string): void;
}

/** One request about objects. */
export interface ResourceRequest {
  readonly request: Request;
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly user: User;
  readonly known: KnownKind;
  /** Collects the warnings for the answer. */
  readonly warnings: Set<string>;
}

/** A request together with what its answer shall look like. */
export interface Exchange extends ResourceRequest {
  readonly services: ResourceServices;
  readonly kind: Kind;
  readonly negotiated: Negotiated;
  readonly form: AnswerForm;
}

/** Serves a request about objects. @throws Refusal */
export function handleResource(services: ResourceServices, request: ResourceRequest): Promise<Response> | Response {
  const { info, known, query } = request;
  const { kind } = known;
  checkRoute(kind, info, request.request);
  if (kind.deprecation !== undefined) request.warnings.add(kind.deprecation);
  const negotiated = negotiate(request.request.headers.get("accept"));
  const form = answerForm(negotiated, request.request, query, request.warnings, services.clock.now());
  const exchange: Exchange = { ...request, services, kind, negotiated, form };
  const { subresource } = info;
  const handler = services.registry.subresourceHandler(kind.collection, subresource);
  if (subresource !== "" && handler !== undefined) return handleAction(exchange, handler);
  if (subresource === "" && info.verb === "create") {
    const review = services.registry.reviewHandler(kind.collection);
    if (review !== undefined) return handleReview(exchange, review);
  }
  if (subresource !== "" && subresource !== "scale" && kind.subresources.get(subresource)?.body !== undefined) {
    throw notServed(`${kind.plural}/${subresource} is not served here: no container runs behind this API server`);
  }
  return handleVerb(exchange);
}

function handleVerb(exchange: Exchange): Promise<Response> | Response {
  const { info } = exchange;
  switch (info.verb) {
    case "get":
      return handleGet(exchange);
    case "list":
    case "watch":
      return handleList(exchange);
    case "create":
      return handleCreate(exchange);
    case "update":
      return handlePut(exchange);
    case "patch":
      return handlePatch(exchange);
    case "delete":
      return handleDelete(exchange);
    case "deletecollection":
      return handleDeleteCollection(exchange);
    default:
      throw notAllowed();
  }
}

/** The call of a verb, for a request that only reads. */
export function readingCall(exchange: Exchange): Call {
  return callOf(exchange, {
    isDryRun: false,
    fieldManager: "",
    fieldValidation: "Ignore",
    options: {},
  });
}

/** The call of a verb. */
export function callOf(
  exchange: Exchange,
  write: Pick<Call, "isDryRun" | "fieldManager" | "fieldValidation" | "options">,
): Call {
  const { known, info, user, request, services, warnings } = exchange;
  const { isDryRun, fieldManager, fieldValidation, options } = write;
  return {
    kind: known.kind,
    family: known.family,
    namespace: known.kind.scope === "Cluster" ? "" : info.namespace,
    subresource: info.subresource,
    user,
    fieldManager,
    fieldValidation,
    isDryRun,
    options,
    // Runtimes make the signal when it is first asked for.
    get signal() {
      return request.signal;
    },
    authorize: (verb, name) => services.authorize(user, info, verb, name),
    warn: (text) => void warnings.add(text),
  };
}

/** The call of a verb that writes, with its options read from the query. @throws Refusal 400 or 422 */
export function writingCall(exchange: Exchange, kind: WriteOptionsKind): Call {
  const { query, request } = exchange;
  return callOf(exchange, writeParameters(query, kind, request.headers.get("user-agent") ?? ""));
}

async function handleGet(exchange: Exchange): Promise<Response> {
  const { info, query, services, kind, form } = exchange;
  const call = readingCall(exchange);
  const version = query.get("resourceVersion") ?? "";
  if (info.subresource === "scale") {
    return await scaleAnswer((await services.registry.getScale(call, info.name, version)).object, 200, form);
  }
  return await objectAnswer(kind, await services.registry.get(call, info.name, version), 200, form);
}

async function handleList(exchange: Exchange): Promise<Response> {
  const { info, query, services, kind, form } = exchange;
  const parameters = listParameters(query, info.isWatchPath);
  const call = readingCall(exchange);
  const selection = selectionOf(call, withPathName(info, parameters));
  if (parameters.isWatch) return services.watches.open(exchange, call, selection, parameters);
  return await listAnswer(kind, await services.registry.list(call, selection, parameters), form);
}

/** `/watch/pods/<name>` is a watch with a field selector. */
function withPathName(
  info: RequestInfo,
  selectors: { readonly labelSelector: string; readonly fieldSelector: string },
): { readonly labelSelector: string; readonly fieldSelector: string } {
  const { labelSelector, fieldSelector } = selectors;
  if (!info.isWatchPath || !info.isNamed) return selectors;
  return {
    labelSelector,
    fieldSelector: [fieldSelector, `metadata.name=${info.name}`].filter((text) => text !== "").join(","),
  };
}

async function handleCreate(exchange: Exchange): Promise<Response> {
  const { services, kind, form } = exchange;
  const body = await decodedBody(exchange, "CreateOptions");
  const { code, result } = await services.registry.create(body.call, body.next);
  return await objectAnswer(kind, result, code, form);
}

async function handlePut(exchange: Exchange): Promise<Response> {
  const { info, services, kind, form } = exchange;
  if (info.subresource === "scale") return await putScale(exchange);
  const body = await decodedBody(exchange, "UpdateOptions");
  const { code, result } = await services.registry.put(body.call, info.name, body.next);
  return await objectAnswer(kind, result, code, form);
}

/** Reads a body that holds an object of the kind. @throws Refusal 400, 413 or 415 */
async function decodedBody(exchange: Exchange, options: WriteOptionsKind) {
  const { request, kind, services } = exchange;
  const call = writingCall(exchange, options);
  const source = await bodySource(request, kind, kind.hasStrategicMerge ? services.decoders : []);
  return { call, next: () => decodeObject(services.registry.kinds, call, source()) };
}

async function handleDelete(exchange: Exchange): Promise<Response> {
  const { info, services, kind, form } = exchange;
  const options = await deleteCall(exchange);
  const { code, result } = await services.registry.delete(options.call, info.name, options.delete);
  return await objectAnswer(kind, result, code, form);
}

async function handleDeleteCollection(exchange: Exchange): Promise<Response> {
  const { query, services, kind, form } = exchange;
  const parameters = listParameters(query);
  const options = await deleteCall(exchange);
  const selection = selectionOf(options.call, parameters);
  const page = await services.registry.deleteCollection(options.call, selection, {
    list: parameters,
    delete: options.delete,
  });
  return await listAnswer(kind, page, form);
}

async function deleteCall(exchange: Exchange) {
  const { request, query, services } = exchange;
  const body = await readDeleteOptions(request, services.decoders);
  const parameters = deleteParameters(query, body);
  const { isDryRun, options } = parameters;
  const call = callOf(exchange, { isDryRun, options, fieldManager: "", fieldValidation: "Ignore" });
  return { call, delete: parameters.delete };
}
