/**
 * The command lines of docs/guide/simulate_any_operator.md: operators in Go, Java and Python, as their authors start them, are
 * simulated under crashes. The one in Go has the bug that the guide shows; the others have none that a crash finds.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { root } from "../../tasks/_root.ts";
import { missing } from "../clients/build.ts";
import { javaOperator, type Operator, pythonOperator } from "../clients/operators.ts";
import { goProgram } from "../controlplane/go_build.ts";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../testing.ts";
import { runBinary } from "./_binary.ts";

const guide = readFileSync(join(root, "docs/guide/simulate_any_operator.md"), "utf8");
/** A JVM starts for each process, on a machine that runs other tests. */
const timeoutMs = 900_000;

/** The words of a line of the guide, without those before the flags. */
function flagsOf(command: string): readonly string[] {
  const line = guide.split("\n").find((one) =>
    one.startsWith("controller simulate --command ") && one.includes(command)
  );
  assert(line !== undefined, `the guide has no line with ${command}`);
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "").slice(1);
}

const goTitle = "the guide's operator in Go loses its Service when it is killed between two creates";
const noGo = missing("go");
if (noGo !== undefined) test.skip(goTitle, noGo);
else {
  test(goTitle, async () => {
    const moduleDir = join(root, "examples/website-go");
    const programs = { manager: "examples.pintle.dev/website" };
    const manager = await goProgram({ name: "website-go", moduleDir, programs });
    const folder = mkdtempSync(join(tmpdir(), "pintle-any-operator-"));
    try {
      const report = join(folder, "simulate.xml");
      const line = flagsOf("./manager --crds crds").map((word) => word === "./manager" ? manager : word);
      const { code, stdout, stderr } = await runBinary([...line, "--junit", report], { cwd: moduleDir, timeoutMs });
      assertEquals(code, 1, stdout + stderr);
      assertStringIncludes(stdout, "The Service default/hello was never created.\n");
      // Several runs are under way at once, and either of these crashes may be the first that is found.
      assertMatch(
        stdout,
        /after: crash before the (response to the first create of configmaps|first create of services) /,
      );
      assertMatch(readFileSync(report, "utf8"), /<testsuites name="simulate" tests="\d+" failures="[1-9]/);
      const [, plan] = /--plan '([^']+)'/.exec(stdout) ?? [];
      assert(plan !== undefined, stdout);
      const again = await runBinary([...line, "--plan", plan], { cwd: moduleDir, timeoutMs });
      assertEquals(again.code, 1, again.stdout + again.stderr);
      assertStringIncludes(again.stdout, "The Service default/hello was never created.\n");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

const otherTests = [
  { name: "Java Operator SDK", tools: ["java", "mvn"], command: "greeting.GreetingOperator", prepare: prepareJava },
  { name: "kopf", tools: ["python3"], command: "kopf run", prepare: pythonOperator },
] as const;

for (const { name, tools, command, prepare } of otherTests) {
  const title = `an operator with the ${name} is simulated as its author starts it`;
  const reason = tools.map(missing).find((one) => one !== undefined);
  if (reason !== undefined) {
    test.skip(title, reason);
    continue;
  }
  test(title, async () => {
    using project = await prepare();
    const classpath = project.env["CLASSPATH"] ?? "";
    const line = flagsOf(command).map((word) => word.replace("$CLASSPATH", classpath));
    const env = { ...project.env, PATH: project.env["PATH"] ?? process.env["PATH"] ?? "" };
    const { code, stdout, stderr } = await runBinary([...line, "--jobs", "2"], { cwd: project.cwd, env, timeoutMs });
    assertEquals(code, 0, stdout + stderr);
    const [, tested, all] = /crash +(\d+) of (\d+)/.exec(stdout) ?? [];
    assertEquals(tested, all, stdout);
    assert(Number(all) > 0, stdout);
  });
}

/** Compiles the operator with Maven. */
async function prepareJava(): Promise<Operator> {
  const project = await javaOperator();
  const file = join(project.cwd, "target/classpath.txt");
  const goals = ["compile", "dependency:build-classpath", `-Dmdep.outputFile=${file}`];
  const built = await run("mvn", ["-q", "-B", ...goals], { cwd: project.cwd, env: project.env });
  assert(built.kind === "ended" && built.code === 0, JSON.stringify(built));
  const CLASSPATH = [join(project.cwd, "target/classes"), readFileSync(file, "utf8").trim()].join(delimiter);
  return { ...project, env: { ...project.env, CLASSPATH } };
}
