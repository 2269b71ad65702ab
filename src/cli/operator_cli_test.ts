import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../tests/testing.ts";
import type { Transport } from "../client/mod.ts";
import { emptyList, podController, websiteController } from "./testing/test_kinds.ts";
import { TestProcess } from "./testing/test_process.ts";
import { createProcess, endOf, runCommandLine, startCommandLine } from "./testing/run_command.ts";
import { FakeServer, statusResponse } from "./testing/fake_server.ts";
import { flagsOf } from "./flags/flag.ts";
import { operatorCli, subcommands } from "./operator_cli.ts";
import { runFlags } from "./run/run_flags.ts";

const operator = { name: "controller", version: "1.2.3", controllers: [websiteController, podController] };

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function call(line: string, transport?: Transport): Promise<Outcome> {
  const process = new TestProcess(line === "" ? [] : line.split(" "), { HOME: "/nonexistent" });
  const code = await operatorCli(operator, withTransport(process, transport));
  return { code, out: process.out, err: process.err };
}

/** The server has only a name: `transport` handles its requests. */
function withTransport(process: TestProcess, transport?: Transport) {
  const { args, environment, clock, random, stdout, stderr, onSignal, onUnhandledRejection } = process;
  const installOnServer = transport === undefined ? args : [...args, "--server", "https://10.0.0.1:6443"];
  return {
    args: installOnServer,
    environment,
    clock,
    random,
    stdout,
    stderr,
    onSignal,
    onUnhandledRejection,
    transport,
  };
}

test("--version and --help print to stdout and end with 0", async () => {
  assertEquals(await call("--version"), { code: 0, out: "1.2.3\n", err: "" });
  const help = await call("--help");
  assertEquals([help.code, help.err], [0, ""]);
  for (const text of ["install-crds", "Controllers: website, pods", "controller run website", "Exit codes:"]) {
    assertStringIncludes(help.out, text);
  }
  assertEquals(await call("help"), help);
});

test("help of a command shows its flags with defaults, variables and examples", async () => {
  const help = await call("run --help");
  assertEquals([help.code, help.err], [0, ""]);
  for (
    const text of [
      "--workers <count>",
      "(default: 30s)",
      "Cluster (as in kubectl):",
      "CONTROLLER_<FLAG> sets every flag: ",
    ]
  ) {
    assertStringIncludes(help.out, text);
  }
  assertStringIncludes(help.out, "  controller run website -n team-a -n team-b --workers 4");
  assert(!help.out.includes("--master"));
  assertEquals(await call("help run"), help);
  assertStringIncludes(
    (await call("install-crds -h")).out,
    "CONTROLLER_<FLAG> sets every flag except --dry-run,",
  );
});

test("help of every command shows examples with the names of this operator", async () => {
  for (const { name, summary } of subcommands) {
    const { code, out, err } = await call(`${name} --help`);
    assertEquals([code, err], [0, ""], name);
    assertStringIncludes(out, `\nExamples:\n  # `);
    assertStringIncludes(out, `\n  controller ${name}`);
    assert(!/\b(foo|ecsbinding|nodepool|ingress|NAME)\b/.test(out.split("Examples:")[1] ?? ""), out);
    assert(summary !== "" && !summary.endsWith("."));
  }
});

test("every flag of run can come from the environment, with the operator's name as prefix", async () => {
  for (const flag of flagsOf(runFlags)) assert(flag.fromEnvironment === true, flag.longName);
  const process = createProcess(["run", "pods"], { environment: { MY_OPERATOR_WORKERS: "none" } });
  assertEquals(await startCommandLine({ ...operator, name: "my-operator" }, process), 2);
  assertMatch(process.err, /^my-operator: Cannot parse MY_OPERATOR_WORKERS "none": it is not a whole number/);
});

test("every operator has all commands, which act on its own controllers", async () => {
  const mine = { ...operator, name: "my-operator" };
  const server = new FakeServer({});
  const install = await runCommandLine(mine, ["install-crds", "--dry-run=client"]);
  assertStringIncludes(install.out, "websites.example.dev applied (dry run)");
  const uninstall = await runCommandLine(mine, ["uninstall-crds", "--yes"], { transport: server.transport });
  assertStringIncludes(uninstall.out, "websites.example.dev not found");
  const doctor = await runCommandLine(mine, ["doctor"], { transport: server.transport });
  assertStringIncludes(doctor.out, "Run: my-operator install-crds");
  assertStringIncludes(
    (await runCommandLine(mine, ["completions", "bash"])).out,
    "complete -o nosort -F _my_operator_completions",
  );
  for (const { out, err } of [install, uninstall, doctor]) assert(!`${out}${err}`.includes("controller "), out);
});

