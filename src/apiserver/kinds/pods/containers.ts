/**
 * Rules of containers, init containers and ephemeral containers: ports, restarts, volume mounts, probes and lifecycle hooks.
 */
import { type JsonObject, read } from "../../model/mod.ts";
import {
  checkNotNegative,
  checkPortNumberOrName,
  checkRelativePath,
  type FieldPath,
  hasParentSteps,
  headerNameErrors,
  labelErrors,
  portErrors,
  portNameErrors,
  type Problems,
} from "../rules/mod.ts";
import {
  booleanAt,
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
} from "../types/mod.ts";
import { checkEnv, checkEnvFrom } from "./env.ts";
import { checkClaimNames, checkResourceRequirements } from "./resources.ts";
import { checkContainerSecurity } from "./security.ts";

const protocols = ["SCTP", "TCP", "UDP"];
const pullPolicies = ["Always", "IfNotPresent", "Never"];
const restartPolicies = ["Always", "Never", "OnFailure"];
const notForEphemeral = "cannot be set for an Ephemeral Container";
const maxRules = 20;
const maxExitCodes = 255;
const needsAlways = "may not be set for init containers without restartPolicy=Always";

/** What containers are checked against. */
interface ContainerContext {
  readonly spec: JsonObject;
  /** The valid volumes of the Pod, by name. */
  readonly volumes: ReadonlyMap<string, JsonObject>;
}

/** Checks the containers of a Pod. */
export function checkContainers(context: ContainerContext, path: FieldPath, problems: Problems): void {
  const containers = objectsAt(context.spec, "containers");
  if (containers.length === 0) return problems.required(path);
  const names = new Set<string>();
  containers.forEach((container, index) => {
    const place = path.index(index);
    checkCommon(container, context, place, problems);
    const name = textAt(container, "name");
    if (names.has(name)) problems.duplicate(place.child("name"), name);
    names.add(name);
    checkLifecycle(container, context.spec, place, problems);
    checkProbes(container, place, problems);
    checkRestarts(container, place, problems);
  });
  checkHostPorts(containers, path, problems);
}

/** Checks the init containers of a Pod. */
export function checkInitContainers(context: ContainerContext, path: FieldPath, problems: Problems): void {
  const names = new Set(objectsAt(context.spec, "containers").map((container) => textAt(container, "name")));
  objectsAt(context.spec, "initContainers").forEach((container, index) => {
    const place = path.index(index);
    const name = textAt(container, "name");
    const isSidecar = textAt(container, "restartPolicy") === "Always";
    checkCommon(container, context, place, problems);
    checkRestarts(container, place, problems);
    if (names.has(name)) problems.duplicate(place.child("name"), name);
    else if (name !== "") names.add(name);
    checkHostPorts([container], path, problems);
    if (isSidecar) {
      checkLifecycle(container, context.spec, place, problems);
      checkProbes(container, place, problems);
    } else {
      for (const key of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"]) {
        if (has(container, key)) problems.forbidden(place.child(key), needsAlways);
      }
      checkInitResize(container, place, problems);
    }
  });
}

function checkInitResize(container: JsonObject, path: FieldPath, problems: Problems): void {
  objectsAt(container, "resizePolicy").forEach((policy, index) => {
    if (textAt(policy, "restartPolicy") !== "RestartContainer") return;
    const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    problems.invalid(path.child("resizePolicy").index(index).child("restartPolicy"), "RestartContainer", why);
  });
}

/** Fields that an ephemeral container must not have. */
const ephemeralForbidden = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  "restartPolicyRules",
  "livenessProbe",
  "readinessProbe",
  "startupProbe",
  "lifecycle",
];

