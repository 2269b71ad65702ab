/**
 * Numbers as clients write them: each literal in each way to write an object, for fields of every type of number in built-in
 * kinds, and in a Scale. Responses are read with exact integers (case_run.ts).
 */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Call, CaseRun } from "../case_run.ts";
import { at, deployment, service, template } from "./_objects.ts";
import { calls, isCreating, marker, type Target, ways } from "./_ways.ts";

/** A number, or what a client writes in its place. */
const literals: readonly string[] = [
  "1",
  "1.0",
  "1e0",
  "20E-1",
  "0.0",
  "-0",
  "-0.0",
  "1.5",
  '"1"',
  "true",
  "[1]",
  "{}",
  "null",
  "-1",
  "2147483647",
  "2147483648",
  "-2147483649",
  "9007199254740993",
  "9223372036854775807",
  "-9223372036854775808",
  "9223372036854775808",
  "1e19",
  "100000000000000000000000000000000",
  "1e400",
];

/** A field of a built-in kind. No controller writes to these objects, except to a Deployment, which is only created. */
interface Field extends Target {
  readonly isOnlyCreated?: boolean;
}

const fields: readonly Field[] = [
  { resource: "apps/v1/deployments", body: deployment("a", { replicas: marker }), isOnlyCreated: true },
  {
    resource: "coordination.k8s.io/v1/leases",
    body: { metadata: { name: "a" }, spec: { holderIdentity: "me", leaseDurationSeconds: marker } },
  },
  {
    resource: "podtemplates",
    body: { metadata: { name: "a" }, template: template("a", { terminationGracePeriodSeconds: marker }) },
  },
  { resource: "services", body: service("a", { clusterIP: "None", ports: [{ port: 80, targetPort: marker }] }) },
  {
    resource: "limitranges",
    body: { metadata: { name: "a" }, spec: { limits: [{ type: "Container", max: { cpu: "9", memory: marker } }] } },
  },
  { resource: "configmaps", body: { metadata: { name: "a", generation: marker }, data: { a: "b" } } },
];

/** Words that JSON does not have, or that a decoder would read as something else. */
const malformed: readonly string[] = ["01", "+1", ".5", "1.", "0x10", "1_000", "NaN", "-Infinity", "1e", "--1"];

const builtIn: readonly ConformanceCase[] = ways.flatMap((way) =>
  [...literals, ...malformed].map((literal) =>
    scenario(`${way.name} with the number ${literal}`, async (run) => {
      for (const field of fields) {
        if (field.isOnlyCreated === true && !isCreating(way)) continue;
        // What is read of a ConfigMap is decoded by the same code for each malformed word.
        if (malformed.includes(literal) && field.resource !== "services") continue;
        await calls(run, way, field, literal);
      }
    })
  )
);

/** The ways to write a Scale. */
const scaleWays: readonly (readonly [what: string, call: (path: string, literal: string) => Call])[] = [
  ["an update", (path, literal) => ({
    method: "PUT",
    path,
    body: `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"},"spec":{"replicas":${literal}}}`,
  })],
  ["an update in YAML", (path, literal) => ({
    method: "PUT",
    path,
    type: "application/yaml",
    body: `kind: Scale\napiVersion: autoscaling/v1\nmetadata: {name: a}\nspec:\n  replicas: ${literal}\n`,
  })],
  ["a merge patch", (path, literal) => ({
    method: "PATCH",
    path,
    type: "application/merge-patch+json",
    body: `{"spec":{"replicas":${literal}}}`,
  })],
  ["a JSON patch", (path, literal) => ({
    method: "PATCH",
    path,
    type: "application/json-patch+json",
    body: `[{"op":"add","path":"/spec/replicas","value":${literal}}]`,
  })],
  ["an apply", (path, literal) => ({
    method: "PATCH",
    path: `${path}&fieldManager=me&force=true`,
    type: "application/apply-patch+yaml",
    body: `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a"},"spec":{"replicas":${literal}}}`,
  })],
];

