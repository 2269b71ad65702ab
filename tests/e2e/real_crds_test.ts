/**
 * `new --from-crd` with the definitions of other projects, as they publish them in their Go modules: each is read and
 * written as a kind, all written kinds type-check, and each makes a definition that an API server enforces as it does the
 * one of the project. Needs Go, no cluster. Run with:
 *
 *   deno test -A --no-check tests/e2e/real_crds_test.ts
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseExactJson, printExactJson } from "../../src/api/mod.ts";
import { importKind } from "../../src/cli/new/imported_kind.ts";
import { readDefinition } from "../../src/cli/new/read_definitions.ts";
import type { Crd, CustomResource } from "../../src/schema/mod.ts";
import { diagnosticsOf } from "../../tasks/_mistakes.ts";
import { run } from "../controlplane/run.ts";
import { loadModule } from "../fakes/load_module.ts";
import { assert, assertEquals, test } from "../testing.ts";

/** A Go module with definitions. */
interface Project {
  readonly path: string;
  readonly version: string;
  /** The checksum of its archive, as in a go.sum. */
  readonly sum: string;
  /** The folders of the definitions. */
  readonly folders: readonly string[];
  /** How many there are: a folder that a project moves must not pass unnoticed when the version changes. */
  readonly definitions: number;
}

const projects: readonly Project[] = [
  {
    path: "sigs.k8s.io/gateway-api",
    version: "v1.3.0",
    sum: "h1:q6okN+/UKDATola4JY7zXzx40WO4VISk7i9DIfOvr9M=",
    folders: ["config/crd/experimental", "config/crd/standard"],
    definitions: 16,
  },
  {
    path: "github.com/cert-manager/cert-manager",
    version: "v1.21.2",
    sum: "h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=",
    folders: ["deploy/crds"],
    definitions: 6,
  },
  {
    path: "sigs.k8s.io/cluster-api",
    version: "v1.14.2",
    sum: "h1:o3GFNaeNFAOEEMpDPfhCK+2CjmV6gtQ8yLEcUwCg7bA=",
    folders: [
      "bootstrap/kubeadm/config/crd/bases",
      "cmd/clusterctl/config/crd/bases",
      "controlplane/kubeadm/config/crd/bases",
      "core/config/crd/bases",
    ],
    definitions: 19,
  },
  {
    path: "github.com/prometheus-operator/prometheus-operator",
    version: "v0.85.0",
    sum: "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    folders: ["example/prometheus-operator-crd"],
    definitions: 10,
  },
  {
    path: "knative.dev/serving",
    version: "v0.51.0",
    sum: "h1:yN2Q7eYqJgoPfZkATjoBZyGbZ2P1Qhns9HIMU4mF+to=",
    folders: ["config/core/300-resources"],
    definitions: 7,
  },
  {
    path: "github.com/kubernetes-csi/external-snapshotter/client/v8",
    version: "v8.7.0",
    sum: "h1:HVaSUeRRHPu49aSiL8eXOjS9Re9G6pM0NzdTGI7mM14=",
    folders: ["config/crd"],
    definitions: 6,
  },
  {
    path: "github.com/argoproj/argo-rollouts",
    version: "v1.8.3",
    sum: "h1:blbtQva4IK9r6gFh+dWkCrLnFdPOWiv9ubQYu36qeaA=",
    folders: ["manifests/crds"],
    definitions: 5,
  },
];

/** Downloads the modules. @returns the folder of each, or why there is none */
async function download(): Promise<ReadonlyMap<string, string> | string> {
  // Outside of any module, so that none of ours gets requirements.
  const modules = projects.map(({ path, version }) => `${path}@${version}`);
  const result = await run("go", ["mod", "download", "-json", ...modules], {
    cwd: tmpdir(),
    env: { GOWORK: "off", GOFLAGS: "-modcacherw" },
  });
  if (result.kind === "missing") return "there is no Go";
  const answers = result.stdout.trim().split(/\n(?=\{)/).map((text) => JSON.parse(text));
  return new Map(projects.map(({ path, sum }) => {
    const { Error: error, Dir: dir, Sum: found } = answers.find((answer) => answer.Path === path) ?? {};
    if (typeof dir !== "string") throw new Error(`Cannot download ${path}: ${error ?? result.stderr.trim()}`);
    assertEquals(found, sum, `the checksum of ${path}`);
    return [path, dir];
  }));
}

/** A definition of a project, and the kind that is written from it. */
interface Written {
  /** Names it in messages: `gateway-api httproutes.gateway.networking.k8s.io`. */
  readonly title: string;
  readonly read: Crd;
  /** The name of its export. */
  readonly kind: string;
  readonly text: string;
}

/** Writes the kinds of all definitions in the files of a project. */
async function writtenKinds({ path, folders }: Project, dir: string): Promise<readonly Written[]> {
  const files = folders.flatMap((folder) =>
    readdirSync(join(dir, folder)).filter((name) => /\.ya?ml$/.test(name)).map((name) => join(dir, folder, name)).sort()
  );
  const written: Written[] = [];
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    const isDefinition = /^kind: CustomResourceDefinition$/m.test(text);
    if (!isDefinition) continue;
    const { crd } = await readDefinition(text, file, undefined);
    const kind = crd.spec.names.kind;
    written.push({ title: `${path}: ${file.slice(dir.length + 1)}`, read: crd, kind, text: importKind(crd).text });
  }
  return written;
}

