/**
 * Attacks by files that are none: a FIFO, a folder, a device, a socket, links to nothing and to themselves, bytes that are
 * no UTF-8, names that are too long, wherever a flag or a variable names a file. The flags come from the table of flags
 * of each command, so that a new flag is tested as well.
 *
 * The rules: each is an error of the user or of the machine: one line `Cannot <action> <object>: <state>`, an exit code
 * that is not 70, no stack trace; it settles without waiting for a writer; and nothing at the path is changed.
 */
import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { subcommands } from "../../src/cli/operator_cli.ts";
import { packageCommands } from "../../src/cli/package_cli.ts";
import { createProcess, startCommandLine } from "../../src/cli/testing/run_command.ts";
import { websiteController } from "../../src/cli/testing/test_kinds.ts";
import { EmbeddedCluster } from "../../src/cluster/mod.ts";
import { podsController } from "../../src/controllers/pods/mod.ts";
import type { Transport } from "../../src/client/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

const operator = { name: "op", version: "1.0.0", controllers: [websiteController, podsController] };

class Folder implements Disposable {
  readonly path = mkdtempSync("/tmp/pintle-files-");

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** What stands at a path. */
interface BadFile {
  readonly name: string;
  readonly make: (path: string) => void;
  /** The path to use, if it is another one. */
  readonly pathOf?: (path: string) => string;
}

const badFiles: readonly BadFile[] = [
  { name: "a missing file", make: () => {} },
  { name: "a folder", make: (path) => mkdirSync(path) },
  { name: "a FIFO", make: (path) => void execFileSync("mkfifo", [path]) },
  {
    name: "a link to a FIFO",
    make: (path) => {
      execFileSync("mkfifo", [`${path}.fifo`]);
      symlinkSync(`${path}.fifo`, path);
    },
  },
  { name: "a link to itself", make: (path) => symlinkSync(path, path) },
  { name: "a link to nothing", make: (path) => symlinkSync(`${path}.none`, path) },
  { name: "a link to /dev/zero", make: (path) => symlinkSync("/dev/zero", path) },
  { name: "a path below a file", make: (path) => writeFileSync(path, "text"), pathOf: (path) => join(path, "x") },
  { name: "a name that is too long", make: () => {}, pathOf: (path) => path + "x".repeat(300) },
  { name: "a path that is too long", make: () => {}, pathOf: (path) => `${path}/${"y/".repeat(2_500)}` },
  { name: "bytes that are no UTF-8", make: (path) => writeFileSync(path, new Uint8Array([0xff, 0xfe, 0, 0x80])) },
  { name: "a name with control characters", make: () => {}, pathOf: (path) => `${path}\u001b[2J\r\nx/y` },
];

/** The commands of an operator and of the package, each once. */
const commands = [...new Map([...packageCommands, ...subcommands].map((entry) => [entry.name, entry])).values()];

/** A command line that reads the file of a flag. */
interface Line {
  readonly args: readonly string[];
  readonly flag: string;
  readonly transport?: Transport;
}

/** The arguments with which each command needs its files. */
const argsOf: Readonly<Record<string, readonly string[]>> = {
  run: ["run", "pods", "--connect-timeout", "1s"],
  dev: ["dev", "pods", "--until-settled", "--quiet"],
  new: ["new", "website", "--library", "."],
  compile: ["compile", "--entry", "main.ts"],
  conformance: ["conformance", "--embedded", "examples/conformance"],
  image: ["image", "--entry", "main.ts", "--mirror", "http://127.0.0.1:1"],
};

/** What is no error at the path of a flag that is written: a link is replaced, not followed; a folder is not. */
const creatable: Readonly<Record<string, readonly string[]>> = {
  "--write-kubeconfig": ["a missing file", "a link to nothing"],
  // A token is made and written there.
  "--debug-token-file": ["a missing file", "a link to nothing"],
  "--record": ["a missing file"],
  // The folder of a cluster is created.
  "--data-dir": ["a missing file", "a folder"],
  "--known": ["a missing file", "a link to nothing"],
  "--outfile": ["a missing file", "a link to nothing", "bytes that are no UTF-8"],
  // The folder of the archive is created, and stays.
  "--output": ["a name with control characters"],
  "--output-dir": ["a missing file", "a folder", "a name with control characters"],
  "--dir": ["a missing file", "a folder", "a name with control characters"],
  "--bin-dir": ["a missing file", "a folder", "a name with control characters"],
};

async function linesOf(transport: Transport): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const { name, load } of commands) {
    const flags = (await load()).flags(operator);
    const isRemote = flags.some(({ longName }) => longName === "--server");
    for (const { longName, completes } of flags) {
      if (completes !== "file" && completes !== "directory") continue;
      // It shows the other flags of run, and opens no file that they name.
      if (name === "config" && longName !== "--config") continue;
      // The image is built before its file is written, which needs a registry.
      if (name === "image" && longName === "--output") continue;
      const args = [...argsOf[name] ?? [name], ...(isRemote ? ["--server", "https://127.0.0.1:1"] : [])];
      const line = { args, flag: longName };
      // The certificates are read for an address of other machines, and when the server was reached.
      if (longName !== "--cert-dir") lines.push(line);
      else lines.push({ ...line, args: [...args, "--metrics-bind-address", "0.0.0.0:0"], transport });
    }
  }
  return lines;
}

