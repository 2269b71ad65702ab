/** The answers as lines of text. */
import type { Explanation } from "./chains.ts";
import type { WhyNot } from "./why_not.ts";
import { objectText, timeText } from "./words.ts";

/** The lines of an explanation, newest chain first. @param now decides which times need a date */
export function explanationLines({ object, chains, notes }: Explanation, now: number): readonly string[] {
  const lines = chains.flatMap(({ at, steps }) => {
    const time = timeText(at, now);
    const indent = " ".repeat(time.length + 2);
    return steps.map(({ kind, text }, index) =>
      index === 0 ? `${time}  ${text}` : kind === "advice" ? `${indent}${adviceLine(text)}` : `${indent}→ ${text}`
    );
  });
  const none = chains.length === 0 && object !== undefined
    ? [`nothing about ${objectText(object)} is recorded; why --not says what it waits for`]
    : [];
  return [...none, ...lines, ...notes.map((note) => `(${note})`)];
}

/** The lines of the reasons, the most important one first. */
export function whyNotLines({ reasons }: WhyNot): readonly string[] {
  return reasons.flatMap(({ text, advice }) => [
    `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`,
    ...(advice === undefined ? [] : [`  ${adviceLine(advice)}`]),
  ]);
}

function adviceLine(advice: string): string {
  return `What to do: ${advice}`;
}
