/**
 * Errors of the kinds whose checks are declared in the types of Kubernetes, wholly or in part: each kind with a table of bad
 * objects, which differ from a good one in one field. And ServiceCIDRs at work.
 */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { deviceKinds } from "./_device_mutations.ts";
import { flowKinds } from "./_flow_mutations.ts";
import { type MutatedKind, mutationCases, type MutationVerb } from "./_mutations.ts";
import { as, grant, revoke, rule } from "./_access_users.ts";
import { at, type Body, service } from "./_objects.ts";

const ranges = "/apis/networking.k8s.io/v1/servicecidrs";
const addresses = "/apis/networking.k8s.io/v1/ipaddresses";

// deno-lint-ignore no-explicit-any
const readiness = (body: any) => {
  const conditions: readonly { type: string; status: string; reason: string; message: string }[] =
    body.status?.conditions ?? [];
  const states = conditions.map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  return { finalizers: body.metadata.finalizers, states };
};

const furtherRange = scenario("Services get addresses of a further ServiceCIDR until it is deleted", async (run) => {
  const [name, services] = [run.name("extra"), at(run, "services")];
  const requestIp = (name: string, clusterIP: string) =>
    run.call({ path: services, body: service(name, { clusterIP }), pick: ({ spec }) => spec.clusterIPs });
  await requestIp("early", "198.51.100.5");
  await run.prepare({ path: ranges, body: { metadata: { name }, spec: { cidrs: ["198.51.100.0/28"] } } });
  await run.until(`${ranges}/${name}`, (body) => body.status?.conditions?.[0]?.status === "True");
  await run.call({ path: `${ranges}/${name}`, pick: readiness });
  // The allocators of a kube-apiserver learn of a range after its controller has marked it.
  const probe = { path: `${services}?dryRun=All`, body: service("probe", { clusterIP: "198.51.100.5" }) };
  await run.until(probe, (_, code) => code === 201);
  await requestIp("web", "198.51.100.5");
  await run.call({ path: `${addresses}/198.51.100.5`, pick: ({ spec }) => spec });
  await requestIp("second", "198.51.100.5");
  for (const ip of ["198.51.100.0", "198.51.100.15", "198.51.100.16"]) await requestIp("second", ip);
  const reserved = { metadata: { name: "198.51.100.7" }, spec: { parentRef: { resource: "things", name: "a" } } };
  await run.prepare({ path: addresses, body: reserved });
  await requestIp("second", "198.51.100.7");
  await run.prepare({ method: "DELETE", path: `${addresses}/198.51.100.7` });
  await run.prepare({ method: "DELETE", path: `${ranges}/${name}` });
  await run.until(`${ranges}/${name}`, (body) => body.status?.conditions?.[0]?.status === "False");
  await run.call({ path: `${ranges}/${name}`, pick: readiness });
  await run.until(probe, (_, code) => code !== 201);
  await requestIp("late", "198.51.100.6");
  await run.prepare({ method: "DELETE", path: `${services}/web` });
}, { needsControllers: true });

const claims = "resource.k8s.io/v1/resourceclaims";

const claimedPod = {
  metadata: { name: "gpu-user", annotations: {} },
  spec: {
    automountServiceAccountToken: false,
    containers: [{ name: "main", image: "example.invalid/main:1", resources: { claims: [{ name: "gpu" }] } }],
    resourceClaims: [
      { name: "gpu", resourceClaimTemplateName: "gpu" },
      { name: "mine", resourceClaimName: "mine" },
    ],
  },
};

const podClaims = scenario("a Pod gets claims from templates, which end with it", async (run) => {
  const pods = at(run, "pods");
  await run.prepare({ path: pods, body: claimedPod });
  const template = {
    metadata: { name: "gpu" },
    spec: {
      metadata: { labels: { a: "b" }, annotations: { c: "d" } },
      spec: { devices: { requests: [{ name: "one", exactly: { deviceClassName: "gpu.example.com" } }] } },
    },
  };
  await run.prepare({ path: at(run, "resource.k8s.io/v1/resourceclaimtemplates"), body: template });
  await run.until(`${pods}/gpu-user`, (body) => body.status?.resourceClaimStatuses !== undefined);
  run.mask.addStem("gpu-user-gpu-");
  await run.call({ path: `${pods}/gpu-user`, pick: ({ status }) => status.resourceClaimStatuses });
  await run.call({
    path: at(run, claims),
    pick: ({ items }) =>
      // deno-lint-ignore no-explicit-any
      items.map(({ metadata, spec, status }: any) => {
        const { name, generateName, labels, annotations, ownerReferences, finalizers } = metadata;
        return { name, generateName, labels, annotations, ownerReferences, finalizers, spec, status };
      }),
  });
  await run.prepare({ method: "DELETE", path: `${pods}/gpu-user?gracePeriodSeconds=0` });
  await run.until(at(run, claims), (body) => body.items.length === 0);
}, { needsControllers: true, needsAccount: true });

/** Writes of the status by a user who may write it, and also what the rules say. */
const statusRules: readonly (readonly [string, readonly Body[]])[] = [
  ["without more", []],
  ["who binds", [rule("update", "resource.k8s.io/resourceclaims/binding")]],
  ["who is a driver of any Node", [
    rule("update patch", "resource.k8s.io/resourceclaims/binding"),
    rule("arbitrary-node:update", "resource.k8s.io/resourceclaims/driver", { resourceNames: ["gpu.example.com"] }),
  ]],
];

const claimStatuses = statusRules.map(([who, rules]) =>
  scenario(`the status of a ResourceClaim by a user ${who}`, async (run) => {
    const user = `${run.namespace}-status`;
    await grant(run, user, [rule("get update patch", "resource.k8s.io/resourceclaims/status"), ...rules], "cluster");
    const spec = { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] } };
    const stored = await run.prepare({ path: at(run, claims), body: { metadata: { name: "a" }, spec } });
    const path = `${at(run, claims, "a")}/status`;
    const device = { driver: "gpu.example.com", pool: "p", device: "d" };
    const allocation = { devices: { results: [{ request: "gpu", ...device }] } };
    const pick = ({ status }: { readonly status: Body }) => Object.keys(status ?? {}).toSorted();
    const put = (status: Body) =>
      run.call({
        method: "PUT",
        path,
        headers: as(user),
        body: { ...stored, metadata: { name: "a", namespace: run.namespace }, status },
        pick,
      });
    await put({ allocation });
    await put({ allocation, devices: [device] });
    const patch = { method: "PATCH", type: "application/merge-patch+json", headers: as(user), path, pick } as const;
    await run.call({
      ...patch,
      body: { status: { allocation, reservedFor: [{ resource: "pods", name: "a", uid: "1" }] } },
    });
    await run.call({ ...patch, body: { status: { devices: [{ ...device, data: { a: 1 } }] } } });
    await revoke(run);
  })
);

/** The tables describe each object as a whole, so the names of the cases do. */
const titles: Readonly<Record<MutationVerb, string>> = {
  create: "",
  update: "an update of ",
  "update the status of": "the status of ",
};

function declaredKind(kind: MutatedKind): MutatedKind {
  const title = (verb: MutationVerb, how: string) => `${titles[verb]}${kind.what} ${how}`;
  return { ...kind, title, omitsVersion: true, sortsCauses: true };
}

export const declaredCases: readonly ConformanceCase[] = [
  ...[...deviceKinds, ...flowKinds].flatMap((kind) => mutationCases(declaredKind(kind))),
  furtherRange,
  podClaims,
  ...claimStatuses,
];