test("[84] an invalid command line is one line on stderr and exit code 2", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["fly", /Cannot find command "fly": there are run, run-graph, dev, [^.]+\. Run "controller --help"$/m],
    ["runn foo", /Cannot find command "runn": [^.]+\. Did you mean: controller run$/m],
    ["isntall-crds website", /Did you mean: controller install-crds website$/m],
    ["website", /Cannot find command "website": it is a controller\. Did you mean: controller run website$/m],
    ["website --once pods", /Did you mean: controller run website pods$/m],
    ["website doctor", /Did you mean: controller doctor website$/m],
    ["website dev -- run pods", /Did you mean: controller dev website$/m],
    ["zsh", /Did you mean: controller completions zsh$/m],
    ["help nope", /Cannot find command "nope": there are run, /],
    ["help runn", /Did you mean: controller run$/m],
    ["help website", /it is a controller\. Did you mean: controller run website$/m],
    ["nope --help", /Cannot find command "nope"/],
    [
      "doctor run website",
      /Cannot use "run" as a controller: it is a command\. Did you mean: controller run website$/m,
    ],
    ["run dev", /Did you mean: controller dev$/m],
    ["dev run website -- ls", /Did you mean: controller run website$/m],
    ["-n shop run website", /option '-n'\. Flags follow the command: controller run website -n$/m],
    [
      "--token=s3cret website",
      /option '--token=\[masked\]'\. Flags follow the command: controller run website --token$/m,
    ],
    ["--all", /unknown option '--all'\. Run "controller --help"$/m],
    ["run pods --worker 3", /unknown option '--worker' \(Did you mean --workers\?\). Run "controller run --help"/],
    ["run pods --workers", /option '--workers <count>' argument missing/],
    [
      "run pods --workers 0",
      /Cannot parse --workers "0": it is not a whole number from 1 to 1000. Example: --workers 4/,
    ],
    ["run pods --resync 30", /Cannot parse --resync "30": it is not a duration with a unit/],
    ["run", /no controller is named, there are website, pods. Run: controller run NAME, or controller run --all/],
    ["run --all pods", /both names and --all are given/],
    ["doctor --all pods", /both names and --all are given/],
    ["manifests --all pods", /both names and --all are given/],
    ["run pods -A -n a", /both --namespace and --all-namespaces are given/],
    ["run websit", /Cannot find controller "websit": there are website, pods. Did you mean website\?/],
    ["install-crds nope", /Cannot find controller "nope"/],
    ["install-crds -o xml", /Cannot parse --output "xml": it is not one of yaml, json, name. Example: -o yaml/],
    ["version --log-format xml", /Cannot parse --log-format "xml"/],
    ["version extra", /too many arguments/],
  ];
  for (const [line, message] of cases) {
    const { code, out, err } = await call(line);
    assertEquals([code, out], [2, ""], line);
    assertMatch(err, message);
    assertMatch(err, /^controller: Cannot [^\n]+\n$/);
  }
});

test("without a command, help is shown on stderr and the exit code is 2", async () => {
  const { code, out, err } = await call("");
  assertEquals([code, out], [2, ""]);
  assertStringIncludes(err, "install-crds");
});

test("[84] a missing kubeconfig is one line and exit code 3", async () => {
  for (const line of ["run pods", "install-crds", "version --kubeconfig /nonexistent/config"]) {
    const { code, err } = await call(line);
    assertEquals(code, 3, err);
    assertMatch(err, /^controller: Cannot [^\n]+\n$/);
  }
});

test("version prints the version of the program before the error about the server", async () => {
  const alone = await call("version --client -o json");
  assertEquals([alone.code, alone.err], [0, ""]);
  assertEquals(JSON.parse(alone.out).clientVersion, { gitVersion: "1.2.3" });
  const both = await call("version", new FakeServer({}).transport);
  assertEquals(both.code, 0, both.err);
  assertMatch(both.out, /^Client Version: 1.2.3\nRuntime: (deno|bun|node) [^\n]+\nServer Version: v1.36.3\n$/);
  const refused = await call("version", () => Promise.resolve(statusResponse(401, "Unauthorized", "no")));
  assertEquals(refused.code, 4);
  assertMatch(refused.out, /^Client Version: 1.2.3\nRuntime: [^\n]+\n$/);
});

test("[84] run on a cluster without the CRD is exit code 6 and writes nothing", async () => {
  const server = new FakeServer({});
  const { code, err } = await call("run website", server.transport);
  assertEquals(
    [code, err],
    [
      6,
      'controller: Cannot run controller "website": the CustomResourceDefinition websites.example.dev is not installed. ' +
      "Run: controller install-crds website\n",
    ],
  );
  assertEquals(server.requests.filter((line) => !line.startsWith("GET")), []);
});

