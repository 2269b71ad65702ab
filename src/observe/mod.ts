/** Logs and metrics, each a thin seam over a library, and what makes text safe to show. */
export {
  type ConfiguredLogging,
  configureLineLogging,
  configureLogging,
  type Fields,
  type Logger,
  logger,
  type LoggingOptions,
  type LogLevel,
  rootCategory,
} from "./logging.ts";
export {
  contentTypes,
  type Counter,
  type Exemplar,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type MetricFamily,
  type MetricOptions,
  type MetricsFormat,
  MetricsRegistry,
} from "./metrics.ts";
export { type Cell, cellsOf, type Line, type LineOutput, LineWriter, type Tone } from "./line_writer.ts";
export { LiveSecrets, liveSecrets, mask, type Work } from "./live_secrets.ts";
export { errorText, type Plain, redact, redactText } from "./redact.ts";
export { isSecretName } from "./secret_names.ts";
export { maskShapes } from "./secret_shapes.ts";
export { escaped, hasControls, printable } from "./safe_text.ts";
export { runtimeMetrics } from "./runtime_metrics.ts";
