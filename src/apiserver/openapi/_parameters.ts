/** The parameters of operations, by the options that they are of. Names and types; what they mean stands in the API's docs. */
import type { JsonObject } from "../model/mod.ts";

const types = {
  allowWatchBookmarks: "boolean",
  container: "string",
  continue: "string",
  dryRun: "string",
  fieldManager: "string",
  fieldSelector: "string",
  fieldValidation: "string",
  follow: "boolean",
  force: "boolean",
  gracePeriodSeconds: "integer",
  ignoreStoreReadErrorWithClusterBreakingPotential: "boolean",
  insecureSkipTLSVerifyBackend: "boolean",
  labelSelector: "string",
  limit: "integer",
  limitBytes: "integer",
  orphanDependents: "boolean",
  pretty: "string",
  previous: "boolean",
  propagationPolicy: "string",
  resourceVersion: "string",
  resourceVersionMatch: "string",
  sendInitialEvents: "boolean",
  shardSelector: "string",
  sinceSeconds: "integer",
  stream: "string",
  tailLines: "integer",
  timeoutSeconds: "integer",
  timestamps: "boolean",
  watch: "boolean",
} as const;

type ParameterName = keyof typeof types;

const write: readonly ParameterName[] = ["dryRun", "fieldManager", "fieldValidation"];
const remove: readonly ParameterName[] = [
  "dryRun",
  "gracePeriodSeconds",
  "ignoreStoreReadErrorWithClusterBreakingPotential",
  "orphanDependents",
  "propagationPolicy",
];
const select: readonly ParameterName[] = [
  "continue",
  "fieldSelector",
  "labelSelector",
  "limit",
  "resourceVersion",
  "resourceVersionMatch",
  "sendInitialEvents",
  "shardSelector",
  "timeoutSeconds",
];

/** What a request of each verb may say in its query. */
export const queryOf = {
  get: [],
  getCustom: ["resourceVersion"],
  list: [...select, "allowWatchBookmarks", "watch"],
  watch: [...select, "allowWatchBookmarks", "watch"],
  create: write,
  update: write,
  patch: [...write, "force"],
  delete: remove,
  deletecollection: [...new Set([...remove, ...select])],
  log: [
    "container",
    "follow",
    "insecureSkipTLSVerifyBackend",
    "limitBytes",
    "previous",
    "sinceSeconds",
    "stream",
    "tailLines",
    "timestamps",
  ],
} as const satisfies Readonly<Record<string, readonly ParameterName[]>>;

/** Parameters of a query, `pretty` among them. */
export function queryParameters(verb: keyof typeof queryOf): readonly JsonObject[] {
  const names: readonly ParameterName[] = [...queryOf[verb], "pretty"];
  return names.toSorted().map((name) => parameter(name, "query", types[name]));
}

/** Parameters of a path: what stands in braces. @param kind of the object that `name` is of */
export function pathParameters(path: string, kind: string): readonly JsonObject[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => {
    return { description: `${name} of the ${kind}`, ...parameter(name, "path", "string"), required: true };
  });
}

function parameter(name: string, place: "path" | "query", type: string): JsonObject {
  return { in: place, name, schema: { type, uniqueItems: true } };
}
