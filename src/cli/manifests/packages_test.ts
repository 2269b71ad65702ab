import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { controller, done } from "../../controller/mod.ts";
import { builtin } from "../../api/mod.ts";
import { withWebhooks } from "../../manager/mod.ts";
import { allow, converting, defaulting, validating } from "../../webhook/mod.ts";
import { defineResource, z } from "../../schema/mod.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { podController, Website, websiteController } from "../testing/test_kinds.ts";
import { TestProcess } from "../testing/test_process.ts";
import type { Operator } from "../command/operator.ts";
import { operatorCli } from "../operator_cli.ts";
import { imageParts } from "./image_parts.ts";

const judged = withWebhooks(websiteController, [
  defaulting(Website, (site) => site),
  validating(Website, { create: () => allow() }),
  converting(Website, []),
]);
const local = controller("local", { namespace: "default" }).for(builtin.Pod).reconcile(() => Promise.resolve(done));
const operator: Operator = { name: "op", version: "1.2.3", controllers: [judged, podController, local] };

/** A folder that does not exist yet. */
async function newFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const above = await mkdtemp(join(tmpdir(), "pintle-packages-"));
  return { path: join(above, "out"), [Symbol.asyncDispose]: () => rm(above, { recursive: true }) };
}

async function call(line: string, folder?: string, of: Operator = operator) {
  const words = [
    ...line.split(" ").filter((word) => word !== ""),
    ...folder === undefined ? [] : ["--output-dir", folder],
  ];
  const process = new TestProcess(["manifests", ...words]);
  const code = await operatorCli(of, process);
  return { code, out: process.out, err: process.err };
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true });
  const isFile = await Promise.all(entries.map(async (path) => (await stat(join(folder, path))).isFile()));
  return entries.filter((_, index) => isFile[index]).sort();
}

async function contentOf(folder: string, path: string): Promise<string> {
  return await readFile(join(folder, path), "utf8");
}

test("a package needs a folder, and a folder a format with comments", async () => {
  for (const format of ["kustomize", "helm", "olm"]) {
    const { code, err } = await call(`-o ${format}`);
    assertEquals(code, 2);
    assertMatch(err, new RegExp(`Cannot print ${format}: it is several files\\. Add --output-dir DIR`));
  }
  await using folder = await newFolder();
  assertMatch((await call("-o json", folder.path)).err, /Cannot write files as json/);
  assertEquals((await call("", folder.path)).code, 0);
  const { out } = await call("");
  assertEquals((await contentOf(folder.path, "manifests.yaml")).split("\n").slice(1).join("\n"), out);
});

test("the base of kustomize has one file for each object, and names them all", async () => {
  await using folder = await newFolder();
  assertEquals((await call("pods -o kustomize", folder.path)).code, 0);
  assertEquals(await filesIn(folder.path), [
    "base/clusterrole-op-pods.yaml",
    "base/clusterrolebinding-op-pods.yaml",
    "base/deployment-op-pods.yaml",
    "base/kustomization.yaml",
    "base/namespace-op-system.yaml",
    "base/networkpolicy-op-pods.yaml",
    "base/poddisruptionbudget-op-pods.yaml",
    "base/role-op-pods.yaml",
    "base/rolebinding-op-pods.yaml",
    "base/serviceaccount-op-pods.yaml",
    "overlays/example/kustomization.yaml",
  ]);
  const { resources } = parseYaml(await contentOf(folder.path, "base/kustomization.yaml")).value() as {
    readonly resources: readonly string[];
  };
  const others = (await filesIn(join(folder.path, "base"))).filter((name) => name !== "kustomization.yaml");
  assertEquals([...resources].sort(), others);
});

