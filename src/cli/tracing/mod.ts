/** Traces of a process, for an OpenTelemetry collector. */
export { startTracing, type TracingOptions, type TracingTarget, tracingTarget } from "./tracing.ts";
