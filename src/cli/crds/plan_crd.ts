/**
 * planCrd(): what has to be done about one definition, found out before anything is done about any. All that can be
 * refused is refused here, so that an operator's definitions change together or not at all.
 */
/* MERGED crds/assert_no_downgrade.ts
 * assertNoDowngrade(): an older program does not put its definitions over those of a newer one. What the newer one
 * stored, the older one's schema may not know.
 */
/* MERGED crds/program_version.ts
 * The mark that `install-crds` leaves on a definition: which program, and which version of it, brought it. So an older
 * program knows that it is the older one, and does not put its own definition over a newer one.
 */
import { compareKubeVersions, type Crd, crdChanges, type CrdVersion, type StoredCrd } from "../../schema/mod.ts";
import { awaitGone } from "./await_gone.ts";
import { assertCompatible, breakingMessages } from "./assert_compatible.ts";
import { commandFailure, type CrdContext, nameOf, readCrd } from "./crd_context.ts";

/** What has to be done about a definition. */
export interface CrdPlan {
  /** What the cluster has; undefined for nothing. */
  readonly live: StoredCrd | undefined;
  /** What it shall have in the end, with the mark of this program. */
  readonly wanted: Crd;
  /** What is applied first: also has the versions that objects may still be stored in. */
  readonly first: Crd;
}

/** Options of {@link planCrd}. */
interface PlanOptions {
  readonly isDryRun: boolean;
  readonly allowBreaking: boolean;
  readonly allowDowngrade: boolean;
  /** Milliseconds to wait for a definition that is being deleted. */
  readonly timeoutMs: number;
}

/** Plans the installation of a definition. @throws CommandError when it may not take the place of the present one */
export async function planCrd(crd: Crd, options: PlanOptions, work: CrdContext): Promise<CrdPlan> {
  const program = { name: work.session.operator.name, version: work.session.version };
  const wanted = withInstallerMark(crd, program);
  const live = await readLive(crd, options, work);
  if (live === undefined) return { live, wanted, first: wanted };
  // A newer program that says the same leaves nothing to do, and keeps its mark.
  if (isOfNewerProgram(live, program) && crdChanges({ spec: live.spec }, { spec: crd.spec }).length === 0) {
    const kept = withInstallerMark(crd, {
      ...program,
      version: installerVersion(live, program.name) ?? program.version,
    });
    return { live, wanted: kept, first: kept };
  }
  if (!options.allowDowngrade) assertNoDowngrade(live, wanted, program);
  if (options.allowBreaking) {
    for (const message of breakingMessages(live, wanted)) work.session.say(`${nameOf(wanted)}: ${message}`);
  } else {
    await assertCompatible(live, wanted, work);
  }
  return { live, wanted, first: withStoredVersions(wanted, live) };
}

/** A definition that is being deleted would go after it was applied, so its end is waited for. */
async function readLive(crd: Crd, options: PlanOptions, work: CrdContext): Promise<StoredCrd | undefined> {
  const live = await readCrd(work, crd.metadata.name);
  if (live?.metadata.deletionTimestamp === undefined) return live;
  if (options.isDryRun) {
    throw commandFailure(`Cannot install ${nameOf(crd)}: it is being deleted`, "Wait until it is gone");
  }
  await awaitGone([live], options, work);
  return undefined;
}

/** The server refuses to forget a version as long as objects may be stored in it. */
function withStoredVersions(wanted: Crd, live: StoredCrd): Crd {
  const known = new Set(wanted.spec.versions.map(({ name }) => name));
  const stored = new Set(live.status?.storedVersions ?? []);
  const missing = live.spec.versions.filter(({ name }) => stored.has(name) && !known.has(name));
  if (missing.length === 0) return wanted;
  const versions = [...wanted.spec.versions, ...missing.map((version) => ({ ...version, storage: false }))];
  return { ...wanted, spec: { ...wanted.spec, versions } };
}

/** @throws CommandError when what is in the cluster is newer than `next` */
function assertNoDowngrade(live: StoredCrd, next: Crd, program: Program): void {
  const state = newerBecause(live, next, program);
  if (state === undefined) return;
  throw commandFailure(
    `Cannot install ${nameOf(next)}: ${state}`,
    `Use a newer ${program.name}, or --allow-downgrade to go back`,
  );
}

/** True when the definition in the cluster was brought by a newer version of this very program. */
function isOfNewerProgram(live: StoredCrd, program: Program): boolean {
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

/** A program and its version. */
interface Program {
  readonly name: string;
  /** `1.4.0`; anything else, as "dev", is neither newer nor older than any other. */
  readonly version: string;
}

/** `controller/1.4.0`. */
export const installedBy = "pintle.dev/installed-by";

/** The definition with the mark of `program`, where its version can be put in order. */
export function withInstallerMark(crd: Crd, program: Program): Crd {
  if (partsOf(program.version) === undefined) return crd;
  const annotations = { ...crd.metadata.annotations, [installedBy]: `${program.name}/${program.version}` };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
}

/** The version of the program `name` that installed a definition; undefined when another one did, or nobody says. */
export function installerVersion(live: StoredCrd, name: string): string | undefined {
  const mark = live.metadata.annotations?.[installedBy] ?? "";
  const at = mark.lastIndexOf("/");
  return at >= 0 && mark.slice(0, at) === name ? mark.slice(at + 1) : undefined;
}

/**
 * Puts two versions in the order of semver.org, section 11.
 *
 * @returns below 0 when `left` is older; undefined when either is no semantic version.
 */
export function compareVersions(left: string, right: string): number | undefined {
  const [a, b] = [partsOf(left), partsOf(right)];
  if (a === undefined || b === undefined) return undefined;
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(a.prerelease, b.prerelease);
}

interface Parts {
  readonly numbers: readonly number[];
  readonly prerelease: readonly string[];
}

function partsOf(version: string): Parts | undefined {
  const match = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]*)?$/.exec(version);
  if (match === null) return undefined;
  const [, major, minor, patch, prerelease = ""] = match;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    prerelease: prerelease === "" ? [] : prerelease.split("."),
  };
}

/** A release is newer than its prereleases; of their identifiers numbers are older than words. */
function comparePrereleases(left: readonly string[], right: readonly string[]): number {
  if (left.length === 0 || right.length === 0) return right.length - left.length;
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) return 1;
    if (a === b) continue;
    const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (isNumberA && isNumberB) return Number(a) - Number(b);
    if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return left.length - right.length;
}
