/**
 * The Endpoints controller: for each Service with a selector the Endpoints of its name, as kube-controller-manager writes them.
 * The older form of EndpointSlices; what reads it still finds it.
 *
 * Guarantees: at most 1,000 addresses. Endpoints that a user has made for a Service without a selector are left alone, and
 * deleted with the Service.
 */
import { builtin, type Infer, keyOf, matchesLabels } from "../api/mod.ts";
import { isNotFound } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, type Toolbox } from "../controller/mod.ts";
import { repackSubsets, type Subset, type SubsetPort, subsetsText, truncatedSubsets } from "./_endpoint_subsets.ts";
import { isFinished, isNamespaceTerminating, isReady, type Pod } from "./_pods.ts";
import { canonicalText } from "./_values.ts";

type Service = Infer<typeof builtin.Service>;
type Endpoints = Infer<typeof builtin.Endpoints>;
type ServicePort = NonNullable<Service["spec"]["ports"]>[number];

const managedBy = "endpoints.kubernetes.io/managed-by";
const headless = "service.kubernetes.io/headless";
const triggerTime = "endpoints.kubernetes.io/last-change-trigger-time";
const overCapacity = "endpoints.kubernetes.io/over-capacity";
const name = "endpoint-controller";

/** Keeps the Endpoints of Services. */
export function endpointsController(): ControllerDefinition {
  const triggers = new TriggerTimes();
  return controller(name, { maxConcurrentReconciles: 5, queueName: "endpoint" })
    .for(builtin.Service)
    .watches(builtin.Pod, {
      to: ({ metadata: { namespace, labels } }, caches) =>
        caches.list(builtin.Service, { namespace })
          .filter(({ spec: { selector } }) =>
            selector !== undefined && matchesLabels({ matchLabels: selector }, labels)
          )
          .map(keyOf),
    })
    .watches(builtin.Endpoints, { when: ({ kind }) => kind === "deleted", to: (endpoints) => [keyOf(endpoints)] })
    .reconcileKey(async ({ key }, toolbox) => {
      const service = toolbox.find(builtin.Service, key);
      const current = toolbox.find(builtin.Endpoints, key);
      if (service === undefined) {
        triggers.delete(key);
        if (current !== undefined) await remove(current, toolbox);
      } else if (service.spec.type !== "ExternalName" && service.spec.selector !== undefined) {
        const { namespace } = service.metadata;
        const pods = toolbox.list(builtin.Pod, { namespace, labelSelector: { matchLabels: service.spec.selector } });
        // Asked for before the comparison, because it remembers what it has seen.
        await write(service, pods, { current, changedAt: triggers.next(service, pods) }, toolbox);
      }
      return done;
    });
}

