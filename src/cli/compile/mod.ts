/** The command `compile`, and its parts for the command `image`. */
export {
  compile,
  compileBinary,
  type CompiledFiles,
  type CompileOptions,
  type CompileTarget,
  type Project,
  readProject,
  versionOf,
} from "./compile.ts";
export { type BunProgram, bunVersion, findBun } from "./find_bun.ts";
export { describeProject, type ProjectDescription } from "./project.ts";
