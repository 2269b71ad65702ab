/**
 * The shapes of the responses whose fields this program reads itself: reviews, versions, tokens, Leases, definitions,
 * webhook configurations and Secrets. `api/response_shape.ts` checks what all objects have in common.
 *
 * Guarantees: a response of another shape is an InvalidResponseError that names the field, never a TypeError somewhere
 * behind it; null is absent, as in Go; unknown fields are kept.
 */
import { z } from "zod";
import { InvalidResponseError, isJsonObject, type Resource } from "../api/mod.ts";
import { firstProblemOnly } from "./kubeconfig/mod.ts";

/**
 * Parses the text of a response that is no object of the API: of a review, of discovery, of `/version`.
 *
 * @param action Infinitive for the message: `read the version`.
 * @throws InvalidResponseError
 */
export function parseResponse<T extends z.ZodType>(text: string, action: string, schema: T): z.output<T> {
  const parsed = schema.safeParse(parsedJson(text, action), firstProblemOnly);
  if (parsed.success) return parsed.data;
  throw unusable(action, problemOf(parsed.error));
}

function parsedJson(text: string, action: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unusable(action, "it is not JSON", cause);
  }
}

/** The error for a response that cannot be used. */
export function unusable(action: string, state: string, cause?: unknown): InvalidResponseError {
  return new InvalidResponseError(`Cannot ${action}: its response cannot be used: ${state}`, { cause });
}

/** The first problem: `spec.versions[0].name: expected string, received number`. */
function problemOf(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map((part) => typeof part === "number" ? `[${part}]` : `.${String(part)}`).join("") ?? "";
  const message = issue?.message.replace(/^Invalid input: /, "").replace("Invalid input", "it has an unknown form") ??
    "";
  return path === "" ? message : `${path.replace(/^\./, "")}: ${message}`;
}

/**
 * Checks the fields of an object of a kind that this program reads itself.
 *
 * @returns the object, without fields that are null
 * @throws SyntaxError whose message names the field
 */
export function inShapeOf(
  { group, kind }: Pick<Resource, "group" | "kind">,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const shape = shapes.get(`${group}/${kind}`);
  if (shape === undefined || (kind === "Lease" && isPlainLease(value))) return value;
  const parsed = shape().safeParse(value, firstProblemOnly);
  if (parsed.success) return parsed.data;
  throw new SyntaxError(problemOf(parsed.error));
}

type Shape = z.ZodType<Readonly<Record<string, unknown>>>;

/** Made at their first use, because most commands need none of them. */
const shapes: ReadonlyMap<string, () => Shape> = new Map([
  ["coordination.k8s.io/Lease", once(leaseShape)],
  ["apiextensions.k8s.io/CustomResourceDefinition", once(definitionShape)],
  ["admissionregistration.k8s.io/MutatingWebhookConfiguration", once(webhooksShape)],
  ["admissionregistration.k8s.io/ValidatingWebhookConfiguration", once(webhooksShape)],
  ["/Secret", once(secretShape)],
]);

function once(make: () => Shape): () => Shape {
  let made: Shape | undefined;
  return () => made ??= make();
}

/** A field that may be absent or null. */
function optional<T extends z.ZodType>(type: T) {
  return type.nullish().transform((value): z.output<T> | undefined => value ?? undefined);
}

const strings = () => optional(z.array(z.string()));
const texts = () => optional(z.record(z.string(), z.string()));

function leaseShape(): Shape {
  return z.looseObject({
    spec: optional(z.looseObject({
      holderIdentity: optional(z.string()),
      // As in Go: a larger or a broken number is no int32, and nothing may be decided by it.
      leaseDurationSeconds: optional(z.int32()),
      leaseTransitions: optional(z.int32()),
      acquireTime: optional(z.string()),
      renewTime: optional(z.string()),
    })),
  });
}

