import { assertEquals, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { checkPolicyTypes } from "./mod.ts";

const gadgets: JsonObject = {
  metadata: { name: "gadgets.example.com" },
  spec: {
    group: "example.com",
    versions: [{
      name: "v1",
      served: true,
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: { spec: { type: "object", properties: { size: { type: "integer" } } } },
        },
      },
    }],
  },
  status: {
    acceptedNames: { plural: "gadgets", singular: "gadget", kind: "Gadget" },
    conditions: [{ type: "Established", status: "True" }],
  },
};

function warnings(expression: string, [group, resource]: readonly [string, string], spec: JsonObject = {}) {
  const rule = { apiGroups: [group], apiVersions: ["v1"], resources: [resource] };
  const policy = { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }], ...spec } };
  return checkPolicyTypes(policy, [gadgets]).map(({ warning }) => warning.split("\n")[0]);
}

const cases:
  readonly (readonly [what: string, expression: string, resource: readonly [string, string], JsonObject, string?])[] = [
    ["a right field", "object.spec.replicas > 1", ["apps", "deployments"], {}],
    [
      "an unknown field",
      "object.spec.foo > 1",
      ["apps", "deployments"],
      {},
      "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'foo'",
    ],
    [
      "an unknown field of a custom resource",
      "object.spec.foo > 1",
      ["example.com", "gadgets"],
      {},
      "example.com/v1, Kind=Gadget: ERROR: <input>:1:12: undefined field 'foo'",
    ],
    [
      "a param of the wrong type",
      "params.data['a'] == 1",
      ["apps", "deployments"],
      { paramKind: { apiVersion: "v1", kind: "ConfigMap" } },
      "apps/v1, Kind=Deployment: ERROR: <input>:1:18: found no matching overload for '_==_' applied to '(string, int)'",
    ],
    ["a wildcard", "object.foo > 1", ["*", "deployments"], {}],
    ["a resource that does not exist", "object.foo > 1", ["apps", "ghosts"], {}],
  ];

for (const [what, expression, resource, spec, expected] of cases) {
  test(`checkPolicyTypes() ${expected === undefined ? "accepts" : "warns about"} ${what}`, () => {
    assertEquals(warnings(expression, resource, spec), expected === undefined ? [] : [expected]);
  });
}
