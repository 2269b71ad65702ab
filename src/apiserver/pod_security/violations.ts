/** violationsOf(): how a Pod violates a level, in the words of kube-apiserver. */
import type { JsonObject } from "../model/mod.ts";
import { baseline } from "./_baseline.ts";
import { restricted } from "./_restricted.ts";
import { viewOf } from "./_view.ts";
import { type LeveledVersion, shownPolicy } from "./policy.ts";

/**
 * @param pod a Pod, or the template of one
 * @returns `PodSecurity "baseline:latest": privileged (container "a" must not ...)`; undefined when it is allowed
 */
export function violationsOf(pod: JsonObject, policy: LeveledVersion): string | undefined {
  if (policy.level === "privileged") return undefined;
  const view = viewOf(pod);
  const found = (policy.level === "baseline" ? baseline : restricted).map((check) => check(view))
    .filter((violation) => violation !== undefined);
  if (found.length === 0) return undefined;
  return `PodSecurity ${shownPolicy(policy)}: ${found.map(({ reason, detail }) => `${reason} (${detail})`).join(", ")}`;
}
