/** The cases of ingress: one for each line of its description. */
import { Ingress, type ObjectMeta, Service } from "../../src/api/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { eventsOf, eventually, eventuallyEvent, gone } from "./looking.ts";
import type { Case, Program, RunOptions, Site } from "./site.ts";

type Ports = NonNullable<Service["spec"]["ports"]>;

interface Made {
  readonly annotation?: string;
  /** @default port 80 */
  readonly ports?: Ports;
}

const selector = { app: "web" };

async function makeService(site: Site, name: string, { annotation, ports = [{ port: 80 }] }: Made): Promise<Service> {
  const annotations = { note: "stays here", ...(annotation === undefined ? {} : { "ingress/http": annotation }) };
  const metadata: ObjectMeta = { name, namespace: site.namespace, annotations, labels: { app: name } };
  return await site.client.create(Service, { metadata, spec: { ports, selector } });
}

/** Changes the annotation, or with null takes it away. */
async function annotate(site: Site, name: string, annotation: string | null): Promise<void> {
  const value = { metadata: { annotations: { "ingress/http": annotation } } };
  await site.client.patch(Service, `${site.namespace}/${name}`, { kind: "merge", value });
}

async function makeIngress(site: Site, name: string, owners: ObjectMeta["ownerReferences"] = []): Promise<Ingress> {
  const metadata = { name, namespace: site.namespace, ownerReferences: owners };
  const spec = { defaultBackend: { service: { name: "other", port: { number: 1 } } } };
  return await site.client.create(Ingress, { metadata, spec });
}

function run(site: Site, args: readonly string[] = [], options?: RunOptions): Program {
  return site.run(["ingress", "-n", site.namespace, ...args], options);
}

function hostOf({ spec }: Ingress): string | undefined {
  return spec.rules?.[0]?.host;
}

function pathOf({ spec }: Ingress) {
  return spec.rules?.[0]?.http?.paths?.[0];
}

function portOf(ingress: Ingress): number | undefined {
  return pathOf(ingress)?.backend.service?.port?.number;
}

