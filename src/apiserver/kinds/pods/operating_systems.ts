/** Rules of Pods that say which operating system they are for: what the other one has may not be set. */
import type { JsonObject } from "../../model/mod.ts";
import { findObject, flagAt, has, objectAt, textAt } from "../fields.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { containersOf } from "./containers_of.ts";

/** What a Pod for Windows may not have. Paths as in the message. */
const notOnWindows = {
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
const noWindows = "cannot be set for a windows pod";

/** Checks what depends on the operating system. */
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
  for (const key of notOnWindows.podSecurity) {
    if (has(context, key)) problems.forbidden(path.child("securityContext", key), noWindows);
  }
  for (const key of notOnWindows.flags) if (flagAt(spec, key)) problems.forbidden(path.child(key), noWindows);
  for (const key of notOnWindows.fields) if (has(spec, key)) problems.forbidden(path.child(key), noWindows);
  if (has(spec, "resources")) problems.forbidden(path.child("resources"), "may not be set for a windows pod");
  for (const { container, path: place } of containersOf(spec, path)) {
    const own = objectAt(container, "securityContext");
    for (const key of notOnWindows.containerSecurity) {
      if (has(own, key)) problems.forbidden(place.child("securityContext", key), noWindows);
    }
  }
}
