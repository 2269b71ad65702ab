/**
 * FlowSchemas: finds the FlowSchema and the PriorityLevelConfiguration of a request, and names them in headers of its response
 * as the priority and fairness of kube-apiserver does.
 *
 * Caveats: no request is queued or refused because of its priority level.
 */
import { nameOf, numberAt, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import { type Attributes, type JsonObject, read, type User } from "../model/mod.ts";
import type { ObjectStorage, Snapshot } from "../storage/mod.ts";

const schemas = "flowschemas.flowcontrol.apiserver.k8s.io";
const levels = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";

/** A schema that can match, and the headers of its requests. */
interface KnownSchema {
  readonly precedence: number;
  readonly name: string;
  readonly rules: readonly JsonObject[];
  readonly headers: Readonly<Record<string, string>>;
}

const none: Readonly<Record<string, string>> = {};

/** The flow schemas of a storage. */
export class FlowSchemas {
  readonly #storage: ObjectStorage;
  /** In the order in which they are tried. */
  #known: readonly KnownSchema[] = [];
  /** The states of both collections that `#known` was read from. */
  #states: readonly (Snapshot | undefined)[] = [];

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** The headers of the response to a request. */
  headersOf(attributes: Attributes): Readonly<Record<string, string>> {
    const states = [schemas, levels].map((collection) => this.#storage.snapshot(collection));
    if (states.some((state, index) => state !== this.#states[index])) {
      this.#states = states;
      this.#known = this.#read();
    }
    return this.#known.find(({ rules }) => rules.some((rule) => matches(rule, attributes)))?.headers ?? none;
  }

  #read(): readonly KnownSchema[] {
    return [...this.#storage.list(schemas)].flatMap((schema) => this.#usable(schema))
      .sort((left, right) => left.precedence - right.precedence || (left.name < right.name ? -1 : 1));
  }

  /** A schema whose priority level does not exist is not used. */
  #usable(schema: JsonObject): readonly KnownSchema[] {
    const spec = objectAt(schema, "spec");
    const level = this.#storage.get(levels, "", textAt(objectAt(spec, "priorityLevelConfiguration"), "name"));
    if (level === undefined) return [];
    return [{
      precedence: numberAt(spec, "matchingPrecedence"),
      name: nameOf(schema),
      rules: objectsAt(spec, "rules"),
      headers: {
        "x-kubernetes-pf-flowschema-uid": uidOf(schema),
        "x-kubernetes-pf-prioritylevel-uid": uidOf(level),
      },
    }];
  }
}

function matches(rule: JsonObject, attributes: Attributes): boolean {
  if (!objectsAt(rule, "subjects").some((subject) => isSubject(subject, attributes.user))) return false;
  return attributes.isResourceRequest
    ? objectsAt(rule, "resourceRules").some((one) => isResource(one, attributes))
    : objectsAt(rule, "nonResourceRules").some((one) => isPath(one, attributes));
}

function isSubject(subject: JsonObject, user: User): boolean {
  switch (textAt(subject, "kind")) {
    case "User": {
      const name = textAt(objectAt(subject, "user"), "name");
      return name === "*" || name === user.name;
    }
    case "Group": {
      const name = textAt(objectAt(subject, "group"), "name");
      return name === "*" || user.groups.includes(name);
    }
    default: {
      const account = objectAt(subject, "serviceAccount");
      const prefix = `system:serviceaccount:${textAt(account, "namespace")}:`;
      const name = textAt(account, "name");
      return name === "*" ? user.name.startsWith(prefix) : user.name === `${prefix}${name}`;
    }
  }
}

function isResource(rule: JsonObject, attributes: Attributes): boolean {
  const { verb, group, resource, subresource, namespace } = attributes;
  if (!has(rule, "verbs", verb) || !has(rule, "apiGroups", group)) return false;
  if (!has(rule, "resources", subresource === "" ? resource : `${resource}/${subresource}`)) return false;
  return namespace === "" ? read(rule, "clusterScope") === true : has(rule, "namespaces", namespace);
}

function isPath(rule: JsonObject, { verb, path }: Attributes): boolean {
  if (!has(rule, "verbs", verb)) return false;
  return textsAt(rule, "nonResourceURLs").some((url) =>
    url.endsWith("*") ? path.startsWith(url.replace(/\*+$/, "")) : url === path
  );
}

function has(rule: JsonObject, key: string, value: string): boolean {
  return textsAt(rule, key).some((one) => one === "*" || one === value);
}

function uidOf(object: JsonObject): string {
  return textAt(objectAt(object, "metadata"), "uid");
}
