/** Colours for people: only where a terminal shows them and nobody said NO_COLOR (https://no-color.org). */
import type { Environment, TextWriter } from "../runtime/mod.ts";

/** What a colour says, not which it is. */
export type Tone = "good" | "bad" | "doubtful" | "quiet" | "strong";

/** Text as it is to be shown. */
export type Paint = (text: string, tone: Tone) => string;

/** SGR parameters: green, red, yellow, dim, bold. */
const codes = { good: 32, bad: 31, doubtful: 33, quiet: 2, strong: 1 } as const satisfies Record<Tone, number>;

/** Whether `writer` may be given colours. */
export function hasColors(writer: TextWriter, environment: Environment): boolean {
  return writer.isTerminal && (environment.NO_COLOR ?? "") === "" && environment.TERM !== "dumb";
}

/** A Paint that colours, or leaves all text as it is. */
export function paintFor(writer: TextWriter, environment: Environment): Paint {
  if (!hasColors(writer, environment)) return (text) => text;
  return (text, tone) => text === "" ? text : `\u001b[${codes[tone]}m${text}\u001b[0m`;
}
