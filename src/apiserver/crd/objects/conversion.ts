/**
 * Conversion of custom resources between the versions of their definition: None changes only the apiVersion, Webhook calls
 * a webhook. The response is validated as on the real server: the same number of objects, in the desired version, with
 * unchanged metadata except labels and annotations.
 */
import { parseFiniteJson, printExactJson } from "../../../api/mod.ts";
import {
  draftOf,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  labelKeyErrors,
  labelValueErrors,
  read,
  StatusError,
} from "../../model/mod.ts";
import { type CallWebhook, targetOf } from "../../admission/mod.ts";
import { objectAt, textAt } from "../../kinds/mod.ts";
import type { ConversionWebhook, CrdSpec } from "../definition/mod.ts";

/** Converts objects of any version of a definition to one version. */
export interface Converter {
  /** Throws a StatusError (500) when the webhook fails. */
  convert(objects: readonly JsonObject[], apiVersion: string): readonly JsonObject[] | Promise<readonly JsonObject[]>;
}

/** Options of {@link converterOf}. */
export interface ConversionOptions {
  /** Undefined when the server calls no webhooks: then objects of other versions cannot be read. */
  readonly callWebhook: CallWebhook | undefined;
  /** A new UID for each request. */
  readonly newUid: () => string;
}

/** The converter of a definition. */
export function converterOf(crd: CrdSpec, options: ConversionOptions): Converter {
  const { webhook } = crd;
  return webhook === undefined ? renaming : new WebhookConverter(crd, webhook, options);
}

const renaming: Converter = {
  convert: (objects, apiVersion) =>
    objects.map((object) => object["apiVersion"] === apiVersion ? object : { ...object, apiVersion }),
};

/** As on the real server, where it is not configurable. */
const webhookTimeoutMs = 30_000;

class WebhookConverter implements Converter {
  readonly #crd: CrdSpec;
  readonly #webhook: ConversionWebhook;
  readonly #options: ConversionOptions;

  constructor(crd: CrdSpec, webhook: ConversionWebhook, options: ConversionOptions) {
    this.#crd = crd;
    this.#webhook = webhook;
    this.#options = options;
  }

  convert(objects: readonly JsonObject[], apiVersion: string): readonly JsonObject[] | Promise<readonly JsonObject[]> {
    const toConvert = objects.filter((object) => object["apiVersion"] !== apiVersion);
    if (toConvert.length === 0) return objects;
    return this.#convertWithWebhook(toConvert, apiVersion).then((converted) => {
      let next = 0;
      return objects.map((object) => object["apiVersion"] === apiVersion ? object : converted[next++] ?? object);
    });
  }

  async #convertWithWebhook(objects: readonly JsonObject[], apiVersion: string): Promise<readonly JsonObject[]> {
    const title = `conversion webhook for ${this.#subject(objects)}`;
    const version = this.#webhook.reviewVersions.find((each) => each === "v1" || each === "v1beta1");
    if (version === undefined) throw conversionError("no supported conversion review versions");
    const uid = this.#options.newUid();
    const request: JsonObject = { uid, desiredAPIVersion: apiVersion, objects: objects.map(unversioned) };
    const head = { kind: "ConversionReview", apiVersion: `apiextensions.k8s.io/${version}` };
    const review: JsonObject = { ...head, request, response: emptyResponse };
    const response = await this.#call(title, review);
    const converted = readResponse(response, version, uid, title);
    if (converted.length !== objects.length) {
      throw conversionError(`${title} returned ${converted.length} objects, expected ${objects.length}`);
    }
    const isSingle = objects.length === 1;
    return objects.map((object, index) => {
      const where = isSingle ? "" : ` at index ${index}`;
      return checkedObject(object, converted[index] ?? null, apiVersion, `${title} returned invalid`, where);
    });
  }

  async #call(title: string, review: JsonObject): Promise<Json> {
    const { callWebhook } = this.#options;
    if (callWebhook === undefined) throw conversionError(`${title} failed: no webhook can be called`);
    try {
      const options = { timeoutMs: webhookTimeoutMs };
      const text = await callWebhook(targetOf(this.#webhook.clientConfig), printExactJson(review), options);
      return parseFiniteJson(text) as Json;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw conversionError(`${title} failed: ${reason.replace(/^failed to call webhook: /, "")}`);
    }
  }

  /** The GroupVersionKind of the objects, in Go's format. */
  #subject(objects: readonly JsonObject[]): string {
    const [object = {}] = objects;
    const version = textAt(object, "apiVersion").split("/")[1] ?? "";
    return `${this.#crd.group}/${version}, Kind=${textAt(object, "kind")}`;
  }
}

/** 500 without a reason, as the real server returns it. */
function conversionError(message: string): StatusError {
  return new StatusError(500, "", message);
}

