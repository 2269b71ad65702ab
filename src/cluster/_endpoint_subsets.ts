/**
 * The subsets of Endpoints, in the one layout that Kubernetes gives them: each address with all ports that it serves. Two
 * subsets with the same content give the same value here, but ports and subsets are sorted by their text and not by a hash,
 * as kube-controller-manager does: a reader must not rely on either order.
 */
import type { builtin, Infer } from "../api/mod.ts";
import { canonicalText } from "./_values.ts";

export type Subset = NonNullable<Infer<typeof builtin.Endpoints>["subsets"]>[number];
export type Address = NonNullable<Subset["addresses"]>[number];
export type SubsetPort = NonNullable<Subset["ports"]>[number];

/** The most addresses that Endpoints, and one mirrored EndpointSlice, have. */
export const maxAddresses = 1_000;

/** A port, or undefined for addresses without ports, and who serves it. */
interface PortServers {
  readonly port: SubsetPort | undefined;
  /** By address and UID; false once the address is not ready in one of the subsets. */
  readonly isReady: Map<string, boolean>;
}

/** The same addresses and ports, with all that have the same addresses in one subset. */
export function repackSubsets(subsets: readonly Subset[]): readonly Subset[] {
  const addresses = new Map<string, Address>();
  const servers = new Map<string, PortServers>();
  for (const { addresses: ready = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const text = port === undefined ? "" : canonicalText(port);
      const entry = servers.get(text) ?? { port, isReady: new Map<string, boolean>() };
      servers.set(text, entry);
      const add = (address: Address, isReady: boolean) => {
        const key = `${address.ip} ${address.targetRef?.uid ?? ""}`;
        if (!addresses.has(key)) addresses.set(key, address);
        entry.isReady.set(key, isReady && entry.isReady.get(key) !== false);
      };
      for (const address of ready) add(address, true);
      for (const address of notReadyAddresses) add(address, false);
    }
  }
  const groups = new Map<string, { readonly isReady: readonly (readonly [string, boolean])[]; ports: SubsetPort[] }>();
  for (const { port, isReady } of servers.values()) {
    const sorted = [...isReady].sort(([left], [right]) => left < right ? -1 : 1);
    const group = groups.get(JSON.stringify(sorted)) ?? { isReady: sorted, ports: [] };
    groups.set(JSON.stringify(sorted), group);
    if (port !== undefined) group.ports.push(port);
  }
  return [...groups.values()].map(({ isReady, ports }) => {
    const those = (wanted: boolean) =>
      isReady.flatMap(([key, ready]) => ready === wanted ? [addresses.get(key)].filter(isDefined) : []);
    const [ready, notReady] = [those(true), those(false)];
    return {
      ...(ready.length === 0 ? {} : { addresses: ready }),
      ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
      ...(ports.length === 0 ? {} : { ports: sortedByText(ports) }),
    };
  }).sort(byText);
}

/** At most {@link maxAddresses} addresses: ready ones first, and of each subset its share. @returns undefined if all fit */
export function truncatedSubsets(subsets: readonly Subset[]): readonly Subset[] | undefined {
  const total = (field: "addresses" | "notReadyAddresses") =>
    subsets.reduce((sum, subset) => sum + (subset[field]?.length ?? 0), 0);
  const [ready, notReady] = [total("addresses"), total("notReadyAddresses")];
  if (ready + notReady <= maxAddresses) return undefined;
  const cutsReady = ready > maxAddresses;
  const room = cutsReady ? maxAddresses : maxAddresses - ready;
  let left = room;
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports }) => {
    const cut = cutsReady ? addresses : notReadyAddresses;
    const kept = cut.slice(0, Math.min(left, Math.ceil(cut.length / (cutsReady ? ready : notReady) * room)));
    left -= kept.length;
    const [one, other] = cutsReady ? [kept, []] : [addresses, kept];
    return {
      ...(one.length === 0 ? {} : { addresses: one }),
      ...(other.length === 0 ? {} : { notReadyAddresses: other }),
      ...(ports === undefined ? {} : { ports }),
    };
  });
}

/** The text of subsets without the versions of the Pods, which change with every annotation. */
export function subsetsText(subsets: readonly Subset[]): string {
  const withoutVersion = (address: Address) => ({
    ...address,
    ...(address.targetRef === undefined ? {} : { targetRef: { ...address.targetRef, resourceVersion: undefined } }),
  });
  return canonicalText(
    repackSubsets(subsets).map(({ addresses, notReadyAddresses, ports }) => ({
      addresses: addresses?.map(withoutVersion),
      notReadyAddresses: notReadyAddresses?.map(withoutVersion),
      ports,
    })),
  );
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}

function byText(left: unknown, right: unknown): number {
  const [one, other] = [canonicalText(left), canonicalText(right)];
  return one === other ? 0 : one < other ? -1 : 1;
}

function sortedByText<T>(values: readonly T[]): readonly T[] {
  return values.toSorted(byText);
}