test("a second call replaces its own files, removes those that it no longer writes, and leaves overlays to the user", async () => {
  await using folder = await newFolder();
  await call("website -o kustomize", folder.path);
  const overlay = join(folder.path, "overlays/example/kustomization.yaml");
  await writeFile(overlay, "mine: true\n");
  assertEquals((await call("pods -o kustomize", folder.path)).code, 0);
  assertEquals(await readFile(overlay, "utf8"), "mine: true\n");
  const names = await filesIn(join(folder.path, "base"));
  assertEquals([names.some((name) => name.includes("webhook")), names.includes("deployment-op-pods.yaml")], [
    false,
    true,
  ]);
});

test("nothing is written into a folder with files of others", async () => {
  for (
    const [format, path] of [["helm", "notes.txt"], ["kustomize", "base/deployment-op.yaml"], [
      "olm",
      "bundle.Dockerfile",
    ]]
  ) {
    await using folder = await newFolder();
    const target = join(folder.path, path ?? "");
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, "mine");
    const { code, err } = await call(`-o ${format}`, folder.path);
    assertEquals([code, await filesIn(folder.path), await readFile(target, "utf8")], [1, [path], "mine"]);
    assertStringIncludes(err, `Cannot write manifests into "${folder.path}": this command has not written ${path}`);
  }
});

const Braced = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Braced",
  scope: "Namespaced",
  spec: z.object({ text: z.string().describe("a template such as {{ .Values.image }}") }),
});

test("a chart has only the release's namespace, and texts of a kind are not evaluated by Helm", async () => {
  const braced = controller("braced").for(Braced).reconcile(() => Promise.resolve(done));
  const described = { ...operator, controllers: [...operator.controllers, braced] };
  await using folder = await newFolder();
  assertEquals(
    (await call("-o helm --run-flag=--workers=4 --image reg:5000/op@sha256:abc", folder.path, described)).code,
    0,
  );
  for (const path of await filesIn(folder.path)) {
    const text = await contentOf(folder.path, path);
    assert(!text.includes("namespace-of-the-release") && !text.includes("@@") && !text.includes("op-system"), path);
  }
  const kind = await contentOf(folder.path, "templates/customresourcedefinition-braceds.example.dev.yaml");
  assertStringIncludes(kind, 'a template such as {{ "{{" }} .Values.image }}');
  const values = parseYaml(await contentOf(folder.path, "values.yaml")).value() as Readonly<Record<string, unknown>>;
  assertEquals(values.image, { repository: "reg:5000/op", tag: "", digest: "sha256:abc" });
  assertEquals([values.extraArgs, values.replicas, values.serviceMonitor], [["--workers=4"], 2, undefined]);
  const schema = JSON.parse(await contentOf(folder.path, "values.schema.json"));
  assertEquals([Object.keys(values).every((name) => name in schema.properties), schema.additionalProperties], [
    true,
    false,
  ]);
  assertMatch((await call("-o helm --create-namespace -n a", folder.path)).err, /use: helm install --create-namespace/);
});

test("a bundle gives all permissions of the Roles, and leaves certificates to the lifecycle manager", async () => {
  await using folder = await newFolder();
  assertEquals((await call("-o olm", folder.path)).code, 0);
  const version = parseYaml(await contentOf(folder.path, "manifests/op.clusterserviceversion.yaml")).value() as {
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly webhookdefinitions: readonly { readonly type: string; readonly generateName: string }[];
      readonly install: {
        readonly spec: Readonly<
          Record<"permissions" | "clusterPermissions", readonly [{ readonly rules: readonly object[] }]>
        >;
      };
    };
  };
  assertEquals(version.metadata.name, "op.v1.2.3");
  assertEquals(version.spec.webhookdefinitions.map(({ type, generateName }) => `${type} ${generateName}`), [
    "MutatingAdmissionWebhook default.websites.example.dev",
    "ValidatingAdmissionWebhook validate.websites.example.dev",
    "ConversionWebhook convert.websites.example.dev",
  ]);
  const text = JSON.stringify(version.spec.install);
  assertStringIncludes(text, "--cert-dir=/tmp/k8s-webhook-server/serving-certs");
  assert(!text.includes('"secrets"') && !text.includes("webhookconfigurations"), "it writes no certificates itself");
  const { permissions: [own], clusterPermissions: [cluster] } = version.spec.install.spec;
  assertStringIncludes(JSON.stringify(own.rules), '"leases"');
  assertStringIncludes(JSON.stringify(cluster.rules), '"pods"');
  const refused: readonly (readonly [string, Operator, RegExp])[] = [
    ["pods --namespaced -o olm", operator, /it is installed in any namespace/],
    ["--cert-secret tls -o olm", operator, /mounts the certificates of the webhooks/],
    ["-o olm", { ...operator, version: "dev" }, /the version "dev" of this program is not a semantic version/],
  ];
  for (const [line, of, message] of refused) {
    const { code, err } = await call(line, folder.path, of);
    assertEquals(code, 2);
    assertMatch(err, message);
  }
});

