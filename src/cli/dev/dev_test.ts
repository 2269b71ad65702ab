import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../tests/free_port.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { builtin, keyOf } from "../../api/mod.ts";
import { Client } from "../../client/mod.ts";
import { controller, type ControllerDefinition, done, manifest, TerminalError } from "../../controller/mod.ts";
import { withSamples } from "../../manager/mod.ts";
import {
  type CommandResult,
  createProcess,
  endOf,
  runCommandLine,
  type RunOptions,
  startCommandLine,
} from "../testing/run_command.ts";

const sample = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sample" } };

/** Creates a Secret for each ConfigMap in `default`. @param fail The name of a ConfigMap whose reconcile fails */
function keeper(fail?: string): ControllerDefinition {
  return controller("keeper", { namespace: "default" }).for(builtin.ConfigMap).owns(builtin.Secret).reconcile(
    async (ctx) => {
      const { name = "", namespace } = ctx.object.metadata;
      if (name === fail) throw new TerminalError(`Cannot keep "${name}": it has a wrong name`);
      if (namespace === "default") await ctx.apply(manifest(builtin.Secret, { metadata: { name, namespace } }));
      return done;
    },
  );
}

function operator(fail?: string) {
  return { name: "op", version: "1.0.0", controllers: [withSamples(keeper(fail), [sample])] };
}

