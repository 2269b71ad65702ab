/**
 * AdmissionReview, v1 and v1beta1: the request of the API server to a webhook, and the response. Source:
 * `k8s.io/api/admission/v1` of Kubernetes 1.36; both versions have the same fields.
 *
 * Guarantees: a request is decoded completely, or rejected with the status and message that the API server will show
 * (behaviours 66, 67). JSON that is nested deeper than 200 never reaches the parser (behaviour 95).
 */
import { type ApiStatus, isJsonObject } from "../api/mod.ts";
import { z } from "zod";
import { type BoundedIssue, boundedParse, dotPath } from "../schema/mod.ts";
import { fieldOf, parseJson } from "./_decode.ts";

/** The operation of a request on an object. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE" | "CONNECT";

/** The user who sent the request. */
export interface AdmissionUser {
  /** The name, e.g. `system:serviceaccount:default:robot`. */
  readonly username?: string;
  /** Identifies the user over time, if the authenticator knows it. */
  readonly uid?: string;
  /** The groups of the user. */
  readonly groups?: readonly string[];
}

/** A kind, as a request names it. */
export interface AdmissionKind {
  /** The API group, "" for core. */
  readonly group: string;
  /** The version, e.g. `v1`. */
  readonly version: string;
  /** The kind in CamelCase. */
  readonly kind: string;
}

/** One request of the API server to a webhook: who wants to write which object. */
export interface AdmissionRequest {
  /** Identifies this request; the response repeats it. */
  readonly uid: string;
  /** The kind of `object`, in the version that the webhook is configured for. */
  readonly kind: AdmissionKind;
  /** The operation on the object. */
  readonly operation: AdmissionOperation;
  /** `status`, `scale`; absent for the object itself. */
  readonly subResource?: string;
  /** The name of the object; absent when the server is going to choose it. */
  readonly name?: string;
  /** The Namespace of the object; absent for cluster-scoped objects. */
  readonly namespace?: string;
  /** The user who sent the request to the API server. */
  readonly userInfo: AdmissionUser;
  /** The object as it would be stored; absent on DELETE, and on CONNECT without an object. */
  readonly object?: unknown;
  /** The object as it is stored; absent on CREATE and CONNECT. */
  readonly oldObject?: unknown;
  /** Nothing will be stored, so a handler must have no side effect either. */
  readonly dryRun: boolean;
}

/** The supported versions of AdmissionReview. */
export type AdmissionVersion = "v1" | "v1beta1";

/** One response. */
export interface AdmissionResponse {
  readonly allowed: boolean;
  /** The reason of a denial. */
  readonly status?: ApiStatus;
  /** A JSON patch (RFC 6902) in Base64. */
  readonly patch?: string;
  readonly patchType?: "JSONPatch";
  /** kubectl shows them to the user. */
  readonly warnings?: readonly string[];
  /** Added to the audit log under the webhook's name. */
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** A decoded request, or the reason why it cannot be decoded. */
export type DecodedReview =
  | { readonly kind: "review"; readonly version: AdmissionVersion; readonly request: AdmissionRequest }
  | { readonly kind: "malformed"; readonly message: string };

const kindSchema = z.object({ group: z.string().default(""), version: z.string(), kind: z.string() });
const optionalText = z.string().nullish().transform((text) => text ?? undefined);

/** Exported for the test of {@link usualReview}. */
export const reviewSchema = z.object({
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
    // Checked below without a copy: zod would copy the objects and drop a key `__proto__`.
    object: z.unknown().optional(),
    oldObject: z.unknown().optional(),
    options: z.unknown().optional(),
    dryRun: z.boolean().nullish(),
  }),
});

/** A review as the schema reads it. */
type Review = z.output<typeof reviewSchema>;

/**
 * The review, if it has the form in which every API server writes it; undefined for others, which the schema accepts or finds
 * a message for. The schema took 5 % of the CPU of a review (measured on Bun 1.4.5).
 */
