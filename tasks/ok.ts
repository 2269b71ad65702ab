/**
 * `deno task ok`: the gate before a commit, everything that needs no cluster: style, types, layers, golden files, the
 * examples in the docs, all unit tests on Deno, and the tests of the runtime and the engine on Bun.
 */
import process from "node:process";
import { report, runSteps, type Step } from "./steps.ts";

/** The steps of the gate, the fastest first. */
export const okSteps: readonly Step[] = [
  { name: "fmt", command: ["deno", "fmt", "--check", "--quiet"] },
  { name: "lint", command: ["deno", "lint", "--quiet"] },
  { name: "check", command: ["deno", "check", "--quiet", "main.ts", "src", "tests", "tasks", "bench", "examples"] },
  { name: "golden", command: ["deno", "run", "-A", "tasks/golden.ts", "--check"] },
  { name: "behaviours", command: ["deno", "run", "-A", "tasks/behaviours.ts", "--check"] },
  { name: "conformance page", command: ["deno", "run", "-A", "tasks/conformance.ts", "--page", "--check"] },
  { name: "public docs", command: ["deno", "run", "-A", "tasks/public_docs.ts"] },
  { name: "doc examples", command: ["deno", "run", "-A", "tasks/doc_examples.ts"] },
  // Only a part of tests/: `deno task e2e` runs the tests that need a cluster.
  {
    name: "tests on Deno",
    command: [
      "deno",
      "test",
      "-A",
      "--no-check",
      "--quiet",
      "src",
      "bench",
      "tests/*_test.ts",
      "tests/attacks",
      "tests/scenario",
      "tests/simulation",
    ],
  },
  {
    name: "conformance with recordings",
    command: ["deno", "test", "-A", "--no-check", "--quiet", "tests/conformance/recordings_test.ts"],
  },
  { name: "tests on Bun", command: ["sh", "tasks/bun.sh", "test", "./src"] },
];

if (import.meta.main) {
  process.exit(report(await runSteps(okSteps)) ? 0 : 1);
}
