/** The cases of ingress: one for each guarantee in its description. */
import { Ingress, type ObjectMeta, Service } from "../../src/api/mod.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { eventsOf, eventually, eventuallyEvent, gone } from "./waits.ts";
import type { Case, CaseEnvironment, Program, RunOptions } from "./environment.ts";

type Ports = NonNullable<Service["spec"]["ports"]>;

interface ServiceOptions {
  readonly annotation?: string;
  /** @default port 80 */
  readonly ports?: Ports;
}

const selector = { app: "web" };

async function createService(
  env: CaseEnvironment,
  name: string,
  { annotation, ports = [{ port: 80 }] }: ServiceOptions,
): Promise<Service> {
  const annotations = { note: "stays here", ...(annotation === undefined ? {} : { "ingress/http": annotation }) };
  const metadata: ObjectMeta = { name, namespace: env.namespace, annotations, labels: { app: name } };
  return await env.client.create(Service, { metadata, spec: { ports, selector } });
}

/** Changes the annotation; null removes it. */
async function annotate(env: CaseEnvironment, name: string, annotation: string | null): Promise<void> {
  const value = { metadata: { annotations: { "ingress/http": annotation } } };
  await env.client.patch(Service, `${env.namespace}/${name}`, { kind: "merge", value });
}

async function createIngress(
  env: CaseEnvironment,
  name: string,
  owners: ObjectMeta["ownerReferences"] = [],
): Promise<Ingress> {
  const metadata = { name, namespace: env.namespace, ownerReferences: owners };
  const spec = { defaultBackend: { service: { name: "other", port: { number: 1 } } } };
  return await env.client.create(Ingress, { metadata, spec });
}

function run(env: CaseEnvironment, args: readonly string[] = [], options?: RunOptions): Program {
  return env.run(["ingress", "-n", env.namespace, ...args], options);
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
  name:
    "a Service with the annotation gets an Ingress of its name that it controls, without other labels and annotations",
  run: async (env) => {
    const service = await createService(env, "web", { annotation: "" });
    await createService(env, "plain", {});
    await using program = run(env);
    await createService(env, "later", { annotation: "true" });
    const ingress = await eventually(env, Ingress, `${env.namespace}/web`);
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
    await eventually(env, Ingress, `${env.namespace}/later`);
    assertEquals(await env.client.find(Ingress, `${env.namespace}/plain`), undefined);
    assertMatch(program.stderr, /controller\.ingress +starting workers +count=5\n/);
  },
};

const choosing: Case = {
  name: "the annotation may name a host and a path; the port is 80, else the only one, else the one named http",
  run: async (env) => {
    await using _program = run(env);
    await createService(env, "a", { annotation: "shop.example.org/cart", ports: [{ port: 8080 }] });
    const [metrics, http] = [{ name: "metrics", port: 9090 }, { name: "http", port: 8081 }];
    await createService(env, "b", { annotation: "", ports: [metrics, http] });
    await createService(env, "c", { annotation: "", ports: [http, { name: "other", port: 80 }] });
    const none = await createService(env, "d", { annotation: "", ports: [metrics, { name: "web", port: 8082 }] });
    const a = await eventually(env, Ingress, `${env.namespace}/a`);
    assertEquals([hostOf(a), pathOf(a)?.path, portOf(a)], ["shop.example.org", "/cart", 8080]);
    assertEquals(portOf(await eventually(env, Ingress, `${env.namespace}/b`)), 8081);
    assertEquals(portOf(await eventually(env, Ingress, `${env.namespace}/c`)), 80);
    assertEquals((await eventuallyEvent(env, none, "NoPort")).type, "Warning");
    assertEquals(await env.client.find(Ingress, `${env.namespace}/d`), undefined);
  },
};

const changing: Case = {
  name: "a changed annotation or port updates the Ingress; without the annotation it is deleted",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await createService(env, "web", { annotation: "" });
    const proxy = await env.startProxy();
    await using _program = run(env, [], { proxy });
    const first = await eventually(env, Ingress, key);
    await annotate(env, "web", "new.example.org/x");
    await eventually(env, Ingress, key, (live) => hostOf(live) === "new.example.org" && pathOf(live)?.path === "/x");
    await env.client.patch(Service, key, { kind: "merge", value: { spec: { ports: [{ port: 8443 }] } } });
    const last = await eventually(env, Ingress, key, (live) => portOf(live) === 8443);
    assertEquals(last.metadata.uid, first.metadata.uid);
    await annotate(env, "web", null);
    await gone(env, Ingress, key);
    const deletion = proxy.writes.find(({ method }) => method === "DELETE");
    const { uid, resourceVersion } = last.metadata;
    assertEquals(JSON.parse(deletion?.body ?? "{}").preconditions, { uid, resourceVersion });
  },
};

