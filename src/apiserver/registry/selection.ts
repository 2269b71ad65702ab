/**
 * Selection: the objects of a collection that a list, a watch or a deletecollection selects, from namespace, name and label,
 * field and shard selectors. eventOf() applies it to the changes that a watch reads.
 *
 * The grammar and the errors of field selectors are those of apimachinery `fields.ParseSelector`.
 */
import { apiVersionOf } from "../../api/mod.ts";
import {
  badRequest,
  dnsLabelErrors,
  type JsonObject,
  type Kind,
  pathSegmentErrors,
  StatusError,
} from "../model/mod.ts";
import { type Call, storageNamespace } from "./call.ts";
import { type Matcher, parseLabelSelector, SelectorError } from "./label_selector.ts";
import { metadataText } from "./metadata.ts";
import { parseShardSelector, type ShardSelection } from "./shard_selector.ts";
import { atRevision, type Change, StoredObject } from "../storage/mod.ts";

/** The selected objects. */
export interface Selection {
  /** "": all namespaces. */
  readonly namespace: string;
  /** A single object. */
  readonly name: string | undefined;
  /** Decides on an object with this namespace and name; undefined when all of them are selected. */
  readonly matches: Matcher | undefined;
  /** The shard selector, as a list shows it. @default none */
  readonly shard?: string;
}

/** The selectors of a request. */
export interface Selectors {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** "": all shards. */
  readonly shardSelector: string;
}

/**
 * Reads the selectors of a request.
 *
 * @throws StatusError 400 when a selector is malformed or names a field that is not selectable, 500 for a shard selector
 */
export function selectionOf(call: Call, selectors: Selectors): Selection {
  const labels = parsed(() => parseLabelSelector(selectors.labelSelector));
  const terms = parsed(() => parseFieldSelector(selectors.fieldSelector));
  for (const { field } of terms) checkField(call.kind, field);
  const name = requiredValue(terms, "metadata.name");
  const isName = name !== undefined && name !== "" && pathSegmentErrors(name).length === 0;
  const own = storageNamespace(call);
  const requested = requiredValue(terms, "metadata.namespace");
  const isNamespace = own === "" && call.kind.scope === "Namespaced" && requested !== undefined &&
    dnsLabelErrors(requested).length === 0;
  const namespace = isNamespace ? requested : own;
  const isLookup = isName && (namespace !== "" || call.kind.scope === "Cluster");
  const fields = fieldMatcher(call, terms, isLookup ? name : undefined, namespace);
  const shard = selectors.shardSelector === "" ? undefined : shardOf(selectors.shardSelector);
  return {
    namespace,
    name: isLookup ? name : undefined,
    matches: both(both(labels, fields), shard?.matches),
    ...(shard === undefined ? {} : { shard: shard.text }),
  };
}

/** The real server does not give its error a code. */
function shardOf(selector: string): ShardSelection {
  try {
    return parseShardSelector(selector);
  } catch (error) {
    if (error instanceof SelectorError) throw new StatusError(500, "", `invalid shard selector: ${error.message}`);
    throw error;
  }
}

function parsed<Value>(parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
}

function checkField(kind: Kind, field: string): void {
  if (field === "metadata.name" || (field === "metadata.namespace" && kind.scope === "Namespaced")) return;
  if (kind.isSelectable(field)) return;
  if (!kind.hasStrategicMerge) throw badRequest(`field label not supported: ${field}`);
  if (field === "metadata.namespace") return;
  const message = kindErrors.get(kind.collection);
  throw badRequest(
    message?.(field) ??
      `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

const unsupported = (field: string): string => `field label not supported: ${field}`;

/** The error messages of kinds with their own field label conversion in kube-apiserver. */
const kindErrors: ReadonlyMap<string, (field: string) => string> = new Map([
  ...["pods", "nodes", "replicationcontrollers", "namespaces", "secrets", "services", "events"].map(
    (collection) => [collection, unsupported] as const,
  ),
  ["certificatesigningrequests.certificates.k8s.io", unsupported],
  ["jobs.batch", (field) => `field label ${JSON.stringify(field)} not supported for Job`],
  [
    "resourceslices.resource.k8s.io",
    (field) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${field}`,
  ],
]);

