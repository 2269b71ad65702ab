/**
 * compareCrds(): whether a CustomResourceDefinition may replace another one, which `install-crds` asks before it does.
 * Compares what is in the cluster with what the program brings, version by version.
 */
import { type BreakingChange, compareSchemas } from "./compare_schemas.ts";
import type { Crd, CrdVersion } from "./crd.ts";

/** Options of {@link compareCrds}. */
export interface CompareCrdsOptions {
  /**
   * `status.storedVersions` of the CRD in the cluster: versions in which objects may lie in etcd.
   * @default the old storage version
   */
  readonly storedVersions?: readonly string[];
}

/**
 * What replacing `old` with `next` would break.
 *
 * @returns The changes, in the order of the versions; empty when nothing breaks.
 */
export function compareCrds(
  old: Pick<Crd, "spec">,
  next: Pick<Crd, "spec">,
  options: CompareCrdsOptions = {},
): readonly BreakingChange[] {
  const stored = options.storedVersions ??
    old.spec.versions.filter((version) => version.storage).map(({ name }) => name);
  return [
    ...compareIdentity(old.spec, next.spec),
    ...old.spec.versions.flatMap((version) => compareVersion(version, next, stored.includes(version.name))),
  ];
}

function compareIdentity(old: Crd["spec"], next: Crd["spec"]): BreakingChange[] {
  const pairs: readonly [string, string, string][] = [
    ["group", old.group, next.group],
    ["scope", old.scope, next.scope],
    ["kind", old.names.kind, next.names.kind],
    ["plural", old.names.plural, next.names.plural],
  ];
  return pairs.filter(([, before, after]) => before !== after).map(([name, before, after]) => ({
    kind: "identity",
    path: "",
    message: `the ${name} changes from ${before} to ${after}`,
  }));
}

function compareVersion(version: CrdVersion, next: Pick<Crd, "spec">, isStored: boolean): BreakingChange[] {
  const { name } = version;
  // Who uses a deprecated version has been warned by the server with each request.
  const isInUse = version.served && version.deprecated !== true;
  const counterpart = next.spec.versions.find((candidate) => candidate.name === name);
  if (counterpart === undefined) {
    const reason = isStored ? "objects may be stored in it" : "clients may use it";
    return isInUse || isStored ? [versionChange(name, `is removed: ${reason}`)] : [];
  }
  const unserved = isInUse && !counterpart.served
    ? [versionChange(name, "is no longer served: clients may use it")]
    : [];
  const changes = compareSchemas(version.schema.openAPIV3Schema, counterpart.schema.openAPIV3Schema);
  const lost = version.subresources?.status !== undefined && counterpart.subresources?.status === undefined
    ? [versionChange(name, "loses its status subresource")]
    : [];
  const named = changes.map((change) => ({ ...change, version: name, message: `${name}: ${change.message}` }));
  return [...unserved, ...lost, ...named];
}

function versionChange(name: string, state: string): BreakingChange {
  return { kind: "version", path: "", version: name, message: `version ${name} ${state}` };
}
