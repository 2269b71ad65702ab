/**
 * The checks of the Pod security levels `baseline` (no known privilege escalations) and `restricted` (also: no root user, and
 * only known types of volumes). Source: k8s.io/pod-security-admission `policy/check_*.go` of 1.36, in the order of the names of
 * the checks there.
 */
import {
  findNumber,
  findObject,
  has,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../kinds/mod.ts";
import { goQuote, type JsonObject } from "../model/mod.ts";
import { readMetadata } from "../registry/mod.ts";

const profiles: ReadonlySet<string> = new Set(["RuntimeDefault", "Localhost"]);

const appArmor: Check = ({ security, annotations, containers }) => {
  const bad = (type: string | undefined) => type !== undefined && !profiles.has(type);
  const own = typeIn(security, "appArmorProfile");
  const found = containers.filter((each) => bad(typeIn(each.security, "appArmorProfile")));
  const values = [own, ...containers.map((each) => typeIn(each.security, "appArmorProfile"))].filter((type) =>
    bad(type)
  );
  const notes = [...annotations]
    .filter(([key, value]) =>
      key.startsWith("container.apparmor.security.beta.kubernetes.io/") && !isProfileText(value)
    )
    .map(([key, value]) => `${key}=${goQuote(value)}`).sort();
  const setters = settersText(bad(own), found.map(({ name }) => name));
  const who = [setters, notes.length === 0 ? "" : notes.length === 1 ? "annotation" : "annotations"];
  const list = [...new Set(values.map((type) => type ?? ""))].sort().concat(notes);
  if (list.length === 0) return undefined;
  return {
    reason: list.length === 1 ? "forbidden AppArmor profile" : "forbidden AppArmor profiles",
    detail: `${who.filter((part) => part !== "").join(" and ")} must not set AppArmor profile type to ${quoted(list)}`,
  };
};

function isProfileText(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/");
}

const defaultCapabilities: ReadonlySet<string> = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);

const capabilities: Check = ({ containers }) => {
  const unusual = (security: JsonObject) =>
    textsAt(objectAt(security, "capabilities"), "add").filter((name) => !defaultCapabilities.has(name));
  const found = containers.filter(({ security }) => unusual(security).length > 0);
  if (found.length === 0) return undefined;
  const names = quotedSet(found.flatMap(({ security }) => unusual(security)));
  const who = containersText(found.map(({ name }) => name));
  return {
    reason: "non-default capabilities",
    detail: `${who} must not include ${names} in securityContext.capabilities.add`,
  };
};

const hostNamespaces: Check = ({ spec }) => {
  const shared = ["hostNetwork", "hostPID", "hostIPC"].filter((key) => spec[key] === true);
  if (shared.length === 0) return undefined;
  return { reason: "host namespaces", detail: shared.map((key) => `${key}=true`).join(", ") };
};

const hostPathVolumes: Check = ({ spec }) => {
  const found = objectsAt(spec, "volumes").filter((volume) => has(volume, "hostPath"));
  if (found.length === 0) return undefined;
  const word = found.length === 1 ? "volume" : "volumes";
  return { reason: "hostPath volumes", detail: `${word} ${quoted(found.map((volume) => textAt(volume, "name")))}` };
};

const hostPorts: Check = ({ containers }) => {
  const portsOf = (container: JsonObject) =>
    objectsAt(container, "ports").map((port) => numberAt(port, "hostPort")).filter((port) => port !== 0);
  const found = containers.filter(({ container }) => portsOf(container).length > 0);
  if (found.length === 0) return undefined;
  const ports = [...new Set(found.flatMap(({ container }) => portsOf(container)).map(String))].sort();
  const verb = `${found.length === 1 ? "uses" : "use"} ${ports.length === 1 ? "hostPort" : "hostPorts"}`;
  return { reason: "hostPort", detail: `${containersText(found.map(({ name }) => name))} ${verb} ${ports.join(", ")}` };
};

const hostProbes: Check = ({ containers }) => {
  const found = containers.filter(({ container }) => hostsOf(container).length > 0);
  if (found.length === 0) return undefined;
  const hosts = new Set(found.flatMap(({ container }) => hostsOf(container)));
  const names = [...new Set(found.map(({ name }) => name))].sort();
  const what = hosts.size === 1 ? "probe or lifecycle host" : "probe or lifecycle hosts";
  const verb = names.length === 1 ? "uses" : "use";
  return { reason: "probe or lifecycle host", detail: `${containersText(names)} ${verb} ${what} ${quotedSet(hosts)}` };
};

