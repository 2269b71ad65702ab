/**
 * `controller dev` with the compiled binary: a Kubernetes of its own, kubectl beside it, and what must not be possible.
 * kubectl comes with the control plane, which is not used otherwise.
 */
import { readFileSync, statSync } from "node:fs";
import { request } from "node:https";
import { existsSync } from "node:fs";
import process from "node:process";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { Binary, runBinary } from "./_binary.ts";

const path = process.env["PATH"] ?? "";

controlPlaneTest("dev -- kubectl get namespaces prints what a real cluster would", async () => {
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

controlPlaneTest("dev says what to do when its command is not there", async () => {
  const { code, stderr } = await runBinary(["dev", "-q", "--", "no-such-program"], { env: { PATH: path } });
  assertEquals(code, 1);
  assertMatch(stderr, /Cannot run "no-such-program": .*Is it installed, and in PATH\?/);
});

controlPlaneTest("dev --all --samples --until-settled shows every controller at work and ends with 0", async () => {
  const { code, stdout } = await runBinary(["dev", "--all", "--samples", "--until-settled"], { timeoutMs: 60_000 });
  assertEquals(code, 0);
  for (const name of ["foo", "pods", "ecsbinding", "nodepool", "ingress"]) {
    assertMatch(stdout, new RegExp(`^${name}\\s+\\d+ objects?\\s+settled$`, "m"));
  }
});

controlPlaneTest("a Deployment rolls out on dev, scales and goes, as kubectl sees it", async () => {
  const script = [
    "kubectl create deployment web --image=nginx --replicas=2",
    "kubectl rollout status deployment/web --timeout=20s",
    "kubectl scale deployment/web --replicas=3",
    "kubectl rollout status deployment/web --timeout=20s",
    "kubectl set image deployment/web nginx=nginx:2",
    "kubectl rollout status deployment/web --timeout=20s",
    "kubectl get deployment web -o jsonpath='{.status.availableReplicas} {.metadata.annotations.deployment\\.kubernetes\\.io/revision}'",
    "kubectl delete deployment web --cascade=foreground --timeout=20s",
    "kubectl get replicasets,pods -o name",
  ].join(" && ");
  const { code, stdout, stderr } = await runBinary(["dev", "-q", "--", "sh", "-c", script], {
    env: { PATH: path },
    timeoutMs: 90_000,
  });
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /3 2deployment\.apps "web" deleted/);
  assertMatch(stdout, /deleted[^\n]*\n$/);
});

controlPlaneTest(
  "[security 15] dev's kubeconfig is its owner's alone and goes with the cluster; strangers are refused",
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
    assertEquals(await ask({ authorization, origin: "https://example.com" }), 403);
    assertEquals(await ask({ authorization, host: "evil.example.com" }), 403);
    dev.signal("SIGTERM");
    assertEquals((await dev.ended()).code, 0);
    assert(!existsSync(file), "the kubeconfig is gone");
    assert(!dev.stderr.includes(token), "the token is in no log");
  },
);

function answerCode(url: string, ca: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on("error", reject);
    asked.end();
  });
}