test("[124] a chart has the alerts and the dashboard as values, and leaves the templates of Prometheus and Grafana as they are", async () => {
  await using folder = await newFolder();
  const flags = "website -o helm --cert-secret tls --monitoring --monitoring-label release=prom";
  assertEquals((await call(flags, folder.path)).code, 0);
  const values = parseYaml(await contentOf(folder.path, "values.yaml")).value() as Readonly<Record<string, unknown>>;
  assertEquals([values.monitoring, values.serviceMonitor], [{ enabled: true, labels: { release: "prom" } }, {
    enabled: true,
  }]);
  const rule = await contentOf(folder.path, "templates/prometheusrule-op-website.yaml");
  assertStringIncludes(rule, "{{- if .Values.monitoring.enabled }}");
  assertStringIncludes(rule, "{{- with .Values.monitoring.labels }}");
  assertStringIncludes(rule, '{{ "{{" }} $labels.controller }}');
  assertStringIncludes(rule, 'namespace="{{ .Values.namespaceOverride | default .Release.Namespace }}"');
  const dashboard = await contentOf(folder.path, "templates/configmap-op-website-dashboard.yaml");
  assertStringIncludes(dashboard, '{{ "{{" }}controller}}');
});

test("[124] a bundle serves metrics with the certificate of the webhooks, or has no monitoring", async () => {
  await using folder = await newFolder();
  assertEquals((await call("website -o olm --monitoring", folder.path)).code, 0);
  assertEquals((await filesIn(folder.path)).filter((path) => /service|rule|configmap|clusterrole/.test(path)), [
    "manifests/op-website-dashboard.configmap.yaml",
    "manifests/op-website-metrics-reader.op-system.clusterrole.yaml",
    "manifests/op-website-metrics.service.yaml",
    "manifests/op-website.clusterserviceversion.yaml",
    "manifests/op-website.prometheusrule.yaml",
    "manifests/op-website.servicemonitor.yaml",
  ]);
  const version = await contentOf(folder.path, "manifests/op-website.clusterserviceversion.yaml");
  for (const part of ["--metrics-bind-address=:8443", "tokenreviews", "subjectaccessreviews"]) {
    assertStringIncludes(version, part);
  }
  const rule = await contentOf(folder.path, "manifests/op-website.prometheusrule.yaml");
  assert(!rule.includes("namespace="), "it is installed in any namespace");
  const { code, err } = await call("pods -o olm --monitoring", folder.path);
  assertEquals(code, 2);
  assertMatch(err, /Cannot make a bundle with --monitoring: .* certificates for webhooks only/);
});

const images: readonly (readonly [string, ReturnType<typeof imageParts>])[] = [
  ["op", { repository: "op" }],
  ["op:1", { repository: "op", tag: "1" }],
  ["reg:5000/a/op", { repository: "reg:5000/a/op" }],
  ["reg:5000/a/op:1@sha256:x", { repository: "reg:5000/a/op", tag: "1", digest: "sha256:x" }],
];

for (const [image, parts] of images) {
  test(`imageParts() splits ${image}`, () => assertEquals(imageParts(image), parts));
}