/** The hosts that probes and handlers name, other than the Pod. */
function hostsOf(container: JsonObject): readonly string[] {
  const lifecycle = objectAt(container, "lifecycle");
  const handlers = [
    ...["livenessProbe", "readinessProbe", "startupProbe"].map((key) => objectAt(container, key)),
    ...["postStart", "preStop"].map((key) => objectAt(lifecycle, key)),
  ];
  return handlers.flatMap((handler) => ["httpGet", "tcpSocket"].map((key) => textAt(objectAt(handler, key), "host")))
    .filter((host) => host !== "");
}

const privileged: Check = ({ containers }) => {
  const found = containers.filter(({ security }) => security["privileged"] === true);
  if (found.length === 0) return undefined;
  const who = containersText(found.map(({ name }) => name));
  return { reason: "privileged", detail: `${who} must not set securityContext.privileged=true` };
};

/** The check for the level `restricted`, where a user namespace makes no difference. */
const strictProcMount: Check = ({ containers }) => {
  const mountOf = (security: JsonObject) => textAt(security, "procMount");
  const found = containers.filter(({ security }) => !["", "Default"].includes(mountOf(security)));
  if (found.length === 0) return undefined;
  const values = quotedSet(found.map(({ security }) => mountOf(security)));
  const who = containersText(found.map(({ name }) => name));
  return { reason: "procMount", detail: `${who} must not set securityContext.procMount to ${values}` };
};

const procMount: Check = (pod) => pod.hasUserNamespace ? undefined : strictProcMount(pod);

const containerTypes: ReadonlySet<string> = new Set([
  "",
  "container_t",
  "container_init_t",
  "container_kvm_t",
  "container_engine_t",
]);

const seLinux: Check = ({ security, containers }) => {
  const optionsOf = (context: JsonObject) => findObject(context, "seLinuxOptions");
  const isBad = (options: JsonObject | undefined): options is JsonObject =>
    options !== undefined &&
    (!containerTypes.has(textAt(options, "type")) || textAt(options, "user") !== "" || textAt(options, "role") !== "");
  const found = containers.filter((each) => isBad(optionsOf(each.security)));
  const options = [security, ...found.map((each) => each.security)].map(optionsOf).filter(isBad);
  if (options.length === 0) return undefined;
  const types = new Set(options.map((each) => textAt(each, "type")).filter((type) => !containerTypes.has(type)));
  const wrong = [
    ...(types.size > 0 ? [`${types.size === 1 ? "type" : "types"} ${quotedSet(types)}`] : []),
    ...(options.some((each) => textAt(each, "user") !== "") ? ["user may not be set"] : []),
    ...(options.some((each) => textAt(each, "role") !== "") ? ["role may not be set"] : []),
  ];
  const who = settersText(isBad(optionsOf(security)), found.map(({ name }) => name));
  return {
    reason: "seLinuxOptions",
    detail: `${who} set forbidden securityContext.seLinuxOptions: ${wrong.join("; ")}`,
  };
};

const seccomp: Check = ({ security, containers }) => {
  const isBad = (type: string | undefined) => type !== undefined && !profiles.has(type);
  const own = typeIn(security, "seccompProfile");
  const found = containers.filter((each) => isBad(typeIn(each.security, "seccompProfile")));
  if (!isBad(own) && found.length === 0) return undefined;
  const types = [own, ...found.map((each) => typeIn(each.security, "seccompProfile"))].filter((type) => isBad(type));
  const who = settersText(isBad(own), found.map(({ name }) => name));
  const values = quotedSet(types.map((type) => type ?? ""));
  return { reason: "seccompProfile", detail: `${who} must not set securityContext.seccompProfile.type to ${values}` };
};

const safeSysctls: ReadonlySet<string> = new Set([
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_wmem",
]);

