/**
 * Rules of the security contexts of Pods and containers, of Windows options, and of the fields that a Pod for Windows or for
 * Linux must not set.
 */
import { type JsonObject, read } from "../../model/mod.ts";
import { checkRelativePath, type FieldPath, idErrors, type Problems, subdomainErrors } from "../rules/mod.ts";
import {
  booleanAt,
  findNumber,
  findObject,
  has,
  objectAt,
  objectIn,
  objectsAt,
  textAt,
  textsAt,
  valuesAt,
} from "../types/mod.ts";
import { containersOf } from "./pod_containers.ts";

const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];
const maxProfileLength = 4_095;
const sysctlSegment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlPattern = `^(${sysctlSegment}[\\./])*${sysctlSegment}$`;
const maxSysctlLength = 253;
const netSysctls = /^net[./]/;
const ipcSysctls = /^(?:kernel[./](?:sem|msg|shm)|fs[./]mqueue[./])/;

/** Checks the security context of a Pod. @param spec of the Pod, which contains some of the settings */
export function checkPodSecurity(spec: JsonObject, parent: FieldPath, problems: Problems): void {
  const context = findObject(spec, "securityContext");
  const path = parent.child("securityContext");
  if (context === undefined) return;
  for (const key of ["fsGroup", "runAsUser", "runAsGroup"]) checkId(context, key, path, problems);
  valuesAt(context, "supplementalGroups").forEach((id, index) => {
    if (typeof id === "number") problems.invalidAll(path.child("supplementalGroups").index(index), id, idErrors(id));
  });
  if (booleanAt(spec, "shareProcessNamespace") && booleanAt(spec, "hostPID")) {
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

/** Checks the security context of a container. */
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
  if (booleanAt(context, "privileged")) {
    problems.invalidStruct(path, shownContext(context), `${without} \`privileged\` to true`);
  }
  for (const capability of textsAt(objectAt(context, "capabilities"), "add")) {
    if (capability !== "CAP_SYS_ADMIN") continue;
    problems.invalidStruct(path, shownContext(context), `${without} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
}

/** A security context in the form of the Go type. */
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
  else checkRelativePath(textAt(profile, "localhostProfile"), place, problems);
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
  if (local.length > maxProfileLength) problems.tooLong(place, maxProfileLength);
}

function checkSysctls(spec: JsonObject, context: JsonObject, path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  objectsAt(context, "sysctls").forEach((sysctl, index) => {
    const name = textAt(sysctl, "name");
    const place = path.index(index).child("name");
    if (name === "") problems.required(place);
    else if (name.length > maxSysctlLength || !new RegExp(sysctlPattern).test(name)) {
      problems.invalid(place, name, `must have at most ${maxSysctlLength} characters and match regex ${sysctlPattern}`);
    } else if (seen.has(name)) problems.duplicate(place, name);
    seen.add(name);
    if (booleanAt(spec, "hostNetwork") && netSysctls.test(name)) {
      problems.invalid(place, name, "may not be specified when 'hostNetwork' is true");
    } else if (booleanAt(spec, "hostIPC") && ipcSysctls.test(name)) {
      problems.invalid(place, name, "may not be specified when 'hostIPC' is true");
    }
  });
}

const maxSpecKibibytes = 64;
const maxDomainLength = 256;
const maxUserLength = 104;

// deno-lint-ignore no-control-regex -- it searches for control characters
const control = /[\x00-\x1f\x7f]/;
const onlyDotsAndSpaces = /^[. ]+$/;
const badUser = /["/\\:;|=,+*?<>@[\]]/;
const netBios = /^[^\\/:*?|.][^\\/:*?|]{0,14}$/;
const domainName = /^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*$/;

/** Checks `windowsOptions` of a security context. */
function checkWindowsOptions(context: JsonObject, path: FieldPath, problems: Problems): void {
  const options = findObject(context, "windowsOptions");
  if (options === undefined) return;
  const name = textAt(options, "gmsaCredentialSpecName");
  if (has(options, "gmsaCredentialSpecName")) {
    problems.invalidAll(path.child("gmsaCredentialSpecName"), name, subdomainErrors(name));
  }
  const spec = textAt(options, "gmsaCredentialSpec");
  if (has(options, "gmsaCredentialSpec")) {
    const place = path.child("gmsaCredentialSpec");
    if (spec === "") problems.invalid(place, spec, "gmsaCredentialSpec cannot be an empty string");
    else if (spec.length > maxSpecKibibytes * 1024) {
      problems.invalid(place, spec, `gmsaCredentialSpec size must be under ${maxSpecKibibytes} KiB`);
    }
  }
  const user = textAt(options, "runAsUserName");
  if (!has(options, "runAsUserName")) return;
  for (const why of userErrors(user)) problems.invalid(path.child("runAsUserName"), user, `runAsUserName${why}`);
}

function userErrors(name: string): readonly string[] {
  if (name === "") return [" cannot be an empty string"];
  if (control.test(name)) return [" cannot contain control characters"];
  const parts = name.split("\\");
  if (parts.length > 2) return [" cannot contain more than one backslash"];
  const [domain, user = ""] = parts.length === 2 ? parts : [undefined, name];
  const errors: string[] = [];
  if (domain !== undefined && domain.length >= maxDomainLength) {
    errors.push(`'s Domain length must be under ${maxDomainLength} characters`);
  }
  if (domain !== undefined && !netBios.test(domain) && !domainName.test(domain)) {
    errors.push("'s Domain doesn't match the NetBios nor the DNS format");
  }
  if (user === "") errors.push("'s User cannot be empty");
  else if (user.length > maxUserLength) {
    errors.push(`'s User length must not be longer than ${maxUserLength} characters`);
  }
  if (onlyDotsAndSpaces.test(user)) errors.push("'s User cannot contain only periods or spaces");
  if (badUser.test(user)) errors.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return errors;
}

/** Checks HostProcess containers: all containers of a Pod have to be, or none. */
function checkHostProcesses(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const ofPod = read(objectIn(spec, "securityContext", "windowsOptions"), "hostProcess");
  const containers = containersOf(spec, path);
  let count = 0;
  for (const { container, path: place } of containers) {
    const own = read(objectIn(container, "securityContext", "windowsOptions"), "hostProcess");
    if (typeof own === "boolean" && typeof ofPod === "boolean" && own !== ofPod) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      problems.invalid(place.child("securityContext", "windowsOptions", "hostProcess"), own, why);
    }
    if ((own ?? ofPod) === true) count++;
  }
  if (count === 0) return;
  if (count !== containers.length) {
    const why = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
    problems.invalid(path, "", why);
  }
  if (!booleanAt(spec, "hostNetwork")) {
    problems.invalid(
      path.child("hostNetwork"),
      false,
      "hostNetwork must be true if pod contains any hostProcess containers",
    );
  }
}

/** The fields that a Pod for Windows must not set. */
const forbiddenOnWindows = {
  podSecurity: [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
  ],
  flags: ["hostPID", "hostIPC"],
  fields: ["hostUsers", "shareProcessNamespace"],
  containerSecurity: [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
  ],
} as const;

const forbiddenForWindows = "cannot be set for a windows pod";

/** Checks the fields that depend on the operating system. */
export function checkOs(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const os = findObject(spec, "os");
  if (os === undefined) return;
  const name = textAt(os, "name");
  if (name === "") return problems.required(path.child("os", "name"));
  if (name === "windows") checkWindows(spec, path, problems);
  else if (name === "linux") checkLinux(spec, path, problems);
  else problems.notSupported(path.child("os"), name, ["linux", "windows"]);
}

function checkLinux(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const why = "windows options cannot be set for a linux pod";
  const places = [
    { holder: spec, path },
    ...containersOf(spec, path).map((each) => ({ holder: each.container, path: each.path })),
  ];
  for (const { holder, path: place } of places) {
    if (has(objectAt(holder, "securityContext"), "windowsOptions")) {
      problems.forbidden(place.child("securityContext", "windowsOptions"), why);
    }
  }
}

function checkWindows(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const context = objectAt(spec, "securityContext");
  for (const key of forbiddenOnWindows.podSecurity) {
    if (has(context, key)) problems.forbidden(path.child("securityContext", key), forbiddenForWindows);
  }
  for (const key of forbiddenOnWindows.flags) {
    if (booleanAt(spec, key)) problems.forbidden(path.child(key), forbiddenForWindows);
  }
  for (const key of forbiddenOnWindows.fields) {
    if (has(spec, key)) problems.forbidden(path.child(key), forbiddenForWindows);
  }
  if (has(spec, "resources")) problems.forbidden(path.child("resources"), "may not be set for a windows pod");
  for (const { container, path: place } of containersOf(spec, path)) {
    const own = objectAt(container, "securityContext");
    for (const key of forbiddenOnWindows.containerSecurity) {
      if (has(own, key)) problems.forbidden(place.child("securityContext", key), forbiddenForWindows);
    }
  }
}
