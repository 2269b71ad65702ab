/** This process, its standard streams, and other processes. */
export { onAbort, untilAborted } from "./abort.ts";
export {
  type ChildResult,
  runAttached,
  type RunAttachedOptions,
  spawn,
  type SpawnOptions,
  type SpawnResult,
} from "./child_process.ts";
export {
  canCollectGarbage,
  collectGarbage,
  type Environment,
  environment,
  exitProcess,
  homeDirectory,
  nextTurn,
  onSignal,
  onUnhandledRejection,
  type ProcessFacts,
  processFacts,
  programArguments,
  runtimeName,
  runtimeVersion,
  type SignalName,
} from "./process.ts";
export { Daemon, type DaemonProgram, logPath } from "./daemon.ts";
export { Watchdog } from "./watchdog.ts";
export { refuseOutgoingCalls } from "./outgoing_calls.ts";
export {
  type LineReader,
  standardError,
  standardInput,
  standardOutput,
  type TextWriter,
  textWriter,
} from "./standard_streams.ts";
export { type ProgramUsage } from "./group_usage.ts";
export {
  type GroupSignal,
  type ProgramEnd,
  type ProgramGroup,
  startProgram,
  type StartProgramOptions,
} from "./process_group.ts";
export {
  answerWorkerRequests,
  coreCount,
  isCompiledByBun,
  ownCommand,
  startWorkerProcess,
  type WorkerProcess,
} from "./worker_process.ts";
export { isProcessAlive, processSpace } from "./process_identity.ts";
export { addressTowards, ownAddresses } from "./network.ts";
export { type CpuProfiling, heapBytes, heapSnapshot, startCpuProfile } from "./profiles.ts";