const scales: readonly ConformanceCase[] = scaleWays.flatMap(([what, call]) =>
  literals.map((literal) =>
    scenario(`${what} of a Scale with the number ${literal}`, async (run) => {
      const all = at(run, "apps/v1/deployments");
      await run.prepare({ path: all, body: deployment("a", { paused: true }) });
      const path = `${all}/a/scale?dryRun=All`;
      await run.call({ ...call(path, literal), pick: ({ kind, spec }) => ({ kind, spec }) });
    })
  )
);

/** Amounts as text. Each is a quantity or looks like one. */
const amounts: readonly string[] = [
  ..."0 -0 1 +1 -1 01 1. .5 0.5 -.5 1.50 1e3 1E3 1e-3 1E+3 1e 1E 1e3e3 1.5Gi 1.5G 1k 1K 1ki 1Ki 1M 1Mi".split(" "),
  ..."1T 1Ti 1P 1Pi 1Ei 12Ei 1Zi 1n 0.5n 1u 0.1u 1m 0.1m 1500m 1000000m 1024Mi 1000Mi 1000k 0.001Ki".split(" "),
  ..."9007199254740993 9223372036854775807 9223372036854775808 18446744073709551616".split(" "),
  ..."1e18 1e19 1e30 1e400 100000000000000000000000000m 9223372036854775807Ki 8Ei 1e-10 1e-400".split(" "),
  ..."abc 1,5 1_0 0x10 1Gib 1GB Gi - + . NaN Inf".split(" "),
  "",
  " 1",
  "1 ",
  "1 Gi",
  "\u0661",
];

const quantities: readonly ConformanceCase[] = amounts.map((amount) =>
  requests(`the quantity ${JSON.stringify(amount)}`, (run) => {
    const dryRun = "?dryRun=All";
    const limits = { limits: [{ type: "Container", default: { memory: amount, cpu: amount } }] };
    return [
      {
        path: `${at(run, "resourcequotas")}${dryRun}`,
        body: { metadata: { name: "a" }, spec: { hard: { memory: amount, cpu: amount, pods: amount } } },
        sortsCauses: true,
      },
      {
        path: `${at(run, "limitranges")}${dryRun}`,
        body: { metadata: { name: "a" }, spec: limits },
        sortsCauses: true,
      },
    ];
  })
);

/** Integers at the limits of a double and of an int64. */
const exact = ["9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808"];

const kept: readonly ConformanceCase[] = exact.map((literal) =>
  scenario(`${literal} in a PodTemplate is kept by get and patches of other fields`, async (run) => {
    const body = JSON.stringify({
      metadata: { name: "a" },
      template: template("a", { terminationGracePeriodSeconds: 5, activeDeadlineSeconds: marker }),
    });
    const path = at(run, "podtemplates");
    const created = await run.call({ path, body: body.replace(JSON.stringify(marker), literal) });
    if (created.kind !== "PodTemplate") return;
    const one = `${path}/a`;
    await run.call({ path: one });
    const patch = { method: "PATCH", path: one } as const;
    const labels = { metadata: { labels: { a: "b" } } };
    await run.call({ ...patch, type: "application/merge-patch+json", body: labels });
    await run.call({ ...patch, type: "application/strategic-merge-patch+json", body: labels });
    await run.call({
      ...patch,
      type: "application/json-patch+json",
      body: `[{"op":"test","path":"/template/spec/activeDeadlineSeconds","value":${literal}}]`,
    });
  })
);

const versions: readonly ConformanceCase[] = ["0", "1", "abc", "9007199254740993", "-1", "1.0", " 1"].map((version) =>
  scenario(`a create with the resourceVersion ${JSON.stringify(version)}`, async (run: CaseRun) => {
    const body = { metadata: { name: "a", resourceVersion: version }, data: {} };
    const path = at(run, "configmaps");
    await run.call({ path: `${path}?dryRun=All`, body });
    await run.call({ path, body });
    await run.call({ method: "PUT", path: `${path}/a?dryRun=All`, body });
    const apply = { apiVersion: "v1", kind: "ConfigMap", ...body };
    const type = "application/apply-patch+yaml";
    await run.call({ method: "PATCH", path: `${path}/b?dryRun=All&fieldManager=x`, type, body: apply });
  })
);

export const numberCases: readonly ConformanceCase[] = [...builtIn, ...scales, ...quantities, ...kept, ...versions];
