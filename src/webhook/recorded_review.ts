/** A review and its answer, as an entry of the recording of the process. It has names only, no content of objects. */
import { apiVersionOf, keyOf, type KubeObject, type Resource, resourceName } from "../api/mod.ts";
import type { Recorder } from "../observe/mod.ts";
import type { AdmissionRequest, AdmissionResponse } from "./admission_review.ts";
import { fieldOf } from "./_decode.ts";
import { type AskedConversion, conversionPath, type ConversionWebhook } from "./conversion.ts";
import type { AdmissionWebhook } from "./webhook.ts";

/** A review that has been answered. */
export interface AnsweredReview {
  readonly webhook: AdmissionWebhook;
  readonly request: AdmissionRequest;
  readonly response: AdmissionResponse;
  /** The header of that name: the trace of the API server's request. */
  readonly traceparent: string | null;
  readonly durationMs: number;
}

/** The most characters of a traceparent that are kept: those of version 00, and some for later ones. */
const maxTraceparent = 128;

/** A conversion that has been answered. */
export interface AnsweredConversion {
  readonly webhooks: readonly ConversionWebhook[];
  readonly asked: AskedConversion;
  /** As in {@link AnsweredReview}. */
  readonly traceparent: string | null;
  readonly durationMs: number;
}

/** Records the review of a conversion. One review has objects of one kind; one object is named. */
export function recordConversion(recorder: Recorder, conversion: AnsweredConversion): void {
  const { webhooks, asked: { objects, desiredApiVersion, message }, traceparent, durationMs } = conversion;
  const [first] = objects;
  const resource = webhooks.flatMap(({ resources }) => resources).find((one) => isOfKind(one, first));
  const kind = String(fieldOf(first, "kind") ?? "");
  const ref = resource === undefined
    ? { resource: "", kind }
    : { resource: resourceName(resource), kind: resource.kind };
  const name = fieldOf(fieldOf(first, "metadata"), "name");
  recorder.record({
    kind: "review",
    causes: [],
    webhook: "conversion",
    path: conversionPath,
    object: objects.length === 1 && typeof name === "string" ? { ...ref, key: keyOf(first as KubeObject) } : ref,
    conversion: { objects: objects.length, to: desiredApiVersion },
    isAllowed: message === undefined,
    ...message === undefined ? {} : { message },
    ...traceparent === null ? {} : { traceparent: traceparent.slice(0, maxTraceparent) },
    durationMs,
  });
}

function isOfKind(resource: Resource, object: unknown): boolean {
  return resource.kind === fieldOf(object, "kind") && apiVersionOf(resource) === fieldOf(object, "apiVersion");
}

/** Records the review of an admission. */
export function recordReview(recorder: Recorder, review: AnsweredReview): void {
  const { webhook: { kind, path, resource }, request, response, traceparent, durationMs } = review;
  const { operation, name = "", namespace = "", userInfo: { username: user } } = request;
  const key = namespace === "" ? name : `${namespace}/${name}`;
  const ref = { resource: resourceName(resource), kind: resource.kind };
  const message = response.status?.message;
  recorder.record({
    kind: "review",
    causes: [],
    webhook: kind === "mutating" ? "defaulting" : "validating",
    path,
    operation,
    object: name === "" ? ref : { ...ref, key },
    ...user === undefined ? {} : { user },
    isAllowed: response.allowed,
    ...message === undefined ? {} : { message },
    ...traceparent === null ? {} : { traceparent: traceparent.slice(0, maxTraceparent) },
    durationMs,
  });
}
