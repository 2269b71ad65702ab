import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { type OperatorController, withWebhooks } from "../../manager/mod.ts";
import { allow, converting, defaulting, validating } from "../../webhook/mod.ts";
import { podController, Website, websiteController } from "../testing/test_kinds.ts";
import { TestProcess } from "../testing/test_process.ts";
import type { Operator } from "../command/operator.ts";
import { operatorCli } from "../operator_cli.ts";

const judged = withWebhooks(websiteController, [
  defaulting(Website, (site) => site),
  validating(Website, { create: () => allow() }),
]);
const nodes = controller("nodes").for(builtin.Node).reconcile(() => Promise.resolve(done));
const local = controller("local", { namespace: "default", recordsEvents: false }).for(builtin.Pod)
  .reconcile(() => Promise.resolve(done));

const operator: Operator = { name: "op", version: "1.2.3", controllers: [judged, podController, nodes, local] };

/** The fields of an object that these tests read. */
interface Printed {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly type?: string;
  readonly webhooks?: readonly { readonly name: string }[];
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: PrintedPod };
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly ports: readonly { readonly port: number }[];
    readonly ingress: readonly { readonly from?: unknown; readonly ports?: unknown }[];
    readonly conversion?: {
      readonly webhook: { readonly clientConfig: { readonly service: { readonly name: string } } };
    };
  };
}

interface PrintedPod {
  readonly securityContext: object;
  readonly tolerations?: readonly {
    readonly key?: string;
    readonly operator?: string;
    readonly value?: string;
    readonly effect?: string;
    readonly tolerationSeconds?: number;
  }[];
  readonly containers: readonly [PrintedContainer];
}

interface PrintedContainer {
  readonly image: string;
  readonly args: readonly string[];
  readonly resources: { readonly limits: object; readonly requests: object };
  readonly securityContext: object;
  readonly startupProbe: PrintedProbe;
  readonly livenessProbe: PrintedProbe;
  readonly readinessProbe: PrintedProbe;
}

