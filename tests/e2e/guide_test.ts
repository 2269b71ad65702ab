/**
 * The commands of the guide, as a newcomer types them: on a machine with Node and kubectl, from the packed files, on a real
 * control plane. The pages are read in their order: the first one makes the project in which those about testing and
 * production begin.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../tasks/_root.ts";
import { missingRuntimes } from "../../tasks/_runtimes.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { guidePages, missingLine, type ShellBlock, shellBlocks } from "../shell_blocks.ts";
import { assertEquals, test } from "../testing.ts";
import { type Machine, machine, nodeOnly } from "./_machine.ts";
import { packedArchives } from "./_packed.ts";
import { registryWith } from "./_user_runtimes.ts";

const title = "the commands of the guide run on a machine with Node and kubectl, and print what it shows";

/** Two definitions of others, which the guide makes typed kinds of. */
const otherKinds = ["Certificate", "Issuer"].map((kind) => {
  const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`];
  const properties = { secretName: { type: "string", maxLength: 253 }, duration: { type: "string", default: "2160h" } };
  const spec = { type: "object", required: ["secretName"], properties };
  const schema = { openAPIV3Schema: { type: "object", required: ["spec"], properties: { spec } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.cert-manager.io` },
    spec: {
      group: "cert-manager.io",
      scope: "Namespaced",
      names: { kind, plural, singular, listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
});

/** What the text before the blocks takes for granted. */
async function prepare(here: Machine, controlPlane: ControlPlane): Promise<void> {
  const list = { apiVersion: "v1", kind: "List", items: otherKinds };
  writeFileSync(join(here.folder, "bundle.yaml"), JSON.stringify(list));
  writeFileSync(join(here.folder, "crd.yaml"), readFileSync(join(root, "crds/samplecontroller.k8s.io_foos.yaml")));
  await controlPlane.kubectlOutput(["apply", "-f", join(here.folder, "bundle.yaml")]);
}

/** A shell that keeps its folder between the blocks. */
class Shell {
  readonly #here: Machine;
  #folder: string;

  constructor(here: Machine, folder: string) {
    this.#here = here;
    this.#folder = folder;
  }

  /** Runs the commands of a block. @returns where the page shows something else than they print */
  async run({ page, line, commands }: ShellBlock): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const { text, output } of commands) {
      const where = join(this.#here.folder, "folder");
      const printed = await this.#here.run(`${text} && pwd >'${where}'`, this.#folder);
      this.#folder = readFileSync(where, "utf8").trim();
      const missing = output === undefined ? undefined : missingLine(output, printed);
      if (missing !== undefined) {
        problems.push(`${page}:${line}: ${text} did not print "${missing}" there:\n${printed}`);
      }
    }
    return problems;
  }
}

async function readGuide(controlPlane: ControlPlane): Promise<void> {
  await using registry = await registryWith(await packedArchives());
  using here = machine({
    programs: { ...nodeOnly(), kubectl: `exec '${controlPlane.description.binaries.kubectl}' "$@"` },
    registry: registry.url,
    tools: ["cat", "ls", "head", "grep", "sed", "mkdir", "tar"],
    variables: { KUBECONFIG: controlPlane.kubeconfig },
  });
  await prepare(here, controlPlane);
  const problems: string[] = [];
  for (const page of guidePages()) {
    const isOutside = /first-operator|kinds/.test(page);
    const shell = new Shell(here, isOutside ? here.folder : join(here.folder, "website"));
    for (const block of shellBlocks(page)) {
      if (block.notRun === undefined) problems.push(...await shell.run(block));
    }
  }
  assertEquals(problems, [], problems.join("\n"));
}

if (missingRuntimes === undefined) controlPlaneTest(title, readGuide, { own: {} });
else test.skip(title, missingRuntimes);