/** Runs a command line to its end; fails instead of waiting for ever. */
async function ending(args: readonly string[], { transport, environment }: {
  readonly transport?: Transport;
  readonly environment?: Readonly<Record<string, string>>;
}): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const process = createProcess(args, { environment });
  let code: number | undefined;
  startCommandLine(operator, process, transport, commands).then((ended) => code = ended, () => code = -1);
  for (let turn = 0; code === undefined && turn < 1_000_000; turn++) await process.clock.advance(200);
  assert(code !== undefined, `${args.join(" ")} waits`);
  return { code, out: process.out, err: process.err };
}

function assertUserError({ code, out, err }: Awaited<ReturnType<typeof ending>>, about: string): void {
  assert([1, 2, 3, 5].includes(code), `${about}: ${code} ${err}`);
  // Log records may come before the error.
  assertMatch(err, /(^|\n)op: Cannot [^\n]+\n$/);
  assert(!/\n +at /.test(err), `${about}: ${err}`);
  assert(!err.includes("defect") && !err.includes("\u001b"), `${about}: ${err}`);
  assert(out === "" || /^(version|doctor) /.test(about), `${about}: ${out}`);
}

/** The entries of a folder with their kinds, and what is in the files. */
function contentOf(folder: string): readonly string[] {
  return readdirSync(folder).sort().map((name) => {
    const found = lstatSync(join(folder, name));
    return `${name} ${found.mode} ${found.isFile() ? readFileSync(join(folder, name), "base64") : ""}`;
  });
}

test("[84] a flag that names no usable file is an error of the user, in every command and flag", async () => {
  await using cluster = await EmbeddedCluster.start({ workloads: false, onError: () => {} });
  const lines = await linesOf(cluster.transport);
  assert(lines.length >= 25, `${lines.length} lines`);
  for (const { args, flag, transport } of lines) {
    for (const { name, make, pathOf = (path: string) => path } of badFiles) {
      if (creatable[flag]?.includes(name)) continue;
      using folder = new Folder();
      make(join(folder.path, "bad"));
      const before = contentOf(folder.path);
      const path = pathOf(join(folder.path, "bad"));
      const about = `${args[0]} ${flag} ${name}`;
      assertUserError(await ending([...args, flag, path], { transport }), about);
      assertEquals(contentOf(folder.path), before, about);
    }
  }
});

