/**
 * The AdmissionReview of one webhook: what is sent to it, what its answer means, and the Status of a denial. Sources:
 * apiserver `admission/plugin/webhook` and `webhook/errors` of Kubernetes 1.36.
 */
import { parseFiniteJson, printExactJson, type StatusDetails } from "../../api/mod.ts";
import {
  type AdmissionRequest,
  internalError,
  isJsonArray,
  isJsonObject,
  type Json,
  jsonError,
  type JsonObject,
  type Kind,
  read,
  StatusError,
} from "../model/mod.ts";
import { requestFields } from "./cel_variables.ts";
import { type CallWebhook, WebhookCallError, type WebhookTarget } from "./webhook_call.ts";
import { fromBase64 } from "../../runtime/mod.ts";

/** The webhook that reviews. */
export interface ReviewingWebhook {
  readonly name: string;
  readonly target: WebhookTarget;
  readonly failsOpen: boolean;
  /** True in a MutatingWebhookConfiguration. */
  readonly isMutating: boolean;
  readonly timeoutMs: number;
}

/** The result of calling a webhook. */
export type WebhookResult =
  | { readonly kind: "allowed"; readonly patch: readonly Json[] | undefined; readonly warnings: readonly string[] }
  /** The call failed, and the failurePolicy is Ignore. */
  | { readonly kind: "skipped" };

/**
 * Calls a webhook.
 *
 * @param parts `requestKind` is the kind of the client's request
 * @throws StatusError when the webhook denies the request, or when the call fails and the failurePolicy is Fail
 */
export async function sendReview(
  webhook: ReviewingWebhook,
  request: AdmissionRequest,
  parts: { readonly call: CallWebhook; readonly uid: string; readonly requestKind: Kind },
): Promise<WebhookResult> {
  const body = printExactJson(reviewOf(request, parts.uid, parts.requestKind));
  try {
    const text = await parts.call(webhook.target, body, { timeoutMs: webhook.timeoutMs });
    return resultOf(webhook, text, parts.uid);
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    if (webhook.failsOpen) return { kind: "skipped" };
    throw internalError(`failed calling webhook "${webhook.name}": ${error.message}`);
  }
}

function reviewOf(request: AdmissionRequest, uid: string, requestKind: Kind): JsonObject {
  const { object = null, oldObject = null } = request;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: { uid, ...requestFields(request, requestKind), object, oldObject },
  };
}

function resultOf(webhook: ReviewingWebhook, text: string, uid: string): WebhookResult {
  const review = reviewIn(text);
  const response = responseOf(review);
  if (response.uid !== uid) {
    const got = JSON.stringify(response.uid ?? "");
    throw invalidResponse(`expected response.uid=${JSON.stringify(uid)}, got ${got}`);
  }
  checkKind(review);
  const warnings = Array.isArray(response.warnings) ? response.warnings.map(String) : [];
  const patch = patchOf(response, webhook.isMutating);
  if (response.allowed !== true) throw denial(webhook, response.status);
  return { kind: "allowed", patch, warnings };
}

function reviewIn(text: string): Json {
  try {
    return parseFiniteJson(text) as Json;
  } catch {
    const message = `couldn't get version/kind; json parse error: ${jsonError(text)}`;
    throw new WebhookCallError(`failed to call webhook: ${message}`);
  }
}

const expectedVersion = "admission.k8s.io/v1";

function responseOf(review: Json): JsonObject {
  if (isJsonObject(review) && review.apiVersion === "admission.k8s.io/v1beta1") {
    const message = "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion";
    throw new WebhookCallError(`failed to call webhook: ${message}`);
  }
  const response = isJsonObject(review) ? read<Json>(review, "response") : undefined;
  if (!isJsonObject(response)) throw invalidResponse("webhook response was absent");
  return response;
}

function checkKind(review: Json): void {
  const { apiVersion = "", kind = "" } = isJsonObject(review) ? review : {};
  if (apiVersion === expectedVersion && kind === "AdmissionReview") return;
  const expected = `${expectedVersion}, Kind=AdmissionReview`;
  throw invalidResponse(
    `expected webhook response of ${expected}, got ${apiVersion === "" ? "/" : apiVersion}, Kind=${kind}`,
  );
}

