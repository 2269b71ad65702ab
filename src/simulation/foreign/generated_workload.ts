/**
 * generateWorkloads(): workloads for an operator whose author wrote none, from the schemas of its CRDs, as the test generator
 * Acto makes them. Each field of the spec gets another valid value, values at its bounds, one that makes no sense, and
 * none; then the object goes back to the last good state. Each workload ends with the deletion of its objects.
 *
 * Guarantees: equal options give equal workloads; each change is valid for the schema, but for values that make no sense.
 * Caveats: fields near the top, and those that the sample has, come first; the others are chosen by the seed, as many as the
 * limit allows. Rules over old values, and webhooks, are not known here: they may reject a change that is valid otherwise.
 */
import { isDeepEqual, parseExactJson, printExactJson, splitKey, type UntypedObject } from "../../api/mod.ts";
import { type VersionSchema, versionSchemaOf } from "../../apiserver/mod.ts";
import { type Random, seededRandom } from "../../async/mod.ts";
import { boundedParse, type Crd, type Json, type StructuralSchema, z } from "../../schema/mod.ts";
import type { ForeignStep, ForeignWorkload, ObjectSelector } from "./foreign_workload.ts";
import { changesOf, type FieldChange, fieldOf, fieldsOf, minimalValue } from "./generated_values.ts";

/** What the workloads are made from. */
export interface GenerateWorkloadsOptions {
  readonly definitions: readonly Crd[];
  /** Valid objects of these kinds, and what they need beside them, in the order in which they are created. */
  readonly samples: readonly UntypedObject[];
  /** The namespace of samples that name none. */
  readonly namespace: string;
  /** Chooses the fields. */
  readonly seed: number;
  /** The most changes of fields in all workloads together. */
  readonly maxSteps: number;
}

/** The workloads, and the kinds for which there is none. */
export interface GeneratedWorkloads {
  readonly workloads: readonly ForeignWorkload[];
  /** In words: `Foo: spec.size: Required value`. */
  readonly skipped: readonly string[];
}

/** Changes of one workload, about, so that a run stays short. */
const changesPerWorkload = 12;

/** Fields below this depth are part of embedded Pod templates and the like. */
const maxDepth = 6;

/** Makes the workloads. */
export function generateWorkloads(options: GenerateWorkloadsOptions): GeneratedWorkloads {
  const { definitions, namespace, seed, maxSteps } = options;
  const { samples, skipped } = samplesOf(options);
  if (samples.length === 0) return { workloads: [], skipped };
  const creates = samples.map((object): ForeignStep => ({ kind: "apply", objects: [object] }));
  const deletes = samples.toReversed().map((object): ForeignStep => ({ kind: "delete", target: selectorOf(object) }));
  const createAndDelete = {
    name: "create, delete and create again",
    namespace,
    steps: [...creates, ...deletes, ...creates, ...deletes],
  };
  const random = seededRandom(seed);
  const groups = samples.flatMap((sample) => {
    const schema = schemaOf(sample, definitions);
    return schema === undefined ? [] : [{ sample, groups: fieldGroups(sample, schema, random) }];
  });
  let left = maxSteps;
  const changing = groups.flatMap(({ sample, groups }) => {
    const taken: (readonly ForeignStep[])[] = [];
    for (const group of groups) {
      if (group.length > left) break;
      left -= group.length;
      taken.push(group);
    }
    return chunked(taken).map((steps, index): ForeignWorkload => ({
      name: `change the fields of ${sample.kind}, part ${index + 1}`,
      namespace,
      steps: [...creates, ...steps, ...deletes],
    }));
  });
  return { workloads: [createAndDelete, ...changing], skipped };
}

/** What is used of a definition. */
const definitionSchema = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string() }),
    versions: z.array(z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: z.looseObject({}) }) })).min(1),
  }),
});

/** The CustomResourceDefinitions among objects of files, if they have schemas. The server checks the rest. */
export function definitionsOf(objects: readonly UntypedObject[]): readonly Crd[] {
  return objects.flatMap((object) => {
    if (object.kind !== "CustomResourceDefinition" || boundedParse(definitionSchema, object).kind === "invalid") {
      return [];
    }
    return [object as unknown as Crd];
  });
}

/** The given samples; without any, the smallest valid object of each kind. */
function samplesOf({ definitions, samples }: GenerateWorkloadsOptions): {
  readonly samples: readonly UntypedObject[];
  readonly skipped: readonly string[];
} {
  const skipped: string[] = [];
  if (samples.length > 0) return { samples, skipped };
  const generated = definitions.flatMap((definition): UntypedObject[] => {
    const { group, names, versions } = definition.spec;
    const version = versions.find(({ storage }) => storage) ?? versions[0];
    if (version === undefined) return [];
    const schema = version.schema.openAPIV3Schema;
    const spec = schema.properties?.spec;
    const object = {
      apiVersion: `${group}/${version.name}`,
      kind: names.kind,
      metadata: { name: "sample" },
      ...(spec === undefined ? {} : { spec: minimalValue(spec) }),
    };
    const [problem] = versionSchemaOf(jsonOf(schema)).problems(jsonOf(object));
    if (problem === undefined) return [object];
    skipped.push(`${names.kind}: ${problem}`);
    return [];
  });
  return { samples: generated, skipped };
}

function schemaOf({ apiVersion, kind }: UntypedObject, definitions: readonly Crd[]): StructuralSchema | undefined {
  const { namespace: group, name } = splitKey(apiVersion);
  const definition = definitions.find(({ spec }) => spec.group === group && spec.names.kind === kind);
  return definition?.spec.versions.find((version) => version.name === name)?.schema.openAPIV3Schema;
}

