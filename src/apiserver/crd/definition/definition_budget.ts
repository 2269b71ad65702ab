/**
 * A bound on the work of compiling a CustomResourceDefinition. It is checked before anything else looks at the schemas: a
 * definition of 1.5 MB can have 200,000 schema nodes, or patterns whose repetitions make millions of instructions.
 */
import { FieldPath, objectAt, type Problems } from "../../kinds/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, patternSize, read } from "../../model/mod.ts";

/** The most objects in the schemas of all versions together. The largest definitions that are known have about 20,000. */
export const maxSchemaNodes = 100_000;

/** The most instructions of all different patterns together: 2 s of work. */
export const maxPatternInstructions = 200_000;

/** Adds an error if the schemas of a definition are too large to be compiled. @returns false in that case */
export function isWithinBudget(definition: JsonObject, problems: Problems): boolean {
  const patterns = new Set<string>();
  let nodes = 0;
  let instructions = 0;
  const waiting: Json[] = [];
  const versions = read(objectAt(definition, "spec"), "versions");
  for (const version of isJsonArray(versions) ? versions : []) {
    if (isJsonObject(version)) waiting.push(read(version, "schema") ?? null);
  }
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (isJsonArray(part)) {
      for (const item of part) if (typeof item === "object") waiting.push(item);
    } else if (isJsonObject(part)) {
      nodes++;
      const pattern = read(part, "pattern");
      if (typeof pattern === "string" && !patterns.has(pattern)) {
        patterns.add(pattern);
        instructions += patternSize(pattern);
      }
      for (const value of Object.values(part)) if (typeof value === "object") waiting.push(value);
    }
    const excess = nodes > maxSchemaNodes
      ? `have more than ${maxSchemaNodes} objects`
      : instructions > maxPatternInstructions
      ? `have patterns with more than ${maxPatternInstructions} instructions`
      : undefined;
    if (excess === undefined) continue;
    problems.forbidden(FieldPath.of("spec", "versions"), `the schemas of all versions together must not ${excess}`);
    return false;
  }
  return true;
}
