/** Services that change their type, names of network objects, and NetworkPolicies. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import { at, type Body, service } from "./_objects.ts";

const types = ["ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "Headless"] as const;

function specOf(type: (typeof types)[number]): Body {
  switch (type) {
    case "ExternalName":
      return { type, externalName: "example.com", ports: undefined };
    case "Headless":
      return { type: "ClusterIP", clusterIP: "None" };
    default:
      return { type };
  }
}

// deno-lint-ignore no-explicit-any
const shown = ({ spec, status }: any) => ({
  ...spec,
  clusterIPs: undefined,
  status,
  // deno-lint-ignore no-explicit-any
  ports: spec?.ports?.map(({ nodePort, ...port }: any) => ({ ...port, hasNodePort: nodePort !== undefined })),
});

/** What a new Service has beside its type. */
const extras: readonly (readonly [string, Body])[] = [
  ["", {}],
  ["with internalTrafficPolicy Local", { internalTrafficPolicy: "Local" }],
  ["with externalTrafficPolicy Local", { externalTrafficPolicy: "Local" }],
  ["with session affinity", { sessionAffinity: "ClientIP" }],
  ["without node ports", { allocateLoadBalancerNodePorts: false }],
  ["with source ranges", { loadBalancerSourceRanges: ["10.0.0.0/8"] }],
  ["with a class", { loadBalancerClass: "example.com/lb" }],
  ["with external IPs", { externalIPs: ["192.0.2.1"] }],
  ["with a family policy", { ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv4"] }],
  ["with publishNotReadyAddresses", { publishNotReadyAddresses: true }],
  ["with trafficDistribution", { trafficDistribution: "PreferClose" }],
];

const switches: readonly ConformanceCase[] = types.flatMap((from) =>
  extras.map(([what, extra]) =>
    scenario(`a Service of type ${from} ${what} that gets another type`.replace("  ", " "), async (run) => {
      const path = at(run, "services");
      for (const to of types.filter((type) => type !== from)) {
        const name = `a-${to.toLowerCase()}`;
        const body = service(name, { ...specOf(from), ...extra });
        const created = await run.call({ path, body, pick: shown });
        if (created.kind !== "Service") return;
        const merge = "application/merge-patch+json";
        await run.call({
          method: "PATCH",
          path: `${path}/${name}`,
          type: merge,
          body: { spec: specOf(to) },
          pick: shown,
        });
        const whole = service(name, { ...specOf(to), ...extra });
        await run.call({ method: "PUT", path: `${path}/${name}`, body: whole, pick: shown });
        const withPorts = { spec: { ...specOf(to), ports: [{ port: 80 }] } };
        await run.call({ method: "PATCH", path: `${path}/${name}`, type: merge, body: withPorts, pick: shown });
      }
    })
  )
);

const names = [
  "a",
  "a.b",
  "A",
  "a_b",
  "1a",
  "10.0.0.1",
  "-a",
  "a-",
  "a..b",
  "a".repeat(64),
  "a".repeat(254),
  "2001:db8::1",
];

const kinds: readonly (readonly [resource: string, body: Body])[] = [
  ["networking.k8s.io/v1/networkpolicies", { spec: { podSelector: {} } }],
  ["networking.k8s.io/v1/ingresses", { spec: { defaultBackend: { service: { name: "a", port: { number: 80 } } } } }],
  ["services", { spec: { ports: [{ port: 80 }] } }],
  ["endpoints", {}],
  ["discovery.k8s.io/v1/endpointslices", { addressType: "IPv4", endpoints: [] }],
];

const naming: readonly ConformanceCase[] = names.map((name) =>
  requests(
    `network objects with the name ${name.length > 60 ? `of ${name.length} characters` : name}`,
    (run) =>
      kinds.flatMap(([resource, body]) => [
        { path: `${at(run, resource)}?dryRun=All`, body: { metadata: { name }, ...body }, pick: ({ kind }) => kind },
        { path: `${at(run, resource)}/${name}`, pick: ({ kind }) => kind },
      ]),
  )
);

const addressNames = [
  "10.0.0.1",
  "010.0.0.1",
  "10.0.0",
  "2001:db8::1",
  "2001:DB8::1",
  "2001:db8:0::1",
  "::ffff:10.0.0.1",
  "a",
  "",
];

const addresses: readonly ConformanceCase[] = addressNames.flatMap((name) => [
  requests(`an IPAddress with the name ${JSON.stringify(name)}`, () => [{
    path: "/apis/networking.k8s.io/v1/ipaddresses?dryRun=All",
    body: { metadata: { name }, spec: { parentRef: { resource: "services", namespace: "default", name: "a" } } },
    pick: ({ kind }) => kind,
  }]),
]);

const cidrs = [
  "10.0.0.0/8",
  "10.0.0.1/8",
  "010.0.0.0/8",
  "10.0.0.0/33",
  "10.0.0.0",
  "2001:db8::/32",
  "2001:DB8::/32",
  "::/0",
  "x",
  "",
];

const policies: readonly (readonly [string, Body])[] = [
  ["no spec", {}],
  ["an empty spec", { spec: {} }],
  ["an unknown type", { spec: { podSelector: {}, policyTypes: ["Other"] } }],
  ["three types", { spec: { podSelector: {}, policyTypes: ["Ingress", "Egress", "Ingress"] } }],
  ["a bad selector", { spec: { podSelector: { matchLabels: { "a b": "c" } } } }],
  ["a bad expression", { spec: { podSelector: { matchExpressions: [{ key: "a", operator: "In" }] } } }],
  ["an empty peer", { spec: { podSelector: {}, ingress: [{ from: [{}] }] } }],
  ["a peer with a block and a selector", {
    spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" }, podSelector: {} }] }] },
  }],
  ["an exception outside of the block", {
    spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16"] } }] }] },
  }],
  ["an exception that is the block", {
    spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.0.0.0/8"] } }] }] },
  }],
  ["a bad exception", {
    spec: {
      podSelector: {},
      egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.1/16", "x", ""] } }] }],
    },
  }],
  ...["80", "http", 0, 65536, "HTTP", "a".repeat(16), "-a", -1].map((port): readonly [string, Body] => [
    `the port ${JSON.stringify(port)}`,
    { spec: { podSelector: {}, ingress: [{ ports: [{ port }] }] } },
  ]),
  ["an end port below the port", { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80, endPort: 79 }] }] } }],
  ["an end port with a named port", {
    spec: { podSelector: {}, ingress: [{ ports: [{ port: "http", endPort: 90 }] }] },
  }],
  ["an end port without a port", { spec: { podSelector: {}, ingress: [{ ports: [{ endPort: 90 }] }] } }],
  ["a large end port", { spec: { podSelector: {}, ingress: [{ ports: [{ port: 1, endPort: 70000 }] }] } }],
  ["an unknown protocol", { spec: { podSelector: {}, ingress: [{ ports: [{ protocol: "ICMP" }] }] } }],
  ["null rules", { spec: { podSelector: {}, ingress: null, egress: [null] } }],
];

const networkPolicies: readonly ConformanceCase[] = [
  ...policies,
  ...cidrs.map((cidr): readonly [string, Body] => [
    `the block ${JSON.stringify(cidr)}`,
    { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] } },
  ]),
].map(([what, body]) =>
  requests(`a NetworkPolicy with ${what}`, (run) => [{
    path: `${at(run, "networking.k8s.io/v1/networkpolicies")}?dryRun=All`,
    body: { metadata: { name: "a" }, ...body },
    pick: ({ spec }) => spec,
    sortsCauses: true,
  }])
);

export const networkCases: readonly ConformanceCase[] = [...switches, ...naming, ...addresses, ...networkPolicies];
