/**
 * Requests about objects: from the URL, the query and the body to a verb of the registry, and back to a response. It also
 * reads the patches of all content types and the autoscaling/v1 Scale of any kind.
 */
import { apiVersionOf, parseFiniteJson } from "../../api/mod.ts";
import { nextTurn } from "../../runtime/mod.ts";
import { scaleTable } from "../kinds/mod.ts";
import {
  badRequest,
  type Draft,
  type Json,
  jsonError,
  type JsonObject,
  type Kind,
  methodNotSupported,
  notServed,
  parseLiteralJson,
  read,
  StatusError,
} from "../model/mod.ts";
import {
  decodeObject,
  type FieldValidation,
  type PatchBody,
  type PatchType,
  selectionOf,
  type Selectors,
} from "../registry/mod.ts";
import { handleAction, handleProxy, handleReview } from "./action_handler.ts";
import {
  callOf,
  type Exchange,
  readingCall,
  type ResourceRequest,
  type ResourceServices,
  writingCall,
} from "./exchange.ts";
import { type BodyText, withoutLoneSurrogates } from "./body_text.ts";
import { checkCollections, duplicateKeys, maxDepth, membersOf, structureOf } from "./json_structure.ts";
import { negotiate, unsupported } from "./media_types.ts";
import { deleteParameters, listParameters, type WriteOptionsKind, writeParameters } from "./query_options.ts";
import { bodySource, isLargeText, readBody, readDeleteOptions } from "./read_body.ts";
import { listResponse, objectResponse, plainObjectResponse, type ResponseFormat, responseFormat } from "./response.ts";
import { checkProxyRoute, checkRoute, notAllowed } from "./route.ts";
import { type TableKind, transformObject } from "./table.ts";
import { parseYaml } from "./yaml.ts";

