/** Namespaces: rules, defaults and table row. */
import { type Draft, draftOf, type JsonObject, labelKeyErrors, put } from "../../model/mod.ts";
import {
  ageCell,
  type DefaultsByType,
  FieldPath,
  type KindRules,
  labelName,
  nameCell,
  type Problems,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { draftAt, has, metadataOf, nameOf, objectAt, setIfEmpty, textAt, textsAt } from "../types/mod.ts";

const kubernetesFinalizer = "kubernetes";
const standardFinalizers = [kubernetesFinalizer, "orphan", "foregroundDeletion"];

/** Namespace. */
export const namespaceRules: KindRules = {
  depth: "full",
  validateName: labelName,
  fieldSelectors: new Map([
    ["status.phase", (object) => textAt(objectAt(object, "status"), "phase")],
  ]),
  deletion: {
    isHeld: (object) => textsAt(objectAt(object, "spec"), "finalizers").length > 0,
    mark(draft) {
      put(draftAt(draft, "status"), "phase", "Terminating");
      // A namespace has no grace period, not even 0.
      delete draftAt(draft, "metadata")["deletionGracePeriodSeconds"];
    },
  },
  prepareForCreate(draft) {
    draft["status"] = { phase: "Active" };
    const spec = draftAt(draft, "spec");
    const finalizers = [...textsAt(spec, "finalizers")];
    if (!finalizers.includes(kubernetesFinalizer)) spec["finalizers"] = [...finalizers, kubernetesFinalizer];
    setNameLabel(draft);
  },
  prepareForUpdate(draft, old) {
    restoreFinalizers(draft, old);
    setNameLabel(draft);
  },
  prepareForSubresource(draft, old) {
    restoreStatus(draft, old);
    setNameLabel(draft);
  },
  validate(object, problems) {
    for (const finalizer of textsAt(objectAt(object, "spec"), "finalizers")) {
      checkFinalizer(finalizer, FieldPath.of("spec", "finalizers"), problems);
    }
  },
  validateSubresource(object, _old, problems) {
    textsAt(objectAt(object, "spec"), "finalizers").forEach((finalizer, index) =>
      checkFinalizer(finalizer, FieldPath.of("spec", "finalizers").index(index), problems)
    );
  },
  validateStatus(object, _old, problems) {
    const phase = textAt(objectAt(object, "status"), "phase");
    const path = FieldPath.of("status", "Phase");
    if (!has(metadataOf(object), "deletionTimestamp")) {
      if (phase !== "Active") problems.invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty");
    } else if (phase !== "Terminating") {
      problems.invalid(path, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
    }
  },
};

function restoreFinalizers(draft: Draft, old: JsonObject): void {
  const finalizers = textsAt(objectAt(old, "spec"), "finalizers");
  const spec = draftAt(draft, "spec");
  if (finalizers.length === 0) delete spec["finalizers"];
  else spec["finalizers"] = [...finalizers];
}

function restoreStatus(draft: Draft, old: JsonObject): void {
  draft["status"] = draftOf(objectAt(old, "status"));
}

/** Sets the name as a label, so that label selectors can select one namespace. */
function setNameLabel(draft: Draft): void {
  draftAt(draftAt(draft, "metadata"), "labels")["kubernetes.io/metadata.name"] = nameOf(draft);
}

function checkFinalizer(finalizer: string, path: FieldPath, problems: Problems): void {
  problems.invalidAll(path, finalizer, labelKeyErrors(finalizer));
  if (!finalizer.includes("/") && !standardFinalizers.includes(finalizer)) {
    problems.invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified");
  }
}

/** The defaults of Namespaces. */
export const namespaceDefaults: DefaultsByType = {
  "core/v1.Namespace": setNamespaceDefaults,
  "core/v1.NamespaceStatus": (draft) => setIfEmpty(draft, "phase", "Active"),
};

function setNamespaceDefaults(draft: Draft): void {
  const metadata = draftAt(draft, "metadata");
  const name = textAt(metadata, "name");
  if (name !== "") draftAt(metadata, "labels")["kubernetes.io/metadata.name"] = name;
}

/** The cells of a Namespace. */
export const namespaceRow: Row = rowOf(nameCell, textCell("status.phase"), ageCell);
