/** providerGrants(): what the process of a fleet needs in its hub, besides what its controllers need. */
import { type AccessGrant, readAccess } from "../../manager/mod.ts";
import { builtin, untypedResource } from "../../api/mod.ts";
import type { ClusterSource } from "./clusters_flag.ts";

/** Only its names count here; the version is found by discovery. */
const Cluster = untypedResource({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  scope: "Namespaced",
});

/** Returns the grants of the provider, and of the Events about clusters that cannot be connected. */
export function providerGrants(source: ClusterSource): readonly AccessGrant[] {
  const within = (namespace: string | undefined, ...rules: readonly AccessGrant["rule"][]) =>
    rules.map((rule): AccessGrant => ({
      neededBy: "--clusters",
      rule,
      ...(namespace === undefined ? {} : { namespace }),
    }));
  const events = { ...readAccess(builtin.Event), verbs: ["create", "patch"] } as const;
  switch (source.kind) {
    case "contexts":
    case "folder":
      return [];
    case "secrets":
      return within(source.namespace, readAccess(builtin.Secret), events);
    case "capi":
      return within(source.namespace, readAccess(Cluster), readAccess(builtin.Secret), events);
    default:
      return source satisfies never;
  }
}
