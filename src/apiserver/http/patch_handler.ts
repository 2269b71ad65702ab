/**
 * PATCH: which patches a kind takes, and how each is read.
 */
import { badRequest, type Json, jsonError, type Kind, Refusal } from "../model/mod.ts";
import type { FieldValidation, PatchBody, PatchType } from "../registry/mod.ts";

import { duplicateKeys, membersOf, structureOf } from "./_json_structure.ts";
import { objectAnswer } from "./answer.ts";
import { unsupported } from "./media_types.ts";
import { writeParameters } from "./query_options.ts";
import { parseYaml } from "./parse_yaml.ts";
import { deepestBody, readBody } from "./read_body.ts";
import { callOf, type Exchange } from "./resource_handler.ts";
import { scaleAnswer } from "./scale_handler.ts";

const all: readonly PatchType[] = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
];

const withoutStrategic = all.filter((type) => type !== "application/strategic-merge-patch+json");

/** Serves a PATCH. @throws Refusal */
export async function handlePatch(exchange: Exchange): Promise<Response> {
  const { request, query, info, services, kind, form } = exchange;
  const type = patchType(kind, request.headers.get("content-type"));
  const text = await readBody(request);
  const isApply = type === "application/apply-patch+yaml";
  const parameters = writeParameters(query, "PatchOptions", request.headers.get("user-agent") ?? "", isApply);
  const call = callOf(exchange, parameters);
  const parsed = await parsePatch(type, text, parameters.fieldValidation);
  const body: PatchBody = { type, text, isForced: parameters.isForced, ...parsed };
  if (info.subresource === "scale") {
    const { code, result } = await services.registry.patchScale(call, info.name, body);
    return await scaleAnswer(result.object, code, form);
  }
  const { code, result } = await services.registry.patch(call, info.name, body);
  return await objectAnswer(kind, result, code, form);
}

function patchType(kind: Kind, contentType: string | null): PatchType {
  const known = kind.hasStrategicMerge ? all : withoutStrategic;
  const name = (contentType ?? "").split(";")[0]?.trim() ?? "";
  const type = known.find((candidate) => candidate === name);
  if (type === undefined) throw kind.hasStrategicMerge ? unroutable() : unsupported(known);
  return type;
}

/** 415, as the routes of built-in kinds answer. */
function unroutable(): Refusal {
  return new Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

type ParsedPatch = Pick<PatchBody, "value" | "duplicates">;

async function parsePatch(type: PatchType, text: string, validation: FieldValidation): Promise<ParsedPatch> {
  if (type === "application/apply-patch+yaml") {
    // JSON is YAML, and far quicker to read.
    const json = parsedJson(text);
    if (json !== undefined) return { value: json.value, duplicates: yamlDuplicates(json.duplicates) };
    return await parseYaml(text, (why) => badRequest(`error decoding YAML: error converting YAML to JSON: ${why}`));
  }
  const parsed = parsedJson(text);
  if (parsed === undefined) throw malformed(type, text, validation);
  return { value: parsed.value, duplicates: parsed.duplicates.map((path) => `duplicate field "${path}"`) };
}

function parsedJson(text: string): { readonly value: Json; readonly duplicates: readonly string[] } | undefined {
  const { depth, members } = structureOf(text);
  if (depth > deepestBody) throw badRequest("error decoding patch: exceeded max depth");
  try {
    const value: Json = JSON.parse(text);
    return { value, duplicates: members === membersOf(value) ? [] : duplicateKeys(text) };
  } catch {
    return undefined;
  }
}

function yamlDuplicates(paths: readonly string[]): readonly string[] {
  return paths.map((path) => `line 1: key ${JSON.stringify(path.slice(path.lastIndexOf(".") + 1))} already set in map`);
}

function malformed(type: PatchType, text: string, validation: FieldValidation): Refusal {
  const why = jsonError(text);
  const isPlain = type === "application/strategic-merge-patch+json" ||
    (type === "application/json-patch+json" && validation === "Ignore");
  if (type === "application/merge-patch+json" && validation === "Ignore") return badRequest("Invalid JSON Patch");
  return badRequest(isPlain ? why : `error decoding patch: ${why}`);
}
