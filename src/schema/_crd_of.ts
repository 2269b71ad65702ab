/**
 * Puts a CustomResourceDefinition together: one object, all its keys in one order, within the server's limits.
 */
import type { Scope, StringMap } from "../api/mod.ts";
import { addRules } from "./_extensions.ts";
import { canonical } from "./_json.ts";
import type { Draft } from "./_leaves.ts";
import { checkGroup, checkVersion } from "./_names.ts";
import { columnsOf, scaleOf, selectableFieldsOf } from "./_paths.ts";
import { cannotDefine, type Place, propertyOf, rootPlace } from "./_place.ts";
import type { Crd, CrdConversion, CrdNames, CrdVersion } from "./crd.ts";
import type { OtherVersionOptions, VersionOptions } from "./resource_options.ts";
import { translate } from "./structural.ts";
import type { StructuralSchema } from "./structural_schema.ts";
import { isRequired, type Schema } from "./_zod.ts";

/**
 * Bytes of JSON. etcd refuses requests above 1.5 MiB (its --max-request-bytes); the server adds managedFields and
 * status to what we send.
 */
const largestCrdBytes = 1024 * 1024;

/** What a CRD is made of. */
export interface CrdParts {
  readonly group: string;
  readonly scope: Scope;
  readonly names: CrdNames;
  readonly annotations: StringMap;
  readonly labels: StringMap;
  readonly versions: readonly OtherVersionOptions[];
  readonly conversion: CrdConversion | undefined;
}

/** Makes the CRD. @throws TypeError when the server would refuse it. */
export function crdOf(parts: CrdParts): Crd {
  const { group, scope, names, annotations, labels, conversion } = parts;
  const place = rootPlace(names.kind);
  checkGroup(names.kind, group, annotations);
  const versions = parts.versions.map((version) => versionOf(version, place));
  checkVersions(versions, place);
  const crd: Crd = canonical({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${names.plural}.${group}`,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
    spec: { group, scope, names, versions, ...(conversion === undefined ? {} : { conversion }) },
  });
  const bytes = new TextEncoder().encode(JSON.stringify(crd)).length;
  if (bytes > largestCrdBytes) {
    throw cannotDefine(place, `makes a CRD of ${bytes} bytes, the API server stores ${largestCrdBytes} at most`);
  }
  return crd;
}

function versionOf(version: OtherVersionOptions, place: Place): CrdVersion {
  const { name, served = true, storage = false, deprecated = false, scale } = version;
  checkVersion(place.kind, name);
  const root = rootSchema(version, place);
  const subresources = {
    ...(version.status === undefined ? {} : { status: {} }),
    ...(scale === undefined ? {} : { scale: scaleOf(scale, root, place) }),
  };
  const columns = columnsOf(version.printerColumns ?? [], root, place);
  const fields = selectableFieldsOf(version.selectableFields ?? [], root, place);
  return {
    name,
    served,
    storage,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === "string" ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: root },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns }),
    ...(fields.length === 0 ? {} : { selectableFields: fields }),
  };
}

/** The schema of the whole object; what metadata holds is the server's business. */
function rootSchema(version: VersionOptions, place: Place): StructuralSchema {
  const spec = objectAt(version.spec, propertyOf(place, "spec"));
  const status = version.status === undefined ? undefined : objectAt(version.status, propertyOf(place, "status"));
  const root: Draft = {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec,
      ...(status === undefined ? {} : { status }),
    },
  };
  if (version.description !== undefined) root.description = version.description;
  if (isRequired(version.spec)) root.required = ["spec"];
  addRules(root, version.validations ?? [], place);
  return root;
}

function objectAt(schema: Schema, place: Place): StructuralSchema {
  const translated = translate(schema, place);
  if (translated.type !== "object") throw cannotDefine(place, "is no z.object()");
  return translated;
}

function checkVersions(versions: readonly CrdVersion[], place: Place): void {
  const names = new Set(versions.map((version) => version.name));
  if (names.size !== versions.length) throw cannotDefine(place, "has two versions of one name");
  const stored = versions.filter((version) => version.storage).map((version) => version.name);
  if (stored.length !== 1) {
    throw cannotDefine(place, `has ${stored.length} storage versions (${stored.join(", ")}), the server wants one`);
  }
}
