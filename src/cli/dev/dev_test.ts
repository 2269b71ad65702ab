import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest, TerminalError } from "../../controller/mod.ts";
import { withSamples } from "../../manager/mod.ts";
import { type Around, type CommandResult, processOf, runCommandLine, start } from "../testing/run_command.ts";

const sample = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "sample" } };

/** Makes a Secret for each ConfigMap in `default`, unless it is told to fail. */
function keeper(fail?: string): ControllerDefinition {
  return controller("keeper", { namespace: "default" }).for(builtin.ConfigMap).owns(builtin.Secret).reconcile(
    async (ctx) => {
      const { name = "", namespace } = ctx.object.metadata;
      if (name === fail) throw new TerminalError(`Cannot keep "${name}": it is not to be kept`);
      if (namespace === "default") await ctx.apply(manifest(builtin.Secret, { metadata: { name, namespace } }));
      return done;
    },
  );
}

function operator(fail?: string) {
  return { name: "op", version: "1.0.0", controllers: [withSamples(keeper(fail), [sample])] };
}

/** A folder that goes with the test; kubeconfigs are written there. */
async function folder(): Promise<{ readonly path: string; readonly around: Around } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "pintle-dev-"));
  const around = { environment: { XDG_RUNTIME_DIR: path } };
  return { path, around, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function dev(line: string, around: Around, fail?: string): Promise<CommandResult> {
  return await runCommandLine(operator(fail), ["dev", ...line.split(" ").filter((word) => word !== "")], around);
}

test("dev --samples --until-settled creates the samples, waits, prints a table and ends with 0; nothing is left", async () => {
  await using site = await folder();
  const { code, out, err } = await dev("keeper --samples --until-settled", site.around);
  assertEquals(code, 0, err);
  assertMatch(out, /^CONTROLLER +RECONCILED +STATE\nkeeper +\d objects +settled\n$/);
  assertMatch(err, /^op: samples: ConfigMap default\/sample$/m);
  assertMatch(err, /op: everything has settled: \d reconciled\n$/);
  assertEquals(await readdir(site.path), []);
});

test("dev --until-settled ends with 1 and names what failed", async () => {
  await using site = await folder();
  const { code, out, err } = await dev("--all --samples --until-settled -q", site.around, "sample");
  assertEquals(code, 1);
  assertMatch(out, /keeper +\d objects +1 failed\n$/);
  assertMatch(err, /op: Cannot settle: keeper default\/sample: Cannot keep "sample": it is not to be kept\./);
});

test("on a terminal the table fills while things converge, goes, and comes back as the result", async () => {
  await using site = await folder();
  const { code, out, err } = await dev("keeper --samples --until-settled", {
    ...site.around,
    terminal: { isTerminal: true },
  });
  assertEquals(code, 0);
  assertMatch(err, /keeper {7}0 objects {4}waiting/);
  assertMatch(err, /keeper {7}\d objects {4}settled/);
  // What is shown last is taken away: up to its first line, and all below it.
  assert(err.lastIndexOf("\u001b[1A\r\u001b[J") > err.lastIndexOf("CONTROLLER"));
  assert(out.endsWith("    \u001b[32msettled\u001b[0m\n"));
});

test("with NO_COLOR a terminal gets no colour, with TERM=dumb nothing that moves", async () => {
  await using site = await folder();
  const around = (environment: Readonly<Record<string, string>>) => ({
    environment: { ...site.around.environment, ...environment },
    terminal: { isTerminal: true },
  });
  const plain = await dev("keeper --until-settled", around({ NO_COLOR: "1" }));
  for (const code of [0, 1, 2, 31, 32, 33, 36]) assert(!(plain.out + plain.err).includes(`\u001b[${code}m`));
  const dumb = await dev("keeper --until-settled", around({ TERM: "dumb" }));
  assert(!(dumb.out + dumb.err).includes("\u001b"));
});

const refusals: readonly (readonly [line: string, message: string])[] = [
  ["nobody", 'Cannot find controller "nobody": there is only keeper'],
  ["keeper --all", "Cannot run controllers: both names and --all are given"],
  ["keeper --", "Cannot run a command: there is none behind --"],
  ["--samples", "Cannot create samples: no controller is named whose they are"],
  ["--port 70000", 'Cannot parse --port "70000": it is not a whole number from 0 to 65535'],
];

test("[84] what makes no sense is refused with 2 before anything starts", async () => {
  await using site = await folder();
  for (const [line, message] of refusals) {
    const { code, err } = await dev(line, site.around);
    assertEquals([code, err.startsWith(`op: ${message}`)], [2, true], err);
  }
  assertEquals(await readdir(site.path), []);
});

test("--port and --write-kubeconfig say where; a context of the operator's name is the current one", async () => {
  await using site = await folder();
  const port = await freePort();
  const path = join(site.path, "dev.yaml");
  const { process, file, ended } = await started(site.around, "--port", `${port}`, "--write-kubeconfig", path);
  assertEquals(file, path);
  const config = JSON.parse(await readFile(path, "utf8"));
  assertEquals(config["current-context"], "op-dev");
  assertEquals(config.clusters[0].cluster.server, `https://127.0.0.1:${port}`);
  process.signal("SIGTERM");
  assertEquals([await ended(), existsSync(path)], [0, false]);
});

/** A port that nobody listened on a moment ago. */
async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => listener.once("listening", resolve));
  const address = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}

