/**
 * The tests of operator-sdk's scorecard on bundles of `manifests`. The scorecard starts one program in a Pod for each test, with
 * the bundle at `/bundle`; here the same program runs in a root that has only itself and the bundle. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/scorecard_test.ts
 */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseYaml } from "../../src/yaml/mod.ts";
import { root } from "../../tasks/_root.ts";
import { run } from "../controlplane/run.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { type BundlePrograms, bundlePrograms } from "../packages/programs.ts";
import { assert, assertEquals } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

/** What a test of the scorecard prints. */
interface ScorecardResult {
  readonly name: string;
  readonly state: string;
  readonly errors?: readonly string[];
}

/** A bundle, and the program of the scorecard beside it. */
class Bundle implements Disposable {
  readonly #root = mkdtempSync(join(tmpdir(), "pintle-scorecard-"));

  static async create(command: readonly string[], args: readonly string[] = [], cwd: string = root): Promise<Bundle> {
    const { scorecardTest } = await programs();
    const bundle = new Bundle();
    copyFileSync(scorecardTest, join(bundle.#root, "scorecard-test"));
    const [program = "", ...first] = command;
    const words = [...first, "manifests", ...args, "-o", "olm", "--output-dir", bundle.folder];
    const result = await run(program, words, { cwd, env: { PINTLE_OPERATOR_VERSION: "1.2.3" } });
    assert(result.kind === "ended" && result.code === 0, JSON.stringify(result));
    return bundle;
  }

  get folder(): string {
    return join(this.#root, "bundle");
  }

  /** The path of the ClusterServiceVersion. */
  get version(): string {
    const folder = join(this.folder, "manifests");
    return join(folder, readdirSync(folder).find((name) => name.endsWith(".clusterserviceversion.yaml")) ?? "");
  }

  /** The command of each test that the bundle's configuration lists. */
  tests(): readonly (readonly string[])[] {
    const text = readFileSync(join(this.folder, "tests", "scorecard", "config.yaml"), "utf8");
    const { stages } = parseYaml(text).value() as {
      readonly stages: readonly { readonly tests: readonly { readonly entrypoint: readonly string[] }[] }[];
    };
    return stages.flatMap(({ tests }) => tests).map(({ entrypoint }) => entrypoint);
  }

  async result(entrypoint: readonly string[]): Promise<ScorecardResult> {
    const env = { PATH: `/:${process.env["PATH"]}` };
    const result = await run("unshare", ["--map-root-user", "chroot", this.#root, ...entrypoint], { env });
    assert(result.kind === "ended" && result.code === 0, JSON.stringify(result));
    const { results: [found] } = JSON.parse(result.stdout) as { readonly results: readonly ScorecardResult[] };
    assert(found !== undefined, result.stdout);
    return found;
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true });
  }
}

async function programs(): Promise<BundlePrograms> {
  const outcome = await bundlePrograms();
  // Where the control plane was built, these programs can be built, too.
  if (outcome.kind === "unavailable") throw new Error(`Cannot build the programs: ${outcome.reason}`);
  return outcome.programs;
}

async function assertPasses(bundle: Bundle): Promise<void> {
  const tests = bundle.tests();
  assertEquals(tests.length, 6);
  for (const entrypoint of tests) {
    const { name, state, errors = [] } = await bundle.result(entrypoint);
    assertEquals([name, state, errors], [entrypoint[1], "pass", []]);
  }
}

controlPlaneTest("bundles of all controllers and of each alone pass every test of the scorecard", async () => {
  for (const names of [[], ["foo"], ["pods"], ["ecsbinding"], ["nodepool"], ["ingress"]]) {
    using bundle = await Bundle.create([binaryPath()], names);
    await assertPasses(bundle);
  }
});

controlPlaneTest("so does the bundle of an operator that new has written", async () => {
  const above = mkdtempSync(join(tmpdir(), "pintle-scorecard-new-"));
  try {
    const [deno, project] = [process.execPath, join(above, "website")];
    const words = ["run", "-A", join(root, "src", "bin.ts"), "new", "website", "--owns", "Deployment"];
    const made = await run(deno, [...words, "--dir", project], { cwd: root });
    assert(made.kind === "ended" && made.code === 0, JSON.stringify(made));
    using bundle = await Bundle.create([deno, "run", "-A", "main.ts"], [], project);
    await assertPasses(bundle);
  } finally {
    rmSync(above, { recursive: true });
  }
});

/** A change of a ClusterServiceVersion, and the test that fails by it. */
const breaks: readonly (readonly [test: string, pattern: RegExp, replacement: string])[] = [
  ["olm-bundle-validation", /^( *)installModes:$/m, "$1otherModes:"],
  ["olm-crds-have-validation", /"handler": "runc"/, '"unknown": "runc"'],
  ["olm-crds-have-resources", /^( *)resources:$/gm, "$1otherResources:"],
  ["olm-spec-descriptors", /^( *)specDescriptors:$/gm, "$1otherDescriptors:"],
];

controlPlaneTest("tests of the scorecard fail on a bundle that lacks what they look for", async () => {
  using bundle = await Bundle.create([binaryPath()], ["nodepool"]);
  const text = readFileSync(bundle.version, "utf8");
  for (const [name, pattern, replacement] of breaks) {
    writeFileSync(bundle.version, text.replace(pattern, replacement));
    assertEquals((await bundle.result(["scorecard-test", name])).state, "fail", name);
  }
});

controlPlaneTest("the definitions and examples of a bundle are accepted by an API server", async (controlPlane) => {
  using bundle = await Bundle.create([binaryPath()]);
  const folder = join(bundle.folder, "manifests");
  const definitions = readdirSync(folder).filter((name) => name.endsWith(".customresourcedefinition.yaml"));
  assertEquals(definitions.length, 3);
  for (const name of definitions) {
    await controlPlane.kubectlOutput(["apply", "--server-side", "-f", join(folder, name)]);
    const [crd] = name.split(".customresourcedefinition.yaml");
    await controlPlane.kubectlOutput(["wait", "--for=condition=Established", `crd/${crd}`]);
  }
  const version = parseYaml(readFileSync(bundle.version, "utf8")).value() as {
    readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  };
  const examples = JSON.parse(version.metadata.annotations["alm-examples"] ?? "[]") as readonly object[];
  assertEquals(examples.length, 3);
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: examples });
  await controlPlane.kubectlOutput(["apply", "--dry-run=server", "-f", "-"], { stdin });
}, { own: {} });