async function remove(endpoints: Endpoints, { client, signal }: Toolbox): Promise<void> {
  await client.delete(builtin.Endpoints, keyOf(endpoints), { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

async function write(
  service: Service,
  pods: readonly Pod[],
  { current, changedAt }: { readonly current: Endpoints | undefined; readonly changedAt: string | undefined },
  { client, signal }: Toolbox,
): Promise<void> {
  const all = repackSubsets(pods.flatMap((pod) => subsetsOf(service, pod)));
  const truncated = truncatedSubsets(all);
  const subsets = truncated ?? all;
  const labels = {
    ...service.metadata.labels,
    ...(service.spec.clusterIP === "None" ? { [headless]: "" } : {}),
    [managedBy]: name,
  };
  if (current === undefined) {
    const annotations = annotationsOf({}, changedAt, truncated !== undefined);
    const metadata = { name: service.metadata.name, namespace: service.metadata.namespace, labels, annotations };
    await client.create(builtin.Endpoints, { metadata, subsets }, { signal }).catch((error: unknown) => {
      if (!isNamespaceTerminating(error)) throw error;
    });
    return;
  }
  const { annotations = {} } = current.metadata;
  const isMarked = annotations[overCapacity] !== undefined;
  if (
    isMarked === (truncated !== undefined) && areLabelsCurrent(current.metadata.labels, labels) &&
    subsetsText(current.subsets ?? []) === subsetsText(subsets)
  ) return;
  const metadata = {
    ...current.metadata,
    labels,
    annotations: annotationsOf(annotations, changedAt, truncated !== undefined),
  };
  await client.update(builtin.Endpoints, { ...current, metadata, subsets }, { signal });
}

function annotationsOf(
  current: Readonly<Record<string, string>>,
  changedAt: string | undefined,
  isTruncated: boolean,
): Readonly<Record<string, string>> {
  const { [triggerTime]: _time, [overCapacity]: _capacity, ...others } = current;
  return {
    ...others,
    ...(changedAt === undefined ? {} : { [triggerTime]: changedAt }),
    ...(isTruncated ? { [overCapacity]: "truncated" } : {}),
  };
}

/** True for the labels of the Service; the label of headless Services is written with other changes only. */
function areLabelsCurrent(
  current: Readonly<Record<string, string>> = {},
  desired: Readonly<Record<string, string>>,
): boolean {
  const compared = ({ [headless]: _headless, ...labels }: Readonly<Record<string, string>>) => canonicalText(labels);
  return compared(current) === compared(desired);
}

/** One subset for each port of the Service that the Pod serves; none for a Pod that is no endpoint. */
function subsetsOf({ metadata, spec }: Service, pod: Pod): readonly Subset[] {
  const isPublished = spec.publishNotReadyAddresses === true;
  if (isFinished(pod) || (pod.metadata.deletionTimestamp !== undefined && !isPublished)) return [];
  const isIPv6 = spec.ipFamilies?.[0] === "IPv6";
  const ip = pod.status?.podIPs?.find((one) => one.ip.includes(":") === isIPv6)?.ip;
  if (ip === undefined) return [];
  const { name, namespace, uid } = pod.metadata;
  const { hostname, subdomain, nodeName } = pod.spec;
  const address = {
    ip,
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(hostname !== undefined && hostname !== "" && subdomain === metadata.name ? { hostname } : {}),
    targetRef: { kind: "Pod", namespace, name, uid },
  };
  const addresses = isPublished || isReady(pod) ? { addresses: [address] } : { notReadyAddresses: [address] };
  const { ports = [], clusterIP } = spec;
  if (ports.length === 0) return clusterIP === "None" ? [addresses] : [];
  return ports.flatMap((port) => {
    const number = targetPortOf(port, pod);
    return number === undefined ? [] : [{ ...addresses, ports: [endpointPortOf(port, number)] }];
  });
}

function endpointPortOf({ name, protocol = "TCP", appProtocol }: ServicePort, port: number): SubsetPort {
  return {
    ...(name === undefined || name === "" ? {} : { name }),
    port,
    protocol,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  };
}

/** The number of the port of a Service on one Pod; undefined when no container has a port of that name. */
function targetPortOf({ port, targetPort = port, protocol = "TCP" }: ServicePort, { spec }: Pod): number | undefined {
  if (typeof targetPort === "number") return targetPort;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((one) => one.name === targetPort && (one.protocol ?? "TCP") === protocol)?.containerPort;
}

/** When the change happened that a write of Endpoints follows: of the Service, or of the readiness of Pods. */
class TriggerTimes {
  /** By Service: the times of its Pods when they were last seen. */
  readonly #seen = new Map<string, { readonly created: string; readonly pods: ReadonlyMap<string, string> }>();

  /** The earliest change since the last call for this Service. @returns undefined when nothing that has a time changed */
  next(service: Service, pods: readonly Pod[]): string | undefined {
    const seen = this.#seen.get(keyOf(service));
    const created = `${service.metadata.creationTimestamp}`;
    const times = new Map<string, string>();
    const changed: string[] = [];
    for (const { metadata, status } of pods) {
      const time = status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
      if (time === undefined) continue;
      const pod = metadata.name ?? "";
      times.set(pod, time);
      if (time > (seen?.pods.get(pod) ?? "")) changed.push(time);
    }
    this.#seen.set(keyOf(service), { created, pods: times });
    if (seen === undefined) return created;
    if (created > seen.created) changed.push(created);
    return changed.sort()[0];
  }

  delete(service: string): void {
    this.#seen.delete(service);
  }
}
