/** `replay`: a recording, and what this program does with it. */
export { replay } from "./replay.ts";
