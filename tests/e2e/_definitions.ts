/**
 * A CRD of one of the binary's kinds as another release would have it, its objects, and their stored versions in etcd, for
 * the tests of install-crds and uninstall-crds. All with kubectl, as a user would.
 */
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { runBinary } from "./_binary.ts";

/** EcsBinding: cluster-scoped, and no other test uses it at the same time. */
export const ecsb = "ecsbinding.hopegi.com";

/** The name of the CRD in results. */
export const ecsbLine = `customresourcedefinition.apiextensions.k8s.io/${ecsb}`;

/** The part of a CRD that these tests change. */
export interface Definition {
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly generation?: number;
  };
  readonly spec: { readonly versions: readonly DefinitionVersion[] };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

/** One version of it. */
export interface DefinitionVersion {
  readonly name: string;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly schema: { readonly openAPIV3Schema: object };
}

/** Removes the definition with all its objects. */
export async function removeDefinition(controlPlane: ControlPlane): Promise<void> {
  await controlPlane.kubectlOutput(["delete", "crd", ecsb, "--ignore-not-found", "--wait"]);
}

/** The CRD that this binary would install. */
export async function ownDefinition(): Promise<Definition> {
  const { stdout } = await runBinary(["install-crds", "ecsbinding", "--dry-run=client", "-o", "json"]);
  return JSON.parse(stdout);
}

/** Creates another CRD than the binary's. */
export async function installOther(controlPlane: ControlPlane, change: (own: Definition) => object): Promise<void> {
  await removeDefinition(controlPlane);
  const stdin = JSON.stringify(change(await ownDefinition()));
  await controlPlane.kubectlOutput(["apply", "--server-side", "--filename=-"], { stdin });
  await controlPlane.kubectlOutput(["wait", "--for=condition=Established", `crd/${ecsb}`, "--timeout=300s"]);
}

/** Changes the only version of a CRD; its schema as text. */
export function otherVersion(
  own: Definition,
  change: { readonly name?: string; readonly deprecated?: boolean; readonly schema?: (text: string) => string },
): Definition {
  const { schema = (text) => text, ...rest } = change;
  const versions = own.spec.versions.map((version) => ({
    ...version,
    ...rest,
    schema: JSON.parse(schema(JSON.stringify(version.schema))),
  }));
  return { ...own, spec: { ...own.spec, versions } };
}

/** Creates objects. @param version a served version of the kind */
export async function makeObjects(
  controlPlane: ControlPlane,
  version: string,
  specs: Readonly<Record<string, object>>,
): Promise<void> {
  const items = Object.entries(specs).map(([name, spec]) => ({
    apiVersion: `hopegi.com/${version}`,
    kind: "EcsBinding",
    metadata: { name },
    spec,
  }));
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await until("make the objects", async () => {
    const { code, stderr } = await controlPlane.kubectl(["apply", "--filename=-"], { stdin: list });
    return code === 0 ? { kind: "found", value: undefined } : { kind: "pending", state: stderr };
  });
}

/** The present CRD. */
export async function definitionOf(controlPlane: ControlPlane): Promise<Definition> {
  return JSON.parse(await controlPlane.kubectlOutput(["get", "crd", ecsb, "--output=json"]));
}

/** The apiVersion in which etcd stores each object of the kind, by name. */
export async function storedIn(controlPlane: ControlPlane): Promise<Readonly<Record<string, string>>> {
  const port = /"address":"127\.0\.0\.1:(\d+)"|http:\/\/127\.0\.0\.1:(\d+)/.exec(clientLines(controlPlane));
  const prefix = "/registry/hopegi.com/ecsbinding/";
  const end = `${prefix.slice(0, -1)}0`; // the byte after "/"
  const response = await fetch(`http://127.0.0.1:${port?.[1] ?? port?.[2]}/v3/kv/range`, {
    method: "POST",
    body: JSON.stringify({ key: btoa(prefix), range_end: btoa(end) }),
  });
  const { kvs = [] }: { kvs?: readonly { key: string; value: string }[] } = await response.json();
  return Object.fromEntries(
    kvs.map(({ key, value }) => [atob(key).slice(prefix.length), JSON.parse(atob(value)).apiVersion]),
  );
}

function clientLines(controlPlane: ControlPlane): string {
  return controlPlane.logs("etcd").split("\n").filter((line) => line.includes("serving client traffic")).join("\n");
}
