/**
 * defineResource(): one value made from zod that is the TypeScript type, the CustomResourceDefinition, the validation
 * and the cache key of a kind (architecture.md D4).
 *
 * Guarantees: a definition that the API server would refuse, or that would mean something else to it than to zod, is
 * a TypeError when the module loads, with the field and the way out in its message.
 */
import { apiVersionOf, type DeepReadonly } from "../api/mod.ts";
import type { z } from "zod";
import { crdOf } from "./_crd_of.ts";
import { namesOf } from "./_names.ts";
import { cannotParse, parserOf } from "./_parser.ts";
import type { CustomObject, CustomResource, InputOf, OutputOf } from "./custom_resource.ts";
import type { ResourceOptions } from "./resource_options.ts";

/**
 * Defines a kind.
 *
 * @throws TypeError when a CustomResourceDefinition cannot express the schema or the server would refuse a name.
 *
 * @example
 * ```ts
 * import { defineResource, type Infer, z } from "@pintle/controller";
 *
 * const Website = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Website",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string().min(1).max(253), replicas: z.int32().min(0).default(1) }),
 *   status: z.object({ url: z.string().optional() }),
 *   printerColumns: [{ name: "Host", jsonPath: ".spec.host" }],
 * });
 * type Website = Infer<typeof Website>;
 *
 * const site: Website = Website.make({ metadata: { name: "home" }, spec: { host: "example.dev" } });
 * console.assert(site.spec.replicas === 1 && Website.crd.metadata.name === "websites.example.dev");
 * ```
 */
export function defineResource<
  const Kind extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType = z.ZodUndefined,
>(
  options: ResourceOptions<Kind, Spec, Status>,
): CustomResource<OutputOf<Kind, Spec, Status>, InputOf<Kind, Spec, Status>> {
  const { group, version, kind, scope, annotations = {}, labels = {}, versions = [], conversion } = options;
  const names = namesOf(options);
  const storage = !versions.some((other) => other.storage === true);
  const crd = crdOf({
    group,
    scope,
    names,
    annotations,
    labels,
    versions: [{ ...options, name: version, storage }, ...versions],
    conversion,
  });
  const methods = methodsOf<OutputOf<Kind, Spec, Status>, InputOf<Kind, Spec, Status>>(options);
  return Object.freeze({ group, version, kind, plural: names.plural, scope, crd, ...methods });
}

type Methods<T extends CustomObject, Input> = Pick<CustomResource<T, Input>, "parse" | "safeParse" | "make">;

function methodsOf<T extends CustomObject, Input>(
  options: ResourceOptions<string, z.ZodType, z.ZodType>,
): Methods<T, Input> {
  const { kind, spec, status } = options;
  const apiVersion = apiVersionOf(options);
  const safeParse = parserOf<T>({ apiVersion, kind, spec, status });
  const parse = (value: unknown): DeepReadonly<T> => {
    const result = safeParse(value);
    if (result.kind === "invalid") throw cannotParse(kind, value, result.issues);
    return result.object;
  };
  return { parse, safeParse, make: (input) => parse({ apiVersion, kind, ...input }) };
}
