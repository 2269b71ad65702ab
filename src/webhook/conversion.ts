/**
 * Conversion webhooks: `converting(FooV2, [convertible(FooV1, { toHub, fromHub })])`. One version is the hub; every other
 * version converts to it and from it, so n versions need 2(n-1) functions.
 *
 * Guarantees: apiVersion, kind and all metadata except labels and annotations are taken from the source object,
 * because the API server rejects a conversion that changes them. A function that returns no object, or a number that JSON
 * does not have, makes the conversion fail: the API server would store an object that has lost its fields.
 */
import { apiVersionOf, type Infer, isJsonObject, printLosslessJson, type Resource, resourceName } from "../api/mod.ts";
import { z } from "zod";
import { printable, redactText } from "../observe/mod.ts";
import { boundedParse } from "../schema/mod.ts";
import { issuesText } from "./admission_review.ts";
import { describeReturned, fieldOf, maxParsedBytes, misshapenField, parseJson, typedObject } from "./_decode.ts";

/** The path that all conversion webhooks share, as in controller-runtime. */
export const conversionPath = "/convert";

/** The conversions between one version and the hub. A round trip must lose nothing. */
export interface Conversions<Spoke extends Resource, Hub extends Resource> {
  /** Converts an object to the hub. */
  readonly toHub: (object: Infer<Spoke>) => Infer<Hub>;
  /** Converts an object of the hub to this version. */
  readonly fromHub: (hub: Infer<Hub>) => Infer<Spoke>;
}

/** A version with its conversions to and from the hub. {@link convertible} creates it. */
export interface Spoke<Hub extends Resource> {
  /** The kind in this version. */
  readonly resource: Resource;
  /** Converts an object of this version to the hub. */
  readonly toHub: (object: unknown) => Infer<Hub>;
  /** Converts an object of the hub to this version. */
  readonly fromHub: (hub: Infer<Hub>) => unknown;
}

/**
 * The conversion webhook of one kind as a value. {@link converting} creates it, `withWebhooks()` adds it to a controller of
 * an operator, which then serves it.
 */
export interface ConversionWebhook {
  /** Distinguishes it from admission webhooks. */
  readonly kind: "converting";
  /** All kinds share this path. */
  readonly path: string;
  /** The kind in the version of the hub. */
  readonly resource: Resource;
  /** The kind in each of its versions, the hub first. */
  readonly resources: readonly Resource[];
  /** The apiVersions that it converts between. */
  readonly apiVersions: readonly string[];
  /** Converts an object. It throws an Error when a version is unknown, and every error of a conversion. */
  convert(object: unknown, desiredApiVersion: string): unknown;
}

/**
 * Declares how one version of a kind converts to the hub and from it, for {@link converting}.
 *
 * @param resource The kind in this version.
 * @param conversions The two functions. A round trip must lose nothing; labels and annotations may store what the other
 * version does not have.
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { convertible } from "@pintle/controller/webhook";
 *
 * const OldConfigMap = { ...ConfigMap, version: "v0" };
 * const spoke = convertible<typeof OldConfigMap, typeof ConfigMap>(OldConfigMap, {
 *   toHub: (old) => ({ ...old, apiVersion: "v1" }),
 *   fromHub: (hub) => ({ ...hub, apiVersion: "v0" }),
 * });
 * console.assert(spoke.resource.version === "v0");
 * ```
 */
export function convertible<S extends Resource, Hub extends Resource>(
  resource: S,
  conversions: Conversions<S, Hub>,
): Spoke<Hub> {
  return {
    resource,
    toHub: (object) => conversions.toHub(typedObject(resource, object)),
    fromHub: (hub) => conversions.fromHub(hub),
  };
}

