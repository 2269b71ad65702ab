/**
 * Variables and files that turn a runtime into something else, on the compiled binary. The tables say for each whether it
 * has no effect, is refused, or is one of the few that take effect before the first line of this program: those are the
 * ones that statement security 28 names.
 *
 * Whoever sets the variables of a process can run code in it, as with LD_PRELOAD; the tests hold that there is no further
 * variable, and that none changes which servers are trusted.
 */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { CertificateAuthority } from "../controlplane/certificate_authority.ts";
import { run, type RunResult } from "../controlplane/run.ts";
import { LoopbackServer } from "../loopback.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

class Folder implements Disposable {
  readonly path = mkdtempSync("/tmp/pintle-variables-");

  constructor() {
    writeFileSync(
      join(this.path, "evil.js"),
      `require("fs").writeFileSync(${JSON.stringify(`${this.path}/taken`)}, "")`,
    );
  }

  /** Whether the file that takes the process over has run. */
  get isTaken(): boolean {
    return readdirSync(this.path).includes("taken");
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Runs the binary with exactly these variables. */
async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<Extract<RunResult, { kind: "ended" }>> {
  const variables = Object.entries({ PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...env });
  const words = ["-i", ...variables.map(([name, value]) => `${name}=${value}`), binaryPath(), ...args];
  const result = await run("/usr/bin/env", words, { cwd });
  assert(result.kind === "ended");
  return result;
}

const line = ["version", "--client"];

/** No variable of these may change what the program does. `EVIL` is the file that takes the process over. */
const ineffective: readonly (readonly [name: string, value: string])[] = [
  ["BUN_PRELOAD", "EVIL"],
  ["NODE_OPTIONS", "--require EVIL"],
  ["NODE_OPTIONS", "--import EVIL --inspect=127.0.0.1:0"],
  ["NODE_PATH", "FOLDER"],
  ["NODE_ENV", "development"],
  ["NODE_DEBUG", "http,net,tls"],
  ["NODE_REPL_EXTERNAL_MODULE", "EVIL"],
  ["NODE_CHANNEL_FD", "3"],
  ["BUN_DEBUG", "1"],
  ["BUN_INSTALL", "FOLDER"],
  ["BUN_CONFIG_REGISTRY", "http://127.0.0.1:1"],
  ["BUN_CONFIG_VERBOSE_FETCH", "curl"],
  ["BUN_CONFIG_MAX_HTTP_REQUESTS", "1"],
  ["BUN_RUNTIME_TRANSPILER_CACHE_PATH", "FOLDER"],
  ["DENO_DIR", "FOLDER"],
  ["DENO_V8_FLAGS", "--prof"],
  ["TS_NODE_PROJECT", "FOLDER"],
];

/** Refused by the program; the runtime has read them before that. */
const refused: readonly (readonly [name: string, value: string])[] = [
  ["BUN_OPTIONS", "--preload EVIL"],
  ["BUN_OPTIONS", "--inspect=127.0.0.1:0"],
  ["BUN_OPTIONS", "--smol"],
  ["BUN_INSPECT", "ws://127.0.0.1:0/x"],
  ["BUN_INSPECT_CONNECT_TO", "FOLDER/none.sock"],
  ["BUN_INSPECT_NOTIFY", "FOLDER/none.sock"],
  ["BUN_INSPECT_PRELOAD", "EVIL"],
];

function filled(value: string, folder: Folder): string {
  return value.replaceAll("EVIL", join(folder.path, "evil.js")).replaceAll("FOLDER", folder.path);
}

test("[security 28] a variable of a runtime changes nothing, or the program refuses it", async () => {
  using plain = new Folder();
  const expected = await start(line, {}, plain.path);
  assertEquals(expected.code, 0);
  for (const [name, value] of ineffective) {
    using folder = new Folder();
    const result = await start(line, { [name]: filled(value, folder) }, folder.path);
    assertEquals(result, expected, `${name}=${value}`);
    assertEquals(readdirSync(folder.path), ["evil.js"], `${name}=${value}`);
  }
  for (const [name, value] of refused) {
    using folder = new Folder();
    const { code, stdout, stderr } = await start(line, { [name]: filled(value, folder) }, folder.path);
    assertEquals([code, stdout], [2, ""], `${name}=${value}: ${stderr}`);
    const message =
      `controller: Cannot start: the variable ${name} changes the runtime inside of this program. Unset it\n`;
    assert(stderr.endsWith(message), stderr);
  }
});

test("[security 28] what takes effect before the program begins is BUN_BE_BUN, and the code that BUN_OPTIONS loads", async () => {
  using folder = new Folder();
  const bun = await start(["--revision"], { BUN_BE_BUN: "1" }, folder.path);
  assertEquals(bun.code, 0);
  assertMatch(bun.stdout, /^\d+\.\d+\.\d+/);
  assert(!folder.isTaken);
  await start(line, { BUN_OPTIONS: filled("--preload EVIL", folder) }, folder.path);
  assert(folder.isTaken);
});

test("[security 28] no file of the working folder changes what the program does", async () => {
  using plain = new Folder();
  const expected = await start(line, {}, plain.path);
  const files = {
    ".env": "CONTROLLER_OUTPUT=json\nNODE_OPTIONS=--require ./evil.js\nBUN_OPTIONS=--smol\n",
    ".env.local": "CONTROLLER_OUTPUT=json\n",
    ".env.production": "CONTROLLER_OUTPUT=json\n",
    "bunfig.toml": 'preload = ["./evil.js"]\n[run]\nbun = true\n',
    "package.json": '{"name":"x","type":"commonjs","scripts":{"version":"node evil.js"},"imports":{"zod":"./evil.js"}}',
    "tsconfig.json": '{"compilerOptions":{"paths":{"*":["./evil.js"]}}}',
    "jsconfig.json": '{"compilerOptions":{"paths":{"*":["./evil.js"]}}}',
    "deno.json": '{"imports":{"zod":"./evil.js"}}',
    ".npmrc": "registry=http://127.0.0.1:1\n",
  };
  for (const [name, text] of Object.entries(files)) {
    using folder = new Folder();
    writeFileSync(join(folder.path, name), text);
    assertEquals(await start(line, {}, folder.path), expected, name);
    assert(!folder.isTaken, name);
  }
});

test("[security 28] no variable makes the program trust a server that the kubeconfig does not", async () => {
  using folder = new Folder();
  const [trusted, other] = [await CertificateAuthority.create("trusted"), await CertificateAuthority.create("other")];
  const tls = await other.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });
  let requests = 0;
  const answer = (_: unknown, response: { end(text: string): unknown }) => {
    requests++;
    response.end('{"major":"1","minor":"36","gitVersion":"v1.36.0"}');
  };
  await using server = await LoopbackServer.start({ tls, answer });
  writeFileSync(join(folder.path, "trusted"), trusted.certificate);
  writeFileSync(join(folder.path, "other"), other.certificate);
  const args = ["version", "--server", server.url(), "--token", "canary", "--request-timeout", "5s"];
  const ca = (name: string) => ["--certificate-authority", join(folder.path, name)];
  const good = await start([...args, ...ca("other")], {}, folder.path);
  assertEquals([good.code, requests > 0], [0, true], good.stderr);
  const variables: readonly (readonly [string, string])[] = [
    ["NODE_TLS_REJECT_UNAUTHORIZED", "0"],
    ["NODE_EXTRA_CA_CERTS", join(folder.path, "other")],
    ["SSL_CERT_FILE", join(folder.path, "other")],
    ["SSL_CERT_DIR", folder.path],
    ["NODE_USE_SYSTEM_CA", "1"],
    ["DENO_TLS_CA_STORE", "system"],
    ["DENO_CERT", join(folder.path, "other")],
    ["NODE_USE_ENV_PROXY", "1"],
  ];
  for (const [name, value] of variables) {
    requests = 0;
    const { code, stderr } = await start([...args, ...ca("trusted")], { [name]: value }, folder.path);
    const isRefused = name === "NODE_TLS_REJECT_UNAUTHORIZED";
    assertEquals([code, requests], [isRefused ? 3 : 5, 0], `${name}: ${stderr}`);
  }
  // Nor without an authority in the kubeconfig.
  requests = 0;
  const { code, stderr } = await start(args, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }, folder.path);
  assertEquals([code, requests], [3, 0], stderr);
});
