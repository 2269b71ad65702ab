/**
 * The command lines of docs/guide/other-languages.md, with operators of other frameworks and their test environments,
 * unmodified: the crate envtest, kube-api-test and the JUnit extension of the Java Operator SDK, kopf with pytest, and
 * setup-envtest. No real control plane is needed.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../tasks/_root.ts";
import { missing, type Tool } from "../clients/build.ts";
import { javaOperator, type Operator, pythonOperator, rustOperator } from "../clients/operators.ts";
import { setupEnvtest } from "../clients/setup_envtest.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";
import { runBinary } from "./_binary.ts";

/** Maven fetches its plugins in the first run. */
const timeoutMs = 1_200_000;
const guide = readFileSync(join(root, "docs/guide/other-languages.md"), "utf8");
const version = "1.36.3";
const servedBy = `version v${version}+pintle`;

interface OperatorTest {
  readonly name: string;
  readonly tools: readonly Tool[];
  readonly operator: () => Promise<Operator>;
  /** As the guide has it. */
  readonly line: readonly string[];
  /** What its output has. */
  readonly passed: readonly string[];
}

const operatorTests: readonly OperatorTest[] = [
  {
    name: "[139] an operator with kube-rs passes its tests with the crate envtest",
    tools: ["cargo", "go", "python3"],
    operator: rustOperator,
    line: ["envtest", "--", "cargo", "test"],
    passed: [servedBy, "test result: ok. 2 passed"],
  },
  {
    name: "[139] an operator with the Java Operator SDK passes its tests with kube-api-test",
    tools: ["java", "mvn", "kubectl"],
    operator: javaOperator,
    line: ["envtest", "--", "mvn", "test"],
    passed: [servedBy, "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0"],
  },
  {
    name: "an operator with the Java Operator SDK passes its tests in a namespace of dev",
    tools: ["java", "mvn"],
    operator: javaOperator,
    line: ["dev", "--", "mvn", "test", "-Dtest=*E2E"],
    passed: ["Tests run: 1, Failures: 0, Errors: 0, Skipped: 0"],
  },
  {
    name: "an operator with kopf passes its tests with pytest",
    tools: ["python3"],
    operator: pythonOperator,
    line: ["dev", "--bare", "--", "pytest"],
    passed: ["2 passed"],
  },
];

for (const { name, tools, operator, line, passed } of operatorTests) {
  const reason = tools.map(missing).find((reason) => reason !== undefined);
  if (reason !== undefined) {
    test.skip(name, reason);
    continue;
  }
  test(name, async () => {
    assertStringIncludes(guide, `controller ${line.join(" ")}`);
    using project = await operator();
    const { code, stdout, stderr } = await runBinary(line, { cwd: project.cwd, env: project.env, timeoutMs });
    assertEquals(code, 0, stdout + stderr);
    for (const text of passed) assertStringIncludes(stdout, text);
  });
}

const setupTitle = "[139] setup-envtest finds what envtest has written, and downloads nothing";
const noGo = missing("go");
if (noGo !== undefined) test.skip(setupTitle, noGo);
else {
  test(setupTitle, async () => {
    assertStringIncludes(guide, `the exact version (${version})`);
    const setup = await setupEnvtest();
    assert(setup.kind === "ready", setup.kind === "ready" ? "" : setup.reason);
    const data = mkdtempSync(join(tmpdir(), "pintle-setup-envtest-"));
    try {
      // The folder of setup-envtest when it is given none.
      const binDir = join(data, "kubebuilder-envtest");
      const written = join(binDir, "k8s", `${version}-linux-${arch() === "x64" ? "amd64" : arch()}`);
      const { code, stderr } = await runBinary(["envtest", "--bin-dir", binDir]);
      assertEquals(code, 0, stderr);
      const ask = (...args: readonly string[]) => setup.run(args, { XDG_DATA_HOME: data });
      assertEquals(await ask("use", "-i", "-p", "path"), written);
      assertEquals(await ask("use", "-i", "-p", "path", "--bin-dir", binDir, "1.36.x"), written);
      assertEquals(
        await ask("use", "-i", "-p", "env", "--bin-dir", binDir, version),
        `export KUBEBUILDER_ASSETS='${written}'`,
      );
      // As in the Makefiles of kubebuilder: without -i it would ask the index for a version that it does not find.
      const index = "http://127.0.0.1:1/";
      assertEquals(await ask("use", "1.36", "--bin-dir", binDir, "-p", "path", "--index", index), written);
      const flat = join(data, "flat");
      const useEnv = ["use", "--use-env", "-i", "-p", "path"];
      const answer = await runBinary(["envtest", flat, "--", setup.path, ...useEnv]);
      assertEquals([answer.code, answer.stdout], [0, flat], answer.stderr);
    } finally {
      rmSync(data, { recursive: true });
    }
  });
}
