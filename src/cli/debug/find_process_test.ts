/** Tests of how `why` finds the leader: by its Lease, on this machine, in a Pod, or not at all. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { type ServerSession, startChannelServer } from "../../../tests/fakes/channel_server.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { processFacts, serve } from "../../runtime/mod.ts";
import { operatorCli } from "../operator_cli.ts";
import { FakeServer, statusResponse } from "../testing/fake_server.ts";
import { debugEndpointAnnotation, type DebugLocation, locationText, parseLocation, podName } from "./debug_location.ts";

const at = Date.UTC(2026, 10, 23, 9, 12);
const holder = "web-1_7f3a";
const token = "a-token-of-the-test";
const leases = "/apis/coordination.k8s.io/v1/namespaces";
const object = { resource: "deployments.apps", kind: "Deployment", key: "default/web" };
const status = { kind: "Status", apiVersion: "v1", status: "Failure" };
const steps = [{ kind: "cause", text: "a change", at, entries: [1] }];
const answer = { now: at, object, chains: [{ at, outcome: "done", steps }], notes: [] };
const here: DebugLocation = { holder, host: processFacts().hostname, hostname: "127.0.0.1", port: 8_082, isTls: false };

function leaseOf(location: DebugLocation | undefined, holderIdentity = holder, namespace = "default") {
  const annotations = location === undefined ? {} : { [debugEndpointAnnotation]: locationText(location) };
  const metadata = { namespace, name: "op", resourceVersion: "1", annotations };
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec: { holderIdentity } };
}

/** Runs `why` without `--address`, on the clock of the system: the answer comes over a socket. */
async function why(args: readonly string[], transport?: FakeServer["transport"]) {
  let [out, err] = ["", ""];
  const code = await operatorCli({ name: "op", controllers: [] }, {
    args: ["why", "deploy", "web", ...args],
    environment: { HOME: "/nonexistent", OP_DEBUG_TOKEN: token },
    stdout: { write: (text) => out += text },
    stderr: { write: (text) => err += text },
    ...(transport === undefined ? {} : { transport }),
  });
  return { code, out, err };
}

/** `why` in front of a cluster that answers from a table. */
async function whyOn(responses: ConstructorParameters<typeof FakeServer>[0], ...args: readonly string[]) {
  const server = new FakeServer(responses);
  return { ...await why([...args, "--server", "https://10.0.0.1:6443"], server.transport), requests: server.requests };
}

test("[130] why without --address asks the leader that the Lease names, and says so", async () => {
  const asked: string[] = [];
  const handler = (request: Request) => {
    asked.push(`${new URL(request.url).pathname} ${request.headers.get("authorization")}`);
    return Response.json(answer);
  };
  await using server = await serve({ handler, onError: console.error });
  const location = { ...here, port: server.port };
  const found = await whyOn({ [`GET ${leases}/op-system/leases/op`]: leaseOf(location, holder, "op-system") });
  assertEquals([found.code, found.out], [0, "09:12:00  a change\n"], found.err);
  assertEquals(asked, [`/debug/why Bearer ${token}`]);
  const text = `op: asking the leader "${holder}" of Lease "op-system/op" at 127.0.0.1:${server.port}\n`;
  assertEquals(found.err, text);
  assertEquals(found.requests, [`GET ${leases}/default/leases/op`, `GET ${leases}/op-system/leases/op`]);
  const named = ["--leader-election-id", "other", "--leader-election-namespace", "team"];
  const lease = leaseOf(location, holder, "team");
  const other = await whyOn({
    [`GET ${leases}/team/leases/other`]: { ...lease, metadata: { ...lease.metadata, name: "other" } },
  }, ...named);
  assertEquals([other.code, other.requests], [0, [`GET ${leases}/team/leases/other`]], other.err);
});

