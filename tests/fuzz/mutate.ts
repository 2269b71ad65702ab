/** Mutations of inputs: of bytes, of words, and of JSON values. The same random source gives the same inputs. */
import type { Random } from "../../src/async/mod.ts";

/** The most bytes of an input. */
export const maxInputBytes = 8 * 1024;

const encoder = new TextEncoder();
const oddBytes = [0, 1, 9, 10, 13, 32, 34, 39, 45, 48, 58, 91, 92, 93, 123, 125, 127, 128, 192, 255];
const oddNumbers = [
  "0",
  "-0",
  "-1",
  "1e999",
  "1e-999",
  "0.1",
  "9007199254740993",
  "9223372036854775808",
  "1".repeat(400),
];
const oddTexts = [
  "",
  "\0",
  "__proto__",
  "constructor",
  "\ud800",
  "a".repeat(300),
  "../..",
  "%00",
  "\u202e",
  "1e9",
  "😀",
];

/** Makes new inputs of old ones. */
export class Mutator {
  readonly #random: Random;
  readonly #words: readonly Uint8Array[];

  constructor(random: Random, words: readonly (string | Uint8Array)[]) {
    this.#random = random;
    this.#words = [...words, ...oddNumbers, ...oddTexts].map((word) =>
      typeof word === "string" ? encoder.encode(word) : word
    );
  }

  below(count: number): number {
    return Math.floor(this.#random.next() * count);
  }

  pick<T>(values: readonly [T, ...T[]] | readonly T[], otherwise: T): T {
    return values[this.below(values.length)] ?? otherwise;
  }

  /** A changed copy. @param other another input, for parts of it */
  mutate(input: Uint8Array, other: Uint8Array): Uint8Array {
    let changed = input;
    for (let rounds = 1 + this.below(4); rounds > 0; rounds--) changed = this.#once(changed, other);
    return changed.subarray(0, maxInputBytes);
  }

  #once(input: Uint8Array, other: Uint8Array): Uint8Array {
    const at = this.below(input.length + 1);
    const length = Math.min(input.length - at, 1 + this.below(this.below(4) === 0 ? 64 : 8));
    switch (this.below(11)) {
      case 0:
        return replaced(input, at, 1, Uint8Array.of((input[at] ?? 0) ^ (1 << this.below(8))));
      case 1:
        return replaced(input, at, this.below(2), Uint8Array.of(this.pick(oddBytes, 0)));
      case 2:
        return replaced(input, at, length, new Uint8Array(0));
      case 3:
        return replaced(input, at, 0, input.subarray(at, at + length));
      case 4:
        return replaced(input, at, 0, repeated(input.subarray(at, at + length), 2 + this.below(60)));
      case 5:
        return replaced(input, at, 0, this.pick(this.#words, encoder.encode("0")));
      case 6:
        return replaced(input, at, length, this.pick(this.#words, encoder.encode("0")));
      case 7: {
        const from = this.below(other.length + 1);
        return replaced(input, at, length, other.subarray(from, from + 1 + this.below(other.length)));
      }
      case 8:
        return this.#changedNumber(input);
      default:
        return this.#changedJson(input);
    }
  }

  #changedNumber(input: Uint8Array): Uint8Array {
    const text = latin1(input);
    const numbers = [...text.matchAll(/\d+/g)];
    const number = numbers[this.below(numbers.length)];
    if (number === undefined) return input;
    const more = String(Number(number[0]) + this.below(3) - 1);
    const value = this.below(2) === 0 ? more : this.pick(oddNumbers, "0");
    return replaced(input, number.index, number[0].length, encoder.encode(value));
  }

  /** Changes one place of the first JSON text in the input; other texts stay the same. */
  #changedJson(input: Uint8Array): Uint8Array {
    const text = new TextDecoder().decode(input);
    const parts = text.split(/(?<=\n)|(?=\n)/);
    const candidates = [text, ...parts].filter((part) => /^\s*[[{]/.test(part));
    const part = this.pick(candidates, "");
    try {
      const value = this.#changedValue(JSON.parse(part), 0);
      return encoder.encode(text.replace(part, () => JSON.stringify(value)));
    } catch {
      return input;
    }
  }

  #changedValue(value: unknown, depth: number): unknown {
    if (typeof value !== "object" || value === null || this.below(4 + depth) === 0) return this.#oddValue(value);
    if (Array.isArray(value)) {
      const at = this.below(value.length + 1);
      const change = this.below(4);
      if (change === 0) return value.toSpliced(at, 1);
      if (change === 1) return [...value, ...value];
      return at === value.length
        ? [...value, this.#oddValue(value[0])]
        : value.with(at, this.#changedValue(value[at], depth + 1));
    }
    const entries = Object.entries(value);
    const at = this.below(entries.length + 1);
    const [key, child] = entries[at] ?? [this.#word(), undefined];
    const change = this.below(5);
    if (change === 0) return Object.fromEntries(entries.toSpliced(at, 1));
    if (change === 1) return Object.fromEntries(entries.toSpliced(at, 1, [this.#word(), child]));
    return Object.fromEntries([...entries.filter(([name]) => name !== key), [
      key,
      this.#changedValue(child, depth + 1),
    ]]);
  }

  #oddValue(value: unknown): unknown {
    const choices: readonly unknown[] = [
      ...[null, true, 0, -1, 1.5, 1e300, 9007199254740993, "", [], {}, [null], { a: null }],
      ...[[value], { [this.#word()]: value }, this.#word(), String(value)],
    ];
    return this.pick(choices, null);
  }

  #word(): string {
    return new TextDecoder().decode(this.pick(this.#words, encoder.encode("a")));
  }
}

function latin1(input: Uint8Array): string {
  return new TextDecoder("latin1").decode(input);
}

function repeated(part: Uint8Array, times: number): Uint8Array {
  const all = new Uint8Array(part.length * times);
  for (let index = 0; index < times; index++) all.set(part, index * part.length);
  return all;
}

/** A copy with other bytes at a place. */
export function replaced(input: Uint8Array, at: number, length: number, by: Uint8Array): Uint8Array {
  const rest = input.subarray(at + length);
  const all = new Uint8Array(Math.min(at, input.length) + by.length + rest.length);
  all.set(input.subarray(0, at));
  all.set(by, Math.min(at, input.length));
  all.set(rest, Math.min(at, input.length) + by.length);
  return all;
}

/** Removes parts as long as `isSame` holds for what is left. @param maxRuns how often `isSame` is called at most */
export async function minimised(
  input: Uint8Array,
  isSame: (candidate: Uint8Array) => boolean | Promise<boolean>,
  maxRuns: number,
): Promise<Uint8Array> {
  let smallest = input;
  let runs = 0;
  for (let size = Math.max(1, input.length >> 1); size >= 1; size >>= 1) {
    for (let at = 0; at < smallest.length;) {
      if (++runs > maxRuns) return smallest;
      const candidate = replaced(smallest, at, size, new Uint8Array(0));
      if (await isSame(candidate)) smallest = candidate;
      else at += size;
    }
  }
  return smallest;
}
