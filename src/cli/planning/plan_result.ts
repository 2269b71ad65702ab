/**
 * The result of a plan as data: one change for each object, with who causes it; what never comes to rest; what fails. This is
 * what `-o json` prints and `--against` reads.
 *
 * Guarantees: no value of a Secret is in it. What only the run can know has a placeholder that is the same in each plan: the
 * UIDs of new objects, the cluster IPs of new Services and the times of writes. Node ports of new Services are left out.
 */
import { isJsonObject, printExactJson } from "../../api/mod.ts";
import type { EndlessWrites, Journal, ObjectRecord, Origin } from "./journal.ts";
import { maskedPair } from "./mask_secrets.ts";
import {
  isSameApartFrom,
  type JsonObject,
  metadataOf,
  metadataText,
  ownerUids,
  timePattern,
  withoutFields,
} from "./object_state.ts";

/** What happens to an object. "replace": it is deleted, and created again under its name. */
export type PlannedAction = "delete" | "replace" | "update" | "create";

/** Who causes a change. */
export interface PlannedCause {
  /** "cluster": a part of Kubernetes that is simulated, such as the Deployment controller. */
  readonly by: "controller" | "files" | "crds" | "cluster";
  readonly controller?: string;
  /** The reconciled object. */
  readonly kind?: string;
  readonly key?: string;
}

/** The name of an object. */
export interface PlannedName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** What happens to one object. */
export interface PlannedChange extends PlannedName {
  readonly action: PlannedAction;
  /** What the version of `--against` does with it. @default absent without `--against` */
  readonly otherAction?: PlannedAction | "none";
  readonly by: readonly PlannedCause[];
  /** Of the object in the cluster. */
  readonly resourceVersion?: string;
  /** Finalizers that a deleted object waits for. */
  readonly waitsFor?: readonly string[];
  /** Absent: it does not exist. */
  readonly before?: JsonObject;
  /** Absent: it does not exist. */
  readonly after?: JsonObject;
}

/** Writes or failures of one reconciled object. */
export interface PlannedProblem {
  readonly controller: string;
  readonly key: string;
  /** In one sentence. */
  readonly problem: string;
}

/** Options of {@link plannedChanges}. */
export interface ChangesOptions {
  /** The virtual time of the plan, in milliseconds since 1970. */
  readonly times: { readonly from: number; readonly to: number };
  /** Includes what only the simulated cluster changes. */
  readonly showsCluster: boolean;
}

/** Order of severity. */
const actions: readonly PlannedAction[] = ["delete", "replace", "update", "create"];

/** The changes that a Journal has recorded: deletions first, then replacements, updates and creations. */
export function plannedChanges(journal: Journal, options: ChangesOptions): readonly PlannedChange[] {
  const { records } = journal;
  const unknown = placeholdersOf(records);
  const changes = records.flatMap((record) => changeOf(record, journal, unknown, options) ?? []);
  return changes.toSorted((one, other) =>
    actions.indexOf(one.action) - actions.indexOf(other.action) || compareTexts(nameText(one), nameText(other))
  );
}

/** `Deployment default/web`. */
export function nameText({ kind, namespace, name }: PlannedName): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

/** `foo: Foo default/web`. */
export function causeText({ by, controller, kind, key }: PlannedCause): string {
  switch (by) {
    case "controller":
      return kind === undefined ? `${controller}` : `${controller}: ${kind} ${key}`;
    case "files":
      return "--files";
    case "crds":
      return "install-crds";
    case "cluster":
      return "the simulated cluster";
    default:
      return by satisfies never;
  }
}