/** Matches the terms that the namespace and the name of the selection do not cover. */
function fieldMatcher(
  call: Call,
  terms: readonly FieldTerm[],
  name: string | undefined,
  namespace: string,
): Matcher | undefined {
  const open = terms.filter(({ field, isEqual, value }) =>
    !(isEqual && field === "metadata.name" && value === name) &&
    !(isEqual && field === "metadata.namespace" && value === namespace)
  );
  if (open.length === 0) return undefined;
  const { kind, family } = call;
  const apiVersion = apiVersionOf(kind);
  return ({ object }) => {
    const reader = object["apiVersion"] === apiVersion ? kind : family.storage;
    return open.every(({ field, isEqual, value }) => (fieldOf(reader, object, field) === value) === isEqual);
  };
}

function fieldOf(kind: Kind, object: JsonObject, field: string): string {
  if (field === "metadata.name") return metadataText(object, "name");
  if (field === "metadata.namespace") return metadataText(object, "namespace");
  return kind.fieldValue(object, field) ?? "";
}

function both(left: Matcher | undefined, right: Matcher | undefined): Matcher | undefined {
  if (left === undefined) return right;
  if (right === undefined) return left;
  return (state) => left(state) && right(state);
}

/** One term: the field must have the value, or must not have it. */
export interface FieldTerm {
  readonly field: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/** Parses a field selector. @throws SelectorError */
export function parseFieldSelector(text: string): readonly FieldTerm[] {
  return splitTerms(text).sort().filter((term) => term !== "").map((term) => {
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = "", operator = "", value = ""] = match;
    return { field, isEqual: operator !== "!=", value: unescaped(value) };
    // An empty term matches every object.
  }).filter(({ field, value }) => field !== "" || value !== "");
}

/** The value that the field must have, if the selector requires one. */
export function requiredValue(terms: readonly FieldTerm[], field: string): string | undefined {
  return terms.find((term) => term.field === field && term.isEqual)?.value;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "\\") index++;
    else if (text[index] === ",") {
      terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescaped(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    if (character === "\\") {
      index++;
      const escaped = text[index] ?? "";
      if (!["\\", ",", "="].includes(escaped)) {
        throw new SelectorError(`invalid field selector: invalid escape sequence: \\${escaped}`);
      }
      value += escaped;
    } else if (character === "," || character === "=") {
      const code = character.charCodeAt(0);
      throw new SelectorError(`invalid field selector: unescaped character in value: ${code}`);
    } else value += character;
  }
  return value;
}

/** One watch event. */
export interface ObjectEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly stored: StoredObject;
}

/**
 * The event of a change for one watch. An object that enters the selection is ADDED, and one that leaves it is DELETED with its
 * last selected state (apiserver `cacher/cache_watcher.go`).
 *
 * @returns undefined when neither state is selected
 */
export function eventOf(change: Change, matches: Matcher | undefined): ObjectEvent | undefined {
  const { kind, current, previous } = change;
  if (matches === undefined) return { type: typeOf(kind), stored: current };
  const isSelected = kind !== "deleted" && matches(current);
  const wasSelected = previous !== undefined && matches(previous);
  if (isSelected) return { type: wasSelected ? "MODIFIED" : "ADDED", stored: current };
  if (!wasSelected || previous === undefined) return undefined;
  return { type: "DELETED", stored: kind === "deleted" ? current : asOf(previous, change.revision) };
}

function typeOf(kind: Change["kind"]): ObjectEvent["type"] {
  switch (kind) {
    case "added":
      return "ADDED";
    case "modified":
      return "MODIFIED";
    case "deleted":
      return "DELETED";
    default:
      return kind satisfies never;
  }
}

function asOf(stored: StoredObject, revision: number): StoredObject {
  return new StoredObject(stored.key, stored.namespace, revision, atRevision(stored.object, revision));
}
