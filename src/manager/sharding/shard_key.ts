/**
 * ShardKey: by which value the objects of a controller are divided between replicas, and how the slot of a dependent follows
 * from it. With "uid" and "namespace" the dependent itself tells the slot of its owner; with the other keys `ctx.apply` puts
 * a label on it.
 */
import {
  controllerOf,
  keyOf,
  type KubeObject,
  type ObjectKey,
  type ObjectMeta,
  splitKey,
  type StringMap,
} from "../../api/mod.ts";
import { ownerAnnotation, ownerUidLabel, type ShardKey, slotLabel } from "../../controller/mod.ts";
import { logger } from "../../observe/mod.ts";
import { type SelectableField, slotCount, slotOf } from "./slots.ts";

/** How the objects of one controller, and their dependents, are divided. */
export interface SlotRule {
  /** Identifies the rule among those of a process: equal rules share caches. */
  readonly id: string;
  /** The slot of a primary object. */
  readonly slotOf: (object: KubeObject) => number;
  /** The slot of a key whose object is unknown; undefined when only the object tells. */
  readonly slotOfKey: (key: ObjectKey) => number | undefined;
  /** The slot of a dependent; undefined when it has no owner that tells it. */
  readonly slotOfDependent: (object: KubeObject) => number | undefined;
  /** Labels of the dependents of an object. @default none */
  readonly dependentLabels?: (owner: KubeObject) => StringMap;
  /** The field that the server can select primary objects by. @default it cannot */
  readonly field?: SelectableField;
  /** The same for dependents. @default it cannot */
  readonly dependentField?: SelectableField;
}

const functionIds = new Map<(metadata: ObjectMeta) => string, number>();

/** The rule of a shard key. */
export function slotRuleOf(key: ShardKey): SlotRule {
  if (key === "uid") return byUid;
  if (key === "namespace") return byNamespace;
  if (typeof key === "function") {
    const id = functionIds.get(key) ?? functionIds.size + 1;
    functionIds.set(key, id);
    return byValue(`function ${id}`, withoutErrors(key));
  }
  const { label } = key;
  return byValue(`label ${label}`, (metadata) => metadata.labels?.[label] ?? "");
}

const byUid: SlotRule = {
  id: "uid",
  slotOf: ({ metadata }) => slotOf(metadata.uid ?? ""),
  slotOfKey: () => undefined,
  slotOfDependent(object) {
    const uid = controllerOf(object)?.uid ?? object.metadata.labels?.[ownerUidLabel];
    return uid === undefined ? undefined : slotOf(uid);
  },
  field: "object.metadata.uid",
};

const byNamespace: SlotRule = {
  id: "namespace",
  slotOf: ({ metadata }) => slotOf(metadata.namespace ?? ""),
  slotOfKey: (key) => slotOf(splitKey(key).namespace ?? ""),
  slotOfDependent(object) {
    const { namespace, annotations } = object.metadata;
    const owner = annotations?.[ownerAnnotation];
    // A controller reference does not leave the namespace of its object; the annotation may.
    const [, ownerNamespace] = controllerOf(object) === undefined ? / ([^ /]+)\//.exec(owner ?? "") ?? [] : [];
    return slotOf(ownerNamespace ?? namespace ?? "");
  },
};

/** Most objects whose failures are logged, for each function. */
const maxReported = 100;

/** The function, with "" for objects that it fails for: one of them must not end the cache of all others. */
function withoutErrors(valueOf: (metadata: ObjectMeta) => string): (metadata: ObjectMeta) => string {
  const reported = new Set<string>();
  return (metadata) => {
    try {
      const value: unknown = valueOf(metadata);
      if (typeof value === "string") return value;
      throw new TypeError(`Cannot shard by ${String(value)}: the function of the shard key must return a string`);
    } catch (error) {
      const key = keyOf({ metadata });
      if (!reported.has(key) && reported.size < maxReported) {
        reported.add(key);
        logger("shards").error("shard key failed, dividing the object as one with an empty key", { key, error });
      }
      return "";
    }
  };
}

function byValue(id: string, valueOf: (metadata: ObjectMeta) => string): SlotRule {
  const slotOfObject = ({ metadata }: KubeObject) => slotOf(valueOf(metadata));
  return {
    id,
    slotOf: slotOfObject,
    slotOfKey: () => undefined,
    slotOfDependent({ metadata }) {
      const value = metadata.labels?.[slotLabel] ?? "";
      const slot = Number(value);
      return /^\d{1,3}$/.test(value) && slot < slotCount ? slot : undefined;
    },
    dependentLabels: (owner) => ({ [slotLabel]: String(slotOfObject(owner)) }),
  };
}
