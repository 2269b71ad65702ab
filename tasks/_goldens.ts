/**
 * The content of the golden files: a CRD for each kind that a controller under src/controllers defines, the list of
 * public names, the output of `manifests`, and the compiler's messages about common mistakes. The task writes them, tests
 * compare them.
 */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { ecsbindingController } from "../src/controllers/ecsbinding/mod.ts";
import { fooController } from "../src/controllers/foo/mod.ts";
import { ingressController } from "../src/controllers/ingress/mod.ts";
import { nodepoolController, nodepoolWebhooks } from "../src/controllers/nodepool/mod.ts";
import { podsController } from "../src/controllers/pods/mod.ts";
import { operatorCli, withWebhooks } from "../src/mod.ts";
import { type Crd, printCrd } from "../src/schema/mod.ts";
import config from "../deno.json" with { type: "json" };
import { mistakesText, type Reported } from "./_mistakes.ts";
import { root } from "./_root.ts";

const notice = "# Written from code by `deno run -A tasks/golden.ts`; do not edit.\n";

/** One golden file. */
export interface Golden {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
}

/** The CRDs of all controllers, named as controller-gen names them: `crds/<group>_<plural>.yaml`. */
export async function crdGoldens(): Promise<readonly Golden[]> {
  const folder = join(root, "src", "controllers");
  const files = readdirSync(folder).map((name) => join(folder, name, "resource.ts")).filter((path) => existsSync(path));
  const goldens: Golden[] = [];
  for (const file of files.sort()) {
    const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href);
    for (const crd of Object.values(exported).filter(hasCrd).map((resource) => resource.crd)) {
      goldens.push({ path: `crds/${crd.spec.group}_${crd.spec.names.plural}.yaml`, text: notice + printCrd(crd) });
    }
  }
  return goldens;
}

/** The public surface: for each entry of the package one line per exported name with its kinds, in alphabetical order. */
export async function publicApiGolden(): Promise<Golden> {
  const entries = Object.entries(config.exports);
  const texts = await Promise.all(entries.map(async ([subpath, file]) => {
    const options = { cwd: root, maxBuffer: 256 << 20 };
    const { stdout } = await promisify(execFile)(process.execPath, ["doc", "--json", file], options);
    return `${config.name}${subpath.slice(1)}\n${listingOf(JSON.parse(stdout)).map((line) => `  ${line}\n`).join("")}`;
  }));
  return { path: "tests/golden/public_api.txt", text: texts.join("\n") };
}

/** What the compiler says about each mistake. */
export function mistakesGolden(reported: readonly Reported[]): Golden {
  return { path: "tests/golden/mistakes.txt", text: mistakesText(reported) };
}

const image = "--image=registry.example.com/controller:1.2.3";

/** The arguments of `manifests`, by the name of the golden file. */
const manifestCalls: Readonly<Record<string, readonly string[]>> = {
  all: [image],
  foo: ["foo", image],
  foo_namespaced: ["foo", image, "--namespaced", "--namespace=team-a"],
  nodepool: ["nodepool", image],
  nodepool_own_certificates: ["nodepool", image, "--cert-secret=webhook-tls", "--webhook-from=10.0.0.0/28"],
  pods: ["pods", image, "--replicas=1", "--existing-namespace", "-o", "json"],
};

/** The output of `manifests` for Pintle's own controllers. */
export async function manifestGoldens(): Promise<readonly Golden[]> {
  const nodepool = withWebhooks(nodepoolController, nodepoolWebhooks);
  const controllers = [fooController, podsController, ecsbindingController, nodepool, ingressController];
  const operator = { name: "controller", version: "1.2.3", controllers };
  const goldens: Golden[] = [];
  for (const [name, args] of Object.entries(manifestCalls)) {
    let text = "";
    const write = (part: string) => (text += part) !== undefined;
    const stdout = { write, flush: () => Promise.resolve(), isTerminal: false, columns: undefined };
    const code = await operatorCli(operator, { args: ["manifests", ...args], environment: {}, stdout });
    if (code !== 0) throw new Error(`Cannot make the manifests "${name}": exit code ${code}`);
    goldens.push({ path: `tests/golden/manifests_${name}.${args.includes("json") ? "json" : "yaml"}`, text });
  }
  return goldens;
}

/** Golden files under crds/ whose kind no controller defines any more. */
export function strayCrds(goldens: readonly Golden[]): readonly string[] {
  const known = new Set(goldens.map(({ path }) => path));
  return readdirSync(join(root, "crds")).filter((name) => name.endsWith(".yaml")).map((name) => `crds/${name}`)
    .filter((path) => !known.has(path));
}

/** The present content of a golden file; "" if it does not exist. */
export function present(golden: Golden): string {
  const path = join(root, golden.path);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** The part of `deno doc --json` (version 2) that is read here. */
interface Documentation {
  readonly version: number;
  readonly nodes: Readonly<
    Record<string, {
      readonly symbols: readonly {
        readonly name: string;
        readonly declarations: readonly { readonly kind: string; readonly declarationKind: string }[];
      }[];
    }>
  >;
}

function listingOf(documentation: Documentation): readonly string[] {
  if (documentation.version !== 2) {
    throw new Error(`Cannot read the output of deno doc: version ${documentation.version}, known is 2`);
  }
  const symbols = Object.values(documentation.nodes).flatMap((module) => module.symbols);
  return symbols.map(({ name, declarations }) => {
    const kinds = new Set(
      declarations.filter(({ declarationKind }) => declarationKind === "export").map(({ kind }) => kind),
    );
    return `${name} ${[...kinds].sort().join(" ")}`;
  }).sort();
}

function hasCrd(value: unknown): value is { readonly crd: Crd } {
  return typeof value === "object" && value !== null && "crd" in value;
}
