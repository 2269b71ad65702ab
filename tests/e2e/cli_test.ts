/**
 * The command line end to end: install-crds on a real API server, and the exit codes and errors of the compiled binary
 * for bad input. Each error is one line on stderr, nothing on stdout, no stack trace, and the code of behaviour 84.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ControlPlane } from "../controlplane/mod.ts";
import { run } from "../controlplane/run.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { freePort } from "../free_port.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../testing.ts";
import { Binary, binaryPath, type Ending, runBinary, type StartOptions } from "./_binary.ts";
import { exampleFoo, installFoo, removeFoo, TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";

const crd = "customresourcedefinition.apiextensions.k8s.io/foos.samplecontroller.k8s.io";

/** Runs the binary and checks the form of its error. */
async function assertFails(
  args: readonly string[],
  code: number,
  line: RegExp,
  options: StartOptions,
): Promise<Ending> {
  const ending = await runBinary(args, options);
  assertEquals([ending.code, ending.stdout], [code, ""], ending.stderr);
  assertMatch(ending.stderr, /^controller: Cannot [^\n]+\n$/);
  assertMatch(ending.stderr, line);
  return ending;
}

/** A folder for one test. */
function folder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "pintle-e2e-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

controlPlaneTest(
  "[85] install-crds creates, then changes nothing, then repairs what another user changed",
  async (controlPlane) => {
    const { kubeconfig } = controlPlane;
    await removeFoo(controlPlane);
    const first = await runBinary(["install-crds", "foo"], { kubeconfig });
    assertEquals(first, { code: 0, stdout: `${crd} created\n`, stderr: "" });
    // The command has returned, so the kind is served.
    const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
    await namespace.kubectl(["apply", "-f", exampleFoo]);
    const installed = await resourceVersionOf(controlPlane);
    const second = await runBinary(["install-crds", "foo"], { kubeconfig });
    assertEquals(second, { code: 0, stdout: `${crd} unchanged\n`, stderr: "" });
    assertEquals(await resourceVersionOf(controlPlane), installed);
    const patch = '{"spec":{"names":{"shortNames":["fo"]}}}';
    const drop = '[{"op":"remove","path":"/spec/versions/0/additionalPrinterColumns"}]';
    await controlPlane.kubectlOutput(["patch", crd, "--type=merge", "--patch", patch]);
    await controlPlane.kubectlOutput(["patch", crd, "--type=json", "--patch", drop]);
    const third = await runBinary(["install-crds", "foo"], { kubeconfig });
    const told = "controller: foos.samplecontroller.k8s.io: taking over .spec.versions of kubectl-patch\n";
    assertEquals(third, { code: 0, stdout: `${crd} configured\n`, stderr: told });
    const text = await controlPlane.kubectlOutput(["get", crd, "--output=json"]);
    assertStringIncludes(text, ".spec.deploymentName");
  },
);

controlPlaneTest("[85] install-crds takes over from kubectl apply", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  await removeFoo(controlPlane);
  const { stdout } = await runBinary(["install-crds", "foo", "--dry-run=client", "--output", "yaml"]);
  await controlPlane.kubectlOutput(["apply", "--filename=-"], { stdin: stdout.replace("maximum: 10", "maximum: 7") });
  const taken = await runBinary(["install-crds", "foo"], { kubeconfig });
  const told = "controller: foos.samplecontroller.k8s.io: taking over .spec.versions of kubectl-client-side-apply\n";
  assertEquals(taken, { code: 0, stdout: `${crd} configured\n`, stderr: told });
  const managers = await controlPlane.kubectlOutput(["get", crd, "--show-managed-fields", "--output=json"]);
  assertStringIncludes(managers, '"controller-install-crds"');
});

controlPlaneTest("[85] --dry-run writes nothing", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  await removeFoo(controlPlane);
  const server = await runBinary(["install-crds", "foo", "--dry-run=server"], { kubeconfig });
  assertEquals(server, { code: 0, stdout: `${crd} created (server dry run)\n`, stderr: "" });
  const client = await runBinary(["install-crds", "foo", "--dry-run=client", "-o", "name"], {});
  assertEquals(client, { code: 0, stdout: `${crd}\n`, stderr: "" });
  assertEquals(await controlPlane.kubectlOutput(["get", crd, "--ignore-not-found"]), "");
});

