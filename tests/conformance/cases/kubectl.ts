/** Output of the common kubectl commands on both servers. kubectl_scenarios.ts has longer cases. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { kubectl, needsKubectl, runCommand, withKubelet } from "./_kubectl.ts";
import { kubectlScenarioCases } from "./kubectl_scenarios.ts";
import { at, type Body, configMap, deployment, ingress, pod, service } from "./_objects.ts";

const files: readonly ConformanceCase[] = [
  kubectl("apply, twice, changed, and get", [
    ["apply -f -", configMap("a", { a: "1", b: "2" })],
    ["apply -f -", configMap("a", { a: "1", b: "2" })],
    ["apply -f -", configMap("a", { a: "2" })],
    ["get configmap a -o yaml"],
    ["get cm/a -o json"],
    ["get configmap a -o jsonpath={.data.a}"],
    ["get configmap a -o custom-columns=NAME:.metadata.name,DATA:.data"],
    ["get configmap a -o name"],
    ["get configmap a -o go-template={{.data}}"],
    ["get configmap a"],
    ["get configmap a --show-labels --no-headers"],
    ["get configmap a -o wide"],
    ["get configmap b"],
    ["get nonsense"],
  ]),
  kubectl("apply --server-side", [
    ["apply --server-side -f -", configMap("a", { a: "1" })],
    ["apply --server-side --field-manager=other -f -", configMap("a", { a: "2" })],
    ["apply --server-side --field-manager=other --force-conflicts -f -", configMap("a", { a: "2" })],
    ["get configmap a -o yaml --show-managed-fields"],
    ["apply -f -", configMap("a", { a: "3" })],
  ]),
  kubectl("apply of several objects, and their deletion", [
    ["apply -f -", { apiVersion: "v1", kind: "List", items: [configMap("a"), service("web"), ingress("in")] }],
    ["get configmap/a service/web ingress/in"],
    ["delete configmap/a service/web ingress/in"],
    ["delete configmap a"],
    ["delete configmap a --ignore-not-found"],
  ]),
  kubectl("apply --dry-run, --validate", [
    ["apply --dry-run=client -f -", configMap("a")],
    ["apply --dry-run=server -f -", configMap("a")],
    ["apply --validate=strict -f -", { ...configMap("a"), unknown: 1 }],
    ["apply --validate=warn -f -", { ...configMap("a"), unknown: 1 }],
    ["apply --validate=false -f -", { ...configMap("b"), unknown: 1 }],
    ["apply -f -", { ...configMap("a"), data: { a: 1 } }],
    ["apply -f -", { apiVersion: "v1", kind: "Nonsense", metadata: { name: "a" } }],
    ["apply -f -", { apiVersion: "example.com/v1", kind: "Foo", metadata: { name: "a" } }],
    ["apply -f -", "not: [yaml"],
  ]),
  kubectl("diff", [
    ["diff -f -", configMap("a"), { KUBECTL_EXTERNAL_DIFF: "true" }],
    ["apply -f -", configMap("a")],
    ["diff -f -", configMap("a")],
    ["diff -f -", configMap("a", { key: "other" }), { KUBECTL_EXTERNAL_DIFF: "diff -r -u0 --label a --label b" }],
    ["diff --server-side -f -", configMap("a", { key: "other" }), {
      KUBECTL_EXTERNAL_DIFF: "diff -r -u0 --label a --label b",
    }],
  ]),
  kubectl("create", [
    ["create -f -", configMap("a")],
    ["create -f -", configMap("a")],
    ["create configmap b --from-literal=x=y"],
    ["create secret generic c --from-literal=x=y"],
    ["create serviceaccount robot"],
    ["create role reader --verb=get,list --resource=pods,deployments.apps"],
    ["create rolebinding readers --role=reader --serviceaccount=NS:robot"],
    ["create service clusterip web --tcp=80:8080"],
    ["create ingress in --rule=example.com/*=web:80"],
    ["create quota few --hard=pods=3 --dry-run=server -o name"],
    ["create deployment web --image=example.invalid/web --dry-run=server -o yaml"],
    ["create job once --image=example.invalid/web --dry-run=server -o jsonpath={.spec.template.spec.restartPolicy}"],
    ["create cronjob often --image=example.invalid/web --schedule=*/5␣*␣*␣*␣* --dry-run=server -o name"],
    ["create namespace Bad_Name"],
  ]),
  kubectl("replace", [
    ["replace -f -", configMap("a")],
    ["create -f -", configMap("a")],
    ["replace -f -", configMap("a", { x: "y" })],
    ["replace --force -f -", configMap("a", { x: "z" })],
    ["get configmap a -o jsonpath={.data}"],
  ]),
];

