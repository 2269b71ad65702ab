/** The addresses of a load balancer in `status.loadBalancer`, which Services and Ingresses share. */
import type { JsonObject } from "../../model/mod.ts";
import { FieldPath, ipErrors, ipWarnings, parseIp, type Problems, subdomainErrors } from "../rules/mod.ts";
import { objectAt, objectsAt, textAt } from "../types/mod.ts";

/** Checks the addresses of a load balancer in a status. */
export function checkBalancer(
  ingresses: readonly JsonObject[],
  before: readonly JsonObject[],
  path: FieldPath,
  problems: Problems,
): void {
  const known = before.map((each) => textAt(each, "ip")).filter((ip) => ip !== "");
  ingresses.forEach((ingress, index) => {
    const [ip, hostname] = [textAt(ingress, "ip"), textAt(ingress, "hostname")];
    const place = path.index(index);
    if (ip !== "") problems.invalidAll(place.child("ip"), ip, ipErrors(ip, known));
    if (hostname === "") return;
    problems.invalidAll(place.child("hostname"), hostname, subdomainErrors(hostname));
    if (parseIp(hostname) !== undefined) problems.invalid(place.child("hostname"), hostname, noIp);
  });
}

/** Returns the warnings about the addresses of a load balancer. */
export function balancerWarnings(object: JsonObject): readonly string[] {
  const path = FieldPath.of("status", "loadBalancer", "ingress");
  return objectsAt(objectAt(objectAt(object, "status"), "loadBalancer"), "ingress").flatMap((ingress, index) =>
    textAt(ingress, "ip") === "" ? [] : ipWarnings(path.index(index), textAt(ingress, "ip"))
  );
}

export const noIp = "must be a DNS name, not an IP address";

/** The addresses of the load balancer of a Service or an Ingress. */
export function loadBalancerAddresses(object: JsonObject): readonly string[] {
  const ingress = objectsAt(objectAt(objectAt(object, "status"), "loadBalancer"), "ingress");
  const addresses = ingress.map((item) => textAt(item, "ip") === "" ? textAt(item, "hostname") : textAt(item, "ip"));
  return [...new Set(addresses.filter((address) => address !== ""))].sort();
}
