/**
 * Errors of the kinds whose checks are declared in the types of Kubernetes, wholly or in part: each kind with a table of bad
 * objects, which differ from a good one in one field. And ServiceCIDRs at work.
 */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { deviceKinds } from "./_device_mutations.ts";
import { flowKinds } from "./_flow_mutations.ts";
import { mutationCases } from "./_mutations.ts";
import { at, service } from "./_objects.ts";

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

export const declaredCases: readonly ConformanceCase[] = [
  ...[...deviceKinds, ...flowKinds].flatMap(mutationCases),
  furtherRange,
];
