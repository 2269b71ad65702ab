/**
 * Waits of cases for what a request does not show: a kube-apiserver decides from caches that are a moment behind its storage,
 * and the garbage collector from a graph that follows watches.
 */
import type { CaseRun } from "../case_run.ts";
import { at, type Body } from "./_objects.ts";

/**
 * Waits until the garbage collector has seen the objects of a resource that exist now. It deletes an object whose owner
 * does not exist, and sees the objects of a resource in the order of their creation.
 *
 * @param resource `PLURAL` or `GROUP/VERSION/PLURAL`
 * @param body An object of that resource with another name.
 */
export async function untilCollectorSees(run: CaseRun, resource: string, body: Body): Promise<void> {
  const { metadata, ...rest } = body;
  const { name } = Object(metadata);
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "never-made", uid: crypto.randomUUID() }];
  await run.prepare({ path: at(run, resource), body: { ...rest, metadata: { ...Object(metadata), ownerReferences } } });
  await run.until(at(run, resource, name), (_, code) => code === 404);
}

/** Waits until discovery has a group, in the form that clients read. */
export async function untilDiscovered(run: CaseRun, group: string): Promise<void> {
  await run.until(`/apis/${group}`, (_, code) => code === 200);
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  await run.until({ path: "/apis", accept }, ({ items }) => items.some((item: Body) => nameOf(item) === group));
}

function nameOf({ metadata }: Body): unknown {
  return Object(metadata).name;
}
