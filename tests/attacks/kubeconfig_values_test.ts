/**
 * Attacks by values of a kubeconfig, of flags and of the environment: files that are none, servers that must not get a
 * token, and rules of NO_PROXY that are no rules. Generators combine every place with every value.
 *
 * The rules: each is an error of the user, settles without waiting for a writer, and shows no secret; a ServiceAccount's
 * token is sent to a verified server only; a malformed rule of NO_PROXY matches nothing.
 */
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { seededRandom, VirtualClock } from "../../src/async/mod.ts";
import {
  clusterTransport,
  KubeconfigError,
  type KubeconfigOverrides,
  loadClusterAccess,
} from "../../src/client/mod.ts";
import { CertificateAuthority } from "../controlplane/certificate_authority.ts";
import { LoopbackServer } from "../loopback.ts";
import { assert, assertEquals, assertRejects, test } from "../testing.ts";

class Folder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<Folder> {
    return new Folder(await mkdtemp("/tmp/pintle-values-"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true });
  }
}

function makeFifo(path: string): void {
  execFileSync("mkfifo", [path]);
}

const notFiles: Readonly<Record<string, (path: string) => Promise<void> | void>> = {
  "a missing file": () => {},
  "a folder": async (path) => void await mkdir(path),
  "a FIFO without a writer": makeFifo,
  "a link to a FIFO": async (path) => {
    makeFifo(`${path}.fifo`);
    await symlink(`${path}.fifo`, path);
  },
  "a link to itself": (path) => symlink(path, path),
  "a link to nothing": (path) => symlink(`${path}.none`, path),
  "a link to a device": (path) => symlink("/dev/zero", path),
};

const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

function configOf(user: object, cluster: object): string {
  return JSON.stringify({
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
    clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:1", ...cluster } }],
    users: [{ name: "u", user }],
  });
}

test("a value that names no regular file is an error of the user, in every field that names one", async () => {
  for (const [name, make] of Object.entries(notFiles)) {
    await using folder = await Folder.create();
    const bad = `${folder.path}/bad`;
    await make(bad);
    await writeFile(`${folder.path}/good`, pem);
    const good = `${folder.path}/good`;
    const configs = [
      configOf({}, { "certificate-authority": bad }),
      configOf({ "client-certificate": bad, "client-key": good }, {}),
      configOf({ "client-certificate": good, "client-key": bad }, {}),
      configOf({ tokenFile: bad }, {}),
    ];
    for (const config of configs) {
      await writeFile(`${folder.path}/config`, config);
      const load = () => loadClusterAccess({ environment: {}, overrides: { kubeconfig: `${folder.path}/config` } });
      const error = await assertRejects(load);
      assert(error instanceof KubeconfigError, `${name}: ${error}`);
    }
    const error = await assertRejects(() => loadClusterAccess({ environment: {}, overrides: { kubeconfig: bad } }));
    assert(error instanceof KubeconfigError, `kubeconfig ${name}: ${error}`);
    const flags = { server: "https://127.0.0.1:1", certificateAuthority: bad };
    assert(
      (await assertRejects(() => loadClusterAccess({ environment: {}, overrides: flags }))) instanceof KubeconfigError,
    );
  }
});

test("a token file that becomes a FIFO does not stop the requests", async () => {
  const ca = await CertificateAuthority.create("ca");
  const tls = await ca.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });
  await using folder = await Folder.create();
  await using server = await LoopbackServer.start({ tls, answer: (_request, response) => void response.end("{}") });
  const clock = new VirtualClock();
  await writeFile(`${folder.path}/token`, "t");
  await writeFile(`${folder.path}/ca`, ca.certificate);
  const config = configOf({ tokenFile: "token" }, { "server": server.url(), "certificate-authority": "ca" });
  await writeFile(`${folder.path}/config`, config);
  const access = await loadClusterAccess({ environment: {}, overrides: { kubeconfig: `${folder.path}/config` } });
  using transport = clusterTransport(access, { clock });
  for (const replaced of [undefined, "token", "ca"]) {
    if (replaced !== undefined) {
      makeFifo(`${folder.path}/fifo`);
      await rename(`${folder.path}/fifo`, `${folder.path}/${replaced}`);
    }
    await clock.advance(60_000);
    assertEquals(await (await transport(new Request("https://kubernetes.invalid/api"))).text(), "{}");
  }
});

/** Servers that must not get a token, or only without one. */
function servers(): readonly string[] {
  const random = seededRandom(148);
  const pick = (values: readonly string[]) => values[Math.floor(random.next() * values.length)] ?? "";
  const schemes = ["http", "HTTP", "ftp", "ws", "file", "javascript", "unix", "httpss", ""];
  const users = ["", "canary:canary@", "canary@", "canary%40x:@"];
  const hosts = [
    "10.0.0.1",
    "evil.example",
    "127.0.0.1.evil.example",
    "[fd00::1]",
    "localhost.evil.example",
    "0",
    "010.1",
  ];
  const generated = Array.from(
    { length: 200 },
    () => `${pick(schemes)}://${pick(users)}${pick(hosts)}${pick(["", ":6443"])}`,
  );
  return [...generated, ...hosts.map((host) => `https://canary:canary@${host}`), "evil.example", "//evil.example", ""];
}

