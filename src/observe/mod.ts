/** Logs and metrics, each a thin seam over a library, and what makes text safe to show. */
export {
  type ConfiguredLogging,
  configureLogging,
  type Fields,
  type Logger,
  logger,
  type LoggingOptions,
  type LogLevel,
  rootCategory,
} from "./logging.ts";
export {
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type MetricFamily,
  type MetricOptions,
  MetricsRegistry,
} from "./metrics.ts";
export { errorText, escaped, mask, type Plain, printable, redact, redactText } from "./redact.ts";
export { runtimeMetrics } from "./runtime_metrics.ts";
