/**
 * What `.ci/run` runs: the gate, then the compiled binary against a real control plane. The last line it prints is
 * `N passed, N failed, N skipped`.
 */
import process from "node:process";
import { okSteps } from "./ok.ts";
import { report, runSteps, type Step } from "./steps.ts";

const clusterTests = [
  ...["deno", "test", "-A", "--no-check", "--quiet"],
  ...["tests/e2e", "tests/controlplane", "tests/conformance"],
  // Done by the gate already.
  "--ignore=tests/conformance/recordings_test.ts",
];

const clusterSteps: readonly Step[] = [
  { name: "compile", command: ["sh", "compile.sh"] },
  {
    name: "compile the example operator",
    command: ["sh", "compile.sh", "--entry", "examples/operator/main.ts", "--outfile", "dist/website-operator"],
  },
  { name: "the example operator", command: ["dist/website-operator", "dev", "website", "--until-settled"] },
  { name: "every single fault", command: ["dist/controller", "simulate", "--all", "--seeds", "0"] },
  {
    name: "tests on a real control plane",
    command: ["deno", "run", "-A", "tests/controlplane/with.ts", "--apply", "crds", "--", ...clusterTests],
  },
];

const only = process.argv[2];
const steps = only === "cluster" ? clusterSteps : [...okSteps, ...clusterSteps];
process.exit(report(await runSteps(steps)) ? 0 : 1);
