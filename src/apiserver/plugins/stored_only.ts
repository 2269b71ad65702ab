/**
 * StoredOnlyWarning: the create of an object on which nobody acts here, although Kubernetes would, answers with a warning. It is
 * the one plugin that kube-apiserver does not have.
 */
import { storedOnlyWarning } from "../kinds/mod.ts";
import type { AdmissionPlugin } from "../model/mod.ts";
import { newObject } from "./_request.ts";

/** The plugin, for all kinds. */
export const storedOnlyWarnings: AdmissionPlugin = {
  name: "StoredOnlyWarning",
  validate(request) {
    if (newObject(request) === undefined) return;
    const { kind, collection } = request.kind;
    const text = storedOnlyWarning(kind, collection);
    if (text !== undefined) request.warn(text);
  },
};