test("[84] a port that is in use ends with 8", async () => {
  await using site = await folder();
  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const address = other.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const { code, err } = await dev(`--port ${port}`, site.around);
  await new Promise((resolve) => other.close(resolve));
  assertEquals(code, 8, err);
  assertStringIncludes(err, `127.0.0.1:${port}`);
});

test("somebody else's kubeconfig is never written over; what an earlier dev left is, and goes at the end", async () => {
  await using site = await folder();
  const path = join(site.path, "config");
  const line = `keeper --until-settled --write-kubeconfig ${path}`;
  for (const theirs of ["current-context: prod\n", '{"current-context":"prod"}', "null"]) {
    await writeFile(path, theirs);
    const { code, err } = await dev(line, site.around);
    assertEquals(code, 1);
    assertMatch(err, /^op: Cannot write kubeconfig ".*": another file is there already\. /m);
    assertEquals(await readFile(path, "utf8"), theirs);
  }
  await writeFile(path, '{"current-context":"op-dev"}');
  assertEquals((await dev(line, site.around)).code, 0);
  assert(!existsSync(path));
});

test("[84] a kubeconfig that cannot be written is somebody's disk, and no defect", async () => {
  await using site = await folder();
  await writeFile(join(site.path, "file"), "");
  const inFile = join(site.path, "file", "config");
  for (
    const [line, environment] of [
      [`--write-kubeconfig ${inFile}`, {}],
      ["", { XDG_RUNTIME_DIR: join(site.path, "file") }],
    ] as const
  ) {
    const { code, err } = await dev(line, { environment });
    assertEquals(code, 1, err);
    assertMatch(err, /^op: Cannot write kubeconfig ".*": .*\. Name another place with --write-kubeconfig$/m);
  }
});

/** Starts `dev`, and lets its clock run until it has said where its kubeconfig is. */
async function started(around: Around, ...words: readonly string[]) {
  const process = processOf(["dev", "--all", ...words], around);
  const ending = start(operator(), process);
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

test("[61] the first signal ends dev with 0; its kubeconfig, which is its owner's alone, goes", async () => {
  await using site = await folder();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    const { process, file, ended } = await started(site.around);
    assertEquals((await stat(file)).mode & 0o777, 0o600);
    process.signal(signal);
    assertEquals(await ended(), 0);
    assert(!existsSync(file));
  }
});

test("[61] a second signal ends dev with 1, and the kubeconfig goes all the same", async () => {
  await using site = await folder();
  const { process, file, ended } = await started(site.around);
  process.signal("SIGINT");
  process.signal("SIGINT");
  assertEquals(await ended(), 1);
  assert(!existsSync(file));
});

test("a signal before all has settled is a failure, since not all has", async () => {
  await using site = await folder();
  const { process, ended } = await started(site.around, "--until-settled");
  process.signal("SIGTERM");
  assertEquals(await ended(), 1);
  assertStringIncludes(process.err, "op: Cannot settle: it was ended before\n");
});
