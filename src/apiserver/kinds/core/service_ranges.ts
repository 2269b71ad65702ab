/**
 * The addresses of Services: those of all ServiceCIDRs that are ready. Addresses in use are those of the stored Services, and
 * IPAddresses that others created. The cluster gives IPv4 addresses only.
 */
import type { JsonObject, ObjectReader } from "../../model/mod.ts";
import { formatIp, networkOf, parseCidr, parseIp } from "../rules/mod.ts";
import { metadataOf, nameOf, objectAt, objectsAt, textAt, textsAt } from "../types/mod.ts";

/** The range of cluster IPs from the start of a cluster. */
export const serviceCidr = "10.96.0.0/16";
/** The first of them belongs to the API server. */
export const firstServiceIp = "10.96.0.1";

/** The ServiceCIDR of `serviceCidr`, whose addresses are given first. */
const defaultName = "kubernetes";

/** The lower addresses of a range, which are given last: users choose their fixed addresses there. */
const [minReserved, maxReserved, reservedPart] = [16, 256, 16];

/** The addresses of one range. */
interface ServiceRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Chooses a free number from 0 to count - 1. @returns undefined when none is free */
export type ChooseOffset = (count: number, isFree: (offset: number) => boolean) => number | undefined;

/** Why a Service cannot have an address; undefined when it can. An invalid address is left to the validation. */
export function addressError(
  requested: string,
  inUse: ReadonlySet<string>,
  objects: ObjectReader,
): string | undefined {
  const address = parseIp(requested);
  if (address === undefined || address.family !== "IPv4") return undefined;
  const isOffered = rangesOf(objects).some(({ first, last }) => address.value >= first && address.value <= last);
  if (!isOffered) return "the provided network does not match the current range";
  const isUsed = inUse.has(requested) || objects.get("ipaddresses.networking.k8s.io", "", requested) !== undefined;
  return isUsed ? "provided IP is already allocated" : undefined;
}

/** A free address of the first range that has one; undefined when all are full. */
export function freeAddress(
  inUse: ReadonlySet<string>,
  objects: ObjectReader,
  choose: ChooseOffset,
): string | undefined {
  const named = new Set([...objects.list("ipaddresses.networking.k8s.io")].map(nameOf));
  const at = (value: bigint) => formatIp({ family: "IPv4", value });
  for (const { first, last } of rangesOf(objects)) {
    const size = Number(last - first) + 1;
    const reserved = reservedOf(size + 2);
    for (const [from, count] of [[reserved, size - reserved], [0, reserved]] as const) {
      const start = first + BigInt(from);
      const isFree = (offset: number) => {
        const address = at(start + BigInt(offset));
        return !inUse.has(address) && !named.has(address);
      };
      const offset = count > 0 ? choose(count, isFree) : undefined;
      if (offset !== undefined) return at(start + BigInt(offset));
    }
  }
  return undefined;
}

/** The number of addresses that are given last. @param size of the range, with the addresses that are not given */
function reservedOf(size: number): number {
  if (size <= minReserved) return 0;
  return Math.min(maxReserved, Math.max(minReserved, Math.floor(size / reservedPart)));
}

/** The ranges that Services get addresses from. A server without the default ServiceCIDR has its range all the same. */
function rangesOf(objects: ObjectReader): readonly ServiceRange[] {
  const all = [...objects.list("servicecidrs.networking.k8s.io")];
  const [own, others] = [
    all.filter((each) => nameOf(each) === defaultName),
    all.filter((each) => nameOf(each) !== defaultName),
  ];
  const cidrs = [
    ...(own.length === 0 ? [serviceCidr] : []),
    ...[...own, ...others].filter(isReady).flatMap((object) => textsAt(objectAt(object, "spec"), "cidrs")),
  ];
  return [...new Set(cidrs)].flatMap((cidr) => {
    const range = parseCidr(cidr);
    if (range === undefined || range.address.family !== "IPv4") return [];
    // Neither the address of the network nor that of the broadcast.
    const first = networkOf(range) + 1n;
    return [{ first, last: first + 2n ** BigInt(32 - range.bits) - 3n }];
  });
}

function isReady(object: JsonObject): boolean {
  if (textAt(metadataOf(object), "deletionTimestamp") !== "") return false;
  return objectsAt(objectAt(object, "status"), "conditions").some((condition) =>
    textAt(condition, "type") === "Ready" && textAt(condition, "status") === "True"
  );
}