/**
 * Creates the conversion webhook of a kind with several versions. One version is the hub; every other one converts to it
 * and from it. apiVersion, kind and all metadata except labels and annotations are taken from the source object.
 *
 * @param hub The kind in the version of the hub.
 * @param spokes The other versions, from {@link convertible}.
 * @throws {TypeError} when the versions belong to different kinds
 *
 * @example
 * ```ts
 * import { ConfigMap } from "@pintle/controller";
 * import { converting, convertible } from "@pintle/controller/webhook";
 *
 * const Old = { ...ConfigMap, version: "v0" };
 * const webhook = converting(ConfigMap, [
 *   convertible(Old, { toHub: (old) => ({ ...old, data: { a: "1" } }), fromHub: (hub) => ({ ...hub, data: {} }) }),
 * ]);
 * const converted = webhook.convert({ apiVersion: "v0", kind: "ConfigMap", metadata: { name: "x" } }, "v1");
 * console.assert(JSON.stringify(converted).includes('"a":"1"'));
 * ```
 */
export function converting<Hub extends Resource>(hub: Hub, spokes: readonly Spoke<Hub>[]): ConversionWebhook {
  const known = new Map<string, Spoke<Hub>>([[apiVersionOf(hub), {
    resource: hub,
    toHub: (object) => typedObject(hub, object),
    fromHub: (object) => object,
  }]]);
  for (const spoke of spokes) {
    const apiVersion = apiVersionOf(spoke.resource);
    if (spoke.resource.group !== hub.group || spoke.resource.kind !== hub.kind || known.has(apiVersion)) {
      throw new TypeError(
        `Cannot convert ${apiVersion} ${spoke.resource.kind}: not another version of ${resourceName(hub)}`,
      );
    }
    known.set(apiVersion, spoke);
  }
  return {
    kind: "converting",
    path: conversionPath,
    resource: hub,
    resources: [...known.values()].map(({ resource }) => resource),
    apiVersions: [...known.keys()],
    convert: (object, desired) => convert(known, object, desired),
  };
}

/** The error of a review that asks for what no conversion can do: the fault of its sender. */
class UnusableObjectError extends Error {
  override readonly name = "UnusableObjectError";
}

function convert<Hub extends Resource>(
  known: ReadonlyMap<string, Spoke<Hub>>,
  object: unknown,
  desired: string,
): unknown {
  const current = String(fieldOf(object, "apiVersion"));
  const from = known.get(current), to = known.get(desired);
  if (from === undefined || to === undefined) {
    throw new UnusableObjectError(`Cannot convert object from "${current}" to "${desired}": version unknown`);
  }
  if (from === to) return object;
  const hub = from.toHub(object);
  assertObject(hub, `toHub of ${current}`);
  const converted = to.fromHub(hub);
  assertObject(converted, `fromHub of ${desired}`);
  return withIdentityOf(object, desired, converted);
}

/** A function without types may return anything. @throws TypeError */
function assertObject(value: unknown, source: string): void {
  if (isJsonObject(value) && !(value instanceof Promise)) return;
  throw new TypeError(`Cannot convert object: ${source} returned ${describeReturned(value)}, not an object`);
}

function withIdentityOf(source: unknown, apiVersion: string, converted: unknown): unknown {
  const metadata = fieldOf(source, "metadata"), changed = fieldOf(converted, "metadata");
  const original = typeof metadata === "object" ? metadata : {};
  const labels = fieldOf(changed, "labels"), annotations = fieldOf(changed, "annotations");
  const fields = typeof converted === "object" ? converted : {};
  return {
    ...fields,
    apiVersion,
    kind: fieldOf(source, "kind"),
    metadata: { ...original, labels, annotations },
  };
}

const reviewSchema = z.object({
  apiVersion: z.enum(["apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"]),
  kind: z.literal("ConversionReview"),
  request: z.object({ uid: z.string().min(1), desiredAPIVersion: z.string().max(512), objects: z.array(z.unknown()) }),
});

/** What a ConversionReview asks for, and why it was refused. */
export interface AskedConversion {
  /** Each has an apiVersion and a kind. */
  readonly objects: readonly unknown[];
  readonly desiredApiVersion: string;
  /** What the user sees. Absent if all objects were converted. */
  readonly message?: string;
}

