/** The ways to write an object, for the tables of numbers.ts and bodies.ts: a create, an update, and each type of patch. */
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";

/** Stands in a body for the text that a case writes there. */
export const marker = "@literal@";

/** An object with the marker in a field. */
export interface Target {
  /** `PLURAL` or `GROUP/VERSION/PLURAL`. */
  readonly resource: string;
  readonly body: Body;
}

/** A way to write an object. */
export interface Way {
  readonly name: string;
  readonly method: "POST" | "PUT" | "PATCH";
  readonly type: string;
  /** The query, besides `dryRun`. @default "" */
  readonly query?: string;
}

/** All ways. What is written in YAML begins with a comment, so that it is not JSON. */
export const ways: readonly Way[] = [
  { name: "a create", method: "POST", type: "application/json" },
  { name: "a create in YAML", method: "POST", type: "application/yaml" },
  { name: "an update", method: "PUT", type: "application/json" },
  { name: "a merge patch", method: "PATCH", type: "application/merge-patch+json" },
  {
    name: "a strategic merge patch",
    method: "PATCH",
    type: "application/strategic-merge-patch+json",
  },
  { name: "a JSON patch", method: "PATCH", type: "application/json-patch+json" },
  { name: "an apply", method: "PATCH", type: "application/apply-patch+yaml", query: "&fieldManager=me&force=true" },
  {
    name: "an apply in YAML",
    method: "PATCH",
    type: "application/apply-patch+yaml",
    query: "&fieldManager=me&force=true",
  },
];

/** True for a way that creates the object. */
export function isCreating({ name }: Way): boolean {
  return name.startsWith("a create") || name.startsWith("an apply");
}

/** Writes an object as a dry run, with `literal` in place of the marker, and records the field with the marker. */
export async function calls(run: CaseRun, way: Way, target: Target, literal: string): Promise<void> {
  const path = at(run, target.resource);
  const name = String(Object(target.body["metadata"]).name);
  const keys = keysOf(target.body) ?? [];
  if (!isCreating(way)) {
    await run.prepare({ path, body: withoutMarker(target.body) });
  }
  const isPost = way.method === "POST";
  const place = isPost ? path : `${path}/${name}`;
  await run.call({
    method: way.method,
    path: `${place}?dryRun=All${way.query ?? ""}`,
    type: way.type,
    body: textOf(way, target, keys, literal),
    pick: (body) => ({ kind: body.kind, [keys.join(".")]: valueAt(body, keys) }),
    sortsCauses: true,
  });
}

function textOf(way: Way, target: Target, keys: readonly string[], literal: string): string {
  const filled = (value: unknown) => JSON.stringify(value).replace(JSON.stringify(marker), literal);
  switch (way.type) {
    case "application/json-patch+json":
      return filled([{ op: "add", path: `/${keys.join("/")}`, value: marker }]);
    case "application/merge-patch+json":
    case "application/strategic-merge-patch+json":
      return filled(withoutPlainMetadata(target.body));
    case "application/yaml":
      return `# YAML\n${filled(target.body)}`;
    case "application/apply-patch+yaml": {
      const head = headOf(target.resource);
      const text = filled({ ...head, ...target.body });
      return way.name.endsWith("YAML") ? `# YAML\n${text}` : text;
    }
    default:
      return filled(target.body);
  }
}

const heads: Readonly<Record<string, Body>> = {
  "apps/v1/deployments": { apiVersion: "apps/v1", kind: "Deployment" },
  "coordination.k8s.io/v1/leases": { apiVersion: "coordination.k8s.io/v1", kind: "Lease" },
  podtemplates: { apiVersion: "v1", kind: "PodTemplate" },
  services: { apiVersion: "v1", kind: "Service" },
  limitranges: { apiVersion: "v1", kind: "LimitRange" },
  configmaps: { apiVersion: "v1", kind: "ConfigMap" },
};

/** The type of the objects of a resource. */
function headOf(resource: string): Body {
  return heads[resource] ?? {};
}

function withoutPlainMetadata(body: Body): Body {
  const { metadata, ...rest } = body;
  return Object.values(Object(metadata)).includes(marker) ? body : rest;
}

/** The keys that lead to the marker. */
function keysOf(value: unknown): readonly string[] | undefined {
  if (value === marker) return [];
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const rest = keysOf(item);
    if (rest !== undefined) return [key, ...rest];
  }
  return undefined;
}

function valueAt(body: unknown, keys: readonly string[]): unknown {
  let value = body;
  for (const key of keys) value = Object(value)[key];
  return value ?? null;
}

/** A copy without the field that has the marker. */
function withoutMarker(body: Body): Body {
  return JSON.parse(JSON.stringify(body, (_, value) => value === marker ? undefined : value));
}
