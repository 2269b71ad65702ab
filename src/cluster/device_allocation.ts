/**
 * Finds devices for ResourceClaims on a node, as the allocator of kube-scheduler does: by device classes, selectors, counts,
 * alternatives, constraints, taints and shared counters. The first solution in the order of the slices is taken.
 *
 * Guarantees: no device twice, unless for admin access; devices only of complete pools in their newest generation.
 * Caveats: a device that several claims may share is given to one claim.
 */
import type { builtin, Infer } from "../api/mod.ts";
import { compareQuantities, selectsDevice, sumOfQuantities } from "../apiserver/mod.ts";
import { matchesAnyTerm } from "./_node_selector.ts";

export type ResourceClaim = Infer<typeof builtin.ResourceClaim>;
export type ResourceSlice = Infer<typeof builtin.ResourceSlice>;
export type DeviceClass = Infer<typeof builtin.DeviceClass>;
type Node = Infer<typeof builtin.Node>;
type Device = NonNullable<ResourceSlice["spec"]["devices"]>[number];
type Allocation = NonNullable<NonNullable<ResourceClaim["status"]>["allocation"]>;
type Result = NonNullable<NonNullable<Allocation["devices"]>["results"]>[number];
type Config = NonNullable<NonNullable<Allocation["devices"]>["config"]>[number];
type Request = NonNullable<NonNullable<ResourceClaim["spec"]["devices"]>["requests"]>[number];
type Choice = NonNullable<Request["exactly"]>;

/** What decides. */
export interface DeviceInventory {
  readonly slices: readonly ResourceSlice[];
  findClass(name: string): DeviceClass | undefined;
  /** All claims: devices that are allocated to them are in use. */
  readonly claims: readonly ResourceClaim[];
}

/** A reason why no devices can be allocated, for the status of the Pod. */
export class AllocationError extends Error {
  override readonly name = "AllocationError";
}

/** A device of a slice that the node reaches. */
interface Candidate {
  readonly slice: ResourceSlice;
  readonly device: Device;
  readonly driver: string;
  readonly pool: string;
  readonly id: string;
}

/** One alternative of a request. */
interface Alternative {
  /** `request`, or `request/subrequest`. */
  readonly name: string;
  readonly choice: Choice;
  readonly deviceClass: DeviceClass;
}

interface Wanted {
  readonly claim: ResourceClaim;
  readonly alternatives: readonly Alternative[];
}

interface Taken {
  readonly claim: ResourceClaim;
  readonly alternative: Alternative;
  readonly candidate: Candidate;
}

/** Steps of the search after which there is no solution: it tries all combinations. */
const maxSteps = 100_000;
const maxResults = 32;

/**
 * Allocates devices for claims on a node.
 *
 * @returns an allocation for each claim in their order; undefined when the node does not have the devices
 * @throws AllocationError when a selector fails or a class does not exist
 */
export function allocateDevices(
  claims: readonly ResourceClaim[],
  node: Node,
  inventory: DeviceInventory,
): readonly Allocation[] | undefined {
  const search = new Search(candidatesOn(node, inventory.slices), inventory);
  const taken = search.run(claims.flatMap((claim) => wantedOf(claim, inventory)));
  if (taken === undefined) return undefined;
  return claims.map((claim) => allocationOf(claim, taken.filter((each) => each.claim === claim)));
}

function wantedOf(claim: ResourceClaim, inventory: DeviceInventory): readonly Wanted[] {
  return (claim.spec.devices?.requests ?? []).map(({ name, exactly, firstAvailable = [] }) => {
    const alternativeOf = (full: string, choice: Choice): Alternative => {
      const deviceClass = inventory.findClass(choice.deviceClassName);
      if (deviceClass !== undefined) return { name: full, choice, deviceClass };
      throw new AllocationError(`request ${full}: device class ${choice.deviceClassName} does not exist`);
    };
    const alternatives = exactly === undefined
      ? firstAvailable.map((each) => alternativeOf(`${name}/${each.name}`, each))
      : [alternativeOf(name, exactly)];
    return { claim, alternatives };
  });
}