/** Checks the ephemeral containers of a Pod. */
export function checkEphemeralContainers(context: ContainerContext, path: FieldPath, problems: Problems): void {
  const namesOf = (key: string) => objectsAt(context.spec, key).map((container) => textAt(container, "name"));
  const others = new Set([...namesOf("containers"), ...namesOf("initContainers")]);
  const names = new Set(others);
  objectsAt(context.spec, "ephemeralContainers").forEach((container, index) => {
    const place = path.index(index);
    const [name, target] = [textAt(container, "name"), textAt(container, "targetContainerName")];
    checkCommon(container, context, place, problems);
    checkImageWhitespace(container, place, problems);
    if (names.has(name)) problems.duplicate(place.child("name"), name);
    names.add(name);
    if (target !== "" && !others.has(target)) problems.notFound(place.child("targetContainerName"), target);
    for (const key of ephemeralForbidden) {
      const value = read(container, key) ?? null;
      const isSet = value !== null && !(key === "resources" && Object.keys(objectAt(container, key)).length === 0);
      if (isSet) problems.forbidden(place.child(key), notForEphemeral);
    }
    objectsAt(container, "volumeMounts").forEach((mount, at) => {
      for (const key of ["subPath", "subPathExpr"]) {
        if (textAt(mount, key) !== "") {
          problems.forbidden(place.child("volumeMounts").index(at).child(key), notForEphemeral);
        }
      }
    });
  });
}

/** Checks that an image has no spaces around it; for Pods only. */
export function checkImageWhitespace(container: JsonObject, path: FieldPath, problems: Problems): void {
  const image = textAt(container, "image");
  if (image.trim() !== image) {
    problems.invalid(path.child("image"), image, "must not have leading or trailing whitespace");
  }
}

function checkCommon(container: JsonObject, context: ContainerContext, path: FieldPath, problems: Problems): void {
  const name = textAt(container, "name");
  if (name === "") problems.required(path.child("name"));
  else problems.invalidAll(path.child("name"), name, labelErrors(name));
  if (textAt(container, "image") === "") problems.required(path.child("image"));
  const message = textAt(container, "terminationMessagePolicy");
  if (message === "") problems.required(path.child("terminationMessagePolicy"));
  else if (message !== "File" && message !== "FallbackToLogsOnError") {
    problems.notSupported(path.child("terminationMessagePolicy"), message, ["File", "FallbackToLogsOnError"]);
  }
  checkPorts(container, path.child("ports"), problems);
  checkEnv(container, path.child("env"), problems);
  checkEnvFrom(container, path.child("envFrom"), problems);
  checkMounts(container, context.volumes, path, problems);
  const pull = textAt(container, "imagePullPolicy");
  if (pull === "") problems.required(path.child("imagePullPolicy"));
  else if (!pullPolicies.includes(pull)) problems.notSupported(path.child("imagePullPolicy"), pull, pullPolicies);
  checkResourceRequirements(objectAt(container, "resources"), path.child("resources"), problems);
  checkClaimNames(objectAt(container, "resources"), context.spec, path.child("resources", "claims"), problems);
  checkResizePolicy(container, context.spec, path.child("resizePolicy"), problems);
  checkContainerSecurity(container, context.spec, path.child("securityContext"), problems);
}

function checkPorts(container: JsonObject, path: FieldPath, problems: Problems): void {
  const names = new Set<string>();
  objectsAt(container, "ports").forEach((port, index) => {
    const place = path.index(index);
    const [name, protocol] = [textAt(port, "name"), textAt(port, "protocol")];
    const [number, host] = [numberAt(port, "containerPort"), numberAt(port, "hostPort")];
    if (name !== "") {
      const errors = portNameErrors(name);
      problems.invalidAll(place.child("name"), name, errors);
      if (errors.length === 0 && names.has(name)) problems.duplicate(place.child("name"), name);
      if (errors.length === 0) names.add(name);
    }
    if (number === 0) problems.required(place.child("containerPort"));
    else problems.invalidAll(place.child("containerPort"), number, portErrors(number));
    if (host !== 0) problems.invalidAll(place.child("hostPort"), host, portErrors(host));
    if (protocol === "") problems.required(place.child("protocol"));
    else if (!protocols.includes(protocol)) problems.notSupported(place.child("protocol"), protocol, protocols);
  });
}

function checkHostPorts(containers: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  containers.forEach((container, index) => {
    objectsAt(container, "ports").forEach((port, at) => {
      const host = numberAt(port, "hostPort");
      if (host === 0) return;
      const id = `${textAt(port, "protocol")}/${textAt(port, "hostIP")}/${host}`;
      if (seen.has(id)) problems.duplicate(path.index(index).child("ports").index(at).child("hostPort"), id);
      seen.add(id);
    });
  });
}

