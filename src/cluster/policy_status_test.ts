import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const policy = (expression: string) => ({
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] }],
    },
    validations: [{ expression }],
  },
});

test("the status of a policy names the expressions that do not fit the schema", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(builtin.ValidatingAdmissionPolicy, "a", policy("object.spec.foo == 1"));
  await cluster.create(builtin.ValidatingAdmissionPolicy, "b", policy("object.spec.replicas == 1"));
  await cluster.settled();
  const statusOf = (name: string) => cluster.find(builtin.ValidatingAdmissionPolicy, name)?.status;
  assertEquals(statusOf("a")?.observedGeneration, 1);
  const [warning, ...others] = statusOf("a")?.typeChecking?.expressionWarnings ?? [];
  assertEquals([warning?.fieldRef, others], ["spec.validations[0].expression", []]);
  assertEquals(JSON.stringify(statusOf("b")), '{"observedGeneration":1,"typeChecking":{}}');
});
