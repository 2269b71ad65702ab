/**
 * Words of the Common Expression Language, as far as rules are made here: how a field is named and a text is quoted.
 * Source: the escaping rules of `x-kubernetes-validations`, Kubernetes 1.36.
 */
import { cannotDefine, type Place } from "./_place.ts";

const keywords: ReadonlySet<string> = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var " +
    "void while").split(" "),
);

/** The name under which a rule reaches the property `name`. @throws TypeError when there is none. */
export function celName(name: string, place: Place): string {
  if (keywords.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_.\/-][A-Za-z0-9_.\/-]*$/.test(name)) {
    throw cannotDefine(place, `has the property ${JSON.stringify(name)}, which CEL cannot name`);
  }
  return name.replaceAll("__", "__underscores__").replaceAll(".", "__dot__").replaceAll("-", "__dash__")
    .replaceAll("/", "__slash__");
}

/** `text` as a literal. */
export function celText(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A plain JSON value as a literal. CEL compares whole numbers with floating ones only where both are written so. */
export function celLiteral(value: unknown, isFloat: boolean): string {
  if (typeof value === "string") return celText(value);
  const text = String(value);
  return isFloat && /^-?\d+$/.test(text) ? `${text}.0` : text;
}
