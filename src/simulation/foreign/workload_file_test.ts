/** Tests the form of workload files, and the errors of files that do not have it. */
import { assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { parseWorkload, type WorkloadDocument, WorkloadFileError } from "./workload_file.ts";

const secondFile: WorkloadDocument = {
  value: {
    kind: "List",
    items: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b", namespace: "other" }, data: { a: "1" } }],
  },
  name: "flows/more.yaml",
  line: 1,
};

async function parse(text: string) {
  const read: string[] = [];
  const documentsOf = (path: string, from: string) => {
    read.push(`${path} from ${from}`);
    return Promise.resolve([secondFile]);
  };
  const document = { value: parseYaml(text).value(), name: "flows/scale.yaml", line: 1 };
  return { workload: await parseWorkload(document, { documentsOf }), read };
}

const everyAction = `
steps:
  - apply:
      - apiVersion: v1
        kind: ConfigMap
        metadata: { name: a }
      - more.yaml
  - patch: { object: Foo/a, merge: { spec: { size: null } } }
  - patch: { object: { kind: pod, labels: "app=a" }, json: [{ op: remove, path: /spec/x }], subresource: status }
  - delete: Foo/other/a
  - delete: { object: { kind: Pod, owner: StatefulSet/a }, propagation: Orphan }
    atOnce: true
  - scale: { object: sts/a, replicas: 3 }
  - waitFor: Foo/a
  - waitFor: { object: Foo/a, condition: Ready=False, timeout: 1m30s }
  - waitFor: { object: Foo/a, jsonpath: "{.status.ready}", value: 3 }
  - waitFor: { object: Foo/a, deleted: true }
  - sleep: 500ms
  - restart: operator
`;

test("parseWorkload() reads every action, and the objects of other files", async () => {
  const { workload, read } = await parse(everyAction);
  const [a, target] = [{ kind: "Foo", name: "a" }, { kind: "Foo", name: "a" }];
  assertEquals(read, ["more.yaml from flows/scale.yaml"]);
  assertEquals({ ...workload, steps: [] }, { name: "scale", namespace: "default", steps: [] });
  assertEquals(workload.steps, [
    {
      kind: "apply",
      objects: [
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b", namespace: "other" }, data: { a: "1" } },
      ],
    },
    { kind: "patch", target, patch: { kind: "merge", value: { spec: { size: null } } } },
    {
      kind: "patch",
      target: { kind: "pod", labels: "app=a" },
      patch: { kind: "json", operations: [{ op: "remove", path: "/spec/x" }] },
      subresource: "status",
    },
    { kind: "delete", target: { kind: "Foo", namespace: "other", name: "a" } },
    {
      kind: "delete",
      target: { kind: "Pod", owner: { kind: "StatefulSet", name: "a" } },
      propagationPolicy: "Orphan",
      atOnce: true,
    },
    { kind: "scale", target: { kind: "sts", name: "a" }, replicas: 3 },
    { kind: "wait", target: a, until: { kind: "exists" }, timeoutMs: 30_000 },
    { kind: "wait", target: a, until: { kind: "condition", type: "Ready", status: "False" }, timeoutMs: 90_000 },
    { kind: "wait", target: a, until: { kind: "jsonpath", path: ".status.ready", value: "3" }, timeoutMs: 30_000 },
    { kind: "wait", target: a, until: { kind: "deleted" }, timeoutMs: 30_000 },
    { kind: "sleep", durationMs: 500 },
    { kind: "restart" },
  ]);
});

const wrong: readonly { readonly text: string; readonly message: RegExp }[] = [
  { text: "steps: []", message: /steps/ },
  { text: "step: [1]", message: /step/ },
  { text: "steps: [{}]", message: /step 1: it has no action; exactly one of apply, patch, / },
  { text: "steps: [{ sleep: 1s, restart: operator }]", message: /step 1: it has 2 actions \(sleep, restart\)/ },
  { text: "steps: [{ sleep: 1s }, { sleep: soon }]", message: /step 2, sleep: a duration like 500ms/ },
  { text: "steps: [{ delete: pod-1 }]", message: /step 1, delete, object: an object is KIND\/NAME/ },
  { text: "steps: [{ delete: { kind: Pod } }]", message: /step 1, delete, object: name, labels or owner is needed/ },
  { text: "steps: [{ patch: { object: Pod/a } }]", message: /step 1, patch: exactly one of merge, strategic and json/ },
  {
    text: "steps: [{ waitFor: { object: Pod/a, jsonpath: '.a[' } }]",
    message: /waitFor, jsonpath: it is no JSON path/,
  },
  { text: "steps: [{ waitFor: { object: Pod/a, value: 1 } }]", message: /waitFor: value needs jsonpath/ },
  {
    text: "steps: [{ waitFor: { object: { kind: Pod, labels: 'a b' } } }]",
    message: /labels: it is no label selector/,
  },
  { text: "steps: [{ apply: { kind: Pod, metadata: { name: a } } }]", message: /step 1, apply, apiVersion: / },
  { text: "steps: [{ scale: { object: Pod/a, replicas: -1 } }]", message: /step 1, scale\.replicas: / },
];

for (const { text, message } of wrong) {
  test(`parseWorkload() names the step and the field of ${text}`, async () => {
    const error = await assertRejects(() => parse(text), message);
    assertEquals(error instanceof WorkloadFileError, true);
    assertMatch(error.message, /^Cannot read workload file "flows\/scale.yaml": /);
  });
}