export function usualReview(value: unknown): Review | undefined {
  if (!isJsonObject(value) || value.kind !== "AdmissionReview" || !isJsonObject(value.request)) return undefined;
  const { apiVersion, request } = value;
  if (apiVersion !== "admission.k8s.io/v1" && apiVersion !== "admission.k8s.io/v1beta1") return undefined;
  const { uid, operation, subResource, name, namespace, object, oldObject, options, dryRun } = request;
  const kind = usualKind(request.kind), userInfo = usualUser(request.userInfo);
  if (kind === undefined || userInfo === undefined || !isOperation(operation)) return undefined;
  if (typeof uid !== "string" || uid === "" || (dryRun !== undefined && typeof dryRun !== "boolean")) return undefined;
  if (!isOptionalText(subResource) || !isOptionalText(name) || !isOptionalText(namespace)) return undefined;
  const names = { uid, kind, operation, subResource, name, namespace };
  return { apiVersion, kind: "AdmissionReview", request: { ...names, userInfo, object, oldObject, options, dryRun } };
}

function usualKind(value: unknown): AdmissionKind | undefined {
  if (!isJsonObject(value)) return undefined;
  const { group = "", version, kind } = value;
  if (typeof group !== "string" || typeof version !== "string" || typeof kind !== "string") return undefined;
  return { group, version, kind };
}

function usualUser(value: unknown): Exclude<Review["request"]["userInfo"], null> {
  if (!isJsonObject(value)) return undefined;
  const { username, uid, groups } = value;
  if (!isOptionalText(username) || !isOptionalText(uid) || !isListOfTexts(groups)) return undefined;
  return { username, uid, groups };
}

function isOptionalText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isOperation(value: unknown): value is AdmissionOperation {
  return value === "CREATE" || value === "UPDATE" || value === "DELETE" || value === "CONNECT";
}

/** Decodes the body of a request. */
export function decodeAdmissionReview(text: string): DecodedReview {
  const parsed = parseJson(text);
  if (parsed.kind === "malformed") return parsed;
  const usual = usualReview(parsed.value);
  const checked = usual === undefined
    ? boundedParse(reviewSchema, parsed.value)
    : { kind: "valid", value: usual } as const;
  if (checked.kind === "invalid") return { kind: "malformed", message: issuesText(checked.issues) };
  const { apiVersion, request } = checked.value;
  for (const field of ["object", "oldObject", "options"] as const) {
    if (!isOptionalObject(request[field])) {
      return { kind: "malformed", message: `request.${field}: expected an object or null` };
    }
  }
  const { uid, kind, operation, subResource, name, namespace, userInfo, dryRun, object, oldObject } = request;
  for (const field of sidesOf[request.operation]) {
    const problem = shapeProblem(request[field], request.operation);
    if (problem !== undefined) return { kind: "malformed", message: `request.${field}${problem}` };
  }
  return {
    kind: "review",
    version: apiVersion === "admission.k8s.io/v1" ? "v1" : "v1beta1",
    request: {
      ...{ uid, kind, operation, subResource, name, namespace },
      userInfo: { username: userInfo?.username, uid: userInfo?.uid, groups: userInfo?.groups ?? [] },
      object: object ?? undefined,
      oldObject: oldObject ?? undefined,
      dryRun: dryRun ?? false,
    },
  };
}

/** The text of a response. @param uid "" when the request could not be decoded that far */
export function encodeAdmissionReview(version: AdmissionVersion, uid: string, response: AdmissionResponse): string {
  return JSON.stringify({
    apiVersion: `admission.k8s.io/${version}`,
    kind: "AdmissionReview",
    response: { uid, ...response },
  });
}

/** The states that the API server sends with each operation. A CONNECT has only the options of the connection. */
const sidesOf = {
  CREATE: ["object"],
  UPDATE: ["object", "oldObject"],
  DELETE: ["oldObject"],
  CONNECT: [],
} as const satisfies Record<AdmissionRequest["operation"], readonly ("object" | "oldObject")[]>;

/** What the API server never sends as a state; undefined for an object, of an UPDATE with metadata. */
function shapeProblem(value: unknown, operation: AdmissionRequest["operation"]): string | undefined {
  if (value === undefined || value === null) return ": expected an object";
  if (operation !== "UPDATE") return undefined;
  const metadata = fieldOf(value, "metadata");
  const isObject = typeof metadata === "object" && metadata !== null && !Array.isArray(metadata);
  return isObject ? undefined : ".metadata: expected an object";
}

/** Go writes an absent object as null. */
function isOptionalObject(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && !Array.isArray(value));
}

/** The validation errors on one line. */
export function issuesText(issues: readonly BoundedIssue[]): string {
  return issues.map(({ path, message }) => path.length === 0 ? message : `${dotPath(path)}: ${message}`).join("; ");
}