/** A temporary folder for kubeconfigs, removed after the test. */
async function folder(): Promise<{ readonly path: string; readonly options: RunOptions } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "pintle-dev-"));
  const options = { environment: { XDG_RUNTIME_DIR: path } };
  return { path, options, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function dev(line: string, options: RunOptions, fail?: string): Promise<CommandResult> {
  return await runCommandLine(operator(fail), ["dev", ...line.split(" ").filter((word) => word !== "")], options);
}

test("dev --samples --until-settled creates the samples, waits, prints a table, ends with 0 and leaves no files", async () => {
  await using site = await folder();
  const { code, out, err } = await dev("keeper --samples --until-settled", site.options);
  assertEquals(code, 0, err);
  assertMatch(out, /^CONTROLLER +RECONCILED +STATE\nkeeper +\d objects +settled\n$/);
  assertMatch(err, /^op: samples: ConfigMap default\/sample$/m);
  assertMatch(err, /op: settled: \d objects reconciled\n$/);
  assertEquals(await readdir(site.path), []);
});

test("dev --until-settled ends with 1 and names the object that failed", async () => {
  await using site = await folder();
  const { code, out, err } = await dev("--all --samples --until-settled -q", site.options, "sample");
  assertEquals(code, 1);
  assertMatch(out, /keeper +\d objects +1 failed\n$/);
  assertMatch(err, /op: Cannot settle: keeper default\/sample: Cannot keep "sample": it has a wrong name\./);
});

test("on a terminal the table shows the progress, is removed, and is printed as the result", async () => {
  await using site = await folder();
  const { code, out, err } = await dev("keeper --samples --until-settled", {
    ...site.options,
    terminal: { isTerminal: true },
  });
  assertEquals(code, 0);
  assertMatch(err, /keeper {7}0 objects {4}waiting/);
  assertMatch(err, /keeper {7}\d objects {4}settled/);
  // The last table is removed: from its first line to the end.
  assert(err.lastIndexOf("\u001b[1A\r\u001b[J") > err.lastIndexOf("CONTROLLER"));
  assert(out.endsWith("    \u001b[32msettled\u001b[0m\n"));
});

test("a terminal gets no colours with NO_COLOR, and no escape sequences with TERM=dumb", async () => {
  await using site = await folder();
  const optionsWith = (environment: Readonly<Record<string, string>>) => ({
    environment: { ...site.options.environment, ...environment },
    terminal: { isTerminal: true },
  });
  const plain = await dev("keeper --until-settled", optionsWith({ NO_COLOR: "1" }));
  for (const code of [0, 1, 2, 31, 32, 33, 36]) assert(!(plain.out + plain.err).includes(`\u001b[${code}m`));
  const dumb = await dev("keeper --until-settled", optionsWith({ TERM: "dumb" }));
  assert(!(dumb.out + dumb.err).includes("\u001b"));
});

test("dev watches the namespaces of run; -n creates and watches others, -A watches all, and labels select some", async () => {
  await using site = await folder();
  const far = { ...sample, metadata: { name: "far", namespace: "kube-system" } };
  const seen = async (flags: string) => {
    const keys = new Set<string>();
    const reporter = controller("reporter", { namespace: "default" }).for(builtin.ConfigMap).reconcile((ctx) => {
      keys.add(keyOf(ctx.object));
      return Promise.resolve(done);
    });
    const controllers = [withSamples(reporter, [sample, far])];
    const line = `dev reporter --samples --until-settled ${flags}`.trimEnd().split(" ");
    const { code, err } = await runCommandLine({ name: "op", version: "1.0.0", controllers }, line, site.options);
    assertEquals(code, 0, err);
    return [...keys].filter((key) => /sample|far/.test(key)).sort();
  };
  assertEquals(await seen(""), ["default/sample"]);
  assertEquals(await seen("-n team-a -n kube-system"), ["kube-system/far", "team-a/sample"]);
  assertEquals(await seen("--all-namespaces"), ["default/sample", "kube-system/far"]);
  const selected = "--namespace-selector kubernetes.io/metadata.name=kube-system";
  assertEquals(await seen(selected), ["kube-system/far"]);
});

test("with -n the kubeconfig of dev selects that namespace", async () => {
  await using site = await folder();
  const { process, file, ended } = await startDev(site.options, "-n", "team-a");
  assertEquals(JSON.parse(await readFile(file, "utf8")).contexts[0].context.namespace, "team-a");
  process.signal("SIGTERM");
  assertEquals(await ended(), 0);
});

const refusals: readonly (readonly [line: string, message: string])[] = [
  ["unknown", 'Cannot find controller "unknown": there is only keeper'],
  ["keeper --all", "Cannot run controllers: both names and --all are given"],
  ["keeper --", "Cannot run a command: there is none after --"],
  ["keeper -n Bad_ns", 'Cannot parse --namespace "Bad_ns": it is not an RFC 1123 label'],
  ["keeper -n a -A", "Cannot run controllers: both --namespace and --all-namespaces are given"],
  [
    "keeper -n a --namespace-selector b=c",
    "Cannot run controllers: both --namespace and --namespace-selector are given",
  ],
  ["--samples", "Cannot create samples: no controller is named"],
  ["--bare --nodes 2", "Cannot start nodes: --bare and --nodes are both given"],
  ["--port 70000", 'Cannot parse --port "70000": it is not a whole number from 0 to 65535'],
];

test("[84] an invalid command line is exit code 2, before anything starts", async () => {
  await using site = await folder();
  for (const [line, message] of refusals) {
    const { code, err } = await dev(line, site.options);
    assertEquals([code, err.startsWith(`op: ${message}`)], [2, true], err);
  }
  assertEquals(await readdir(site.path), []);
});

test("--port and --write-kubeconfig set the address and the file; the current context has the operator's name", async () => {
  await using site = await folder();
  const port = await freePort();
  const path = join(site.path, "dev.yaml");
  const { process, file, ended } = await startDev(site.options, "--port", `${port}`, "--write-kubeconfig", path);
  assertEquals(file, path);
  const config = JSON.parse(await readFile(path, "utf8"));
  assertEquals(config["current-context"], "op-dev");
  assertEquals(config.clusters[0].cluster.server, `https://127.0.0.1:${port}`);
  process.signal("SIGTERM");
  assertEquals([await ended(), existsSync(path)], [0, false]);
});

test("[84] a port in use is exit code 8", async () => {
  await using site = await folder();
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const address = other.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { code, err } = await dev(`--port ${port}`, site.options);
  await new Promise((resolve) => other.close(resolve));
  assertEquals(code, 8, err);
  assertStringIncludes(err, `127.0.0.1:${port}`);
});

test("a kubeconfig of the user is never overwritten; one that an earlier dev left is replaced and removed", async () => {
  await using site = await folder();
  const path = join(site.path, "config");
  const line = `keeper --until-settled --write-kubeconfig ${path}`;
  for (const theirs of ["current-context: prod\n", '{"current-context":"prod"}', "null"]) {
    await writeFile(path, theirs);
    const { code, err } = await dev(line, site.options);
    assertEquals(code, 1);
    assertMatch(err, /^op: Cannot write kubeconfig ".*": another file exists already\. /m);
    assertEquals(await readFile(path, "utf8"), theirs);
  }
  await writeFile(path, '{"current-context":"op-dev"}');
  assertEquals((await dev(line, site.options)).code, 0);
  assert(!existsSync(path));
});

test("[84] a kubeconfig that cannot be written is exit code 1", async () => {
  await using site = await folder();
  await writeFile(join(site.path, "file"), "");
  const inFile = join(site.path, "file", "config");
  for (
    const [line, environment] of [
      [`--write-kubeconfig ${inFile}`, {}],
      ["", { XDG_RUNTIME_DIR: "/proc" }],
    ] as const
  ) {
    const { code, err } = await dev(line, { environment });
    assertEquals(code, 1, err);
    assertMatch(err, /^op: Cannot write kubeconfig ".*": .*\. Choose another file with --write-kubeconfig$/m);
  }
});

const deployment = {
  metadata: { namespace: "default", name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "web", image: "nginx" }] },
    },
  },
};

