/**
 * The EndpointSlice controller: one EndpointSlice for each Service with a selector. It reconciles a whole namespace, because a
 * Pod does not say which Services select it. endpoints.ts writes the older Endpoints.
 */
import {
  builtin,
  controllerReference,
  type Infer,
  isControlledBy,
  keyOf,
  type KubeObject,
  type Resource,
} from "../api/mod.ts";
import { controller, done, type ReconcileContext } from "../controller/mod.ts";
import { isFinished, isReady, type Pod } from "./_pods.ts";
import { canonicalText } from "./_values.ts";

type Service = Infer<typeof builtin.Service>;
type ServicePort = NonNullable<Service["spec"]["ports"]>[number];

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean };
  readonly nodeName?: string;
  readonly targetRef: {
    readonly kind: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
}

interface EndpointPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
}

interface EndpointSlice extends KubeObject {
  readonly addressType: string;
  readonly endpoints?: readonly Endpoint[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

const EndpointSlice: Resource<EndpointSlice, "EndpointSlice"> = Object.freeze({
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  scope: "Namespaced",
});

type Context = ReconcileContext<
  typeof builtin.Namespace,
  typeof builtin.Namespace | typeof builtin.Service | typeof builtin.Pod | typeof EndpointSlice
>;

const managedBy = "endpointslice.kubernetes.io/managed-by";
const manager = "endpointslice-controller.k8s.io";
const serviceName = "kubernetes.io/service-name";

const namespaceOf = (object: KubeObject) => object.metadata.namespace === undefined ? [] : [object.metadata.namespace];

/** Keeps the EndpointSlices of Services. */
export const endpointSliceController = controller("endpointslice-controller", { maxConcurrentReconciles: 2 })
  .for(builtin.Namespace)
  .watches(builtin.Service, { to: namespaceOf })
  .watches(builtin.Pod, { to: namespaceOf })
  .watches(EndpointSlice, { to: namespaceOf })
  .reconcile(async (ctx) => {
    const namespace = ctx.object.metadata.name;
    for (const service of ctx.list(builtin.Service, { namespace })) await reconcileService(ctx, service);
    return done;
  });

async function reconcileService(ctx: Context, service: Service): Promise<void> {
  const { selector, type } = service.spec;
  const isTerminating = service.metadata.deletionTimestamp !== undefined;
  if (isTerminating || type === "ExternalName" || selector === undefined || Object.keys(selector).length === 0) return;
  const { namespace } = service.metadata;
  const pods = ctx.list(builtin.Pod, { namespace, labelSelector: { matchLabels: selector } });
  const desired = contentOf(service, pods.filter((pod) => pod.status?.podIP !== undefined && !isFinished(pod)));
  const current = await findSlice(ctx, service);
  if (current === undefined) await createSlice(ctx, service, desired);
  else if (
    canonicalText([current.endpoints ?? [], current.ports ?? []]) !==
      canonicalText([desired.endpoints, desired.ports])
  ) {
    await ctx.patch(EndpointSlice, current, { kind: "merge", value: desired });
  }
}

async function findSlice(ctx: Context, service: Service): Promise<EndpointSlice | undefined> {
  const { namespace, name = "" } = service.metadata;
  const labelSelector = { matchLabels: { [serviceName]: name, [managedBy]: manager } };
  const cached = ctx.list(EndpointSlice, { namespace, labelSelector }).find((slice) => isControlledBy(slice, service));
  if (cached !== undefined) return cached;
  const { items } = await ctx.client.list(EndpointSlice, { namespace, labelSelector, signal: ctx.signal });
  return items.find((slice) => isControlledBy(slice, service));
}

async function createSlice(
  ctx: Context,
  service: Service,
  content: Pick<EndpointSlice, "endpoints" | "ports">,
): Promise<void> {
  const { namespace, name = "", labels } = service.metadata;
  ctx.log.debug("creating EndpointSlice", { service: keyOf(service) });
  const metadata = {
    generateName: `${name}-`,
    namespace,
    labels: { ...labels, [serviceName]: name, [managedBy]: manager },
    ownerReferences: [controllerReference(service, builtin.Service)],
  };
  await ctx.client.create(EndpointSlice, { metadata, addressType: "IPv4", ...content }, { signal: ctx.signal });
}

function contentOf(service: Service, pods: readonly Pod[]): Pick<EndpointSlice, "endpoints" | "ports"> {
  const endpoints = pods
    .toSorted((left, right) => `${left.metadata.name}`.localeCompare(`${right.metadata.name}`))
    .map((pod) => endpointOf(service, pod));
  const ports = (service.spec.ports ?? []).flatMap((port) => portOf(port, pods));
  return { endpoints, ports };
}

function endpointOf(service: Service, pod: Pod): Endpoint {
  const { namespace, name, uid } = pod.metadata;
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const serving = isReady(pod);
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: {
      ready: service.spec.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    ...(pod.spec.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
}

/** The target port: a number, or the name of a port of one of the Pods' containers. */
function portOf(
  { name = "", port, targetPort = port, protocol = "TCP" }: ServicePort,
  pods: readonly Pod[],
): readonly EndpointPort[] {
  if (typeof targetPort === "number") return [{ name, port: targetPort, protocol }];
  const named = pods
    .flatMap((pod) => pod.spec.containers.flatMap((container) => container.ports ?? []))
    .find((one) => one.name === targetPort && (one.protocol ?? "TCP") === protocol);
  return named === undefined ? [] : [{ name, port: named.containerPort, protocol }];
}
