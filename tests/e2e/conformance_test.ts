/** conformance with the compiled binary: the examples on a real control plane and the embedded server. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlPlaneTest } from "../controlplane/test.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../testing.ts";
import { runBinary } from "./_binary.ts";

const examples = join(import.meta.dirname ?? ".", "..", "..", "examples", "conformance");

interface Named {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
}

/** What is left of the cases: namespaces that are not being deleted, and ClusterRoles. */
async function leftOn(controlPlane: ControlPlane): Promise<readonly unknown[]> {
  const { items } = JSON.parse(await controlPlane.kubectlOutput(["get", "namespaces,clusterroles", "-o", "json"]));
  return items.map(({ metadata }: Named) => metadata)
    .filter(({ name, deletionTimestamp }: Named["metadata"]) =>
      /^conformance-[0-9a-f]{8}$/.test(name) && deletionTimestamp === undefined
    );
}

controlPlaneTest(
  "[141] conformance plays the examples on a real server and the embedded one, which agree",
  async (controlPlane) => {
    const { kubeconfig } = controlPlane;
    const { code, stdout, stderr } = await runBinary(["conformance", "--embedded", examples], { kubeconfig });
    assertEquals({ code, stdout }, { code: 0, stdout: "6 cases, 6 agree\n" }, stderr);
    const twice = ["conformance", "--kubeconfig", kubeconfig, "--kubeconfig", kubeconfig, examples];
    const same = await runBinary(twice);
    assertEquals([same.code, same.stdout], [0, "6 cases, 6 agree\n"], same.stderr);
    assertEquals(await leftOn(controlPlane), []);
  },
);

controlPlaneTest(
  "[141] conformance shows what differs as diff and as JSON, without values of Secrets, and ends with 2",
  async (controlPlane) => {
    const folder = mkdtempSync(join(tmpdir(), "conformance-"));
    try {
      const path = join(folder, "requests.yaml");
      writeFileSync(
        path,
        `name: versions
requests:
- path: /version
---
name: a Secret
requests:
- path: /api/v1/namespaces/\${NAMESPACE}/secrets
  body: { apiVersion: v1, kind: Secret, metadata: { name: some }, stringData: { code: "hunter-\${UNIQUE}" } }
`,
      );
      const options = { kubeconfig: controlPlane.kubeconfig };
      const { code, stdout } = await runBinary(["conformance", "--embedded", path], options);
      assertEquals(code, 2);
      assertMatch(
        stdout,
        /^# differs: versions \(.*requests\.yaml:1\)\n--- current\n\+\+\+ embedded\n@@ .* @@ GET \/version\n/,
      );
      assertMatch(stdout, /\n- {4}gitVersion: v/);
      assertStringIncludes(stdout, "# differs: a Secret (");
      assertStringIncludes(stdout, "[masked] (embedded)");
      assert(!stdout.includes("hunter"), stdout);
      assert(!stdout.includes(btoa("hunter-").slice(0, 8)), stdout);
      const json = await runBinary(["conformance", "--embedded", "-o", "json", path], options);
      const { summary, cases: [first] } = JSON.parse(json.stdout);
      assertEquals([json.code, summary], [2, { cases: 2, agree: 0 }]);
      assertEquals([first.left.length, first.right[0].response.major], [1, first.left[0].response.major]);
      assertEquals(await leftOn(controlPlane), []);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
