/**
 * `controller dev` with the compiled binary: an embedded Kubernetes API, used with kubectl, and its access restrictions.
 * kubectl is part of the real control plane, which is not used otherwise.
 */
import { readFileSync, statSync } from "node:fs";
import { request } from "node:https";
import { existsSync } from "node:fs";
import process from "node:process";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { run } from "../controlplane/run.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { Binary, binaryPath, runBinary } from "./_binary.ts";
import { noTerminal, onTerminal } from "./_terminal.ts";

const path = process.env["PATH"] ?? "";

controlPlaneTest("dev -- kubectl get namespaces prints the output of a real cluster", async () => {
  const { code, stdout } = await runBinary(["dev", "--", "kubectl", "get", "namespaces"], { env: { PATH: path } });
  assertEquals(code, 0);
  const [head = "", ...rows] = stdout.trimEnd().split("\n");
  assertMatch(head, /^NAME\s+STATUS\s+AGE$/);
  assertEquals(rows.map((row) => row.split(/\s+/).slice(0, 2).join(" ")), [
    "default Active",
    "kube-node-lease Active",
    "kube-public Active",
    "kube-system Active",
  ]);
});

controlPlaneTest("dev ends with the exit code of its command", async () => {
  const { code } = await runBinary(["dev", "-q", "--", "sh", "-c", "exit 7"], { env: { PATH: path } });
  assertEquals(code, 7);
});

controlPlaneTest("dev gives advice when its command does not exist", async () => {
  const { code, stderr } = await runBinary(["dev", "-q", "--", "no-such-program"], { env: { PATH: path } });
  assertEquals(code, 1);
  assertMatch(stderr, /Cannot run "no-such-program": .*Check whether it is installed and in PATH/);
});

controlPlaneTest("dev --all --samples --until-settled runs every controller and ends with 0", async () => {
  const { code, stdout } = await runBinary(["dev", "--all", "--samples", "--until-settled"]);
  assertEquals(code, 0);
  for (const name of ["foo", "pods", "ecsbinding", "nodepool", "ingress"]) {
    assertMatch(stdout, new RegExp(`^${name}\\s+\\d+ objects?\\s+settled$`, "m"));
  }
});

controlPlaneTest("a Deployment rolls out, scales and is deleted on dev, seen with kubectl", async () => {
  const script = [
    "kubectl create deployment web --image=nginx --replicas=2",
    "kubectl rollout status deployment/web --timeout=300s",
    "kubectl scale deployment/web --replicas=3",
    "kubectl rollout status deployment/web --timeout=300s",
    "kubectl set image deployment/web nginx=nginx:2",
    "kubectl rollout status deployment/web --timeout=300s",
    "kubectl get deployment web -o jsonpath='{.status.availableReplicas} {.metadata.annotations.deployment\\.kubernetes\\.io/revision}'",
    "kubectl delete deployment web --cascade=foreground --timeout=300s",
    "kubectl get replicasets,pods -o name",
  ].join(" && ");
  const { code, stdout, stderr } = await runBinary(["dev", "-q", "--", "sh", "-c", script], {
    env: { PATH: path },
  });
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /3 2deployment\.apps "web" deleted/);
  assertMatch(stdout, /deleted[^\n]*\n$/);
});

controlPlaneTest("the binary's other commands use dev's API server as a cluster", async () => {
  const script = [
    '"$0" install-crds foo',
    '"$0" doctor foo',
    "kubectl apply -f examples/foo.yaml",
    '"$0" run foo --once',
    "kubectl get deployment example-foo -o jsonpath={.spec.replicas}",
  ].join(" && ");
  const { code, stdout, stderr } = await runBinary(["dev", "-q", "--", "sh", "-c", script, binaryPath()], {
    env: { PATH: path },
  });
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /foo\.samplecontroller\.k8s\.io\/example-foo created\n1$/);
});

controlPlaneTest(
  "dev NAME --samples --until-settled -- COMMAND runs the command when the samples have settled",
  async () => {
    const args = [
      "dev",
      "foo",
      "--samples",
      "--until-settled",
      "-q",
      "--",
      "kubectl",
      "get",
      "deployments",
      "-o",
      "name",
    ];
    const { code, stdout } = await runBinary(args, { env: { PATH: path } });
    assertEquals([code, stdout], [0, "deployment.apps/example-foo\n"]);
  },
);

