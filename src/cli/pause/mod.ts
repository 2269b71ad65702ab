/** The commands `pause` and `resume`. */
export { pause, resume } from "./pause.ts";