test("in a Pod, a --server that must not get the token is refused, and the error has no user information", async () => {
  await using folder = await Folder.create();
  await writeFile(`${folder.path}/token`, "the token");
  await writeFile(`${folder.path}/ca.crt`, pem);
  const environment = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const load = (server: string, more: Record<string, string> = {}) =>
    loadClusterAccess({
      environment: { ...environment, ...more },
      overrides: server === "" ? {} : { server },
      serviceAccountDirectory: folder.path,
    });
  for (const server of servers().filter((one) => one !== "")) {
    const error = await assertRejects(() => load(server));
    assert(error instanceof KubeconfigError, `${server}: ${error}`);
    assert(!error.message.includes("canary"), error.message);
  }
  for (const host of ["user@evil.example", "evil.example/x@10.0.0.1", "a b", "10.0.0.1#"]) {
    const access = await load("", { KUBERNETES_SERVICE_HOST: host }).catch((error: unknown) => {
      assert(error instanceof KubeconfigError, `${host}: ${error}`);
    });
    if (access) assertEquals(new URL(access.server).username, "", host);
  }
  // On this machine plain HTTP is allowed, and carries no token.
  for (const server of ["http://127.0.0.1:8001", "http://localhost:8001", "http://[::1]:1"]) {
    assertEquals((await load(server)).credentials, { kind: "none" });
  }
  assertEquals((await load("https://10.0.0.1:6443/")).server, "https://10.0.0.1:6443");
});

test("a rule of NO_PROXY matches what it says exactly, and a malformed one matches nothing", async () => {
  const isProxied = async (host: string, rule: string) => {
    const environment = { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: rule };
    return (await loadClusterAccess({ environment, overrides: { server: `https://${host}` } })).proxy !== undefined;
  };
  const malformed = [
    "",
    " ",
    "+8",
    "-1",
    "0x8",
    "8.0",
    "1e1",
    "33",
    "129",
    "999",
    "8/8",
    "a",
    "٨",
    "0b1",
    "1_0",
    "Infinity",
  ];
  for (const base of ["10.0.0.0", "0.0.0.0", "10.1.2.3"]) {
    for (const prefix of malformed) {
      assertEquals(await isProxied("10.1.2.3", `${base}/${prefix}`), true, `${base}/${prefix}`);
    }
  }
  for (
    const rule of ["010.1.2.3", "10.1.2.03/32", "10.1.2", "/0", "/", "10.1.2.3.4", "256.1.2.3/0", "[10.1.2.3", "::]/0"]
  ) {
    assertEquals(await isProxied("10.1.2.3", rule), true, rule);
    assertEquals(await isProxied("[fd00::1]", rule), true, rule);
  }
  const random = seededRandom(11);
  const number = () => Math.floor(random.next() * 2 ** 32);
  const textOf = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
  for (let round = 0; round < 300; round++) {
    const network = number();
    const prefix = Math.floor(random.next() * 33);
    // Half of the hosts share the prefix, or nearly.
    const host = (round % 2 === 0 ? number() : network ^ (2 ** Math.floor(random.next() * 32))) >>> 0;
    if (host >>> 24 === 127) continue;
    const isInside = Math.floor(host / 2 ** (32 - prefix)) === Math.floor(network / 2 ** (32 - prefix));
    const rule = `${textOf(network)}/${prefix}`;
    assertEquals(await isProxied(textOf(host), rule), !isInside, `${textOf(host)} in ${rule}`);
  }
});

test("[security 2] in a Pod, a flag that would have no effect is refused before the token is read", async () => {
  await using folder = await Folder.create();
  await writeFile(`${folder.path}/token`, "the token");
  await writeFile(`${folder.path}/ca.crt`, pem);
  const environment = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
  const load = (overrides: KubeconfigOverrides) =>
    loadClusterAccess({ environment, overrides, serviceAccountDirectory: folder.path });
  const table: readonly (readonly [KubeconfigOverrides, RegExp])[] = [
    [
      { insecureSkipTlsVerify: true },
      /^Cannot use --insecure-skip-tls-verify in a Pod: any server could get the token/,
    ],
    [{ insecureSkipTlsVerify: true, server: "https://10.0.0.1" }, /--insecure-skip-tls-verify in a Pod/],
    [{ context: "x" }, /^Cannot use --context in a Pod: there is no kubeconfig/],
    [{ cluster: "x" }, /--cluster in a Pod/],
    [{ user: "x" }, /--user in a Pod/],
    [{ clientCertificate: "x" }, /--client-certificate in a Pod/],
    [{ clientKey: "x" }, /--client-key in a Pod/],
    [{ asGroups: ["x"] }, /--as-group or --as-uid in a Pod: a user is missing/],
    [{ asUid: "x" }, /a user is missing/],
  ];
  for (const [overrides, expected] of table) {
    const error = await assertRejects(() => load(overrides), expected);
    assert(error instanceof KubeconfigError, String(error));
  }
  assertEquals(
    (await load({ insecureSkipTlsVerify: false, as: "ann", asGroups: ["x"] })).credentials.kind,
    "tokenFile",
  );
});

test("[security 21] a CA file of megabytes with broken marks is refused after linear work", async () => {
  await using folder = await Folder.create();
  const path = `${folder.path}/ca`;
  const random = seededRandom(21);
  const marks = [
    "-----BEGIN CERTIFICATE-----\n",
    "-----BEGIN ",
    "-----END",
    "-----",
    "-",
    "QUJD\n",
    "-----BEGIN X-----",
  ];
  for (let round = 0; round < 6; round++) {
    const piece = Array.from({ length: 1 + round }, () => marks[Math.floor(random.next() * marks.length)]).join("");
    const text = `-----BEGIN CERTIFICATE-----\n${piece}`.repeat(100_000).slice(0, 3_500_000);
    await writeFile(path, text);
    const overrides = { server: "https://127.0.0.1:1", token: "t", certificateAuthority: path };
    using transport = clusterTransport(await loadClusterAccess({ environment: {}, overrides }));
    // With quadratic work, each round takes a quarter of an hour, and the test does not end.
    await assertRejects(
      () => transport(new Request("https://kubernetes.invalid/api")),
      /it has no complete PEM block$/,
    );
  }
});
