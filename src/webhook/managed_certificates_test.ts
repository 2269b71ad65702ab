import { assert, assertEquals, assertRejects, assertStringIncludes, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import { scope, VirtualClock } from "../async/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import type { CertificatePair } from "../runtime/mod.ts";
import { type FakeApi, fakeApi } from "./testing/fake_api.ts";
import { certificateFacts, isIssuedBy, issueCertificates } from "./certificates.ts";
import { managedCertificates, type ManagedCertificatesOptions, serviceHosts } from "./managed_certificates.ts";

const secretPath = "/api/v1/namespaces/ops/secrets/webhook-tls";
const mutatingPath = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/op";
const crdPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pools.nodes.example.dev";
const hosts = serviceHosts({ namespace: "ops", name: "webhook" });
const dayMs = 24 * 3_600_000;

function clusterWithConfigurations(): FakeApi {
  const api = fakeApi();
  const clientConfig = { service: { namespace: "ops", name: "webhook", path: "/mutate" } };
  api.put(mutatingPath, {
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "op" },
    webhooks: [{ name: "a", clientConfig }, { name: "b", clientConfig }],
  });
  const conversion = { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig } };
  const names = { plural: "pools", kind: "Pool" };
  const spec = { group: "nodes.example.dev", scope: "Namespaced", names, versions: [], conversion };
  api.put(crdPath, { kind: "CustomResourceDefinition", metadata: { name: "pools.nodes.example.dev" }, spec });
  return api;
}

interface Replica extends Disposable {
  readonly served: CertificatePair[];
  isLeader: boolean;
}

function replica(api: FakeApi, clock: VirtualClock, options: Partial<ManagedCertificatesOptions> = {}): Replica {
  const running = scope(new AbortController().signal);
  const state = { served: [] as CertificatePair[], isLeader: true, [Symbol.dispose]: () => running.abort() };
  const targets = [
    { kind: "mutating", name: "op" },
    { kind: "converting", name: "pools.nodes.example.dev" },
    { kind: "validating", name: "not-installed" },
  ] as const;
  const source = managedCertificates({
    client: api.client,
    secret: "ops/webhook-tls",
    hosts,
    targets,
    clock,
    isLeader: () => state.isLeader,
    ...options,
  });
  (async () => {
    for await (const pair of source.pairs(running.signal)) state.served.push(pair);
  })();
  return state;
}

/** Advances the clock poll by poll, and waits for each replica to finish its poll. */
async function pass(clock: VirtualClock, ms: number, replicas = 1): Promise<void> {
  for (let left = ms; left > 0; left -= 60_000) {
    await until(() => clock.pendingTimers === replicas, "the replicas to wait");
    await clock.advance(Math.min(left, 60_000));
  }
  await until(() => clock.pendingTimers === replicas, "the replicas to wait");
}

function bundleOf(api: FakeApi): string {
  const text = JSON.stringify(api.get(mutatingPath));
  return atob(/"caBundle":"([^"]+)"/.exec(text)?.[1] ?? "");
}

function countOf(bundle: string): number {
  return bundle.split("BEGIN CERTIFICATE").length - 1;
}

function secretField(api: FakeApi, field: string): string | undefined {
  const data = api.get(secretPath)?.data;
  const value: unknown = typeof data === "object" && data !== null ? Reflect.get(data, field) : undefined;
  return typeof value === "string" ? atob(value) : undefined;
}

test("[72] the first certificate is published in every configuration before it is served", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock(), metrics = new MetricsRegistry();
  let servedAtPublish = -1;
  using one = replica(api, clock, { metrics });
  api.beforeWrite = (line) => {
    if (line.startsWith("PATCH")) servedAtPublish = one.served.length;
  };
  await until(() => one.served.length === 1, "a certificate");
  assertEquals(api.writes, [`POST ${secretPath}`, `PATCH ${mutatingPath}`, `PATCH ${crdPath}`]);
  assertEquals(servedAtPublish, 0);
  assertEquals(bundleOf(api), secretField(api, "ca.crt"));
  assertEquals(JSON.stringify(api.get(mutatingPath)).split('"caBundle"').length, 3);
  const facts = await certificateFacts(one.served[0]?.cert ?? "");
  assertEquals(facts?.hosts, [...hosts]);
  assert(facts !== undefined && facts.notAfter - clock.now() <= 365 * dayMs);
  assertStringIncludes(
    await metrics.render(),
    `expiration_timestamp_seconds{server="webhook"} ${facts.notAfter / 1000}`,
  );
  assertEquals(secretField(api, "ca.key"), undefined);
  await pass(clock, 600_000);
  assertEquals(api.writes.length, 3);
});

