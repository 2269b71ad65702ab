/**
 * The body of a deletion: DeleteOptions, which only some clients send.
 */
import { badRequest, isJsonArray, isJsonObject, type Json, jsonError, type JsonObject, read } from "../model/mod.ts";
import { unregistered } from "../registry/mod.ts";
import type { BodyDecoder } from "./body_decoder.ts";
import { bodyFormat } from "./media_types.ts";
import { parseYaml } from "./parse_yaml.ts";
import { readBytes } from "./read_body.ts";

const fieldTypes: ReadonlyMap<string, string> = new Map([
  ["gracePeriodSeconds", "number"],
  ["orphanDependents", "boolean"],
  ["propagationPolicy", "string"],
]);

/**
 * Reads DeleteOptions.
 *
 * @returns undefined when there is no body
 * @throws Refusal 400 when it is something else, 415 when it is in no known format
 */
export async function readDeleteOptions(
  request: Request,
  decoders: readonly BodyDecoder[],
): Promise<JsonObject | undefined> {
  const value = await readValue(request, decoders);
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) throw badRequest("decoded object cannot be converted to DeleteOptions");
  const kind = read(value, "kind");
  if (kind !== undefined && kind !== "" && kind !== "DeleteOptions") {
    throw badRequest(unregistered(String(kind), String(read(value, "apiVersion") ?? "")));
  }
  for (const [field, type] of fieldTypes) checkType(value, field, type);
  const dryRun = read(value, "dryRun");
  if (dryRun !== undefined && dryRun !== null && !isJsonArray(dryRun)) throw mistyped("dryRun", dryRun, "[]string");
  return value;
}

async function readValue(request: Request, decoders: readonly BodyDecoder[]): Promise<Json | undefined> {
  // A deletion without a body says what it likes of its type.
  const bytes = await readBytes(request);
  if (bytes.byteLength === 0) return undefined;
  const format = bodyFormat(request.headers.get("content-type"), decoders);
  if (typeof format === "object") return format.decode(bytes);
  const text = new TextDecoder().decode(bytes);
  return format === "yaml" ? (await parseYaml(text, badRequest)).value : parse(text);
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest(`couldn't get version/kind; json parse error: ${jsonError(text)}`);
  }
}

function checkType(options: JsonObject, field: string, type: string): void {
  const value = read(options, field);
  if (value === undefined || value === null || typeof value === type) return;
  throw mistyped(field, value, type === "number" ? "int64" : type === "boolean" ? "bool" : type);
}

function mistyped(field: string, value: Json, type: string): Error {
  const found = isJsonArray(value) ? "array" : typeof value;
  return badRequest(`json: cannot unmarshal ${found} into Go struct field DeleteOptions.${field} of type ${type}`);
}
