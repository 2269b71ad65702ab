import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import { connectionTo, emptyList, podController, websiteController } from "../testing/test_kinds.ts";
import { FakeServer, statusResponse } from "../testing/fake_server.ts";
import { exitCode } from "../command/exit_code.ts";
import { preflight, type PreflightFailure } from "./preflight.ts";

const { signal } = new AbortController();
const operatorName = "controller";
const served = { kind: "APIResourceList", resources: [{ name: "websites" }, { name: "websites/status" }] };

function check(
  server: FakeServer,
  controllers: readonly ControllerDefinition[],
  namespaces: readonly string[] = [],
): Promise<readonly PreflightFailure[]> {
  return preflight(connectionTo(server.transport), { controllers, namespaces, operatorName, signal });
}

test("preflight() lists one object of every watched kind", async () => {
  const server = new FakeServer({
    "GET /apis/example.dev/v1/websites": emptyList,
    "GET /api/v1/configmaps": emptyList,
  });
  assertEquals(await check(server, [websiteController]), []);
  assertEquals(server.requests, ["GET /apis/example.dev/v1/websites?limit=1", "GET /api/v1/configmaps?limit=1"]);
});

test("preflight() lists only in the given namespaces", async () => {
  const server = new FakeServer({
    "GET /apis/example.dev/v1/namespaces": emptyList,
    "GET /api/v1/namespaces": emptyList,
  });
  assertEquals(await check(server, [websiteController], ["a", "b"]), []);
  assertEquals(server.requests, [
    "GET /apis/example.dev/v1/namespaces/a/websites?limit=1",
    "GET /apis/example.dev/v1/namespaces/b/websites?limit=1",
    "GET /api/v1/namespaces/a/configmaps?limit=1",
    "GET /api/v1/namespaces/b/configmaps?limit=1",
  ]);
});

test("[84] a missing CRD is exit code 6 and names the command that installs it", async () => {
  const [failure] = await check(new FakeServer({}), [websiteController]);
  assertEquals(failure?.error.code, exitCode.crdMissing);
  assertEquals(
    failure?.error.message,
    'Cannot run controller "website": the CustomResourceDefinition websites.example.dev is not installed',
  );
  assertEquals(failure?.error.advice, "Run: controller install-crds website");
});

test("the error for a missing built-in kind names no CRD", async () => {
  const [failure] = await check(new FakeServer({}), [podController]);
  assertEquals(failure?.error.message, 'Cannot run controller "pods": the server does not know pods in v1');
});

test("[84] a missing permission is exit code 4 and names user, verb, resource and the rule", async () => {
  const message =
    'websites.example.dev is forbidden: User "bob" cannot list resource "websites" in API group "example.dev"';
  const server = new FakeServer({
    "GET /apis/example.dev/v1/namespaces/a/websites": () => statusResponse(403, "Forbidden", message),
    "GET /apis/example.dev/v1": served,
  });
  const [failure] = await check(server, [websiteController], ["a"]);
  assertEquals(failure?.error.code, exitCode.permission);
  assertEquals(
    failure?.error.message,
    'Cannot run controller "website": list websites.example.dev in namespace "a" is forbidden for user "bob"',
  );
  assertEquals(
    failure?.error.advice,
    'Give the user a Role in a with: apiGroups: ["example.dev"], resources: ["websites"], verbs: ["get", "list", "watch"]',
  );
});

test("[84] a forbidden kind that does not exist is a missing CRD, not a missing permission", async () => {
  const forbidden = () => statusResponse(403, "Forbidden", "no");
  const server = new FakeServer({ "GET /apis/example.dev/v1/websites": forbidden });
  const [failure] = await check(server, [websiteController]);
  assertEquals(failure?.error.code, exitCode.crdMissing);
});

test("preflight() returns the first failure of each controller, and none for those that can run", async () => {
  const server = new FakeServer({ "GET /api/v1/pods": emptyList });
  const failures = await check(server, [websiteController, podController]);
  assertEquals(failures.map(({ controller }) => controller.name), ["website"]);
});

test("preflight() throws an error that concerns no single controller", async () => {
  const server = new FakeServer({ "GET /apis": () => statusResponse(500, "InternalError", "etcd is gone") });
  const error = await assertRejects(() => check(server, [websiteController]));
  assert(error.message.includes("etcd is gone"));
});
