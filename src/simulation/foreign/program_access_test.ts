/** Tests which denied requests are violations, and which rule they say. */
import type { RequestInfo } from "../../manager/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { ProgramAccess } from "./program_access.ts";

const config: RequestInfo = { verb: "create", group: "", resource: "configmaps", namespace: "default" };

test("requests that one rule would allow are one violation, with that rule", async () => {
  const access = new ProgramAccess(() => Promise.resolve(false));
  await access.noteForbidden({ ...config, verb: "patch", name: "a" });
  await access.noteForbidden(config);
  await access.noteForbidden(config);
  await access.noteForbidden({ verb: "update", group: "apps", resource: "deployments/status", name: "a" });
  assertEquals(access.violations().map(({ invariant, message }) => [invariant, message]), [
    [
      "declared-access",
      "the program may not create, patch configmaps in the namespace default: its rules lack " +
      '{"apiGroups":[""],"resources":["configmaps"],"verbs":["create","patch"]}',
    ],
    [
      "declared-access",
      "the program may not update deployments/status of apps: its rules lack " +
      '{"apiGroups":["apps"],"resources":["deployments/status"],"verbs":["update"]}',
    ],
  ]);
});

test("a 403 that the rules do not explain is no violation, and the rules are asked for the subresource", async () => {
  const asked: object[] = [];
  const access = new ProgramAccess((attributes) => Promise.resolve(asked.push(attributes) > 0));
  await access.noteForbidden({ ...config, verb: "create", resource: "pods/exec", name: "a" });
  await access.noteForbidden(undefined);
  assertEquals(access.violations(), []);
  assertEquals(asked, [{
    ...{ verb: "create", group: "", resource: "pods", subresource: "exec", namespace: "default", name: "a" },
  }]);
});
