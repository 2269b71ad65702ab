/** Output of commands: safe lines, tables, colours, objects as YAML or JSON, and progress on a terminal. */
export { type LiveLines, plainProgress, type Progress, type Screen } from "./progress.ts";
export { formatObjects, formatValue, hasColors, type ObjectFormat, table, toned } from "./table.ts";
export { approximateDuration, count, listOf, mostSimilar, oneLine, resourceText, shellWord } from "./text.ts";
