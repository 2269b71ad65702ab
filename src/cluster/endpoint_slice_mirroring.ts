/**
 * The EndpointSlice mirroring controller: for Endpoints that a user has made for a Service without a selector, EndpointSlices
 * with the same addresses, so that who reads only EndpointSlices finds them.
 *
 * Guarantees: one EndpointSlice for each set of ports and family of addresses, with at most 1,000 addresses of each subset.
 * Endpoints with the label endpointslice.kubernetes.io/skip-mirror, or of a leader election, are not mirrored.
 */
import { builtin, controllerReference, type Infer, keyOf, objectKey } from "../api/mod.ts";
import { isNotFound } from "../client/mod.ts";
import { controller, type ControllerDefinition, done, type Toolbox } from "../controller/mod.ts";
import { type Address, maxAddresses, repackSubsets, type SubsetPort } from "./_endpoint_subsets.ts";
import { isNamespaceTerminating } from "./_pods.ts";
import { canonicalText } from "./_values.ts";

type Endpoints = Infer<typeof builtin.Endpoints>;
type EndpointSlice = Infer<typeof builtin.EndpointSlice>;
type Labels = Readonly<Record<string, string>>;

/** What decides whether an EndpointSlice is written. */
interface SliceContent {
  readonly addressType: "IPv4" | "IPv6";
  readonly endpoints: NonNullable<EndpointSlice["endpoints"]>;
  readonly ports: NonNullable<EndpointSlice["ports"]>;
}

const managedBy = "endpointslice.kubernetes.io/managed-by";
const manager = "endpointslicemirroring-controller.k8s.io";
const serviceName = "kubernetes.io/service-name";
const skipMirror = "endpointslice.kubernetes.io/skip-mirror";
const leaderElection = "control-plane.alpha.kubernetes.io/leader";
/** They are about the Endpoints only. */
const notMirrored: ReadonlySet<string> = new Set([
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration",
]);

/** Mirrors Endpoints. */
export const endpointSliceMirroringController: ControllerDefinition = controller(
  "endpointslicemirroring-controller",
  { maxConcurrentReconciles: 5, queueName: "endpoint_slice_mirroring" },
)
  .for(builtin.Endpoints)
  .watches(builtin.Service, { to: (service) => [keyOf(service)] })
  .watches(builtin.EndpointSlice, {
    when: ({ object }) => object.metadata.labels?.[managedBy] === manager,
    to: ({ metadata: { namespace, labels } }) => {
      const name = labels?.[serviceName];
      return name === undefined || name === "" ? [] : [objectKey({ namespace, name })];
    },
  })
  .reconcileKey(async ({ key }, toolbox) => {
    const endpoints = toolbox.find(builtin.Endpoints, key);
    const service = toolbox.find(builtin.Service, key);
    const [namespace = "", name = ""] = key.split("/");
    const labelSelector = { matchLabels: { [serviceName]: name, [managedBy]: manager } };
    const slices = toolbox.list(builtin.EndpointSlice, { namespace, labelSelector })
      .toSorted((left, right) => `${left.metadata.name}`.localeCompare(`${right.metadata.name}`));
    const isMirrored = endpoints !== undefined && service !== undefined && service.spec.selector === undefined &&
      endpoints.metadata.labels?.[skipMirror] !== "true" &&
      endpoints.metadata.annotations?.[leaderElection] === undefined;
    if (isMirrored) await mirror(endpoints, slices, toolbox);
    else for (const slice of slices) await remove(slice, toolbox);
    return done;
  });

async function mirror(endpoints: Endpoints, slices: readonly EndpointSlice[], toolbox: Toolbox): Promise<void> {
  const desired = contentsOf(endpoints, toolbox);
  const unused = new Set(slices);
  const take = (isFitting: (slice: EndpointSlice) => boolean) => {
    const slice = [...unused].find(isFitting);
    if (slice !== undefined) unused.delete(slice);
    return slice;
  };
  const kept = desired.map((content) => take((slice) => groupOf(slice) === groupOf(content)));
  for (const [index, content] of desired.entries()) {
    // An EndpointSlice of other ports is changed rather than deleted; the type of its addresses cannot change.
    const slice = kept[index] ?? take(({ addressType }) => addressType === content.addressType);
    if (slice === undefined) await createSlice(endpoints, content, toolbox);
    else if (!isCurrent(slice, endpoints, content)) await updateSlice(slice, endpoints, content, toolbox);
  }
  for (const slice of unused) await remove(slice, toolbox);
}

