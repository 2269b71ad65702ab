/** One question to one webhook, and its answer. Source: apiserver `admission/plugin/webhook` of Kubernetes 1.36. */
import {
  internalError,
  isJsonArray,
  isJsonObject,
  type Json,
  jsonError,
  type JsonObject,
  read,
  Refusal,
} from "../model/mod.ts";
import type { AdmissionRequest, Kind } from "../model/mod.ts";
import type { Hook } from "./_hook.ts";
import { type CallWebhook, WebhookUnreachable } from "./webhook_call.ts";

/** What a webhook answered. */
export type Verdict =
  | { readonly kind: "allowed"; readonly patch: readonly Json[] | undefined; readonly warnings: readonly string[] }
  /** There was no answer, and the webhook's policy is to go on without. */
  | { readonly kind: "skipped" };

/** Asks. @param parts `asked` is the kind of the client's request @throws Refusal when the webhook denies, or cannot be asked and its policy is to fail */
export async function ask(
  hook: Hook,
  request: AdmissionRequest,
  parts: { readonly call: CallWebhook; readonly uid: string; readonly asked: Kind },
): Promise<Verdict> {
  const body = JSON.stringify(reviewOf(request, parts.uid, parts.asked));
  try {
    const text = await parts.call(hook.target, body, { timeoutMs: hook.timeoutMs });
    return verdictOf(hook, text, parts.uid);
  } catch (error) {
    if (!(error instanceof WebhookUnreachable)) throw error;
    if (hook.failsOpen) return { kind: "skipped" };
    throw internalError(`failed calling webhook "${hook.name}": ${error.message}`);
  }
}

/** The question; also what match conditions see as `request`. @param asked the kind of the client's request */
export function requestFields(request: AdmissionRequest, asked: Kind = request.kind): JsonObject {
  const { kind, subresource, namespace, name, operation, user, isDryRun, options } = request;
  const [shown, requested] = [namesOf(kind, subresource), namesOf(asked, subresource)];
  return {
    kind: shown.kind,
    resource: shown.resource,
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: requested.kind,
    requestResource: requested.resource,
    ...(subresource === "" ? {} : { requestSubResource: subresource }),
    ...(name === "" ? {} : { name }),
    ...(namespace === "" ? {} : { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid === "" ? {} : { uid: user.uid }),
      groups: user.groups,
      ...(user.extra.size === 0 ? {} : { extra: Object.fromEntries(user.extra) }),
    },
    dryRun: isDryRun,
    options,
  };
}

/** @param subresource may have bodies of another kind: a Scale */
function namesOf({ group, version, kind, plural, subresources }: Kind, subresource: string) {
  const body = subresources.get(subresource)?.body ?? { group, version, kind };
  return {
    kind: { group: body.group, version: body.version, kind: body.kind },
    resource: { group, version, resource: plural },
  };
}

function reviewOf(request: AdmissionRequest, uid: string, asked: Kind): JsonObject {
  const { object = null, oldObject = null } = request;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: { uid, ...requestFields(request, asked), object, oldObject },
  };
}

function verdictOf(hook: Hook, text: string, uid: string): Verdict {
  const review = reviewIn(text);
  const response = responseOf(review);
  if (response.uid !== uid) {
    const got = JSON.stringify(response.uid ?? "");
    throw invalidResponse(`expected response.uid=${JSON.stringify(uid)}, got ${got}`);
  }
  checkKind(review);
  const warnings = Array.isArray(response.warnings) ? response.warnings.map(String) : [];
  const patch = patchOf(response, hook.isMutating);
  if (response.allowed !== true) throw denial(hook, response.status);
  return { kind: "allowed", patch, warnings };
}

function reviewIn(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    const why = `couldn't get version/kind; json parse error: ${jsonError(text)}`;
    throw new WebhookUnreachable(`failed to call webhook: ${why}`);
  }
}

const expectedVersion = "admission.k8s.io/v1";

function responseOf(review: Json): JsonObject {
  if (isJsonObject(review) && review.apiVersion === "admission.k8s.io/v1beta1") {
    const why = "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion";
    throw new WebhookUnreachable(`failed to call webhook: ${why}`);
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

/** Reads the patch. @throws WebhookUnreachable when it is none, or when there should be none */
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
  const operations = operationsIn(new TextDecoder().decode(Uint8Array.fromBase64(patch)));
  if (operations.length > 0 && patchType !== "JSONPatch") {
    throw new WebhookUnreachable(`unsupported patch type ${JSON.stringify(patchType)}`);
  }
  return operations;
}

function operationsIn(text: string): readonly Json[] {
  const undecodable = (why: string) => new WebhookUnreachable(`received undecodable patch in webhook response: ${why}`);
  let operations: Json;
  try {
    operations = JSON.parse(text);
  } catch {
    throw undecodable(jsonError(text));
  }
  if (isJsonArray(operations)) return operations;
  if (operations === null) return [];
  const type = isJsonObject(operations) ? "object" : typeof operations === "boolean" ? "bool" : typeof operations;
  throw undecodable(`json: cannot unmarshal ${type} into Go value of type jsonpatch.Patch`);
}

function invalidResponse(why: string): WebhookUnreachable {
  return new WebhookUnreachable(`received invalid webhook response: ${why}`);
}

function denial(hook: Hook, status: Json | undefined): Refusal {
  const { message, reason, code } = isJsonObject(status) ? status : {};
  const start = `admission webhook ${JSON.stringify(hook.name)} denied the request`;
  const why = typeof message === "string" && message !== ""
    ? `${start}: ${message}`
    : typeof reason === "string" && reason !== ""
    ? `${start}: ${reason}`
    : `${start} without explanation`;
  const number = typeof code === "number" && code >= 400 ? code : 400;
  return new Refusal(number, typeof reason === "string" ? reason : "", why);
}
