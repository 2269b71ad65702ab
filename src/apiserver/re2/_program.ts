/**
 * From the tree of a regular expression to a list of instructions, as in Thompson's construction: a set of places in the
 * list is all there is to remember while a text is read, so the time is linear in the text whatever the expression.
 */
import type { CharacterSet, Place, RegexNode } from "./_node.ts";

/** One instruction. Those that take no character name where to go on. */
export type Instruction =
  | { readonly kind: "set"; readonly set: CharacterSet }
  | { readonly kind: "place"; readonly place: Place }
  | { readonly kind: "jump"; to: number }
  /** Both ways are open; `to` is the better one. */
  | { readonly kind: "split"; to: number; other: number }
  | { readonly kind: "match" };

/** The instructions of a tree; the first is where it begins, the last is the match. */
export function programOf(tree: RegexNode): readonly Instruction[] {
  const program: Instruction[] = [];
  emit(program, tree);
  program.push({ kind: "match" });
  return program;
}

function emit(program: Instruction[], node: RegexNode): void {
  switch (node.kind) {
    case "empty":
      return;
    case "set":
    case "place":
      program.push(node);
      return;
    case "sequence":
      for (const item of node.items) emit(program, item);
      return;
    case "choice":
      emitChoice(program, node.items);
      return;
    case "repeat":
      emitRepeat(program, node);
      return;
    default:
      node satisfies never;
  }
}

function emitChoice(program: Instruction[], items: readonly RegexNode[]): void {
  const ends: { to: number }[] = [];
  items.forEach((item, index) => {
    if (index === items.length - 1) return emit(program, item);
    const split: Instruction = { kind: "split", to: program.length + 1, other: 0 };
    program.push(split);
    emit(program, item);
    const end: Instruction = { kind: "jump", to: 0 };
    program.push(end);
    ends.push(end);
    split.other = program.length;
  });
  for (const end of ends) end.to = program.length;
}

function emitRepeat(program: Instruction[], node: RegexNode & { readonly kind: "repeat" }): void {
  for (let count = 0; count < node.min; count++) emit(program, node.item);
  if (node.max === Infinity) return emitStar(program, node);
  const splits: (Instruction & { kind: "split" })[] = [];
  for (let count = node.min; count < node.max; count++) {
    const split: Instruction = { kind: "split", to: program.length + 1, other: 0 };
    program.push(split);
    splits.push(split);
    emit(program, node.item);
  }
  for (const split of splits) leaveTo(split, program.length, node.isGreedy);
}

function emitStar(program: Instruction[], node: RegexNode & { readonly kind: "repeat" }): void {
  const start = program.length;
  const split: Instruction = { kind: "split", to: start + 1, other: 0 };
  program.push(split);
  emit(program, node.item);
  program.push({ kind: "jump", to: start });
  leaveTo(split, program.length, node.isGreedy);
}

/** Makes the way out of a repetition the worse one, or the better one for a lazy repetition. */
function leaveTo(split: Instruction & { kind: "split" }, end: number, isGreedy: boolean): void {
  if (isGreedy) split.other = end;
  else {
    split.other = split.to;
    split.to = end;
  }
}
