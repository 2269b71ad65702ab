/** Reading an admission request, and rejecting it as the built-in plugins do: apiserver `admission/errors.go`. */
import { type AdmissionRequest, type Draft, forbidden, type StatusError } from "../model/mod.ts";
import { metadataText } from "../registry/mod.ts";

/** The draft of a new object; undefined for any other request. */
export function newObject({ operation, subresource, object }: AdmissionRequest): Draft | undefined {
  return operation === "CREATE" && subresource === "" ? object : undefined;
}

/** 403, with the name of the object or its generateName. */
export function forbiddenError(request: AdmissionRequest, why: string): StatusError {
  const { kind, name, object = {} } = request;
  const made = metadataText(object, "name") || metadataText(object, "generateName") || "Unknown";
  return forbidden({ group: kind.group, resource: kind.plural, name: name === "" ? made : name }, why);
}