test("[84] [139] a folder for envtest that is none, or has files of others, is an error of the user", async () => {
  for (const { name, make, pathOf = (path: string) => path } of badFiles) {
    using folder = new Folder();
    make(join(folder.path, "bad"));
    const before = contentOf(folder.path);
    if (!creatable["--bin-dir"]?.includes(name)) {
      assertUserError(await ending(["envtest", pathOf(join(folder.path, "bad"))], {}), `envtest ${name}`);
      assertEquals(contentOf(folder.path), before, name);
    }
    // The same in the place of the file that it writes.
    if (before.length === 0 || name === "a path below a file") continue;
    using assets = new Folder();
    make(join(assets.path, "etcd"));
    const present = contentOf(assets.path);
    assertUserError(await ending(["envtest", assets.path], {}), `envtest with ${name} as etcd`);
    assertEquals(contentOf(assets.path), present, name);
  }
});

test("[84] [136] a recording that is none is an error of the user", async () => {
  for (const { name, make, pathOf = (path: string) => path } of badFiles) {
    using folder = new Folder();
    make(join(folder.path, "bad"));
    const before = contentOf(folder.path);
    assertUserError(await ending(["replay", pathOf(join(folder.path, "bad"))], {}), `replay ${name}`);
    assertEquals(contentOf(folder.path), before, name);
  }
});

test("[84] [141] a request file that is none is an error of the user", async () => {
  for (const { name, make, pathOf = (path: string) => path } of badFiles) {
    using folder = new Folder();
    make(join(folder.path, "bad"));
    const before = contentOf(folder.path);
    const path = pathOf(join(folder.path, "bad"));
    assertUserError(await ending(["conformance", "--embedded", "--dry-run", path], {}), `conformance ${name}`);
    assertEquals(contentOf(folder.path), before, name);
  }
});

test("[84] [136] a hostile recording is an error of the user, and what it asks for is bounded", async () => {
  const header = '{"pintleRecording":1,"operator":"op","version":"1","controllers":["pods"],"startedAt":1}\n';
  const entry = (id: number, kind: string, rest: string) =>
    `{"id":${id},"at":${id},"causes":[],"kind":"${kind}",${rest}}\n`;
  const pod = '"object":{"resource":"pods","kind":"Pod","key":"default/a"},"via":"watch","change":"added"';
  const start = '"controller":"pods","key":"default/a","waitedMs":0,"priority":0,"retries":0';
  const contents: Readonly<Record<string, string>> = {
    "a deep object": header + entry(1, "change", `${pod},"state":{"metadata":${"[".repeat(1e5)}${"]".repeat(1e5)}}`),
    "a long line": header + "x".repeat(20 * 1024 * 1024),
    "an object without metadata": header + entry(1, "change", `${pod},"state":{}`),
    "a key that is no text": header + entry(1, "reconcile-start", start.replace('"default/a"', "{}")),
    "a time beyond all days": header + entry(1, "reconcile-start", start).replace('"at":1', '"at":1e300'),
    "another format": header.replace(":1,", ":2,"),
    "a controller with control characters": header.replace("pods", "\\u001b[2J"),
  };
  for (const [name, content] of Object.entries(contents)) {
    using folder = new Folder();
    writeFileSync(join(folder.path, "bad"), content);
    for (const args of [["replay", join(folder.path, "bad")]]) {
      assertUserError(await ending(args, {}), `replay ${name}`);
    }
  }
});

test("[84] a variable that names no usable kubeconfig is an error of the user, in every command", async () => {
  for (const command of ["version", "run --all", "doctor", "install-crds --diff", "uninstall-crds --yes"]) {
    for (const { name, make, pathOf = (path: string) => path } of badFiles) {
      using folder = new Folder();
      make(join(folder.path, "bad"));
      const environment = { KUBECONFIG: pathOf(join(folder.path, "bad")) };
      const { code, err } = await ending(command.split(" "), { environment });
      assert(code !== 70 && !err.includes("defect"), `${command} ${name}: ${code} ${err}`);
    }
  }
});

test("[84] a socket instead of a file is an error of the user", async () => {
  using folder = new Folder();
  const path = join(folder.path, "socket");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    for (const flag of ["--kubeconfig", "--certificate-authority"]) {
      assertUserError(await ending(["version", "--server", "https://127.0.0.1:1", flag, path], {}), `version ${flag}`);
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