controlPlaneTest("version names program, runtime and server", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  const { code, stdout, stderr } = await runBinary(["version", "-o", "json"], { kubeconfig });
  assertEquals([code, stderr], [0, ""]);
  const { clientVersion, runtime, serverVersion } = JSON.parse(stdout);
  assertMatch(clientVersion.gitVersion, /^\d+\.\d+\.\d+$/);
  assertEquals(runtime.name, "bun");
  assertMatch(serverVersion.gitVersion, /^v1\.\d+\.\d+/);
});

controlPlaneTest(
  "a token file, flags over the kubeconfig, and flags from the environment all log in",
  async (controlPlane) => {
    const ways: readonly (readonly [readonly string[], StartOptions])[] = [
      [[], { kubeconfig: await controlPlane.kubeconfigFor({ user: "token", tokenFile: true }) }],
      [["--token", controlPlane.token], { kubeconfig: await controlPlane.kubeconfigFor({ user: "nobody" }) }],
      [["-s", controlPlane.server], {
        kubeconfig: await controlPlane.kubeconfigFor({ server: "https://127.0.0.1:1" }),
      }],
      [[], { env: { CONTROLLER_KUBECONFIG: controlPlane.kubeconfig } }],
    ];
    for (const [args, options] of ways) {
      const { code, stdout, stderr } = await runBinary(
        ["install-crds", "foo", "--dry-run=server", "-o", "name", ...args],
        options,
      );
      assertEquals([code, stdout, stderr], [0, `${crd}\n`, ""]);
    }
  },
);

controlPlaneTest("[84] an unknown context is exit code 3 and lists the known ones", async (controlPlane) => {
  const { kubeconfig } = controlPlane;
  const context = (await controlPlane.kubectlOutput(["config", "current-context"])).trim();
  for (const command of [["run", "foo"], ["install-crds"]]) {
    const { stderr } = await assertFails([...command, "--context", "nope"], 3, /context "nope"/, { kubeconfig });
    assertStringIncludes(stderr, context);
  }
});

test("[84] a kubeconfig that is missing, unreadable, malformed or invalid is exit code 3", async () => {
  using dir = folder();
  const file = (name: string, text: string) => {
    const path = join(dir.path, name);
    writeFileSync(path, text);
    return path;
  };
  const secret = "s3cret-canary";
  const locked = file("locked", "apiVersion: v1");
  chmodSync(locked, 0);
  const cases: readonly (readonly [string, RegExp])[] = [
    [join(dir.path, "none"), /it does not exist/],
    [dir.path, /Cannot read kubeconfig/],
    [file("broken", `apiVersion: v1\nusers: [{name: a, user: {token: ${secret}}\n`), /line \d+: it is not valid YAML/],
    [file("shape", `clusters: 7\ntoken: ${secret}\n`), /at clusters/],
    [file("empty", ""), /no context is current/],
    [file("binary", "\u0000\u0001\u001b[31m"), /Cannot use kubeconfig/],
  ];
  for (const [path, state] of cases) {
    const { stderr } = await assertFails(["run", "foo", "--kubeconfig", path], 3, state, {});
    assert(!stderr.includes(secret) && !stderr.includes("\u001b"));
  }
  // Root can read every file; other users get an error here.
  const lockedEnding = await runBinary(["run", "foo", "--kubeconfig", locked]);
  assertEquals(lockedEnding.code, 3);
  assertMatch(lockedEnding.stderr, /^controller: Cannot [^\n]+\n$/);
});

test("[84] a missing kubeconfig is exit code 3 and names the searched places", async () => {
  await assertFails(["run", "foo"], 3, /searched "\/nonexistent\/.kube\/config"/, {});
});

controlPlaneTest("[84] an unreachable server is exit code 5, after --connect-timeout", async (controlPlane) => {
  const closed = await freePort();
  const kubeconfig = await controlPlane.kubeconfigFor({ server: `https://127.0.0.1:${closed}` });
  const args = ["run", "foo", "--connect-timeout", "1s"];
  await assertFails(args, 5, /Cannot reach the API server https:\/\/127\.0\.0\.1:\d+: the connection was refused/, {
    kubeconfig,
  });
  await assertFails(["install-crds", "--connect-timeout=500ms"], 5, /was refused/, { kubeconfig });
});

