import { assertEquals, test } from "../../../tests/testing.ts";
import {
  type AccessAttributes,
  AccessCheck,
  authorizerType,
  CelEnvironment,
  dynType,
  jsonValueOf,
  resourceCheckType,
  type Value,
} from "./mod.ts";

const asked: AccessAttributes[] = [];
const decide = (attributes: AccessAttributes) => {
  asked.push(attributes);
  return { isAllowed: attributes.verb === "get", reason: `asked for ${attributes.verb}` };
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
    AccessCheck.authorizer(decide),
    AccessCheck.resource(decide, about),
    jsonValueOf({ metadata: { name: "web" } }),
  ]);
  return outcome.kind === "value" ? outcome.value : outcome.kind === "error" ? outcome.message : "exceeded";
}

test("an access check is built step by step", () => {
  const source = "authorizer.group('apps').resource('deployments').subresource('scale').namespace('x')" +
    ".name(object.metadata.name).check('get').allowed()";
  assertEquals(run(source), true);
  const [attributes] = asked;
  assertEquals([attributes?.group, attributes?.resource, attributes?.subresource], ["apps", "deployments", "scale"]);
  assertEquals([attributes?.namespace, attributes?.name, attributes?.verb], ["x", "web", "get"]);
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
