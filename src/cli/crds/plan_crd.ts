/**
 * planCrd(): plans the installation of one definition. All definitions of an operator are planned before the first one is
 * applied, so that they change together or not at all.
 *
 * Guarantees: an older program does not overwrite the definition of a newer one, whose objects its schema may not know.
 * install-crds marks each definition with the program and version that installed it (`pintle.dev/installed-by`).
 */
import {
  type ComparedCrd,
  compareKubeVersions,
  type Crd,
  crdChanges,
  type CrdVersion,
  type StoredCrd,
} from "../../schema/mod.ts";
import { awaitGone } from "./await_gone.ts";
import { assertNoOtherInstallation, withLiveAddress } from "./conversion_webhook.ts";
import { assertCompatible, breakingMessages } from "./assert_compatible.ts";
import { commandFailure, type CrdContext, definitionName, readCrd } from "./crd_context.ts";

/** What has to be applied for one definition. */
export interface CrdPlan {
  /** The live definition; undefined when there is none. */
  readonly live: StoredCrd | undefined;
  /** The definition to have in the end, with the mark of this program. */
  readonly desired: Crd;
  /** The definition to apply first: it still has the versions that objects may be stored in. */
  readonly initial: Crd;
}

/** Options of {@link planCrd}. */
interface PlanOptions {
  readonly isDryRun: boolean;
  readonly allowBreaking: boolean;
  readonly allowDowngrade: boolean;
  /** Milliseconds to wait for a definition that is being deleted. */
  readonly timeoutMs: number;
  /** The namespace of the Service of conversion webhooks, from the command line. @default that of the live definition */
  readonly webhookNamespace?: string;
}

/** Plans the installation of a definition. @throws CommandError when it may not replace the live one */
export async function planCrd(given: Crd, options: PlanOptions, context: CrdContext): Promise<CrdPlan> {
  const program = { name: context.session.operator.name, version: context.session.version };
  const live = await readLive(given, options, context);
  const crd = withLiveAddress(given, live, options.webhookNamespace);
  await assertNoOtherInstallation(crd, live, context);
  const desired = withInstallerMark(crd, program);
  if (live === undefined) return { live, desired, initial: desired };
  // A newer program installed the same definition: nothing changes, and its mark stays.
  if (isOfNewerProgram(live, program) && crdChanges(withoutConversion(live), withoutConversion(crd)).length === 0) {
    const kept = withInstallerMark(crd, {
      ...program,
      version: installerVersion(live, program.name) ?? program.version,
    });
    return { live, desired: kept, initial: kept };
  }
  if (!options.allowDowngrade) assertNoDowngrade(live, desired, program);
  if (options.allowBreaking) {
    for (const message of breakingMessages(live, desired)) {
      context.session.info(`${definitionName(desired)}: ${message}`);
    }
  } else {
    await assertCompatible(live, desired, context);
  }
  return { live, desired, initial: withStoredVersions(desired, live) };
}

/** The authorities of the webhook belong to the controllers. */
function withoutConversion({ spec }: Pick<StoredCrd, "spec">): ComparedCrd {
  return { spec: { ...spec, conversion: undefined } };
}

/** Reads the live definition. Waits for the end of one that is being deleted: it would disappear after the apply. */
async function readLive(crd: Crd, options: PlanOptions, context: CrdContext): Promise<StoredCrd | undefined> {
  const live = await readCrd(context, crd.metadata.name);
  if (live?.metadata.deletionTimestamp === undefined) return live;
  if (options.isDryRun) {
    throw commandFailure(`Cannot install ${definitionName(crd)}: it is being deleted`, "Wait until it is gone");
  }
  await awaitGone([live], options, context);
  return undefined;
}

/** Adds the versions that the server does not allow to remove yet, because objects may be stored in them. */
function withStoredVersions(desired: Crd, live: StoredCrd): Crd {
  const known = new Set(desired.spec.versions.map(({ name }) => name));
  const stored = new Set(live.status?.storedVersions ?? []);
  const missing = live.spec.versions.filter(({ name }) => stored.has(name) && !known.has(name));
  if (missing.length === 0) return desired;
  const versions = [...desired.spec.versions, ...missing.map((version) => ({ ...version, storage: false }))];
  return { ...desired, spec: { ...desired.spec, versions } };
}

/** @throws CommandError when the live definition is newer than `next` */
function assertNoDowngrade(live: StoredCrd, next: Crd, program: Program): void {
  const state = newerReason(live, next, program);
  if (state === undefined) return;
  throw commandFailure(
    `Cannot install ${definitionName(next)}: ${state}`,
    `Use a newer ${program.name}, or --allow-downgrade to install the older one`,
  );
}

/** True when a newer version of this program installed the live definition. */
function isOfNewerProgram(live: StoredCrd, program: Program): boolean {
  const version = installerVersion(live, program.name);
  return version !== undefined && (compareVersions(version, program.version) ?? 0) > 0;
}

function newerReason(live: StoredCrd, next: Crd, program: Program): string | undefined {
  if (isOfNewerProgram(live, program)) {
    const version = installerVersion(live, program.name);
    return `${program.name} ${version} installed the one in the cluster, this is ${program.version}`;
  }
  const known = new Set(next.spec.versions.map(({ name }) => name));
  const newest = newestOf(next.spec.versions);
  const newer = live.spec.versions.find(({ name }) => !known.has(name) && compareKubeVersions(name, newest) > 0);
  if (newer === undefined) return undefined;
  return `the one in the cluster has version ${newer.name}, which this program (${newest}) does not know`;
}

function newestOf(versions: readonly CrdVersion[]): string {
  return versions.map(({ name }) => name).toSorted(compareKubeVersions).at(-1) ?? "";
}

/** A program and its version. */
interface Program {
  readonly name: string;
  /** `1.4.0`. Any other text, such as "dev", has no order. */
  readonly version: string;
}

/** The annotation with the mark: `controller/1.4.0`. */
export const installedBy = "pintle.dev/installed-by";

/** Returns the definition with the mark of `program`; unchanged when the version has no order. */
export function withInstallerMark(crd: Crd, program: Program): Crd {
  if (partsOf(program.version) === undefined) return crd;
  const annotations = { ...crd.metadata.annotations, [installedBy]: `${program.name}/${program.version}` };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
}

/** Returns which version of the program `name` installed a definition; undefined without its mark. */
export function installerVersion(live: StoredCrd, name: string): string | undefined {
  const mark = live.metadata.annotations?.[installedBy] ?? "";
  const at = mark.lastIndexOf("/");
  return at >= 0 && mark.slice(0, at) === name ? mark.slice(at + 1) : undefined;
}

/**
 * Compares two versions by the order of semver.org, section 11.
 *
 * @returns Below 0 when `left` is older; undefined when one of them is not a semantic version.
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

/** A release is newer than its prereleases. Among identifiers of prereleases, numbers are older than words. */
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