controlPlaneTest("[84] a server that accepts and never responds is exit code 5", async (controlPlane) => {
  const silent = createServer((socket) => socket.on("error", () => {}));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const sockets = new Set<import("node:net").Socket>();
  silent.on("connection", (socket) => sockets.add(socket));
  try {
    const { port } = silent.address() as AddressInfo;
    const kubeconfig = await controlPlane.kubeconfigFor({ server: `https://127.0.0.1:${port}` });
    await assertFails(["run", "foo", "--connect-timeout=1s"], 5, /Cannot reach the API server/, { kubeconfig });
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await once(silent, "close");
  }
});

controlPlaneTest(
  "[84] a certificate of another CA is exit code 5 and names the kubeconfig's CA",
  async (controlPlane) => {
    for (const ca of ["wrong", "system"] as const) {
      const kubeconfig = await controlPlane.kubeconfigFor({ ca });
      await assertFails(["run", "foo", "--connect-timeout=300s"], 5, /unknown authority.*certificate-authority/, {
        kubeconfig,
      });
    }
  },
);

controlPlaneTest(
  "[84] a server certificate that has expired, or is for another name, is exit code 5",
  async (controlPlane) => {
    const hour = 3_600_000;
    const dates = { notBefore: new Date(Date.now() - 48 * hour), notAfter: new Date(Date.now() - hour) };
    const cases = [
      [{ hosts: ["127.0.0.1"], ...dates }, /certificate has expired.*clock/],
      [{ hosts: ["kubernetes.example"] }, /for another name.*tls-server-name/],
    ] as const;
    for (const [certificate, state] of cases) {
      const pair = await controlPlane.certificateAuthority.issue({
        commonName: "api",
        usage: "server",
        ...certificate,
      });
      const server = createTlsServer({ cert: pair.certificate, key: pair.key }, (_, answer) => answer.end("{}"));
      server.on("tlsClientError", () => {});
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      try {
        const { port } = server.address() as AddressInfo;
        const kubeconfig = await controlPlane.kubeconfigFor({ server: `https://127.0.0.1:${port}` });
        await assertFails(["run", "foo", "--connect-timeout=300s"], 5, state, { kubeconfig });
      } finally {
        server.close();
        server.closeAllConnections();
      }
    }
  },
);

controlPlaneTest("[84] an expired client certificate is exit code 4 and is recognized", async (controlPlane) => {
  const kubeconfig = await controlPlane.kubeconfigFor({ user: "expired" });
  for (const command of [["run", "foo"], ["install-crds"]]) {
    await assertFails(
      command,
      4,
      /rejected \(401 Unauthorized\)\. Get a new client certificate: this one expired at 20/,
      {
        kubeconfig,
      },
    );
  }
});

controlPlaneTest("[84] an unknown bearer token is exit code 4, and is not printed", async (controlPlane) => {
  const kubeconfig = await controlPlane.kubeconfigFor({ user: "token" });
  const args = ["run", "foo", "--token", "s3cret-canary"];
  const { stderr } = await assertFails(args, 4, /rejected \(401 Unauthorized\).*the token has expired/, { kubeconfig });
  assert(!stderr.includes("s3cret-canary"));
});

controlPlaneTest(
  "[84] a user without permissions is exit code 4 with verb, resource and the missing rule",
  async (controlPlane) => {
    await installFoo(controlPlane);
    const kubeconfig = await controlPlane.kubeconfigFor({ user: "nobody" });
    const { stderr } = await assertFails(
      ["run", "foo"],
      4,
      /list foos\.samplecontroller\.k8s\.io is forbidden for user "/,
      {
        kubeconfig,
      },
    );
    assertStringIncludes(
      stderr,
      'apiGroups: ["samplecontroller.k8s.io"], resources: ["foos"], verbs: ["get", "list", "watch"]',
    );
    await assertFails(["install-crds", "foo"], 4, /customresourcedefinitions.*verbs: \["get", "create", "patch"\]/, {
      kubeconfig,
    });
  },
);