/** Serves a request about objects. @throws StatusError */
export function handleResource(services: ResourceServices, request: ResourceRequest): Promise<Response> | Response {
  const { info, known, query } = request;
  const { kind } = known;
  const { subresource } = info;
  const handler = services.registry.subresourceHandler(kind.collection, subresource);
  if (handler?.isProxy === true) {
    checkProxyRoute(kind, info, request.request);
    return handleProxy(services, request, handler);
  }
  checkRoute(kind, info, request.request);
  if (kind.deprecation !== undefined) request.warnings.add(kind.deprecation);
  const negotiated = negotiate(request.request.headers.get("accept"), kind.hasStrategicMerge ? "builtin" : "custom");
  const format = responseFormat(negotiated, request.request, query, request.warnings, services.clock.now());
  const exchange: Exchange = { ...request, services, kind, negotiated, format };
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

async function handleGet(exchange: Exchange): Promise<Response> {
  const { info, query, services, kind, format } = exchange;
  const call = readingCall(exchange);
  const version = query.get("resourceVersion") ?? "";
  if (info.subresource === "scale") {
    return await scaleResponse(kind, (await services.registry.getScale(call, info.name, version)).object, 200, format);
  }
  return await objectResponse(kind, await services.registry.get(call, info.name, version), 200, format);
}

async function handleList(exchange: Exchange): Promise<Response> {
  const { info, query, services, kind, format } = exchange;
  const parameters = listParameters(query, info.isWatchPath);
  const call = readingCall(exchange);
  const selection = selectionOf(call, selectorsOf(exchange, parameters));
  if (parameters.isWatch && !kind.verbs.includes("watch")) {
    throw methodNotSupported({ group: kind.group, resource: kind.plural, name: "" }, "watch");
  }
  if (parameters.isWatch) return services.watches.open(exchange, call, selection, parameters);
  return await listResponse(kind, await services.registry.list(call, selection, parameters), format, selection.shard);
}

/** The deprecated `/watch/pods/<name>` is a watch with a field selector. Without its gate, a shard selector is ignored. */
function selectorsOf({ info, services }: Exchange, parameters: Selectors): Selectors {
  const { labelSelector, fieldSelector, shardSelector } = parameters;
  const isNamed = info.isWatchPath && info.isNamed;
  const fields = isNamed ? [fieldSelector, `metadata.name=${info.name}`] : [fieldSelector];
  return {
    labelSelector,
    fieldSelector: fields.filter((text) => text !== "").join(","),
    shardSelector: services.features.has("ShardedListAndWatch") ? shardSelector : "",
  };
}

async function handleCreate(exchange: Exchange): Promise<Response> {
  const { services, kind, format } = exchange;
  const body = await decodedBody(exchange, "CreateOptions");
  const { code, result } = await services.registry.create(body.call, body.next);
  return await objectResponse(kind, result, code, format);
}

async function handlePut(exchange: Exchange): Promise<Response> {
  const { info, services, kind, format } = exchange;
  if (info.subresource === "scale") return await putScale(exchange);
  const body = await decodedBody(exchange, "UpdateOptions");
  const { code, result } = await services.registry.put(body.call, info.name, body.next);
  return await objectResponse(kind, result, code, format);
}

/** Reads a body with an object of the kind. @throws StatusError 400, 413 or 415 */
async function decodedBody(exchange: Exchange, options: WriteOptionsKind) {
  const { request, kind, services } = exchange;
  const call = writingCall(exchange, options);
  const source = await bodySource(request, kind, kind.hasStrategicMerge ? services.decoders : []);
  const next = () => decodeObject(services.registry.kinds, call, source());
  return { call: source.isLarge ? { ...call, pause: nextTurn } : call, next };
}

async function handleDelete(exchange: Exchange): Promise<Response> {
  const { info, services, kind, format } = exchange;
  const options = await deleteCall(exchange);
  const { code, result } = await services.registry.delete(options.call, info.name, options.delete);
  return await objectResponse(kind, result, code, format);
}

async function handleDeleteCollection(exchange: Exchange): Promise<Response> {
  const { query, services, kind, format } = exchange;
  const parameters = listParameters(query);
  const options = await deleteCall(exchange);
  const selection = selectionOf(options.call, selectorsOf(exchange, parameters));
  const page = await services.registry.deleteCollection(options.call, selection, {
    list: parameters,
    delete: options.delete,
  });
  return await listResponse(kind, page, format, selection.shard);
}

async function deleteCall(exchange: Exchange) {
  const { request, query, services } = exchange;
  const body = await readDeleteOptions(request, services.decoders);
  const parameters = deleteParameters(query, body);
  const { isDryRun, options } = parameters;
  const call = callOf(exchange, { isDryRun, options, fieldManager: "", fieldValidation: "Ignore" });
  return { call, delete: parameters.delete };
}

/** PUT of a Scale. @throws StatusError */
async function putScale(exchange: Exchange): Promise<Response> {
  const { request, info, services, kind, format } = exchange;
  const call = writingCall(exchange, "UpdateOptions");
  const source = await bodySource(request, kind, services.decoders);
  const body = (): Draft => {
    const { draft } = source();
    checkScale(draft, kind);
    return draft;
  };
  const { code, result } = await services.registry.putScale(call, info.name, body);
  return await scaleResponse(kind, result.object, code, format);
}

const scaleKind: TableKind = { group: "autoscaling", kind: "Scale", hasStrategicMerge: true, table: scaleTable };

/** The Scale of a custom resource has no internal type. */
const customScaleKind: TableKind = { ...scaleKind, goType: "*v1.Scale" };

/** The response with the Scale of an object of a kind, in the negotiated format. */
function scaleResponse(
  parent: Kind,
  scale: JsonObject,
  code: number,
  format: ResponseFormat,
): Promise<Response> | Response {
  const { transform } = format.negotiated;
  if (transform === undefined) return plainObjectResponse(scale, code, format);
  const own = parent.hasStrategicMerge ? scaleKind : customScaleKind;
  return plainObjectResponse(transformObject(own, scale, transform, format.table, format.now), code, format);
}

function checkScale(draft: Draft, parent: Kind): void {
  draft["kind"] ??= "Scale";
  draft["apiVersion"] ??= "autoscaling/v1";
  const [name, apiVersion] = [String(read(draft, "kind")), String(read(draft, "apiVersion"))];
  if (name === "Scale" && apiVersion === "autoscaling/v1") return;
  if (parent.hasStrategicMerge) {
    const version = apiVersion.split("/").at(-1) ?? "";
    const why = `converting (${version}.${name}) to (autoscaling.Scale): unknown conversion`;
    throw badRequest(`${name} in version ${JSON.stringify(version)} cannot be handled as a Scale: ${why}`);
  }
  throw badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${apiVersionOf(parent)})`,
  );
}

const patchTypes: readonly PatchType[] = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

const patchTypesWithoutStrategic = patchTypes.filter((type) => type !== "application/strategic-merge-patch+json");

/** PATCH of an object or its Scale. @throws StatusError */
async function handlePatch(exchange: Exchange): Promise<Response> {
  const { request, query, info, services, kind, format } = exchange;
  const type = patchType(kind, request.headers.get("content-type"));
  const content = await readBody(request);
  const { text } = content;
  const isApply = type === "application/apply-patch+yaml";
  const parameters = writeParameters(query, "PatchOptions", request.headers.get("user-agent") ?? "", isApply);
  const call = callOf(exchange, parameters);
  const parsed = await parsePatch(kind, type, content, parameters.fieldValidation);
  const body: PatchBody = { type, text, isForced: parameters.isForced, ...parsed };
  if (info.subresource === "scale") {
    const { code, result } = await services.registry.patchScale(call, info.name, body);
    return await scaleResponse(kind, result.object, code, format);
  }
  const paused = isLargeText(text) ? { ...call, pause: nextTurn } : call;
  const { code, result } = await services.registry.patch(paused, info.name, body);
  return await objectResponse(kind, result, code, format);
}

function patchType(kind: Kind, contentType: string | null): PatchType {
  const known = kind.hasStrategicMerge ? patchTypes : patchTypesWithoutStrategic;
  const name = (contentType ?? "").split(";")[0]?.trim() ?? "";
  const type = known.find((candidate) => candidate === name);
  if (type === undefined) throw kind.hasStrategicMerge ? unsupportedByRoute() : unsupported(known);
  return type;
}

/** 415, as the routes of built-in kinds respond. */
function unsupportedByRoute(): StatusError {
  return new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

type ParsedPatch = Pick<PatchBody, "value" | "duplicates">;

async function parsePatch(
  kind: Kind,
  type: PatchType,
  body: BodyText,
  validation: FieldValidation,
): Promise<ParsedPatch> {
  if (type === "application/apply-patch+yaml") {
    const yaml = (why: string) => badRequest(`error decoding YAML: error converting YAML to JSON: ${why}`);
    const { value, duplicates } = await parseYaml(body, yaml);
    return { value, duplicates };
  }
  const keepsLiterals = kind.hasStrategicMerge && type !== "application/strategic-merge-patch+json";
  const parsed = parsedJson(body.text, keepsLiterals);
  if (parsed === undefined) throw malformed(type, body, validation);
  return {
    value: parsed.value,
    duplicates: [...new Set(parsed.duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`))],
  };
}

