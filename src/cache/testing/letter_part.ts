/** LetterPart: a part of a kind by the first letter of the name, which grows and shrinks as a test says. */
import type { KubeObject } from "../../api/mod.ts";
import { Latch } from "../../async/mod.ts";
import type { CachePart } from "../mod.ts";

/** The first letter of the name. */
export function letterOf({ metadata: { name = "" } }: Pick<KubeObject, "metadata">): string {
  return name.charAt(0);
}

/** The objects whose names begin with a held letter. */
export class LetterPart implements CachePart {
  readonly id = "letters";
  /** The generation that began with each held letter. */
  readonly held = new Map<string, number>();
  generation = 0;
  readonly #started = new Latch();

  gain(letter: string): void {
    this.held.set(letter, ++this.generation);
    this.#started.open();
  }

  /** @returns whether it was held */
  lose(letter: string): boolean {
    return this.held.delete(letter);
  }

  includes(object: Pick<KubeObject, "metadata">): boolean {
    return this.held.has(letterOf(object));
  }

  shardSelector(): string {
    return [...this.held.keys()].join(" || ");
  }

  started(signal: AbortSignal): Promise<void> {
    return this.#started.wait(signal);
  }
}