interface PrintedProbe {
  readonly httpGet: { readonly path: string };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

async function call(line: string, of: Operator = operator) {
  const process = new TestProcess(["manifests", ...line.split(" ").filter((word) => word !== "")]);
  const code = await operatorCli(of, process);
  return { code, out: process.out, err: process.err };
}

async function objects(line: string, of: Operator = operator): Promise<readonly Printed[]> {
  const { code, out, err } = await call(`${line} -o json`, of);
  assertEquals([code, err], [0, ""]);
  return JSON.parse(out).items;
}

function find(all: readonly Printed[], kind: string): Printed {
  const found = all.find((object) => object.kind === kind);
  assert(found !== undefined, `no ${kind} among ${all.map((object) => object.kind)}`);
  return found;
}

function containerOf(all: readonly Printed[]): PrintedContainer {
  return find(all, "Deployment").spec.template.spec.containers[0];
}

/** The kind and namespace of each role: `ClusterRole`, `Role in default`. */
function roles(all: readonly Printed[]): readonly string[] {
  return all.filter(({ kind }) => kind.endsWith("Role"))
    .map(({ kind, metadata }) => metadata.namespace === undefined ? kind : `${kind} in ${metadata.namespace}`);
}

test("manifests --all prints the same as manifests without names", async () => {
  assertEquals(await objects("--all"), await objects(""));
});

test("[security 10] the Pods satisfy the restricted Pod Security Standard", async () => {
  const all = await objects("");
  assertEquals(find(all, "Deployment").spec.template.spec.securityContext, {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    fsGroup: 65532,
    seccompProfile: { type: "RuntimeDefault" },
  });
  const container = containerOf(all);
  assertEquals(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const { labels } = find(all, "Namespace").metadata;
  assert(labels !== undefined && Reflect.get(labels, "pod-security.kubernetes.io/enforce") === "restricted");
  assertEquals([Object.keys(container.resources.limits), Object.keys(container.resources.requests)], [
    ["cpu", "memory"],
    ["cpu", "memory"],
  ]);
});

test("the Deployment has two replicas with leader election, and its probes use the endpoints of run", async () => {
  const all = await objects("website --image reg/op:2");
  const container = containerOf(all);
  assertEquals([find(all, "Deployment").spec.replicas, container.image], [2, "reg/op:2"]);
  assertEquals(container.args.slice(0, 4), [
    "run",
    "website",
    "--leader-elect",
    "--leader-election-id=op-website",
  ]);
  assert(container.args.includes("--health-probe-bind-address=:8081"));
  assertEquals([container.livenessProbe.httpGet.path, container.readinessProbe.httpGet.path], ["/healthz", "/readyz"]);
  const renamed = { ...operator, endpoints: { livenessName: "alive", readinessName: "ready" } };
  const other = containerOf(await objects("", renamed));
  assertEquals([other.livenessProbe.httpGet.path, other.readinessProbe.httpGet.path], ["/alive", "/ready"]);
});

test("names follow from the controllers, image and namespace from the program", async () => {
  const all = await objects("");
  const { metadata } = find(all, "Deployment");
  assertEquals([metadata.name, metadata.namespace], ["op", "op-system"]);
  assertEquals(containerOf(all).image, "op:1.2.3");
  assertEquals(find(await objects("pods nodes"), "Deployment").metadata.name, "op-pods-nodes");
  assertEquals(find(await objects("pods --name watcher"), "Deployment").metadata.name, "watcher");
});

test("[security 7] rules are granted only in the namespaces that need them", async () => {
  assertEquals(roles(await objects("pods")), ["Role in op-system", "ClusterRole"]);
  assertEquals(roles(await objects("local")), ["Role in default", "Role in op-system"]);
  assertEquals(roles(await objects("nodes")), ["Role in default", "Role in op-system", "ClusterRole"]);
});

test("[security 7] --namespaced prints Roles only, and no other cluster-scoped object", async () => {
  const own = await objects("pods --namespaced -n team-a");
  assertEquals(roles(own), ["Role in team-a"]);
  assert(containerOf(own).args.includes("--namespace=team-a"));
  const two = await objects("pods --watch-namespace a --watch-namespace b");
  assertEquals(roles(two), ["Role in a", "Role in b", "Role in op-system"]);
  const clusterWide = [...own, ...two].filter(({ kind, metadata }) =>
    metadata.namespace === undefined && kind !== "Namespace"
  );
  assertEquals(clusterWide, []);
});

test("[security 12] webhooks get a Service, an empty Secret, configurations and the permissions to fill them", async () => {
  const all = await objects("website");
  const service = all.find(({ metadata }) => metadata.name === "op-webhook" && metadata.namespace === "op-system");
  assertEquals([service?.kind, service?.spec.ports[0]?.port], ["Service", 443]);
  assertEquals(find(all, "Secret").type, "Opaque");
  assert(!("data" in find(all, "Secret")), "an apply must not empty it");
  assertEquals(find(all, "MutatingWebhookConfiguration").metadata.name, "op.op-system");
  assert(containerOf(all).args.includes("--webhook-configuration=op.op-system"));
  const policy = find(all, "NetworkPolicy").spec;
  assertEquals(policy.ingress, [{ ports: [{ port: 9443, protocol: "TCP" }] }]);
  const from = find(await objects("website --webhook-from 10.0.0.0/28"), "NetworkPolicy").spec.ingress[0]?.from;
  assertEquals(from, [{ ipBlock: { cidr: "10.0.0.0/28" } }]);
  assertEquals(find(await objects("pods"), "NetworkPolicy").spec.ingress, []);
});

test("--admission-policies prints the rules of webhooks as policies, and says what only functions can check", async () => {
  const rules = [{ rule: "object.metadata.name != 'x'", message: "x is reserved" }];
  const ruled = validating(Website, { rules });
  const both = validating(Website, { rules, create: () => allow() }, { name: "own.websites.dev" });
  const of = { ...operator, controllers: [withWebhooks(websiteController, [ruled, both])] };
  const { code, out, err } = await call("--admission-policies -o json", of);
  assertEquals(code, 0);
  assertEquals(err, "op: only the webhook own.websites.dev can check what its functions decide about CREATE\n");
  const items: readonly Printed[] = JSON.parse(out).items;
  const policies = items.filter(({ kind }) => kind.startsWith("ValidatingAdmissionPolicy"));
  const names = policies.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  assertEquals(
    names,
    [ruled, both].flatMap(({ name }) => [
      `ValidatingAdmissionPolicy op.op-system.${name}`,
      `ValidatingAdmissionPolicyBinding op.op-system.${name}`,
    ]),
  );
  const called = items.find(({ kind }) => kind === "ValidatingWebhookConfiguration")?.webhooks;
  assertEquals(called?.map(({ name }) => name), ["own.websites.dev"]);
  const none = await call("--admission-policies");
  assertMatch(none.err, /Cannot print admission policies: no webhook has rules/);
  const bundle = await call("--admission-policies -o olm --output-dir /nonexistent", of);
  assertMatch(bundle.err, /Cannot make a bundle with --admission-policies/);
  assertEquals([none.code, bundle.code], [2, 2]);
});

test("with --cert-secret metrics are served to the cluster, and there is no permission for Secrets", async () => {
  const all = await objects("website --cert-secret tls");
  const { args } = containerOf(all);
  assert(args.includes("--metrics-bind-address=:8443") && args.includes("--cert-dir=/certs"), args.join(" "));
  const ruled = all.flatMap(({ rules = [] }) => rules).flatMap(({ resources = [] }) => resources);
  assertEquals([ruled.includes("tokenreviews"), ruled.includes("secrets")], [true, false]);
  assertEquals(all.some(({ kind }) => kind === "Secret"), false);
  assert(
    all.some(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "op-website-metrics-reader.op-system"),
  );
  const without = containerOf(await objects("website")).args;
  assert(without.includes("--metrics-bind-address=127.0.0.1:8080"));
});

test("--include-crds prints the definitions, with the Service of a conversion webhook", async () => {
  assertEquals((await objects("website")).some(({ kind }) => kind === "CustomResourceDefinition"), false);
  const crd = find(await objects("website --include-crds"), "CustomResourceDefinition");
  assertEquals([crd.metadata.name, crd.spec.conversion], ["websites.example.dev", undefined]);
  const convertible: OperatorController = withWebhooks(websiteController, [converting(Website, [])]);
  const converted = await objects("--include-crds", { ...operator, controllers: [convertible] });
  const { conversion } = find(converted, "CustomResourceDefinition").spec;
  assertEquals(conversion?.webhook.clientConfig.service.name, "op-webhook");
});

test("a namespace is printed when it is NAME-system, or on demand: one of the command line may exist already", async () => {
  for (
    const line of ["pods --existing-namespace", "pods -n default", "pods -n team-a", "pods --namespaced -n team-a"]
  ) {
    assertEquals((await objects(line)).some(({ kind }) => kind === "Namespace"), false, line);
  }
  for (const line of ["pods", "pods -n ops --create-namespace"]) {
    assertEquals(policyOf(await objects(line)), "restricted", line);
  }
  // The Pods of users in a watched namespace need not satisfy the policy that those of the operator do.
  assertEquals(policyOf(await objects("pods --namespaced -n team-a --create-namespace")), undefined);
});

function policyOf(all: readonly Printed[]): unknown {
  return Reflect.get(find(all, "Namespace").metadata.labels ?? {}, "pod-security.kubernetes.io/enforce");
}

test("two installations in two namespaces have no object of the cluster in common", async () => {
  const idsOf = async (namespace: string) =>
    (await objects(`--cert-secret tls -n ${namespace}`)).filter(({ metadata }) => metadata.namespace !== namespace)
      .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
  const [one, two] = [await idsOf("one"), await idsOf("two")];
  // In the namespace of `local`, both have a Role.
  assertEquals(one, [
    "Role default/op.one",
    "RoleBinding default/op.one",
    "ClusterRole /op.one",
    "ClusterRoleBinding /op.one",
    "ClusterRole /op-metrics-reader.one",
    "MutatingWebhookConfiguration /op.one",
    "ValidatingWebhookConfiguration /op.one",
  ]);
  assertEquals(one.filter((id) => two.includes(id)), []);
});

test("Pods of controllers that write Nodes tolerate every taint, but leave failed Nodes; others those of --toleration", async () => {
  const tolerationsOf = async (line: string) => find(await objects(line), "Deployment").spec.template.spec.tolerations;
  assertEquals(await tolerationsOf("nodes"), undefined, "it only reads Nodes");
  const tainting = controller("taints").for(builtin.Pod).uses(builtin.Node, ["patch"]).reconcile(() =>
    Promise.resolve(done)
  );
  const all = find(await objects("", { ...operator, controllers: [tainting] }), "Deployment").spec.template.spec;
  assertEquals(all.tolerations?.map(({ key, effect, tolerationSeconds }) => [key, effect, tolerationSeconds]), [
    ["node.kubernetes.io/not-ready", "NoExecute", 300],
    ["node.kubernetes.io/unreachable", "NoExecute", 300],
    [undefined, "NoSchedule", undefined],
    [undefined, "NoExecute", undefined],
  ]);
  assertEquals(await tolerationsOf("pods --toleration a.dev/b=c:NoSchedule --toleration d --toleration e=:NoExecute"), [
    { effect: "NoSchedule", key: "a.dev/b", operator: "Equal", value: "c" },
    { key: "d", operator: "Exists" },
    { effect: "NoExecute", key: "e", operator: "Equal", value: "" },
  ]);
});

test("a process that does not respond is killed within 30 s, and a start leaves no failed probe", async () => {
  const { startupProbe, livenessProbe } = containerOf(await objects("pods"));
  const { periodSeconds = 0, timeoutSeconds = 0, failureThreshold = 0, terminationGracePeriodSeconds = 0 } =
    livenessProbe;
  const lastProbe = periodSeconds * failureThreshold + timeoutSeconds;
  assert(lastProbe + terminationGracePeriodSeconds <= 30, "frozen just after a probe");
  assert((startupProbe.initialDelaySeconds ?? 0) > 0 && startupProbe.httpGet.path === livenessProbe.httpGet.path);
});

test("--service-monitor prints a ServiceMonitor that selects the Service of the metrics only", async () => {
  const all = await objects("website --cert-secret tls --service-monitor");
  const { selector } = find(all, "ServiceMonitor").spec;
  const matches = ({ metadata: { labels = {} } }: Printed) =>
    Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => Reflect.get(labels, key) === value);
  const services = all.filter(({ kind }) => kind === "Service");
  assertEquals(services.filter(matches).map(({ metadata }) => metadata.name), ["op-website-metrics"]);
  assertEquals(services.length, 2);
});

test("[124] --monitoring prints what Prometheus and Grafana read, with the labels by which they select it", async () => {
  const all = await objects(
    "website --cert-secret tls --monitoring --monitoring-label release=prom --monitoring-label a.b/c=",
  );
  for (const kind of ["ServiceMonitor", "PrometheusRule"]) {
    const labels = new Map(Object.entries(find(all, kind).metadata.labels ?? {}));
    assertEquals([labels.get("release"), labels.get("a.b/c")], ["prom", ""], kind);
  }
  const { metadata } = find(all, "ConfigMap");
  assertEquals([metadata.name, metadata.namespace], ["op-website-dashboard", "op-system"]);
  assertEquals(Reflect.get(metadata.labels ?? {}, "grafana_dashboard"), "1");
});

test("YAML documents are printed in an order in which they can be applied", async () => {
  const { out } = await call("pods");
  const kinds = out.split("---\n").map((text) => /^kind: (.*)$/m.exec(text)?.[1]);
  assertEquals(kinds.slice(0, 2), ["Namespace", "ServiceAccount"]);
  assertEquals(kinds.at(-1), "Deployment");
});

test("[84] flags that contradict each other are exit code 2, with an advice", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["nodes --namespaced", /Cannot restrict "nodes" to namespaces: it uses nodes, which have no namespace\. Leave/],
    ["website --namespaced", /Cannot restrict webhooks to namespaces/],
    ["pods --namespaced --watch-namespace a", /both --namespaced and --watch-namespace/],
    ["pods --namespaced --cert-secret tls", /Cannot serve metrics to the cluster with Roles only/],
    ["pods -n Team", /Cannot parse --namespace "Team"/],
    ["pods --name -x", /Cannot parse --name "-x"|argument missing/],
    ["pods --run-flag workers", /Cannot parse --run-flag "workers": it is not a flag/],
    ["pods --service-monitor", /Cannot make a ServiceMonitor: .*\. Add --cert-secret/],
    ["pods --monitoring", /Cannot make the objects of --monitoring: .*\. Add --cert-secret/],
    ["pods --monitoring-label a=b", /Cannot set --monitoring-label: .*\. Add --monitoring or --service-monitor/],
    [
      "pods --cert-secret tls --monitoring --monitoring-label a",
      /Cannot parse --monitoring-label "a": it is not a label/,
    ],
    ["pods --create-namespace --existing-namespace", /both --create-namespace and --existing-namespace/],
    ["pods -n kube-system --create-namespace", /Cannot create the namespace "kube-system"/],
    ["pods --toleration a:Never", /Cannot parse --toleration "a:Never": it is not a taint/],
    ["nope", /Cannot find controller "nope"/],
  ];
  for (const [line, message] of cases) {
    const { code, out, err } = await call(line);
    assertEquals([code, out], [2, ""], line);
    assertMatch(err, message);
  }
});

test("[security 7] --clusters grants the hub what its provider reads, and nothing of the controllers of the members", async () => {
  const all = await objects("pods --clusters secrets:fleet/env=prod");
  const resourcesOf = (where: string) =>
    all.filter(({ kind, metadata }) => kind === "Role" && metadata.namespace === where)
      .flatMap(({ rules = [] }) => rules).map(({ resources, verbs }) => `${resources.join()} ${verbs.join()}`);
  assertEquals(roles(all).filter((role) => !role.endsWith("op-system")), ["Role in fleet"]);
  assertEquals(resourcesOf("fleet").toSorted(), ["events create,patch", "secrets list,watch"]);
  assert(containerOf(all).args.some((arg) => arg.startsWith("--clusters=secrets:fleet/env")), "the flag of run");
});
