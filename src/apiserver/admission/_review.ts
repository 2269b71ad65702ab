/** One question to one webhook, and its answer. Source: apiserver `admission/plugin/webhook` of Kubernetes 1.36. */
import { internalError, isJsonObject, type Json, type JsonObject, read, Refusal } from "../model/mod.ts";
import type { AdmissionRequest } from "../model/mod.ts";
import type { Hook } from "./_hook.ts";
import { type CallWebhook, WebhookUnreachable } from "./webhook_call.ts";

/** What a webhook answered. */
export type Verdict =
  | { readonly kind: "allowed"; readonly patch: readonly Json[] | undefined; readonly warnings: readonly string[] }
  /** There was no answer, and the webhook's policy is to go on without. */
  | { readonly kind: "skipped" };

/** Asks. @throws Refusal when the webhook denies, or cannot be asked and its policy is to fail */
export async function ask(
  hook: Hook,
  request: AdmissionRequest,
  parts: { readonly call: CallWebhook; readonly uid: string },
): Promise<Verdict> {
  const body = JSON.stringify(reviewOf(request, parts.uid));
  try {
    const text = await parts.call(hook.target, body, { timeoutMs: hook.timeoutMs });
    return verdictOf(hook, text, parts.uid);
  } catch (error) {
    if (!(error instanceof WebhookUnreachable)) throw error;
    if (hook.failsOpen) return { kind: "skipped" };
    throw internalError(`failed calling webhook "${hook.name}": ${error.message}`);
  }
}

/** The question; also what match conditions see as `request`. */
export function requestFields(request: AdmissionRequest): JsonObject {
  const { kind, subresource, namespace, name, operation, user, isDryRun, options } = request;
  const { group, version, plural } = kind;
  const kindFields = { group, version, kind: kind.kind };
  const resource = { group, version, resource: plural };
  return {
    kind: kindFields,
    resource,
    ...(subresource === "" ? {} : { subResource: subresource }),
    requestKind: kindFields,
    requestResource: resource,
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

function reviewOf(request: AdmissionRequest, uid: string): JsonObject {
  const { object = null, oldObject = null } = request;
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: { uid, ...requestFields(request), object, oldObject },
  };
}

function verdictOf(hook: Hook, text: string, uid: string): Verdict {
  const response = responseOf(text);
  if (response.uid !== uid) {
    throw new WebhookUnreachable(
      `received invalid webhook response: expected response.uid=${JSON.stringify(uid)}, got ${
        JSON.stringify(response.uid ?? "")
      }`,
    );
  }
  const warnings = Array.isArray(response.warnings) ? response.warnings.map(String) : [];
  if (response.allowed !== true) throw denial(hook, response.status);
  return { kind: "allowed", patch: patchOf(response), warnings };
}

function responseOf(text: string): JsonObject {
  let review: Json;
  try {
    review = JSON.parse(text);
  } catch {
    throw new WebhookUnreachable("received invalid webhook response: it is not JSON");
  }
  const response = isJsonObject(review) ? read<Json>(review, "response") : undefined;
  if (!isJsonObject(response)) {
    throw new WebhookUnreachable("received invalid webhook response: webhook response was absent");
  }
  return response;
}

function patchOf(response: JsonObject): readonly Json[] | undefined {
  if (typeof response.patch !== "string" || response.patch === "") return undefined;
  if (response.patchType !== "JSONPatch") {
    throw new WebhookUnreachable(
      `received invalid webhook response: invalid response.patchType=${JSON.stringify(response.patchType ?? "")}`,
    );
  }
  const patch: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(response.patch)));
  if (!Array.isArray(patch)) {
    throw new WebhookUnreachable("received invalid webhook response: response.patch is no list");
  }
  return patch;
}

function denial(hook: Hook, status: Json | undefined): Refusal {
  const { message, reason, code } = isJsonObject(status) ? status : {};
  const start = `admission webhook ${JSON.stringify(hook.name)} denied the request`;
  const why = typeof message === "string" && message !== ""
    ? `${start}: ${message}`
    : typeof reason === "string" && reason !== ""
    ? `${start}: ${reason}`
    : `${start} without explanation`;
  const number = typeof code === "number" && code >= 400 && code < 600 ? code : 400;
  return new Refusal(typeof code === "number" ? number : 403, typeof reason === "string" ? reason : "Forbidden", why);
}