/** The devices of the complete pools that the node reaches. */
function candidatesOn(node: Node, slices: readonly ResourceSlice[]): readonly Candidate[] {
  return slices.filter((slice) => isCurrent(slice, slices)).flatMap((slice) => {
    const { driver, pool: { name: pool }, devices = [], perDeviceNodeSelection = false } = slice.spec;
    if (!perDeviceNodeSelection && !reaches(slice.spec, node)) return [];
    return devices.filter((device) => !perDeviceNodeSelection || reaches(device, node)).map((device) => ({
      slice,
      device,
      driver,
      pool,
      id: idOf(driver, pool, device.name),
    }));
  });
}

function isCurrent({ spec: { driver, pool } }: ResourceSlice, slices: readonly ResourceSlice[]): boolean {
  const same = slices.filter(({ spec }) => spec.driver === driver && spec.pool.name === pool.name);
  if (same.some(({ spec }) => spec.pool.generation > pool.generation)) return false;
  return same.filter(({ spec }) => spec.pool.generation === pool.generation).length === pool.resourceSliceCount;
}

function reaches({ nodeName, nodeSelector, allNodes }: Device | ResourceSlice["spec"], node: Node): boolean {
  if (nodeName !== undefined) return nodeName === node.metadata.name;
  return allNodes === true ||
    (nodeSelector !== undefined && matchesAnyTerm(nodeSelector.nodeSelectorTerms ?? [], node));
}

function idOf(driver: string, pool: string, device: string): string {
  return `${driver}/${pool}/${device}`;
}

/** Tries the devices for one request after the other, and goes back where a later request gets none. */
class Search {
  readonly #candidates: readonly Candidate[];
  readonly #inventory: DeviceInventory;
  /** Ids of devices of other claims. */
  readonly #inUse: ReadonlySet<string>;
  readonly #matches = new Map<Alternative, readonly Candidate[]>();
  #taken: readonly Taken[] = [];
  #steps = 0;

