/**
 * The packages that `manifests` writes, read by kustomize, Helm and operator-sdk's validation themselves: with their default
 * values they contain the same objects as the YAML, and a real API server accepts them. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/packages_test.ts
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseYaml } from "../../src/yaml/mod.ts";
import { root } from "../../tasks/_root.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { run } from "../controlplane/run.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { output, type PackagePrograms, packagePrograms } from "../packages/programs.ts";
import { assert, assertEquals, assertRejects } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

/** An object as these tests compare it. */
interface PackagedObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** A program that has the command `manifests`, and a folder for its output. */
class PackagedOperator implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "pintle-packages-"));
  readonly #command: readonly string[];
  readonly #cwd: string;
  readonly programs: PackagePrograms;

  constructor(programs: PackagePrograms, command: readonly string[], cwd: string = this.folder) {
    this.programs = programs;
    this.#command = command;
    this.#cwd = cwd;
  }

  /** The output of `manifests`. A program that is not compiled gets its version, which a bundle needs, from the environment. */
  async manifests(...args: readonly string[]): Promise<string> {
    const [program = "", ...first] = this.#command;
    const result = await run(program, [...first, "manifests", ...args], {
      cwd: this.#cwd,
      env: { PINTLE_OPERATOR_VERSION: "1.2.3" },
    });
    if (result.kind === "ended" && result.code === 0) return result.stdout;
    throw new Error(`Cannot run manifests ${args.join(" ")}: ${JSON.stringify(result)}`);
  }

  async run(program: keyof PackagePrograms, ...args: readonly string[]): Promise<string> {
    return await output(this.programs[program], args, this.folder);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

async function withPrograms(fn: (programs: PackagePrograms) => Promise<void>): Promise<void> {
  const outcome = await packagePrograms();
  // Where the control plane was built, these programs can be built, too.
  if (outcome.kind === "unavailable") throw new Error(`Cannot build the programs: ${outcome.reason}`);
  await fn(outcome.programs);
}

function documents(text: string): readonly PackagedObject[] {
  return text.split(/^---$/m).filter((part) => /^kind:/m.test(part)).map((part) =>
    parseYaml(part).value() as PackagedObject
  );
}

/** The objects by their id, which must be unique. Helm's packages have an annotation and no Namespace. */
function byId(objects: readonly PackagedObject[], isOfHelm = false): Readonly<Record<string, PackagedObject>> {
  const shown = objects.filter(({ kind }) => !isOfHelm || kind !== "Namespace").map(withoutPolicy);
  const entries = shown.map((object) => [idOf(object), object] as const);
  assertEquals(new Set(entries.map(([id]) => id)).size, entries.length, "each object once");
  return Object.fromEntries(entries.sort(([left], [right]) => left < right ? -1 : 1));
}

function idOf({ kind, metadata: { name, namespace = "" } }: PackagedObject): string {
  return `${kind} ${namespace}/${name}`;
}

function withoutPolicy(object: PackagedObject): PackagedObject {
  const { "helm.sh/resource-policy": policy, ...annotations } = object.metadata.annotations ?? {};
  if (policy === undefined) return object;
  const { annotations: _, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations } };
}

/** A call of `manifests`, and the namespace of the installation. */
interface Case {
  readonly args: readonly string[];
  readonly namespace: string;
  /** The release that the chart is installed as. */
  readonly name: string;
  /** The text of the file of --run-config. @default there is none */
  readonly config?: string;
  /** Whether the API server knows all kinds. @default true */
  readonly isKnown?: boolean;
  /** Whether it can be a bundle. @default true */
  readonly isBundle?: boolean;
}

const image = `--image=registry.example.com:5000/team/operator:1.2.3@sha256:${"0123456789abcdef".repeat(4)}`;
const own = ["--cert-secret=tls", "--service-monitor", "--webhook-from=10.0.0.0/28"];
const monitoring = ["--monitoring", "--monitoring-label=release=prometheus"];

