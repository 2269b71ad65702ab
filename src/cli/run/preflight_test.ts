import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import { connectionTo, emptyList, podController, websiteController } from "../testing/test_kinds.ts";
import { failed, FakeServer } from "../testing/fake_server.ts";
import { exitCode } from "../command/exit_code.ts";
import { preflight, type PreflightFailure } from "./preflight.ts";

const { signal } = new AbortController();
const operatorName = "controller";
const served = { kind: "APIResourceList", resources: [{ name: "websites" }, { name: "websites/status" }] };

function look(
  server: FakeServer,
  controllers: readonly ControllerDefinition[],
  namespaces: readonly string[] = [],
): Promise<readonly PreflightFailure[]> {
  return preflight(connectionTo(server.transport), { controllers, namespaces, operatorName, signal });
}

test("preflight() lists one object of every watched kind and finds nothing wrong", async () => {
  const server = new FakeServer({
    "GET /apis/example.dev/v1/websites": emptyList,
    "GET /api/v1/configmaps": emptyList,
  });
  assertEquals(await look(server, [websiteController]), []);
  assertEquals(server.requests, ["GET /apis/example.dev/v1/websites?limit=1", "GET /api/v1/configmaps?limit=1"]);
});

test("preflight() looks into the namespaces it is for, and no further", async () => {
  const server = new FakeServer({
    "GET /apis/example.dev/v1/namespaces": emptyList,
    "GET /api/v1/namespaces": emptyList,
  });
  assertEquals(await look(server, [websiteController], ["a", "b"]), []);
  assertEquals(server.requests, [
    "GET /apis/example.dev/v1/namespaces/a/websites?limit=1",
    "GET /apis/example.dev/v1/namespaces/b/websites?limit=1",
    "GET /api/v1/namespaces/a/configmaps?limit=1",
    "GET /api/v1/namespaces/b/configmaps?limit=1",
  ]);
});

test("[84] a missing CRD is exit code 6 and names the command that installs it", async () => {
  const [obstacle] = await look(new FakeServer({}), [websiteController]);
  assertEquals(obstacle?.error.code, exitCode.crdMissing);
  assertEquals(
    obstacle?.error.message,
    'Cannot run controller "website": the CustomResourceDefinition websites.example.dev is not installed',
  );
  assertEquals(obstacle?.error.advice, "Run: controller install-crds website");
});

test("a missing kind of Kubernetes itself is not blamed on a CRD", async () => {
  const [obstacle] = await look(new FakeServer({}), [podController]);
  assertEquals(obstacle?.error.message, 'Cannot run controller "pods": the server does not know pods in v1');
});

test("[84] a missing permission is exit code 4 and names user, verb, resource and the rule", async () => {
  const message =
    'websites.example.dev is forbidden: User "bob" cannot list resource "websites" in API group "example.dev"';
  const server = new FakeServer({
    "GET /apis/example.dev/v1/namespaces/a/websites": () => failed(403, "Forbidden", message),
    "GET /apis/example.dev/v1": served,
  });
  const [obstacle] = await look(server, [websiteController], ["a"]);
  assertEquals(obstacle?.error.code, exitCode.permission);
  assertEquals(
    obstacle?.error.message,
    'Cannot run controller "website": list websites.example.dev in namespace "a" is forbidden for user "bob"',
  );
  assertEquals(
    obstacle?.error.advice,
    'Give the user a Role in a with: apiGroups: ["example.dev"], resources: ["websites"], verbs: ["get", "list", "watch"]',
  );
});

test("[84] what is forbidden because it does not exist is a missing CRD, not a missing permission", async () => {
  const forbidden = () => failed(403, "Forbidden", "no");
  const server = new FakeServer({ "GET /apis/example.dev/v1/websites": forbidden });
  const [obstacle] = await look(server, [websiteController]);
  assertEquals(obstacle?.error.code, exitCode.crdMissing);
});

test("one obstacle per controller, the first one, and none for those that can run", async () => {
  const server = new FakeServer({ "GET /api/v1/pods": emptyList });
  const failures = await look(server, [websiteController, podController]);
  assertEquals(failures.map(({ controller }) => controller.name), ["website"]);
});

test("what says nothing about one controller is thrown", async () => {
  const server = new FakeServer({ "GET /apis": () => failed(500, "InternalError", "etcd is gone") });
  const error = await assertRejects(() => look(server, [websiteController]));
  assert(error.message.includes("etcd is gone"));
});