test("dev --bare runs the named controllers on an API server without nodes and without controllers of a cluster", async () => {
  await using site = await folder();
  const { process, file, ended } = await startDev(site.options, "--bare");
  using client = await unverifiedClient(file);
  await client.create(builtin.Deployment, deployment);
  await client.create(builtin.ConfigMap, { metadata: { namespace: "default", name: "late" } });
  // The controller has reconciled what came after the Deployment, whose ReplicaSet would exist by now.
  while (await client.find(builtin.Secret, "default/late") === undefined) await process.clock.advance(100);
  const counts = [builtin.Node, builtin.ReplicaSet, builtin.Pod].map(async (kind) => (await client.list(kind)).items);
  assertEquals(await Promise.all(counts), [[], [], []]);
  process.signal("SIGTERM");
  assertEquals(await ended(), 0);
});

/** A client that does not check the certificate: that of a virtual clock has expired. */
async function unverifiedClient(kubeconfig: string): Promise<Client> {
  const config = JSON.parse(await readFile(kubeconfig, "utf8"));
  const { server } = config.clusters[0].cluster;
  config.clusters[0].cluster = { server, "insecure-skip-tls-verify": true };
  const file = `${kubeconfig}.unverified`;
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return await Client.fromKubeconfig({ environment: { KUBECONFIG: file } });
}

/** Starts `dev`, and advances its clock until it has printed its kubeconfig. */
async function startDev(options: RunOptions, ...words: readonly string[]) {
  const process = createProcess(["dev", "--all", ...words], options);
  const ending = startCommandLine(operator(), process);
  while (!/KUBECONFIG=\S+\n/.test(process.err)) await process.clock.advance(100);
  const file = /KUBECONFIG=(\S+)/.exec(process.err)?.[1] ?? "";
  const ended = async () => {
    let code: number | undefined;
    ending.then((value) => code = value);
    while (code === undefined) await process.clock.advance(100);
    return code;
  };
  return { process, file, ended };
}

test("[61] the first signal ends dev with 0 and removes its kubeconfig, which only the owner could read", async () => {
  await using site = await folder();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const { process, file, ended } = await startDev(site.options);
    assertEquals((await stat(file)).mode & 0o777, 0o600);
    process.signal(signal);
    assertEquals(await ended(), 0);
    assert(!existsSync(file));
  }
});

test("[61] a second signal ends dev with 1, and the kubeconfig is removed, too", async () => {
  await using site = await folder();
  const { process, file, ended } = await startDev(site.options);
  process.signal("SIGINT");
  process.signal("SIGTERM");
  assertEquals(await ended(), 1);
  assert(!existsSync(file));
});

test("a Ctrl-C that the task runner of dev passes on once more is no second signal", async () => {
  await using site = await folder();
  for (const signal of ["SIGINT", "SIGHUP"] as const) {
    const { process, ended } = await startDev(site.options);
    process.signal(signal);
    process.signal(signal);
    assertEquals(await ended(), 0, process.err);
  }
});

test("[61] SIGQUIT ends dev at once with 131, and a defect with 70; the kubeconfig is removed", async () => {
  await using site = await folder();
  for (const code of [131, 70]) {
    const { process, file, ended } = await startDev(site.options);
    if (code === 131) process.signal("SIGQUIT");
    else process.reject(new TypeError("broken"));
    assertEquals(await ended(), code);
    assert(!existsSync(file));
  }
});

