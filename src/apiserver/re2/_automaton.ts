/**
 * Tells whether a program matches somewhere in a text: a deterministic automaton whose states are sets of places in the
 * program, made when they are first reached. When too many were made, all are forgotten and it goes on from there.
 *
 * Programs that look at lines or word boundaries need more than one character at a time and are not for it.
 */
import { holds } from "./_node.ts";
import type { Instruction } from "./_program.ts";

interface State {
  /** Places that take a character, and ends of text, in no order that matters. */
  readonly places: readonly number[];
  readonly isMatch: boolean;
  readonly isMatchAtEnd: boolean;
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
}

const maxStates = 2000;
/** Transitions of one state on characters beyond ASCII that are remembered. */
const maxOthers = 256;

/** The automaton of one program. */
export class Automaton {
  readonly #program: readonly Instruction[];
  readonly #states = new Map<string, State>();
  #start: State | undefined;

  private constructor(program: readonly Instruction[]) {
    this.#program = program;
  }

  /** Undefined where the program is not for it. */
  static for(program: readonly Instruction[]): Automaton | undefined {
    const isFor = program.every((step) =>
      step.kind !== "place" || step.place === "beginText" || step.place === "endText"
    );
    return isFor ? new Automaton(program) : undefined;
  }

  test(text: string): boolean {
    let state = this.#start ??= this.#state([], true);
    for (let index = 0; index < text.length; index++) {
      if (state.isMatch) return true;
      let character = text.charCodeAt(index);
      if (character < 128) {
        state = state.ascii[character] ?? this.#advance(state, character);
        continue;
      }
      if (character >= 0xd800 && character < 0xdc00) {
        character = text.codePointAt(index) ?? character;
        if (character > 0xffff) index++;
      }
      state = state.others.get(character) ?? this.#advance(state, character);
    }
    return state.isMatch || state.isMatchAtEnd;
  }

  #advance(state: State, character: number): State {
    const reached: number[] = [];
    for (const place of state.places) {
      const step = this.#program[place];
      if (step?.kind === "set" && holds(step.set, character)) reached.push(place + 1);
    }
    const next = this.#state(reached, false);
    if (character < 128) state.ascii[character] = next;
    else if (state.others.size < maxOthers) state.others.set(character, next);
    return next;
  }

  /** The state of some places and of the beginning, since a match may begin anywhere. */
  #state(reached: readonly number[], isBegin: boolean): State {
    const closure = this.#closure([...reached, 0], isBegin, false);
    const key = `${isBegin}:${[...closure].sort((left, right) => left - right).join(",")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size >= maxStates) {
      this.#states.clear();
      this.#start = undefined;
    }
    const places = [...closure];
    const made: State = {
      places,
      isMatch: places.some((place) => this.#program[place]?.kind === "match"),
      isMatchAtEnd: [...this.#closure(places, isBegin, true)].some((place) => this.#program[place]?.kind === "match"),
      ascii: [],
      others: new Map(),
    };
    this.#states.set(key, made);
    return made;
  }

  /** All places that are reached without taking a character. */
  #closure(from: readonly number[], isBegin: boolean, isEnd: boolean): Set<number> {
    const seen = new Set<number>();
    const held = new Set<number>();
    const open = [...from];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (seen.has(place)) continue;
      seen.add(place);
      const step = this.#program[place];
      if (step === undefined) continue;
      if (step.kind === "jump") open.push(step.to);
      else if (step.kind === "split") open.push(step.to, step.other);
      else if (step.kind !== "place") held.add(place);
      else if (step.place === "beginText" ? isBegin : isEnd) open.push(place + 1);
      else if (step.place === "endText") held.add(place);
    }
    return held;
  }
}
