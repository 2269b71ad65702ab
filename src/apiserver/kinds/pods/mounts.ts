/** Rules of what containers mount: volumes as folders, and volumes as devices. */
import type { JsonObject } from "../../model/mod.ts";
import { flagAt, has, objectAt, objectsAt, textAt } from "../fields.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { checkDescending, hasBacksteps } from "./paths.ts";

const propagations = ["Bidirectional", "HostToContainer", "None"];
const readOnlies = ["Disabled", "Enabled", "IfPossible"];

/** The mounts and devices of a container. @param volumes those of the Pod that are right, by name */
export function checkMounts(
  container: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
  path: FieldPath,
  problems: Problems,
): void {
  const [mounts, devices] = [objectsAt(container, "volumeMounts"), objectsAt(container, "volumeDevices")];
  checkVolumeMounts(container, volumes, path.child("volumeMounts"), problems);
  const mounted = new Map(mounts.map((mount) => [textAt(mount, "name"), textAt(mount, "mountPath")]));
  checkDevices(devices, mounted, volumes, path.child("volumeDevices"), problems);
}

function checkVolumeMounts(
  container: JsonObject,
  volumes: ReadonlyMap<string, JsonObject>,
  path: FieldPath,
  problems: Problems,
): void {
  const devices = new Map(
    objectsAt(container, "volumeDevices").map((device) => [textAt(device, "name"), textAt(device, "devicePath")]),
  );
  const seen = new Set<string>();
  objectsAt(container, "volumeMounts").forEach((mount, index) => {
    const place = path.index(index);
    const [name, at] = [textAt(mount, "name"), textAt(mount, "mountPath")];
    if (name === "") problems.required(place.child("name"));
    if (!volumes.has(name)) problems.notFound(place.child("name"), name);
    if (at === "") problems.required(place.child("mountPath"));
    if (seen.has(at)) problems.invalid(place.child("mountPath"), at, "must be unique");
    seen.add(at);
    if (devices.has(name)) problems.invalid(place.child("name"), name, "must not already exist in volumeDevices");
    if ([...devices.values()].includes(at)) {
      problems.invalid(place.child("mountPath"), at, "must not already exist as a path in volumeDevices");
    }
    checkSubPath(mount, place, path, problems);
    checkPropagation(mount, container, path, problems);
  });
}

/** The path of a sub path does not say which mount it is of: neither does the real server's. */
function checkSubPath(mount: JsonObject, place: FieldPath, path: FieldPath, problems: Problems): void {
  const [subPath, expression] = [textAt(mount, "subPath"), textAt(mount, "subPathExpr")];
  if (subPath !== "") checkDescending(subPath, path.child("subPath"), problems);
  if (expression === "") return;
  if (subPath !== "") {
    problems.invalid(place.child("subPathExpr"), expression, "subPathExpr and subPath are mutually exclusive");
  }
  checkDescending(expression, path.child("subPathExpr"), problems);
}

function checkPropagation(mount: JsonObject, container: JsonObject, path: FieldPath, problems: Problems): void {
  const propagation = textAt(mount, "mountPropagation");
  const place = path.child("mountPropagation");
  if (has(mount, "mountPropagation")) {
    if (!propagations.includes(propagation)) problems.notSupported(place, propagation, propagations);
    if (propagation === "Bidirectional" && !flagAt(objectAt(container, "securityContext"), "privileged")) {
      problems.forbidden(place, "Bidirectional mount propagation is available only to privileged containers");
    }
  }
  if (!has(mount, "recursiveReadOnly")) return;
  const [mode, at] = [textAt(mount, "recursiveReadOnly"), path.child("recursiveReadOnly")];
  if (!readOnlies.includes(mode)) return problems.notSupported(at, mode, readOnlies);
  if (mode === "Disabled") return;
  if (!flagAt(mount, "readOnly")) problems.forbidden(at, "may only be specified when readOnly is true");
  if (has(mount, "mountPropagation") && propagation !== "None") {
    problems.forbidden(at, "may only be specified when mountPropagation is None or not specified");
  }
}

function checkDevices(
  devices: readonly JsonObject[],
  mounted: ReadonlyMap<string, string>,
  volumes: ReadonlyMap<string, JsonObject>,
  path: FieldPath,
  problems: Problems,
): void {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  devices.forEach((device, index) => {
    const place = path.index(index);
    const [name, at] = [textAt(device, "name"), textAt(device, "devicePath")];
    const volume = volumes.get(name);
    if (name === "") problems.required(place.child("name"));
    if (names.has(name)) problems.invalid(place.child("name"), name, "must be unique");
    if (volume === undefined) problems.notFound(place.child("name"), name);
    else if (!has(volume, "persistentVolumeClaim") && !has(volume, "ephemeral")) {
      const why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      problems.invalid(place.child("name"), name, why);
    }
    checkDevicePath(at, paths, place.child("devicePath"), problems);
    if (mounted.has(name)) problems.invalid(place.child("name"), name, "must not already exist in volumeMounts");
    if ([...mounted.values()].includes(at)) {
      problems.invalid(place.child("devicePath"), at, "must not already exist as a path in volumeMounts");
    }
    if (name !== "") names.add(name);
  });
}

function checkDevicePath(at: string, paths: Set<string>, path: FieldPath, problems: Problems): void {
  if (at === "") problems.required(path);
  if (paths.has(at)) problems.invalid(path, at, "must be unique");
  if (hasBacksteps(at)) problems.invalid(path, at, "can not contain backsteps ('..')");
  else paths.add(at);
}
