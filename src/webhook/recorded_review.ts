/** recordReview(): a review and its answer, as an entry of the recording of the process. It has names only, no content of objects. */
import { resourceName } from "../api/mod.ts";
import type { Recorder } from "../observe/mod.ts";
import type { AdmissionRequest, AdmissionResponse } from "./admission_review.ts";
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

/** Records the review. */
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