const creating: Case = {
  name: "a Service with the annotation gets an Ingress of its name that it controls, and nothing else comes along",
  run: async (site) => {
    const service = await makeService(site, "web", { annotation: "" });
    await makeService(site, "plain", {});
    await using program = run(site);
    await makeService(site, "later", { annotation: "true" });
    const ingress = await eventually(site, Ingress, `${site.namespace}/web`);
    assertEquals(ingress.metadata.ownerReferences, [{
      apiVersion: "v1",
      kind: "Service",
      name: "web",
      uid: service.metadata.uid ?? "",
      controller: true,
      blockOwnerDeletion: true,
    }]);
    const backend = { service: { name: "web", port: { number: 80 } } };
    assertEquals(ingress.spec, {
      ingressClassName: "ingress",
      rules: [{ host: "example.com", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
    });
    assertEquals([ingress.metadata.annotations, ingress.metadata.labels], [undefined, undefined]);
    await eventually(site, Ingress, `${site.namespace}/later`);
    assertEquals(await site.client.find(Ingress, `${site.namespace}/plain`), undefined);
    assertMatch(program.stderr, /controller\.ingress +starting workers +count=5\n/);
  },
};

const choosing: Case = {
  name: "the annotation may name a host and a path; the port is 80, else the only one, else the one named http",
  run: async (site) => {
    await using _program = run(site);
    await makeService(site, "a", { annotation: "shop.example.org/cart", ports: [{ port: 8080 }] });
    const [metrics, http] = [{ name: "metrics", port: 9090 }, { name: "http", port: 8081 }];
    await makeService(site, "b", { annotation: "", ports: [metrics, http] });
    await makeService(site, "c", { annotation: "", ports: [http, { name: "other", port: 80 }] });
    const none = await makeService(site, "d", { annotation: "", ports: [metrics, { name: "web", port: 8082 }] });
    const a = await eventually(site, Ingress, `${site.namespace}/a`);
    assertEquals([hostOf(a), pathOf(a)?.path, portOf(a)], ["shop.example.org", "/cart", 8080]);
    assertEquals(portOf(await eventually(site, Ingress, `${site.namespace}/b`)), 8081);
    assertEquals(portOf(await eventually(site, Ingress, `${site.namespace}/c`)), 80);
    assertEquals((await eventuallyEvent(site, none, "NoPort")).type, "Warning");
    assertEquals(await site.client.find(Ingress, `${site.namespace}/d`), undefined);
  },
};

const changing: Case = {
  name: "a changed annotation or port updates the Ingress; the annotation gone, it is deleted",
  run: async (site) => {
    const key = `${site.namespace}/web`;
    await makeService(site, "web", { annotation: "" });
    const wire = await site.wire();
    await using _program = run(site, [], { wire });
    const first = await eventually(site, Ingress, key);
    await annotate(site, "web", "new.example.org/x");
    await eventually(site, Ingress, key, (live) => hostOf(live) === "new.example.org" && pathOf(live)?.path === "/x");
    await site.client.patch(Service, key, { kind: "merge", value: { spec: { ports: [{ port: 8443 }] } } });
    const last = await eventually(site, Ingress, key, (live) => portOf(live) === 8443);
    assertEquals(last.metadata.uid, first.metadata.uid);
    await annotate(site, "web", null);
    await gone(site, Ingress, key);
    const deletion = wire.writes.find(({ method }) => method === "DELETE");
    const { uid, resourceVersion } = last.metadata;
    assertEquals(JSON.parse(deletion?.body ?? "{}").preconditions, { uid, resourceVersion });
  },
};

const foreign: Case = {
  name: "somebody else's Ingress of that name is told of and left alone, until it is gone",
  run: async (site) => {
    const key = `${site.namespace}/web`;
    const other = await makeService(site, "other", {});
    const reference = {
      apiVersion: "v1",
      kind: "Service",
      name: "other",
      uid: other.metadata.uid ?? "",
      controller: true,
    };
    const theirs = await makeIngress(site, "web");
    const owned = await makeIngress(site, "owned", [reference]);
    await using _program = run(site);
    const service = await makeService(site, "web", { annotation: "" });
    const second = await makeService(site, "owned", { annotation: "" });
    const event = await eventuallyEvent(site, service, "IngressExists");
    assertEquals([event.type, event.note], [
      "Warning",
      'Ingress "web" already exists and is not managed by this Service',
    ]);
    await eventuallyEvent(site, second, "IngressExists");
    await annotate(site, "owned", null); // the original deletes whatever has the name
    await annotate(site, "web", "new.example.org");
    await makeService(site, "last", { annotation: "" });
    await eventually(site, Ingress, `${site.namespace}/last`);
    for (const before of [theirs, owned]) {
      const after = await site.client.get(Ingress, `${site.namespace}/${before.metadata.name}`);
      assertEquals(after.metadata.resourceVersion, before.metadata.resourceVersion);
    }
    await site.client.delete(Ingress, key);
    const own = await eventually(site, Ingress, key, ({ metadata }) => metadata.uid !== theirs.metadata.uid);
    assertEquals([own.metadata.ownerReferences?.[0]?.uid, hostOf(own)], [service.metadata.uid, "new.example.org"]);
  },
};

const restoring: Case = {
  name: "an Ingress deleted or changed by hand comes back, one whose Service has no annotation does not",
  run: async (site) => {
    const key = `${site.namespace}/web`;
    await makeService(site, "web", { annotation: "" });
    await makeService(site, "plain", {});
    await makeIngress(site, "plain");
    await using _program = run(site);
    const first = await eventually(site, Ingress, key);
    await site.client.delete(Ingress, `${site.namespace}/plain`);
    await site.client.delete(Ingress, key);
    const second = await eventually(site, Ingress, key, ({ metadata }) => metadata.uid !== first.metadata.uid);
    const rules = [{ ...second.spec.rules?.[0], host: "evil.example.org" }];
    await site.client.patch(Ingress, key, { kind: "merge", value: { spec: { rules } } });
    await eventually(
      site,
      Ingress,
      key,
      (live) => hostOf(live) === "example.com" && live.metadata.resourceVersion !== second.metadata.resourceVersion,
    );
    assertEquals(await site.client.find(Ingress, `${site.namespace}/plain`), undefined);
  },
};

const collecting: Case = {
  name: "a deleted Service needs nothing: the garbage collector removes its Ingress",
  needs: "kube-controller-manager",
  run: async (site) => {
    await makeService(site, "web", { annotation: "" });
    await using program = run(site);
    await eventually(site, Ingress, `${site.namespace}/web`);
    await site.client.delete(Service, `${site.namespace}/web`);
    await gone(site, Ingress, `${site.namespace}/web`, 90_000);
    // One of the same name gets an Ingress of its own.
    const { metadata: { uid } } = await makeService(site, "web", { annotation: "" });
    await eventually(site, Ingress, `${site.namespace}/web`, (live) => live.metadata.ownerReferences?.[0]?.uid === uid);
    assert(!/IngressExists/.test(program.stderr));
  },
};

const limiting: Case = {
  name: "--allowed-hosts and --ingress-class say what Services may claim, in which namespace; more is told, not done",
  run: async (site) => {
    const { namespace } = site;
    const wrong = await makeService(site, "wrong", { annotation: "bank.example.org" });
    await using open = run(site);
    await eventually(site, Ingress, `${namespace}/wrong`);
    open.signal("SIGTERM");
    await open.ended();
    const allowed = [
      "--allowed-hosts",
      `${namespace}=*.shop.example.org/cart`,
      "--allowed-hosts",
      "bank=bank.example.org",
    ];
    await using _program = run(site, [
      ...allowed,
      "--ingress-class",
      "nginx",
      "--ingress-class",
      `${namespace}=internal`,
    ]);
    await makeService(site, "right", { annotation: "a.shop.example.org/cart/1" });
    const ingress = await eventually(site, Ingress, `${namespace}/right`);
    assertEquals(ingress.spec.ingressClassName, "internal");
    const event = await eventuallyEvent(site, wrong, "HostNotAllowed");
    assertEquals(event.note, "Services of this namespace may not claim bank.example.org/");
    await gone(site, Ingress, `${namespace}/wrong`);
    const { code, stderr } = await site.call(["run", "ingress", "--allowed-hosts", "Bank.example.org"]);
    assertEquals(code, 2);
    assertMatch(stderr, /Cannot parse --allowed-hosts "Bank\.example\.org": the host is no DNS name in lower case/);
  },
};

const refusing: Case = {
  name: "[security 9] an annotation that is no host is told of, without its text, and makes no Ingress",
  run: async (site) => {
    await using _program = run(site);
    const values = ["a.example;} location /x { return 200; } #", "http://evil.example", "*", "a/../b", "false", "${x}"];
    for (const [at, annotation] of values.entries()) {
      const service = await makeService(site, `bad-${at}`, { annotation });
      const { note = "" } = await eventuallyEvent(site, service, "InvalidAnnotation");
      assertMatch(note, /^The annotation ingress\/http is not understood: [ -~]+$/);
      assert(!note.includes(annotation), note);
    }
    assertEquals((await site.client.listAll(Ingress, { namespace: site.namespace })).items, []);
    await annotate(site, "bad-0", "good.example.org");
    await eventually(site, Ingress, `${site.namespace}/bad-0`);
  },
};

const givingUp: Case = {
  name: "what fails is tried ten times more, then dropped: logged, and told in a Warning Event on the Service",
  run: async (site) => {
    const wire = await site.wire();
    const isIngressWrite = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method !== "GET" && path.includes("/ingresses");
    const failing = wire.answer(() => broken(), isIngressWrite);
    const service = await makeService(site, "web", { annotation: "" });
    await using program = run(site, [], { wire });
    await program.logged(/ERROR .*dropping the key until it changes.*key=\S+\/web retries=10 /);
    assertEquals(program.stderr.match(/reconcile failed, retrying/g)?.length, 10);
    assertEquals(wire.writes.filter(isIngressWrite).length, 11);
    const event = await eventuallyEvent(site, service, "IngressFailed");
    assertEquals(event.type, "Warning");
    assertMatch(event.note ?? "", /^Given up after 10 retries, until something changes: .*broken/);
    failing[Symbol.dispose]();
    await annotate(site, "web", "example.org");
    await eventually(site, Ingress, `${site.namespace}/web`);
  },
};

function broken(): Response {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "InternalError", message: "broken" };
  return Response.json({ ...status, code: 500 }, { status: 500 });
}

const silent: Case = {
  name: "[65] converged ingress is silent, and what changes nothing in a Service is not even looked at",
  run: async (site) => {
    const wire = await site.wire();
    const service = await makeService(site, "web", { annotation: "" });
    const wrong = await makeService(site, "wrong", { annotation: "a b" });
    await using program = run(site, ["--resync", "500ms", "-v"], { wire });
    await eventually(site, Ingress, `${site.namespace}/web`);
    await site.until("see the Event", () => {
      const isTold = wire.writes.some(({ path }) => path.includes("/events"));
      return isTold ? { kind: "found", value: undefined } : { kind: "pending", state: program.stderr };
    });
    await wire.quiet(2_000);
    const writes = wire.writes.length;
    // Every look at this Service is told of in the log of -v, whether or not it becomes an Event.
    const looks = () => program.stderr.match(/reason=InvalidAnnotation/g)?.length;
    assertEquals(looks(), 1);
    const { name, namespace, labels } = wrong.metadata;
    const options = { fieldManager: "somebody", force: true };
    const after = await site.client.apply(Service, { metadata: { name, namespace, labels } }, options);
    assert(after.metadata.resourceVersion !== wrong.metadata.resourceVersion);
    await wire.quiet(4_000);
    assertEquals(wire.writes.slice(writes), []);
    assertEquals(await eventsOf(site, service), []);
    assertEquals(looks(), 1);
  },
};

export const ingressCases: readonly Case[] = [
  creating,
  choosing,
  changing,
  foreign,
  restoring,
  collecting,
  limiting,
  refusing,
  givingUp,
  silent,
];
