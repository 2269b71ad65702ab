/**
 * QuotaMeter: what one object of a kind counts for. Pods count for what they request and are limited to, claims for their
 * storage, Services for their ports; any object counts as one of its kind. Source: kubernetes `pkg/quota/v1/evaluator/core`
 * of 1.36.
 */
import { aggregated, findNumber, has, numberAt, objectAt, objectsAt, textAt, textMapAt } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { addAmounts, type Amounts } from "./amounts.ts";

/** Measures the objects of one collection. */
export interface QuotaMeter {
  /** What an object counts for. @param now milliseconds since 1970 */
  usage(object: JsonObject, now: number): Amounts;
  /** True for a resource that objects of this kind can count for. */
  measures(resource: string): boolean;
  /** What an object has to say so that it can be measured; undefined when it says it. */
  missing(resources: readonly string[], object: JsonObject): string | undefined;
}

/** @param kind as in `deployments.apps`: what its objects are counted as */
export function meterOf(kind: { readonly plural: string; readonly group: string }): QuotaMeter {
  const collection = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  return meters.get(collection) ?? countMeter(collection);
}

/** Kinds that could be counted before `count/` was invented. */
const aliases: ReadonlySet<string> = new Set(["configmaps", "resourcequotas", "replicationcontrollers", "secrets"]);

function countMeter(collection: string): QuotaMeter {
  const names = [`count/${collection}`, ...(aliases.has(collection) ? [collection] : [])];
  const usage: Amounts = new Map(names.map((name) => [name, "1"]));
  return { usage: () => usage, measures: (resource) => names.includes(resource), missing: () => undefined };
}

const computes = ["cpu", "memory", "ephemeral-storage"];
const podResources: ReadonlySet<string> = new Set([
  "count/pods",
  "pods",
  ...computes.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);
const required = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/** Resources that Kubernetes itself knows; a quota bounds requests of all others. */
const native = /^requests\.(cpu|memory|ephemeral-storage|storage|[^/]*|([^/]*\.)?kubernetes\.io\/.*)$/;

const podMeter: QuotaMeter = {
  usage(pod, now) {
    const counted: Amounts = new Map([["count/pods", "1"]]);
    if (!isAlive(pod, now)) return counted;
    const spec = objectAt(pod, "spec");
    const whole = objectAt(spec, "resources");
    const amounts = (key: "requests" | "limits") => new Map([...aggregated(spec, key), ...textMapAt(whole, key)]);
    const overhead = textMapAt(spec, "overhead");
    const requests = addAmounts(amounts("requests"), overhead);
    const limits = amounts("limits");
    const charged = new Map([...overhead].filter(([name]) => limits.has(name)));
    return new Map([...counted, ...podUsage(requests, addAmounts(limits, charged))]);
  },
  measures: (resource) =>
    podResources.has(resource) || /^(requests\.)?hugepages-/.test(resource) ||
    (resource.startsWith("requests.") && !native.test(resource)),
  missing(resources, pod) {
    const spec = objectAt(pod, "spec");
    if (has(spec, "resources")) return undefined;
    const wanted = required.filter((name) => resources.includes(name)).sort();
    const lacking = new Map<string, Set<string>>();
    for (const container of [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")]) {
      const own = objectAt(container, "resources");
      const said = podUsage(textMapAt(own, "requests"), textMapAt(own, "limits"));
      for (const name of wanted.filter((each) => !said.has(each))) {
        lacking.set(name, (lacking.get(name) ?? new Set()).add(textAt(container, "name")));
      }
    }
    if (lacking.size === 0) return undefined;
    const parts = wanted.flatMap((name) => {
      const containers = lacking.get(name);
      return containers === undefined ? [] : [`${name} for: ${[...containers].sort().join(",")}`];
    });
    return `must specify ${parts.join("; ")}`;
  },
};

/** The names under which a quota may bound the same amount. */
function podUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map([["pods", "1"]]);
  for (const [name, amount] of requests) {
    if (computes.includes(name) || name.startsWith("hugepages-")) usage.set(name, amount);
    if (computes.includes(name) || name.startsWith("hugepages-") || name.includes("/")) {
      usage.set(`requests.${name}`, amount);
    }
  }
  for (const [name, amount] of limits) if (computes.includes(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

/** A Pod that has ended, or whose grace is over, takes nothing. */
function isAlive(pod: JsonObject, now: number): boolean {
  const phase = textAt(objectAt(pod, "status"), "phase");
  if (phase === "Failed" || phase === "Succeeded") return false;
  const metadata = objectAt(pod, "metadata");
  const at = textAt(metadata, "deletionTimestamp");
  const grace = findNumber(metadata, "deletionGracePeriodSeconds");
  return at === "" || grace === undefined || now <= Date.parse(at) + grace * 1000;
}

const claimMeter: QuotaMeter = {
  usage(claim) {
    const spec = objectAt(claim, "spec");
    const annotations = textMapAt(objectAt(claim, "metadata"), "annotations");
    const name = annotations.get("volume.beta.kubernetes.io/storage-class") ?? textAt(spec, "storageClassName");
    const usage = new Map([["persistentvolumeclaims", "1"], ["count/persistentvolumeclaims", "1"]]);
    const storage = textMapAt(objectAt(spec, "resources"), "requests").get("storage");
    if (storage !== undefined) usage.set("requests.storage", storage);
    if (name === "") return usage;
    usage.set(`${name}${ofClass}persistentvolumeclaims`, "1");
    if (storage !== undefined) usage.set(`${name}${ofClass}requests.storage`, storage);
    return usage;
  },
  measures: (resource) =>
    resource === "count/persistentvolumeclaims" ||
    ["persistentvolumeclaims", "requests.storage"].some((name) =>
      resource === name || resource.endsWith(`${ofClass}${name}`)
    ),
  missing: () => undefined,
};

const ofClass = ".storageclass.storage.k8s.io/";

const serviceResources: ReadonlySet<string> = new Set([
  "count/services",
  "services",
  "services.nodeports",
  "services.loadbalancers",
]);

const serviceMeter: QuotaMeter = {
  usage(service) {
    const spec = objectAt(service, "spec");
    const ports = objectsAt(spec, "ports");
    const isBalanced = textAt(spec, "type") === "LoadBalancer";
    const takesPorts = isBalanced
      ? spec["allocateLoadBalancerNodePorts"] !== false
      : textAt(spec, "type") === "NodePort";
    const asked = isBalanced ? ports.filter((port) => numberAt(port, "nodePort") !== 0).length : 0;
    return new Map([
      ["count/services", "1"],
      ["services", "1"],
      ["services.nodeports", `${takesPorts ? ports.length : asked}`],
      ["services.loadbalancers", isBalanced ? "1" : "0"],
    ]);
  },
  measures: (resource) => serviceResources.has(resource),
  missing: () => undefined,
};

const meters: ReadonlyMap<string, QuotaMeter> = new Map([
  ["pods", podMeter],
  ["persistentvolumeclaims", claimMeter],
  ["services", serviceMeter],
]);
