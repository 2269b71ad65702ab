/**
 * `deno task ok`: the gate before a commit, everything that needs no cluster: style, types, layers, golden files, the
 * examples in the docs, all unit tests on Deno, and the tests of the runtime and the engine on Bun and on Node.
 */
import process from "node:process";
import { endWithSignals, report, runSteps, type Step } from "./steps.ts";

const denoTest = ["deno", "test", "-A", "--no-check", "--quiet"] as const;
/** Short tests, many files: as one module they take less than half of the time. */
const groupTest = ["deno", "run", "-A", "tasks/test_group.ts"] as const;

/**
 * The steps of the gate: the fastest first, then the longest. Most of them keep one processor busy, so the loads are those
 * of steps.ts.
 */
export const okSteps: readonly Step[] = [
  { name: "fmt", command: ["deno", "fmt", "--check", "--quiet"] },
  { name: "lint", command: ["deno", "lint", "--quiet"] },
  { name: "golden", command: ["deno", "run", "-A", "tasks/golden.ts", "--check"] },
  { name: "behaviours", command: ["deno", "run", "-A", "tasks/behaviours.ts", "--check"] },
  { name: "peers page", command: ["deno", "run", "-A", "tasks/peers.ts", "--check"] },
  { name: "conformance page", command: ["deno", "run", "-A", "tasks/conformance.ts", "--page", "--check"] },
  { name: "tests on Bun", command: ["sh", "tasks/bun.sh", "test", "./src", "./tests/fuzz"] },
  { name: "tests on Node", command: ["deno", "run", "-A", "tasks/node.ts"] },
  { name: "tests on Deno, src 1/2", command: [...groupTest, "--part", "1/2", "src"] },
  { name: "tests on Deno, src 2/2", command: [...groupTest, "--part", "2/2", "src"] },
  // Not as a group: what one attack leaves behind must not change the result of another one.
  { name: "attacks", command: [...denoTest, "tests/attacks"] },
  // Only a part of tests/: `deno task e2e` runs the tests that need a cluster.
  { name: "tests on Deno, tests", command: [...denoTest, "bench", "tests/*_test.ts", "tests/fuzz", "examples"] },
  { name: "simulation", command: [...denoTest, "tests/simulation"] },
  { name: "scenarios", command: [...groupTest, "tests/scenario"] },
  {
    name: "check",
    command: ["deno", "check", "--quiet", "main.ts", "src", "tests", "tasks", "bench", "examples", "page/main.tsx"],
  },
  { name: "page", command: ["deno", "run", "-A", "tasks/page.ts", "--check"] },
  { name: "conformance with recordings", command: [...denoTest, "tests/conformance/recordings_test.ts"] },
  { name: "version", command: ["deno", "run", "-A", "tasks/version.ts", "--check"] },
  { name: "public docs", command: ["deno", "run", "-A", "tasks/public_docs.ts"] },
  { name: "doc examples", command: ["deno", "run", "-A", "tasks/doc_examples.ts"] },
];

if (import.meta.main) {
  endWithSignals();
  process.exit(report(await runSteps(okSteps)) ? 0 : 1);
}