/**
 * What an API server enforces and shows, of a definition as it has stored it. Not the normal form that `new` compares, so
 * that what that leaves out wrongly is found here.
 */
function enforced({ spec }: Crd): unknown {
  const { conversion, versions, ...rest } = spec;
  // Discovery orders versions by their names.
  const ordered = versions.toSorted((left, right) => left.name < right.name ? -1 : 1);
  const described = ordered.map((version) => {
    const { properties = {}, ...root } = version.schema.openAPIV3Schema;
    // The server has these fields in every object, and describes the first two itself.
    const known = { apiVersion: { type: "string" }, kind: { type: "string" } };
    const whole = { metadata: { type: "object" }, ...properties, ...known };
    return { ...version, schema: { openAPIV3Schema: { ...root, properties: whole } } };
  });
  const whole = { ...rest, versions: described, ...(conversion?.strategy === "None" ? {} : { conversion }) };
  return sorted(parseExactJson(printExactJson(whole)));
}

/** Keywords that mean the same when they are absent as when they have this value. */
const withoutMeaning: ReadonlySet<string> = new Set([
  "required []",
  "properties {}",
  "nullable false",
  "exclusiveMinimum false",
  "exclusiveMaximum false",
  "uniqueItems false",
  "optionalOldSelf false",
  "priority 0",
  "subresources {}",
  // Only allowed beside x-kubernetes-int-or-string, which says the same.
  'anyOf [{"type":"integer"},{"type":"string"}]',
]);

/** With sorted keys and sorted `required`, whose order means nothing. */
function sorted(value: unknown, name = ""): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(item));
    return name === "required" ? items.toSorted() : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const isMap = name === "properties";
  const entries = Object.entries(value).map(([key, item]) => [key, sorted(item, isMap ? "" : key)] as const);
  const kept = entries.filter(([key, item]) => isMap || !withoutMeaning.has(`${key} ${printExactJson(item)}`));
  return Object.fromEntries(kept.toSorted(([left], [right]) => left < right ? -1 : 1));
}

/** As an API server stores the definition of a written kind. */
async function storedForm(crd: Crd): Promise<Crd> {
  return (await readDefinition(printExactJson(crd), "the written kind", undefined)).crd;
}

const library = new URL("../../src/mod.ts", import.meta.url).href;

const title = "the definitions of other projects become kinds that type-check and that an API server enforces alike";

async function check(modules: ReadonlyMap<string, string>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-real-crds-"));
  try {
    const [sources, loaded] = [join(folder, "sources"), join(folder, "loaded")];
    for (const made of [sources, loaded]) mkdirSync(made);
    const texts: Record<string, string> = {};
    for (const project of projects) {
      const written = await writtenKinds(project, modules.get(project.path) ?? "");
      assertEquals(written.length, project.definitions, `definitions of ${project.path}`);
      for (const [index, { title, read, kind, text }] of written.entries()) {
        const name = `${project.path.replaceAll(/\W/g, "_")}_${index}.ts`;
        texts[name] = text;
        const path = join(loaded, name);
        writeFileSync(path, text.replace('"@pintle/controller"', JSON.stringify(library)));
        const resource = (await loadModule(pathToFileURL(path).href))[kind] as CustomResource;
        assertEquals(enforced(await storedForm(resource.crd)), enforced(read), title);
      }
      console.log(`  ${written.length} definitions of ${project.path}`);
    }
    assertEquals(diagnosticsOf(texts), []);
    assert(Object.keys(texts).length > 50);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const modules = await download();
if (typeof modules !== "string") test(title, () => check(modules));
else if (process.env["CI"] !== "true") test.skip(title, modules);
else test(title, () => Promise.reject(new Error(`Cannot skip a test in CI: ${modules}`)));
