/**
 * runDifferences(): in what equal runs without faults differ: objects that only some of them have, fields, how often objects
 * were created and deleted, and what stays after deletions. A program that races with the cluster shows here.
 *
 * Guarantees: generated names, and addresses and ports that the server allocates, are no difference. No value of a Secret is told.
 */
import { shownName } from "../engine.ts";
import { itemPatternOf } from "./cluster_state.ts";
import { clusterSummary, learnedNames, leftoverNames } from "./cluster_summary.ts";
import type { ForeignRunResult } from "./run_options.ts";

/** Describes the differences, a line for each: `configmaps default/a is there after step 2 in 1 of 3 runs`. */
export function runDifferences(runs: readonly ForeignRunResult[]): readonly string[] {
  const learned = learnedNames(runs.flatMap(({ steps }) => steps.at(-1)?.state ?? []));
  const found = new DifferenceList();
  const numbers = new Set(runs.flatMap(({ steps }) => steps.map(({ step }) => step)));
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const ends = runs.flatMap(({ steps }) => steps.find(({ step }) => step === number) ?? []);
    const summaries = ends.map(({ state }) => clusterSummary(state, learned));
    found.addObjects(summaries.map(({ objects }) => objects), `after step ${number}`);
    found.addFields(summaries.map(({ fields }) => fields), `after step ${number}`);
    found.addValues(summaries.map(({ lifecycles }) => lifecycles), `until step ${number}`);
  }
  found.addLeftovers(runs.map((run) => leftoverNames(run, learned)));
  return found.lines;
}

/** A longer value is not told. */
const maxValueCharacters = 60;

/** Collects differences; of each object or field only the first step in which it differs. */
class DifferenceList {
  readonly lines: string[] = [];
  readonly #known = new Set<string>();

  /** @param objects of each run, by name; or items of lists */
  addObjects(objects: readonly ReadonlyMap<string, unknown>[], when: string): void {
    for (const key of keysOf(objects)) {
      const holders = objects.filter((one) => one.has(key)).length;
      if (holders < objects.length) this.#add(key, `is there ${when} in ${holders} of ${objects.length} runs`);
    }
  }

  /**
   * Of list items that only some runs have, each run may have equally many: then their names are generated.
   *
   * @param fields of each run, by the name of an object, and of its field
   */
  addFields(fields: readonly ReadonlyMap<string, string>[], when: string): void {
    const partial = partialItems(fields);
    const itemsOf = (one: ReadonlyMap<string, string>) =>
      new Set([...one.keys()].flatMap(itemsAround).filter((item) => partial.has(item)));
    const items = fields.map(itemsOf);
    for (const same of Map.groupBy(partial, itemPatternOf).values()) {
      const counts = items.map((one) => same.filter((item) => one.has(item)).length);
      if (new Set(counts).size === 1) continue;
      this.addObjects(items.map((one) => new Map(same.flatMap((item) => one.has(item) ? [[item, item]] : []))), when);
    }
    const isShared = (key: string) => !itemsAround(key).some((item) => partial.has(item));
    this.addValues(fields.map((one) => new Map([...one].filter(([key]) => isShared(key)))), when);
  }

  /** @param values of each run, by the name of an object, and of its field */
  addValues(values: readonly ReadonlyMap<string, string>[], when: string): void {
    for (const key of keysOf(values)) {
      if (allocatedField.test(key)) continue;
      const different = new Set(values.map((one) => withoutAllocated(one.get(key) ?? "missing")));
      if (different.size < 2) continue;
      const isSecret = key.startsWith("secrets ") && / \.(data|stringData)\b/.test(key);
      const isShown = !isSecret && [...different].every(({ length }) => length <= maxValueCharacters);
      const text = isShown ? `is ${[...different].join(" or ")}` : `has ${different.size} values`;
      this.#add(key, `${text} ${when}`);
    }
  }

  addLeftovers(leftovers: readonly ReadonlyMap<string, unknown>[]): void {
    for (const key of keysOf(leftovers)) {
      const holders = leftovers.filter((one) => one.has(key)).length;
      if (holders === leftovers.length) continue;
      this.lines.push(`${shownName(key)} stays after the deletions in ${holders} of ${leftovers.length} runs`);
    }
  }

  /** An object that only some runs have is one difference, whatever fields it has. */
  #add(key: string, text: string): void {
    const object = key.split(" ").slice(0, 2).join(" ");
    if (this.#known.has(key) || this.#known.has(object)) return;
    this.#known.add(key);
    this.lines.push(`${shownName(key)} ${text}`);
  }
}

/** List items that only some runs have, by their keys: `pods default/a .spec.volumes[name=data]`. Of nested ones the outer ones. */
function partialItems(fields: readonly ReadonlyMap<string, string>[]): ReadonlySet<string> {
  const items = fields.map((one) => new Set([...one.keys()].flatMap(itemsAround)));
  const all = new Set(items.flatMap((one) => [...one]));
  const partial = new Set([...all].filter((item) => !items.every((one) => one.has(item))));
  return new Set([...partial].filter((item) => itemsAround(item).every((one) => one === item || !partial.has(one))));
}

/** The list items that a field is in, the outermost one first. */
function itemsAround(key: string): readonly string[] {
  return [...key.matchAll(/\]/g)].map(({ index }) => key.slice(0, index + 1));
}

/** Fields with ports that the server allocates. A port that the program has chosen is the same in all runs. */
const allocatedField = /\.(nodePort|healthCheckNodePort)$/;

/** Pods and Services get addresses of `10.0.0.0/8` here, in no certain order, and the volume of each token a generated name. */
function withoutAllocated(value: string): string {
  return value.replaceAll(/\b10(\.\d{1,3}){3}\b/g, "<address>").replaceAll(/\bkube-api-access-\w{5}\b/g, "<volume>");
}

function keysOf(maps: readonly ReadonlyMap<string, unknown>[]): ReadonlySet<string> {
  return new Set(maps.flatMap((one) => [...one.keys()]));
}
