/**
 * defaultWorkloads(): what to play for a controller whose author wrote no workload: its samples come and go, and each field
 * of their kind's schema takes the values at its bounds, one beyond, none at all, and then its last good value again (as
 * Acto does).
 */
import { apiVersionOf, type KubeObject, type UntypedObject } from "../api/mod.ts";
import { customResourcesOf } from "../cluster/mod.ts";
import type { ObjectName, OperatorController, Workload, WorkloadStep } from "../manager/mod.ts";
import type { CustomResource, StructuralSchema } from "../schema/mod.ts";

/** Changes of one workload at most, so that a run stays short. */
const mostChanges = 12;

/** Workloads made from samples and schemas; none where there is no sample. */
export function defaultWorkloads(controller: OperatorController): readonly Workload[] {
  const samples = (controller.samples ?? []).map(placed(controller));
  if (samples.length === 0) return [];
  const creates = samples.map((object): WorkloadStep => ({ kind: "create", object }));
  const deletes = samples.toReversed().map((object): WorkloadStep => ({ kind: "delete", object: nameOf(object) }));
  const comeAndGo: Workload = { name: "samples come and go", steps: [...creates, ...deletes, ...creates] };
  const changed = samples.flatMap((sample) => {
    const resource = customResourcesOf([controller]).find((one) => isOf(sample, one));
    const changes = resource === undefined ? [] : changesOf(sample, resource);
    return chunks(changes, mostChanges).map((steps, index): Workload => ({
      name: `${sample.kind} takes other values, part ${index + 1}`,
      steps: [...creates, ...steps],
    }));
  });
  return [comeAndGo, ...changed];
}

function placed({ watches }: OperatorController): (sample: KubeObject) => UntypedObject {
  const clusterScoped = new Set(watches.flatMap(({ resource }) => resource.scope === "Cluster" ? [resource.kind] : []));
  return (sample) => {
    const { namespace = clusterScoped.has(sample.kind) ? undefined : "default" } = sample.metadata;
    return { ...sample, metadata: { ...sample.metadata, namespace } };
  };
}

function isOf({ apiVersion, kind }: KubeObject, resource: CustomResource): boolean {
  return kind === resource.kind && apiVersion === apiVersionOf(resource);
}

function nameOf({ apiVersion, kind, metadata: { name = "", namespace } }: KubeObject): ObjectName {
  return { apiVersion, kind, name, namespace };
}

/** Each field to each other value, and back. */
function changesOf(sample: UntypedObject, resource: CustomResource): readonly WorkloadStep[] {
  const version = resource.crd.spec.versions.find(({ name }) => name === resource.version);
  const fields = version?.schema.openAPIV3Schema.properties?.spec?.properties ?? {};
  const spec = isRecord(sample.spec) ? sample.spec : {};
  return Object.entries(fields).flatMap(([field, schema]) => {
    const good = Object.hasOwn(spec, field) ? spec[field] : null;
    return othersOf(schema, good).flatMap((value) => [setting(sample, field, value), setting(sample, field, good)]);
  });
}

function setting(sample: KubeObject, field: string, value: unknown): WorkloadStep {
  return { kind: "patch", object: nameOf(sample), patch: { spec: { [field]: value } } };
}

/** Values at the bounds, beyond them, of another type, and none. */
function othersOf(schema: StructuralSchema, good: unknown): readonly unknown[] {
  const { minimum, maximum, minLength = 0, maxLength } = schema;
  const values: unknown[] = [null];
  switch (schema.type) {
    case "integer":
    case "number":
      values.push(minimum ?? 0, maximum ?? 100, (maximum ?? 2 ** 31 - 1) + 1, "no number");
      break;
    case "string":
      values.push(...schema.enum ?? [], "other", "x".repeat(Math.max(0, minLength - 1)));
      if (maxLength !== undefined) values.push("x".repeat(maxLength + 1));
      break;
    case "boolean":
      values.push(good !== true, "no boolean");
      break;
    case "array":
      values.push([], [null]);
      break;
    default:
      values.push({}, "no object");
  }
  return values.filter((value) => value !== good);
}

function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from(
    { length: Math.ceil(items.length / size) },
    (_, index) => items.slice(index * size, (index + 1) * size),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
