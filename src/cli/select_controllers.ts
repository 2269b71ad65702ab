/** From names on the command line to controllers; a name that nobody has is answered with those that exist. */
import type { OperatorController } from "../manager/mod.ts";
import type { Operator } from "./operator.ts";
import { UsageError } from "./usage_error.ts";

/** The controllers of `names`, each once, in the order of the operator. @throws UsageError naming one it does not have */
export function selectControllers(operator: Operator, names: readonly string[]): readonly OperatorController[] {
  const known = operator.controllers.map((controller) => controller.name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const similar = mostSimilar(name, known);
    throw new UsageError(
      `Cannot find controller "${name}": ${listOf(known)}`,
      similar === undefined ? undefined : `Did you mean ${similar}?`,
    );
  }
  return operator.controllers.filter((controller) => names.includes(controller.name));
}

/** `there are bar and foo`, for a sentence that ends in what there is. */
export function listOf(names: readonly string[]): string {
  if (names.length === 0) return "there is none";
  return names.length === 1 ? `there is only ${names[0]}` : `there are ${names.join(", ")}`;
}

/** The candidate that differs least from `word`, if it is near enough to be meant. */
export function mostSimilar(word: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** Letters to insert, remove or replace to get from one word to the other (Levenshtein). */
function editDistance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > to.length) return Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