function selectorOf({ apiVersion, kind, metadata: { name = "", namespace } }: UntypedObject): ObjectSelector {
  const { namespace: group, name: version } = splitKey(apiVersion);
  const place = namespace === undefined ? {} : { namespace };
  return { kind: group === undefined ? kind : `${kind}.${version}.${group}`, name, ...place };
}

/** A field of a sample. */
interface Field {
  readonly path: readonly (string | number)[];
  readonly schema: StructuralSchema;
  /** undefined when the sample does not have it. */
  readonly value: Json | undefined;
  /** Smaller ones come first. */
  readonly rank: number;
}

/** The steps of each field, in the order in which fields are tested: changes, then back to the sample. */
function fieldGroups(
  sample: UntypedObject,
  schema: StructuralSchema,
  random: Random,
): readonly (readonly ForeignStep[])[] {
  const spec = schema.properties?.spec;
  if (spec === undefined) return [];
  const object = jsonOf(sample);
  const server = versionSchemaOf(jsonOf(schema));
  const fields = [...fieldsBelow({ path: ["spec"], schema: spec, value: object.spec, rank: 0 }, random)];
  return fields.toSorted((a, b) => a.rank - b.rank).map((field) => stepsOf(field, object, server))
    .filter((steps) => steps.length > 0);
}

function* fieldsBelow(field: Field, random: Random): Generator<Field> {
  const { path, schema: { properties = {}, items, type }, value } = field;
  if (path.length > maxDepth) return;
  const below = (step: string | number, schema: StructuralSchema, inner: Json | undefined): Field => ({
    path: [...path, step],
    schema,
    value: inner,
    // A field that the sample has is worth as much as one two levels higher that it does not have.
    rank: path.length + (inner === undefined ? 2 : 0) + random.next(),
  });
  const children = type === "array"
    ? items === undefined || !Array.isArray(value) || value[0] === undefined ? [] : [below(0, items, value[0])]
    : Object.entries(properties).map(([name, schema]) => below(name, schema, fieldOf(value, name)));
  for (const child of children) {
    yield child;
    yield* fieldsBelow(child, random);
  }
}

/** The changes of a field, and the way back to the sample. */
function stepsOf(field: Field, sample: JsonObject, server: VersionSchema): readonly ForeignStep[] {
  const target = selectorOf(sample as unknown as UntypedObject);
  const found = new Map<FieldChange["kind"], number>();
  const steps: ForeignStep[] = [];
  let state = sample;
  const go = (next: JsonObject) => {
    const value = fieldsOf(mergePatch(state, next));
    steps.push({ kind: "patch", target, patch: { kind: "merge", value } });
  };
  for (const change of changesOf(field.schema, field.value)) {
    if ((found.get(change.kind) ?? 0) >= valuesOf(change)) continue;
    const changed = withValue(sample, field.path, change.value);
    const isValid = server.problems(server.normalized(changed)).length === 0;
    if ((!isValid && change.kind !== "invalid") || isDeepEqual(changed, state)) continue;
    found.set(change.kind, (found.get(change.kind) ?? 0) + 1);
    go(changed);
    // A rejected change leaves the object as it is.
    if (isValid) state = changed;
  }
  if (!isDeepEqual(state, sample)) go(sample);
  return steps;
}

/** The most values of a kind: a number grows and shrinks, and has two bounds. */
function valuesOf({ kind, value }: FieldChange): number {
  return typeof value === "number" && kind !== "invalid" ? 2 : 1;
}

type JsonObject = { readonly [field: string]: Json };

/** The object with another value at a path; undefined removes the field. */
function withValue(object: JsonObject, path: readonly (string | number)[], value: Json | undefined): JsonObject {
  return fieldsOf(replaced(object, path, value));
}

function replaced(
  whole: Json | undefined,
  [step, ...rest]: readonly (string | number)[],
  value: Json | undefined,
): Json {
  if (typeof step === "number") {
    const list = Array.isArray(whole) ? [...whole] : [];
    if (rest.length === 0 && value === undefined) return list.toSpliced(step, 1);
    return list.with(step, rest.length === 0 && value !== undefined ? value : replaced(list[step], rest, value));
  }
  const name = step ?? "";
  const { [name]: _replaced, ...others } = fieldsOf(whole);
  if (rest.length > 0) return { ...others, [name]: replaced(fieldOf(whole, name), rest, value) };
  return value === undefined ? others : { ...others, [name]: value };
}

/** The merge patch that changes `from` into `to`. */
function mergePatch(from: Json | undefined, to: Json): Json {
  const isMap = (value: Json | undefined) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isMap(from) || !isMap(to)) return to;
  const [before, after] = [fieldsOf(from), fieldsOf(to)];
  const patch: Record<string, Json> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, value] = [fieldOf(before, name), fieldOf(after, name)];
    if (isDeepEqual(old, value)) continue;
    patch[name] = value === undefined ? null : mergePatch(old, value);
  }
  return patch;
}

/** Groups of steps, joined to workloads of about {@link changesPerWorkload} steps. */
function chunked(groups: readonly (readonly ForeignStep[])[]): readonly (readonly ForeignStep[])[] {
  const chunks: ForeignStep[][] = [];
  for (const group of groups) {
    const last = chunks.at(-1);
    if (last === undefined || last.length + group.length > changesPerWorkload) chunks.push([...group]);
    else last.push(...group);
  }
  return chunks;
}

function jsonOf(value: unknown): JsonObject {
  return parseExactJson(printExactJson(value)) as JsonObject;
}
