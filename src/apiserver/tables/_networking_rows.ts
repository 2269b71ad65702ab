/** The rows of networking and discovery. */
import { findObject, nameOf, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { age, firstOf, joined, name, row, type Rows, selector, text } from "./_cells.ts";
import { loadBalancerAddresses } from "./_service_row.ts";
import { annotationOf, textsIn } from "./_values.ts";

export const networkingRows: Rows = {
  "ingressclasses.networking.k8s.io": row(className, text("spec.controller"), parameters, age),
  "ingresses.networking.k8s.io": row(name, text("spec.ingressClassName", "<none>"), hosts, addresses, ports, age),
  // One more than there are columns: so the real server.
  "ipaddresses.networking.k8s.io": row(name, parent, age),
  "networkpolicies.networking.k8s.io": row(name, selector("spec.podSelector"), age),
  "servicecidrs.networking.k8s.io": row(name, joined("spec.cidrs"), age),
  "endpointslices.discovery.k8s.io": row(name, text("addressType"), slicePorts, sliceEndpoints, age),
};

function className(object: JsonObject): Json {
  const isDefault = annotationOf(object, "ingressclass.kubernetes.io/is-default-class") === "true";
  return isDefault ? `${nameOf(object)} (default)` : nameOf(object);
}

function parameters(object: JsonObject): Json {
  const found = findObject(objectAt(object, "spec"), "parameters");
  if (found === undefined) return "<none>";
  const group = read(found, "apiGroup");
  const kind = textAt(found, "kind");
  return `${typeof group === "string" ? `${kind}.${group}` : kind}/${textAt(found, "name")}`;
}

const mostHosts = 3;

/** Rules without a host are for any, and are counted but not shown once others are. */
function hosts(object: JsonObject): Json {
  const rules = objectsAt(objectAt(object, "spec"), "rules");
  const shown: string[] = [];
  for (const rule of rules) {
    if (shown.length === mostHosts) return `${shown.join(",")} + ${rules.length - mostHosts} more...`;
    const host = textAt(rule, "host");
    if (host !== "") shown.push(host);
  }
  return shown.length === 0 ? "*" : shown.join(",");
}

function addresses(object: JsonObject): Json {
  return loadBalancerAddresses(object).join(",");
}

function ports(object: JsonObject): Json {
  return objectsAt(objectAt(object, "spec"), "tls").length === 0 ? "80" : "80, 443";
}

function parent(object: JsonObject): Json {
  const reference = findObject(objectAt(object, "spec"), "parentRef");
  if (reference === undefined) return "<none>";
  const [resource, group] = [textAt(reference, "resource"), textAt(reference, "group")];
  const title = group === "" ? resource : `${resource}.${group}`;
  const place = [textAt(reference, "namespace"), textAt(reference, "name")].filter((part, index) =>
    index > 0 || part !== ""
  );
  return [title.toLowerCase(), ...place].join("/");
}

function slicePorts(object: JsonObject): Json {
  const shown = objectsAt(object, "ports").map((port) => {
    const number = read(port, "port");
    if (typeof number === "number") return `${number}`;
    const name = read(port, "name");
    return typeof name === "string" ? name : "*";
  });
  return orUnset(firstOf(shown));
}

function sliceEndpoints(object: JsonObject): Json {
  return orUnset(firstOf(objectsAt(object, "endpoints").flatMap((endpoint) => textsIn(read(endpoint, "addresses")))));
}

function orUnset(text: string): string {
  return text === "" ? "<unset>" : text;
}