test("[130] why says why it found no leader, and then asks the process of this machine", async () => {
  const path = `GET ${leases}/default/leases/op`;
  const cases: readonly (readonly [Parameters<typeof whyOn>[0], RegExp])[] = [
    [{}, /there is no Lease "default\/op"; there is no Lease "op-system\/op"$/m],
    [{ [path]: leaseOf(here, "") }, /Lease "default\/op" has no holder$/m],
    [
      { [path]: leaseOf(undefined) },
      /the leader "web-1_7f3a" of Lease "default\/op" has no debug endpoint \(run --debug-/,
    ],
    // Another program has taken the Lease and kept the annotation.
    [{ [path]: leaseOf(here, "other") }, /the leader "other" of Lease "default\/op" has no debug endpoint/],
    [
      { [path]: () => statusResponse(403, "Forbidden", "no") },
      /Cannot get Lease "default\/op": .*there is no Lease "op-s/,
    ],
  ];
  for (const [responses, reason] of cases) {
    const { err } = await whyOn(responses);
    assertMatch(err, /^op: asking 127\.0\.0\.1:8082, because no leader was found: /);
    assertMatch(err, reason);
  }
  assertMatch((await why([])).err, /^op: asking 127\.0\.0\.1:8082, because no leader was found: /);
});

test("[security 29] no Lease can have the token sent to another machine or to an address that is not loopback", async () => {
  const cases: readonly (readonly [Partial<DebugLocation>, RegExp])[] = [
    [{ host: "elsewhere" }, /it runs on the machine "elsewhere", where it listens on 127\.0\.0\.1:8082/],
    [{ pod: "evil/web" }, /it says that it runs in Pod "evil\/web", which is not in the namespace of the Lease/],
    [{ hostname: "10.0.0.9" }, /it listens on 10\.0\.0\.9:8082, which is not loopback/],
    [{ hostname: "evil.example", isTls: true }, /it listens on evil\.example:8082, which is not loopback/],
    [{ hostname: "127.0.0.1@evil.example" }, /it listens on 127\.0\.0\.1@evil\.example:8082, which is not loopback/],
    [{ host: "a\u001b[2J\nop: all is well" }, /the machine "a op: all is well", where it/],
  ];
  for (const [changes, reason] of cases) {
    const { code, out, err } = await whyOn({ [`GET ${leases}/default/leases/op`]: leaseOf({ ...here, ...changes }) });
    assertEquals([code, out], [1, ""], err);
    assertMatch(err, /^op: Cannot ask the leader "web-1_7f3a" of Lease "default\/op": /);
    assertMatch(err, reason);
    assertMatch(err, /Run this command there, or name an address that reaches it with --address$/m);
  }
  assertEquals(parseLocation(locationText(here), holder), here);
  const others = ["", "7", "{", "[]", "null", JSON.stringify({ ...here, port: 0 }), "[".repeat(5_000)];
  const pods = ["default", "a/b/c", "a/../b", "a/b?x=1", "A/b", "a/b%2f", "/b"].map((pod) => ({ ...here, pod }));
  for (const text of [...others, ...pods.map((one) => JSON.stringify(one))]) {
    assertEquals(parseLocation(text, holder), undefined, text);
  }
});

test("podName() is that of the service account's namespace and the machine, or POD_NAME", () => {
  const inPod = { isInCluster: true, namespace: "shop" };
  assertEquals(podName(inPod, {}), `shop/${processFacts().hostname}`);
  assertEquals(podName(inPod, { POD_NAME: "operator-0" }), "shop/operator-0");
  assertEquals(podName({ ...inPod, isInCluster: false }, { POD_NAME: "operator-0" }), undefined);
});

/** The program in the Pod: a debug endpoint behind a forwarded port. */
async function answerInPod(session: ServerSession, asked: string[]): Promise<void> {
  const port = new Uint8Array([0x92, 0x1f]); // 8082, little endian
  session.send(0, port);
  session.send(1, port);
  let head = "";
  while (!head.includes("\r\n\r\n")) {
    const message = await session.receive();
    if (message === undefined) return;
    head += new TextDecoder().decode(message.payload.subarray(1));
  }
  asked.push(head);
  const body = JSON.stringify(answer);
  const type = "content-type: application/json\r\n";
  session.send(0, `HTTP/1.1 200 OK\r\n${type}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  session.frame(8, new Uint8Array([3, 232]));
}

test("[130] why reaches a leader in a Pod as kubectl port-forward does, and names the permission that it needs", async () => {
  const ca = await CertificateAuthority.create("cluster");
  const pair = await ca.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });
  const folder = await mkdtemp(join(tmpdir(), "pintle-leader-"));
  try {
    await writeFile(join(folder, "ca.pem"), ca.certificate);
    const asked: string[] = [];
    let isForbidden = false;
    const location = { ...here, pod: "op-system/op-5d4c", host: "op-5d4c" };
    const lease = JSON.stringify(leaseOf(location, holder, "op-system"));
    const missing = { ...status, reason: "NotFound", code: 404, message: "no" };
    const forbidden = { ...status, reason: "Forbidden", code: 403, message: "no" };
    await using server = await startChannelServer(pair, ({ url }) => {
      if (url.pathname.includes("/default/")) return { status: 404, body: JSON.stringify(missing) };
      if (!url.pathname.endsWith("/portforward")) return { status: 200, body: lease };
      if (isForbidden) return { status: 403, body: JSON.stringify(forbidden) };
      return { run: (session) => answerInPod(session, asked) };
    });
    const args = ["--server", server.url, "--certificate-authority", join(folder, "ca.pem")];
    const found = await why(args);
    assertEquals([found.code, found.out], [0, "09:12:00  a change\n"], found.err);
    assertEquals(found.err, `op: asking Pod "op-system/op-5d4c", the leader "${holder}" of Lease "op-system/op"\n`);
    assertEquals(server.requests.map(({ url }) => `${url.pathname}${url.search}`), [
      `${leases}/default/leases/op`,
      `${leases}/op-system/leases/op`,
      "/api/v1/namespaces/op-system/pods/op-5d4c/portforward?ports=8082",
    ]);
    const [head = ""] = asked;
    assertMatch(head, /^GET \/debug\/why\?kind=deploy&key=web&limit=10 HTTP\/1\.1\r\n/);
    assertMatch(head, new RegExp(`^authorization: Bearer ${token}\r$`, "mi"));
    assertMatch(head, /^host: 127\.0\.0\.1:\d+\r$/mi);
    isForbidden = true;
    const refused = await why(args);
    assertEquals([refused.code, refused.out], [4, ""]);
    assertMatch(refused.err, /Cannot ask the process at Pod "op-system\/op-5d4c": Cannot forward port 8082 of Pod /);
    assertMatch(refused.err, /resources: \["pods\/portforward"\], verbs: \["get", "create"\]/);
    assert(!`${found.err}${refused.err}`.includes(token));
  } finally {
    await rm(folder, { recursive: true });
  }
});