const edits: readonly ConformanceCase[] = [
  kubectl("label, annotate, patch", [
    ["create configmap a --from-literal=x=y"],
    ["label configmap a tier=front"],
    ["label configmap a tier=front"],
    ["label configmap a tier=back"],
    ["label configmap a tier=back --overwrite"],
    ["label configmap a tier-"],
    ["annotate configmap a note=hello"],
    ["annotate configmap a note-"],
    ['patch configmap a --type=merge -p {"data":{"x":"z"}}'],
    ['patch configmap a --type=json -p [{"op":"add","path":"/data/w","value":"1"}]'],
    ['patch configmap a -p {"data":{"x":null}}'],
    ['patch configmap a -p {"data":{"x":1}}'],
    ['patch configmap a --type=json -p [{"op":"remove","path":"/data/absent"}]'],
    ["get configmap a -o jsonpath={.data}␣{.metadata.labels}"],
    ["label configmap a bad␣key=x"],
  ]),
  kubectl("edit", [
    ["create configmap a --from-literal=x=before"],
    ["edit configmap a", undefined, { KUBE_EDITOR: "sed -i s/before/after/" }],
    ["get configmap a -o jsonpath={.data}"],
    ["edit configmap a", undefined, { KUBE_EDITOR: "true" }],
  ]),
  kubectl("get with selectors and watches", [
    ["create configmap a --from-literal=x=y"],
    ["create configmap b --from-literal=x=y"],
    ["label configmap a tier=front"],
    ["get configmap -l tier=front"],
    ["get configmap --field-selector metadata.name=b"],
    ["get configmap --field-selector data=b"],
    ["get configmap -l =="],
    ["get configmap --sort-by=.metadata.name -o name -l tier"],
    ["get configmap a b --chunk-size=1 -o name"],
    ["get configmap a -w --request-timeout=SOON"],
    ["get configmap -l absent"],
    ["get secrets"],
    ["get cm,secret -l tier"],
    ["get configmap a --raw /api"],
    ["get --raw /healthz"],
    ["get --raw /api/v1/namespaces/NS/configmaps/absent"],
  ]),
  kubectl("wait", [
    ["create configmap a --from-literal=x=y"],
    ["wait configmap/a --for=jsonpath={.data.x}=y --timeout=300s"],
    ["wait configmap/a --for=jsonpath={.data.x}=z --timeout=SOON"],
    ["wait configmap/absent --for=delete --timeout=300s"],
    ["wait configmap/absent --for=condition=Ready --timeout=300s"],
  ]),
  kubectl("delete with each option", [
    ["create configmap a --from-literal=x=y"],
    ["create configmap b --from-literal=x=y"],
    ["create configmap c --from-literal=x=y"],
    ["delete configmap a --dry-run=server"],
    ["delete configmap a --cascade=foreground"],
    ["delete configmap b --cascade=orphan --wait=false"],
    ["delete configmap c --now"],
    ["delete secret --all"],
    ["delete configmap -l absent"],
    ["delete configmap absent"],
  ], { needsControllers: true }),
];

const undescribed = "names and types of fields are shown, but not the descriptions of Kubernetes";

interface Definition {
  readonly spec: { readonly group: string };
}