test("[72] a rotation publishes old and new authority, waits, and only then serves the new certificate", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  using one = replica(api, clock, { lifetimeMs: 30 * 60_000 });
  await until(() => one.served.length === 1, "a certificate");
  const oldBundle = bundleOf(api);
  await pass(clock, 18 * 60_000);
  assertEquals(one.served.length, 1);
  api.writes.length = 0;
  await pass(clock, 4 * 60_000);
  assertEquals(one.served.length, 2);
  assertEquals(api.writes.filter((line) => !line.includes("customresource")), [
    `PUT ${secretPath}`,
    `PATCH ${mutatingPath}`,
    `PUT ${secretPath}`,
  ]);
  assertEquals(countOf(bundleOf(api)), 2);
  assertStringIncludes(bundleOf(api), oldBundle.trim());
  assertEquals(secretField(api, "tls.crt"), one.served[1]?.cert);
  assertEquals(secretField(api, "next-tls.crt"), undefined);
});

test("[72] a new certificate is served only after its authority was published for the settling time", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  using one = replica(api, clock, { lifetimeMs: 30 * 60_000, settleMs: 30_000 });
  await until(() => one.served.length === 1, "a certificate");
  await pass(clock, 18 * 60_000);
  api.beforeWrite = (line) => {
    if (line.startsWith("PATCH")) throw new TypeError("connection refused");
  };
  await pass(clock, 3 * 60_000);
  assertEquals(one.served.length, 1);
  assertEquals(countOf(bundleOf(api)), 1);
  api.beforeWrite = () => {};
  await until(() => (clock.nextTimerInMs ?? Infinity) <= 5_000, "the retry");
  await clock.advance(clock.nextTimerInMs ?? 0);
  await until(() => countOf(bundleOf(api)) === 2, "publishing");
  await until(() => clock.nextTimerInMs === 30_000, "the settling time");
  await clock.advance(29_999);
  assertEquals(one.served.length, 1);
  await clock.advance(1);
  await until(() => secretField(api, "next-tls.crt") === undefined, "the last step");
});

test("[72] a conflict on a configuration is retried on its new version", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  let meddled = false;
  api.beforeWrite = (line) => {
    const held = api.get(mutatingPath);
    if (meddled || !line.startsWith("PATCH") || held === undefined) return;
    meddled = true;
    api.put(mutatingPath, { ...held, metadata: { ...held.metadata, labels: { someone: "else" } } });
  };
  using one = replica(api, clock);
  await until(() => clock.nextTimerInMs !== undefined && clock.nextTimerInMs < 20, "the conflict");
  await clock.advance(20);
  await until(() => one.served.length === 1, "a certificate");
  assertStringIncludes(JSON.stringify(api.get(mutatingPath)), '"someone":"else"');
  assertEquals(countOf(bundleOf(api)), 1);
});

test("[72] an overwritten bundle is restored", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  using one = replica(api, clock);
  await until(() => one.served.length === 1, "a certificate");
  const bundle = bundleOf(api), held = api.get(mutatingPath);
  assert(held !== undefined);
  api.put(mutatingPath, { ...held, webhooks: [{ name: "a", clientConfig: { url: "https://x" } }] });
  await pass(clock, 60_000);
  assertEquals(bundleOf(api), bundle);
});

test("a configuration that cannot be written keeps no other one from being published", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  api.beforeWrite = (line) => {
    if (line === `PATCH ${mutatingPath}`) throw new TypeError("forbidden");
  };
  using _one = replica(api, clock);
  await until(() => (clock.nextTimerInMs ?? 0) === 5_000, "the retry");
  assert(JSON.stringify(api.get(crdPath)).includes('"caBundle"'));
  assertEquals(bundleOf(api), "");
});

test("replicas that start at the same time agree on one Secret, and only the leader rotates it", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  const settings = { lifetimeMs: 60 * 60_000 };
  using one = replica(api, clock, settings);
  using two = replica(api, clock, settings);
  one.isLeader = false;
  await until(() => clock.pendingTimers === 2, "both");
  await pass(clock, 60_000, 2);
  assertEquals(api.writes.filter((line) => line.startsWith("POST")).length, 1);
  assertEquals(one.served, two.served);
  await pass(clock, 44 * 60_000, 2);
  assertEquals(one.served, two.served);
  assertEquals(one.served.length, 2);
  two.isLeader = false;
  await pass(clock, 40 * 60_000, 2);
  assertEquals(one.served.length, 2, "no replica leads, and the certificate is not overdue");
  await pass(clock, 10 * 60_000, 2);
  assertEquals(one.served.length, 3, "overdue: any replica rotates");
  assertEquals(one.served, two.served);
});

