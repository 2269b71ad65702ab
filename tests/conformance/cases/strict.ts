/**
 * Unknown and duplicate fields, several at once, in each way to write an object, with each fieldValidation: the order of the
 * errors, their words, and which error comes first when a value has the wrong type as well.
 */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, deployment, service } from "./_objects.ts";
import { type Things, withThings } from "./_things.ts";

/** The text of a body; it follows the head of the object or of the patch. */
type Members = string;

const deployments: readonly (readonly [string, Members])[] = [
  ["unknown fields at each level", '"one":1,"metadata":{"name":"a","two":2},"spec":{"three":3,"strategy":{"four":4}}'],
  [
    "unknown fields in another order",
    '"zone":1,"spec":{"zone":1,"area":{}},"area":2,"metadata":{"name":"a","zone":1,"area":2}',
  ],
  ["a duplicate key", '"metadata":{"name":"a"},"spec":{"replicas":0,"replicas":0}'],
  [
    "duplicate keys at each level",
    '"metadata":{"name":"a","name":"a"},"spec":{"paused":true,"paused":false},"spec":{"replicas":0}',
  ],
  ["a key three times", '"metadata":{"name":"a"},"spec":{"replicas":0,"replicas":0,"replicas":0}'],
  [
    "unknown and duplicate fields",
    '"metadata":{"name":"a"},"one":1,"spec":{"replicas":0,"two":2,"replicas":0},"one":2',
  ],
  ["a duplicate key of an unknown field", '"metadata":{"name":"a"},"spec":{"one":{"a":1,"a":2}}'],
  ["an unknown field with unknown fields", '"metadata":{"name":"a"},"spec":{"one":{"two":[{"three":3}]}}'],
  ["keys in another case", '"metadata":{"Name":"b","name":"a"},"Spec":{},"spec":{"Replicas":1}'],
  ["null as an unknown field", '"metadata":{"name":"a"},"spec":{"one":null}'],
  ["duplicate keys of a map", '"metadata":{"name":"a","labels":{"a":"b","a":"c"},"annotations":{"x/y":"1","x/y":"2"}}'],
  [
    "unknown fields in lists",
    '"metadata":{"name":"a","finalizers":[],"ownerReferences":[]},"spec":{"template":{"metadata":{"labels":{"app":"a"},"x":1},' +
    '"spec":{"containers":[{"name":"main","image":"a:1","one":1,"ports":[{"containerPort":80,"two":2},{"containerPort":81,"three":3}],' +
    '"env":[{"name":"A","value":"1","value":"2"}]}],"volumes":[{"name":"v","emptyDir":{"four":4}}]}}}',
  ],
  ["an unknown field and a value of the wrong type", '"metadata":{"name":"a"},"one":1,"spec":{"replicas":"two"}'],
  [
    "a duplicate key whose first value has the wrong type",
    '"metadata":{"name":"a"},"spec":{"replicas":"x","replicas":0}',
  ],
  ["an unknown field and an invalid value", '"metadata":{"name":"a"},"one":1,"spec":{"replicas":-1}'],
  ["a key with a dot and a quote", '"metadata":{"name":"a"},"spec":{"a.b":1,"c\\"d":2,"":3}'],
  ["101 unknown fields", `"metadata":{"name":"a"},${Array.from({ length: 101 }, (_, at) => `"x${at}":1`).join(",")}`],
  ["status fields", '"metadata":{"name":"a"},"status":{"replicas":0,"one":1}'],
];

const things: readonly (readonly [string, Members])[] = [
  ["unknown fields at each level", '"one":1,"metadata":{"name":"a","two":2},"spec":{"three":3,"parts":[{"four":4}]}'],
  [
    "unknown fields in another order",
    '"zone":1,"spec":{"zone":1,"area":{}},"area":2,"metadata":{"name":"a","zone":1,"area":2}',
  ],
  ["duplicate keys at each level", '"metadata":{"name":"a","name":"a"},"spec":{"size":1,"size":2},"spec":{"name":"x"}'],
  ["unknown and duplicate fields", '"metadata":{"name":"a"},"one":1,"spec":{"size":1,"two":2,"size":1},"one":2'],
  ["a duplicate key in a free field", '"metadata":{"name":"a"},"spec":{"free":{"a":1,"a":2,"b":{"c":1,"c":2}}}'],
  ["a duplicate key of an unknown field", '"metadata":{"name":"a"},"spec":{"one":{"a":1,"a":2}}'],
  ["an unknown field with unknown fields", '"metadata":{"name":"a"},"spec":{"one":{"two":[{"three":3}]}}'],
  [
    "unknown fields in lists",
    '"metadata":{"name":"a"},"spec":{"parts":[{"name":"a","x":1},{"name":"b"},{"y":2,"z":3}]}',
  ],
  ["duplicate keys in lists", '"metadata":{"name":"a"},"spec":{"parts":[{"name":"a","name":"b"},{"name":"b"}]}'],
  ["keys in another case", '"metadata":{"Name":"b","name":"a"},"Spec":{},"spec":{"Size":1}'],
  ["an unknown field and a value of the wrong type", '"metadata":{"name":"a"},"one":1,"spec":{"size":"two"}'],
  ["unknown fields of metadata of the wrong type", '"metadata":{"name":"a","labels":{"a":1},"x":1},"spec":{"y":1}'],
  ["duplicate keys of a map", '"metadata":{"name":"a","labels":{"a":"b","a":"c"}},"spec":{"labels":{"x":"1","x":"2"}}'],
  ["a key with a dot", '"metadata":{"name":"a"},"spec":{"a.b":1,"c d":2}'],
];

