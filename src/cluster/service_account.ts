/** What every namespace gets: the ServiceAccount `default`, and the certificate authority of the API server. */
import { builtin } from "../api/mod.ts";
import { isAlreadyExists } from "../client/mod.ts";
import { controller, type ControllerDefinition, done } from "../controller/mod.ts";

/** @param caCertificate PEM text that Pods are to trust; "" where the server has none */
export function serviceAccountController(caCertificate: string): ControllerDefinition {
  return controller("serviceaccount-controller", { maxConcurrentReconciles: 2 })
    .for(builtin.Namespace)
    .watches(builtin.ServiceAccount, { to: ({ metadata: { namespace = "" } }) => [namespace] })
    .watches(builtin.ConfigMap, {
      to: ({ metadata: { namespace = "" } }) => [namespace],
      when: ({ object }) => object.metadata.name === rootCa,
    })
    .reconcile(async (ctx) => {
      const namespace = ctx.object.metadata.name ?? "";
      if (ctx.find(builtin.ServiceAccount, `${namespace}/default`) === undefined) {
        const metadata = { name: "default", namespace };
        await ctx.client.create(builtin.ServiceAccount, { metadata }, { signal: ctx.signal }).catch(ignoreExisting);
      }
      const held = ctx.find(builtin.ConfigMap, `${namespace}/${rootCa}`);
      const data = { "ca.crt": caCertificate };
      if (held === undefined) {
        const metadata = { name: rootCa, namespace };
        await ctx.client.create(builtin.ConfigMap, { metadata, data }, { signal: ctx.signal }).catch(ignoreExisting);
      } else await ctx.patch(builtin.ConfigMap, held, { kind: "merge", value: { data } });
      return done;
    });
}

const rootCa = "kube-root-ca.crt";

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
