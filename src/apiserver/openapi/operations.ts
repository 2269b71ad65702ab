/**
 * pathsOf(): the operations on a kind, as the `paths` of OpenAPI v3, with parameters, bodies and responses. kubectl reads there
 * whether the server supports field validation, dry run and strategic merge patches. The media types are those of this server.
 */
import type { Json, JsonObject, Kind, Subresource, Verb } from "../model/mod.ts";
import type { KindName } from "./components.ts";

/** References to the components in the operations of a kind. */
export interface KindReferences {
  readonly object: JsonObject;
  readonly list: JsonObject;
  readonly deleteOptions: JsonObject;
  readonly patch: JsonObject;
  readonly status: JsonObject;
  readonly watchEvent: JsonObject;
  /** The body of a subresource, if it is another kind. */
  body(kind: KindName): JsonObject | undefined;
}

interface Operation {
  readonly method: "delete" | "get" | "patch" | "post" | "put";
  readonly parameters: readonly JsonObject[];
  readonly json: JsonObject;
}

/** The names of verbs in operations, and their status codes besides 200. */
const verbs = {
  get: { method: "get", prefix: "read", action: "get", more: [] },
  list: { method: "get", prefix: "list", action: "list", more: [] },
  watch: { method: "get", prefix: "watch", action: "watch", more: [] },
  create: { method: "post", prefix: "create", action: "post", more: ["201", "202"] },
  update: { method: "put", prefix: "replace", action: "put", more: ["201"] },
  patch: { method: "patch", prefix: "patch", action: "patch", more: ["201"] },
  delete: { method: "delete", prefix: "delete", action: "delete", more: ["202"] },
  deletecollection: { method: "delete", prefix: "delete", action: "deletecollection", more: [] },
} as const satisfies Record<Verb, { method: Operation["method"]; prefix: string; action: string; more: string[] }>;

const codes = { "200": "OK", "201": "Created", "202": "Accepted", "401": "Unauthorized" } as const;

/** The paths of a kind and its subresources. */
export function pathsOf(kind: Kind, references: KindReferences): ReadonlyMap<string, JsonObject> {
  const writer = new OperationWriter(kind, references);
  const root = kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const isNamespaced = kind.scope === "Namespaced";
  const scope = isNamespaced ? "/namespaces/{namespace}" : "";
  const paths = new Map<string, JsonObject>();
  const add = (path: string, operations: readonly Operation[]): void => {
    if (operations.length > 0) paths.set(path, pathItem(operations));
  };
  const collection = `${root}${scope}/${kind.plural}`;
  const has = (verb: Verb) => kind.verbs.includes(verb);
  if (isNamespaced && has("list")) add(`${root}/${kind.plural}`, [writer.everywhere(`${root}/${kind.plural}`, "list")]);
  add(collection, collectionVerbs.filter(has).map((verb) => writer.ofKind(collection, verb)));
  add(`${collection}/{name}`, objectVerbs.filter(has).map((verb) => writer.ofKind(`${collection}/{name}`, verb)));
  for (const part of kind.subresources.values()) {
    if (isConnection(part)) continue;
    const path = `${collection}/{name}/${part.name}`;
    add(path, part.verbs.map((verb) => writer.ofPart(path, verb, part)));
  }
  if (kind.hasStrategicMerge && has("watch")) {
    const all = `${root}/watch/${kind.plural}`;
    const some = `${root}/watch${scope}/${kind.plural}`;
    if (isNamespaced) add(all, [writer.everywhere(all, "watch")]);
    add(some, [writer.ofKind(some, "watch")]);
    add(`${some}/{name}`, [writer.ofKind(`${some}/{name}`, "watch")]);
  }
  return paths;
}

const collectionVerbs: readonly Verb[] = ["deletecollection", "list", "create"];
const objectVerbs: readonly Verb[] = ["delete", "get", "patch", "update"];

