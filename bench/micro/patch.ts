/**
 * Micro-benchmark of field ownership and patches: the cost of a write without storage.
 *
 *   deno run -A bench/micro/patch.ts [rounds]
 *   bun bench/micro/patch.ts [rounds]
 *
 * Each case makes 2,000 writes of the same shape, twice to warm up and then `rounds` times (default 9). It prints the
 * slowest round, the median and the fastest, in microseconds a write. The Foo has the size of the one in bench/; the
 * Deployment is one that kubectl sends, with its defaults.
 */
import process from "node:process";
import { builtinFamilies, typeLibrary } from "../../src/apiserver/kinds/mod.ts";
import {
  type Draft,
  draftOf,
  isJsonObject,
  type JsonObject,
  type TypeSchema,
  typeSchemaOf,
} from "../../src/apiserver/model/mod.ts";
import {
  applyConfiguration,
  type FieldContext,
  fieldSetOf,
  jsonPatch,
  mergePatch,
  strategicMergePatch,
  updateManagedFields,
  withManagedFields,
} from "../../src/apiserver/patch/mod.ts";

interface Case {
  readonly name: string;
  readonly run: (index: number) => unknown;
}

const writes = 2000;
/** Number of different objects: few enough for the processor's caches, where the body of a request is as well. */
const variety = 50;

const fooType = typeSchemaOf({
  type: "object",
  "x-kubernetes-embedded-resource": true,
  properties: {
    spec: {
      type: "object",
      properties: { deploymentName: { type: "string" }, replicas: { type: "integer", format: "int32" } },
    },
    status: { type: "object", properties: { availableReplicas: { type: "integer", format: "int32" } } },
  },
}, typeLibrary());

const fooConfig: JsonObject = {
  apiVersion: "samplecontroller.k8s.io/v1alpha1",
  kind: "Foo",
  metadata: {
    name: "foo-00001",
    namespace: "default",
    labels: { app: "sample", tier: "backend", "example.dev/shard": "7" },
    annotations: { "example.dev/description": "a Foo of the size that people have" },
  },
  spec: { deploymentName: "foo-00001-web", replicas: 2 },
};

const deploymentConfig: JsonObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "default", labels: { app: "web" } },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        containers: [{
          name: "web",
          image: "nginx:1.29",
          args: ["-g", "daemon off;"],
          env: [{ name: "A", value: "1" }, { name: "B", value: "2" }],
          ports: [{ name: "http", containerPort: 80 }, { name: "metrics", containerPort: 9090 }],
          resources: { requests: { cpu: "100m", memory: "64Mi" }, limits: { memory: "128Mi" } },
          readinessProbe: { httpGet: { path: "/", port: "http" } },
        }],
        volumes: [{ name: "config", configMap: { name: "web" } }],
      },
    },
  },
};

const deployments = builtinFamilies().find((family) => family.collection === "deployments.apps");
const deploymentKind = deployments?.storage;
if (deploymentKind === undefined) throw new Error("Cannot measure Deployments: there is no such kind");

/** An object as the server has it after decoding a request body. */
function decoded(config: JsonObject): Draft {
  const draft = draftOf(config);
  if (config["kind"] !== "Deployment" || deploymentKind === undefined) return draft;
  deploymentKind.decode(draft);
  deploymentKind.setDefaults(draft);
  return draft;
}

function contextOf(config: JsonObject, type: TypeSchema, subresource = ""): FieldContext {
  const apiVersion = String(config["apiVersion"]);
  const reset = fieldSetOf(subresource === "" ? [["f:status"]] : [["f:spec"], ["f:metadata"]]);
  return {
    type,
    apiVersion,
    subresource,
    manager: "bench",
    now: 1_700_000_000_000,
    resetFields: new Map([[apiVersion, reset]]),
    ...(type === fooType ? {} : { empty: deploymentKind?.empty }),
  };
}

/** The result of a function that may return a promise but must not here. */
function atOnce<Value>(value: Value | Promise<Value>): Value {
  if (value instanceof Promise) throw new Error("Cannot measure: it waits");
  return value;
}