const reads: readonly ConformanceCase[] = [
  kubectl("describe", [
    ["create configmap a --from-literal=x=y"],
    ["describe configmap a"],
    ["create secret generic s --from-literal=x=y"],
    ["describe secret s"],
    ["create -f -", service("web")],
    // Two forms of no endpoints: without an EndpointSlice, and with an empty one, which a controller creates.
    (run) =>
      run.until(
        `${at(run, "discovery.k8s.io/v1/endpointslices")}?labelSelector=kubernetes.io%2Fservice-name%3Dweb`,
        ({ items = [] }) => items.length > 0,
      ),
    ["describe service web"],
    ["create -f -", ingress("in")],
    ["describe ingress in"],
    ["create -f -", pod("p")],
    ["describe pod p"],
    ["describe pod absent"],
    ["describe namespace NS"],
    ["create role reader --verb=get --resource=pods"],
    ["describe role reader"],
  ], { needsAccount: true, needsControllers: true }),
  ...["nothing", "pod.nothing"].map((what) => kubectl(`explain ${what}`, [[`explain ${what}`]])),
  ...["pod.spec.containers", "deployment --recursive", "configmap", "service.spec.type"].map((what) =>
    kubectl(`explain ${what}`, [[`explain ${what}`]], { deliberate: undescribed })
  ),
  kubectl("explain with a version", [
    ["explain deployment.spec.strategy --api-version=apps/v1"],
    ["explain ingress.spec.rules"],
  ], { deliberate: undescribed }),
  scenario("kubectl api-versions", async (run) => {
    const { items } = await run.prepare({ path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" });
    const custom = new Set(items.map(({ spec }: Definition) => spec.group));
    await run.kubectl(["api-versions"], { picks: (line) => !custom.has(line.split("/")[0]) });
  }, { needsKubectl }),
  kubectl("api-resources", [
    ["api-resources --api-group=apps"],
    ["api-resources --api-group=batch -o wide"],
    ["api-resources --api-group= --namespaced=false"],
    ["api-resources --api-group= --verbs=list,watch -o name"],
  ]),
  kubectl("auth can-i", [
    ["auth can-i create pods"],
    ["auth can-i list secrets --as jane"],
    ["auth can-i --list --as system:serviceaccount:NS:robot"],
    ["auth can-i nothing at all"],
    ["auth whoami -o jsonpath={.status.userInfo.groups}", undefined],
  ]),
  kubectl("cluster-info", [["cluster-info"]]),
  kubectl("version", [["version -o json"]], {
    deliberate: "the version states that the server is not a build of Kubernetes",
  }),
  kubectl("create token", [
    ["create serviceaccount robot"],
    ["create token robot"],
    ["create token robot --duration=1m"],
    ["create token absent"],
  ]),
  kubectl("events", [
    ["create -f -", {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "a" },
      involvedObject: { kind: "Pod", name: "p" },
      reason: "Tested",
      message: "it was",
      type: "Normal",
      lastTimestamp: "2026-01-01T00:00:00Z",
    }],
    ["get events --field-selector reason=Tested"],
  ]),
];

const small = (name: string, replicas: number): Body => deployment(name, { replicas });

const rollouts: readonly ConformanceCase[] = [
  scenario("kubectl scale, rollout, set image, history, undo", async (run) => {
    const path = at(run, "apps/v1/deployments");
    await runCommand(run, ["apply -f -", small("web", 2)]);
    await withKubelet(run, async () => {
      await run.prepare({ path });
      await run.until(`${path}/web`, ({ status }) => status?.readyReplicas === 2);
      for (
        const command of [
          "rollout status deployment/web --timeout=300s",
          "get deployment web",
          "get replicaset -o custom-columns=DESIRED:.spec.replicas,READY:.status.readyReplicas",
          "scale deployment web --replicas=3",
          "scale deployment web --replicas=1 --current-replicas=9",
        ]
      ) await runCommand(run, [command]);
      await run.until(`${path}/web`, ({ status }) => status?.readyReplicas === 3);
      await runCommand(run, ["set image deployment/web main=example.invalid/main:2"]);
      await run.until(
        `${path}/web`,
        ({ status, metadata }) =>
          status?.updatedReplicas === 3 && status.availableReplicas === 3 && status.replicas === 3 &&
          status.observedGeneration === metadata.generation,
      );
      await runCommand(run, ["rollout status deployment/web --timeout=300s"]);
      await runCommand(run, ["rollout history deployment/web"]);
      await runCommand(run, ["rollout history deployment/web --revision=2"]);
      await runCommand(run, ["rollout undo deployment/web"]);
      await run.until(
        `${path}/web`,
        ({ status, metadata }) =>
          status?.updatedReplicas === 3 && status.replicas === 3 && status.readyReplicas === 3 &&
          status.observedGeneration === metadata.generation,
      );
      await runCommand(run, ["rollout history deployment/web"]);
      await runCommand(run, ["rollout restart deployment/web"]);
      await runCommand(run, ["rollout pause deployment/web"]);
      await runCommand(run, ["rollout resume deployment/web"]);
      await runCommand(run, ["get deployment web -o jsonpath={.spec.template.spec.containers[0].image}"]);
      await runCommand(run, ["expose deployment web --port=80"]);
      await runCommand(run, ["set env deployment/web A=b"]);
      await runCommand(run, ["set resources deployment/web --limits=cpu=1"]);
      await runCommand(run, ["autoscale deployment web --max=3"]);
      await runCommand(run, ["delete deployment web --timeout=300s"]);
    });
  }, { needsKubectl, needsControllers: true, needsAccount: true }),
  scenario("kubectl kustomize | apply", async (run) => {
    const manifest = { apiVersion: "v1", kind: "List", items: [configMap("a", { x: "y" }), service("web")] };
    await runCommand(run, ["apply -f -", manifest]);
    await runCommand(run, ["apply --prune -l app=none -f -", configMap("b", {}, { labels: { app: "none" } })]);
    await runCommand(run, ["get configmap a b"]);
  }, { needsKubectl }),
  scenario("kubectl taint, cordon, uncordon", async (run) => {
    const name = run.name("node");
    await run.prepare({ path: "/api/v1/nodes", body: { metadata: { name } } });
    for (
      const command of [
        `taint node ${name} a=b:NoSchedule`,
        `cordon ${name}`,
        `get node ${name}`,
        `uncordon ${name}`,
        `taint node ${name} a-`,
        `describe node ${name}`,
        `drain ${name} --ignore-daemonsets`,
      ]
    ) {
      await runCommand(run, [command]);
    }
    await run.prepare({ method: "DELETE", path: `/api/v1/nodes/${name}` });
  }, { needsKubectl }),
];

export const kubectlCases: readonly ConformanceCase[] = [
  ...files,
  ...edits,
  ...reads,
  ...rollouts,
  ...kubectlScenarioCases,
];
