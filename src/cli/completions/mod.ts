/** The command `completions`, and the hidden command `__complete` that its scripts call. */
export { answerShell } from "./complete.ts";
export { completions } from "./completions.ts";