const foreign: Case = {
  name: "a foreign Ingress of the same name is reported and not changed, and replaced after its deletion",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    const other = await createService(env, "other", {});
    const reference = {
      apiVersion: "v1",
      kind: "Service",
      name: "other",
      uid: other.metadata.uid ?? "",
      controller: true,
    };
    const theirs = await createIngress(env, "web");
    const owned = await createIngress(env, "owned", [reference]);
    await using _program = run(env);
    const service = await createService(env, "web", { annotation: "" });
    const second = await createService(env, "owned", { annotation: "" });
    const event = await eventuallyEvent(env, service, "IngressExists");
    assertEquals([event.type, event.note], [
      "Warning",
      'Ingress "web" already exists and is not managed by this Service',
    ]);
    await eventuallyEvent(env, second, "IngressExists");
    await annotate(env, "owned", null); // the original deletes any Ingress of that name
    await annotate(env, "web", "new.example.org");
    await createService(env, "last", { annotation: "" });
    await eventually(env, Ingress, `${env.namespace}/last`);
    for (const before of [theirs, owned]) {
      const after = await env.client.get(Ingress, `${env.namespace}/${before.metadata.name}`);
      assertEquals(after.metadata.resourceVersion, before.metadata.resourceVersion);
    }
    await env.client.delete(Ingress, key);
    const own = await eventually(env, Ingress, key, ({ metadata }) => metadata.uid !== theirs.metadata.uid);
    assertEquals([own.metadata.ownerReferences?.[0]?.uid, hostOf(own)], [service.metadata.uid, "new.example.org"]);
  },
};

const restoring: Case = {
  name: "a deleted Ingress, and a host that was edited, are restored, unless the Service has no annotation",
  run: async (env) => {
    const key = `${env.namespace}/web`;
    await createService(env, "web", { annotation: "" });
    await createService(env, "plain", {});
    await createIngress(env, "plain");
    await using _program = run(env);
    const first = await eventually(env, Ingress, key);
    await env.client.delete(Ingress, `${env.namespace}/plain`);
    await env.client.delete(Ingress, key);
    const second = await eventually(env, Ingress, key, ({ metadata }) => metadata.uid !== first.metadata.uid);
    const rules = [{ ...second.spec.rules?.[0], host: "evil.example.org" }];
    const [annotations, tls] = [{ theirs: "stays" }, [{ hosts: ["example.com"], secretName: "stays" }]];
    await env.client.patch(Ingress, key, { kind: "merge", value: { metadata: { annotations }, spec: { rules, tls } } });
    const restored = await eventually(
      env,
      Ingress,
      key,
      (live) => hostOf(live) === "example.com" && live.metadata.resourceVersion !== second.metadata.resourceVersion,
    );
    assertEquals([restored.metadata.annotations, restored.spec.tls], [annotations, tls]);
    assertEquals(await env.client.find(Ingress, `${env.namespace}/plain`), undefined);
  },
};

const collecting: Case = {
  name: "the garbage collector removes the Ingress of a deleted Service",
  needs: "kube-controller-manager",
  run: async (env) => {
    await createService(env, "web", { annotation: "" });
    await using program = run(env);
    await eventually(env, Ingress, `${env.namespace}/web`);
    await env.client.delete(Service, `${env.namespace}/web`);
    await gone(env, Ingress, `${env.namespace}/web`);
    // A new Service of the same name gets a new Ingress.
    const { metadata: { uid } } = await createService(env, "web", { annotation: "" });
    await eventually(env, Ingress, `${env.namespace}/web`, (live) => live.metadata.ownerReferences?.[0]?.uid === uid);
    assert(!/IngressExists/.test(program.stderr));
  },
};

