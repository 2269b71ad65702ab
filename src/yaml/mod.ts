/** YAML: the only folder that knows the YAML library. */
export { lineOf } from "./line_of.ts";
export {
  parseYaml,
  parseYamlInTurns,
  type ParseYamlOptions,
  printYaml,
  type PrintYamlOptions,
  type YamlDocument,
  type YamlPosition,
  type YamlProblem,
} from "./yaml.ts";
