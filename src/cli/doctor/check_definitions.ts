/** Are the CustomResourceDefinitions there, established, and what this program would install? */
import { type ComparedCrd, type Crd, crdChanges, type StoredCrd } from "../../schema/mod.ts";
import { isForbidden } from "../../client/mod.ts";
import { readCrd } from "../crds/crd_work.ts";
import { staleVersionsOf } from "../crds/migrate_storage.ts";
import { crdsOf } from "../custom_resources.ts";
import { exitCode } from "../exit_code.ts";
import { isServed } from "../is_served.ts";
import { broken, type Check, type Finding, ok, unknown, warning } from "./check.ts";
import type { Examination } from "./examination.ts";

/** One check for each definition of the controllers. */
export async function checkDefinitions(examination: Examination): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const crd of crdsOf(examination.controllers)) {
    const finding = await examine(crd, examination);
    checks.push({ about: "definition", subject: crd.metadata.name, ...finding });
  }
  return checks;
}

async function examine(crd: Crd, examination: Examination): Promise<Finding> {
  const { connection, session, signal } = examination;
  const install = `Run: ${session.operator.name} install-crds`;
  try {
    const live = await readCrd(examination, crd.metadata.name);
    return live === undefined ? broken(exitCode.crdMissing, "not installed", install) : judge(live, crd, install);
  } catch (error) {
    if (!(error instanceof Error && isForbidden(error.cause))) throw error;
    // Not everybody may read definitions; whether the kind is served everybody may know.
    const { group, names: { plural } } = crd.spec;
    for (const { name: version } of crd.spec.versions.filter(({ served }) => served)) {
      if (await isServed(connection, { group, version, plural }, signal)) continue;
      return broken(exitCode.crdMissing, `${group}/${version} is not served`, install);
    }
    return unknown("served; whether it is this program's may not be looked at");
  }
}

function judge(live: StoredCrd, crd: Crd, install: string): Finding {
  if (live.metadata.deletionTimestamp !== undefined) {
    return broken(exitCode.crdMissing, "being deleted", "Wait until it is gone, then install it");
  }
  const isEstablished = live.status?.conditions?.some(({ type, status }) =>
    type === "Established" && status === "True"
  );
  if (isEstablished !== true) {
    return broken(exitCode.crdMissing, "not established", `See: kubectl describe crd ${crd.metadata.name}`);
  }
  for (const { name } of crd.spec.versions.filter(({ served }) => served)) {
    if (live.spec.versions.some((version) => version.name === name && version.served)) continue;
    return broken(exitCode.crdMissing, `the version ${name} is not served`, install);
  }
  const [change, ...more] = crdChanges(withoutConversion(live), withoutConversion(crd));
  if (change !== undefined) {
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    return warning(`not what this program would install: ${change.path}${others}`, `${install} --diff`);
  }
  const stale = staleVersionsOf(live);
  if (stale.length > 0) return warning(`installed, and objects may be stored in ${stale.join(", ")}`, install);
  return ok("installed, as this program would");
}

/** Where and whom the server calls to convert is set up by who installs the webhooks, not by the definition. */
function withoutConversion({ spec }: Pick<Crd | StoredCrd, "spec">): ComparedCrd {
  return { spec: { ...spec, conversion: undefined } };
}
