/**
 * planCrd(): what has to be done about one definition, found out before anything is done about any. All that can be
 * refused is refused here, so that an operator's definitions change together or not at all.
 */
import { type Crd, crdChanges, type StoredCrd } from "../../schema/mod.ts";
import { awaitGone } from "./await_gone.ts";
import { assertCompatible, breakingMessages } from "./assert_compatible.ts";
import { assertNoDowngrade, isOfNewerProgram } from "./assert_no_downgrade.ts";
import { type CrdWork, failedCommand, nameOf, readCrd } from "./crd_work.ts";
import { installerVersion, marked } from "./program_version.ts";

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
export interface PlanOptions {
  readonly isDryRun: boolean;
  readonly allowBreaking: boolean;
  readonly allowDowngrade: boolean;
  /** Milliseconds to wait for a definition that is being deleted. */
  readonly timeoutMs: number;
}

/** Plans the installation of a definition. @throws CommandError when it may not take the place of the present one */
export async function planCrd(crd: Crd, options: PlanOptions, work: CrdWork): Promise<CrdPlan> {
  const program = { name: work.session.operator.name, version: work.session.version };
  const wanted = marked(crd, program);
  const live = await readLive(crd, options, work);
  if (live === undefined) return { live, wanted, first: wanted };
  // A newer program that says the same leaves nothing to do, and keeps its mark.
  if (isOfNewerProgram(live, program) && crdChanges({ spec: live.spec }, { spec: crd.spec }).length === 0) {
    const kept = marked(crd, { ...program, version: installerVersion(live, program.name) ?? program.version });
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
async function readLive(crd: Crd, options: PlanOptions, work: CrdWork): Promise<StoredCrd | undefined> {
  const live = await readCrd(work, crd.metadata.name);
  if (live?.metadata.deletionTimestamp === undefined) return live;
  if (options.isDryRun) {
    throw failedCommand(`Cannot install ${nameOf(crd)}: it is being deleted`, "Wait until it is gone");
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
