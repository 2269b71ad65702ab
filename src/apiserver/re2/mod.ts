/** Regular expressions in the syntax of Go's `regexp` (RE2), in time linear in the text. */
export { Regex, type RegexMatch } from "./regex.ts";
