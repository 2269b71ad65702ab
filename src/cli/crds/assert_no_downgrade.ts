/**
 * assertNoDowngrade(): an older program does not put its definitions over those of a newer one. What the newer one
 * stored, the older one's schema may not know.
 */
import { compareKubeVersions, type Crd, type CrdVersion, type StoredCrd } from "../../schema/mod.ts";
import { failedCommand, nameOf } from "./crd_work.ts";
import { compareVersions, installerVersion, type Program } from "./program_version.ts";

/** @throws CommandError when what is in the cluster is newer than `next` */
export function assertNoDowngrade(live: StoredCrd, next: Crd, program: Program): void {
  const state = newerBecause(live, next, program);
  if (state === undefined) return;
  throw failedCommand(
    `Cannot install ${nameOf(next)}: ${state}`,
    `Use a newer ${program.name}, or --allow-downgrade to go back`,
  );
}

/** True when the definition in the cluster was brought by a newer version of this very program. */
export function isOfNewerProgram(live: StoredCrd, program: Program): boolean {
  const version = installerVersion(live, program.name);
  return version !== undefined && (compareVersions(version, program.version) ?? 0) > 0;
}

function newerBecause(live: StoredCrd, next: Crd, program: Program): string | undefined {
  if (isOfNewerProgram(live, program)) {
    const version = installerVersion(live, program.name);
    return `the one in the cluster is of ${program.name} ${version}, this is ${program.version}`;
  }
  const known = new Set(next.spec.versions.map(({ name }) => name));
  const newest = newestOf(next.spec.versions);
  const newer = live.spec.versions.find(({ name }) => !known.has(name) && compareKubeVersions(name, newest) > 0);
  if (newer === undefined) return undefined;
  return `the one in the cluster has version ${newer.name}, of which this program (${newest}) knows nothing`;
}

function newestOf(versions: readonly CrdVersion[]): string {
  return versions.map(({ name }) => name).toSorted(compareKubeVersions).at(-1) ?? "";
}
