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
    found.addValues(withItemCounts(summaries.map(({ fields }) => fields)), `after step ${number}`);
    found.addValues(summaries.map(({ lifecycles }) => lifecycles), `until step ${number}`);
  }
  const leftovers = runs.map((run) => leftoverNames(run, learned));
  found.addLeftovers(leftovers);
  return found.lines;
}

/** Collects differences; of each object or field only the first step in which it differs. */
class DifferenceList {
  readonly lines: string[] = [];
  readonly #known = new Set<string>();

  /** @param objects of each run, by name */
  addObjects(objects: readonly ReadonlyMap<string, unknown>[], when: string): void {
    for (const key of keysOf(objects)) {
      const holders = objects.filter((one) => one.has(key)).length;
      if (holders < objects.length) this.#add(key, `is there ${when} in ${holders} of ${objects.length} runs`);
    }
  }

  /** @param values of each run, by the name of an object, and of its field */
  addValues(values: readonly ReadonlyMap<string, string>[], when: string): void {
    for (const key of keysOf(values)) {
      if (allocatedField.test(key)) continue;
      const different = new Set(values.map((one) => withoutAllocated(one.get(key) ?? "missing")));
      if (different.size < 2) continue;
      const isSecret = key.startsWith("secrets ") && / \.(data|stringData)\b/.test(key);
      const text = isSecret ? `has ${different.size} values` : `is ${[...different].map(shortValue).join(" or ")}`;
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

/**
 * List items that only some runs have are counted by their pattern: the server may have generated their names. Items with the
 * same pattern in all runs are no difference then.
 */
function withItemCounts(runs: readonly ReadonlyMap<string, string>[]): readonly ReadonlyMap<string, string>[] {
  return runs.map((fields) => {
    const kept = new Map<string, string>();
    const counts = new Map<string, number>();
    for (const [key, value] of fields) {
      if (!key.includes("[") || runs.every((other) => other.has(key))) kept.set(key, value);
      else counts.set(itemPatternOf(key), (counts.get(itemPatternOf(key)) ?? 0) + 1);
    }
    for (const [pattern, number] of counts) kept.set(pattern, `in ${number} items`);
    return kept;
  });
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

const maxValueCharacters = 60;

function shortValue(value: string): string {
  return value.length > maxValueCharacters ? `${value.slice(0, maxValueCharacters)}…` : value;
}
