/** Leases (coordination.k8s.io): rules and table row. */
import { type Draft, type JsonObject, labelKeyErrors } from "../../model/mod.ts";
import {
  ageCell,
  FieldPath,
  type KindRules,
  mustNotBeNegative,
  nameCell,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { draftAt, findNumber, has, objectAt, textAt } from "../types/mod.ts";

/** Lease. */
export const leaseRules: KindRules = {
  depth: "full",
  allowsPlainFinalizers: true,
  allowsUnconditionalUpdate: false,
  allowsCreateOnUpdate: true,
  prepareForCreate: (draft) => dropCoordinatedElection(draft, {}),
  prepareForUpdate: (draft, old) => dropCoordinatedElection(draft, objectAt(old, "spec")),
  validate(lease, problems) {
    const spec = objectAt(lease, "spec");
    const path = FieldPath.of("spec");
    const [seconds, transitions] = [findNumber(spec, "leaseDurationSeconds"), findNumber(spec, "leaseTransitions")];
    if (seconds !== undefined && seconds <= 0) {
      problems.invalid(path.child("leaseDurationSeconds"), seconds, "must be greater than 0");
    }
    if (transitions !== undefined && transitions < 0) {
      problems.invalid(path.child("leaseTransitions"), transitions, mustNotBeNegative);
    }
    const strategy = textAt(spec, "strategy");
    if (strategy.includes("/")) {
      problems.invalidAll(path.child("strategy", "strategy"), strategy, labelKeyErrors(strategy));
    }
  },
};

/** Drops the fields of coordinated leader election, whose feature gate is off by default. */
function dropCoordinatedElection(draft: Draft, before: JsonObject): void {
  const spec = draftAt(draft, "spec");
  for (const key of ["strategy", "preferredHolder"]) if (!has(before, key)) delete spec[key];
}

/** The cells of a Lease. */
export const leaseRow: Row = rowOf(nameCell, textCell("spec.holderIdentity"), ageCell);
