/**
 * `controller envtest`: controller-runtime's own envtest, unmodified, starts this program in the place of etcd and
 * kube-apiserver, and client-go and controller-runtime work on them. No real control plane is needed.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildGo, goChecks, missing } from "../clients/build.ts";
import { until } from "../controlplane/mod.ts";
import { freePort } from "../free_port.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";

const noGo = missing("go");
const goTest = noGo === undefined ? test : (name: string) => test.skip(name, noGo);

goTest("[139] envtest of controller-runtime, client-go and controller-runtime work on the stand-ins", async () => {
  const program = await buildGo();
  await using folder = await temporaryFolder();
  const args = ["envtest", "--with-cluster", folder.path, "--", program, "envtest"];
  const { code, stdout, stderr } = await runBinary(args);
  assertEquals(code, 0, stderr);
  assertEquals(stdout.trimEnd().split("\n"), [
    "started by envtest",
    ...goChecks,
    "a kind of CRDDirectoryPaths",
    "a user by certificate, limited by RBAC",
  ]);
});

test("[139] envtest writes the folder and prints the variable; a file of another program stays", async () => {
  await using folder = await temporaryFolder();
  const first = await runBinary(["envtest", join(folder.path, "a b")]);
  assertEquals([first.code, first.stdout], [0, `export KUBEBUILDER_ASSETS='${join(folder.path, "a b")}'\n`]);
  assertEquals((await runBinary(["envtest", join(folder.path, "a b")])).code, 0);
  await writeFile(join(folder.path, "etcd"), "#!/bin/sh\necho other\n");
  const second = await runBinary(["envtest", folder.path]);
  assertEquals(second.code, 1);
  assertMatch(second.stderr, /a file of another program is there\. Choose another folder: envtest DIR/);
  assertEquals(await readFile(join(folder.path, "etcd"), "utf8"), "#!/bin/sh\necho other\n");
});

test("[139] the stand-ins end at SIGTERM with 0, refuse what the originals refuse, and share no etcd", async () => {
  await using folder = await temporaryFolder();
  const [etcdPort, port, otherPort] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const apiServer = (...words: readonly string[]) =>
    startProgram("kube-apiserver", [
      `--etcd-servers=${etcdUrl}`,
      `--cert-dir=${folder.path}`,
      ...words,
    ]);
  await using etcd = startProgram("etcd", [`--listen-client-urls=${etcdUrl}`, "-unsafe-no-fsync"]);
  await until("reach the etcd", () => respondsAt(`${etcdUrl}/health`));
  await using first = apiServer(`--secure-port=${port}`, "--feature-gates=AllAlpha=true");
  await first.logged(/Serving securely on/);
  await using second = apiServer(`--secure-port=${otherPort}`);
  const refused = await second.ended();
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, /the API server with the process id \d+ uses it/);
  await using unknown = apiServer("--insecure-port=0");
  assertMatch((await unknown.ended()).stderr, /unknown flag: --insecure-port/);
  first.signal("SIGTERM");
  etcd.signal("SIGTERM");
  assertEquals([(await first.ended()).code, (await etcd.ended()).code], [0, 0]);
});

async function respondsAt(url: string) {
  const isThere = await fetch(url).then(async (response) => (await response.text(), response.ok)).catch(() => false);
  return isThere ? { kind: "found", value: true } as const : { kind: "pending", state: "it does not respond" } as const;
}

function startProgram(name: string, args: readonly string[]): Binary {
  return new Binary(["__envtest", name, ...args]);
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), "pintle-envtest-"));
  assert(path !== "");
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
