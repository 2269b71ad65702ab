/** `manifests --run-config`: the configuration file of `run` in an installation. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import type { KubeObject } from "../../api/mod.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { runCommandLine } from "../testing/run_command.ts";
import { websiteController } from "../testing/test_kinds.ts";

const operator = { name: "op", version: "1.2.3", controllers: [websiteController] };

/** A folder with a configuration file. */
async function configured(text: string) {
  const path = await mkdtemp(join(tmpdir(), "pintle-run-config-"));
  const file = join(path, "op.yaml");
  await writeFile(file, text);
  const call = (...words: readonly string[]) =>
    runCommandLine(operator, ["manifests", "--run-config", file, ...words.map((word) => word.replace("DIR", path))]);
  return { path, file, call, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

type Workload = KubeObject & {
  readonly data?: Readonly<Record<string, string>>;
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly spec: { readonly template: { readonly metadata: KubeObject["metadata"]; readonly spec: object } };
};

async function objectsFor(text: string): Promise<ReadonlyMap<string, Workload>> {
  await using folder = await configured(text);
  const { code, out, err } = await folder.call("-o", "json");
  assertEquals(code, 0, err);
  const { items } = JSON.parse(out) as { readonly items: readonly Workload[] };
  return new Map(items.map((object) => [object.kind ?? "", object]));
}

test("the file is a ConfigMap that the Pods mount and run reads, and a change of it replaces the Pods", async () => {
  const [first, second] = [await objectsFor("workers: 4\n"), await objectsFor("workers: 5\n")];
  const config = first.get("ConfigMap");
  assertEquals([config?.metadata.name, config?.metadata.namespace], ["op-config", "op-system"]);
  assertEquals(config?.data, { "config.yaml": "workers: 4\n" });
  const pods = JSON.stringify(first.get("Deployment")?.spec.template.spec);
  for (const part of ['"--config=/config/config.yaml"', '"configMap":{"name":"op-config"}', '"mountPath":"/config"']) {
    assertStringIncludes(pods, part);
  }
  const checksums = [first, second].map((one) =>
    one.get("Deployment")?.spec.template.metadata.annotations?.["checksum/config"]
  );
  assertMatch(checksums[0] ?? "", /^[0-9a-f]{64}$/);
  assert(checksums[0] !== checksums[1], "another text has another checksum");
});

test("settings of the file that need permissions get them", async () => {
  const verbsOf = (objects: ReadonlyMap<string, Workload>, kind: string, resource: string) =>
    objects.get(kind)?.rules?.filter(({ resources }) => resources.includes(resource)).flatMap(({ verbs }) => verbs) ??
      [];
  const plain = await objectsFor("workers: 4\n");
  const all = await objectsFor("shards: auto\nnamespaceSelector: team=a\n");
  assert(!verbsOf(plain, "Role", "leases").includes("list") && verbsOf(all, "Role", "leases").includes("list"));
  assertEquals(verbsOf(plain, "ClusterRole", "namespaces"), []);
  assertEquals(verbsOf(all, "ClusterRole", "namespaces"), ["list", "watch"]);
});

test("a chart has the file as a value, and computes the checksum from it", async () => {
  await using folder = await configured('workers: 4 # "{{ .Values.image }}"\n');
  const { code, err } = await folder.call("-o", "helm", "--output-dir", "DIR/chart");
  assertEquals(code, 0, err);
  const read = (path: string) => readFile(join(folder.path, "chart", path), "utf8");
  const values = parseYaml(await read("values.yaml")).value() as Readonly<Record<string, unknown>>;
  assertEquals(values.runConfig, 'workers: 4 # "{{ .Values.image }}"\n');
  assertStringIncludes(
    await read("templates/configmap-op-config.yaml"),
    "config.yaml: {{ .Values.runConfig | quote }}\n",
  );
  assertStringIncludes(
    await read("templates/deployment-op.yaml"),
    "checksum/config: {{ .Values.runConfig | sha256sum | quote }}\n",
  );
});

test("a bundle contains the ConfigMap", async () => {
  await using folder = await configured("workers: 4\n");
  const { code, err } = await folder.call("-o", "olm", "--output-dir", "DIR/bundle");
  assertEquals(code, 0, err);
  const text = await readFile(join(folder.path, "bundle/manifests/op-config.configmap.yaml"), "utf8");
  const { data, metadata } = parseYaml(text).value() as Workload;
  assertEquals([data, metadata.namespace], [{ "config.yaml": "workers: 4\n" }, undefined]);
});

const refused: readonly (readonly [text: string, message: RegExp])[] = [
  [
    "workers: 4\nworker: 5\n",
    /Cannot use configuration .*op\.yaml:2: no flag has the key "worker"\. Did you mean: workers/,
  ],
  ["clusters: dir:/clusters\n", /op\.yaml:1: "clusters" decides where permissions are granted\. Give it as --clusters/],
  ["[]\n", /the file is not a map from flags to values/],
];

for (const [text, message] of refused) {
  test(`manifests refuses the configuration ${JSON.stringify(text)}`, async () => {
    await using folder = await configured(text);
    const { code, err } = await folder.call();
    assertEquals(code, 2);
    assertMatch(err, message);
  });
}

test("manifests says when there is no such configuration file", async () => {
  const { code, err } = await runCommandLine(operator, ["manifests", "--run-config", "/no/such.yaml"]);
  assertEquals(code, 2);
  assertMatch(err, /Cannot read configuration "\/no\/such\.yaml": .* Check the path of --run-config/);
});
