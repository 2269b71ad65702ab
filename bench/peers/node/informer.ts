/**
 * The peer of @kubernetes/client-node: its informer, every Foo into its cache. It has no transform, so managedFields
 * stay. Speaks the protocol of bench/protocol.ts.
 */
import {
  CustomObjectsApi,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
} from "@kubernetes/client-node";
import process from "node:process";

const kind = { group: "samplecontroller.k8s.io", version: "v1alpha1", plural: "foos" } as const;

const config = new KubeConfig();
config.loadFromDefault();
const api = config.makeApiClient(CustomObjectsApi);
const list = async (): Promise<KubernetesListObject<KubernetesObject>> => await api.listClusterCustomObject(kind);
const informer = makeInformer(config, `/apis/${kind.group}/${kind.version}/${kind.plural}`, list);

informer.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
await informer.start(); // returns when the list is in the cache and the watch has begun
console.log(JSON.stringify({ kind: "synced", objects: informer.list().length }));
process.stdin.on("end", () => process.exit(0)).resume();
