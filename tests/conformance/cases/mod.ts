/** All cases of the conformance suite, in groups. Each group has one recording. */
import type { ConformanceCase } from "../conformance_case.ts";
import { knownDifferences } from "../known_differences.ts";
import { accessCases } from "./access.ts";
import { aggregationCases } from "./aggregation.ts";
import { appliedVersionCases } from "./applied_versions.ts";
import { bodyCases } from "./bodies.ts";
import { changeCases } from "./change.ts";
import { conversionCases } from "./conversions.ts";
import { crdCases } from "./crds.ts";
import { customResourceWriteCases } from "./custom_resource_writes.ts";
import { createCases } from "./create.ts";
import { declaredCases } from "./declared.ts";
import { discoveryCases } from "./discovery.ts";
import { forwardingCases } from "./forwarding.ts";
import { invalidCases } from "./invalid.ts";
import { invalidPolicyCases } from "./invalid_policies.ts";
import { invalidStorageCases } from "./invalid_storage.ts";
import { kindCases } from "./kinds.ts";
import { kubectlCases } from "./kubectl.ts";
import { mutatingCases } from "./mutating.ts";
import { numberCases } from "./numbers.ts";
import { networkCases } from "./networks.ts";
import { optionCases } from "./options.ts";
import { strictCases } from "./strict.ts";
import { subresourceCases } from "./subresources.ts";
import { patchCases } from "./patch.ts";
import { pathCases } from "./paths.ts";
import { pluginCases } from "./plugins.ts";
import { policyCases } from "./policies.ts";
import { readCases } from "./read.ts";
import { tableCases } from "./tables.ts";
import { signingCases } from "./signing.ts";
import { typeCheckCases } from "./type_checks.ts";
import { webhookCases } from "./webhooks.ts";

/** Cases that belong together. */
export interface CaseGroup {
  /** Names the recording. */
  readonly group: string;
  readonly cases: readonly ConformanceCase[];
}

const groups: readonly CaseGroup[] = [
  { group: "kinds", cases: kindCases },
  { group: "create", cases: createCases },
  { group: "change", cases: changeCases },
  { group: "read", cases: readCases },
  { group: "patch", cases: patchCases },
  { group: "paths", cases: pathCases },
  { group: "subresources", cases: subresourceCases },
  { group: "invalid", cases: invalidCases },
  { group: "declared", cases: declaredCases },
  { group: "invalid_storage", cases: invalidStorageCases },
  { group: "invalid_policies", cases: invalidPolicyCases },
  { group: "discovery", cases: discoveryCases },
  { group: "tables", cases: tableCases },
  { group: "crds", cases: [...crdCases, ...customResourceWriteCases] },
  { group: "webhooks", cases: webhookCases },
  { group: "conversions", cases: conversionCases },
  { group: "applied_versions", cases: appliedVersionCases },
  { group: "policies", cases: policyCases },
  { group: "type_checks", cases: typeCheckCases },
  { group: "signing", cases: signingCases },
  { group: "mutating", cases: mutatingCases },
  { group: "plugins", cases: pluginCases },
  { group: "forwarding", cases: forwardingCases },
  { group: "aggregation", cases: aggregationCases },
  { group: "numbers", cases: numberCases },
  { group: "bodies", cases: bodyCases },
  { group: "strict", cases: strictCases },
  { group: "options", cases: optionCases },
  { group: "networks", cases: networkCases },
  { group: "access", cases: accessCases },
  { group: "kubectl", cases: kubectlCases },
];

/** All cases, with their known differences. */
export const caseGroups: readonly CaseGroup[] = groups.map(({ group, cases }) => ({
  group,
  cases: cases.map((subject) => {
    const known = knownDifferences.get(`${group}: ${subject.name}`);
    return known === undefined ? subject : { ...subject, known };
  }),
}));
