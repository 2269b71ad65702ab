/**
 * The kinds of a bundle as its ClusterServiceVersion describes them: a form field for each field of spec and status, from the
 * schema of the kind, and the kinds of objects that its controllers work on, from their declarations.
 *
 * Guarantees: each field that the schema declares directly in spec and status has a descriptor. The name is the title of the
 * field, else its words; the text is its description.
 */
import { builtin, type Resource, resourceName } from "../../api/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { Crd, StructuralSchema } from "../../schema/mod.ts";
import { crdsOf } from "../command/mod.ts";

/** What a console shows of one field. */
interface Descriptor {
  readonly path: string;
  readonly displayName: string;
  readonly description?: string;
  /** How a console shows and edits the field; the names are those of the console's own reference. */
  readonly "x-descriptors"?: readonly string[];
}

type Place = "spec" | "status";

/** Returns the `owned` definitions: each version of each kind. */
export function ownedKinds(controllers: readonly OperatorController[]): readonly object[] {
  return crdsOf(controllers).flatMap((crd) => {
    const resources = usedKinds(crd, controllers);
    return crd.spec.versions.map(({ name: version, schema: { openAPIV3Schema: schema } }) => {
      const { kind } = crd.spec.names;
      return {
        name: crd.metadata.name,
        version,
        kind,
        displayName: wordsOf(kind),
        description: schema.description ?? `A ${kind} in the version ${version}.`,
        ...resources.length === 0 ? {} : { resources },
        ...descriptorsOf(schema, "spec"),
        ...descriptorsOf(schema, "status"),
      };
    });
  });
}

/** The other kinds that the controllers of a kind watch, create, change or record. */
function usedKinds({ spec: { group, names } }: Crd, controllers: readonly OperatorController[]): readonly object[] {
  const isIt = (resource: Resource) => resource.group === group && resource.kind === names.kind;
  const used = controllers.filter(({ watches }) => watches.some(({ resource }) => isIt(resource)))
    .flatMap(({ watches, permissions, options: { recordsEvents = true } }): readonly Resource[] => [
      ...[...watches, ...permissions].map(({ resource }) => resource).filter((resource) => !isIt(resource)),
      ...recordsEvents ? [builtin.Event] : [],
    ]);
  const byName = new Map(used.map((resource) => [`${resourceName(resource)}/${resource.version}`, resource]));
  return [...byName].sort(([left], [right]) => left < right ? -1 : 1)
    .map(([, { kind, version }]) => ({ kind, name: "", version }));
}

function descriptorsOf(
  { properties = {} }: StructuralSchema,
  place: Place,
): Readonly<Record<string, readonly Descriptor[]>> {
  const fields = Object.entries(properties[place]?.properties ?? {});
  if (fields.length === 0) return {};
  const descriptors = fields.map(([path, field]): Descriptor => {
    const shown = place === "spec" ? editors(field) : views(path, field);
    return {
      path,
      displayName: field.title ?? wordsOf(path),
      ...field.description === undefined ? {} : { description: field.description },
      ...shown.length === 0 ? {} : { "x-descriptors": shown },
    };
  });
  return { [`${place}Descriptors`]: descriptors };
}

/** How a form edits a field. Lists and objects are edited by their schema. */
function editors({ type, enum: values, format }: StructuralSchema): readonly string[] {
  const ui = "urn:alm:descriptor:com.tectonic.ui";
  if (type === "boolean") return [`${ui}:booleanSwitch`];
  if (type === "integer" || type === "number") return [`${ui}:number`];
  if (type !== "string") return [];
  if (values !== undefined) return values.map((value) => `${ui}:select:${value}`);
  return [`${ui}:${format === "password" ? "password" : "text"}`];
}

function views(path: string, { type }: StructuralSchema): readonly string[] {
  if (type === "array") return path === "conditions" ? ["urn:alm:descriptor:io.kubernetes.conditions"] : [];
  return type === undefined || type === "object" ? [] : ["urn:alm:descriptor:text"];
}

/** `Deployment Name` of `deploymentName`; abbreviations stay whole: `Pod IPs`. */
function wordsOf(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/([A-Z])([A-Z][a-z]{2})/g, "$1 $2");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
