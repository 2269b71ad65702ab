/**
 * defaultWorkloads(): the workloads of a controller whose author wrote none. They create and delete its samples, and set each
 * field of the spec to the values at its bounds, beyond them, and to null. After each value, the original one is restored
 * (as the test generator Acto does).
 */
import { isJsonObject, type KubeObject, splitKey, type UntypedObject } from "../api/mod.ts";
import {
  customDefinitions,
  type ObjectName,
  type OperatorController,
  type Workload,
  type WorkloadStep,
} from "../manager/mod.ts";
import type { Crd, StructuralSchema } from "../schema/mod.ts";

/** Changes of one workload at most, so that a run stays short. */
const maxChanges = 12;

/** Workloads made from samples and schemas; none without a sample. */
export function defaultWorkloads(controller: OperatorController): readonly Workload[] {
  const samples = (controller.samples ?? []).map(withNamespace(controller));
  if (samples.length === 0) return [];
  const creates = samples.map((object): WorkloadStep => ({ kind: "create", object }));
  const deletes = samples.toReversed().map((object): WorkloadStep => ({ kind: "delete", object: nameOf(object) }));
  const createAndDelete: Workload = {
    name: "create and delete the samples",
    steps: [...creates, ...deletes, ...creates],
  };
  const changed = samples.flatMap((sample) => {
    const changes = changesOf(sample, customDefinitions([controller]));
    return chunks(changes, maxChanges).map((steps, index): Workload => ({
      name: `change the fields of ${sample.kind}, part ${index + 1}`,
      steps: [...creates, ...steps],
    }));
  });
  return [createAndDelete, ...changed];
}

function withNamespace({ watches }: OperatorController): (sample: KubeObject) => UntypedObject {
  const clusterScoped = new Set(watches.flatMap(({ resource }) => resource.scope === "Cluster" ? [resource.kind] : []));
  return (sample) => {
    const { namespace = clusterScoped.has(sample.kind) ? undefined : "default" } = sample.metadata;
    return { ...sample, metadata: { ...sample.metadata, namespace } };
  };
}

function nameOf({ apiVersion, kind, metadata: { name = "", namespace } }: KubeObject): ObjectName {
  return { apiVersion, kind, name, namespace };
}

/** Sets each field to each other value, and back. */
function changesOf(sample: UntypedObject, definitions: readonly Crd[]): readonly WorkloadStep[] {
  const { namespace: group, name } = splitKey(sample.apiVersion);
  const definition = definitions.find(({ spec }) => spec.group === group && spec.names.kind === sample.kind);
  const version = definition?.spec.versions.find((one) => one.name === name);
  const fields = version?.schema.openAPIV3Schema.properties?.spec?.properties ?? {};
  const spec = isJsonObject(sample.spec) ? sample.spec : {};
  return Object.entries(fields).flatMap(([field, schema]) => {
    const original = Object.hasOwn(spec, field) ? spec[field] : null;
    return otherValues(schema, original).flatMap((value) => [
      setField(sample, field, value),
      setField(sample, field, original),
    ]);
  });
}

function setField(sample: KubeObject, field: string, value: unknown): WorkloadStep {
  return { kind: "patch", object: nameOf(sample), patch: { spec: { [field]: value } } };
}

/** Values at the bounds, beyond them, of another type, and null. */
function otherValues(schema: StructuralSchema, original: unknown): readonly unknown[] {
  const { minimum, maximum, minLength = 0, maxLength } = schema;
  const values: unknown[] = [null];
  switch (schema.type) {
    case "integer":
    case "number":
      values.push(minimum ?? 0, maximum ?? 100, (maximum ?? 2 ** 31 - 1) + 1, "not a number");
      break;
    case "string":
      values.push(...schema.enum ?? [], "other", "x".repeat(Math.max(0, minLength - 1)));
      if (maxLength !== undefined) values.push("x".repeat(maxLength + 1));
      break;
    case "boolean":
      values.push(original !== true, "not a boolean");
      break;
    case "array":
      values.push([], [null]);
      break;
    default:
      values.push({}, "not an object");
  }
  return values.filter((value) => value !== original);
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from(
    { length: Math.ceil(items.length / size) },
    (_, index) => items.slice(index * size, (index + 1) * size),
  );
}