const sysctls: Check = ({ security }) => {
  const names = objectsAt(security, "sysctls").map((sysctl) => textAt(sysctl, "name"));
  const unsafe = names.filter((name) => !safeSysctls.has(name));
  return unsafe.length === 0 ? undefined : { reason: "forbidden sysctls", detail: unsafe.join(", ") };
};

const hostProcess: Check = ({ security, containers }) => {
  const isHost = (context: JsonObject) => objectAt(context, "windowsOptions")["hostProcess"] === true;
  const found = containers.filter((each) => isHost(each.security)).map(({ name }) => name);
  if (found.length === 0 && !isHost(security)) return undefined;
  const who = settersText(isHost(security), found);
  return { reason: "hostProcess", detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` };
};

/** All checks, in order. */
export const baseline: readonly Check[] = [
  appArmor,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbes,
  privileged,
  procMount,
  seLinux,
  seccomp,
  sysctls,
  hostProcess,
];

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

const allowedVolumes = [
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
  const found = objectsAt(spec, "volumes").filter((volume) => !allowedVolumes.some((type) => has(volume, type)));
  if (found.length === 0) return undefined;
  const types = new Set(found.map((volume) => Object.keys(volume).find((key) => key !== "name") ?? "unknown"));
  const who = `${found.length === 1 ? "volume" : "volumes"} ${quoted(found.map((volume) => textAt(volume, "name")))}`;
  const what = types.size === 1 ? "restricted volume type" : "restricted volume types";
  const detail = `${who} ${found.length === 1 ? "uses" : "use"} ${what} ${quotedSet(types)}`;
  return { reason: "restricted volume types", detail };
};

const nonRoot: Check = ({ security, containers, hasUserNamespace }) => {
  if (hasUserNamespace) return undefined;
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

const rootUser: Check = ({ security, containers, hasUserNamespace }) => {
  if (hasUserNamespace) return undefined;
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

/** Checks of `baseline` that stricter ones replace. */
const replaced: ReadonlySet<Check> = new Set([capabilities, hostPathVolumes, procMount, seccomp]);

/** All checks, in order. */
export const restricted: readonly Check[] = [
  ...baseline.filter((check) => !replaced.has(check)),
  escalation,
  strictCapabilities,
  strictProcMount,
  volumeTypes,
  nonRoot,
  rootUser,
  strictSeccomp,
];

/** A Pod or a Pod template. */
interface PodView {
  readonly spec: JsonObject;
  readonly security: JsonObject;
  readonly annotations: ReadonlyMap<string, string>;
  readonly containers: readonly ContainerView[];
  readonly isWindows: boolean;
  /** True for a Pod with a user namespace, where root has no privileges on the host. */
  readonly hasUserNamespace: boolean;
}

/** One of its containers. */
interface ContainerView {
  readonly name: string;
  readonly container: JsonObject;
  /** Empty when the container has none. */
  readonly security: JsonObject;
}

/** An error that a check found. */
interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** One check of a level. */
type Check = (pod: PodView) => Violation | undefined;

/** Reads a Pod. */
export function viewOf(pod: JsonObject): PodView {
  const spec = objectAt(pod, "spec");
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) => objectsAt(spec, list));
  return {
    spec,
    security: objectAt(spec, "securityContext"),
    annotations: textMapAt(readMetadata(pod), "annotations"),
    containers: containers.map((container) => ({
      name: textAt(container, "name"),
      container,
      security: objectAt(container, "securityContext"),
    })),
    isWindows: textAt(objectAt(spec, "os"), "name") === "windows",
    hasUserNamespace: spec["hostUsers"] === false,
  };
}

/** `"a", "b"`. */
function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

/** `"a", "b"`, sorted, without duplicates. */
function quotedSet(names: Iterable<string>): string {
  return quoted([...new Set(names)].sort());
}

/** `container "a"` or `containers "a", "b"`. */
function containersText(names: readonly string[]): string {
  return `${names.length === 1 ? "container" : "containers"} ${quoted(names)}`;
}

/** The Pod, the containers, or both. */
function settersText(isPod: boolean, names: readonly string[]): string {
  return [...(isPod ? ["pod"] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(" and ");
}

/** The type of a profile in a security context; undefined when it has none. */
function typeIn(security: JsonObject, key: string): string | undefined {
  const profile = findObject(security, key);
  return profile === undefined ? undefined : textAt(profile, "type");
}
