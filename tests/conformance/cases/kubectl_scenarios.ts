/** Output of kubectl commands that need files, running Pods, subresources, other changes, or a custom resource. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { kubectl, needsKubectl, runCommand, withKubelet } from "./_kubectl.ts";
import { at, type Body, configMap, deployment, job, pod, service, workload } from "./_objects.ts";
import { untilCollectorSees, untilDiscovered } from "./_waits.ts";

const event: Body = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "a" },
  involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: "NS" },
  reason: "Tested",
  message: "it was",
  type: "Warning",
  firstTimestamp: "2026-01-01T00:00:00Z",
  lastTimestamp: "2026-01-01T00:00:00Z",
  count: 2,
  source: { component: "test" },
};

/** Creates a folder with files, runs `act`, and deletes the folder. */
async function withFiles(
  folder: string,
  files: Readonly<Record<string, unknown>>,
  act: () => Promise<void>,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
  try {
    await act();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const files: readonly ConformanceCase[] = [
  scenario("kubectl kustomize, apply -k, diff -k, delete -k", async (run) => {
    const folder = join(tmpdir(), run.name("kustomize"));
    const kustomization = {
      resources: ["objects.json"],
      namePrefix: "k-",
      labels: [{ pairs: { team: "a" } }],
      configMapGenerator: [{ name: "made", literals: ["x=y"] }],
      images: [{ name: "example.invalid/main", newTag: "2" }],
    };
    const objects = { apiVersion: "v1", kind: "List", items: [service("web"), deployment("web")] };
    await withFiles(folder, { "kustomization.yaml": kustomization, "objects.json": objects }, async () => {
      const text = await runCommand(run, [`kustomize ${folder}`]);
      await runCommand(run, ["apply -f -", text]);
      await runCommand(run, [`apply -k ${folder}`]);
      await runCommand(run, ["get deployment,service,configmap -l team=a -o name"]);
      await runCommand(run, [`diff -k ${folder}`]);
      await runCommand(run, [`delete -k ${folder}`]);
    });
  }, { needsKubectl }),
  scenario("kubectl apply and delete of a folder", async (run) => {
    const folder = join(tmpdir(), run.name("folder"));
    await withFiles(folder, { "a.json": configMap("a"), "b.yaml": configMap("b"), "c.txt": "no" }, async () => {
      await runCommand(run, [`apply -f ${folder}`]);
      await runCommand(run, [`get -f ${folder}`]);
      await runCommand(run, [`delete -f ${folder}`]);
      await runCommand(run, [`apply -f ${folder}/none.yaml`]);
    });
  }, { needsKubectl }),
];

const reads: readonly ConformanceCase[] = [
  scenario("kubectl events, get events and describe event", async (run) => {
    const text = JSON.stringify(event).replaceAll('"NS"', JSON.stringify(run.namespace));
    await runCommand(run, ["create -f -", text]);
    for (
      const command of [
        "events",
        "events --for pod/p",
        "events --types=Normal",
        "get events -o wide",
        "describe event a",
      ]
    ) {
      await runCommand(run, [command]);
    }
  }, { needsKubectl }),
  kubectl("get with output options", [
    ["create -f -", pod("p", { initContainers: [{ name: "i", image: "x" }] }, { labels: { app: "web" } })],
    ["create -f -", service("web")],
    ["create configmap a --from-literal=x=y"],
    ["get pods"],
    ["get pod p -o wide"],
    ["get pods,services"],
    ["get all"],
    ["get pods -L app"],
    ["get pods --show-kind --show-labels"],
    ["get pods --server-print=false"],
    ["get pods --sort-by=.metadata.creationTimestamp"],
    ["get services,pods --sort-by=.metadata.name"],
    ["get pods -o custom-columns-file=/dev/stdin", "NAME IMAGES\n.metadata.name .spec.containers[*].image\n"],
    ["get pods -o jsonpath={range␣.items[*]}{.metadata.name}{'\\n'}{end}"],
    ["get pods --field-selector status.phase=Pending -o name"],
    ["get pods --field-selector status.phase=Running"],
    ["get pods/p services/web -o name"],
    ["get pod p --subresource=status -o jsonpath={.status.phase}"],
    ["get configmap a --ignore-not-found -o name"],
    ["get configmap absent --ignore-not-found"],
    ["get cm a -o yaml --show-managed-fields=false"],
    ["get --raw /apis/apps/v1/namespaces/NS/deployments?limit=1"],
    ["get pods --output-watch-events -w --request-timeout=SOON -o name"],
    ["logs p"],
    ["logs absent"],
  ], { needsAccount: true }),
  scenario("kubectl get -w while objects change", async (run) => {
    const path = at(run, "configmaps");
    await run.prepare({ path, body: configMap("a") });
    const merge = "application/merge-patch+json";
    const change = () =>
      run.prepare({ method: "PATCH", path: `${path}/a`, type: merge, body: { data: { more: "x" } } });
    const remove = () => run.prepare({ method: "DELETE", path: `${path}/a` });
    await runCommand(run, ["get configmaps -w --request-timeout=300s --field-selector metadata.name=a"], {
      onObjects: [change, remove, () => Promise.resolve()],
    });
  }, { needsKubectl }),
  kubectl("describe of workloads and related objects", [
    ["create -f -", deployment("web")],
    ["create -f -", job("once", { suspend: true })],
    ["create cronjob often --image=example.invalid/web --schedule=@daily"],
    ["create quota few --hard=pods=3"],
    ["create serviceaccount robot"],
    ["create priorityclass NS --value=5 --dry-run=server"],
    ["create poddisruptionbudget few --selector=app=web --min-available=1"],
    ["autoscale deployment web --max=3 --cpu=80%"],
    ["describe cronjob often"],
    ["describe serviceaccount robot"],
    ["describe horizontalpodautoscaler web"],
    ["describe clusterrole view-of-NS"],
  ]),
];

const writes: readonly ConformanceCase[] = [
  scenario("kubectl scale and patch of subresources", async (run) => {
    const path = `${at(run, "apps/v1/deployments")}/web`;
    const settled = () =>
      run.until(
        path,
        ({ spec, status, metadata }) =>
          status?.observedGeneration === metadata.generation && (status.replicas ?? 0) === spec.replicas &&
          (status.updatedReplicas ?? 0) === spec.replicas,
      );
    await runCommand(run, ["create -f -", deployment("web")]);
    for (
      const command of [
        "scale deployment web --replicas=2",
        "scale deployment web --replicas=3 --current-replicas=2",
        "scale deployment web --replicas=1 --resource-version=1",
        "scale deployment absent --replicas=1",
        "get deployment web --subresource=scale",
        'patch deployment web --subresource=scale --type=merge -p {"spec":{"replicas":1}}',
        'patch deployment web --subresource=status --type=merge -p {"status":{"collisionCount":5}}',
        "get deployment web",
        "get deployment web -o wide",
        "set selector service absent a=b",
        "expose deployment web --port=80 --target-port=8080 --name=front --type=NodePort",
        "get service front -o jsonpath={.spec.ports[0].targetPort}␣{.spec.selector}",
        "set serviceaccount deployment web default",
        "delete deployment,service --all",
      ]
    ) {
      if (/^(scale|get deployment|patch)/.test(command)) await settled();
      await runCommand(run, [command]);
    }
  }, { needsKubectl, needsControllers: true, needsAccount: true }),
  kubectl("run", [
    ["run p --image=example.invalid/main --restart=Never --labels=app=web"],
    ["run q --image=example.invalid/main --dry-run=server -o jsonpath={.spec.restartPolicy}"],
    ["run p --image=example.invalid/main"],
    ["annotate pod p note=x"],
    ["set image pod/p p=example.invalid/other"],
    ["get pods -l app=web -o wide --no-headers"],
    ["delete pod p --grace-period=0 --force"],
  ], { needsAccount: true }),
  scenario("kubectl wait for conditions and deletions", async (run) => {
    await runCommand(run, ["create -f -", pod("p")]);
    await withKubelet(run, async () => {
      await runCommand(run, ["wait pod/p --for=condition=Ready --timeout=300s"]);
      await runCommand(run, ["wait pod --all --for=jsonpath={.status.phase}=Running --timeout=300s"]);
      await runCommand(run, ["delete pod p --wait=false"]);
      await runCommand(run, ["wait pod/p --for=delete --timeout=300s"]);
    });
    await runCommand(run, ["wait pod/p --for=create --timeout=SOON"]);
  }, { needsKubectl, needsAccount: true }),
  scenario("kubectl delete of an owner with each cascade option", async (run) => {
    const path = at(run, "apps/v1/replicasets");
    for (const cascade of ["background", "foreground", "orphan"]) {
      await runCommand(run, ["apply -f -", deployment(cascade)]);
      const isThere = ({ items = [] }) => namesOf(items).some((name) => name.startsWith(cascade));
      await run.until(path, isThere);
      await untilCollectorSees(
        run,
        "apps/v1/replicasets",
        workload("ReplicaSet", `unowned-${cascade}`, { replicas: 0 }),
      );
      await runCommand(run, [`delete deployment ${cascade} --cascade=${cascade} --timeout=300s`]);
      if (cascade !== "orphan") await run.until(path, (list) => list.items !== undefined && !isThere(list));
      await runCommand(run, [`get replicasets -l app=${cascade} -o custom-columns=OWNERS:.metadata.ownerReferences`]);
    }
  }, { needsKubectl, needsControllers: true }),
];

function nameOf(metadata: unknown): string {
  return typeof metadata === "object" && metadata !== null && "name" in metadata ? String(metadata.name) : "";
}

function namesOf(items: unknown): readonly string[] {
  return Array.isArray(items) ? items.map(({ metadata }) => nameOf(metadata)) : [];
}

/** A custom resource definition in a group that no other run uses. */
function definition(group: string): Body {
  const properties = {
    spec: {
      type: "object",
      description: "What is wanted.",
      required: ["size"],
      properties: {
        size: { type: "integer", minimum: 1, description: "How large it is." },
        note: { type: "string", default: "none" },
      },
    },
    status: { type: "object", properties: { size: { type: "integer" } } },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `foos.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "foos", singular: "foo", kind: "Foo", shortNames: ["fo"], categories: ["all"] },
      versions: [{
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Note", type: "string", jsonPath: ".spec.note", priority: 1 },
          { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
        ],
        schema: { openAPIV3Schema: { type: "object", description: "A Foo is a foo.", properties } },
      }],
    },
  };
}

const custom = scenario("kubectl with a custom resource", async (run) => {
  const group = `g${run.unique}.example`;
  const foo = (name: string, spec: Body): Body => ({
    apiVersion: `${group}/v1`,
    kind: "Foo",
    metadata: { name },
    spec,
  });
  await runCommand(run, ["apply -f -", definition(group)]);
  await runCommand(run, [`wait crd/foos.${group} --for=condition=Established --timeout=300s`]);
  await untilDiscovered(run, group);
  await run.until(`/openapi/v3`, ({ paths = {} }) => Object.hasOwn(paths, `apis/${group}/v1`));
  await run.until(`/openapi/v3/apis/${group}/v1`, (_, code) => code === 200);
  for (
    const [command, input] of [
      ["apply -f -", foo("a", { size: 3 })],
      ["apply -f -", foo("b", { size: 0 })],
      ["apply -f -", foo("c", { size: 1, unknown: true })],
      ["apply --validate=warn -f -", foo("c", { size: 1, unknown: true })],
      [`get foos.${group}`],
      [`get foo.v1.${group} a -o wide`],
      [`get foo.v1.${group} a -o yaml`],
      [`scale foos.${group} a --replicas=5`],
      [`patch foos.${group} a --type=merge -p {"spec":{"note":"x"}}`],
      [`patch foos.${group} a -p {"spec":{"note":"x"}}`],
      [`label foos.${group} a tier=front`],
      [`describe foos.${group} a`],
      [`explain foos --api-version=${group}/v1 --recursive`],
      [`explain foos.spec.size --api-version=${group}/v1`],
      [`api-resources --api-group=${group} -o wide`],
      [`get crd foos.${group} -o name`],
      [`delete foos.${group} --all`],
      [`delete crd foos.${group}`],
    ] as const
  ) {
    await runCommand(run, [command, input]);
  }
}, { needsKubectl, needsControllers: true });

export const kubectlScenarioCases: readonly ConformanceCase[] = [...files, ...reads, ...writes, custom];