const modes = ["Strict", "Warn", "Ignore"] as const;

/** A way to send members with a head. */
interface Sending {
  readonly name: string;
  readonly method: "POST" | "PUT" | "PATCH";
  readonly type: string;
  readonly query?: string;
}

const sendings: readonly Sending[] = [
  { name: "a create", method: "POST", type: "application/json" },
  { name: "a create in YAML", method: "POST", type: "application/yaml" },
  { name: "an update", method: "PUT", type: "application/json" },
  { name: "a merge patch", method: "PATCH", type: "application/merge-patch+json" },
  { name: "a strategic merge patch", method: "PATCH", type: "application/strategic-merge-patch+json" },
  { name: "an apply", method: "PATCH", type: "application/apply-patch+yaml", query: "&fieldManager=me&force=true" },
];

/** One call for each mode. Patches are sent without the name, which must not change. */
async function sendAll(run: CaseRun, path: string, head: string, members: Members, sending: Sending): Promise<void> {
  const { method, type, query = "" } = sending;
  const isPatch = type.includes("merge-patch");
  // In YAML each member is in a line of its own, as the messages name lines.
  const text = `{${isPatch ? "" : `${head},`}${members}}`;
  const body = type.includes("yaml") ? text.replaceAll(/,(?=")/g, ",\n") : text;
  for (const mode of modes) {
    await run.call({
      method,
      type,
      path: `${path}${method === "POST" ? "" : "/a"}?dryRun=All&fieldValidation=${mode}${query}`,
      body: method === "POST" ? body.replace('"name":"a"', '"name":"b"') : body,
      pick: ({ kind, metadata }) => ({ kind, name: metadata.name, labels: metadata.labels }),
    });
  }
}

/** An apply with undeclared fields names some of them, in the order of a Go map. A merge patch has a hundred of 101 problems. */
function isInAnyOrder({ name }: Sending, members: Members): boolean {
  if (name.endsWith("merge patch") && members.includes("x100")) return true;
  return name === "an apply" && /"(one|zone|Name|a\.b|x0|x)":/.test(members);
}

const builtIn: readonly ConformanceCase[] = deployments.flatMap(([what, members]) =>
  sendings.filter((sending) => sending.name !== "a merge patch" && !isInAnyOrder(sending, members)).map((sending) =>
    scenario(`${sending.name} with ${what}`, async (run) => {
      const path = at(run, "apps/v1/deployments");
      await run.prepare({ path, body: deployment("a", { paused: true }) });
      const spec = '"selector":{"matchLabels":{"app":"a"}}';
      const pods =
        '"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"main","image":"a:1"}]}}';
      const isWhole = !sending.type.includes("merge-patch");
      const filled = members.includes('"spec":{') && !members.includes('"template"')
        ? members.replace('"spec":{', `"spec":{${spec},${pods},`)
        : members.replace('"spec":{', `"spec":{${spec},`);
      const complete = filled.includes('"spec":{') ? filled : `${filled},"spec":{${spec},${pods}}`;
      const head = '"apiVersion":"apps/v1","kind":"Deployment"';
      await sendAll(run, path, head, isWhole ? complete : members, sending);
    })
  )
);

const services: readonly (readonly [string, Members])[] = [
  [
    "unknown fields at each level",
    '"one":1,"metadata":{"name":"a","two":2},"spec":{"three":3,"sessionAffinityConfig":{"four":4}}',
  ],
  ["unknown fields in another order", '"zone":1,"spec":{"zone":1,"area":{}},"area":2,"metadata":{"zone":1,"area":2}'],
  ["a duplicate key", '"spec":{"sessionAffinity":"None","sessionAffinity":"None"}'],
  ["a key three times", '"spec":{"type":"ClusterIP","type":"ClusterIP","type":"ClusterIP"}'],
  ["unknown and duplicate fields", '"one":1,"spec":{"type":"ClusterIP","two":2,"type":"ClusterIP"},"one":2'],
  ["an unknown field with unknown fields", '"spec":{"one":{"two":[{"three":3}]}}'],
  ["keys in another case", '"metadata":{"Name":"b"},"Spec":{},"spec":{"Type":"NodePort"}'],
  ["duplicate keys of a map", '"metadata":{"labels":{"a":"b","a":"c"}}'],
  ["unknown fields in lists", '"spec":{"ports":[{"port":80,"one":1},{"name":"b","port":81,"two":2}]}'],
  ["an unknown field and a value of the wrong type", '"one":1,"spec":{"sessionAffinity":2}'],
  ["an unknown field and an invalid value", '"one":1,"spec":{"type":"Other"}'],
  ["a key with a dot and a quote", '"spec":{"a.b":1,"c\\"d":2,"":3}'],
];

const servicePatches: readonly ConformanceCase[] = services.flatMap(([what, members]) =>
  sendings.filter(({ name }) => name.endsWith("merge patch")).map((sending) =>
    scenario(`${sending.name} of a Service with ${what}`, async (run) => {
      const path = at(run, "services");
      await run.prepare({ path, body: service("a") });
      await sendAll(run, path, "", members, sending);
    })
  )
);

const custom: readonly ConformanceCase[] = sendings.filter(({ name }) => !name.includes("strategic")).map((sending) =>
  withThings(
    `${sending.name} of a custom resource with unknown and duplicate fields`,
    async (run, { path, group, version }: Things) => {
      const head = `"kind":"Thing","apiVersion":"${group}/v1"`;
      for (const [, members] of things.filter(([, one]) => !isInAnyOrder(sending, one))) {
        const given = sending.method === "PUT"
          ? members.replace('"metadata":{', `"metadata":{"resourceVersion":"${version}",`)
          : members;
        await sendAll(run, path, head, given, sending);
      }
    },
  )
);

const operations: readonly (readonly [string, string])[] = [
  ["unknown fields", '[{"op":"add","path":"/spec/one","value":1},{"op":"add","path":"/two","value":2}]'],
  [
    "unknown members of operations",
    '[{"op":"add","path":"/spec/one","value":1,"more":2},{"op":"test","path":"/kind","value":"Service","x":1}]',
  ],
  ["duplicate members of operations", '[{"op":"add","op":"add","path":"/spec/one","value":1,"value":2}]'],
  ["members in another case", '[{"Op":"add","path":"/metadata/labels","value":{"a":"b"}}]'],
  ["an unknown operation", '[{"op":"put","path":"/metadata/labels","value":{"a":"b"}}]'],
  ["no operation", '[{"path":"/metadata/labels","value":{"a":"b"}}]'],
  ["no path", '[{"op":"add","value":{"a":"b"}}]'],
  ["a number as operation", '[{"op":1,"path":"/metadata/labels","value":{"a":"b"}}]'],
  ["a number as path", '[{"op":"add","path":1,"value":{"a":"b"}}]'],
  ["no value", '[{"op":"add","path":"/metadata/labels"}]'],
  ["null as value", '[{"op":"add","path":"/metadata/labels","value":null}]'],
  ["a path without a slash", '[{"op":"add","path":"metadata","value":{}}]'],
  ["a path to nothing", '[{"op":"replace","path":"/metadata/nothing/more","value":1}]'],
  ["a removal of nothing", '[{"op":"remove","path":"/metadata/nothing"}]'],
  ["a failing test", '[{"op":"test","path":"/metadata/name","value":"b"}]'],
  ["an index that is no number", '[{"op":"add","path":"/spec/ports/x","value":{"port":1}}]'],
  ["an index behind the end", '[{"op":"add","path":"/spec/ports/7","value":{"port":1}}]'],
  ["an index with zeros", '[{"op":"replace","path":"/spec/ports/00","value":{"port":81}}]'],
  ["a negative index", '[{"op":"replace","path":"/spec/ports/-1","value":{"port":81}}]'],
  [
    "escapes in a path",
    '[{"op":"add","path":"/metadata/annotations","value":{}},{"op":"add","path":"/metadata/annotations/a~1b~0c","value":"d"}]',
  ],
  ["a move into itself", '[{"op":"move","from":"/spec","path":"/spec/ports"}]'],
  ["a copy of nothing", '[{"op":"copy","from":"/nothing","path":"/metadata/labels"}]'],
  ["the whole document", '[{"op":"replace","path":"","value":{}}]'],
  ["a removal of the whole document", '[{"op":"remove","path":""}]'],
  ["a list in a list", '[[{"op":"add","path":"/metadata/labels","value":{}}]]'],
  ["a number in the list", "[1]"],
  ["a text in the list", '["add"]'],
];

const jsonPatches: readonly ConformanceCase[] = [
  ...operations.map(([what, body]) =>
    scenario(`a JSON patch with ${what}`, async (run) => {
      const path = at(run, "services");
      await run.prepare({ path, body: service("a") });
      await patchWith(run, path, body);
    })
  ),
  withThings("JSON patches of a custom resource", async (run, { path }) => {
    for (const [, body] of operations) await patchWith(run, path, body);
  }),
];

async function patchWith(run: CaseRun, path: string, body: string): Promise<void> {
  for (const mode of modes) {
    await run.call({
      method: "PATCH",
      type: "application/json-patch+json",
      path: `${path}/a?dryRun=All&fieldValidation=${mode}`,
      body,
      pick: ({ kind, metadata, spec }) => ({
        kind,
        labels: metadata.labels,
        annotations: metadata.annotations,
        ports: spec?.ports,
      }),
    });
  }
}

export const strictCases: readonly ConformanceCase[] = [...builtIn, ...servicePatches, ...custom, ...jsonPatches];