/** All five controllers, together and each alone; and the flags that change most. */
const cases: readonly Case[] = [
  { args: [], namespace: "controller-system", name: "controller" },
  ...["foo", "pods", "ecsbinding", "nodepool", "ingress"].map((controller) => ({
    args: [controller],
    namespace: "controller-system",
    name: `controller-${controller}`,
  })),
  { args: ["pods"], config: 'workers: 4 # "{{ é }}"\n', namespace: "controller-system", name: "controller-pods" },
  { args: ["foo", "--namespaced", "-n", "team-a"], namespace: "team-a", name: "controller-foo", isBundle: false },
  {
    args: [
      "nodepool",
      image,
      "--replicas=1",
      "--toleration=a.dev/b=c:NoSchedule",
      "--run-flag=--workers=4",
      ...own,
      ...monitoring,
    ],
    namespace: "controller-system",
    name: "controller-nodepool",
    isKnown: false,
    isBundle: false,
  },
];

controlPlaneTest(
  "kustomize and Helm render the objects of the YAML, an API server accepts them, and bundles are valid",
  async (controlPlane) => {
    await withPrograms(async (programs) => {
      for (const one of cases) {
        using operator = new PackagedOperator(programs, [binaryPath()]);
        await prove(operator, one, controlPlane);
      }
    });
  },
  { own: {} },
);

controlPlaneTest("the same holds for an operator that new has written", async (controlPlane) => {
  await withPrograms(async (programs) => {
    const above = mkdtempSync(join(tmpdir(), "pintle-packages-new-"));
    try {
      const project = join(above, "website");
      const deno = process.execPath;
      const args = [
        "run",
        "-A",
        join(root, "src", "bin.ts"),
        "new",
        "website",
        "--owns",
        "Deployment",
        "--dir",
        project,
      ];
      const made = await run(deno, args, { cwd: root });
      assert(made.kind === "ended" && made.code === 0, JSON.stringify(made));
      using operator = new PackagedOperator(programs, [deno, "run", "-A", "main.ts"], project);
      await prove(operator, { args: [], namespace: "website-system", name: "website" }, controlPlane);
    } finally {
      rmSync(above, { recursive: true });
    }
  });
}, { own: {} });

async function prove(operator: PackagedOperator, one: Case, controlPlane: ControlPlane): Promise<void> {
  const { config, namespace, name, isKnown = true, isBundle = true } = one;
  const file = join(operator.folder, "run.yaml");
  if (config !== undefined) writeFileSync(file, config);
  const args = config === undefined ? one.args : [...one.args, `--run-config=${file}`];
  const text = await operator.manifests(...args, "--include-crds");
  const expected = documents(text);
  assert(expected.length > 5, text);

  await operator.manifests(...args, "--include-crds", "-o", "kustomize", "--output-dir", join(operator.folder, "k"));
  const built = await operator.run("kustomize", "build", "k/base");
  assertEquals(byId(documents(built)), byId(expected), `kustomize: ${args.join(" ")}`);
  assertOverlay(documents(await operator.run("kustomize", "build", "k/overlays/example")), expected, name);

  await operator.manifests(...args, "-o", "helm", "--output-dir", join(operator.folder, "chart"));
  await operator.run("helm", "lint", "chart", "--strict", "--namespace", namespace);
  const rendered = await operator.run("helm", "template", name, "chart", "--namespace", namespace);
  assertEquals(byId(documents(rendered), true), byId(expected, true), `helm: ${args.join(" ")}`);

  if (isKnown) {
    const { code, stderr } = await controlPlane.kubectl(["create", "namespace", namespace]);
    assert(code === 0 || stderr.includes("already exists"), stderr);
    for (const stdin of [text, built, rendered]) {
      await controlPlane.kubectlOutput(["apply", "--server-side", "--dry-run=server", "-f", "-"], { stdin });
    }
  }
  if (isBundle) await assertBundle(operator, args);
  if (isBundle && expected.some(({ kind }) => kind.endsWith("WebhookConfiguration"))) {
    await assertBundle(operator, [...args, ...monitoring]);
  }
}

