import { assertEquals, test } from "../../tests/testing.ts";
import { findSubject, type SubjectWords } from "./subject.ts";
import type { KnownController } from "./history.ts";
import { controllers, Story, web } from "./testing/story.ts";

const policies = {
  resource: "policies.example.dev",
  kind: "Policy",
  singular: "policy",
  shortNames: ["pol"],
  isClusterScoped: true,
};
const known: readonly KnownController[] = [...controllers, { name: "policy", primary: policies, watched: [] }];

/** The object as `resource key`, or the problem. */
function found(words: SubjectWords, story = new Story()): string {
  const answer = findSubject(words, story.entries, known);
  return answer.kind === "found"
    ? `${answer.subject.resource} ${answer.subject.key}`
    : `${answer.problem}. ${answer.advice}`;
}

test("findSubject() takes a kind as kubectl does: plural, singular, short name, kind, with its group and version", () => {
  const words = [
    "deployments",
    "deployment",
    "Deployment",
    "deploy",
    "deployments.apps",
    "Deployment.apps",
    "deployments.v1.apps",
  ];
  for (const kind of words) assertEquals(found({ kind, name: "a/web" }), "deployments.apps a/web", kind);
  for (const kind of ["pol", "policies", "policy.example.dev"]) {
    assertEquals(found({ kind, name: "all", namespace: "x" }), "policies.example.dev all", kind);
  }
});

test("findSubject() takes the namespace of the flag, of the only such object in the recording, or default", () => {
  const story = new Story();
  story.scaled({ ...web, key: "shop/web" });
  assertEquals(found({ kind: "deploy", name: "web", namespace: "a" }, story), "deployments.apps a/web");
  assertEquals(found({ kind: "deploy", name: "web" }, story), "deployments.apps shop/web");
  story.scaled({ ...web, key: "blog/web" });
  assertEquals(found({ kind: "deploy", name: "web" }, story), "deployments.apps default/web");
});

test("findSubject() knows kinds that only the recording has, and refuses a kind that is unknown or not unique", () => {
  const story = new Story();
  story.scaled({ resource: "deployments.example.dev", kind: "Deployment", key: "a/b" });
  assertEquals(
    found({ kind: "deployment", name: "a" }, story),
    "the kind is not unique. Name one of deployments.example.dev and deployments.apps",
  );
  assertEquals(found({ kind: "deploy", name: "a" }, story), "deployments.apps default/a");
  assertEquals(
    found({ kind: "secrets", name: "a" }),
    "neither a controller nor the recording knows the kind. " +
      "Known are deployments.apps, foos.samplecontroller.k8s.io and policies.example.dev",
  );
  assertEquals(
    found({ kind: "deploy", name: "a/b/c" }),
    "the name has more than one slash, or an empty part. Write NAMESPACE/NAME",
  );
});