/** True for subresources that are connections to a container; this server has no containers. */
function isConnection({ body }: Subresource): boolean {
  return body?.kind.endsWith("Options") === true;
}

/** Writes the operations of one kind. */
class OperationWriter {
  readonly #kind: Kind;
  readonly #references: KindReferences;

  constructor(kind: Kind, references: KindReferences) {
    this.#kind = kind;
    this.#references = references;
  }

  /** An operation on all namespaces. */
  everywhere(path: string, verb: "list" | "watch"): Operation {
    const noun = verb === "watch" ? `${this.#kind.kind}List` : this.#kind.kind;
    return this.#write(path, verb, { id: `${noun}ForAllNamespaces`, described: this.#describe(verb, "") });
  }

  ofKind(path: string, verb: Verb): Operation {
    const { kind, scope } = this.#kind;
    const many = verb === "watch" && !path.endsWith("{name}") ? "List" : "";
    const id = `${scope === "Namespaced" ? "Namespaced" : ""}${kind}${many}`;
    const prefix = verb === "deletecollection" ? "Collection" : "";
    return this.#write(path, verb, { id: prefix + id, described: this.#describe(verb, "") });
  }

  ofPart(path: string, verb: Verb, part: Subresource): Operation {
    const { kind, scope } = this.#kind;
    const id = `${scope === "Namespaced" ? "Namespaced" : ""}${kind}${titled(part.name)}`;
    const object = part.body === undefined ? undefined : this.#references.body(part.body);
    return this.#write(path, verb, { id, described: this.#describe(verb, part.name), part, object });
  }

