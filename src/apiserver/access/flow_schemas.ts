/**
 * FlowSchemas: the priority and fairness of kube-apiserver. It finds the FlowSchema and the PriorityLevelConfiguration of a
 * request, names them in headers of its response, and makes it wait for a seat of a limited level, or refuses it.
 *
 * Guarantees: requests of exempt levels never wait. The server has as many seats as a kube-apiserver (600), of which each level
 * has its nominal share.
 *
 * Caveats: levels lend no seats to each other, and a request takes one seat, however much it lists.
 */
import type { Clock } from "../../async/mod.ts";
import { nameOf, numberAt, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import { type Attributes, type FlowTicket, type JsonObject, read, type User } from "../model/mod.ts";
import type { ObjectStorage, Snapshot } from "../storage/mod.ts";
import { DroppedRequests } from "./dropped_requests.ts";
import { FairQueues, type Seat } from "./fair_queues.ts";

const schemas = "flowschemas.flowcontrol.apiserver.k8s.io";
const levels = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";

/** --max-requests-inflight and --max-mutating-requests-inflight of kube-apiserver: 400 and 200. */
const serverSeats = 600;

/** A quarter of --request-timeout: a request that waits longer is refused. */
const maxWaitMs = 15_000;

/** A limited level. */
interface LimitedLevel {
  readonly queues: FairQueues;
  readonly dropped: DroppedRequests;
}

/** A schema that can match, with its level. */
interface KnownSchema {
  readonly precedence: number;
  readonly name: string;
  readonly rules: readonly JsonObject[];
  /** ByUser, ByNamespace, or "": all its requests are one flow. */
  readonly distinguisher: string;
  /** Absent: the level is exempt. */
  readonly level: LimitedLevel | undefined;
  /** What its requests get when they need no seat; those that are refused get the same headers. */
  readonly exempt: FlowTicket;
}

/** The flow schemas of a storage. */
export class FlowSchemas {
  readonly #storage: ObjectStorage;
  readonly #clock: Clock;
  /** In the order in which they are tried. */
  #known: readonly KnownSchema[] = [];
  /** The states of both collections that `#known` was read from. */
  #schemas: Snapshot | undefined;
  #levels: Snapshot | undefined;
  readonly #limited = new Map<string, LimitedLevel>();

  constructor(storage: ObjectStorage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** The headers of the response to a request, and its seat, for which it may have to wait. */
  admit(attributes: Attributes, signal: () => AbortSignal): FlowTicket | Promise<FlowTicket> | undefined {
    const known = this.#schemaOf(attributes);
    if (known === undefined || known.level === undefined) return known?.exempt;
    const { level, exempt } = known;
    const seat = level.queues.take(flowOf(known, attributes), maxWaitMs, signal);
    return seat instanceof Promise
      ? seat.then((one) => this.#ticket(one, level, exempt))
      : this.#ticket(seat, level, exempt);
  }

  #ticket(seat: Seat | undefined, { dropped }: LimitedLevel, { headers }: FlowTicket): FlowTicket {
    return seat === undefined
      ? { headers, retryAfterSeconds: dropped.record(this.#clock.now()) }
      : { headers, release: seat.release };
  }

  #schemaOf(attributes: Attributes): KnownSchema | undefined {
    const [one, other] = [this.#storage.snapshot(schemas), this.#storage.snapshot(levels)];
    if (one !== this.#schemas || other !== this.#levels) {
      [this.#schemas, this.#levels] = [one, other];
      this.#configure();
      this.#known = this.#read();
    }
    return this.#known.find(({ rules }) => rules.some((rule) => matches(rule, attributes)));
  }

  /** Distributes the seats of the server. */
  #configure(): void {
    const all = [...this.#storage.list(levels)];
    const sum = all.reduce((total, level) => total + sharesOf(level), 0);
    const limited = new Map(all.filter(isLimited).map((level) => [nameOf(level), level] as const));
    for (const name of this.#limited.keys()) if (!limited.has(name)) this.#limited.delete(name);
    for (const [name, level] of limited) {
      const known = this.#limited.get(name) ??
        { queues: new FairQueues(this.#clock), dropped: new DroppedRequests() };
      this.#limited.set(name, known);
      const response = objectAt(objectAt(objectAt(level, "spec"), "limited"), "limitResponse");
      const queuing = objectAt(response, "queuing");
      const seats = sum === 0 ? 0 : Math.ceil(serverSeats * sharesOf(level) / sum);
      known.queues.configure(
        textAt(response, "type") !== "Queue" ? { seats } : {
          seats,
          queuing: {
            queues: numberAt(queuing, "queues"),
            handSize: numberAt(queuing, "handSize"),
            queueLengthLimit: numberAt(queuing, "queueLengthLimit"),
          },
        },
      );
    }
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
      distinguisher: textAt(objectAt(spec, "distinguisherMethod"), "type"),
      level: this.#limited.get(nameOf(level)),
      exempt: {
        headers: {
          "x-kubernetes-pf-flowschema-uid": uidOf(schema),
          "x-kubernetes-pf-prioritylevel-uid": uidOf(level),
        },
      },
    }];
  }
}

function isLimited(level: JsonObject): boolean {
  return textAt(objectAt(level, "spec"), "type") === "Limited";
}

function sharesOf(level: JsonObject): number {
  const spec = objectAt(level, "spec");
  return numberAt(objectAt(spec, isLimited(level) ? "limited" : "exempt"), "nominalConcurrencyShares");
}

/** Requests with the same text share the hand of queues. */
function flowOf({ name, distinguisher }: KnownSchema, { user, namespace }: Attributes): string {
  switch (distinguisher) {
    case "ByUser":
      return `${name}\n${user.name}`;
    case "ByNamespace":
      return `${name}\n${namespace}`;
    default:
      return name;
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
