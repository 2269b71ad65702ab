import { assert, assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { Client } from "../client/mod.ts";
import { Website } from "./_fake_kinds.ts";
import { failed, FakeServer } from "./_fake_server.ts";
import { applyCrd } from "./apply_crd.ts";
import { CommandError } from "./command_error.ts";
import { exitCode } from "./exit_code.ts";

const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.example.dev";
const { signal } = new AbortController();
const options = { fieldManager: "controller-install-crds", isDryRun: false, signal };
const { crd } = Website;

/** What a server stores: what was applied, and its own bookkeeping. */
function stored(changes: object = {}): object {
  const metadata = { ...crd.metadata, uid: "u", resourceVersion: "9", managedFields: [{ manager: "x" }] };
  return { ...crd, metadata, status: { storedVersions: ["v1"] }, ...changes };
}

test("applyCrd() creates a definition that is not there, forcing its fields, as its own field manager", async () => {
  const server = new FakeServer({ [`PATCH ${path}`]: () => Response.json(stored(), { status: 201 }) });
  const result = await applyCrd(new Client(server.transport), crd, options);
  assertEquals(result.change, "created");
  assertEquals(result.name, "customresourcedefinition.apiextensions.k8s.io/websites.example.dev");
  assertEquals(server.requests[0], `GET ${path}`);
  assert(server.requests[1]?.includes("fieldManager=controller-install-crds"));
  assert(server.requests[1]?.includes("force=true") && !server.requests[1].includes("dryRun"));
  assertEquals(JSON.stringify(result.object).includes("managedFields"), false);
});

test("[85] applying what is there already is unchanged, whatever the server's bookkeeping says", async () => {
  const before = stored({ metadata: { ...crd.metadata, resourceVersion: "8" } });
  const server = new FakeServer({ [`GET ${path}`]: before, [`PATCH ${path}`]: stored() });
  assertEquals((await applyCrd(new Client(server.transport), crd, options)).change, "unchanged");
});

test("[85] an older definition is configured", async () => {
  const before = stored({ spec: { ...crd.spec, versions: [] } });
  const server = new FakeServer({ [`GET ${path}`]: before, [`PATCH ${path}`]: stored() });
  assertEquals((await applyCrd(new Client(server.transport), crd, options)).change, "configured");
});

test("[85] a dry run says so to the server", async () => {
  const server = new FakeServer({ [`PATCH ${path}`]: stored() });
  await applyCrd(new Client(server.transport), crd, { ...options, isDryRun: true });
  assert(server.requests[1]?.includes("dryRun=All"));
});

test("[85] a conflict is retried, five times at most", async () => {
  const conflict = () => failed(409, "Conflict", "the object has been modified");
  const twice = new FakeServer({
    [`PATCH ${path}`]: (_request, count) => count <= 2 ? conflict() : Response.json(stored()),
  });
  assertEquals((await applyCrd(new Client(twice.transport), crd, options)).change, "created");
  const always = new FakeServer({ [`PATCH ${path}`]: conflict });
  await assertRejects(() => applyCrd(new Client(always.transport), crd, options), /has been modified/);
  assertEquals(always.requests.filter((line) => line.startsWith("PATCH")).length, 5);
});

test("[84] a missing permission says which rule is needed, and the way around", async () => {
  const server = new FakeServer({ [`GET ${path}`]: () => failed(403, "Forbidden", 'User "bob" cannot get') });
  const error = await assertRejects(
    () => applyCrd(new Client(server.transport), crd, options),
    /User "bob" cannot get/,
  );
  assert(error instanceof CommandError && error.code === exitCode.permission);
  assert(error.advice?.includes('verbs: ["get", "create", "patch"]'));
});
