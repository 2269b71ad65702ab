/**
 * What docs/CONFORMANCE.md says about each built-in kind, how closely it is checked and what follows from its objects, and what
 * the embedded server does not serve. All of it is read from the code and from a running server.
 */
import { kubernetesApi } from "../../src/apiserver/mod.ts";
import { builtinFamilies, BuiltinKind, type KindEffect, kindEffects } from "../../src/apiserver/kinds/mod.ts";
import type { KindFamily } from "../../src/apiserver/registry/mod.ts";
import { clusterControllers } from "../../src/cluster/mod.ts";

/** How much of a kind there is. */
export type KindDepth = "full" | "shallow";

/** One kind. */
export interface KindLine {
  /** The collection: `deployments.apps`. */
  readonly collection: string;
  readonly depth: KindDepth;
  /** How closely new objects are checked. */
  readonly checks: "full" | "schema";
  readonly effect: KindEffect;
}

/** All built-in kinds that have objects, in the order of discovery. @throws Error for a kind without an effect */
export function kindLines(): readonly KindLine[] {
  using server = kubernetesApi().server;
  return [...server.kinds.families()].map(lineOf).filter(({ effect }) => effect.kind !== "request");
}

function lineOf({ collection, storage }: KindFamily): KindLine {
  if (!(storage instanceof BuiltinKind)) throw new Error(`Cannot tell the depth of ${collection}: it is not built in`);
  const effect = kindEffects[collection];
  if (effect === undefined) throw new Error(`Cannot tell what follows from ${collection}: kindEffects lacks it`);
  const checks = storage.depth;
  const isPart = (effect.kind === "server" || effect.kind === "cluster") && effect.missing !== undefined;
  const depth = checks === "full" && !isPart ? "full" : "shallow";
  return { collection, depth, checks, effect };
}

/** In words who acts on the objects of a kind. */
export function effectText(effect: KindEffect): string {
  switch (effect.kind) {
    case "server":
      return `the API server ${effect.does}${without(effect.missing)}`;
    case "cluster":
      return effect.controllers.join(", ") + without(effect.missing);
    case "request":
      return "it is answered, and not stored";
    case "data":
      return "who reads it";
    case "addon":
      return `${effect.who}, which are not part of Kubernetes`;
    default:
      return effect satisfies never;
  }
}

function without(missing: string | undefined): string {
  return missing === undefined ? "" : `, without ${missing}`;
}

/** What the controllers of the simulated cluster watch: `deployments.apps for deployment-controller`. */
export function clusterWatches(): ReadonlySet<string> {
  return new Set(
    clusterControllers().flatMap(({ name, watches }) =>
      watches.map(({ role, resource: { group, plural } }) =>
        `${group === "" ? plural : `${plural}.${group}`} ${role} ${name}`
      )
    ),
  );
}

/** Paths of kube-apiserver beside those of objects and of single checks, as its own index lists them. */
const realPaths = [
  "/.well-known/openid-configuration",
  "/api",
  "/apis",
  "/flagz",
  "/healthz",
  "/livez",
  "/metrics",
  "/metrics/slis",
  "/openapi/v2",
  "/openapi/v3",
  "/openid/v1/jwks",
  "/readyz",
  "/statusz",
  "/version",
] as const;

/** What kube-apiserver serves and the embedded server does not: subresources, and paths that it answers with 404. */
export async function notServed(): Promise<readonly string[]> {
  using server = kubernetesApi().server;
  const missing: string[] = [];
  for (const { collection, storage } of builtinFamilies()) {
    for (const [name, { body }] of storage.subresources) {
      const isServed = name === "scale" || body === undefined ||
        server.registry.subresourceHandler(collection, name) !== undefined;
      if (!isServed) missing.push(`${collection}/${name}`);
    }
  }
  for (const path of realPaths) {
    const response = await server.fetch(new Request(`http://in.memory${path}`));
    await response.body?.cancel();
    if (response.status === 404) missing.push(path);
  }
  return missing;
}
