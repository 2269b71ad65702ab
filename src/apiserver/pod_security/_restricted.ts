/**
 * The rules that the level `restricted` adds to those of `baseline`: no way to become root, and volumes of known kinds alone.
 * Source: k8s.io/pod-security-admission `policy/check_*.go` of 1.36.
 */
import { findNumber, findObject, has, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { baseline, capabilities, hostPathVolumes, procMount, procMountAnyway, seccomp } from "./_baseline.ts";
import { type Check, containersText, quoted, quotedSet, settersText, typeIn } from "./_view.ts";

const escalation: Check = ({ containers, isWindows }) => {
  if (isWindows) return undefined;
  const found = containers.filter(({ security }) => security["allowPrivilegeEscalation"] !== false);
  if (found.length === 0) return undefined;
  const who = containersText(found.map(({ name }) => name));
  const detail = `${who} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: "allowPrivilegeEscalation != false", detail };
};

const strictCapabilities: Check = ({ containers, isWindows }) => {
  if (isWindows) return undefined;
  const of = (security: JsonObject, key: string) => textsAt(objectAt(security, "capabilities"), key);
  const added = (security: JsonObject) => of(security, "add").filter((name) => name !== "NET_BIND_SERVICE");
  const keeping = containers.filter(({ security }) => !of(security, "drop").includes("ALL"));
  const adding = containers.filter(({ security }) => added(security).length > 0);
  const details: string[] = [];
  if (keeping.length > 0) {
    const who = containersText(keeping.map(({ name }) => name));
    details.push(`${who} must set securityContext.capabilities.drop=["ALL"]`);
  }
  if (adding.length > 0) {
    const names = quotedSet(adding.flatMap(({ security }) => added(security)));
    const who = containersText(adding.map(({ name }) => name));
    details.push(`${who} must not include ${names} in securityContext.capabilities.add`);
  }
  return details.length === 0 ? undefined : { reason: "unrestricted capabilities", detail: details.join("; ") };
};

const plainVolumes = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "image",
  "persistentVolumeClaim",
  "projected",
  "secret",
];

const volumeTypes: Check = ({ spec }) => {
  const found = objectsAt(spec, "volumes").filter((volume) => !plainVolumes.some((type) => has(volume, type)));
  if (found.length === 0) return undefined;
  const types = new Set(found.map((volume) => Object.keys(volume).find((key) => key !== "name") ?? "unknown"));
  const who = `${found.length === 1 ? "volume" : "volumes"} ${quoted(found.map((volume) => textAt(volume, "name")))}`;
  const what = types.size === 1 ? "restricted volume type" : "restricted volume types";
  const detail = `${who} ${found.length === 1 ? "uses" : "use"} ${what} ${quotedSet(types)}`;
  return { reason: "restricted volume types", detail };
};

const nonRoot: Check = ({ security, containers, hasOwnUsers }) => {
  if (hasOwnUsers) return undefined;
  const reason = "runAsNonRoot != true";
  const own = security["runAsNonRoot"];
  const denying = containers.filter((each) => each.security["runAsNonRoot"] === false).map(({ name }) => name);
  if (own === false || denying.length > 0) {
    const who = settersText(own === false, denying);
    return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  }
  const silent = containers.filter((each) => each.security["runAsNonRoot"] !== true && own !== true);
  if (silent.length === 0) return undefined;
  const who = containersText(silent.map(({ name }) => name));
  return { reason, detail: `pod or ${who} must set securityContext.runAsNonRoot=true` };
};

const rootUser: Check = ({ security, containers, hasOwnUsers }) => {
  if (hasOwnUsers) return undefined;
  const isRoot = (context: JsonObject) => findNumber(context, "runAsUser") === 0;
  const found = containers.filter((each) => isRoot(each.security)).map(({ name }) => name);
  if (found.length === 0 && !isRoot(security)) return undefined;
  return { reason: "runAsUser=0", detail: `${settersText(isRoot(security), found)} must not set runAsUser=0` };
};

const strictSeccomp: Check = (pod) => {
  if (pod.isWindows) return undefined;
  const bad = seccomp(pod);
  if (bad !== undefined || typeIn(pod.security, "seccompProfile") !== undefined) return bad;
  const silent = pod.containers.filter(({ security }) => findObject(security, "seccompProfile") === undefined);
  if (silent.length === 0) return undefined;
  const who = containersText(silent.map(({ name }) => name));
  const detail = `pod or ${who} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason: "seccompProfile", detail };
};

/** Rules of `baseline` in whose place a stricter one stands. */
const replaced: ReadonlySet<Check> = new Set([capabilities, hostPathVolumes, procMount, seccomp]);

/** All rules, in order. */
export const restricted: readonly Check[] = [
  ...baseline.filter((check) => !replaced.has(check)),
  escalation,
  strictCapabilities,
  procMountAnyway,
  volumeTypes,
  nonRoot,
  rootUser,
  strictSeccomp,
];