/** The response to a ConversionReview, with the error of the operator's own code; or why the request is malformed. */
export type ConvertedReview =
  | { readonly kind: "converted"; readonly text: string; readonly asked: AskedConversion; readonly failure?: unknown }
  | { readonly kind: "malformed"; readonly message: string };

/** Responds to the body of a request to `/convert`: with all objects converted, or with one failure. */
export function handleConversionReview(text: string, webhooks: readonly ConversionWebhook[]): ConvertedReview {
  const parsed = parseJson(text, maxParsedBytes.conversion);
  if (parsed.kind === "malformed") return parsed;
  const checked = boundedParse(reviewSchema, parsed.value);
  if (checked.kind === "invalid") return { kind: "malformed", message: issuesText(checked.issues) };
  const { apiVersion, request } = checked.value;
  const wrong = request.objects.findIndex((object) => !isVersioned(object));
  if (wrong >= 0) {
    return { kind: "malformed", message: `request.objects[${wrong}]: expected an object with apiVersion and kind` };
  }
  const { objects, desiredAPIVersion: desiredApiVersion } = request;
  const respond = (response: object, message?: string, failure?: unknown): ConvertedReview => ({
    kind: "converted",
    text: printLosslessJson(
      { apiVersion, kind: "ConversionReview", response: { uid: request.uid, ...response } },
      `convert objects to "${desiredApiVersion}"`,
    ),
    asked: { objects, desiredApiVersion, message },
    failure,
  });
  try {
    const convertedObjects = objects.map((object) => convertOne(webhooks, object, desiredApiVersion));
    return respond({ convertedObjects, result: { status: "Success" } });
  } catch (error) {
    const message = printable(redactText(error instanceof Error ? error.message : String(error)), 4095);
    return respond(
      { convertedObjects: [], result: { status: "Failure", message } },
      message,
      error instanceof UnusableObjectError ? undefined : error,
    );
  }
}

/** A stored object may break the schema of today, so its shape is looked at only when its conversion has failed. */
function convertOne(webhooks: readonly ConversionWebhook[], object: unknown, desired: string): unknown {
  const webhook = webhookFor(webhooks, object);
  try {
    return webhook.convert(object, desired);
  } catch (cause) {
    const resource = webhook.resources.find((one) => apiVersionOf(one) === fieldOf(object, "apiVersion"));
    const problem = resource === undefined ? undefined : misshapenField(resource, object);
    if (problem === undefined) throw cause;
    throw new UnusableObjectError(`Cannot convert object to "${desired}": ${problem}`, { cause });
  }
}

/** Characters of a version, and of a kind; names of Kubernetes have at most 317. */
const maxNameCharacters = 512;

/** True for what the API server sends: an object with a version and a kind, and with metadata if any. */
function isVersioned(object: unknown): boolean {
  const isShort = (value: unknown) => typeof value === "string" && value.length <= maxNameCharacters;
  if (typeof object !== "object" || object === null || Array.isArray(object)) return false;
  const metadata = fieldOf(object, "metadata");
  const hasMetadata = metadata === undefined ||
    (typeof metadata === "object" && metadata !== null && !Array.isArray(metadata));
  return hasMetadata && isShort(fieldOf(object, "apiVersion")) && isShort(fieldOf(object, "kind"));
}

function webhookFor(webhooks: readonly ConversionWebhook[], object: unknown): ConversionWebhook {
  const apiVersion = String(fieldOf(object, "apiVersion")), kind = fieldOf(object, "kind");
  const found = webhooks.find((webhook) => webhook.resource.kind === kind && webhook.apiVersions.includes(apiVersion));
  if (found === undefined) throw new UnusableObjectError(`Cannot convert ${apiVersion} ${String(kind)}: kind unknown`);
  return found;
}
