/** Rules of containers: those of a Pod, those that run before them, and those that join a running one. */
import { type JsonObject, read } from "../../model/mod.ts";
import { findObject, flagAt, has, numberAt, objectAt, objectsAt, textAt } from "../fields.ts";
import { labelErrors, portErrors, portNameErrors } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { checkResourceRequirements } from "../resources.ts";
import { checkEnv, checkEnvFrom } from "./env.ts";
import { checkMounts } from "./mounts.ts";
import { checkLifecycle, checkProbes } from "./probes.ts";
import { checkClaimNames } from "./resource_claims.ts";
import { checkContainerSecurity } from "./security.ts";

const protocols = ["SCTP", "TCP", "UDP"];
const pullPolicies = ["Always", "IfNotPresent", "Never"];
const restartPolicies = ["Always", "Never", "OnFailure"];
const notForEphemeral = "cannot be set for an Ephemeral Container";
const mostRules = 20;
const mostCodes = 255;
const needsAlways = "may not be set for init containers without restartPolicy=Always";

/** What containers are checked against. */
export interface ContainerContext {
  readonly spec: JsonObject;
  /** The volumes of the Pod that are right, by name. */
  readonly volumes: ReadonlyMap<string, JsonObject>;
}

/** The containers of a Pod. */
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

/** The containers that run before those, and those that run beside them from the start. */
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

/** Fields that a container which joins a running Pod cannot have. */
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

/** The containers that join a running Pod. */
export function checkEphemeralContainers(context: ContainerContext, path: FieldPath, problems: Problems): void {
  const namesOf = (key: string) => objectsAt(context.spec, key).map((container) => textAt(container, "name"));
  const others = new Set([...namesOf("containers"), ...namesOf("initContainers")]);
  const names = new Set(others);
  objectsAt(context.spec, "ephemeralContainers").forEach((container, index) => {
    const place = path.index(index);
    const [name, target] = [textAt(container, "name"), textAt(container, "targetContainerName")];
    checkCommon(container, context, place, problems);
    checkImageSpace(container, place, problems);
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

/** The image of a container may not have spaces around it; checked for Pods only. */
export function checkImageSpace(container: JsonObject, path: FieldPath, problems: Problems): void {
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
  if (rules.length > mostRules) problems.tooMany(path.child("restartPolicyRules"), rules.length, mostRules);
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
  if (Array.isArray(values) && values.length > mostCodes) {
    problems.tooMany(path.child("exitCodes", "values"), values.length, mostCodes);
  }
}

/** Ports on the host's network are the same inside and outside. @param isPod false for a template, which may leave them out */
export function checkHostNetworkPorts(spec: JsonObject, isPod: boolean, path: FieldPath, problems: Problems): void {
  if (!flagAt(spec, "hostNetwork")) return;
  objectsAt(spec, "containers").forEach((container, index) => {
    objectsAt(container, "ports").forEach((port, at) => {
      const [host, inner] = [numberAt(port, "hostPort"), numberAt(port, "containerPort")];
      if (host === inner || (!isPod && host === 0)) return;
      const place = path.child("containers").index(index).child("ports").index(at).child("hostPort");
      problems.invalid(place, host, "must match `containerPort` when `hostNetwork` is true");
    });
  });
}
