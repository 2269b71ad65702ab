/** Output of commands: safe lines, tables, colours, objects as YAML or JSON, and progress on a terminal. */
export { type LiveLines, plainProgress, type Progress, StatusLine } from "./status_line.ts";
export {
  type Cell,
  formatObjects,
  formatValue,
  hasColors,
  type ObjectFormat,
  type Paint,
  paintFor,
  table,
  type Tone,
} from "./table.ts";
export { approximateDuration, count, listOf, mostSimilar, oneLine, resourceText } from "./text.ts";