function checkResizePolicy(container: JsonObject, spec: JsonObject, path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  objectsAt(container, "resizePolicy").forEach((policy, index) => {
    const [resource, restart] = [textAt(policy, "resourceName"), textAt(policy, "restartPolicy")];
    if (seen.has(resource)) problems.duplicate(path.index(index), resource);
    seen.add(resource);
    if (resource === "") problems.required(path);
    else if (resource !== "cpu" && resource !== "memory") problems.notSupported(path, resource, ["cpu", "memory"]);
    const known = ["NotRequired", "RestartContainer"];
    if (restart === "") problems.required(path);
    else if (!known.includes(restart)) problems.notSupported(path, restart, known);
    if (textAt(spec, "restartPolicy") === "Never" && restart !== "NotRequired") {
      problems.invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  });
}

function checkRestarts(container: JsonObject, path: FieldPath, problems: Problems): void {
  const rules = objectsAt(container, "restartPolicyRules");
  const place = path.child("restartPolicy");
  const policy = textAt(container, "restartPolicy");
  if (!has(container, "restartPolicy")) {
    if (rules.length > 0) problems.required(place, "must specify restartPolicy when restart rules are used");
  } else if (!restartPolicies.includes(policy)) problems.notSupported(place, policy, restartPolicies);
  if (rules.length > maxRules) problems.tooMany(path.child("restartPolicyRules"), rules.length, maxRules);
  rules.forEach((rule, index) => checkRestartRule(rule, path.child("restartPolicyRules").index(index), problems));
}

function checkRestartRule(rule: JsonObject, path: FieldPath, problems: Problems): void {
  const actions = ["Restart", "RestartAllContainers"];
  const action = textAt(rule, "action");
  if (!actions.includes(action)) problems.notSupported(path.child("action"), action, actions);
  const codes = findObject(rule, "exitCodes");
  if (codes === undefined) return problems.required(path.child("exitCodes"), "must be specified");
  const operator = textAt(codes, "operator");
  if (operator !== "In" && operator !== "NotIn") {
    problems.notSupported(path.child("exitCodes", "operator"), operator, ["In", "NotIn"]);
  }
  const values = read(codes, "values");
  if (Array.isArray(values) && values.length > maxExitCodes) {
    problems.tooMany(path.child("exitCodes", "values"), values.length, maxExitCodes);
  }
}

/** Checks the ports of a Pod on the host network. @param isPod false for a template, which may omit host ports */
export function checkHostNetworkPorts(spec: JsonObject, isPod: boolean, path: FieldPath, problems: Problems): void {
  if (!booleanAt(spec, "hostNetwork")) return;
  objectsAt(spec, "containers").forEach((container, index) => {
    objectsAt(container, "ports").forEach((port, at) => {
      const [host, inner] = [numberAt(port, "hostPort"), numberAt(port, "containerPort")];
      if (host === inner || (!isPod && host === 0)) return;
      const place = path.child("containers").index(index).child("ports").index(at).child("hostPort");
      problems.invalid(place, host, "must match `containerPort` when `hostNetwork` is true");
    });
  });
}

const propagations = ["Bidirectional", "HostToContainer", "None"];
const readOnlies = ["Disabled", "Enabled", "IfPossible"];

/** Checks the mounts and devices of a container. @param volumes the valid volumes of the Pod, by name */
function checkMounts(
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

/** Checks a sub path. The path in the error does not contain the index of the mount, as in the real server. */
function checkSubPath(mount: JsonObject, place: FieldPath, path: FieldPath, problems: Problems): void {
  const [subPath, expression] = [textAt(mount, "subPath"), textAt(mount, "subPathExpr")];
  if (subPath !== "") checkRelativePath(subPath, path.child("subPath"), problems);
  if (expression === "") return;
  if (subPath !== "") {
    problems.invalid(place.child("subPathExpr"), expression, "subPathExpr and subPath are mutually exclusive");
  }
  checkRelativePath(expression, path.child("subPathExpr"), problems);
}

function checkPropagation(mount: JsonObject, container: JsonObject, path: FieldPath, problems: Problems): void {
  const propagation = textAt(mount, "mountPropagation");
  const place = path.child("mountPropagation");
  if (has(mount, "mountPropagation")) {
    if (!propagations.includes(propagation)) problems.notSupported(place, propagation, propagations);
    if (propagation === "Bidirectional" && !booleanAt(objectAt(container, "securityContext"), "privileged")) {
      problems.forbidden(place, "Bidirectional mount propagation is available only to privileged containers");
    }
  }
  if (!has(mount, "recursiveReadOnly")) return;
  const [mode, at] = [textAt(mount, "recursiveReadOnly"), path.child("recursiveReadOnly")];
  if (!readOnlies.includes(mode)) return problems.notSupported(at, mode, readOnlies);
  if (mode === "Disabled") return;
  if (!booleanAt(mount, "readOnly")) problems.forbidden(at, "may only be specified when readOnly is true");
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
  if (hasParentSteps(at)) problems.invalid(path, at, "can not contain backsteps ('..')");
  else paths.add(at);
}

const probeHandlers = ["exec", "httpGet", "tcpSocket", "grpc"];
const lifecycleHandlers = ["exec", "httpGet", "tcpSocket", "sleep"];
const counts = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];

/** Checks the probes of a container. */
function checkProbes(container: JsonObject, path: FieldPath, problems: Problems): void {
  for (const key of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = findObject(container, key);
    if (probe !== undefined) checkProbe(probe, key === "readinessProbe", path.child(key), problems);
  }
}

function checkProbe(probe: JsonObject, isReadiness: boolean, path: FieldPath, problems: Problems): void {
  checkHandler(probe, probeHandlers, undefined, path, problems);
  for (const key of counts) checkNotNegative(probe, key, path, problems);
  const grace = findNumber(probe, "terminationGracePeriodSeconds");
  const place = path.child("terminationGracePeriodSeconds");
  if (grace !== undefined && grace <= 0) problems.invalid(place, grace, "must be greater than 0");
  if (isReadiness) {
    if (grace !== undefined) problems.invalid(place, grace, "must not be set for readinessProbes");
    return;
  }
  const successes = numberAt(probe, "successThreshold");
  if (successes !== 1) problems.invalid(path.child("successThreshold"), successes, "must be 1");
}

/** Checks the lifecycle hooks of a container. */
function checkLifecycle(container: JsonObject, spec: JsonObject, path: FieldPath, problems: Problems): void {
  const lifecycle = findObject(container, "lifecycle");
  if (lifecycle === undefined) return;
  const grace = findNumber(spec, "terminationGracePeriodSeconds");
  for (const key of ["postStart", "preStop"]) {
    const handler = findObject(lifecycle, key);
    if (handler !== undefined) checkHandler(handler, lifecycleHandlers, grace, path.child("lifecycle", key), problems);
  }
}

function checkHandler(
  handler: JsonObject,
  kinds: readonly string[],
  grace: number | undefined,
  path: FieldPath,
  problems: Problems,
): void {
  const given = kinds.filter((kind) => findObject(handler, kind) !== undefined);
  given.forEach((kind, index) => {
    const place = path.child(kind);
    if (index > 0) problems.forbidden(place, "may not specify more than 1 handler type");
    else checkAction(kind, findObject(handler, kind) ?? {}, grace, place, problems);
  });
  if (given.length === 0) problems.required(path, "must specify a handler type");
}

function checkAction(
  kind: string,
  action: JsonObject,
  grace: number | undefined,
  path: FieldPath,
  problems: Problems,
): void {
  switch (kind) {
    case "exec":
      if (textsAt(action, "command").length === 0) problems.required(path.child("command"));
      return;
    case "httpGet":
      return checkHttpGet(action, path, problems);
    case "sleep": {
      const seconds = numberAt(action, "seconds");
      if (grace === undefined || (seconds >= 0 && seconds <= grace)) return;
      const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
      return problems.invalid(path, seconds, why);
    }
    default:
      return checkPortNumberOrName(read(action, "port") ?? 0, path.child("port"), problems);
  }
}

function checkHttpGet(action: JsonObject, path: FieldPath, problems: Problems): void {
  if (textAt(action, "path") === "") problems.required(path.child("path"));
  checkPortNumberOrName(read(action, "port") ?? 0, path.child("port"), problems);
  const scheme = textAt(action, "scheme");
  if (scheme !== "HTTP" && scheme !== "HTTPS") problems.notSupported(path.child("scheme"), scheme, ["HTTP", "HTTPS"]);
  for (const header of objectsAt(action, "httpHeaders")) {
    const name = textAt(header, "name");
    problems.invalidAll(path.child("httpHeaders"), name, headerNameErrors(name));
  }
}