/** The sentence about writes that do not come to rest. */
export function endlessProblem({ origin, collection, key, writes, isRepeating }: EndlessWrites): PlannedProblem {
  const { controller, primary } = origin.kind === "controller"
    ? origin
    : { controller: origin.kind, primary: undefined };
  const how = isRepeating ? "with the same content again and again" : "and it does not come to rest";
  return { controller, key: primary?.key ?? "", problem: `it wrote ${collection} "${key}" ${writes} times, ${how}` };
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function changeOf(
  record: ObjectRecord,
  journal: Journal,
  unknown: ReadonlyMap<string, string>,
  { times, showsCluster }: ChangesOptions,
): PlannedChange | undefined {
  const { before, after } = record;
  const isCollected = before !== undefined && after === undefined;
  if (record.origins.size === 0 && !isCollected && !showsCluster) return undefined;
  const planned = showsCluster || isCollected ? after : record.own;
  const action = actionOf(before, planned, after);
  const shown = planned ?? before ?? after;
  if (action === undefined || shown === undefined) return undefined;
  const waitsFor = action === "delete" && after !== undefined ? finalizersOf(after) : [];
  const result = action === "delete" ? undefined : planned;
  const isNew = action === "create" || action === "replace";
  const pair = maskedPair(
    record.collection,
    before && cleaned(before, { isNew: false, unknown, replaceTimes: (text) => text }),
    result &&
      cleaned(isNew && record.collection === "services" ? withoutAllocatedPorts(result) : result, {
        isNew,
        unknown,
        replaceTimes: timesReplacer(before, times),
      }),
  );
  const resourceVersion = metadataText(before, "resourceVersion");
  return {
    action,
    ...identityOf(shown),
    by: causesOf(record, journal, new Set()),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(waitsFor.length === 0 ? {} : { waitsFor }),
    ...pair,
  };
}

function actionOf(
  before: JsonObject | undefined,
  planned: JsonObject | undefined,
  after: JsonObject | undefined,
): PlannedAction | undefined {
  if (before === undefined) return planned === undefined || after === undefined ? undefined : "create";
  if (planned === undefined) return "delete";
  const isMarked = (object: JsonObject) => metadataText(object, "deletionTimestamp") !== undefined;
  if (isMarked(planned) && !isMarked(before)) return "delete";
  if (metadataText(planned, "uid") !== metadataText(before, "uid")) return "replace";
  return isSameApartFrom(before, planned) ? undefined : "update";
}

function finalizersOf(object: JsonObject): readonly string[] {
  const { finalizers } = metadataOf(object);
  return Array.isArray(finalizers) ? finalizers.map(String) : [];
}

function identityOf(object: JsonObject): PlannedName {
  const namespace = metadataText(object, "namespace");
  return {
    apiVersion: `${object.apiVersion}`,
    kind: `${object.kind}`,
    ...(namespace === undefined ? {} : { namespace }),
    name: metadataText(object, "name") ?? "",
  };
}

/** Who wrote an object; of one that was collected, who deleted its owner or its Namespace. */
function causesOf(record: ObjectRecord, journal: Journal, seen: Set<ObjectRecord>): readonly PlannedCause[] {
  if (record.origins.size > 0) return [...record.origins.values()].map(causeOf);
  seen.add(record);
  const state = record.before ?? record.after;
  const namespace = metadataText(state, "namespace");
  const owners = ownerUids(state).map((uid) => journal.recordOf(uid));
  const home = journal.records.find(({ collection, key }) => collection === "namespaces" && key === namespace);
  for (const owner of [...owners, home]) {
    if (owner === undefined || seen.has(owner)) continue;
    const causes = causesOf(owner, journal, seen);
    if (causes.some(({ by }) => by !== "cluster")) return causes;
  }
  return [{ by: "cluster" }];
}

function causeOf(origin: Origin): PlannedCause {
  if (origin.kind !== "controller") return { by: origin.kind };
  const { controller, primary } = origin;
  return { by: "controller", controller, ...primary };
}

/** What stands for the UIDs of new objects. */
function placeholdersOf(records: readonly ObjectRecord[]): ReadonlyMap<string, string> {
  const placeholders = new Map<string, string>();
  for (const { collection, before, own, after } of records) {
    for (const state of [own, after]) {
      const uid = metadataText(state, "uid");
      if (state === undefined || uid === undefined || uid === metadataText(before, "uid")) continue;
      const name = nameText(identityOf(state));
      placeholders.set(uid, `(UID of ${name})`);
      for (const ip of allocatedIps(collection, state)) placeholders.set(ip, `(cluster IP of ${name})`);
    }
  }
  return placeholders;
}

/** The cluster IPs that the server has chosen for a Service: nobody owns them. */
function allocatedIps(collection: string, { spec, metadata }: JsonObject): readonly string[] {
  if (collection !== "services" || !isJsonObject(spec) || !Array.isArray(spec.clusterIPs)) return [];
  if (isOwned(metadata, "clusterIP") || isOwned(metadata, "clusterIPs")) return [];
  return spec.clusterIPs.map(String).filter((ip) => ip !== "None");
}

/** The Service without the node ports that the server has chosen. */
function withoutAllocatedPorts({ spec, ...service }: JsonObject): JsonObject {
  if (!isJsonObject(spec) || !Array.isArray(spec.ports) || isOwned(service.metadata, "nodePort")) {
    return { ...service, spec };
  }
  const field = new Set(["nodePort"]);
  const ports = spec.ports.map((port: unknown) => isJsonObject(port) ? withoutFields(port, field) : port);
  return { ...service, spec: { ...spec, ports } };
}

/** True when a client has set a field of that name. */
function isOwned(metadata: unknown, field: string): boolean {
  return isJsonObject(metadata) && printExactJson(metadata.managedFields ?? []).includes(`"f:${field}":`);
}

/** Fields of metadata that the server writes. */
const serverFields = new Set(["managedFields", "resourceVersion", "generation", "selfLink"]);
const newFields = new Set([...serverFields, "uid", "creationTimestamp"]);

function cleaned(
  object: JsonObject,
  { isNew, unknown, replaceTimes }: {
    readonly isNew: boolean;
    readonly unknown: ReadonlyMap<string, string>;
    readonly replaceTimes: (text: string) => string;
  },
): JsonObject {
  const { apiVersion, kind, metadata, ...rest } = object;
  const shown = withoutFields(isJsonObject(metadata) ? metadata : {}, isNew ? newFields : serverFields);
  const { status, ...others } = rest;
  // The server stores an empty status with some new objects.
  const kept = isNew && isJsonObject(status) && Object.keys(status).length === 0 ? others : rest;
  const map = (text: string) => unknown.get(text) ?? replaceTimes(text);
  const replaced = mapTexts({ apiVersion, kind, metadata: shown, ...kept }, map);
  return isJsonObject(replaced) ? replaced : object;
}

/** What stands for a time that the run decides. */
export const timePlaceholder = "(time of the write)";

/** Replaces times of the plan that the object did not have before. */
function timesReplacer(
  before: JsonObject | undefined,
  { from, to }: ChangesOptions["times"],
): (text: string) => string {
  const known = new Set(before === undefined ? [] : printExactJson(before).match(timePattern));
  return (text) => {
    const [time] = text.match(timePattern) ?? [];
    if (time !== text || known.has(text)) return text;
    const at = Date.parse(text);
    return at >= from - 1_000 && at <= to ? timePlaceholder : text;
  };
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}
