/**
 * Selection: which objects of a collection a list, a watch or a deletecollection is about: namespace, name and selectors
 * brought into one form that is cheap to decide.
 */
import { apiVersionOf } from "../../api/mod.ts";
import { badRequest, dnsLabelErrors, type JsonObject, type Kind, pathSegmentErrors } from "../model/mod.ts";
import type { Call } from "./call.ts";
import { type FieldTerm, parseFieldSelector, requiredValue } from "./field_selector.ts";
import { type Matcher, parseLabelSelector, SelectorError } from "./label_selector.ts";
import { metadataText } from "./metadata.ts";
import { storageNamespace } from "./engine.ts";

/** Which objects. */
export interface Selection {
  /** "": all of them. */
  readonly namespace: string;
  /** One object alone. */
  readonly name: string | undefined;
  /** Undefined: all that namespace and name leave. */
  readonly matches: Matcher | undefined;
}

/** The selectors of a request. */
export interface Selectors {
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/** @throws Refusal 400 when a selector is malformed or names a field that the kind does not offer */
export function selectionOf(call: Call, selectors: Selectors): Selection {
  const labels = parsed(() => parseLabelSelector(selectors.labelSelector));
  const terms = parsed(() => parseFieldSelector(selectors.fieldSelector));
  for (const { field } of terms) checkField(call.kind, field);
  const name = requiredValue(terms, "metadata.name");
  const isName = name !== undefined && name !== "" && pathSegmentErrors(name).length === 0;
  const own = storageNamespace(call);
  const asked = requiredValue(terms, "metadata.namespace");
  const isNamespace = own === "" && call.kind.scope === "Namespaced" && asked !== undefined &&
    dnsLabelErrors(asked).length === 0;
  const namespace = isNamespace ? asked : own;
  const isLookup = isName && (namespace !== "" || call.kind.scope === "Cluster");
  return {
    namespace,
    name: isLookup ? name : undefined,
    matches: both(labels, fieldMatcher(call, terms, isLookup ? name : undefined, namespace)),
  };
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
  const refusal = ownRefusals.get(kind.collection);
  throw badRequest(
    refusal?.(field) ??
      `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

const unsupported = (field: string): string => `field label not supported: ${field}`;

/** The kinds that read their fields by themselves, and so refuse in words of their own. */
const ownRefusals: ReadonlyMap<string, (field: string) => string> = new Map([
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

/** Leaves out the terms that namespace and name answer already. */
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
  return (object) => {
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
  return (object) => left(object) && right(object);
}
