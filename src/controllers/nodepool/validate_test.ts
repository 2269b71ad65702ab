import { assert, assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import type { AdmissionDecision, AdmissionRequest } from "../../webhook/mod.ts";
import { NodePool } from "./resource.ts";
import { nodepoolWebhooks, problemsOf, problemsOfChange, textOf } from "./validate.ts";

type Spec = Parameters<typeof NodePool.make>[0]["spec"];

function pool(spec: Spec, nodeCount = 0): NodePool {
  return NodePool.make({ metadata: { name: "gpu", uid: "u" }, spec, status: { nodeCount } });
}

function textsOf(spec: Spec): readonly string[] {
  return problemsOf(pool(spec)).map(textOf);
}

const validSpecs: readonly Spec[] = [
  {},
  {
    labels: {
      disk: "ssd",
      "example.dev/a.b_c-D": "",
      constructor: "x",
      "a.notk8s.io/x": "y",
      "notkubernetes.io/x": "y",
    },
  },
  { labels: { ["a".repeat(63)]: "b".repeat(63), [`${"d".repeat(253)}/n`]: "" } },
  { taints: [{ key: "a", effect: "NoSchedule" }, { key: "a", effect: "NoExecute", value: "v" }] },
];

for (const [at, spec] of validSpecs.entries()) {
  test(`a valid pool has no problems (${at})`, () => assertEquals(textsOf(spec), []));
}

const invalidSpecs: readonly (readonly [spec: Spec, text: string])[] = [
  [
    { labels: { "kubernetes.io/os": "linux" } },
    'spec.labels: Forbidden: "kubernetes.io/os": keys under kubernetes.io belong to Kubernetes, use your own domain',
  ],
  [
    { labels: { "node-restriction.kubernetes.io/a": "" } },
    'spec.labels: Forbidden: "node-restriction.kubernetes.io/a": keys under node-restriction.kubernetes.io belong to Kubernetes, use your own domain',
  ],
  [
    { labels: { "k8s.io/a": "" } },
    'spec.labels: Forbidden: "k8s.io/a": keys under k8s.io belong to Kubernetes, use your own domain',
  ],
  [
    { taints: [{ key: "x.k8s.io/a", effect: "NoExecute" }] },
    'spec.taints[0].key: Forbidden: "x.k8s.io/a": keys under x.k8s.io belong to Kubernetes, use your own domain',
  ],
  [
    { labels: { "a b": "" } },
    'spec.labels: Invalid value: "a b": the name of the key must be letters, digits, "-", "_" or ".", a letter or digit at both ends',
  ],
  [{ labels: { "a/": "" } }, 'spec.labels: Invalid value: "a/": the name of the key is empty'],
  [
    { labels: { "a/b/c": "" } },
    'spec.labels: Invalid value: "a/b/c": the name of the key must be letters, digits, "-", "_" or ".", a letter or digit at both ends',
  ],
  [
    { labels: { "/a": "" } },
    'spec.labels: Invalid value: "/a": the text before the slash must be a domain in lower case',
  ],
  [
    { labels: { "Example.dev/a": "" } },
    'spec.labels: Invalid value: "Example.dev/a": the text before the slash must be a domain in lower case',
  ],
  [
    { labels: { [`${"d".repeat(254)}/a`]: "" } },
    `spec.labels: Invalid value: "${"d".repeat(100)}…": the domain of the key has 254 characters, the limit is 253`,
  ],
  [
    { labels: { ["a".repeat(64)]: "" } },
    `spec.labels: Invalid value: "${"a".repeat(64)}": the name of the key has 64 characters, the limit is 63`,
  ],
  [
    { labels: { disk: "very fast" } },
    'spec.labels[disk]: Invalid value: "very fast": it must be letters, digits, "-", "_" or ".", a letter or digit at both ends, or empty',
  ],
  [
    { taints: [{ key: "a", effect: "NoSchedule" }, { key: "b", value: "-", effect: "NoSchedule" }] },
    'spec.taints[1].value: Invalid value: "-": it must be letters, digits, "-", "_" or ".", a letter or digit at both ends, or empty',
  ],
  [
    { taints: [{ key: "a", value: "1", effect: "NoSchedule" }, { key: "a", value: "2", effect: "NoSchedule" }] },
    'spec.taints[1]: Duplicate value: "a:NoSchedule": an earlier taint has the same key and effect',
  ],
  [
    { labels: { "a\u001b[31m": "" } },
    'spec.labels: Invalid value: "a\\u001b[31m": the name of the key must be letters, digits, "-", "_" or ".", a letter or digit at both ends',
  ],
];

for (const [spec, text] of invalidSpecs) {
  test(`[security 22] rejected: ${text}`, () => assertEquals(textsOf(spec), [text]));
}

test("problemsOf() returns all problems", () => {
  const spec = { labels: { "kubernetes.io/a": "b c" }, taints: [{ key: "", effect: "NoSchedule" as const }] };
  const raw = JSON.parse(JSON.stringify({ ...pool({}), spec }));
  assertEquals(problemsOf(raw).map(({ field }) => field), [
    "spec.labels",
    "spec.labels[kubernetes.io/a]",
    "spec.taints[0].key",
  ]);
});

test("problemsOf() is fast for hostile text", () => {
  const text = `${"a".repeat(5_000)}!`;
  assertEquals(
    problemsOf({ ...pool({}), spec: { labels: { [`${text}/${text}`]: text }, taints: [], handler: "runc" } }).length,
    2,
  );
});

test("the handler of a pool with members cannot change", () => {
  const problems = problemsOfChange(pool({ handler: "kata" }, 2), pool({ handler: "runc" }, 2));
  assertEquals(problems.map(textOf), [
    'spec.handler: Forbidden: "kata": it is "runc" and cannot change while the pool has Nodes (2 now)',
  ]);
  assertEquals(problemsOfChange(pool({ handler: "kata" }), pool({ handler: "runc" })), []);
  assertEquals(problemsOfChange(pool({ handler: "runc", labels: { a: "b" } }, 2), pool({ handler: "runc" }, 2)), []);
});

test("a change of the handler is checked against the stored number of members", () => {
  assertEquals(problemsOfChange(pool({ handler: "kata" }, 0), pool({ handler: "runc" }, 2)).length, 1);
});

test("old problems are accepted in a change, so that finalizers can still be added and removed", () => {
  const old = pool({ labels: { "kubernetes.io/a": "" } });
  assertEquals(problemsOfChange(old, old), []);
  const worse = pool({ labels: { "kubernetes.io/a": "", "kubernetes.io/b": "" } });
  assertEquals(problemsOfChange(worse, old).map(({ message }) => message.includes('"kubernetes.io/b"')), [true]);
});

function request(operation: "CREATE" | "UPDATE", object: NodePool, oldObject?: NodePool): AdmissionRequest {
  const kind = { group: "nodes.lailin.xyz", version: "v1", kind: "NodePool" };
  return { uid: "r", kind, name: "gpu", operation, userInfo: {}, object, oldObject, dryRun: false };
}

async function judge(at: number, asked: AdmissionRequest): Promise<AdmissionDecision> {
  const webhook = nodepoolWebhooks[at];
  assert(webhook !== undefined);
  return await webhook.decide(asked, new AbortController().signal);
}

test("the defaulting webhook adds only the label", async () => {
  assertEquals(await judge(0, request("CREATE", pool({}))), {
    kind: "patched",
    operations: [{ op: "add", path: "/spec/labels/node-pool.lailin.xyz~1gpu", value: "" }],
  });
  assertEquals((await judge(0, request("CREATE", pool({ labels: { a: "b" } })))).kind, "allowed");
});

test("the validating webhook denies with the field and the value in its message, and with causes", async () => {
  const verdict = await judge(1, request("CREATE", pool({ labels: { "kubernetes.io/os": "linux" } })));
  assert(verdict.kind === "denied");
  assertStringIncludes(verdict.message, 'NodePool "gpu" is invalid: spec.labels: Forbidden: "kubernetes.io/os"');
  assertEquals(verdict.causes?.map(({ field, reason }) => [field, reason]), [["spec.labels", "FieldValueForbidden"]]);
  const change = await judge(1, request("UPDATE", pool({ handler: "kata" }, 1), pool({}, 1)));
  assert(change.kind === "denied");
  assertStringIncludes(change.message, 'spec.handler: Forbidden: "kata"');
  assertEquals((await judge(1, request("UPDATE", pool({}), pool({})))).kind, "allowed");
});