  constructor(candidates: readonly Candidate[], inventory: DeviceInventory) {
    this.#candidates = candidates;
    this.#inventory = inventory;
    this.#inUse = new Set(
      inventory.claims.flatMap(({ status }) => status?.allocation?.devices?.results ?? [])
        .filter(({ adminAccess }) => adminAccess !== true)
        .map(({ driver, pool, device }) => idOf(driver, pool, device)),
    );
  }

  run(wanted: readonly Wanted[]): readonly Taken[] | undefined {
    return this.#next(wanted) ? this.#taken : undefined;
  }

  #next(wanted: readonly Wanted[]): boolean {
    const [first, ...rest] = wanted;
    if (first === undefined) return true;
    return first.alternatives.some((alternative) => this.#tryAlternative(first.claim, alternative, rest));
  }

  #tryAlternative(claim: ResourceClaim, alternative: Alternative, rest: readonly Wanted[]): boolean {
    const candidates = this.#matching(alternative);
    const { allocationMode, count = 1 } = alternative.choice;
    const isAll = allocationMode === "All";
    const needed = isAll ? candidates.length : count;
    if (needed === 0 || needed > candidates.length) return false;
    return this.#pick(claim, alternative, { candidates, needed, isAll }, rest);
  }

  #pick(
    claim: ResourceClaim,
    alternative: Alternative,
    { candidates, needed, isAll }: { candidates: readonly Candidate[]; needed: number; isAll: boolean },
    rest: readonly Wanted[],
  ): boolean {
    if (needed === 0) return this.#next(rest);
    const before = this.#taken;
    for (const [index, candidate] of candidates.entries()) {
      if (candidates.length - index < needed || ++this.#steps > maxSteps) return false;
      const one: Taken = { claim, alternative, candidate };
      if (this.#isFree(one)) {
        this.#taken = [...before, one];
        const others = { candidates: candidates.slice(index + 1), needed: needed - 1, isAll };
        if (this.#pick(claim, alternative, others, rest)) return true;
        this.#taken = before;
      }
      // All devices are wanted, so none may be left out.
      if (isAll) return false;
    }
    return false;
  }

  #isFree(one: Taken): boolean {
    const { id } = one.candidate;
    const ofClaim = this.#taken.filter(({ claim }) => claim === one.claim);
    if (ofClaim.length >= maxResults) return false;
    const isAdmin = one.alternative.choice.adminAccess === true;
    const isTaken = this.#taken.some(({ candidate, alternative }) =>
      candidate.id === id && alternative.choice.adminAccess !== true
    );
    if (!isAdmin && (this.#inUse.has(id) || isTaken || !this.#hasCounters(one.candidate))) return false;
    return meetsConstraints(one, ofClaim);
  }

  /** The devices that the class and the request select, and whose taints are tolerated. */
  #matching(alternative: Alternative): readonly Candidate[] {
    const known = this.#matches.get(alternative);
    if (known !== undefined) return known;
    const { choice, deviceClass } = alternative;
    const selectors = [...deviceClass.spec.selectors ?? [], ...choice.selectors ?? []];
    const found = this.#candidates.filter(({ device, driver }) =>
      selectors.every(({ cel }) => isSelected(cel?.expression ?? "", driver, device)) &&
      (choice.adminAccess === true || (device.taints ?? []).every((taint) => isTolerated(taint, choice)))
    );
    this.#matches.set(alternative, found);
    return found;
  }

  /** True if the counters that the device needs are left by the devices in use. */
  #hasCounters({ device, driver, pool }: Candidate): boolean {
    return (device.consumesCounters ?? []).every(({ counterSet, counters }) =>
      Object.entries(counters).every(([name, { value }]) => {
        const amounts = this.#consumers(driver, pool).flatMap((other) =>
          (other.consumesCounters ?? []).filter((each) => each.counterSet === counterSet)
            .flatMap((each) => each.counters[name]?.value ?? [])
        );
        const limit = this.#slicesOf(driver, pool).flatMap(({ spec }) => spec.sharedCounters ?? [])
          .find((set) => set.name === counterSet)?.counters[name]?.value;
        return limit !== undefined && compareQuantities(sumOfQuantities([...amounts, value]), limit) <= 0;
      })
    );
  }

  #consumers(driver: string, pool: string): readonly Device[] {
    const taken = new Set(this.#taken.map(({ candidate }) => candidate.id));
    return this.#slicesOf(driver, pool).flatMap(({ spec }) => spec.devices ?? []).filter(({ name }) => {
      const id = idOf(driver, pool, name);
      return this.#inUse.has(id) || taken.has(id);
    });
  }

  #slicesOf(driver: string, pool: string): readonly ResourceSlice[] {
    const { slices } = this.#inventory;
    return slices.filter((slice) =>
      slice.spec.driver === driver && slice.spec.pool.name === pool && isCurrent(slice, slices)
    );
  }
}

function isSelected(expression: string, driver: string, device: Device): boolean {
  const outcome = selectsDevice(expression, driver, device);
  if (outcome.kind === "failed") {
    throw new AllocationError(`device ${device.name}: CEL runtime error: ${outcome.message}`);
  }
  return outcome.kind === "selected";
}

type Taint = NonNullable<Device["taints"]>[number];

function isTolerated(taint: Taint, { tolerations = [] }: Choice): boolean {
  if (taint.effect === "None") return true;
  return tolerations.some(({ key = "", operator = "Equal", value = "", effect }) =>
    (effect === undefined || effect === taint.effect) &&
    (key === "" ? operator === "Exists" : key === taint.key && (operator === "Exists" || value === (taint.value ?? "")))
  );
}

