/**
 * Device selectors: CEL expressions over one device of a ResourceSlice, in DeviceClasses and in the requests of claims. Types,
 * sizes and limits are those of dynamic-resource-allocation/cel of Kubernetes 1.36.
 *
 * `device.attributes["domain"].name`: names without a domain are in that of the driver; an unknown domain is an empty map.
 */
import {
  boolType,
  CelEnvironment,
  CelError,
  CelMap,
  type CelProgram,
  CelStruct,
  dynType,
  estimateCost,
  formatType,
  mapOf,
  quantityOf,
  quantityType,
  type SizeAtPath,
  stringType,
  type Value,
  versionOf,
} from "../../cel/mod.ts";

/** What a selector sees of a device of a ResourceSlice. */
export interface SelectableDevice {
  readonly attributes?: Readonly<Record<string, DeviceAttribute>>;
  readonly capacity?: Readonly<Record<string, { readonly value: string }>>;
  readonly allowMultipleAllocations?: boolean;
}

/** The value of an attribute: one of them. */
interface DeviceAttribute {
  readonly int?: number | bigint;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
}

/** A compiled selector, or why there is none. */
export type DeviceSelector =
  | { readonly kind: "compiled"; readonly program: CelProgram }
  | { readonly kind: "invalid"; readonly message: string }
  /** The worst case costs more than is allowed. */
  | { readonly kind: "costly" };

/** Whether a selector selects a device. */
export type SelectorOutcome =
  | { readonly kind: "selected" | "other" }
  | { readonly kind: "failed"; readonly message: string };

/** The limit of the cost of a selector, of the estimate and of a run. */
const maxCost = 1_000_000;

const [domainSize, nameSize, driverSize, entries, attributeSize] = [63, 32, 63, 32, 64];

const environment = new CelEnvironment(
  new Map([["device", {
    kind: "object",
    name: "kubernetes.DRADevice",
    fields: new Map([
      ["driver", stringType],
      ["allowMultipleAllocations", boolType],
      ["attributes", mapOf(stringType, mapOf(stringType, dynType))],
      ["capacity", mapOf(stringType, mapOf(stringType, quantityType))],
    ]),
  }]]),
  { functions: [], findStruct: () => undefined, hasBindings: true },
);

/** The largest sizes of the values of a device. */
const sizeAtPath: SizeAtPath = ([, field, ...steps]) => {
  if (field === undefined) return 0;
  if (field === "driver") return driverSize;
  if (field === "allowMultipleAllocations") return 1;
  if (field !== "attributes" && field !== "capacity") return undefined;
  const [outer, inner, ...rest] = steps;
  if (outer === undefined) return entries;
  if (outer === "@keys") return inner === undefined ? domainSize : undefined;
  if (outer !== "@values" && outer !== "@items") return undefined;
  if (inner === undefined) return entries;
  if (inner === "@keys") return rest.length === 0 ? nameSize : undefined;
  if (rest.length > 0) return undefined;
  if (field === "attributes") return attributeSize;
  return inner.startsWith("@") ? 0 : undefined;
};

const compiled = new Map<string, DeviceSelector>();
const maxCompiled = 1_000;

/** Compiles a selector. Those of the last calls are kept. */
export function deviceSelector(expression: string): DeviceSelector {
  const known = compiled.get(expression);
  if (known !== undefined) return known;
  const made = compile(expression);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(expression, made);
  return made;
}

function compile(expression: string): DeviceSelector {
  const result = environment.compile(expression);
  if (result.kind === "failed") return { kind: "invalid", message: `compilation failed: ${result.message}` };
  const { checked, program } = result;
  if (checked.type.kind !== "bool" && checked.type.kind !== "dyn") {
    const message = `must evaluate to bool or the unknown type, not ${formatType(checked.type)}`;
    return { kind: "invalid", message };
  }
  return estimateCost(checked, sizeAtPath).max > maxCost ? { kind: "costly" } : { kind: "compiled", program };
}

/** Runs a selector. @param device of a ResourceSlice of this driver */
export function selectsDevice(expression: string, driver: string, device: SelectableDevice): SelectorOutcome {
  const selector = deviceSelector(expression);
  if (selector.kind !== "compiled") {
    return { kind: "failed", message: selector.kind === "costly" ? "too complex" : selector.message };
  }
  const outcome = selector.program.run([valueOf(driver, device)], maxCost);
  if (outcome.kind === "error") return { kind: "failed", message: outcome.message };
  if (outcome.kind === "exceeded") return { kind: "failed", message: "actual cost limit exceeded" };
  if (typeof outcome.value === "boolean") return { kind: outcome.value ? "selected" : "other" };
  return { kind: "failed", message: "the result is not a bool" };
}

function valueOf(driver: string, { attributes = {}, capacity = {}, ...device }: SelectableDevice): Value {
  return new CelStruct(
    "kubernetes.DRADevice",
    new Map<string, Value>([
      ["driver", driver],
      ["allowMultipleAllocations", device.allowMultipleAllocations ?? false],
      [
        "attributes",
        new DomainMap(driver, Object.entries(attributes).map(([name, each]) => [name, attributeOf(each)])),
      ],
      [
        "capacity",
        new DomainMap(driver, Object.entries(capacity).map(([name, { value }]) => [name, quantityOf(value)])),
      ],
    ]),
  );
}

function attributeOf({ int, bool, string, version }: DeviceAttribute): Value {
  if (int !== undefined) return BigInt(int);
  if (version !== undefined) return versionOf(version, false);
  return bool ?? string ?? new CelError("unsupported attribute value");
}

/** Values by domain and name. */
class DomainMap extends CelMap {
  readonly #domains = new Map<string, Map<string, Value>>();

  constructor(driver: string, values: readonly (readonly [string, Value])[]) {
    super();
    for (const [qualified, value] of values) {
      const slash = qualified.indexOf("/");
      const domain = slash < 0 ? driver : qualified.slice(0, slash);
      const inDomain = this.#domains.get(domain) ?? new Map<string, Value>();
      inDomain.set(qualified.slice(slash + 1), value);
      this.#domains.set(domain, inDomain);
    }
  }

  override get size(): number {
    return this.#domains.size;
  }

  override keys(): Iterable<Value> {
    return this.#domains.keys();
  }

  override find(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    return new NameMap(this.#domains.get(key) ?? new Map());
  }

  override contains(key: Value): boolean {
    return typeof key === "string" && this.#domains.has(key);
  }
}

class NameMap extends CelMap {
  readonly #values: ReadonlyMap<string, Value>;

  constructor(values: ReadonlyMap<string, Value>) {
    super();
    this.#values = values;
  }

  override get size(): number {
    return this.#values.size;
  }

  override keys(): Iterable<Value> {
    return this.#values.keys();
  }

  override find(key: Value): Value | undefined {
    return typeof key === "string" ? this.#values.get(key) : undefined;
  }
}