/** Reads the patch. @throws WebhookCallError when it is invalid or not allowed */
function patchOf({ patch, patchType }: JsonObject, isMutating: boolean): readonly Json[] | undefined {
  const has = { patch: typeof patch === "string" && patch !== "", type: patchType !== undefined && patchType !== null };
  if (!isMutating) {
    if (has.patch) throw invalidResponse("validating webhook may not return response.patch");
    if (has.type) throw invalidResponse("validating webhook may not return response.patchType");
    return undefined;
  }
  if (has.patch && !has.type) throw invalidResponse("webhook returned response.patch but not response.patchType");
  if (!has.patch && has.type) throw invalidResponse("webhook returned response.patchType but not response.patch");
  if (typeof patch !== "string" || !has.patch) return undefined;
  if (patchType === "") throw invalidResponse('webhook returned invalid response.patchType of ""');
  const operations = operationsIn(decodedPatch(patch));
  if (operations.length > 0 && patchType !== "JSONPatch") {
    throw new WebhookCallError(`unsupported patch type ${JSON.stringify(patchType)}`);
  }
  return operations;
}

function decodedPatch(patch: string): string {
  try {
    return new TextDecoder().decode(fromBase64(patch));
  } catch {
    const message = "couldn't get version/kind; json parse error: illegal base64 data in response.patch";
    throw new WebhookCallError(`failed to call webhook: ${message}`);
  }
}

function operationsIn(text: string): readonly Json[] {
  const undecodable = (message: string) =>
    new WebhookCallError(`received undecodable patch in webhook response: ${message}`);
  let operations: Json;
  try {
    operations = parseFiniteJson(text) as Json;
  } catch {
    throw undecodable(jsonError(text));
  }
  if (isJsonArray(operations)) return operations;
  if (operations === null) return [];
  const type = isJsonObject(operations) ? "object" : typeof operations === "boolean" ? "bool" : typeof operations;
  throw undecodable(`json: cannot unmarshal ${type} into Go value of type jsonpatch.Patch`);
}

function invalidResponse(message: string): WebhookCallError {
  return new WebhookCallError(`received invalid webhook response: ${message}`);
}

/** The Status of the webhook with the message of apiserver `webhook/errors`. Its details stay, because kubectl shows them. */
function denial(webhook: ReviewingWebhook, status: Json | undefined): StatusError {
  const { message, reason, code, details } = isJsonObject(status) ? status : {};
  const start = `admission webhook ${JSON.stringify(webhook.name)} denied the request`;
  const detail = typeof message === "string" && message !== ""
    ? `${start}: ${message}`
    : typeof reason === "string" && reason !== ""
    ? `${start}: ${reason}`
    : `${start} without explanation`;
  const number = typeof code === "number" && code >= 400 ? code : 400;
  return new StatusError(number, typeof reason === "string" ? reason : "", detail, detailsOf(details));
}

/** The known fields of `details`; undefined without any. */
function detailsOf(details: Json | undefined): StatusDetails | undefined {
  if (!isJsonObject(details)) return undefined;
  const { retryAfterSeconds, causes } = details;
  return {
    ...textsOf(details, ["name", "group", "kind", "uid"]),
    ...(isJsonArray(causes) && causes.length > 0
      ? { causes: causes.filter(isJsonObject).map((cause) => textsOf(cause, ["reason", "message", "field"])) }
      : {}),
    ...(Number.isSafeInteger(retryAfterSeconds) && retryAfterSeconds !== 0
      ? { retryAfterSeconds: Number(retryAfterSeconds) }
      : {}),
  };
}

/** The fields that are texts; Go leaves out empty ones. */
function textsOf<Name extends string>(
  object: JsonObject,
  names: readonly Name[],
): { readonly [name in Name]?: string } {
  const texts: { [name in Name]?: string } = {};
  for (const name of names) {
    const text = read<Json>(object, name);
    if (typeof text === "string" && text !== "") texts[name] = text;
  }
  return texts;
}