/** An object as the real server sends it: without a resourceVersion. */
function unversioned(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = objectAt(object, "metadata");
  return { ...object, metadata };
}

/** Go also writes the response that is not filled in yet. */
const emptyResponse: JsonObject = { uid: "", convertedObjects: null, result: { metadata: {} } };

function readResponse(body: Json, version: string, uid: string, title: string): readonly Json[] {
  const fail = (reason: string) => conversionError(`${title} failed: ${reason}`);
  const review = isJsonObject(body) ? body : {};
  const [apiVersion, kind] = [textAt(review, "apiVersion"), textAt(review, "kind")];
  const expected = `apiextensions.k8s.io/${version}`;
  if (version === "v1" && (apiVersion !== expected || kind !== "ConversionReview")) {
    if (kind !== "") {
      const shortName = (of: string, name: string) => `(${of.split("/").at(-1) ?? ""}.${name})`;
      const [from, to] = [shortName(apiVersion, kind), shortName(expected, "ConversionReview")];
      throw fail(`converting ${from} to ${to}: unknown conversion`);
    }
    throw fail(
      `expected webhook response of ${expected}, Kind=ConversionReview, got ${apiVersion || "/"}, Kind=${kind}`,
    );
  }
  const response = read(review, "response");
  if (!isJsonObject(response)) throw fail("no response provided");
  const responseUid = textAt(response, "uid");
  if (version === "v1" && responseUid !== uid) {
    throw fail(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(responseUid)}`);
  }
  const result = objectAt(response, "result");
  const status = textAt(result, "status");
  if (status !== "Success") {
    const message = textAt(result, "message");
    throw fail(message === "" ? `response.result.status was '${status}', not 'Success'` : message);
  }
  const objects = read(response, "convertedObjects");
  return isJsonArray(objects) ? objects : [];
}

function checkedObject(
  original: JsonObject,
  converted: Json,
  apiVersion: string,
  title: string,
  where: string,
): JsonObject {
  const what = where === "" ? `${title} object` : `${title} converted object${where}`;
  if (!isJsonObject(converted)) throw conversionError(`${what}: Object 'Kind' is missing`);
  const [version, kind] = [textAt(converted, "apiVersion"), textAt(converted, "kind")];
  const at = where === "" ? `${title} object at index 0` : what;
  if (version !== apiVersion) {
    throw conversionError(`${at}: invalid groupVersion (expected ${apiVersion}, received ${version})`);
  }
  const originalKind = textAt(original, "kind");
  if (kind !== originalKind) throw conversionError(`${at}: invalid kind (expected ${originalKind}, received ${kind})`);
  const [before, after] = [objectAt(original, "metadata"), objectAt(converted, "metadata")];
  for (const field of ["name", "namespace", "uid"]) {
    const [was, is] = [textAt(before, field), textAt(after, field)];
    if (was === is) continue;
    throw conversionError(`${what}: must have the same ${field === "uid" ? "UID" : field}: ${was} != ${is}`);
  }
  const metadataTitle = where === "" ? `${title} metadata` : `${title} metadata in object${where}`;
  return { ...converted, metadata: restoredMetadata(before, converted, metadataTitle) };
}

/** The original metadata with the labels and annotations of the response. */
function restoredMetadata(before: JsonObject, converted: JsonObject, title: string): JsonObject {
  const after = read(converted, "metadata");
  if (after === undefined) throw conversionError(`${title}: missing metadata in converted object`);
  const restored = draftOf(before);
  for (const field of ["labels", "annotations"]) {
    const texts = isJsonObject(after) ? read(after, field) : undefined;
    if (texts === undefined || texts === null) {
      delete restored[field];
      continue;
    }
    if (!isJsonObject(texts)) throw conversionError(`${title}: invalid metadata.${field} in converted object`);
    for (const [key, value] of Object.entries(texts)) checkText(field, key, value, title);
    restored[field] = draftOf(texts);
  }
  return restored;
}

function checkText(field: string, key: string, value: Json, title: string): void {
  if (typeof value !== "string") {
    throw conversionError(`${title}: metadata.${field}[${key}] must be a string in converted object`);
  }
  const isLabel = field === "labels";
  const [wrongKey] = labelKeyErrors(isLabel ? key : key.toLowerCase());
  const path = isLabel ? "metadata.labels" : "metadata.annotation";
  if (wrongKey !== undefined) {
    throw conversionError(`${title}: ${path}: Invalid value: ${JSON.stringify(key)}: ${wrongKey}`);
  }
  const [wrongValue] = isLabel ? labelValueErrors(value) : [];
  if (wrongValue !== undefined) {
    throw conversionError(`${title}: ${path}: Invalid value: ${JSON.stringify(value)}: ${wrongValue}`);
  }
}
