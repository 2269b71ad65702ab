/**
 * GraphError and Place: where in a file a graph is wrong. Every check of a graph reports the line of the value that it is about.
 */

import { dotPath } from "../schema/mod.ts";

/** A place in the document of a graph: a value by its path. */
export interface Place {
  /** The file. */
  readonly file: string;
  /** From the top of the document. */
  readonly path: readonly (string | number)[];
  /** Returns the line of a path in the file, from 1. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

/** The place of a part of the value at `place`. */
export function partOf(place: Place, ...steps: readonly (string | number)[]): Place {
  return { ...place, path: [...place.path, ...steps] };
}

/** A graph that cannot run: the message has the file, the line, the path and what to do. */
export class GraphError extends Error {
  override readonly name = "GraphError";
  /** The file. */
  readonly file: string;
  /** From 1. */
  readonly line: number;

  /** @param state what is wrong, and what to do */
  constructor(place: Place, state: string, options?: ErrorOptions) {
    const line = place.lineOf(place.path);
    const where = place.path.length === 0 ? "" : `${dotPath(place.path)}: `;
    super(`Cannot read the graph "${place.file}": line ${line}: ${where}${state}`, options);
    this.file = place.file;
    this.line = line;
  }
}
