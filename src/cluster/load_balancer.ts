/**
 * The load balancer controller: gives each Service of type LoadBalancer an address, as the controller of a cloud provider
 * does. The addresses belong to the ranges for documentation (RFC 5737 and RFC 3849): nothing listens there.
 *
 * Guarantees: no two Services have the same address. Services with a loadBalancerClass, or with an address of another
 * controller, are left alone.
 */
import { builtin, type Infer, keyOf } from "../api/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  requeueAfter,
  type Result,
  type Toolbox,
} from "../controller/mod.ts";

type Service = Infer<typeof builtin.Service>;

const finalizer = "service.kubernetes.io/load-balancer-cleanup";
const ranges = ["203.0.113.", "198.51.100.", "192.0.2."] as const;
/** A full set of addresses is tried again after this time, as the service controller of a cloud does at most. */
const retryMs = 60_000;

/** Keeps the addresses of Services. One is handled at a time, so that no address is given twice. */
export const loadBalancerController: ControllerDefinition = controller("service-lb-controller", {
  queueName: "service",
})
  .for(builtin.Service)
  .reconcileKey(async ({ key }, toolbox) => {
    const service = toolbox.find(builtin.Service, key);
    if (service === undefined) return done;
    const isOurs = service.metadata.finalizers?.includes(finalizer) === true;
    const { type, loadBalancerClass } = service.spec;
    if (type !== "LoadBalancer" || service.metadata.deletionTimestamp !== undefined) {
      if (isOurs) await release(service, toolbox);
      return done;
    }
    const hasAddress = (service.status?.loadBalancer?.ingress ?? []).length > 0;
    return loadBalancerClass !== undefined || hasAddress ? done : await provide(service, toolbox);
  });

async function provide(service: Service, toolbox: Toolbox): Promise<Result> {
  const ingress = addressesFor(service, toolbox.list(builtin.Service));
  const normal = (reason: string, note: string) => toolbox.event({ regarding: service, type: "Normal", reason, note });
  if (ingress === undefined) {
    const note = "Error syncing load balancer: failed to ensure load balancer: all addresses are in use";
    toolbox.event({ regarding: service, type: "Warning", reason: "SyncLoadBalancerFailed", note });
    return requeueAfter(retryMs);
  }
  normal("EnsuringLoadBalancer", "Ensuring load balancer");
  const { finalizers = [], resourceVersion } = service.metadata;
  // First the finalizer: a Service with an address is not deleted before its address is free.
  const owned = finalizers.includes(finalizer) ? service : await toolbox.patch(builtin.Service, service, {
    kind: "merge",
    value: { metadata: { finalizers: [...finalizers, finalizer], resourceVersion } },
  });
  await toolbox.patchStatus(builtin.Service, owned, { loadBalancer: { ingress } });
  normal("EnsuredLoadBalancer", "Ensured load balancer");
  return done;
}

async function release(service: Service, toolbox: Toolbox): Promise<void> {
  const normal = (reason: string, note: string) => toolbox.event({ regarding: service, type: "Normal", reason, note });
  normal("DeletingLoadBalancer", "Deleting load balancer");
  const hasAddress = (service.status?.loadBalancer?.ingress ?? []).length > 0;
  const free = hasAddress
    ? await toolbox.patchStatus(builtin.Service, service, { loadBalancer: { ingress: null } })
    : service;
  const { finalizers = [], resourceVersion } = free.metadata;
  const rest = finalizers.filter((one) => one !== finalizer);
  const value = { metadata: { finalizers: rest.length === 0 ? null : rest, resourceVersion } };
  await toolbox.patch(builtin.Service, free, { kind: "merge", value });
  normal("DeletedLoadBalancer", "Deleted load balancer");
}

/** An address of each family of the Service. @returns undefined when none is free */
function addressesFor(service: Service, services: readonly Service[]): readonly { readonly ip: string }[] | undefined {
  const used = new Set(
    services.filter((other) => keyOf(other) !== keyOf(service))
      .flatMap(({ status }) => (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip)),
  );
  const { loadBalancerIP, ipFamilies = ["IPv4"] } = service.spec;
  if (loadBalancerIP !== undefined && loadBalancerIP !== "") {
    return used.has(loadBalancerIP) ? undefined : [{ ip: loadBalancerIP }];
  }
  const found = ipFamilies.map((family) => candidates(family).find((ip) => !used.has(ip)));
  return found.includes(undefined) ? undefined : found.map((ip) => ({ ip: `${ip}` }));
}

function candidates(family: string): readonly string[] {
  const hosts = Array.from({ length: 254 }, (_, index) => index + 1);
  return family === "IPv6"
    ? hosts.map((host) => `2001:db8::${host.toString(16)}`)
    : ranges.flatMap((range) => hosts.map((host) => `${range}${host}`));
}
