/** The machine and the runtime: the only code that says Deno, Bun or process. */
export { type Environment, environment } from "./environment.ts";
export { exit } from "./exit.ts";
export { type FileStat, fileStat } from "./file_stat.ts";
export { homeDirectory } from "./home_directory.ts";
export { type FetchOptions, type HttpClient, httpClient, type HttpClientOptions } from "./http_client.ts";
export { isKeyPair } from "./key_pair.ts";
export { killWhenStuck, type KillWhenStuckOptions } from "./kill_when_stuck.ts";
export { type LineReader, standardInput } from "./line_reader.ts";
export { type MemoryUsage, memoryUsage } from "./memory_usage.ts";
export { nextTurn } from "./next_turn.ts";
export { onSignal, type SignalName } from "./on_signal.ts";
export { onUnhandledRejection } from "./on_unhandled_rejection.ts";
export { openFileDescriptors } from "./open_file_descriptors.ts";
export { directoryOf, joinPath, relativePath, resolvePath } from "./paths.ts";
export { type ProcessFacts, processFacts } from "./process_facts.ts";
export { programArguments } from "./program_arguments.ts";
export { findText, isMissingFile, readText, type ReadTextOptions } from "./read_text.ts";
export { releaseBytes } from "./release_bytes.ts";
export { runtimeName, runtimeVersion } from "./runtime_name.ts";
export { type Attached, runAttached, type RunAttachedOptions } from "./run_attached.ts";
export { hasTerminalInput, spawn, type SpawnOptions, type SpawnResult } from "./spawn.ts";
export { standardError, standardOutput, type TextWriter, textWriter } from "./text_writer.ts";
export { answerTwin, coreCount, ownCommand, startTwin, type Twin } from "./twin.ts";
export { makeDirectory, removePath, writeFile, type WriteFileOptions } from "./write_file.ts";
export {
  type CertificatePair,
  type ConnectionInfo,
  defaultServeLimits,
  type DrainOptions,
  PortInUseError,
  serve,
  type ServeHandler,
  type ServeLimits,
  type ServeOptions,
  type Server,
  type ServeTimer,
  type ServeTls,
} from "./serve.ts";