  #write(
    path: string,
    verb: Verb,
    { id, described, part, object = this.#references.object }: {
      readonly id: string;
      readonly described: string;
      readonly part?: Subresource;
      readonly object?: JsonObject | undefined;
    },
  ): Operation {
    const { method, prefix, action } = verbs[verb];
    const { group, version, kind } = part?.body ?? this.#kind;
    const [tag, title] = groupNames(this.#kind.group, this.#kind.version);
    const isLog = part?.name === "log" && verb === "get";
    const query = isLog ? "log" : verb === "get" && !this.#kind.hasStrategicMerge ? "getCustom" : verb;
    return {
      method,
      parameters: [...queryParameters(query), ...pathParameters(path, this.#kind.kind)],
      json: {
        description: described,
        operationId: `${prefix}${title}${id}`,
        ...this.#body(verb, object),
        responses: isLog ? textResponses : this.#responses(verb, object),
        tags: [tag],
        "x-kubernetes-action": verb === "watch" && !path.endsWith("{name}") ? "watchlist" : action,
        "x-kubernetes-group-version-kind": { group, kind, version },
      },
    };
  }

  #describe(verb: Verb, part: string): string {
    const { kind, hasStrategicMerge } = this.#kind;
    const of = part === "" ? "" : `${part} of `;
    switch (verb) {
      case "list":
        return `list ${
          hasStrategicMerge && this.#kind.verbs.includes("watch") ? "or watch " : ""
        }objects of kind ${kind}`;
      case "watch":
        return `watch changes to objects of kind ${kind}; deprecated: list with the parameter watch`;
      case "deletecollection":
        return `delete collection of ${kind}`;
      case "create":
      case "delete":
        return `${verbs[verb].prefix} ${of}${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`;
      case "patch":
        return `partially update ${of}the specified ${kind}`;
      case "get":
      case "update":
        return `${verbs[verb].prefix} ${of}the specified ${kind}`;
      default:
        return verb satisfies never;
    }
  }

  #body(verb: Verb, object: JsonObject): JsonObject {
    const types = this.#kind.hasStrategicMerge ? ["*/*"] : objectTypes;
    if (verb === "create" || verb === "update") return { requestBody: { ...content(types, object), required: true } };
    if (verb === "delete" || verb === "deletecollection") {
      return { requestBody: content(types, this.#references.deleteOptions) };
    }
    if (verb !== "patch") return {};
    return { requestBody: { ...content(this.#patchTypes(), this.#references.patch), required: true } };
  }

  #patchTypes(): readonly string[] {
    const types = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
    return this.#kind.hasStrategicMerge ? [...types, "application/strategic-merge-patch+json"] : types;
  }

  #responses(verb: Verb, object: JsonObject): JsonObject {
    const success = this.#responseBody(verb, object);
    const types = verb === "list" && this.#kind.hasStrategicMerge
      ? listTypes
      : verb === "watch"
      ? watchTypes
      : objectTypes;
    const found: Record<string, Json> = {};
    // The documents of CRDs do not have the 201 of a patch that creates.
    const more = verb === "patch" && !this.#kind.hasStrategicMerge ? [] : verbs[verb].more;
    for (const code of ["200", ...more] as const) {
      found[code] = { ...content(types, success), description: codes[code] };
    }
    found["401"] = { description: codes["401"] };
    return found;
  }

  #responseBody(verb: Verb, object: JsonObject): JsonObject {
    switch (verb) {
      case "list":
        return this.#references.list;
      case "watch":
        return this.#references.watchEvent;
      case "delete":
        return this.#kind.deletion?.returnsObject === true ? object : this.#references.status;
      case "deletecollection":
        return this.#references.status;
      default:
        return object;
    }
  }
}

const objectTypes = ["application/json", "application/yaml"];
const listTypes = ["application/json", "application/json;stream=watch", "application/yaml"];
const watchTypes = ["application/json", "application/json;stream=watch"];

const textResponses: JsonObject = {
  "200": { ...content(["text/plain"], { type: "string" }), description: codes["200"] },
  "401": { description: codes["401"] },
};

function content(types: readonly string[], schema: JsonObject): JsonObject {
  return { content: Object.fromEntries(types.map((type) => [type, { schema }])) };
}

/** One path, with the parameters that all its operations have in common. */
function pathItem(operations: readonly Operation[]): JsonObject {
  const [first, ...rest] = operations;
  const keys = rest.map(({ parameters }) => new Set(parameters.map(keyOf)));
  const shared = (first?.parameters ?? []).filter((one) => keys.every((known) => known.has(keyOf(one))));
  const sharedKeys = new Set(shared.map(keyOf));
  const item: Record<string, Json> = {};
  for (const { method, parameters, json } of operations) {
    const own = parameters.filter((one) => !sharedKeys.has(keyOf(one)));
    item[method] = own.length === 0 ? json : { ...json, parameters: own };
  }
  return { ...item, parameters: shared.toSorted((left, right) => keyOf(left) < keyOf(right) ? -1 : 1) };
}

function keyOf({ name, in: place }: JsonObject): string {
  return `${name} ${place}`;
}

/** `apps_v1` and `AppsV1`; for the group of a CRD `exampleCom_v1` and `ExampleComV1`. */
export function groupNames(group: string, version: string): readonly [tag: string, title: string] {
  const words = (group === "" ? "core" : group.replace(/\.k8s\.io$/, "")).split(/[.-]/).map(titled);
  const title = words.join("");
  return [`${title.slice(0, 1).toLowerCase()}${title.slice(1)}_${version}`, title + titled(version)];
}

function titled(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

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

/** The query parameters of each verb. */
const queryOf = {
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

/** The query parameters of a verb, including `pretty`. */
function queryParameters(verb: keyof typeof queryOf): readonly JsonObject[] {
  const names: readonly ParameterName[] = [...queryOf[verb], "pretty"];
  return names.toSorted().map((name) => parameter(name, "query", types[name]));
}

/** The parameters in the braces of a path. @param kind the kind of the object with this `name` */
function pathParameters(path: string, kind: string): readonly JsonObject[] {
  return Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => {
    return { description: `${name} of the ${kind}`, ...parameter(name, "path", "string"), required: true };
  });
}

function parameter(name: string, place: "path" | "query", type: string): JsonObject {
  return { in: place, name, schema: { type, uniqueItems: true } };
}