test("the table of dev --until-settled comes last on stdout, after the output of controllers", async () => {
  const { code, stdout, stderr } = await runBinary(["dev", "--all", "--samples", "--until-settled"]);
  assertEquals(code, 0, stderr);
  const lines = stdout.trimEnd().split("\n");
  assertMatch(lines.at(-6) ?? "", /^CONTROLLER +RECONCILED +STATE$/);
  assert(lines.slice(0, -6).every((line) => /^Sync\/Add\/Update for Pod |^Pod .* does not exist anymore$/.test(line)));
  assert(lines.length > 6, "pods has printed");
  assertMatch(stderr, /controller: settled: \d+ objects? reconciled\n$/);
  assert(!(stdout + stderr).includes("\u001b"), "no terminal, no colours");
});

test("[85] a reader of only the first line of dev's output ends dev with 0", async () => {
  const script = '{ "$0" dev --all --samples --until-settled -q; echo "code $?" >&2; } | head -1';
  const env = { PATH: "/usr/bin:/bin", HOME: "/nonexistent" };
  const result = await run("/bin/sh", ["-c", script, binaryPath()], { env });
  assert(result.kind === "ended");
  assertMatch(result.stderr, /code 0\n$/);
  assert(!/EPIPE|defect/.test(result.stderr), result.stderr);
});

test("[61] two signals end dev at once with 1, and its kubeconfig is deleted", async () => {
  await using dev = new Binary(["dev", "foo"]);
  await dev.logged(/starting workers/);
  const file = /export KUBECONFIG=(\S+)/.exec(dev.stderr)?.[1] ?? "";
  assert(existsSync(file));
  dev.signal("SIGINT");
  dev.signal("SIGINT");
  const { code } = await dev.ended();
  assert(code === 1 || code === 0, "it may be faster than the second signal");
  assert(!existsSync(file));
});

if (noTerminal !== undefined) test.skip("dev on a terminal", noTerminal);
else {
  test("a Ctrl-C on dev's terminal ends its command, and dev ends with the command", async () => {
    const script = "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.1; done";
    const answer = { when: "ready", text: "\u0003" };
    const { code, shown } = await onTerminal(["dev", "-q", "--", "sh", "-c", script], { answer });
    assertMatch(shown, /caught\n/);
    assertEquals(code, 7);
  });

  test("a Ctrl-C on dev's terminal ends it with 0", async () => {
    const answer = { when: "starting workers", text: "\u0003" };
    assertEquals((await onTerminal(["dev", "foo"], { answer })).code, 0);
  });

  test("on a terminal the table of dev --until-settled is updated in place and stays at the end", async () => {
    const { code, shown } = await onTerminal(["dev", "--all", "--samples", "--until-settled"]);
    assertEquals(code, 0);
    assertMatch(shown, /foo +0 objects +waiting/);
    const end = shown.slice(shown.lastIndexOf("\u001b[J"));
    assertMatch(end, /CONTROLLER +RECONCILED +STATE\n(\w+ +\d+ objects? +\S*settled\S*\n){5}/);
  });
}

controlPlaneTest(
  "[security 15] only its owner can read dev's kubeconfig, it is deleted with the cluster, and other clients are rejected",
  async () => {
    await using dev = new Binary(["dev"]);
    await dev.logged(/export KUBECONFIG=/);
    const file = /export KUBECONFIG=(\S+)/.exec(dev.stderr)?.[1] ?? "";
    assertEquals(statSync(file).mode & 0o777, 0o600);
    const config = JSON.parse(readFileSync(file, "utf8"));
    const { server } = config.clusters[0].cluster;
    const ca = Buffer.from(config.clusters[0].cluster["certificate-authority-data"], "base64").toString();
    const { token } = config.users[0].user;
    const authorization = `Bearer ${token}`;
    const ask = (headers: Readonly<Record<string, string>>) => answerCode(`${server}/api/v1/namespaces`, ca, headers);
    assertEquals(await ask({ authorization }), 200);
    assertEquals(await ask({}), 401);
    assertEquals(await ask({ authorization: "Bearer other" }), 401);
    assertEquals(await ask({ authorization, origin: server }), 200);
    assertEquals(await ask({ authorization, origin: "https://example.com" }), 403);
    assertEquals(await ask({ authorization, origin: "https://127.0.0.1:1" }), 403);
    assertEquals(await ask({ authorization, origin: server.replace("https", "http") }), 403);
    assertEquals(await ask({ authorization, host: "evil.example.com" }), 403);
    dev.signal("SIGTERM");
    assertEquals((await dev.ended()).code, 0);
    assert(!existsSync(file), "the kubeconfig is gone");
    assert(!dev.stderr.includes(token), "the token is in no log");
  },
);

function answerCode(url: string, ca: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    // By name: node:https verifies the certificate against the Host header, even a foreign one.
    const asked = request(url, { ca, headers, agent: false, servername: "localhost" }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
}
