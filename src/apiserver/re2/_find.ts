/**
 * Finds where a program matches: all alternatives are followed side by side, in the order in which the expression likes
 * them, so that the first to come to a match is the one a backtracking engine would have found (Pike's machine).
 */
import { holds, type Place } from "./_node.ts";
import type { Instruction } from "./_program.ts";
import type { RegexMatch } from "./regex.ts";

interface Thread {
  readonly place: number;
  readonly start: number;
}

/** The first match in a text from an index on. */
export function findIn(program: readonly Instruction[], text: string, from: number): RegexMatch | undefined {
  let threads: Thread[] = [];
  let best: RegexMatch | undefined;
  for (let index = from;;) {
    const seen = new Set<number>();
    const current: Thread[] = [];
    for (const thread of threads) follow(program, text, index, thread, seen, current);
    if (best === undefined) follow(program, text, index, { place: 0, start: index }, seen, current);
    if (current.length === 0 && best !== undefined) return best;
    const character = index < text.length ? text.codePointAt(index) : undefined;
    threads = [];
    for (const thread of current) {
      const step = program[thread.place];
      if (step?.kind === "match") {
        best = { start: thread.start, end: index };
        break;
      }
      if (step?.kind === "set" && character !== undefined && holds(step.set, character)) {
        threads.push({ place: thread.place + 1, start: thread.start });
      }
    }
    if (character === undefined) return best;
    if (threads.length === 0 && best !== undefined) return best;
    index += character > 0xffff ? 2 : 1;
  }
}

/** Adds where a thread may stand without taking a character, the better way first. */
function follow(
  program: readonly Instruction[],
  text: string,
  index: number,
  thread: Thread,
  seen: Set<number>,
  out: Thread[],
): void {
  const open = [thread.place];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (seen.has(place)) continue;
    seen.add(place);
    const step = program[place];
    if (step === undefined) continue;
    if (step.kind === "jump") open.push(step.to);
    else if (step.kind === "split") open.push(step.other, step.to);
    else if (step.kind !== "place") out.push({ place, start: thread.start });
    else if (isAt(step.place, text, index)) open.push(place + 1);
  }
}

function isAt(place: Place, text: string, index: number): boolean {
  switch (place) {
    case "beginText":
      return index === 0;
    case "endText":
      return index === text.length;
    case "beginLine":
      return index === 0 || text[index - 1] === "\n";
    case "endLine":
      return index === text.length || text[index] === "\n";
    case "wordBoundary":
      return isWord(text, index - 1) !== isWord(text, index);
    case "noWordBoundary":
      return isWord(text, index - 1) === isWord(text, index);
    default:
      return place satisfies never;
  }
}

function isWord(text: string, index: number): boolean {
  return /^\w$/.test(text[index] ?? "");
}