function withPath(object: JsonObject, path: readonly string[], value: string | number): JsonObject {
  const [key, ...rest] = path;
  if (key === undefined) return object;
  if (rest.length === 0) return { ...object, [key]: value };
  const below = object[key];
  return { ...object, [key]: withPath(isJsonObject(below) ? below : {}, rest, value) };
}

function casesOf(name: string, config: JsonObject, type: TypeSchema): readonly Case[] {
  const context = contextOf(config, type);
  const status = contextOf(config, type, "status");
  const created = decoded(config);
  const track = (live: JsonObject | undefined, updated: JsonObject, what = context) =>
    atOnce(updateManagedFields({ ...what, live, updated }));
  const live = withManagedFields({ ...created }, track(undefined, created));
  const bodies = Array.from({ length: variety }, () => draftOf(created));
  const copies = Array.from({ length: variety }, () => draftOf(live));
  const scaled = copies.map((copy, index) => withPath(copy, ["spec", "replicas"], 10 + index));
  const ready = copies.map((copy, index) => withPath(copy, ["status", "availableReplicas"], 10 + index));
  const apply = (object: JsonObject | undefined, applied: JsonObject, isForced = false) => {
    const outcome = atOnce(
      applyConfiguration({ ...context, live: object, applied, kind: String(config["kind"]), isForced }),
    );
    if (outcome.kind === "conflicts") throw new Error("Cannot measure: it conflicts");
    return withManagedFields(outcome.object, outcome.managedFields);
  };
  const applied = apply(undefined, config);
  const changed = copies.map((_, index) => withPath(config, ["spec", "replicas"], 10 + index));
  return [
    { name: `${name}: create`, run: (index) => track(undefined, bodies[index] ?? created) },
    { name: `${name}: update that changes nothing`, run: (index) => track(live, copies[index] ?? live) },
    { name: `${name}: update of one field`, run: (index) => track(live, scaled[index] ?? live) },
    { name: `${name}: update of the status`, run: (index) => track(live, ready[index] ?? live, status) },
    { name: `${name}: apply that creates`, run: () => apply(undefined, config) },
    { name: `${name}: apply of the same again`, run: () => apply(applied, config) },
    { name: `${name}: apply of one field`, run: (index) => apply(applied, changed[index] ?? config) },
    { name: `${name}: copy of the object, to compare`, run: () => draftOf(live) },
  ];
}

const deployment = decoded(deploymentConfig);
const setImage = { spec: { template: { spec: { containers: [{ name: "web", image: "nginx:2" }] } } } };
const cases: readonly Case[] = [
  ...casesOf("Foo", fooConfig, fooType),
  ...casesOf("Deployment", deploymentConfig, deploymentKind.schema),
  {
    name: "Foo: merge patch of the status",
    run: (index) => mergePatch(fooConfig, { status: { availableReplicas: index } }),
  },
  {
    name: "Foo: JSON patch of one field",
    run: (index) => jsonPatch(fooConfig, [{ op: "replace", path: "/spec/replicas", value: index }]),
  },
  {
    name: "Deployment: strategic merge patch of an image",
    run: () => strategicMergePatch(deployment, setImage, deploymentKind.schema),
  },
];

function measure(one: Case, rounds: number): readonly number[] {
  const costs: number[] = [];
  for (let round = -2; round < rounds; round++) {
    const startedAt = performance.now();
    for (let index = 0; index < writes; index++) one.run(index % variety);
    if (round >= 0) costs.push((performance.now() - startedAt) * 1000 / writes);
  }
  return costs.sort((left, right) => right - left);
}

const rounds = Number(process.argv[2] ?? 9);
console.log(`${"microseconds a write".padEnd(48)}     max  median     min`);
for (const one of cases) {
  const costs = measure(one, rounds);
  const median = costs[Math.floor(costs.length / 2)] ?? NaN;
  const shown = [costs[0] ?? NaN, median, costs.at(-1) ?? NaN].map((cost) => cost.toFixed(1).padStart(7));
  console.log(`${one.name.padEnd(48)} ${shown.join(" ")}`);
}
