/**
 * The ServiceCIDR controller: marks new ranges as ready, so that the API server gives their addresses to Services, and keeps a
 * deleted range until no address depends on it.
 *
 * Guarantees: a range that is being deleted stays while an IPAddress of a Service lies in it and in no other range.
 */
import { builtin, type Infer } from "../api/mod.ts";
import { isInRange, networkOf, parseCidr, parseIp } from "../apiserver/mod.ts";
import {
  type CacheReader,
  controller,
  type ControllerDefinition,
  done,
  requeueAfter,
  type Toolbox,
} from "../controller/mod.ts";
import { timeText } from "./_values.ts";

type ServiceCidr = Infer<typeof builtin.ServiceCIDR>;
type Range = NonNullable<ReturnType<typeof parseCidr>>;

const finalizer = "networking.k8s.io/service-cidr-finalizer";
const managedBy = "ipaddress.kubernetes.io/managed-by";
const allocator = "ipallocator.k8s.io";

/** As in Kubernetes, where API servers must first see that a range is being deleted. */
const gracePeriodMs = 10_000;

const ready = { status: "True", reason: "", message: "Kubernetes Service CIDR is ready" } as const;
const terminating = {
  status: "False",
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
} as const;

/** Keeps the conditions and the finalizers of ServiceCIDRs. */
export const serviceCidrController: ControllerDefinition = controller("service-cidr-controller", {
  queueName: "ipaddresses",
})
  .for(builtin.ServiceCIDR)
  .watches(builtin.IPAddress, {
    when: ({ kind, object }) => kind !== "updated" && object.metadata.labels?.[managedBy] === allocator,
    to: (address, caches) => deletedNames(caches, ({ spec }) => contains(spec?.cidrs, address.metadata.name ?? "")),
  })
  .reconcileKey(async ({ key }, toolbox) => {
    const cidr = toolbox.find(builtin.ServiceCIDR, key);
    if (cidr !== undefined && !isDeleted(cidr)) await offer(cidr, toolbox);
    // All of them: a new range may contain one whose deletion waits.
    const waits: number[] = [];
    for (const deleted of toolbox.list(builtin.ServiceCIDR).filter(isDeleted)) {
      const leftMs = await finish(deleted, toolbox);
      if (leftMs !== undefined) waits.push(leftMs);
    }
    return waits.length === 0 ? done : requeueAfter(Math.min(...waits));
  });

function isDeleted({ metadata }: ServiceCidr): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Lets Services have the addresses of a range. */
async function offer(cidr: ServiceCidr, toolbox: Toolbox): Promise<void> {
  const { finalizers = [] } = cidr.metadata;
  const kept = finalizers.includes(finalizer) ? cidr : await toolbox.patch(builtin.ServiceCIDR, cidr, {
    kind: "merge",
    value: { metadata: { finalizers: [...finalizers, finalizer] } },
  });
  await setReady(kept, ready, toolbox);
}

function deletedNames(caches: CacheReader, isMeant: (cidr: ServiceCidr) => boolean): readonly string[] {
  return caches.list(builtin.ServiceCIDR, {})
    .filter((cidr) => isDeleted(cidr) && isMeant(cidr))
    .map((cidr) => cidr.metadata.name ?? "");
}

/** Removes the finalizer as soon as no address needs the range. @returns the time until then, where only time is missing */
async function finish(cidr: ServiceCidr, toolbox: Toolbox): Promise<number | undefined> {
  const { finalizers = [], deletionTimestamp = "" } = cidr.metadata;
  if (!finalizers.includes(finalizer)) return undefined;
  if (isNeeded(cidr, toolbox)) {
    await setReady(cidr, terminating, toolbox);
    return undefined;
  }
  const leftMs = Date.parse(deletionTimestamp) + gracePeriodMs - toolbox.clock.now();
  if (leftMs > 0) return leftMs;
  const rest = finalizers.filter((each) => each !== finalizer);
  const value = { metadata: { finalizers: rest.length === 0 ? null : rest } };
  await toolbox.patch(builtin.ServiceCIDR, cidr, { kind: "merge", value });
  return undefined;
}

/** True while an address of a Service is in this range and in no other one. */
function isNeeded(cidr: ServiceCidr, toolbox: Toolbox): boolean {
  const others = toolbox.list(builtin.ServiceCIDR).filter(({ metadata }) => metadata.name !== cidr.metadata.name);
  const hasParent = rangesOf(cidr).every((range) =>
    others.some((other) =>
      rangesOf(other).some((parent) => parent.bits <= range.bits && isInRange(range.address, parent))
    )
  );
  if (hasParent) return false;
  return toolbox.list(builtin.IPAddress).some(({ metadata: { name = "", labels } }) =>
    labels?.[managedBy] === allocator && contains(cidr.spec?.cidrs, name) &&
    !others.some((other) => contains(other.spec?.cidrs, name))
  );
}

function rangesOf({ spec }: ServiceCidr): readonly Range[] {
  return (spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? []);
}

/** True for an address that one of the ranges gives: not those of the network and of its broadcast. */
function contains(cidrs: readonly string[] | undefined, text: string): boolean {
  const address = parseIp(text);
  if (address === undefined) return false;
  return (cidrs ?? []).some((cidr) => {
    const range = parseCidr(cidr);
    if (range === undefined || !isInRange(address, range)) return false;
    const first = networkOf(range);
    if (address.value === first) return false;
    return address.family === "IPv6" || address.value !== first + 2n ** BigInt(32 - range.bits) - 1n;
  });
}

async function setReady(
  cidr: ServiceCidr,
  wanted: { readonly status: "True" | "False"; readonly reason: string; readonly message: string },
  toolbox: Toolbox,
): Promise<void> {
  const conditions = cidr.status?.conditions ?? [];
  const known = conditions.find(({ type }) => type === "Ready");
  const isSame = known?.status === wanted.status && known.reason === wanted.reason && known.message === wanted.message;
  if (isSame) return;
  const condition = { type: "Ready", ...wanted, lastTransitionTime: timeText(toolbox.clock.now()) };
  const rest = conditions.filter(({ type }) => type !== "Ready");
  await toolbox.patchStatus(builtin.ServiceCIDR, cidr, { conditions: [...rest, condition] });
}