/** True for a Lease that has its shape as it is. An election reads one every two seconds, and zod takes much longer. */
function isPlainLease({ spec }: Readonly<Record<string, unknown>>): boolean {
  return isJsonObject(spec) && isAbsentOrText(spec.holderIdentity) && isAbsentOrText(spec.acquireTime) &&
    isAbsentOrText(spec.renewTime) && isAbsentOrInt32(spec.leaseDurationSeconds) &&
    isAbsentOrInt32(spec.leaseTransitions);
}

function isAbsentOrText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isAbsentOrInt32(value: unknown): boolean {
  return value === undefined || (typeof value === "number" && (value | 0) === value);
}

function secretShape(): Shape {
  return z.looseObject({ data: texts(), type: optional(z.string()) });
}

function clientConfigShape() {
  return z.looseObject({
    url: optional(z.string()),
    caBundle: optional(z.string()),
    service: optional(z.looseObject({
      namespace: z.string(),
      name: z.string(),
      path: optional(z.string()),
      port: optional(z.number()),
    })),
  });
}

function webhooksShape(): Shape {
  const rule = z.looseObject({
    operations: strings(),
    apiGroups: strings(),
    apiVersions: strings(),
    resources: strings(),
    scope: optional(z.string()),
  });
  return z.looseObject({
    webhooks: optional(z.array(z.looseObject({
      name: z.string(),
      clientConfig: clientConfigShape(),
      rules: optional(z.array(rule)),
      admissionReviewVersions: strings(),
      failurePolicy: optional(z.string()),
      sideEffects: optional(z.string()),
      timeoutSeconds: optional(z.number()),
    }))),
  });
}

function definitionShape(): Shape {
  const names = {
    plural: z.string(),
    kind: z.string(),
    singular: optional(z.string()),
    listKind: optional(z.string()),
    shortNames: strings(),
    categories: strings(),
  };
  const version = z.looseObject({
    name: z.string(),
    served: z.boolean(),
    storage: z.boolean(),
    deprecated: optional(z.boolean()),
    schema: optional(z.looseObject({ openAPIV3Schema: optional(schemaShape()) })),
    subresources: optional(z.looseObject({
      status: optional(z.looseObject({})),
      scale: optional(z.looseObject({})),
    })),
    additionalPrinterColumns: optional(z.array(z.looseObject({ name: z.string(), jsonPath: z.string() }))),
    selectableFields: optional(z.array(z.looseObject({ jsonPath: z.string() }))),
  });
  const conversion = z.looseObject({
    strategy: z.string(),
    webhook: optional(z.looseObject({
      clientConfig: optional(clientConfigShape()),
      conversionReviewVersions: strings(),
    })),
  });
  const condition = z.looseObject({
    type: z.string(),
    status: z.string(),
    reason: optional(z.string()),
    message: optional(z.string()),
  });
  return z.looseObject({
    spec: z.looseObject({
      group: z.string(),
      scope: z.enum(["Namespaced", "Cluster"]),
      names: z.looseObject(names),
      versions: z.array(version),
      conversion: optional(conversion),
    }),
    status: optional(z.looseObject({
      conditions: optional(z.array(condition)),
      storedVersions: strings(),
      acceptedNames: optional(z.looseObject({})),
    })),
  });
}

/** One node of the schema of a definition. The depth is bounded by that of the response. */
function schemaShape(): z.ZodType {
  const node: z.ZodType = z.lazy(() =>
    z.looseObject({
      type: optional(z.string()),
      format: optional(z.string()),
      properties: optional(z.record(z.string(), node)),
      items: optional(node),
      additionalProperties: optional(z.union([z.boolean(), node])),
      allOf: optional(z.array(node)),
      anyOf: optional(z.array(node)),
      oneOf: optional(z.array(node)),
      not: optional(node),
      enum: optional(z.array(z.unknown())),
      required: strings(),
      pattern: optional(z.string()),
      "x-kubernetes-list-type": optional(z.string()),
      "x-kubernetes-map-type": optional(z.string()),
      "x-kubernetes-list-map-keys": strings(),
      "x-kubernetes-validations": optional(z.array(z.looseObject({ rule: z.string() }))),
    })
  );
  return node;
}
