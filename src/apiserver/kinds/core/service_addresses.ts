/**
 * Allocation for Services: cluster IP (service_ranges.ts), IP families, node ports. The ports are those from 30000 to 32767,
 * which are the default of kube-apiserver.
 *
 * Allocated values are read from the stored Services, so nothing has to be released.
 */
import {
  type Draft,
  draftOf,
  type FieldError,
  internalError,
  invalid,
  type JsonObject,
  type WriteContext,
} from "../../model/mod.ts";
import { FieldPath, Problems } from "../rules/mod.ts";
import {
  draftAt,
  draftsAt,
  findNumber,
  has,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
} from "../types/mod.ts";
import { checkClusterIps } from "./service_cluster_ips.ts";
import { addressError, type ChooseOffset, freeAddress } from "./service_ranges.ts";

const firstPort = 30_000;
const lastPort = 32_767;

/** Random attempts before the first free value is searched. */
const maxRandomAttempts = 64;

/** Allocates the missing values of a new Service. @throws StatusError when a requested value is already allocated */
export function allocateForCreate(draft: Draft, context: WriteContext): void {
  const spec = draftAt(draft, "spec");
  const clusterIp = textAt(spec, "clusterIP");
  if (clusterIp !== "" && textsAt(spec, "clusterIPs").length === 0) spec["clusterIPs"] = [clusterIp];
  setFamilies(draft, undefined);
  allocate(draft, undefined, context);
}

/** Allocates the missing values of an updated Service; it keeps the old values that still apply. @throws StatusError */
export function allocateForUpdate(draft: Draft, old: JsonObject, context: WriteContext): void {
  restoreAllocated(draft, old);
  normalizeClusterIps(draft, old);
  setFamilies(draft, old);
  allocate(draft, old, context);
}

/** True for a Service with a cluster IP. */
export function needsClusterIp(spec: JsonObject): boolean {
  return textAt(spec, "type") !== "ExternalName";
}

/** True for a Service with node ports. */
export function needsNodePorts(spec: JsonObject): boolean {
  const type = textAt(spec, "type");
  return type === "NodePort" || type === "LoadBalancer";
}

/** True for a Service with a health check node port. */
export function needsHealthCheck(spec: JsonObject): boolean {
  return textAt(spec, "type") === "LoadBalancer" && textAt(spec, "externalTrafficPolicy") === "Local";
}

function restoreAllocated(draft: Draft, old: JsonObject): void {
  const [spec, before] = [draftAt(draft, "spec"), objectAt(old, "spec")];
  if (needsClusterIp(before) && needsClusterIp(spec)) {
    if (textAt(spec, "clusterIP") === "" && has(before, "clusterIP")) spec["clusterIP"] = textAt(before, "clusterIP");
    if (textsAt(spec, "clusterIPs").length === 0 && textsAt(before, "clusterIPs").length > 0) {
      spec["clusterIPs"] = [...textsAt(before, "clusterIPs")];
    }
  }
  if (needsNodePorts(before) && needsNodePorts(spec)) restoreNodePorts(spec, before);
  if (needsHealthCheck(before) && needsHealthCheck(spec) && numberAt(spec, "healthCheckNodePort") === 0) {
    spec["healthCheckNodePort"] = numberAt(before, "healthCheckNodePort");
  }
}

function restoreNodePorts(spec: Draft, before: JsonObject): void {
  const requested = new Set(objectsAt(spec, "ports").map((port) => numberAt(port, "nodePort")));
  const byName = new Map(objectsAt(before, "ports").map((port) => [textAt(port, "name"), numberAt(port, "nodePort")]));
  for (const port of draftsAt(spec, "ports")) {
    if (numberAt(port, "nodePort") !== 0) continue;
    const known = byName.get(textAt(port, "name")) ?? 0;
    if (known !== 0 && !requested.has(known)) port["nodePort"] = known;
  }
}