function parsedJson(
  text: string,
  keepsLiterals: boolean,
): { readonly value: Json; readonly duplicates: readonly string[] } | undefined {
  const { depth, members, collections } = structureOf(text);
  checkCollections(collections);
  if (depth > maxDepth) throw badRequest("error decoding patch: exceeded max depth");
  const whole = withoutLoneSurrogates(text);
  try {
    const plain = parseFiniteJson(whole);
    const value = (keepsLiterals ? parseLiteralJson(whole) : plain) as Json;
    return { value, duplicates: members === membersOf(value) ? [] : duplicateKeys(text) };
  } catch {
    return undefined;
  }
}

function malformed(type: PatchType, { text, bytes }: BodyText, validation: FieldValidation): StatusError {
  const why = jsonError(text, bytes);
  const isPlain = type === "application/strategic-merge-patch+json" ||
    (type === "application/json-patch+json" && validation === "Ignore");
  if (type === "application/merge-patch+json" && validation === "Ignore") return badRequest("Invalid JSON Patch");
  if (type === "application/json-patch+json" && why.endsWith("into Go value of type float64")) {
    return badRequest(`error decoding patch: ${why.replace("Go value", "Go struct field jsonPatchOp.value")}`);
  }
  return badRequest(isPlain ? why : `error decoding patch: ${why}`);
}
