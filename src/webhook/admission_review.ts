/**
 * AdmissionReview, v1 and v1beta1: what the API server asks a webhook and what it is answered. Source:
 * `k8s.io/api/admission/v1` of Kubernetes 1.36; the two versions have the same fields.
 *
 * Guarantees: a request is decoded whole or refused with the status and words the API server will show; nothing nested
 * deeper than 200 gets as far as a parser (behaviours.md 66, 67, 95).
 */
import type { ApiStatus } from "../api/mod.ts";
import { z } from "zod";
import { dotPath } from "../schema/mod.ts";
import { parseJson } from "./_parse_json.ts";

/** What is being done to the object. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** Who is doing it. */
export interface AdmissionUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** A kind, as a request names it. */
export interface AdmissionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** One question of the API server. */
export interface AdmissionRequest {
  /** Identifies this question; the answer repeats it. */
  readonly uid: string;
  /** The kind of `object`, in the version the webhook asked for. */
  readonly kind: AdmissionKind;
  readonly operation: AdmissionOperation;
  /** `status`, `scale`; absent for the object itself. */
  readonly subResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly userInfo: AdmissionUser;
  /** The object as it would be stored; absent on DELETE and CONNECT to nothing. */
  readonly object?: unknown;
  /** The object as it is stored; absent on CREATE and CONNECT. */
  readonly oldObject?: unknown;
  /** Nothing will be stored: there must be no side effect either. */
  readonly dryRun: boolean;
}

/** The versions that are understood. */
export type AdmissionVersion = "v1" | "v1beta1";

/** One answer. */
export interface AdmissionResponse {
  readonly allowed: boolean;
  /** Why not, or with what code. */
  readonly status?: ApiStatus;
  /** A JSON patch (RFC 6902) in Base64. */
  readonly patch?: string;
  readonly patchType?: "JSONPatch";
  /** Shown to the user by kubectl. */
  readonly warnings?: readonly string[];
  /** Added to the audit log under the webhook's name. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** A request that was understood, or the reason why not. */
export type DecodedReview =
  | { readonly kind: "review"; readonly version: AdmissionVersion; readonly request: AdmissionRequest }
  | { readonly kind: "malformed"; readonly message: string };

const kindSchema = z.object({ group: z.string().default(""), version: z.string(), kind: z.string() });
const optionalText = z.string().nullish().transform((text) => text ?? undefined);
/** Go writes an absent object as null. */
const optionalObject = z.record(z.string(), z.unknown()).nullish().transform((object) => object ?? undefined);

const reviewSchema = z.object({
  apiVersion: z.enum(["admission.k8s.io/v1", "admission.k8s.io/v1beta1"]),
  kind: z.literal("AdmissionReview"),
  request: z.object({
    uid: z.string().min(1),
    kind: kindSchema,
    operation: z.enum(["CREATE", "UPDATE", "DELETE", "CONNECT"]),
    subResource: optionalText,
    name: optionalText,
    namespace: optionalText,
    userInfo: z.object({ username: optionalText, uid: optionalText, groups: z.array(z.string()).nullish() })
      .nullish(),
    // Checked to be objects and handed on as they are: zod would copy them, and lose a key `__proto__`.
    object: z.unknown().optional(),
    oldObject: z.unknown().optional(),
    dryRun: z.boolean().nullish(),
  }),
});

/** Understands the body of a request. */
export function decodeAdmissionReview(text: string): DecodedReview {
  const parsed = parseJson(text);
  if (parsed.kind === "malformed") return parsed;
  const checked = reviewSchema.safeParse(parsed.value);
  if (!checked.success) return { kind: "malformed", message: issuesOf(checked.error) };
  const { apiVersion, request } = checked.data;
  for (const field of ["object", "oldObject"] as const) {
    if (!optionalObject.safeParse(request[field]).success) {
      return { kind: "malformed", message: `request.${field}: expected an object or null` };
    }
  }
  const { userInfo, dryRun, object, oldObject, ...rest } = request;
  return {
    kind: "review",
    version: apiVersion === "admission.k8s.io/v1" ? "v1" : "v1beta1",
    request: {
      ...rest,
      userInfo: { username: userInfo?.username, uid: userInfo?.uid, groups: userInfo?.groups ?? [] },
      object: object ?? undefined,
      oldObject: oldObject ?? undefined,
      dryRun: dryRun ?? false,
    },
  };
}

/** The text of an answer. @param uid "" when the question was not understood so far */
export function encodeAdmissionReview(version: AdmissionVersion, uid: string, response: AdmissionResponse): string {
  return JSON.stringify({
    apiVersion: `admission.k8s.io/${version}`,
    kind: "AdmissionReview",
    response: { uid, ...response },
  });
}

/** What is wrong, field by field, on one line. */
export function issuesOf(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => path.length === 0 ? message : `${dotPath(path)}: ${message}`)
    .join("; ");
}