controlPlaneTest("--namespace uses that namespace only, with permissions for no other", async (controlPlane) => {
  await installFoo(controlPlane);
  const inside = new TestNamespace(controlPlane, await createNamespace(controlPlane));
  const outside = new TestNamespace(controlPlane, await createNamespace(controlPlane));
  for (const namespace of [inside, outside]) {
    await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 0 });
  }
  await inside.kubectl(["apply", "-f", "-"], JSON.stringify(narrowRole));
  await inside.kubectl(["create", "serviceaccount", "narrow"]);
  await inside.kubectl(["create", "rolebinding", "narrow", "--role=narrow", `--serviceaccount=${inside.name}:narrow`]);
  const token = (await inside.kubectl(["create", "token", "narrow"])).trim();
  const options = {
    kubeconfig: await controlPlane.kubeconfigFor({ user: "nobody" }),
    env: { CONTROLLER_TOKEN: token },
  };
  const who = `system:serviceaccount:${inside.name}:narrow`;
  await assertFails(["run", "foo"], 4, new RegExp(`forbidden for user "${who}".*a ClusterRole with`), options);
  await assertFails(["run", "foo", "-n", outside.name], 4, /in namespace ".*a Role in /, options);
  await using binary = new Binary(["run", "foo", "-n", inside.name], options);
  await inside.eventuallyEvent("Foo", "a", "Synced");
  assertEquals(await outside.find("deployment/web"), undefined);
  assert(!binary.stderr.includes("forbidden"), binary.stderr);
});

/** Exactly the permissions that the controller foo needs. */
const narrowRole = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "narrow" },
  rules: [
    { apiGroups: ["samplecontroller.k8s.io"], resources: ["foos"], verbs: ["get", "list", "watch"] },
    { apiGroups: ["samplecontroller.k8s.io"], resources: ["foos/status"], verbs: ["patch"] },
    { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch", "create", "patch"] },
    { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
  ],
};

controlPlaneTest(
  "[84] a missing CRD is exit code 6 and names the command, also for a user without permissions",
  async (controlPlane) => {
    await removeFoo(controlPlane);
    for (const user of ["admin", "nobody"] as const) {
      const kubeconfig = await controlPlane.kubeconfigFor({ user });
      await assertFails(["run", "foo"], 6, /is not installed\. Run: controller install-crds foo\n/, { kubeconfig });
    }
  },
);

controlPlaneTest("the binary writes nothing before it knows that the controller can run", async (controlPlane) => {
  await removeFoo(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await assertFails(["run", "foo"], 6, /not installed/, { kubeconfig: proxy.kubeconfig });
  assertEquals(proxy.writes, []);
  assert(proxy.requests.length > 0);
});

test("[84] an invalid command line is exit code 2", async () => {
  await assertFails(["run", "fooo"], 2, /there are foo, [^.]+\. Did you mean foo\?/, {});
  await assertFails(["run", "foo", "--resync", "30"], 2, /--resync "30": it is not a duration.*--resync 10m/, {});
  await assertFails(["run", "foo"], 2, /CONTROLLER_WORKERS "many"/, { env: { CONTROLLER_WORKERS: "many" } });
});

test("[85] a reader that closes the pipe early is not an error", async () => {
  // `true` ends before the first byte is written; the exit code of the left side counts.
  const script = '{ sleep 0.2; "$0" "$@"; echo "code $?" >&2; } | true';
  const lines = [
    ["--help"],
    ["run", "--help"],
    ["install-crds", "--dry-run=client", "-o", "yaml"],
    ["version", "--client"],
    ["manifests"],
    ["completions", "bash"],
    ["__complete", "words", "--", "run", "-"],
  ];
  for (const line of lines) {
    const result = await run("/bin/sh", ["-c", script, binaryPath(), ...line]);
    assert(result.kind === "ended");
    assertEquals([result.stdout, result.stderr], ["", "code 0\n"]);
  }
});

test("a folder's .env and bunfig.toml do not change the binary's behaviour", async () => {
  using dir = folder();
  writeFileSync(join(dir.path, ".env"), "CONTROLLER_WORKERS=many\n");
  writeFileSync(join(dir.path, "bunfig.toml"), 'preload = ["./evil.ts"]\n');
  const result = await run(binaryPath(), ["run", "foo", "--kubeconfig", "/nonexistent/config"], { cwd: dir.path });
  assert(result.kind === "ended");
  assertEquals(result.code, 3, result.stderr);
});

controlPlaneTest("[61] a signal during the wait for the server ends the process normally", async (controlPlane) => {
  const kubeconfig = await controlPlane.kubeconfigFor({ server: `https://127.0.0.1:${await freePort()}` });
  await using binary = new Binary(["run", "foo", "-v"], { kubeconfig });
  await binary.logged(/server not reached, retrying/);
  binary.signal("SIGINT");
  const { code, stderr } = await binary.ended();
  assertEquals(code, 0, stderr);
});

async function resourceVersionOf(controlPlane: ControlPlane): Promise<string> {
  return await controlPlane.kubectlOutput(["get", crd, "--output=jsonpath={.metadata.resourceVersion}"]);
}
