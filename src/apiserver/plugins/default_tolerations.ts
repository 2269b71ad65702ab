/**
 * DefaultTolerationSeconds: a Pod that says nothing of it bears five minutes on a node that is lost. Source: kubernetes
 * `plugin/pkg/admission/defaulttolerationseconds` of 1.36.
 */
import { draftAt, draftsAt, textAt } from "../kinds/mod.ts";
import type { AdmissionPlugin, JsonObject } from "../model/mod.ts";

const taints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const patienceSeconds = 300;

/** The plugin, for Pods. */
export const defaultTolerations: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  admit({ operation, subresource, object }) {
    if (object === undefined || subresource !== "" || operation === "DELETE") return;
    const spec = draftAt(object, "spec");
    const own = draftsAt(spec, "tolerations");
    const missing = taints.filter((taint) => !own.some((toleration) => bears(toleration, taint)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({
      key,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: patienceSeconds,
    }));
    spec["tolerations"] = [...own, ...added];
  },
};

function bears(toleration: JsonObject, taint: string): boolean {
  const [key, effect] = [textAt(toleration, "key"), textAt(toleration, "effect")];
  return (key === "" || key === taint) && (effect === "" || effect === "NoExecute");
}
