/** From a judgement to the answer the API server understands. */
import type { ApiStatus } from "../api/mod.ts";
import type { AdmissionRequest, AdmissionResponse } from "./admission_review.ts";
import { fieldOf } from "./_typed_object.ts";
import type { Denied } from "./verdict.ts";
import type { AdmissionWebhook, Judgement } from "./webhook.ts";

/** The answer to `question`. */
export function responseOf(
  webhook: AdmissionWebhook,
  question: AdmissionRequest,
  judgement: Judgement,
): AdmissionResponse {
  switch (judgement.kind) {
    case "allowed":
      return { allowed: true, ...warningsOf(judgement.warnings) };
    case "denied":
      return { allowed: false, status: statusOf(webhook, question, judgement), ...warningsOf(judgement.warnings) };
    case "patched":
      return { allowed: true, patchType: "JSONPatch", patch: base64(JSON.stringify(judgement.operations)) };
    default:
      return judgement satisfies never;
  }
}

/** A refusal that no handler decided. */
export function deniedResponse(code: number, message: string): AdmissionResponse {
  return { allowed: false, status: { status: "Failure", code, reason: reasons.get(code), message: bounded(message) } };
}

const reasons: ReadonlyMap<number, string> = new Map([
  [400, "BadRequest"],
  [403, "Forbidden"],
  [409, "Conflict"],
  [413, "RequestEntityTooLarge"],
  [422, "Invalid"],
  [500, "InternalError"],
  [504, "Timeout"],
]);

function statusOf(webhook: AdmissionWebhook, question: AdmissionRequest, denied: Denied): ApiStatus {
  const { message, causes = [], code = causes.length > 0 ? 422 : 403 } = denied;
  const reason = reasons.get(code);
  const status: ApiStatus = { status: "Failure", code, reason, message: bounded(message) };
  if (causes.length === 0) return status;
  const { group, kind } = webhook.resource;
  return {
    ...status,
    details: {
      group,
      kind,
      name: nameOf(question),
      causes: causes.map((cause) => ({ reason: fieldInvalid, ...cause })),
    },
  };
}

const fieldInvalid = "FieldValueInvalid";

function nameOf(question: AdmissionRequest): string | undefined {
  if (question.name !== undefined && question.name !== "") return question.name;
  const metadata = fieldOf(question.object, "metadata");
  const name = fieldOf(metadata, "name") ?? fieldOf(metadata, "generateName");
  return typeof name === "string" ? name : undefined;
}

/** The API server shows no more than 256 characters of a warning and 4096 of all (apiserver audit/warning). */
const warningCharacters = 256;

function warningsOf(warnings: readonly string[] = []): Pick<AdmissionResponse, "warnings"> {
  if (warnings.length === 0) return {};
  return { warnings: warnings.map((warning) => printable(warning).slice(0, warningCharacters)) };
}

/** Answers are headers and log lines of the API server: one line, of bounded length. */
function bounded(message: string): string {
  return printable(message).slice(0, 4096);
}

function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what it looks for
  return text.replaceAll(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+/g, " ");
}

function base64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}