test("[security 6] a variable for temporary files that names no folder is ignored", async () => {
  await using site = await folder();
  await writeFile(join(site.path, "file"), "");
  const before = await readdir(".");
  const values = [
    "",
    ".",
    "relative",
    "./x",
    join(site.path, "file"),
    join(site.path, "none"),
    `${site.path}/\u001b[2J`,
  ];
  for (const value of values) {
    const environment = { XDG_RUNTIME_DIR: value, TMPDIR: value, TEMP: value };
    const { process, file, ended } = await startDev({ environment });
    assertMatch(file, /^\/tmp\/op-dev-[0-9a-f-]+\/kubeconfig\.yaml$/);
    process.signal("SIGTERM");
    assertEquals(await ended(), 0);
    assert(!existsSync(file));
  }
  assertEquals(await readdir("."), before);
  assertEquals(await readdir(site.path), ["file"]);
});

test("a signal before the controllers have settled is exit code 1", async () => {
  await using site = await folder();
  const { process, ended } = await startDev(site.options, "--until-settled");
  process.signal("SIGTERM");
  assertEquals(await ended(), 1);
  assertStringIncludes(process.err, "op: Cannot settle: a signal ended the run before\n");
});

test("[61] a signal at any moment of the start ends dev with 0, without an error and without leaving the kubeconfig", async () => {
  await using site = await folder();
  // From the first signal that something listens to until well after the first reconciles.
  for (const turns of [0, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 64]) {
    const process = createProcess(["dev", "keeper", "--samples", "-v"], site.options);
    const ending = startCommandLine(operator(), process);
    let code: number | undefined;
    ending.then((value) => code = value);
    while (!process.hasSignalListeners) await process.clock.advance(0);
    for (let turn = 0; turn < turns; turn++) await process.clock.advance(1);
    process.signal("SIGTERM");
    while (code === undefined) await process.clock.advance(100);
    assertEquals(code, 0, `turn ${turns}: ${process.err}`);
    assert(!/ERROR|Cannot|rror:|initialization/.test(process.err), `turn ${turns}: ${process.err}`);
    assertEquals(await readdir(site.path), [], `turn ${turns}`);
  }
});

test("[29] in dev, and in run with --freeze-cache, a controller that changes a cached object fails", async () => {
  const careless = controller("careless").for(builtin.ConfigMap).reconcile((ctx) => {
    (ctx.object.metadata as { seen?: boolean }).seen = true;
    return Promise.resolve(done);
  });
  const operator = { name: "op", version: "1.0.0", controllers: [withSamples(careless, [sample])] };
  await using site = await folder();
  const dev = await runCommandLine(operator, ["dev", "--all", "--samples", "--until-settled"], site.options);
  assertEquals(dev.code, 1, dev.err);
  assertMatch(dev.err, /Cannot settle: careless default\/\S+: .*extensible/);
});

test("[138] dev serves the debug endpoint with the page where a terminal shows its address, and nowhere else by itself", async () => {
  await using site = await folder();
  const process = createProcess(["dev", "keeper"], { ...site.options, terminal: { isTerminal: true } });
  const ending = startCommandLine(operator(), process);
  const link = () => /(http:\/\/127\.0\.0\.1:\d+\/)#token=([0-9a-f]{64})/.exec(process.err);
  while (link() === null) await process.clock.advance(5);
  const [, url = "", token = ""] = link() ?? [];
  const get = (path: string, headers = {}) => fetch(`${url}${path}`, { headers: { connection: "close", ...headers } });
  assertMatch(await (await get("")).text(), /<script src="page\.js" defer>/);
  assertEquals((await get("debug/source")).status, 401);
  const source = await (await get("debug/source", { authorization: `Bearer ${token}` })).json();
  assertEquals([source.kind, source.name, source.controllers[0].name], ["process", "op dev", "keeper"]);
  process.signal("SIGTERM");
  assertEquals(await endOf(ending, process, 5), 0, process.err);
  for (const line of ["keeper --until-settled", "keeper --until-settled --debug-bind-address 0"]) {
    const { code, err } = await dev(line, { ...site.options, terminal: { isTerminal: true } });
    assertEquals(code, 0, err);
    assert(!err.includes("token"), err);
  }
  const far = await dev("keeper --debug-bind-address 0.0.0.0:0", site.options);
  assertEquals(far.code, 2);
  assertMatch(far.err, /Cannot serve the debug endpoint on 0\.0\.0\.0: dev serves this machine only/);
  const stored = await dev("keeper --debug-bind-address 127.0.0.1:0", site.options);
  assertMatch(stored.err, /Cannot serve the debug endpoint: it has no token/);
});