/** The example changes one setting, so that a user sees how; the rest is as in the base. */
function assertOverlay(built: readonly PackagedObject[], expected: readonly PackagedObject[], name: string): void {
  const deployment = `Deployment ${expected.find(({ kind }) => kind === "Deployment")?.metadata.namespace}/${name}`;
  const { [deployment]: changed, ...others } = byId(built);
  const { [deployment]: base, ...same } = byId(expected);
  assertEquals(others, same);
  const text = JSON.stringify(changed);
  assert(text.includes('"limits":{"cpu":"1","memory":"1Gi"}'), text);
  assertEquals<unknown>(JSON.parse(text.replace('"1Gi"', '"512Mi"')), base);
}

/** The validation logs what it finds, and ends with 0. */
async function assertBundle(operator: PackagedOperator, args: readonly string[]): Promise<void> {
  await operator.manifests(...args, "-o", "olm", "--output-dir", join(operator.folder, "bundle"));
  const flags = ["--operatorhub_validate", "--object_validate"];
  const result = await run(operator.programs.operatorVerify, ["manifests", "bundle", ...flags], {
    cwd: operator.folder,
  });
  assert(result.kind === "ended");
  const errors = result.stderr.split("\n").filter((line) => /level=(error|fatal)/.test(line));
  assertEquals([result.code, errors], [0, []], args.join(" "));
  // It does find errors.
  const folder = join(operator.folder, "bundle", "manifests");
  const name = readdirSync(folder).find((file) => file.endsWith(".clusterserviceversion.yaml")) ?? "";
  const path = join(folder, name);
  writeFileSync(path, readFileSync(path, "utf8").replace(/^( *)installModes:$/m, "$1otherModes:"));
  const broken = await run(operator.programs.operatorVerify, ["manifests", "bundle"], { cwd: operator.folder });
  assert(broken.kind === "ended" && /level=error/.test(broken.stderr), JSON.stringify(broken));
}

controlPlaneTest("the values of a chart are used, and checked by its schema", async () => {
  await withPrograms(async (programs) => {
    using operator = new PackagedOperator(programs, [binaryPath()]);
    await operator.manifests("nodepool", ...own, "-o", "helm", "--output-dir", join(operator.folder, "chart"));
    const template = async (...values: readonly string[]) => {
      const sets = values.flatMap((value) => ["--set", value]);
      return documents(await operator.run("helm", "template", "np", "chart", "--namespace", "ops", ...sets));
    };
    const kinds = (objects: readonly PackagedObject[]) => new Set(objects.map(({ kind }) => kind));
    const all = kinds(await template());
    assert(["ServiceMonitor", "PodDisruptionBudget", "CustomResourceDefinition"].every((kind) => all.has(kind)));
    const changed = await template(
      ...["replicas=1", "image.tag=v9", "extraArgs[0]=--workers=4", "nodeSelector.disk=ssd", "tolerations=null"],
      ...["imagePullSecrets[0].name=pull", "crds.enabled=false", "serviceMonitor.enabled=false"],
    );
    const few = kinds(changed);
    assert(!["ServiceMonitor", "PodDisruptionBudget", "CustomResourceDefinition"].some((kind) => few.has(kind)));
    const text = JSON.stringify(changed.find(({ kind }) => kind === "Deployment"));
    for (const part of ['"replicas":1', ':v9"', '"--workers=4"]', '"disk":"ssd"', '"name":"pull"']) {
      assert(text.includes(part), `${part} is missing: ${text}`);
    }
    assert(!text.includes('"tolerations"'), text);
    assert(changed.every(({ metadata: { namespace = "ops" } }) => namespace === "ops" || namespace === "default"));
    const elsewhere = JSON.stringify(await template("namespaceOverride=edge"));
    assert(elsewhere.includes('"controller-nodepool.edge"') && !elsewhere.includes('"ops"'), elsewhere);
    const kept = (await template("crds.keep=false")).filter(({ metadata: { annotations } }) => annotations !== null)
      .filter(({ metadata: { annotations = {} } }) => "helm.sh/resource-policy" in annotations);
    assertEquals(kept, []);
    for (
      const wrong of ["replicas=many", "unknown=1", "extraArgs[0]=workers", "image.name=x", "namespaceOverride=A_b"]
    ) {
      await assertRejects(() => template(wrong), /values don't meet the specifications of the schema/);
    }
  });
});
