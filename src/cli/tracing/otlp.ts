/**
 * The OpenTelemetry SDK: spans are sampled, batched and sent by OTLP over HTTP, as the standard variables say. `tracing.ts` loads
 * this file, and with it the packages, only for a process that sends traces.
 */
import type { Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";

/** Options of {@link createProvider}. */
export interface ProviderOptions {
  /** Name and version of the program. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` come first. */
  readonly name: string;
  readonly version: string;
  /** The endpoint of a collector. @default that of the standard variables */
  readonly endpoint?: string;
  /** Called with the result of each request: the error, or undefined. */
  readonly onExport: (error: Error | undefined) => void;
}

/** A provider of spans. */
export interface Provider {
  readonly tracer: Tracer;
  /** Sends what is queued, and ends. It may take as long as the time limit of the exporter, 10 s. */
  shutdown(): Promise<void>;
}

/** Success, as the SDK's ExportResultCode, which is in a package that this program does not name. */
const success = 0;

/** Creates a provider. @throws Error when the endpoint is none */
export function createProvider({ name, version, endpoint, onExport }: ProviderOptions): Provider {
  const exporter = new OTLPTraceExporter(endpoint === undefined ? {} : { url: tracesUrl(endpoint) });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ "service.name": name, "service.version": version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reporting(exporter, onExport))],
  });
  return { tracer: provider.getTracer("pintle", version), shutdown: () => provider.shutdown() };
}

/** The SDK reports failures to a global handler, which logs each of them. Here the process decides. */
function reporting(exporter: SpanExporter, onExport: (error: Error | undefined) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ code, error }) => {
        onExport(code === success ? undefined : error ?? new Error("it was rejected"));
        done({ code: success });
      }),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The address for traces of a collector, as the standard says for a base address. */
function tracesUrl(endpoint: string): string {
  return `${endpoint.replace(/\/+$/, "")}/v1/traces`;
}
