/** TODO */
export { answerShell } from "./complete.ts";
export { completions } from "./completions.ts";
