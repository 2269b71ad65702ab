import { assertEquals, test } from "../../../tests/testing.ts";
import {
  AccessCheck,
  type AccessQuestion,
  authorizerType,
  CelEnvironment,
  dynType,
  jsonValueOf,
  resourceCheckType,
  type Value,
} from "./mod.ts";

const asked: AccessQuestion[] = [];
const answer = (question: AccessQuestion) => {
  asked.push(question);
  return { isAllowed: question.verb === "get", reason: `asked for ${question.verb}` };
};

function run(source: string): Value | string {
  asked.length = 0;
  const environment = new CelEnvironment(
    new Map([["authorizer", authorizerType], ["authorizer.requestResource", resourceCheckType], ["object", dynType]]),
  );
  const compiled = environment.compile(source);
  if (compiled.kind === "failed") return compiled.message;
  const about = { group: "apps", resource: "deployments", subresource: "", namespace: "x", name: "web" };
  const outcome = compiled.program.run([
    AccessCheck.authorizer(answer),
    AccessCheck.resource(answer, about),
    jsonValueOf({ metadata: { name: "web" } }),
  ]);
  return outcome.kind === "value" ? outcome.value : outcome.kind === "error" ? outcome.message : "exceeded";
}

test("an access check is built step by step", () => {
  const source = "authorizer.group('apps').resource('deployments').subresource('scale').namespace('x')" +
    ".name(object.metadata.name).check('get').allowed()";
  assertEquals(run(source), true);
  const [question] = asked;
  assertEquals([question?.group, question?.resource, question?.subresource], ["apps", "deployments", "scale"]);
  assertEquals([question?.namespace, question?.name, question?.verb], ["x", "web", "get"]);
});

test("a check can be about a path, and for a service account", () => {
  assertEquals(run("authorizer.serviceAccount('ns', 'sa').path('/healthz').check('post').allowed()"), false);
  assertEquals(asked[0]?.serviceAccount, { namespace: "ns", name: "sa" });
  assertEquals(asked[0]?.path, "/healthz");
});

test("authorizer.requestResource is a separate variable", () => {
  assertEquals(run("authorizer.requestResource.check('delete').reason()"), "asked for delete");
  assertEquals(asked[0]?.name, "web");
});

test("three checks exceed the cost limit of one expression", () => {
  const one = "authorizer.requestResource.check('get').allowed()";
  assertEquals(run(`${one} && ${one}`), true);
  assertEquals(run(`${one} && ${one} && ${one}`), "exceeded");
});

test("steps in the wrong order do not compile", () => {
  const message = run("authorizer.resource('pods').check('get').allowed()");
  assertEquals(String(message).includes("found no matching overload for 'resource'"), true);
});