/** Updates `clusterIPs` when a client changed only `clusterIP`. */
function normalizeClusterIps(draft: Draft, old: JsonObject): void {
  const [spec, before] = [draftAt(draft, "spec"), objectAt(old, "spec")];
  const [now, then] = [textAt(spec, "clusterIP"), textAt(before, "clusterIP")];
  const known = textsAt(before, "clusterIPs");
  if (known.length > 0 && textsAt(spec, "clusterIPs").length === 0 && now === then) spec["clusterIPs"] = [...known];
  if (now === then) return;
  const isSame = textsAt(spec, "clusterIPs").join() === known.join();
  if (!isSame) return;
  if (then !== "" && now === "") delete spec["clusterIPs"];
  else spec["clusterIPs"] = [now];
}

function setFamilies(draft: Draft, old: JsonObject | undefined): void {
  const spec = draftAt(draft, "spec");
  if (!needsClusterIp(spec)) return;
  const isSelectorless = Object.keys(objectAt(spec, "selector")).length === 0;
  const isOpen = textAt(spec, "clusterIP") === "None" && isSelectorless;
  if (!has(spec, "ipFamilyPolicy")) {
    const known = textAt(objectAt(old ?? {}, "spec"), "ipFamilyPolicy");
    spec["ipFamilyPolicy"] = known !== "" ? known : isOpen ? "RequireDualStack" : "SingleStack";
  }
  const problems = new Problems();
  checkClusterIps(spec, objectAt(old ?? {}, "spec"), problems);
  rejectIfInvalid(draft, problems.list);
  rejectFamilies(draft, spec, isOpen);
  const families = [...textsAt(spec, "ipFamilies")];
  if (families.length === 0) families.push("IPv4");
  if (isOpen && families.length < 2 && textAt(spec, "ipFamilyPolicy") !== "SingleStack") {
    families.push(families[0] === "IPv4" ? "IPv6" : "IPv4");
  }
  spec["ipFamilies"] = families;
}

function rejectFamilies(draft: Draft, spec: Draft, isOpen: boolean): void {
  const problems = new Problems();
  const policy = textAt(spec, "ipFamilyPolicy");
  const path = FieldPath.of("spec", "ipFamilyPolicy");
  const single = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (policy === "SingleStack") {
    if (textsAt(spec, "clusterIPs").length === 2) problems.invalid(path, policy, `${single} cluster IPs are specified`);
    if (textsAt(spec, "ipFamilies").length === 2) problems.invalid(path, policy, `${single} IP families are specified`);
  }
  if (!isOpen) {
    if (policy === "RequireDualStack") {
      problems.invalid(path, policy, "this cluster is not configured for dual-stack services");
    }
    textsAt(spec, "ipFamilies").forEach((family, index) => {
      if (family !== "IPv6") return;
      problems.invalid(FieldPath.of("spec", "ipFamilies").index(index), family, "not configured on this cluster");
    });
  }
  rejectIfInvalid(draft, problems.list);
}

function rejectIfInvalid(draft: Draft, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: "", resource: "Service", name: nameOf(draft) }, errors);
}

/** The values that are allocated to other Services. */
interface AllocatedValues {
  readonly addresses: ReadonlySet<string>;
  readonly ports: Set<number>;
}

function allocatedToOthers(draft: Draft, context: WriteContext): AllocatedValues {
  const uid = textAt(draftAt(draft, "metadata"), "uid");
  const allocated = { addresses: new Set<string>(), ports: new Set<number>() };
  for (const service of context.objects.list("services")) {
    if (textAt(objectAt(service, "metadata"), "uid") === uid) continue;
    const spec = objectAt(service, "spec");
    for (const address of textsAt(spec, "clusterIPs")) allocated.addresses.add(address);
    for (const port of objectsAt(spec, "ports")) allocated.ports.add(numberAt(port, "nodePort"));
    allocated.ports.add(numberAt(spec, "healthCheckNodePort"));
  }
  return allocated;
}