test("an invalid or expired Secret is replaced at once", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  api.put(secretPath, {
    kind: "Secret",
    metadata: { name: "webhook-tls", namespace: "ops" },
    data: { "tls.crt": "%%%" },
  });
  using one = replica(api, clock);
  await pass(clock, 60_000);
  assertEquals(one.served.length, 1);
  clock.jump(366 * dayMs);
  await pass(clock, 120_000);
  assertEquals(one.served.length, 2);
  assertEquals(secretField(api, "tls.crt"), one.served[1]?.cert);
});

test("a certificate that is not valid yet, since its issuer's clock was ahead, is replaced at once", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  using one = replica(api, clock);
  await until(() => one.served.length === 1, "a certificate");
  clock.jump(-3 * 365 * dayMs);
  await pass(clock, 120_000);
  assertEquals(one.served.length, 2);
  const facts = await certificateFacts(one.served[1]?.cert ?? "");
  assert(facts !== undefined && facts.notBefore <= clock.now() && facts.notAfter > clock.now());
  assertEquals(bundleOf(api), secretField(api, "ca.crt"));
});

test("a replica whose clock is behind that of the API server keeps a valid certificate", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  using one = replica(api, clock);
  await until(() => one.served.length === 1, "a certificate");
  const held = api.get(secretPath), writes = api.writes.length;
  const managedFields = [{ manager: "a", operation: "Update", time: new Date(clock.now()).toISOString() }];
  api.put(secretPath, { ...held, metadata: { ...held?.metadata, managedFields } });
  clock.jump(-30 * dayMs);
  await pass(clock, 120_000);
  assertEquals([one.served.length, api.writes.length], [1, writes]);
});

test("a certificate whose authority is not in the Secret any more is replaced at once, and never an empty bundle published", async () => {
  const other = await issueCertificates({ hosts, now: new VirtualClock().now(), lifetimeMs: dayMs });
  const garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  for (const authority of ["", garbage, other.ca]) {
    const api = clusterWithConfigurations(), clock = new VirtualClock();
    using one = replica(api, clock);
    await until(() => one.served.length === 1, "a certificate");
    const held = api.get(secretPath);
    api.put(secretPath, { ...held, data: { ...Object(held?.data), "ca.crt": btoa(authority) } });
    await pass(clock, 120_000);
    assertEquals(one.served.length, 2);
    assert(await isIssuedBy(one.served[1]?.cert ?? "", [bundleOf(api)]));
    assertEquals(bundleOf(api).includes("AAAA\n---"), false);
  }
});

test("a host that the certificate lacks causes a rotation", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  using one = replica(api, clock);
  await until(() => one.served.length === 1, "a certificate");
  one[Symbol.dispose]();
  using two = replica(api, clock, { hosts: [...hosts, "2001:DB8:0:0::1", "Webhook.Example.dev"] });
  await until(() => two.served.length === 1, "the old certificate");
  await pass(clock, 180_000);
  assertEquals(two.served.length, 2);
  const facts = await certificateFacts(two.served[1]?.cert ?? "");
  assertEquals(facts?.hosts, [...hosts, "2001:db8::1", "webhook.example.dev"]);
  const writes = api.writes.length;
  await pass(clock, 600_000);
  assertEquals(api.writes.length, writes);
});

test("the authorities of another installation are left alone", async () => {
  const api = clusterWithConfigurations(), clock = new VirtualClock();
  using one = replica(api, clock, { service: { namespace: "elsewhere", name: "webhook" } });
  await pass(clock, 60_000);
  assertEquals(one.served.length, 1);
  assertEquals(api.writes.filter((line) => !line.includes("/secrets")), []);
  using two = replica(api, clock, { service: { namespace: "ops", name: "webhook" } });
  await pass(clock, 60_000, 2);
  assertEquals([two.served.length, api.writes.filter((line) => !line.includes("/secrets")).length], [1, 2]);
});

test("invalid options are refused at definition", async () => {
  const options = { client: fakeApi().client, secret: "a/b", targets: [] };
  await assertRejects(async () => await managedCertificates({ ...options, hosts: [] }), /there are no hosts$/);
  const tooLong = { ...options, hosts: ["a"], lifetimeMs: 366 * dayMs };
  await assertRejects(async () => await managedCertificates(tooLong), /above a year$/);
});
