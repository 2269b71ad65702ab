import { Client, type StringMap } from "../../client.ts";
import { type Ingress, type KubeObject, Manager, type Service } from "../../mod.ts";
import { seededRandom, VirtualClock } from "../../testing.ts";
import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { drain } from "../../async/mod.ts";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { createTestToolbox, statusResponse, type TestToolbox } from "../../../tests/fakes/toolbox.ts";
import { ingressManager } from "./controller.ts";
import { parseHostRule, type Rules } from "./rules.ts";

const ours = { apiVersion: "v1", kind: "Service", name: "web", uid: "u1", controller: true, blockOwnerDeletion: true };

function service(annotation?: string): Service {
  const annotations: StringMap = annotation === undefined ? {} : { "ingress/http": annotation };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "shop", uid: "u1", annotations },
    spec: { ports: [{ port: 80 }] },
  };
}

function ingress(owner: typeof ours | undefined, host = "example.com"): Ingress {
  const backend = { service: { name: "web", port: { number: 80 } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name: "web",
      namespace: "shop",
      uid: "u2",
      ownerReferences: owner === undefined ? undefined : [owner],
    },
    spec: {
      ingressClassName: "ingress",
      rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
    },
  };
}

interface Attempt {
  readonly cached: readonly KubeObject[];
  readonly responses?: readonly Response[];
  readonly rules?: Rules;
}

async function attempt({ cached, responses, rules }: Attempt): Promise<TestToolbox> {
  const bench = createTestToolbox({ key: "shop/web", cached, responses, fieldManager: "ingress" });
  await ingressManager(rules).reconciler(bench.toolbox.request, bench.toolbox);
  return bench;
}

function actionsOf({ sent, events }: TestToolbox): readonly (readonly string[])[] {
  return [
    sent.map(({ method, url }) => `${method} ${url.pathname.replace(/^.*\/namespaces\/shop\//, "")}`),
    events.map(({ type, reason }) => `${type} ${reason}`),
  ];
}

test("a missing Ingress is created with the Service as its controller", async () => {
  const bench = await attempt({ cached: [service("")], responses: [Response.json(ingress(ours))] });
  assertEquals(actionsOf(bench), [["PATCH ingresses/web"], []]);
  const { metadata, spec } = bench.sent[0]?.body as Ingress;
  assertEquals([metadata.ownerReferences, metadata.annotations, metadata.labels], [[ours], undefined, undefined]);
  assertEquals(spec, ingress(ours).spec);
});

test("[65] an Ingress in its desired state causes no request and no Event", async () => {
  assertEquals(actionsOf(await attempt({ cached: [service(""), ingress(ours)] })), [[], []]);
  assertEquals(actionsOf(await attempt({ cached: [service()] })), [[], []]);
  assertEquals(actionsOf(await attempt({ cached: [service(), ingress(undefined)] })), [[], []]);
});

test("a changed annotation changes the existing Ingress", async () => {
  const responses = [Response.json(ingress(ours, "shop.example.org"))];
  const bench = await attempt({ cached: [service("shop.example.org"), ingress(ours)], responses });
  assertEquals(actionsOf(bench), [["PATCH ingresses/web"], []]);
  const body = bench.sent[0]?.body as Ingress;
  assertEquals([body.metadata.uid, body.spec.rules?.[0]?.host], ["u2", "shop.example.org"]);
});

test("a foreign Ingress is reported and not changed", async () => {
  const theirs = { ...ours, kind: "Shop", uid: "u9" };
  for (const owner of [undefined, theirs]) {
    const bench = await attempt({ cached: [service("shop.example.org"), ingress(owner)] });
    assertEquals(actionsOf(bench), [[], ["Warning IngressExists"]]);
    assertEquals(bench.events[0]?.note, 'Ingress "web" already exists and is not managed by this Service');
  }
});

