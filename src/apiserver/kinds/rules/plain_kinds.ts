/**
 * Kinds of which little more is known than their schema: how they are written, whether they count generations, what a write
 * of their status leaves alone. They are defaulted by their types and checked for required fields and enums.
 */
import { isSameJson, type JsonObject, read } from "../../model/mod.ts";
import { draftAt, metadataOf, numberAt } from "../fields.ts";
import type { KindRules } from "../kind_rules.ts";

/** ComponentStatus, which nobody should ask for any longer. */
export const componentRules: KindRules = { depth: "schema", deprecation: "v1 ComponentStatus is deprecated in v1.19+" };

/** Kinds whose status is written apart from their metadata. */
export const apartRules: KindRules = { depth: "schema", statusMetadata: "none" };

/** Kinds that count the changes of their spec. */
export const countedRules: KindRules = { depth: "schema", generation: ["spec"] };

/** FlowSchema and PriorityLevelConfiguration: both. */
export const flowRules: KindRules = { depth: "schema", generation: ["spec"], statusMetadata: "none" };

/** Kinds that are only overwritten by who has read them. */
export const carefulRules: KindRules = { depth: "schema", allowsUnconditionalUpdate: false };

/** VolumeAttachment. */
export const attachmentRules: KindRules = { ...apartRules, allowsUnconditionalUpdate: false };

/** CSIDriver: counts changes, from nothing. */
export const driverRules: KindRules = {
  ...carefulRules,
  prepareForUpdate(draft, old) {
    const before = numberAt(metadataOf(old), "generation");
    if (!isSameJson(specOf(draft), specOf(old))) draftAt(draft, "metadata")["generation"] = before + 1;
  },
};

function specOf(object: JsonObject) {
  return read(object, "spec") ?? null;
}
