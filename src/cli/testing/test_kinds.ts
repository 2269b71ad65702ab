/** A kind, its controllers and a connection for tests of commands. */
import { builtin } from "../../api/mod.ts";
import { Client, type Transport } from "../../client/mod.ts";
import { controller, type ControllerDefinition, done } from "../../controller/mod.ts";
import { type CustomResource, defineResource, z } from "../../schema/mod.ts";
import type { Connection } from "../connection/connect.ts";

/** websites.example.dev/v1 */
export const Website: CustomResource = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Website",
  scope: "Namespaced",
  spec: z.object({ host: z.string().max(253) }),
});

const nothing = () => Promise.resolve(done);

/** Watches Websites and the ConfigMaps that they own. */
export const websiteController: ControllerDefinition = controller("website").for(Website).owns(builtin.ConfigMap)
  .reconcile(nothing);

/** Watches a built-in kind. */
export const podController: ControllerDefinition = controller("pods").for(builtin.Pod).reconcile(nothing);

/** A connection whose requests `transport` handles. */
export function connectionTo(transport: Transport): Connection {
  return {
    client: new Client(transport),
    server: "https://10.0.0.1:6443",
    userText: 'user "ann"',
    credentialsAdvice: () => Promise.resolve("Log in again"),
    createClient: () => new Client(transport),
    createTransport: () => transport,
    namespace: "default",
    isInCluster: false,
    [Symbol.dispose]: () => {},
  };
}

/** A list without items. */
export const emptyList = { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "7" }, items: [] };