/** The EndpointSlices that Endpoints should have. */
function contentsOf(endpoints: Endpoints, toolbox: Toolbox): readonly SliceContent[] {
  let skipped = 0;
  const contents = repackSubsets(endpoints.subsets ?? []).flatMap(
    ({ addresses = [], notReadyAddresses = [], ports }) => {
      const all = [
        ...addresses.map((address) => endpointOf(address, true)),
        ...notReadyAddresses.map((address) => endpointOf(address, false)),
      ];
      skipped += Math.max(0, all.length - maxAddresses);
      const mirrored = all.slice(0, maxAddresses);
      return (["IPv4", "IPv6"] as const).flatMap((addressType) => {
        const those = mirrored.filter(({ addresses: [ip = ""] }) => ip.includes(":") === (addressType === "IPv6"));
        return those.length === 0 ? [] : [{ addressType, endpoints: those, ports: (ports ?? []).map(portOf) }];
      });
    },
  );
  if (skipped > 0) {
    const note =
      `A max of ${maxAddresses} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
    toolbox.event({ regarding: endpoints, type: "Warning", reason: "TooManyAddressesToMirror", note });
  }
  return contents;
}

function endpointOf({ ip, hostname, nodeName, targetRef }: Address, ready: boolean): SliceContent["endpoints"][number] {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === undefined || hostname === "" ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  };
}

function portOf({ name = "", port, protocol = "TCP", appProtocol }: SubsetPort): SliceContent["ports"][number] {
  return { name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) };
}

/** EndpointSlices with the same text are about the same ports and family. */
function groupOf({ addressType, ports }: Pick<EndpointSlice, "addressType" | "ports">): string {
  return canonicalText([addressType, (ports ?? []).map((port) => canonicalText(port)).toSorted()]);
}

function isCurrent(slice: EndpointSlice, endpoints: Endpoints, content: SliceContent): boolean {
  const sorted = (all: EndpointSlice["endpoints"]) => (all ?? []).map((one) => canonicalText(one)).toSorted();
  const { labels, annotations = {}, ownerReferences = [] } = slice.metadata;
  const desired = metadataOf(endpoints);
  const isOwned = ownerReferences.every(({ kind, name, uid }) =>
    kind !== "Endpoints" || name !== endpoints.metadata.name || uid === endpoints.metadata.uid
  );
  return isOwned && groupOf(slice) === groupOf(content) &&
    canonicalText([labels, annotations]) === canonicalText([desired.labels, desired.annotations]) &&
    canonicalText(sorted(slice.endpoints)) === canonicalText(sorted(content.endpoints));
}

function metadataOf(endpoints: Endpoints) {
  const { name = "", namespace, labels, annotations = {} } = endpoints.metadata;
  const kept = Object.fromEntries(Object.entries(annotations).filter(([key]) => !notMirrored.has(key)));
  const mirrored: Labels = { ...labels, [serviceName]: name, [managedBy]: manager };
  const ownerReferences = [controllerReference(endpoints, builtin.Endpoints)];
  return { namespace, labels: mirrored, annotations: kept, ownerReferences };
}

async function createSlice(endpoints: Endpoints, content: SliceContent, { client, signal }: Toolbox): Promise<void> {
  if (endpoints.metadata.deletionTimestamp !== undefined) return;
  const metadata = { ...metadataOf(endpoints), generateName: `${endpoints.metadata.name}-` };
  await client.create(builtin.EndpointSlice, { metadata, ...content }, { signal }).catch((error: unknown) => {
    if (!isNamespaceTerminating(error)) throw error;
  });
}

async function updateSlice(
  slice: EndpointSlice,
  endpoints: Endpoints,
  content: SliceContent,
  { client, signal }: Toolbox,
): Promise<void> {
  const metadata = { ...slice.metadata, ...metadataOf(endpoints) };
  await client.update(builtin.EndpointSlice, { ...slice, ...content, metadata }, { signal });
}

async function remove(slice: EndpointSlice, { client, signal }: Toolbox): Promise<void> {
  await client.delete(builtin.EndpointSlice, keyOf(slice), { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
