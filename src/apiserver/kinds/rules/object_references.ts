/** Rules of references to objects of any kind: what an autoscaler scales, and what its metrics describe. */
import type { JsonObject } from "../../model/mod.ts";
import { textAt } from "../fields.ts";
import { pathSegmentName } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";

/** How strictly the apiVersion of a reference is checked. */
export interface ReferenceOptions {
  readonly allowsAnyVersion: boolean;
  readonly allowsCore: boolean;
}

/** A reference to an object of any kind. */
export function checkReference(
  reference: JsonObject,
  place: FieldPath,
  problems: Problems,
  options: ReferenceOptions,
): void {
  for (const key of ["kind", "name"]) {
    const text = textAt(reference, key);
    if (text === "") problems.required(place.child(key));
    else problems.invalidAll(place.child(key), text, pathSegmentName(text, false));
  }
  if (options.allowsAnyVersion) return;
  const apiVersion = textAt(reference, "apiVersion");
  const why = whyBadVersion(apiVersion, options.allowsCore);
  if (why !== undefined) problems.invalid(place.child("apiVersion"), apiVersion, why);
}

/** What is wrong with an apiVersion, if anything is. */
export function whyBadVersion(apiVersion: string, allowsCore: boolean): string | undefined {
  const parts = apiVersion.split("/");
  if (apiVersion !== "/" && parts.length > 2) return `unexpected GroupVersion string: ${apiVersion}`;
  const isCore = apiVersion === "/" || parts.length === 1 || parts[0] === "";
  return isCore && !allowsCore ? "apiVersion must specify API group" : undefined;
}
