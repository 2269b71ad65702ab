/**
 * maskedObject(): a whole object, or the body of a write, without its secrets. Unlike redact(), which makes short fields of
 * logs, it cuts nothing, so that a recorded state can be fed to a controller again.
 *
 * Guarantees: of a Secret only the metadata remains, with masked annotations and without managedFields; the annotation
 * last-applied-configuration is left out; a value under a secret name is masked wherever it is, also as the value of a
 * named pair or of an operation of a JSON patch; so is what looks like a secret inside of any text. The field names in
 * managedFields stay, because a controller decides by them; the values of lists in them that stand under a secret name do not.
 */
import { isSecretName, liveSecrets, mask, maskShapes, type Plain } from "../redaction/mod.ts";

/** The resource name of Secrets. */
export const secrets = "secrets";

/** Deeper values are left out; the decoder of the client accepts no deeper objects. */
const maxDepth = 512;

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** @param resource The name of the resource, which tells that it is a Secret. */
export function maskedObject(value: unknown, resource: string): Plain {
  if (resource === secrets || isSecretObject(value)) {
    return Array.isArray(value) ? secretPatch(value) : onlyMetadata(value);
  }
  return masked(value, 0);
}

/** `text` without its secrets, in full length. */
export function maskedText(text: string): string {
  return maskShapes(liveSecrets.mask(text));
}

function isSecretObject(value: unknown): boolean {
  return isMap(value) && value.kind === "Secret" && value.apiVersion === "v1";
}

function onlyMetadata(value: unknown): Plain {
  if (!isMap(value)) return mask;
  const { apiVersion, kind, metadata } = value;
  return {
    ...(typeof apiVersion === "string" ? { apiVersion } : {}),
    ...(typeof kind === "string" ? { kind } : {}),
    ...(metadata === undefined ? {} : { metadata: maskedMetadata(metadata) }),
  };
}

function maskedMetadata(metadata: unknown): Plain {
  if (!isMap(metadata)) return mask;
  const { annotations, managedFields: _, ...rest } = metadata;
  const plain = masked(rest, 1) as { readonly [key: string]: Plain };
  if (!isMap(annotations)) return plain;
  const names = Object.keys(annotations).filter((name) => name !== lastApplied);
  return { ...plain, annotations: Object.fromEntries(names.map((name) => [name, mask])) };
}

/** The operations of a JSON patch of a Secret. */
function secretPatch(operations: readonly unknown[]): Plain {
  return operations.map((operation) => {
    if (!isMap(operation)) return mask;
    const path = String(operation.path ?? "");
    const isShown = path.startsWith("/metadata/") && !path.startsWith("/metadata/annotations");
    return "value" in operation && !isShown
      ? { ...masked({ ...operation, value: undefined }, 0) as object, value: mask }
      : masked(operation, 0);
  });
}

function masked(value: unknown, depth: number): Plain {
  if (typeof value === "string") return maskedText(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return (value ?? null) as Plain;
  if (depth >= maxDepth) return "[…]";
  if (Array.isArray(value)) return value.map((inner) => masked(inner, depth + 1));
  return maskedMap(value as Readonly<Record<string, unknown>>, depth);
}

function maskedMap(value: Readonly<Record<string, unknown>>, depth: number): Plain {
  const entries: [string, Plain][] = [];
  const nameOfValue = namesItsValue(value);
  for (const name of Object.keys(value)) {
    const inner = value[name];
    if (inner === undefined || name === lastApplied) continue;
    if (name === "managedFields" && Array.isArray(inner)) {
      entries.push([name, inner.map((manager) => maskedManager(manager, depth + 1))]);
      continue;
    }
    const isSecret = isSecretName(name) || (name === "value" && nameOfValue);
    entries.push([maskedText(name), isSecret && holdsText(inner) ? mask : masked(inner, depth + 1)]);
  }
  // fromEntries defines properties instead of assigning them, so `__proto__` stays an ordinary key.
  return Object.fromEntries(entries);
}

/** An element of managedFields. */
function maskedManager(manager: unknown, depth: number): Plain {
  if (!isMap(manager)) return masked(manager, depth);
  const { fieldsV1, ...rest } = manager;
  const plain = masked(rest, depth) as { readonly [key: string]: Plain };
  return fieldsV1 === undefined ? plain : { ...plain, fieldsV1: maskedFields(fieldsV1, depth + 1, false) };
}

/** Field sets: `f:name`, `k:{"name":"web"}`, `v:"element"`. @param isSecret They are below a secret name. */
function maskedFields(fields: unknown, depth: number, isSecret: boolean): Plain {
  if (!isMap(fields)) return masked(fields, depth);
  if (depth >= maxDepth) return {};
  return Object.fromEntries(
    Object.entries(fields).map(([step, below]) => {
      const isField = step.startsWith("f:");
      const shown = isField || !isSecret || step === "." ? maskedText(step) : `${step.slice(0, 2)}${mask}`;
      return [shown, maskedFields(below, depth + 1, isSecret || (isField && isSecretName(step.slice(2))))];
    }),
  );
}

/** True for `{ name: "API_TOKEN", value }`, and for an operation of a JSON patch on such a value. */
function namesItsValue({ name, op, path }: Readonly<Record<string, unknown>>): boolean {
  if (typeof name === "string") return isSecretName(name);
  if (typeof op !== "string" || typeof path !== "string") return false;
  // The name of a variable is in another field than its value.
  return /\/env\/\d+\/value$/.test(path) || path.split("/").some((step) => isSecretName(step));
}

/** True and false, and numbers, say something about a secret: `automountServiceAccountToken`. */
function holdsText(value: unknown): boolean {
  return typeof value === "string" || (typeof value === "object" && value !== null);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
