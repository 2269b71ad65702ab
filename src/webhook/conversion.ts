/**
 * Conversion webhooks: `converting(FooV2, [convertible(FooV1, { toHub, fromHub })])`. One version is the hub; every other
 * version converts to it and from it, so n versions need 2(n-1) functions.
 *
 * Guarantees: apiVersion, kind and all metadata except labels and annotations are taken from the source object,
 * because the API server rejects a conversion that changes them.
 */
import { apiVersionOf, type Infer, type Resource, resourceName } from "../api/mod.ts";
import { z } from "zod";
import { issuesOf } from "./admission_review.ts";
import { fieldOf, parseJson, typedObject } from "./_decode.ts";

/** The conversion between one version and the hub. A round trip must lose nothing. */
export interface Conversions<Spoke extends Resource, Hub extends Resource> {
  readonly toHub: (object: Infer<Spoke>) => Infer<Hub>;
  readonly fromHub: (hub: Infer<Hub>) => Infer<Spoke>;
}

/** A version with its conversions, without their types. */
export interface Spoke<Hub extends Resource> {
  readonly resource: Resource;
  readonly toHub: (object: unknown) => Infer<Hub>;
  readonly fromHub: (hub: Infer<Hub>) => unknown;
}

/** The conversion webhook of one kind. */
export interface ConversionWebhook {
  readonly kind: "converting";
  /** All kinds share this path. */
  readonly path: "/convert";
  /** The hub. */
  readonly resource: Resource;
  /** The apiVersions that it converts between. */
  readonly apiVersions: readonly string[];
  /** @throws Error when a version is unknown, and every error of a conversion */
  convert(object: unknown, desiredApiVersion: string): unknown;
}

/** Defines the conversions between `resource` and the hub. */
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
 * The conversion webhook of a kind with several versions.
 *
 * @throws TypeError when the versions belong to different kinds.
 * @example
 * ```ts
 * import { builtin } from "../api/mod.ts";
 * import { converting, convertible } from "./mod.ts";
 *
 * const Old = { ...builtin.ConfigMap, version: "v0" };
 * const webhook = converting(builtin.ConfigMap, [
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
    path: "/convert",
    resource: hub,
    apiVersions: [...known.keys()],
    convert: (object, desired) => convert(known, object, desired),
  };
}

function convert<Hub extends Resource>(
  known: ReadonlyMap<string, Spoke<Hub>>,
  object: unknown,
  desired: string,
): unknown {
  const current = String(fieldOf(object, "apiVersion"));
  const from = known.get(current), to = known.get(desired);
  if (from === undefined || to === undefined) {
    throw new Error(`Cannot convert object from "${current}" to "${desired}": version unknown`);
  }
  if (from === to) return object;
  return withIdentityOf(object, desired, to.fromHub(from.toHub(object)));
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
  request: z.object({ uid: z.string().min(1), desiredAPIVersion: z.string(), objects: z.array(z.unknown()) }),
});

/** The response to a ConversionReview, or the reason why the request is malformed. */
export type ConvertedReview =
  | { readonly kind: "converted"; readonly text: string; readonly failure?: unknown }
  | { readonly kind: "malformed"; readonly message: string };

/** Responds to the body of a request to `/convert`: with all objects converted, or with one failure. */
export function handleConversionReview(text: string, webhooks: readonly ConversionWebhook[]): ConvertedReview {
  const parsed = parseJson(text);
  if (parsed.kind === "malformed") return parsed;
  const checked = reviewSchema.safeParse(parsed.value);
  if (!checked.success) return { kind: "malformed", message: issuesOf(checked.error) };
  const { apiVersion, request } = checked.data;
  const respond = (response: object, failure?: unknown): ConvertedReview => ({
    kind: "converted",
    text: JSON.stringify({ apiVersion, kind: "ConversionReview", response: { uid: request.uid, ...response } }),
    failure,
  });
  try {
    const convertedObjects = request.objects.map((object) =>
      webhookFor(webhooks, object).convert(object, request.desiredAPIVersion)
    );
    return respond({ convertedObjects, result: { status: "Success" } });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return respond({ convertedObjects: [], result: { status: "Failure", message } }, error);
  }
}

function webhookFor(webhooks: readonly ConversionWebhook[], object: unknown): ConversionWebhook {
  const apiVersion = String(fieldOf(object, "apiVersion")), kind = fieldOf(object, "kind");
  const found = webhooks.find((webhook) => webhook.resource.kind === kind && webhook.apiVersions.includes(apiVersion));
  if (found === undefined) throw new Error(`Cannot convert ${apiVersion} ${String(kind)}: kind unknown`);
  return found;
}
