/**
 * ImportedKind: a kind of another program, read from its CustomResourceDefinition, as a source file that defines it with
 * zod.
 *
 * Guarantees: the definition that the written file makes is the one that was read, because both are compared in their normal
 * form before a file is written. What cannot be written is an error that names the field; nothing is dropped.
 */
import { printExactJson } from "../../api/mod.ts";
import { shortened } from "../../observe/mod.ts";
import {
  type Crd,
  crdChanges,
  type CrdVersion,
  defineResource,
  type Json,
  type StructuralSchema,
} from "../../schema/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { call, evaluate, type Expression, fields, functionsIn, json } from "./expression.ts";
import { printExpression } from "./expression_text.ts";
import { normalDefinition } from "./normal_definition.ts";
import { schemaExpression } from "./schema_expression.ts";

/** A kind of another program. */
export interface ImportedKind {
  /** The definition in its normal form. */
  readonly crd: Crd;
  /** The version that the controller works with: the stored one, if it is served. */
  readonly version: CrdVersion;
  /** The text of resource.ts. */
  readonly text: string;
}

/** What a message shows of a value. */
const maxShown = 120;

/**
 * Writes the kind of a definition.
 *
 * @param type The name of the kind in the source
 * @throws CommandError that names what cannot be written
 */
export function importKind(read: Crd, type: string = read.spec.names.kind): ImportedKind {
  const crd = normalDefinition(read);
  const { names, versions } = crd.spec;
  const version = versions.find((one) => one.served && one.storage) ?? versions.find(({ served }) => served);
  if (version === undefined) throw cannotWrite(names.kind, "no version of it is served");
  const options = optionsOf(crd, version);
  const made = definitionOf(options, names.kind);
  const [difference] = crdChanges(crd, normalDefinition(made));
  if (difference !== undefined) {
    const { path, before, after } = difference;
    throw cannotWrite(names.kind, `${path} is ${shown(before)}, and would be ${shown(after)}`);
  }
  return { crd, version, text: textOf(type, options) };
}

function cannotWrite(kind: string, state: string): CommandError {
  return new CommandError(`Cannot write the kind ${kind}: ${state}`, {
    code: exitCode.failed,
    advice: "Nothing was written. Change that part of the definition, or write the kind yourself with defineResource()",
  });
}

function shown(value: unknown): string {
  return shortened(value === undefined ? "absent" : printExactJson(value), maxShown);
}

/** The definition that the written file makes. */
function definitionOf(options: Expression, kind: string): Crd {
  try {
    return defineResource(evaluate(options) as Parameters<typeof defineResource>[0]).crd;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw cannotWrite(kind, error.message.replace(/^Cannot define [^:]*: /, ""));
  }
}

type Entry = readonly [name: string, value: Expression];

/** An option with a JSON value; none when it is absent. */
function option(name: string, value: unknown): readonly Entry[] {
  return value === undefined ? [] : [[name, json(value as Json)]];
}

/** The argument of defineResource(). */
function optionsOf({ metadata, spec }: Crd, version: CrdVersion): Expression {
  const { names, versions, conversion } = spec;
  const usual =
    defineResource({ group: "example.dev", version: "v1", kind: names.kind, scope: "Cluster" }).crd.spec.names;
  const unusual = (name: "plural" | "singular" | "listKind") =>
    names[name] === usual[name] ? [] : option(name, names[name]);
  const others = versions.filter((one) => one !== version);
  return fields([
    ...option("group", spec.group),
    ...option("version", version.name),
    ...option("kind", names.kind),
    ...option("scope", spec.scope),
    ...unusual("plural"),
    ...unusual("singular"),
    ...unusual("listKind"),
    ...option("shortNames", names.shortNames),
    ...option("categories", names.categories),
    ...option("annotations", metadata.annotations),
    ...option("labels", metadata.labels),
    ...versionEntries(version),
    ...(others.length === 0 ? [] : [["versions", { kind: "list", items: others.map(otherVersion) }] as const]),
    ...option("conversion", conversion ?? (others.length === 0 ? undefined : { strategy: "None" })),
  ]);
}

function otherVersion(version: CrdVersion): Expression {
  const { name, served, storage } = version;
  return fields([
    ...option("name", name),
    ...option("served", served ? undefined : false),
    ...option("storage", storage ? true : undefined),
    ...versionEntries(version),
  ]);
}

/** The options of one version. */
function versionEntries(version: CrdVersion): readonly Entry[] {
  const { schema: { openAPIV3Schema: root }, subresources = {}, deprecated, deprecationWarning } = version;
  const { properties = {}, required = [], description, type, ...rest } = root;
  const { apiVersion: _version, kind: _kind, metadata = {}, ...named } = properties;
  const { "x-kubernetes-validations": rules, ...keywords } = rest;
  const { type: _type, ...ownMetadata } = metadata;
  const parts = ["spec", "status"].filter((name) => Object.hasOwn(named, name) && named[name]?.type === "object");
  const hasSubresource = subresources.status !== undefined;
  const expressionOf = (name: string): Entry => [
    name,
    schemaExpression(named[name] ?? {}, name === "status" || required.includes(name) ? "required" : "optional"),
  ];
  const others = Object.fromEntries(Object.entries(named).filter(([name]) => !parts.includes(name)));
  const rootRest: StructuralSchema = {
    ...keywords,
    type,
    properties: others,
    required: required.filter((name) => !parts.includes(name) || name === "status" || hasDefault(named[name])),
  };
  const hasFields = Object.keys(others).length > 0 || (rootRest.required ?? []).length > 0 ||
    Object.keys(keywords).length > 0;
  return [
    ...option("description", description),
    ...option("deprecated", deprecationWarning ?? deprecated),
    ...parts.map(expressionOf),
    ...option("statusSubresource", hasSubresource === parts.includes("status") ? undefined : hasSubresource),
    ...(hasFields ? [["fields", schemaExpression(rootRest)] as const] : []),
    ...option("metadata", Object.keys(ownMetadata).length === 0 ? undefined : ownMetadata),
    ...option("validations", rules),
    ...option("printerColumns", version.additionalPrinterColumns),
    ...option("selectableFields", version.selectableFields?.map(({ jsonPath }) => jsonPath)),
    ...option("scale", subresources.scale),
  ];
}

function hasDefault(schema: StructuralSchema | undefined): boolean {
  return schema?.default !== undefined;
}

/** Everything that the text may use, besides the kind itself. */
const libraryNames = ["defineResource", "embeddedResource", "Infer", "int64", "integer", "z"] as const;

function textOf(type: string, options: Expression): string {
  const whole = call("defineResource", options);
  const prefix = `export const ${type} = `;
  const { constants, lines } = printExpression(whole, {
    names: [...libraryNames, type],
    prefixLength: prefix.length,
  });
  const called = new Set([...functionsIn(whole)].map((name) => name.split(".")[0]));
  const imports = libraryNames.filter((name) => name === "Infer" || called.has(name));
  return [
    `/** ${type}: the kind, as its definition has it. The schema is the type, the CRD and the validation at the same time. */`,
    `import { ${imports.map((name) => name === "Infer" ? "type Infer" : name).join(", ")} } from "@pintle/controller";`,
    ...constants,
    "",
    `${prefix}${lines.join("\n")};`,
    `export type ${type} = Infer<typeof ${type}>;`,
    "",
  ].join("\n");
}
