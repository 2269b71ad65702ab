/**
 * The examples of the docs that talk to containers, as they stand there: their Pods run on real Nodes. The `shop` has
 * `web-0`, which logs, serves /healthz on port 8080 and has a shell, and `db-0`, which has a program named `pg_dump`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Pod } from "../../src/mod.ts";
import { Client } from "../../src/client.ts";
import { examplesIn, filesWithExamples, moduleOf, testOf } from "../../tasks/_doc_examples.ts";
import { root } from "../../tasks/_root.ts";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertStringIncludes } from "../testing.ts";
import { busyboxImage } from "./images.ts";
import { realNodeTest } from "./test.ts";

const web = `
mkdir -p /tmp/www && echo -n ok >/tmp/www/healthz
httpd -p 8080 -h /tmp/www
echo listening
while sleep 1; do echo tick; done
`;

const database = `
echo '#!/bin/sh' >/bin/pg_dump
echo 'echo "CREATE TABLE orders;"' >>/bin/pg_dump
chmod 755 /bin/pg_dump
while sleep 1; do :; done
`;

const programs = { web, db: database };

realNodeTest("[115, 116] the examples of the docs that talk to containers work as they stand there", async (node) => {
  const { controlPlane } = node;
  const { kubeconfig } = controlPlane;
  await controlPlane.kubectlOutput(["create", "namespace", "shop"]);
  using client = await Client.fromKubeconfig({ overrides: { kubeconfig } });
  const signal = AbortSignal.timeout(120_000);
  for (const [name, program] of Object.entries(programs)) {
    const containers = [{ name, image: busyboxImage, command: ["sh", "-c", program] }];
    const spec = { containers, terminationGracePeriodSeconds: 0 };
    await client.create(Pod, { metadata: { namespace: "shop", name: `${name}-0` }, spec });
    await client.waitFor(Pod, `shop/${name}-0`, "Ready", { signal });
  }
  const examples = filesWithExamples(root)
    .flatMap((path) => examplesIn(path, readFileSync(join(root, path), "utf8")))
    .filter(({ needsKubelet }) => needsKubelet);
  assert(examples.length > 5);
  const folder = mkdtempSync(join(tmpdir(), "pintle-examples-"));
  try {
    const modules = examples.map((example, index) => {
      writeFileSync(join(folder, `example_${index}.ts`), moduleOf(example, root));
      return `./example_${index}.ts`;
    });
    const file = join(folder, "examples_test.ts");
    writeFileSync(file, testOf(examples.map((example) => ({ ...example, needsKubelet: false })), modules));
    const args = ["test", "-A", "--no-check", "--config", join(root, "deno.json"), file];
    const result = await run(process.execPath, args, { cwd: root, env: { KUBECONFIG: kubeconfig, NO_COLOR: "1" } });
    assert(result.kind === "ended");
    assertEquals(result.code, 0, result.stdout + result.stderr);
    assertStringIncludes(result.stdout, `${examples.length} passed`);
  } finally {
    rmSync(folder, { recursive: true });
    await controlPlane.kubectlOutput(["delete", "namespace", "shop", "--wait=false"]);
  }
});
