/**
 * What `.ci/run` runs: the gate, fuzzing, an audit of the dependencies, and the compiled binary against real control planes. The last line it prints is
 * `N passed, N failed, N skipped`.
 */
import process from "node:process";
import { okSteps } from "./ok.ts";
import { endWithSignals, report, runSteps, type Step } from "./steps.ts";

const denoTest = ["deno", "test", "-A", "--no-check"] as const;
const bin = ["deno", "run", "-A", "src/bin.ts"] as const;
const pool = ["deno", "run", "-A", "tests/controlplane/pool.ts", "--workers", "2", "--apply", "crds"] as const;

/**
 * Replicas with Leases of seconds: on a busy machine a leader would lose its Lease. They wait most of the time, so they
 * run beside each other and beside one light step, never beside a heavy one.
 */
const electionTests = [
  "tests/e2e/failover_test.ts",
  "tests/e2e/failover_network_test.ts",
  "tests/e2e/failover_lease_test.ts",
  "tests/e2e/leader_election_test.ts",
  "tests/e2e/shards_test.ts",
] as const;

/** The longest ones first; packages_test builds helm and others once per machine, which is the longest of all. */
const clusterTests = [
  "tests/e2e/packages_test.ts",
  ...["tests/e2e/package_test.ts", "tests/e2e/new_test.ts"],
  ...["tests/e2e/publish_test.ts", "tests/conformance/go_libraries_test.ts", "tests/e2e/other_languages_test.ts"],
  ...["tests/e2e/crash_points_test.ts", "tests/e2e/foreign_clients_test.ts", "tests/e2e/foo_test.ts"],
  ...["tests/e2e/guide_test.ts", "tests/monitoring"],
  ...["tests/controlplane", "tests/conformance", "tests/e2e"],
] as const;

/** It waits for watches and caches of a real server most of the time, so it runs beside everything else. */
const conformanceTest = "tests/conformance/conformance_test.ts";

/**
 * Simulations of programs, which run in real time: they wait more than they work, so they begin with the longest step, too.
 * They need no control plane.
 */
const programTests: ReadonlyMap<string, string> = new Map([
  ["simulations of one program", "tests/e2e/simulate_command_test.ts"],
  ["simulations of programs in Go, Java and Python", "tests/e2e/any_operator_test.ts"],
]);

/** What the gate has done already, and what runs apart. */
const otherTests = [
  ...["tests/conformance/recordings_test.ts", conformanceTest],
  ...electionTests,
  ...programTests.values(),
];

const compile = "compile";
const controlPlane = "programs of the control plane";
const packages = "packages for tests";
/** The load of a step that waits most of the time. */
const waiting = 0.3;
/** What starts containers compares the mounts and cgroups of the machine before and after. */
const containers = "containers";

/** They come first, because the tests on control planes are the longest step. */
const clusterSteps: readonly Step[] = [
  { name: controlPlane, command: ["deno", "run", "-A", "tests/controlplane/build.ts"] },
  { name: compile, command: ["sh", "compile.sh"] },
  // Several tests install them, and begin at the same time: the first ones would each run the compiler.
  { name: packages, command: ["deno", "run", "-A", "--no-check", "tests/e2e/_packed.ts"] },
  { name: "conformance", command: [...pool, conformanceTest], after: [controlPlane], load: waiting },
  ...[...programTests].map(([name, file]): Step => ({
    name,
    command: [...denoTest, file],
    after: [compile],
    load: waiting,
  })),
  {
    name: "tests on real control planes",
    command: [...pool, ...otherTests.flatMap((file) => ["--without", file]), ...clusterTests],
    after: [compile, controlPlane, packages],
    load: 2,
  },
  {
    name: "image",
    command: [...bin, "image", "--binary", "dist/controller", "--output", "dist/controller-image.tar"],
    after: [compile],
  },
  // Its tests of what is left on the machine compare all of it, so nothing else may start containers meanwhile.
  {
    name: "tests on real nodes",
    command: ["deno", "run", "-A", "tests/realnode/with.ts", "--", ...denoTest, "tests/realnode"],
    after: ["image"],
    load: 2,
    uses: containers,
  },
  { name: "tests on kind", command: [...denoTest, "tests/kind"], after: [compile], load: 2, uses: containers },
  {
    name: "elections on real control planes",
    command: [...pool, ...electionTests],
    after: [compile, controlPlane],
    load: 2,
  },
  {
    name: "compile the example operator",
    command: ["sh", "compile.sh", "--entry", "examples/operator/main.ts", "--outfile", "dist/website-operator"],
  },
  {
    name: "the example operator",
    command: ["dist/website-operator", "dev", "website", "--until-settled"],
    after: ["compile the example operator"],
  },
  { name: "every single fault", command: ["dist/controller", "simulate", "--all", "--seeds", "0"], after: [compile] },
];

/**
 * Runs a command at a low priority. Each step is a session, and Linux shares processors among sessions first: what a process
 * asks for with nice counts only within its own.
 */
const yielding = ["/bin/sh", "-c", '{ echo 10 >/proc/self/autogroup; } 2>/dev/null; exec "$@"', "yielding"] as const;

/**
 * The garbage collector of Go takes a tenth to a quarter of the time of kube-apiserver, kubectl and TypeScript's compiler when it
 * has its usual 100 %. Here each heap may grow to three times of what is in use, but less when it reaches 2 GiB.
 */
const goMemory = { GOGC: "200", GOMEMLIMIT: "2GiB" } as const;

const site = "site";

const otherSteps: readonly Step[] = [
  // At a low priority, so it takes what the other steps leave, and little from them.
  // With one seed, so that this gate fails because of a change; `deno task fuzz` chooses another one each time.
  {
    name: "fuzz",
    command: [
      ...yielding,
      process.execPath,
      "run",
      "-A",
      "tests/fuzz/fuzz.ts",
      "--minutes",
      "5",
      "--seed",
      "1349106017",
    ],
    load: 0,
  },
  { name: "audit", command: ["deno", "run", "-A", "tasks/audit.ts"] },
  { name: site, command: ["deno", "task", "site"] },
  {
    name: "tests of the site",
    command: ["deno", "test", "-A", "--config", "docs/site/deno.json", "docs/site/site_test.ts"],
    after: [site],
  },
  // They share the packages of the browser with the tests of the site.
  {
    name: "tests of the page",
    command: ["deno", "test", "-A", "--no-check", "--config", "docs/site/deno.json", "page/tests"],
  },
];

const only = process.argv[2];
const steps = only === "cluster" ? clusterSteps : [...clusterSteps, ...otherSteps, ...okSteps];
for (const [name, value] of Object.entries(goMemory)) process.env[name] ??= value;
endWithSignals();
process.exit(report(await runSteps(steps)) ? 0 : 1);