test("a foreign Ingress that is not in the cache yet is not changed either", async () => {
  const responses = [statusResponse(409, "Conflict"), Response.json(ingress(undefined))];
  const bench = await attempt({ cached: [service("")], responses });
  assertEquals(actionsOf(bench), [["PATCH ingresses/web", "GET ingresses/web"], ["Warning IngressExists"]]);
});

test("the Ingress of a deleted Service of the same name causes no Event", async () => {
  const bench = await attempt({ cached: [service(""), ingress({ ...ours, uid: "u0" })] });
  assertEquals(actionsOf(bench), [[], []]);
});

test("without the annotation the Service's own Ingress is deleted by its UID, after a live read", async () => {
  const responses = [Response.json(service()), Response.json({ kind: "Status", status: "Success" })];
  const bench = await attempt({ cached: [service(), ingress(ours)], responses });
  assertEquals(actionsOf(bench), [["GET services/web", "DELETE ingresses/web"], []]);
  assertEquals((bench.sent[1]?.body as { preconditions?: unknown }).preconditions, { uid: "u2" });
});

test("a stale cache deletes nothing when the annotation is back, or the Service is a new one", async () => {
  const other = { ...service(), metadata: { ...service().metadata, uid: "u5" } };
  for (const answer of [Response.json(service("")), Response.json(other), statusResponse(404, "NotFound")]) {
    const bench = await attempt({ cached: [service(), ingress(ours)], responses: [answer] });
    assertEquals(actionsOf(bench), [["GET services/web"], []]);
  }
});

test("a Service with an invalid claim loses its Ingress and gets a Warning Event", async () => {
  const gone = () => Response.json({ kind: "Status", status: "Success" });
  const rules = { hosts: [parseHostRule("bank=*"), parseHostRule("shop.example")] };
  for (const [value, reason] of [["bank.example", "HostNotAllowed"], ["a b", "InvalidAnnotation"]] as const) {
    const responses = [Response.json(service(value)), gone()];
    const bench = await attempt({ cached: [service(value), ingress(ours)], responses, rules });
    assertEquals(actionsOf(bench), [["GET services/web", "DELETE ingresses/web"], [`Warning ${reason}`]]);
  }
});

test("the controller has five workers, the queue ingressManager, and drops keys after ten retries with an Event", () => {
  const { options, watches } = ingressManager();
  assertEquals(options, {
    maxConcurrentReconciles: 5,
    queueName: "ingressManager",
    maxRetries: 10,
    droppedReason: "IngressFailed",
  });
  assertEquals(watches.map(({ resource }) => resource.kind), ["Service", "Ingress"]);
});

test("the declared permissions are enough to create, change, restore and delete an Ingress, and for Events", async () => {
  const [cluster, clock] = [new FakeCluster(), new VirtualClock()];
  const client = new Client(cluster.transport, { clock });
  const manager = new Manager({ client, clock, random: seededRandom(1), strictAccess: true });
  manager.add(ingressManager());
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  const until = async (condition: () => boolean) => {
    for (let turn = 0; turn < 2_000 && !condition(); turn++) await drain();
    assert(condition(), JSON.stringify(cluster.writes));
  };
  const [path, child] = ["services/web", "ingresses/web"];
  const [services, ingresses] = ["/api/v1/namespaces/shop", "/apis/networking.k8s.io/v1/namespaces/shop"];
  const host = () => (cluster.get(`${ingresses}/${child}`) as Ingress | undefined)?.spec.rules?.[0]?.host;
  cluster.put(`${services}/${path}`, service(""));
  await until(() => host() === "example.com");
  cluster.put(`${services}/${path}`, service("shop.example.org"));
  await until(() => host() === "shop.example.org");
  cluster.remove(`${ingresses}/${child}`);
  await until(() => host() === "shop.example.org");
  cluster.put(`${services}/${path}`, service("not a host"));
  await until(() => host() === undefined && cluster.writes.some((write) => write.path.endsWith("/events")));
  stop.abort();
  await running;
});
