import { assertEquals, test } from "../../../tests/testing.ts";
import { builtin, type Resource } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../../controller/mod.ts";
import { defineResource, z } from "../../schema/mod.ts";
import { controllerGrants } from "./access_grants.ts";
import { undeclaredReason } from "./missing_declaration.ts";

const { ConfigMap, Event, Namespace, Node, Pod, Secret } = builtin;

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string().max(63) }),
  status: z.object({ ready: z.boolean().default(false) }),
});

const reconcile = () => Promise.resolve(done);
const sites = controller("sites").for(Site, { writesStatus: false }).owns(ConfigMap).watches(Node, { to: () => [] })
  .reconcile(reconcile);
const quiet = controller("quiet", { recordsEvents: false }).for(Pod).reconcile(reconcile);
const local = controller("local", { namespace: "a" }).for(Pod).reconcile(reconcile);
const spaces = controller("spaces").for(Namespace).reconcile(reconcile);

/** `create pods/eviction` of a resource, in a namespace. */
function reason(definition: ControllerDefinition, verb: string, { group, plural }: Resource, more: object = {}) {
  const denied = { verb, group, resource: plural, subresource: "", namespace: "shop", name: "", path: "" };
  return undeclaredReason(definition, controllerGrants(definition), { isResourceRequest: true, ...denied, ...more });
}

const cases: readonly (readonly [reason: string, expected: string])[] = [
  [reason(sites, "delete", ConfigMap), "delete on configmaps. Declare .owns(ConfigMap, { deletes: true })"],
  [reason(sites, "update", ConfigMap), 'update on configmaps. Declare .uses(ConfigMap, ["update"])'],
  [reason(sites, "patch", Node), "patch on nodes. Declare .watches(Node, { ..., writes: true })"],
  [reason(sites, "delete", Node), 'delete on nodes. Declare .uses(Node, ["delete"])'],
  [
    reason(sites, "patch", Site, { subresource: "status" }),
    "patch on sites/status. Declare .for(Site, { writesStatus: true })",
  ],
  [
    reason(sites, "create", Pod, { subresource: "eviction" }),
    'create on pods/eviction. Declare .uses(Pod, ["create"], "eviction")',
  ],
  [reason(sites, "list", Secret), 'list on secrets. Declare .uses(Secret, ["list"])'],
];

for (const [actual, expected] of cases) {
  test(`the reason of a denial names the declaration: ${expected}`, () => {
    assertEquals(actual, `controller "sites" did not declare ${expected}`);
  });
}

test("the reason of a denial names the option of Events, an unknown kind, and the limits of declarations", () => {
  assertEquals(
    reason(quiet, "create", Event),
    'controller "quiet" did not declare create on events. Declare the option recordsEvents: true',
  );
  const widgets = { group: "x.dev", plural: "widgets" } as Resource;
  assertEquals(
    reason(quiet, "get", widgets, { kind: "Widget" }),
    'controller "quiet" did not declare get on widgets. Declare .uses(Widget, ["get"])',
  );
  assertEquals(
    reason(quiet, "impersonate", Node),
    'controller "quiet" may not impersonate nodes. Declare it with .impersonates({ ... })',
  );
  assertEquals(
    reason(quiet, "get", Node, { isResourceRequest: false, path: "/metrics" }),
    'controller "quiet" may not get the path /metrics, and no declaration allows that',
  );
});

test("a request in another namespace is told from an undeclared one", () => {
  assertEquals(reason(local, "list", Pod), 'controller "local" may list pods in the namespace "a" only');
  assertEquals(
    reason(spaces, "create", Event),
    'controller "spaces" may create events in the namespace "default" only. Declare .uses(Event, ["create"])',
  );
});