function allocate(draft: Draft, old: JsonObject | undefined, context: WriteContext): void {
  const spec = draftAt(draft, "spec");
  const before = objectAt(old ?? {}, "spec");
  const needsIp = needsClusterIp(spec) && textAt(spec, "clusterIP") !== "None";
  if (!needsIp && !needsNodePorts(spec)) return;
  const allocated = allocatedToOthers(draft, context);
  if (needsIp) allocateIp(draft, before, allocated, context);
  if (needsNodePorts(spec)) allocatePorts(draft, before, allocated, context);
  if (needsHealthCheck(spec) && numberAt(spec, "healthCheckNodePort") === 0) {
    spec["healthCheckNodePort"] = freePort(allocated, context);
  }
}

function allocateIp(draft: Draft, before: JsonObject, allocated: AllocatedValues, context: WriteContext): void {
  const spec = draftAt(draft, "spec");
  const requested = textAt(spec, "clusterIP");
  if (requested !== "") {
    const isOld = textsAt(before, "clusterIPs").includes(requested);
    const why = isOld ? undefined : addressError(requested, allocated.addresses, context.objects);
    if (why !== undefined) {
      const problems = new Problems();
      const value = draftOf(textsAt(spec, "clusterIPs"));
      problems.invalid(FieldPath.of("spec", "clusterIPs"), value, `failed to allocate IP ${requested}: ${why}`);
      rejectIfInvalid(draft, problems.list);
    }
    return;
  }
  const choose: ChooseOffset = (count, isFree) => randomFreeOffset(count, isFree, context);
  const free = freeAddress(allocated.addresses, context.objects, choose);
  if (free === undefined) throw internalError("failed to allocate a serviceIP: range is full");
  spec["clusterIP"] = free;
  spec["clusterIPs"] = [free];
}

function allocatePorts(draft: Draft, before: JsonObject, allocated: AllocatedValues, context: WriteContext): void {
  const spec = draftAt(draft, "spec");
  const known = new Set(objectsAt(before, "ports").map((port) => numberAt(port, "nodePort")));
  const byPort = new Map<number, number>();
  const mayAllocate = textAt(spec, "type") !== "LoadBalancer" || spec["allocateLoadBalancerNodePorts"] !== false;
  draftsAt(spec, "ports").forEach((port, index) => {
    const requested = numberAt(port, "nodePort");
    if (requested === 0 && !mayAllocate) return;
    const number = numberAt(port, "port");
    const shared = byPort.get(number);
    if (requested === 0) port["nodePort"] = shared ?? freePort(allocated, context);
    else if (requested !== shared && !known.has(requested)) rejectPort(draft, requested, index, allocated);
    const chosen = findNumber(port, "nodePort") ?? 0;
    allocated.ports.add(chosen);
    if (shared === undefined) byPort.set(number, chosen);
  });
}

function rejectPort(draft: Draft, requested: number, index: number, allocated: AllocatedValues): void {
  const problems = new Problems();
  const path = FieldPath.of("spec", "ports").index(index).child("nodePort");
  if (requested < firstPort || requested > lastPort) {
    const range = `The range of valid ports is ${firstPort}-${lastPort}`;
    problems.invalid(path, requested, `provided port is not in the valid range. ${range}`);
  } else if (allocated.ports.has(requested)) problems.invalid(path, requested, "provided port is already allocated");
  rejectIfInvalid(draft, problems.list);
}

function freePort(allocated: AllocatedValues, context: WriteContext): number {
  const count = lastPort - firstPort + 1;
  const offset = randomFreeOffset(count, (each) => !allocated.ports.has(firstPort + each), context);
  if (offset === undefined) throw internalError("failed to allocate a nodePort: range is full");
  allocated.ports.add(firstPort + offset);
  return firstPort + offset;
}

/** Returns a random free offset, or the first free one after too many attempts; undefined when all are in use. */
function randomFreeOffset(
  count: number,
  isFree: (offset: number) => boolean,
  context: WriteContext,
): number | undefined {
  for (let draw = 0; draw < maxRandomAttempts; draw++) {
    const offset = Math.floor(context.random() * count);
    if (isFree(offset)) return offset;
  }
  for (let offset = 0; offset < count; offset++) if (isFree(offset)) return offset;
  return undefined;
}