const limiting: Case = {
  name: "--allowed-hosts and --ingress-class limit what Services may claim, by namespace; other claims are reported",
  run: async (env) => {
    const { namespace } = env;
    const wrong = await createService(env, "wrong", { annotation: "bank.example.org" });
    await using open = run(env);
    await eventually(env, Ingress, `${namespace}/wrong`);
    open.signal("SIGTERM");
    await open.ended();
    const allowed = [
      "--allowed-hosts",
      `${namespace}=*.shop.example.org/cart`,
      "--allowed-hosts",
      "bank=bank.example.org",
    ];
    await using _program = run(env, [
      ...allowed,
      "--ingress-class",
      "nginx",
      "--ingress-class",
      `${namespace}=internal`,
    ]);
    await createService(env, "right", { annotation: "a.shop.example.org/cart/1" });
    const ingress = await eventually(env, Ingress, `${namespace}/right`);
    assertEquals(ingress.spec.ingressClassName, "internal");
    const event = await eventuallyEvent(env, wrong, "HostNotAllowed");
    assertEquals(event.note, "Services of this namespace may not claim bank.example.org/");
    await gone(env, Ingress, `${namespace}/wrong`);
    const { code, stderr } = await env.call(["run", "ingress", "--allowed-hosts", "Bank.example.org"]);
    assertEquals(code, 2);
    assertMatch(stderr, /Cannot parse --allowed-hosts "Bank\.example\.org": the host is not a DNS name in lower case/);
  },
};

const refusing: Case = {
  name: "[security 9] an invalid annotation is reported without its text, and creates no Ingress",
  run: async (env) => {
    await using _program = run(env);
    const values = ["a.example;} location /x { return 200; } #", "http://evil.example", "*", "a/../b", "false", "${x}"];
    for (const [at, annotation] of values.entries()) {
      const service = await createService(env, `bad-${at}`, { annotation });
      const { note = "" } = await eventuallyEvent(env, service, "InvalidAnnotation");
      assertMatch(note, /^The annotation ingress\/http is invalid: [ -~]+$/);
      assert(!note.includes(annotation), note);
    }
    assertEquals((await env.client.listAll(Ingress, { namespace: env.namespace })).items, []);
    await annotate(env, "bad-0", "good.example.org");
    await eventually(env, Ingress, `${env.namespace}/bad-0`);
  },
};

const givingUp: Case = {
  name: "a failing key is retried ten times, then dropped with a log record and a Warning Event on the Service",
  run: async (env) => {
    const proxy = await env.startProxy();
    const isIngressWrite = ({ method, path }: { readonly method: string; readonly path: string }) =>
      method !== "GET" && path.includes("/ingresses");
    const failing = proxy.respond(() => broken(), isIngressWrite);
    const service = await createService(env, "web", { annotation: "" });
    // With -v each retry is in the log, not only the first one.
    await using program = run(env, ["-v"], { proxy });
    await program.logged(/ERROR .*dropping the key until it changes.*key=\S+\/web outcome=given-up retries=10 /);
    assertEquals(program.stderr.match(/reconcile failed, retrying/g)?.length, 10);
    assertEquals(proxy.writes.filter(isIngressWrite).length, 11);
    const event = await eventuallyEvent(env, service, "IngressFailed");
    assertEquals(event.type, "Warning");
    assertMatch(event.note ?? "", /^Given up after 10 retries, until something changes: .*broken/);
    failing[Symbol.dispose]();
    await annotate(env, "web", "example.org");
    await eventually(env, Ingress, `${env.namespace}/web`);
  },
};

function broken(): Response {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "InternalError", message: "broken" };
  return Response.json({ ...status, code: 500 }, { status: 500 });
}

const silent: Case = {
  name: "[65] a converged Service causes no write, and an update without a change causes no reconcile",
  run: async (env) => {
    const proxy = await env.startProxy();
    const service = await createService(env, "web", { annotation: "" });
    const wrong = await createService(env, "wrong", { annotation: "a b" });
    await using program = run(env, ["--resync", "500ms", "-v"], { proxy });
    await eventually(env, Ingress, `${env.namespace}/web`);
    await env.until("see the Event", () => {
      const isRecorded = proxy.writes.some(({ path }) => path.includes("/events"));
      return isRecorded ? { kind: "found", value: undefined } : { kind: "pending", state: program.stderr };
    });
    await proxy.quiet(2_000);
    const writes = proxy.writes.length;
    // With -v every reconcile of this Service is in the log, also without an Event.
    const reconciles = () => program.stderr.match(/reason=InvalidAnnotation/g)?.length;
    assertEquals(reconciles(), 1);
    const { name, namespace, labels } = wrong.metadata;
    const options = { fieldManager: "other", force: true };
    const after = await env.client.apply(Service, { metadata: { name, namespace, labels } }, options);
    assert(after.metadata.resourceVersion !== wrong.metadata.resourceVersion);
    await proxy.quiet(4_000);
    assertEquals(proxy.writes.slice(writes), []);
    assertEquals(await eventsOf(env, service), []);
    assertEquals(reconciles(), 1);
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