test("run starts the controllers that can run, and logs the others", async () => {
  const process = new TestProcess(["run", "--all"], { HOME: "/nonexistent" });
  const server = new FakeServer({ "GET /api/v1/pods?watch": endlessStream, "GET /api/v1/pods": emptyList });
  const running = operatorCli(operator, withTransport(process, server.transport));
  let isOver = false;
  running.finally(() => isOver = true);
  while (!isOver && !process.err.includes("starting workers")) await process.clock.advance(10);
  assertMatch(process.err, /controller cannot run yet +controller=website reason=.* is not installed/);
  assertMatch(process.err, /INFO +controller.pods +starting workers/);
  assert(process.signal("SIGTERM"));
  assertEquals(await endOf(running, process, 10), 0);
});

/** A watch of a kind without objects, which ends when it is aborted. */
function endlessStream(request: Request): Response {
  const metadata = { resourceVersion: "7", annotations: { "k8s.io/initial-events-end": "true" } };
  const bookmark = JSON.stringify({ type: "BOOKMARK", object: { kind: "Pod", apiVersion: "v1", metadata } });
  const body = new ReadableStream({
    start(stream) {
      stream.enqueue(new TextEncoder().encode(`${bookmark}\n`));
      request.signal.addEventListener("abort", () => stream.error(request.signal.reason));
    },
  });
  return new Response(body);
}

test("an error is a log record with --log-format json", async () => {
  const { code, err } = await call("run website --log-format json", new FakeServer({}).transport);
  assertEquals(code, 6);
  const record = JSON.parse(err);
  assertEquals([record.level, record.exitCode], ["error", 6]);
  assertMatch(record.msg, /is not installed/);
});

test("[84] -v adds its causes to an expected error, without a stack trace", async () => {
  const forbidden: Transport =
    new FakeServer({ "GET /version": () => statusResponse(401, "Unauthorized", "no") }).transport;
  const quiet = await call("run website", forbidden);
  assertEquals([quiet.code, quiet.err.split("\n").length], [4, 2]);
  const verbose = await call("run website -v", forbidden);
  assertMatch(verbose.err, /\n {4}Caused by: ApiError: /);
  assert(!/\n +at /.test(verbose.err), verbose.err);
});

test("[85] install-crds --dry-run=client prints definitions without a server", async () => {
  const yaml = await call("install-crds --dry-run=client -o yaml");
  assertEquals([yaml.code, yaml.err], [0, ""]);
  assertMatch(yaml.out, /^apiVersion: apiextensions.k8s.io\/v1\nkind: CustomResourceDefinition\n/);
  const name = "customresourcedefinition.apiextensions.k8s.io/websites.example.dev";
  assertEquals((await call("install-crds website --dry-run=client")).out, `${name} applied (dry run)\n`);
  assertEquals((await call("install-crds --dry-run client -o name")).out, `${name}\n`);
  assertEquals(
    JSON.parse((await call("install-crds --dry-run=client -o json")).out).metadata.name,
    "websites.example.dev",
  );
});

test("install-crds of controllers without custom resources says so and sends no request", async () => {
  const { code, out, err } = await call("install-crds pods");
  assertEquals([code, out], [0, ""]);
  assertMatch(err, /^controller: nothing to do/);
});

/** What a program writes that ends with an unhandled error. */
async function writtenByDefect(...flags: readonly string[]): Promise<string> {
  const process = new TestProcess(["run", "pods", ...flags], { HOME: "/nonexistent" });
  let requests = 0;
  const never: Transport = () => {
    requests++;
    return new Promise(() => {});
  };
  const running = operatorCli(operator, withTransport(process, never));
  while (requests === 0) await process.clock.advance(1);
  process.reject(new TypeError("x is not a function"));
  assertEquals(await running, 70);
  return process.err;
}

test("[84] -v adds the stack trace to a defect", async () => {
  assertMatch(await writtenByDefect("-v"), /TypeError: x is not a function\n {8}at /);
});

test("[89] an unhandled error ends the program with 70 and its message", async () => {
  assertEquals(
    await writtenByDefect(),
    'controller: Cannot continue: unhandled TypeError "x is not a function". ' +
      "This is a defect of the program: -v shows the stack trace\n",
  );
});

test("[61] a signal before the start ends run with 0, and a second one ends it at once with 1", async () => {
  for (const [signals, code] of [[["SIGTERM"], 0], [["SIGINT", "SIGTERM"], 1]] as const) {
    const process = new TestProcess(["run", "pods"], { HOME: "/nonexistent" });
    // Reacts to an abort only in the case with one signal.
    const stubborn: Transport = (request) =>
      new Promise((_, reject) => {
        if (code === 0) request.signal.addEventListener("abort", () => reject(request.signal.reason));
      });
    const running = operatorCli(operator, withTransport(process, stubborn));
    while (!process.hasSignalListeners) await process.clock.advance(1);
    for (const signal of signals) assert(process.signal(signal));
    assertEquals(await running, code);
    assertEquals(process.err.match(/received a signal, finishing running reconciles/g)?.length, 1);
  }
});
