/**
 * For the RBAC tests: gives a ServiceAccount exactly the permissions of `manifests`, runs the binary with its token, and
 * compares its requests with the permissions. The mapping from a request to RBAC attributes is written a second time
 * here, from the API server's rules (k8s.io/apiserver/pkg/endpoints/request), and does not use the code under test.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { assertEquals } from "../testing.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { Binary, runBinary } from "./_binary.ts";
import type { SeenRequest } from "./_proxy.ts";

/** A rule of a Role. */
export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** An object that `manifests` prints. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[];
}

/** `create deployments.apps`, `patch foos/status.samplecontroller.k8s.io`. */
export type Right = string;

/** The output of `manifests` for these arguments. */
export async function manifestsFor(args: readonly string[]): Promise<readonly Manifest[]> {
  const { code, stdout, stderr } = await runBinary(["manifests", ...args, "-o", "json"]);
  assertEquals([code, stderr], [0, ""]);
  return (JSON.parse(stdout) as { readonly items: readonly Manifest[] }).items;
}

/** The RBAC objects and their namespaces. */
export function isAccess({ kind }: Manifest): boolean {
  return kind === "Namespace" || kind === "ServiceAccount" || kind.endsWith("Role") || kind.endsWith("RoleBinding");
}

/** Creates the objects in a cluster, and returns a kubeconfig of the ServiceAccount. */
export async function grant(
  controlPlane: ControlPlane,
  objects: readonly Manifest[],
  baseKubeconfig: string,
): Promise<string> {
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  await controlPlane.kubectlOutput(["apply", "-f", "-"], { stdin });
  const account = objects.find(({ kind }) => kind === "ServiceAccount")?.metadata;
  if (account === undefined) throw new Error("Cannot grant anything: there is no ServiceAccount");
  const { name, namespace = "" } = account;
  const token = (await controlPlane.kubectlOutput(["create", "token", name, "--namespace", namespace])).trim();
  const text = readFileSync(baseKubeconfig, "utf8").replaceAll(controlPlane.token, token);
  const path = join(controlPlane.dir, "kubeconfig", randomUUID());
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

/** Everything that the rules allow: one permission for each verb on each resource. */
export function rightsOf(objects: readonly Manifest[]): ReadonlySet<Right> {
  const rights = objects.flatMap(({ rules = [] }) => rules).flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => rightOf(verb, group, resource))))
  );
  return new Set(rights);
}

/** The objects without one permission. */
export function without(objects: readonly Manifest[], right: Right): readonly Manifest[] {
  return objects.map((object) => ({
    ...object,
    ...(object.rules === undefined ? {} : {
      rules: object.rules.flatMap((rule) =>
        (rule.apiGroups ?? []).flatMap((group) =>
          (rule.resources ?? []).map((resource) => ({
            ...rule,
            apiGroups: [group],
            resources: [resource],
            verbs: rule.verbs.filter((verb) => rightOf(verb, group, resource) !== right),
          }))
        )
      ).filter(({ verbs }) => verbs.length > 0),
    }),
  }));
}

function rightOf(verb: string, group: string, resource: string): Right {
  return `${verb} ${resource}${group === "" ? "" : `.${group}`}`;
}

/** Requests that every authenticated user may send: `system:discovery`, `system:basic-user`. */
function isFree(path: readonly string[]): boolean {
  const [root, group] = path;
  return root === "version" || (root === "apis" ? path.length <= 3 : path.length <= 2) ||
    (group === "authorization.k8s.io" && path.includes("selfsubjectaccessreviews"));
}

/** The permissions that a request needs. */
export function rightsTaken(request: SeenRequest): readonly Right[] {
  const url = new URL(request.path, "https://server");
  const path = url.pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
  if (isFree(path)) return [];
  const group = path[0] === "apis" ? path[1] ?? "" : "";
  const rest = path.slice(path[0] === "apis" ? 3 : 2);
  const inside = rest[0] === "namespaces" && rest.length > 2 ? rest.slice(2) : rest;
  const [plural = "", name, subresource] = inside;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const right = rightOf(verbOf(request.method, name, url.searchParams), group, resource);
  const isCreated = request.method === "PATCH" && request.response?.status === 201;
  return [right, ...(isCreated ? [rightOf("create", group, resource), ...ownersIn(request.body)] : [])];
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): string {
  switch (method) {
    case "GET":
      if (name !== undefined) return "get";
      return query.get("watch") === "true" ? "watch" : "list";
    case "DELETE":
      return name === undefined ? "deletecollection" : "delete";
    default:
      return { POST: "create", PUT: "update", PATCH: "patch" }[method] ?? method;
  }
}

/** The permission that OwnerReferencesPermissionEnforcement requires for a dependent with blockOwnerDeletion. */
function ownersIn(body: string): readonly Right[] {
  const { metadata } = JSON.parse(body) as {
    readonly metadata: {
      readonly ownerReferences?: readonly {
        readonly apiVersion: string;
        readonly kind: string;
        readonly blockOwnerDeletion?: boolean;
      }[];
    };
  };
  return (metadata.ownerReferences ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion).map((owner) => {
    const [group = "", version] = owner.apiVersion.split("/");
    return rightOf("update", version === undefined ? "" : group, `${owner.kind.toLowerCase()}s/finalizers`);
  });
}

/** For a test that waits until a leader has lost its Lease. */
export const shortLease = ["--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s"] as const;
/** For all others: a busy machine must not end a leader. */
const longLease = ["--leader-election-lease-duration=120s", "--leader-election-renew-deadline=90s"] as const;

/** Runs controllers as a user, with leader election in their namespace. @param flags may begin with shortLease */
export function runAs(kubeconfig: string, names: readonly string[], objects: readonly Manifest[], ...flags: string[]) {
  const account = objects.find(({ kind }) => kind === "ServiceAccount")?.metadata;
  const election = [
    "--leader-elect",
    `--leader-election-id=${account?.name}`,
    `--leader-election-namespace=${account?.namespace}`,
    ...(flags.includes(shortLease[0]) ? [] : longLease),
    "--leader-election-retry-period=500ms",
  ];
  return new Binary(["run", ...names, ...election, ...flags], { kubeconfig });
}
