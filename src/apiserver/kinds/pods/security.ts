/** Rules of security contexts, of Pods and of containers. */
import { type JsonObject, read } from "../../model/mod.ts";
import { findNumber, findObject, flagAt, has, objectAt, objectsAt, textAt, textsAt, valuesAt } from "../fields.ts";
import { idErrors } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { checkDescending } from "./paths.ts";
import { checkHostProcesses, checkWindowsOptions } from "./windows.ts";

const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
const longestProfile = 4_095;
const sysctlSegment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlPattern = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`;
const longestSysctl = 253;
const netSysctls = /^net[./]/;
const ipcSysctls = /^(?:kernel[./](?:sem|msg|shm)|fs[./]mqueue[./])/;

/** The security context of a Pod. @param spec the Pod's spec, since some of what it says stands there */
export function checkPodSecurity(spec: JsonObject, parent: FieldPath, problems: Problems): void {
  const context = findObject(spec, "securityContext");
  const path = parent.child("securityContext");
  if (context === undefined) return;
  for (const key of ["fsGroup", "runAsUser", "runAsGroup"]) checkId(context, key, path, problems);
  valuesAt(context, "supplementalGroups").forEach((id, index) => {
    if (typeof id === "number") problems.invalidAll(path.child("supplementalGroups").index(index), id, idErrors(id));
  });
  if (flagAt(spec, "shareProcessNamespace") && flagAt(spec, "hostPID")) {
    const why = "ShareProcessNamespace and HostPID cannot both be enabled";
    problems.invalid(path.child("shareProcessNamespace"), true, why);
  }
  checkSysctls(spec, context, path.child("sysctls"), problems);
  checkOneOfWhereSet(context, "fsGroupChangePolicy", ["Always", "OnRootMismatch"], path, problems);
  checkProfiles(context, path, problems);
  checkWindowsOptions(context, path.child("windowsOptions"), problems);
  checkHostProcesses(spec, parent, problems);
  checkOneOfWhereSet(context, "supplementalGroupsPolicy", ["Merge", "Strict"], path, problems);
  checkOneOfWhereSet(context, "seLinuxChangePolicy", ["MountOption", "Recursive"], path, problems);
}

/** The security context of a container. */
export function checkContainerSecurity(
  container: JsonObject,
  spec: JsonObject,
  path: FieldPath,
  problems: Problems,
): void {
  const context = findObject(container, "securityContext");
  if (context === undefined) return;
  for (const key of ["runAsUser", "runAsGroup"]) checkId(context, key, path, problems);
  checkProcMount(context, spec, path.child("procMount"), problems);
  checkProfiles(context, path, problems);
  checkWindowsOptions(context, path.child("windowsOptions"), problems);
  if (read(context, "allowPrivilegeEscalation") !== false) return;
  const without = "cannot set `allowPrivilegeEscalation` to false and";
  if (flagAt(context, "privileged")) {
    problems.invalidStruct(path, shownContext(context), `${without} \`privileged\` to true`);
  }
  for (const capability of textsAt(objectAt(context, "capabilities"), "add")) {
    if (capability !== "CAP_SYS_ADMIN") continue;
    problems.invalidStruct(path, shownContext(context), `${without} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
}

/** A security context as the server's own type shows it. */
function shownContext(context: JsonObject): JsonObject {
  const capabilities = findObject(context, "capabilities");
  const seccomp = findObject(context, "seccompProfile");
  const list = (key: string) => read(capabilities ?? {}, key) ?? null;
  return {
    Capabilities: capabilities === undefined ? null : { Add: list("add"), Drop: list("drop") },
    Privileged: read(context, "privileged") ?? null,
    SELinuxOptions: null,
    WindowsOptions: null,
    RunAsUser: read(context, "runAsUser") ?? null,
    RunAsGroup: read(context, "runAsGroup") ?? null,
    RunAsNonRoot: read(context, "runAsNonRoot") ?? null,
    ReadOnlyRootFilesystem: read(context, "readOnlyRootFilesystem") ?? null,
    AllowPrivilegeEscalation: read(context, "allowPrivilegeEscalation") ?? null,
    ProcMount: read(context, "procMount") ?? null,
    SeccompProfile: seccomp === undefined
      ? null
      : { Type: textAt(seccomp, "type"), LocalhostProfile: read(seccomp, "localhostProfile") ?? null },
    AppArmorProfile: null,
  };
}

function checkId(context: JsonObject, key: string, path: FieldPath, problems: Problems): void {
  const id = findNumber(context, key);
  if (id !== undefined) problems.invalidAll(path.child(key), id, idErrors(id));
}

function checkOneOfWhereSet(
  context: JsonObject,
  key: string,
  known: readonly string[],
  path: FieldPath,
  problems: Problems,
): void {
  const value = textAt(context, key);
  if (has(context, key) && !known.includes(value)) problems.notSupported(path.child(key), value, known);
}

function checkProcMount(context: JsonObject, spec: JsonObject, path: FieldPath, problems: Problems): void {
  if (!has(context, "procMount")) return;
  const type = textAt(context, "procMount");
  if (type !== "Default" && type !== "Unmasked") problems.notSupported(path, type, ["Default", "Unmasked"]);
  if (type === "Unmasked" && read(spec, "hostUsers") !== false) {
    problems.invalid(path, type, "`hostUsers` must be false to use `Unmasked`");
  }
}

function checkProfiles(context: JsonObject, path: FieldPath, problems: Problems): void {
  const [seccomp, appArmor] = [findObject(context, "seccompProfile"), findObject(context, "appArmorProfile")];
  if (seccomp !== undefined) checkSeccomp(seccomp, path.child("seccompProfile"), problems);
  if (appArmor !== undefined) checkAppArmor(appArmor, path.child("appArmorProfile"), problems);
}

function checkType(type: string, what: string, path: FieldPath, problems: Problems): void {
  if (type === "") problems.required(path.child("type"), `type is required when ${what} is set`);
  else if (!profileTypes.includes(type)) problems.notSupported(path.child("type"), type, profileTypes);
}

function checkSeccomp(profile: JsonObject, path: FieldPath, problems: Problems): void {
  const type = textAt(profile, "type");
  const place = path.child("localhostProfile");
  checkType(type, "seccompProfile", path, problems);
  if (type !== "Localhost") {
    if (!has(profile, "localhostProfile")) return;
    const shown = { Type: type, LocalhostProfile: textAt(profile, "localhostProfile") };
    return problems.invalidStruct(place, shown, "can only be set when seccomp type is Localhost");
  }
  if (!has(profile, "localhostProfile")) problems.required(place, "must be set when seccomp type is Localhost");
  else checkDescending(textAt(profile, "localhostProfile"), place, problems);
}

function checkAppArmor(profile: JsonObject, path: FieldPath, problems: Problems): void {
  const [type, local] = [textAt(profile, "type"), textAt(profile, "localhostProfile")];
  const place = path.child("localhostProfile");
  const needed = "must be set when AppArmor type is Localhost";
  checkType(type, "appArmorProfile", path, problems);
  if (type !== "Localhost") {
    if (has(profile, "localhostProfile") && profileTypes.includes(type)) {
      problems.invalid(place, local, "can only be set when AppArmor type is Localhost");
    }
    return;
  }
  if (!has(profile, "localhostProfile")) return problems.required(place, needed);
  if (local.trim() !== local) problems.invalid(place, local, "must not be padded with whitespace");
  else if (local === "") problems.required(place, needed);
  if (local.length > longestProfile) problems.tooLong(place, longestProfile);
}

function checkSysctls(spec: JsonObject, context: JsonObject, path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  objectsAt(context, "sysctls").forEach((sysctl, index) => {
    const name = textAt(sysctl, "name");
    const place = path.index(index).child("name");
    if (name === "") problems.required(place);
    else if (name.length > longestSysctl || !new RegExp(sysctlPattern).test(name)) {
      problems.invalid(place, name, `must have at most ${longestSysctl} characters and match regex ${sysctlPattern}`);
    } else if (seen.has(name)) problems.duplicate(place, name);
    seen.add(name);
    if (flagAt(spec, "hostNetwork") && netSysctls.test(name)) {
      problems.invalid(place, name, "may not be specified when 'hostNetwork' is true");
    } else if (flagAt(spec, "hostIPC") && ipcSysctls.test(name)) {
      problems.invalid(place, name, "may not be specified when 'hostIPC' is true");
    }
  });
}