function meetsConstraints(one: Taken, others: readonly Taken[]): boolean {
  return (one.claim.spec.devices?.constraints ?? []).every(({ requests = [], matchAttribute, distinctAttribute }) => {
    const name = matchAttribute ?? distinctAttribute;
    if (name === undefined || !isMeant(one.alternative, requests)) return true;
    const value = attributeOf(one.candidate, name);
    if (value === undefined) return false;
    const values = others.filter(({ alternative }) => isMeant(alternative, requests))
      .map(({ candidate }) => attributeOf(candidate, name));
    return matchAttribute === undefined ? !values.includes(value) : values.every((each) => each === value);
  });
}

/** True if a list of requests means this one; an empty list means all. */
function isMeant({ name }: Alternative, requests: readonly string[]): boolean {
  const [request = ""] = name.split("/");
  return requests.length === 0 || requests.includes(name) || requests.includes(request);
}

/** The value of an attribute, as a text that tells equal values. @param name `domain/name` */
function attributeOf({ device, driver }: Candidate, name: string): string | undefined {
  const prefix = `${driver}/`;
  const found = device.attributes?.[name] ??
    (name.startsWith(prefix) ? device.attributes?.[name.slice(prefix.length)] : undefined);
  if (found === undefined) return undefined;
  const { int, bool, string, version } = found;
  return JSON.stringify([typeof (int ?? bool ?? string), String(int ?? bool ?? string ?? version)]);
}

function allocationOf(claim: ResourceClaim, taken: readonly Taken[]): Allocation {
  const results = taken.map(({ alternative: { name, choice }, candidate }): Result => ({
    request: name,
    driver: candidate.driver,
    pool: candidate.pool,
    device: candidate.device.name,
    ...(choice.adminAccess === undefined ? {} : { adminAccess: choice.adminAccess }),
    ...(choice.tolerations === undefined ? {} : { tolerations: choice.tolerations }),
  }));
  const config = [...classConfig(taken), ...claimConfig(claim, taken)];
  const nodeSelector = nodeSelectorOf(taken.map(({ candidate }) => candidate));
  return {
    devices: { results, ...(config.length === 0 ? {} : { config }) },
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  };
}

/** The settings of the classes, each once, for the requests that use them. */
function classConfig(taken: readonly Taken[]): readonly Config[] {
  const requests = new Map<DeviceClass, Set<string>>();
  for (const { alternative: { deviceClass, name } } of taken) {
    requests.set(deviceClass, (requests.get(deviceClass) ?? new Set()).add(name));
  }
  return [...requests].flatMap(([{ spec }, names]) =>
    (spec.config ?? []).map((each): Config => ({ source: "FromClass", requests: [...names], ...each }))
  );
}

function claimConfig(claim: ResourceClaim, taken: readonly Taken[]): readonly Config[] {
  return (claim.spec.devices?.config ?? [])
    .filter(({ requests = [] }) => taken.some(({ alternative }) => isMeant(alternative, requests)))
    .map((each): Config => ({ source: "FromClaim", ...each }));
}

type NodeSelector = NonNullable<Allocation["nodeSelector"]>;
type Term = NonNullable<NodeSelector["nodeSelectorTerms"]>[number];

/** The nodes that reach all of the devices. @returns undefined when all nodes do */
function nodeSelectorOf(candidates: readonly Candidate[]): NodeSelector | undefined {
  const terms = candidates.flatMap(({ slice: { spec }, device }): readonly Term[] => {
    const { nodeName, nodeSelector } = spec.perDeviceNodeSelection === true ? device : spec;
    if (nodeName !== undefined) {
      return [{ matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] }];
    }
    return nodeSelector?.nodeSelectorTerms ?? [];
  });
  if (terms.length === 0) return undefined;
  // A name is more exact than any labels.
  const named = terms.find(({ matchFields = [] }) => matchFields.length > 0);
  if (named !== undefined) return { nodeSelectorTerms: [named] };
  const requirements = new Map(
    terms.flatMap(({ matchExpressions = [] }) => matchExpressions).map((each) => [JSON.stringify(each), each]),
  );
  return { nodeSelectorTerms: [{ matchExpressions: [...requirements.values()] }] };
}
