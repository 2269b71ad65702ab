/**
 * NodePool's webhooks through the ClusterIP of their Service, with certificates that the operator makes itself: before and
 * after a rotation, and while the Deployment is replaced.
 */
import { X509Certificate } from "node:crypto";
import { Buffer } from "node:buffer";
import { until } from "../controlplane/poll.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { issueCertificates, serviceHosts } from "../../src/webhook/mod.ts";
import { Operator } from "./operator.ts";
import { realNodeTest } from "./test.ts";
import { WebhookCalls } from "./webhook_calls.ts";

const rate = 50;
const minuteMs = 60_000;

realNodeTest("the webhooks refuse and complete NodePools through their ClusterIP", async (node) => {
  await using operator = await Operator.install(node, { controllers: ["nodepool"] });
  await answered(operator);
  const invalid = { apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name: "bad" } };
  const taints = [{ key: "kubernetes.io/forbidden", effect: "NoSchedule" }];
  const stdin = JSON.stringify({ ...invalid, spec: { taints } });
  const refused = await operator.controlPlane.kubectl(["create", "--filename=-"], { stdin });
  assertMatch(refused.stderr, /The NodePool "bad" is invalid: spec\.taints\[0\]\.key: Forbidden/);
});

realNodeTest("a rotation of the operator's own certificates loses no call, at 50 calls a second", async (node) => {
  // Two thirds of its life are over, so the operator rotates it at once.
  const overdue = async (operator: Operator) => {
    const { name, namespace = "" } = operator.object("Service").metadata;
    const issued = { now: Date.now() - 20 * minuteMs, lifetimeMs: 25 * minuteMs };
    const { cert, key, ca } = await issueCertificates({ ...issued, hosts: serviceHosts({ name, namespace }) });
    const data = Object.fromEntries(
      Object.entries({ "tls.crt": cert, "tls.key": key, "ca.crt": ca }).map(([name, text]) => [name, base64(text)]),
    );
    const secret = operator.object("Secret");
    await operator.apply(operator.objects.filter(({ kind }) => kind === "Namespace"));
    // Server-side, so that a later apply of the manifests, whose Secret has no data, leaves it.
    const stdin = JSON.stringify({ ...secret, data });
    await operator.controlPlane.kubectlOutput(["apply", "--server-side", "--filename=-"], { stdin });
  };
  await using operator = await Operator.install(node, { controllers: ["nodepool"], before: overdue });
  await answered(operator);
  const first = await servedCertificate(operator);
  const calls = new WebhookCalls(operator.controlPlane, rate);
  const second = await until("see another certificate in the Secret", async () => {
    const present = await servedCertificate(operator);
    if (present.fingerprint256 !== first.fingerprint256) return { kind: "found", value: present };
    return { kind: "pending", state: `it expired at ${first.validTo}` };
  }, { everyMs: 500 });
  const enough = calls.sent + 10 * rate;
  await until("see calls after the rotation", () => {
    return calls.sent >= enough
      ? { kind: "found", value: true }
      : { kind: "pending", state: `there were ${calls.sent}` };
  });
  const { failures, sent } = await calls.stopped();
  assertEquals(failures, []);
  assert(sent > 10 * rate && second.validTo !== first.validTo);
});

realNodeTest("a rolling update loses no webhook call, at 50 calls a second", async (node) => {
  await using operator = await Operator.install(node, { controllers: ["nodepool"] });
  await answered(operator);
  const before = (await operator.pods()).map(({ metadata }) => metadata.name);
  const calls = new WebhookCalls(operator.controlPlane, rate);
  await operator.kubectl("rollout", "restart", `deployment/${operator.object("Deployment").metadata.name}`);
  await operator.rolledOut();
  const { failures, sent, maxInFlight } = await calls.stopped();
  console.log(`${sent} calls, at most ${maxInFlight} at the same time`);
  assertEquals(failures, []);
  const after = (await operator.pods()).map(({ metadata }) => metadata.name);
  assertEquals(before.filter((name) => after.includes(name)), []);
});

/** Waits until the API server trusts the webhooks: the operator has published its authority. */
async function answered(operator: Operator): Promise<void> {
  const pool = { apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name: "probe" }, spec: {} };
  await until("see the webhooks answer", async () => {
    const options = ["create", "--dry-run=server", "--output=json", "--filename=-"];
    const { stdout, stderr } = await operator.controlPlane.kubectl(options, { stdin: JSON.stringify(pool) });
    return stdout.includes("node-pool.lailin.xyz/probe")
      ? { kind: "found", value: true }
      : { kind: "pending", state: stdout + stderr };
  });
}

async function servedCertificate(operator: Operator): Promise<X509Certificate> {
  const { name } = operator.object("Secret").metadata;
  const { data } = JSON.parse(await operator.kubectl("get", "secret", name, "--output=json"));
  return new X509Certificate(Buffer.from(data["tls.crt"], "base64"));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
