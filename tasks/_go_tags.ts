/**
 * Reads the validation tags of Go sources (`+k8s:maxItems=32` in the comment of a field), which OpenAPI does not publish.
 * Tags that do not check a value are left out; a tag that is not known is an error, so that a new version of Kubernetes
 * shows what it adds.
 */

/** The tags of one field, in the notation of src/apiserver/kinds/generated/declared_checks.ts. */
export interface TaggedField {
  /** The name in JSON. */
  readonly name: string;
  /** The type in Go without pointers and lists: `DeviceTaintEffect`. */
  readonly elementType: string;
  readonly checks: readonly string[];
}

/** The tags of a package. */
export interface TaggedPackage {
  /** The fields of structs, in the order of the source. Embedded structs are entries with the name "". */
  readonly structs: ReadonlyMap<string, readonly TaggedField[]>;
  /** The values of string types with the tag `enum`, sorted; none where another package declares them. */
  readonly enums: ReadonlyMap<string, readonly string[]>;
}

/** Feature gates of alpha stage are off, so that the checks of `ifDisabled` apply and those of `ifEnabled` do not. */
const wrappers = /^(?:alpha|beta)(?:\([^)]*\))?=\+k8s:/;

/** Tags that describe code generation, subresources or merging instead of values. */
const noChecks =
  /^(alpha|conversion|conversion-gen|customUnique|deepcopy|deepcopy-gen|defaulter-gen|deprecated|isSubresource|listMapKey|listType=atomic|openapi-gen|openapi-model-package|prerelease-lifecycle-gen|protobuf-gen|supportsSubresource|validation-gen)(\b|:|=|$)/;

const plainTags: ReadonlySet<string> = new Set([
  "discriminator",
  "enum",
  "forbidden",
  "immutable",
  "optional",
  "required",
  "unionMember",
  "zeroOrOneOfMember",
]);

const valueTags: ReadonlySet<string> = new Set([
  "format",
  "maxBytes",
  "maxItems",
  "maxLength",
  "maximum",
  "minItems",
  "minLength",
  "minimum",
  "update",
]);

/** The checks of the tags of one field or type. @throws Error for an unknown tag */
export function checksOf(tags: readonly string[]): readonly string[] {
  const plain = tags.map((tag) => tag.replace(wrappers, ""));
  const keys = plain.flatMap((tag) => tag.match(/^listMapKey=(.+)$/)?.[1] ?? []);
  return [...new Set(plain.flatMap((tag) => checkOf(tag, keys)))];
}

function checkOf(tag: string, keys: readonly string[]): readonly string[] {
  if (/^ifEnabled\(/.test(tag)) return [];
  const disabled = tag.match(/^ifDisabled\([^)]*\)=\+k8s:(.+)$/)?.[1];
  if (disabled !== undefined) return checkOf(disabled, keys);
  if (/^(unique|listType)=map$/.test(tag)) return [`unique=${keys.join("+")}`];
  if (/^(unique|listType)=set$/.test(tag)) return ["unique"];
  if (plainTags.has(tag)) return [tag];
  const [, name = "", value = ""] = tag.match(/^(\w+)="?([^"]*)"?$/) ?? [];
  if (valueTags.has(name)) return [`${name}=${value}`];
  const [, of = "", inner = ""] = tag.match(/^eachKey=\+k8s:(\w+)=(.+)$/) ?? [];
  if (of === "format") return [`keyFormat=${inner}`];
  const [, member = "", rule = ""] = tag.match(/^member\("([^"]+)"\)=\+k8s:(\w+)$/) ?? [];
  if (rule !== "") return [`when=${member}:${rule}`];
  const [, key = "", item = ""] = tag.match(/^item\((\w+): "([^"]+)"\)=\+k8s:zeroOrOneOfMember$/) ?? [];
  if (item !== "") return [`oneItemOf=${key}:${item}`];
  const [, field = "", nested = ""] = tag.match(/^subfield\((\w+)\)=\+k8s:(.+)$/) ?? [];
  if (nested !== "") return checkOf(nested, keys).map((check) => `subfield=${field}:${check}`);
  if (noChecks.test(tag)) return [];
  throw new Error(`Cannot read the tag +k8s:${tag}: it is not known`);
}

/** Reads one source file into `structs` and `enums`. */
export function readTags(source: string): TaggedPackage {
  const structs = new Map<string, readonly TaggedField[]>();
  const enums = new Map<string, readonly string[]>();
  let tags: string[] = [];
  let fields: TaggedField[] | undefined;
  for (const line of source.split("\n")) {
    const comment = line.match(/^\s*\/\/(.*)$/)?.[1];
    if (comment !== undefined) {
      const tag = comment.match(/^\s*\+k8s:(.+?)\s*$/)?.[1];
      if (tag !== undefined) tags.push(tag);
      continue;
    }
    const [, typeName, of] = line.match(/^type (\w+) (struct|string)\b/) ?? [];
    if (typeName !== undefined && of === "struct") structs.set(typeName, fields = []);
    else if (typeName !== undefined && tags.length > 0 && checksOf(tags).includes("enum")) {
      enums.set(typeName, valuesOf(source, typeName));
    } else if (line === "}") fields = undefined;
    else if (fields !== undefined) fields.push(...fieldOf(line, tags));
    // A blank line separates the comment of a type from one that stands alone.
    if (line.trim() !== "" || fields === undefined) tags = [];
  }
  return { structs, enums };
}

function fieldOf(line: string, tags: readonly string[]): readonly TaggedField[] {
  const match = line.match(/^\t(?:(\w+)\s+)?(\S+)\s+`json:"([^",]*)/);
  if (match === null) return [];
  const [, , type = "", name = ""] = match;
  if (name === "-") return [];
  const elementType = type.replace(/^(\*|\[\]|map\[[\w.]+\])+/, "");
  return [{ name, elementType, checks: checksOf(tags) }];
}

function valuesOf(source: string, typeName: string): readonly string[] {
  // A constant of another package, as in AddressType(v1.IPv4Protocol).
  if (new RegExp(`=\\s*${typeName}\\(\\w+\\.`).test(source)) return [];
  const pattern = new RegExp(`^\\s+\\w+(?:\\s+${typeName}\\s*=\\s*|\\s*=\\s*${typeName}\\()"([^"]*)"`, "gm");
  return [...source.matchAll(pattern)].map(([, value = ""]) => value).sort();
}
