/** TODO */
export { type LiveLines, plainProgress, type Progress, StatusLine } from "./status_line.ts";
export {
  type Cell,
  hasColors,
  type ObjectFormat,
  type Paint,
  paintFor,
  printObjectList,
  printValue,
  table,
  type Tone,
} from "./table.ts";
export { count, listOf, mostSimilar, oneLine, resourceText } from "./text.ts";
