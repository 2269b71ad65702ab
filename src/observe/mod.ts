/** What the runtime says about itself: logs and metrics, each a thin seam over a library. */
export { escaped } from "./_escape.ts";
export { type Fields, type Logger, logger, rootCategory } from "./logger.ts";
export {
  type Collector,
  type Counter,
  type Gauge,
  type Histogram,
  type HistogramOptions,
  type MetricFamily,
  type MetricOptions,
  MetricsRegistry,
} from "./metrics.ts";
export { configureLogging, type LoggingOptions, type LogLevel } from "./logging.ts";
export { errorText, mask, type Plain, redact, redactText } from "./redact.ts";
export { runtimeMetrics } from "./runtime_metrics.ts";
