/**
 * The spec of the access reviews: its errors, and the attributes that it asks about. Source: kubernetes
 * `pkg/apis/authorization/validation` and `pkg/registry/authorization/util` of 1.36.
 */
import {
  type Attributes,
  type FieldError,
  goJson,
  isJsonObject,
  type Json,
  type JsonObject,
  labelKeyErrors,
  labelValueErrors,
  read,
  type RequiredField,
  type User,
} from "../model/mod.ts";
import { findObject, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import { parseFieldSelector, parseLabelSelector, readMetadata, SelectorError } from "../registry/mod.ts";

/** A review is about a resource or a path. */
export function attributeErrors({ resourceAttributes, nonResourceAttributes }: JsonObject): readonly FieldError[] {
  const [isResource, isPath] = [isJsonObject(resourceAttributes), isJsonObject(nonResourceAttributes)];
  if (isResource !== isPath) return [];
  if (isResource && isJsonObject(nonResourceAttributes)) {
    const { path = "", verb = "" } = nonResourceAttributes;
    const detail = "cannot be specified in combination with resourceAttributes";
    // The real server prints its Go struct here.
    const value: Json = { Path: path, Verb: verb };
    return [{ type: "Invalid", field: "spec.nonResourceAttributes", value, detail }];
  }
  const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  return [{ type: "Invalid", field: "spec.resourceAttributes", value: null, detail }];
}

const selectorsPath = "spec.resourceAttributes";

/** The errors of the selectors of a list that a review asks about. */
export function selectorErrors(spec: JsonObject): readonly FieldError[] {
  const attributes = objectAt(spec, "resourceAttributes");
  return ["fieldSelector", "labelSelector"].flatMap((type) => {
    const selector = findObject(attributes, type);
    return selector === undefined ? [] : [...selectorErrorsOf(selector, `${selectorsPath}.${type}`)];
  });
}

function* selectorErrorsOf(selector: JsonObject, path: string): Generator<FieldError, void, void> {
  const [raw, requirements] = [textAt(selector, "rawSelector"), objectsAt(selector, "requirements")];
  if (raw !== "" && requirements.length > 0) {
    const detail = "may not specified at the same time as requirements";
    yield { type: "Invalid", field: `${path}.rawSelector`, value: raw, detail };
  }
  if (raw === "" && requirements.length === 0) {
    const detail = `when ${path} is specified, requirements or rawSelector is required`;
    yield { type: "Required", field: `${path}.requirements`, detail };
  }
  for (const [index, requirement] of requirements.entries()) {
    const [place, key] = [`${path}.requirements[${index}]`, textAt(requirement, "key")];
    const isField = path.endsWith("fieldSelector");
    if (isField && key === "") yield { type: "Required", field: `${place}.key`, detail: "must be specified" };
    yield* valueErrors(requirement, `${place}.values`);
    if (isField) continue;
    for (const detail of labelKeyErrors(key)) yield { type: "Invalid", field: `${place}.key`, value: key, detail };
    for (const [at, value] of textsAt(requirement, "values").entries()) {
      for (const detail of labelValueErrors(value)) {
        yield { type: "Invalid", field: `${place}.values[${at}]`, value, detail };
      }
    }
  }
}

/** An operator that is not known may come from a client that knows more. */
function* valueErrors(requirement: JsonObject, field: string): Generator<FieldError, void, void> {
  const [operator, count] = [textAt(requirement, "operator"), textsAt(requirement, "values").length];
  if (["In", "NotIn"].includes(operator) && count === 0) {
    yield { type: "Required", field, detail: "must be specified when `operator` is 'In' or 'NotIn'" };
  }
  if (["Exists", "DoesNotExist"].includes(operator) && count > 0) {
    yield { type: "Forbidden", field, detail: "may not be specified when `operator` is 'Exists' or 'DoesNotExist'" };
  }
}

/** The fields of metadata in the order of their Go struct. */
const metadataFields = [
  ...["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp"],
  ...["deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"],
  "managedFields",
];

/** A review has no metadata, except for the namespace of one in a namespace. */
export function metadataErrors(review: JsonObject, namespace: string | undefined): readonly FieldError[] {
  const metadata = readMetadata(review);
  const allowed = namespace === undefined ? ["managedFields"] : ["managedFields", "namespace"];
  if (Object.keys(metadata).every((key) => allowed.includes(key))) return [];
  const detail = namespace === undefined ? "must be empty" : "must be empty except for namespace";
  const managed = objectsAt(metadata, "managedFields").map((entry) => structText(entry, managedFields));
  const shown = structText({ ...metadata, managedFields: [] }, metadataFields)
    .replace('"managedFields":[]', () => `"managedFields":[${managed.join(",")}]`);
  return [{ type: "Invalid", field: "metadata", value: metadata, shown, detail }];
}

const managedFields = ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"];

/** The JSON of a Go struct, whose fields have an order. */
function structText(object: JsonObject, fields: readonly string[]): string {
  const shown = fields.flatMap((key) => {
    const value = read(object, key);
    return value === undefined ? [] : [`${JSON.stringify(key)}:${goJson(value)}`];
  });
  return `{${shown.join(",")}}`;
}

/** Why a selector of a review is not heeded, or "". */
export function selectorProblem(spec: JsonObject): string {
  const attributes = objectAt(spec, "resourceAttributes");
  const problems = ([["fieldSelector", parseFieldSelector], ["labelSelector", parseLabelSelector]] as const).flatMap(
    ([type, parse]) => {
      const selector = objectAt(attributes, type);
      const isParsed = isParsable(() => parse(textAt(selector, "rawSelector")));
      const what = `${selectorsPath}.${type}`;
      if (!isParsed) return [`${what} ignored due to parse error`];
      const listed = objectsAt(selector, "requirements");
      const known = listed.filter((requirement) => isSupported(type, requirement)).length;
      if (known === listed.length) return [];
      return [`${what} ${known === 0 ? "ignored" : "partially ignored"} due to parse error`];
    },
  );
  return problems.join("; ");
}

function isParsable(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}

/** Field selectors of lists have terms with one value only. */
function isSupported(type: "fieldSelector" | "labelSelector", requirement: JsonObject): boolean {
  const operator = textAt(requirement, "operator");
  if (type === "labelSelector") return ["In", "NotIn", "Exists", "DoesNotExist"].includes(operator);
  return ["In", "NotIn"].includes(operator) && textsAt(requirement, "values").length === 1;
}

/** A review in a namespace must be about that namespace. */
export function namespaceErrors(spec: JsonObject, namespace: string | undefined): readonly FieldError[] {
  if (namespace === undefined) return [];
  const errors: FieldError[] = [];
  const requested = isJsonObject(spec.resourceAttributes) ? textAt(spec.resourceAttributes, "namespace") : namespace;
  if (requested !== namespace) {
    const field = "spec.resourceAttributes.namespace";
    errors.push({ type: "Invalid", field, value: requested, detail: "must match metadata.namespace" });
  }
  if (isJsonObject(spec.nonResourceAttributes)) {
    const { path = "", verb = "" } = spec.nonResourceAttributes;
    const value: Json = { Path: path, Verb: verb };
    const detail = "disallowed on this kind of request";
    errors.push({ type: "Invalid", field: "spec.nonResourceAttributes", value, detail });
  }
  return errors;
}

/** What a review asks about a resource. */
export function resourceAttributesOf(user: User, attributes: JsonObject): Attributes {
  const text = (key: string) => textAt(attributes, key);
  return {
    user,
    verb: text("verb"),
    isResourceRequest: true,
    group: text("group"),
    version: text("version"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace: text("namespace"),
    name: text("name"),
    path: "",
    requiredFields: requiredFieldsOf(objectAt(attributes, "fieldSelector")),
  };
}

/** The values that a field selector requires; terms that it cannot have require nothing. */
function requiredFieldsOf(selector: JsonObject): readonly RequiredField[] {
  const listed = objectsAt(selector, "requirements");
  if (listed.length > 0) {
    return listed.filter((requirement) => textAt(requirement, "operator") === "In").flatMap((requirement) => {
      const [value, ...more] = textsAt(requirement, "values");
      return value === undefined || more.length > 0 ? [] : [{ field: textAt(requirement, "key"), value }];
    });
  }
  try {
    return parseFieldSelector(textAt(selector, "rawSelector")).filter(({ isEqual }) => isEqual);
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

/** What a review asks about a path. */
export function pathAttributesOf(user: User, value: Json | undefined): Attributes {
  const attributes = isJsonObject(value) ? value : {};
  const rest = { group: "", version: "", resource: "", subresource: "", namespace: "", name: "" };
  const [verb, path] = [textAt(attributes, "verb"), textAt(attributes, "path")];
  return { user, verb, isResourceRequest: false, ...rest, path };
}
