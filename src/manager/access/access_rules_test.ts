import { assertEquals, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done, inHub, notCached } from "../../controller/mod.ts";
import { defineResource, z } from "../../schema/mod.ts";
import { type AccessRule, controllerAccess, electionAccess, webhookAccess } from "./access_rules.ts";

const { ConfigMap, Namespace, Node, Pod, Secret } = builtin;

const Site = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Site",
  scope: "Namespaced",
  spec: z.object({ host: z.string().max(63) }),
  status: z.object({ ready: z.boolean().default(false) }),
});

const reconcile = () => Promise.resolve(done);

/** One line per rule: `events.k8s.io events in default: create patch`. */
function lines(rules: readonly AccessRule[]): readonly string[] {
  return rules.map(({ group, resource, namespace, names, verbs }) => {
    const where = namespace === undefined ? "" : ` in ${namespace}`;
    return `${group} ${resource}${where}${names === undefined ? "" : ` ${names}`}: ${verbs.join(" ")}`.trim();
  });
}

test("[security 7] controllerAccess() returns exactly the declared permissions", () => {
  const definition = controller("sites").for(Site).owns(ConfigMap, { deletes: true }).watches(Node, { to: () => [] })
    .watches(Pod, { to: () => [], writes: true }).uses(Pod, ["get", "delete"]).uses(Pod, ["create"], "eviction")
    .finalize(reconcile).reconcile(reconcile);
  assertEquals(lines(controllerAccess(definition)), [
    "example.dev sites: get list watch patch",
    "configmaps: get list watch create patch delete",
    "example.dev sites/finalizers: update",
    "nodes: list watch",
    "pods: get list watch patch delete",
    "example.dev sites/status: patch",
    "pods/eviction: create",
    "events.k8s.io events: create patch",
  ]);
});

test("[security 7] a controller that only reads gets read permissions only", () => {
  const definition = controller("printer", { recordsEvents: false }).for(Pod).reconcile(reconcile);
  assertEquals(lines(controllerAccess(definition)), ["pods: list watch"]);
  const quiet = controller("sites", { recordsEvents: false }).for(Site, { writesStatus: false }).reconcile(reconcile);
  assertEquals(lines(controllerAccess(quiet)), ["example.dev sites: list watch"]);
});

test("[security 7] a controller with dependents can read their owners, which it needs to create a deleted dependent again", () => {
  const definition = controller("sites", { recordsEvents: false }).for(Site, { writesStatus: false }).owns(ConfigMap)
    .reconcile(reconcile);
  assertEquals(lines(controllerAccess(definition)), [
    "example.dev sites: get list watch",
    "configmaps: get list watch create patch",
    "example.dev sites/finalizers: update",
  ]);
});

test("a controller can write the status of a built-in kind only if it declares that", () => {
  const has = (definition: Parameters<typeof controllerAccess>[0]) =>
    lines(controllerAccess(definition)).some((line) => line.includes("/status"));
  assertEquals(has(controller("a").for(Pod).reconcile(reconcile)), false);
  assertEquals(has(controller("a").for(Pod, { writesStatus: true }).reconcile(reconcile)), true);
});

test("Events about cluster-scoped objects are allowed in the namespace `default` only", () => {
  assertEquals(lines(controllerAccess(controller("a").for(Namespace).reconcile(reconcile))), [
    "namespaces: list watch",
    "events.k8s.io events in default: create patch",
  ]);
});

test("a kind that is not cached can be read and is not watched", () => {
  const definition = controller("a", { recordsEvents: false }).for(Pod).uses(notCached(Secret), ["get"])
    .reconcile(reconcile);
  assertEquals(lines(controllerAccess(definition)), ["pods: list watch", "secrets: get"]);
});

test("[security 7] access to objects with known names is limited to these names", () => {
  assertEquals(lines(electionAccess("op")), [
    "coordination.k8s.io leases: create",
    "coordination.k8s.io leases op: get update",
    "events.k8s.io events: create",
  ]);
  const targets = [{ kind: "mutating", name: "op" }, { kind: "converting", name: "sites.example.dev" }] as const;
  assertEquals(lines(webhookAccess({ targets, secret: "op-webhook" })), [
    "secrets op-webhook: get update",
    "admissionregistration.k8s.io mutatingwebhookconfigurations op: get patch",
    "apiextensions.k8s.io customresourcedefinitions sites.example.dev: get patch",
  ]);
  assertEquals(webhookAccess({ targets }), [], "certificates from elsewhere are not published");
});

test("[security 7] in a fleet, the hub grants only what is read and declared there, and the members the rest", () => {
  const definition = controller("sites", { recordsEvents: false }).for(Site).owns(ConfigMap)
    .watches(inHub(Secret), { to: () => [] }).uses(inHub(Site), ["patch"], "status").reconcile(reconcile);
  assertEquals(lines(controllerAccess(definition, "hub")), ["secrets: list watch", "example.dev sites/status: patch"]);
  assertEquals(lines(controllerAccess(definition, "members")), [
    "example.dev sites: get list watch",
    "configmaps: get list watch create patch",
    "example.dev sites/finalizers: update",
    "example.dev sites/status: patch",
  ]);
  const counter = controller("counter", { runsIn: "hub", recordsEvents: false }).for(Pod).reconcile(reconcile);
  assertEquals([lines(controllerAccess(counter, "hub")), controllerAccess(counter, "members")], [
    ["pods: list watch"],
    [],
  ]);
});
