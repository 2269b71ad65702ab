/**
 * SpanReader: the entries of a recording, read as OpenTelemetry spans. It is the only hook of tracing: what is recorded is traced.
 *
 *   reconcile-start .. reconcile-end -> span `reconcile foo`, linked to the spans that caused it
 *     write                          ->   span `apply deployments.apps`, a child of it
 *     read of the server, event      ->   events of the span
 *   review                           -> span `validating foos.example.dev`, in the trace of the API server if it has one
 *
 * A reconcile has many causes and so no parent: it is the root of a trace, with a link to the write that another reconcile sent
 * and that the watch has shown, to the reconcile that asked to come back, or to the trace that an annotation names.
 *
 * Guarantees: no content of an object becomes an attribute, only names, versions, outcomes and errors, which the recording has
 * sealed. What is remembered is bounded. A reading never throws.
 */
import {
  type Context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from "@opentelemetry/api";
import type {
  ChangeEntry,
  Entry,
  EntryBase,
  EntryId,
  MetricsRegistry,
  ObjectRef,
  ReconcileEndEntry,
  ReconcileStartEntry,
  ReviewEntry,
  WriteEntry,
} from "../../observe/mod.ts";

/** The entries whose spans are remembered, for links. An older cause has no link. */
const maxRemembered = 20_000;
/** The most links of a span. */
const maxLinks = 16;

const none: readonly SpanContext[] = Object.freeze([]);

/** Options of a {@link SpanReader}. */
export interface SpanReaderOptions {
  readonly tracer: Tracer;
  /** Gets an exemplar for each reconcile that is sampled. */
  readonly metrics: MetricsRegistry;
}

/** Makes spans of entries. */
export class SpanReader {
  readonly #tracer: Tracer;
  readonly #metrics: MetricsRegistry;
  /** The reconciles that run, by the id of their start. */
  readonly #running = new Map<EntryId, { readonly span: Span; readonly context: Context; readonly at: number }>();
  /** The spans that each entry belongs to or was caused by; the oldest first. */
  readonly #known = new Map<EntryId, readonly SpanContext[]>();

  constructor({ tracer, metrics }: SpanReaderOptions) {
    this.#tracer = tracer;
    this.#metrics = metrics;
  }

  /** Reads the next entry. */
  read(entry: Entry): void {
    switch (entry.kind) {
      case "reconcile-start":
        return this.#start(entry);
      case "reconcile-end":
        return this.#end(entry);
      case "write":
        return this.#remember(entry.id, [this.#write(entry)]);
      case "review":
        return this.#remember(entry.id, [this.#review(entry)]);
      case "change":
        return this.#remember(entry.id, [...this.#causesOf(entry), ...namedTraces(entry)]);
      case "enqueue":
      case "queue":
      case "list":
        return this.#remember(entry.id, this.#causesOf(entry));
      case "event":
        return this.#addEvent(entry, "event", { "event.type": entry.type, "event.reason": entry.reason });
      case "read":
        if (entry.from === "server") this.#addEvent(entry, "read", attributesOf(entry.object));
        return;
      case "request":
        return this.#addEvent(entry, "request", { "http.request.method": entry.method, "url.path": entry.path });
      case "lease":
      case "cache":
      case "activation":
      case "error":
      case "note":
        return;
      default:
        entry satisfies never;
    }
  }

  /** The header of the requests of a reconcile that runs, whose span is then the parent of the server's spans. */
  traceparentOf(start: EntryId): string | undefined {
    const running = this.#running.get(start);
    if (running === undefined) return undefined;
    const { traceId, spanId, traceFlags } = running.span.spanContext();
    return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0")}`;
  }

  /** Ends the spans of reconciles that still run, because the process ends. */
  endAll(): void {
    for (const { span } of this.#running.values()) span.end();
    this.#running.clear();
  }

  #start(entry: ReconcileStartEntry): void {
    const { id, at, controller = "", waitedMs, priority, retries } = entry;
    const links: readonly Link[] = this.#causesOf(entry).map((context) => ({ context }));
    const span = this.#tracer.startSpan(`reconcile ${controller}`, {
      kind: SpanKind.CONSUMER,
      startTime: instantOf(at),
      links: [...links],
      attributes: {
        ...primaryOf(entry),
        "pintle.queue.waited_ms": waitedMs,
        "pintle.queue.priority": priority,
        "pintle.retries": retries,
      },
    }, ROOT_CONTEXT);
    this.#running.set(id, { span, context: trace.setSpan(ROOT_CONTEXT, span), at });
    this.#remember(id, [span.spanContext()]);
    this.#exemplify("workqueue_queue_duration_seconds", entry, waitedMs / 1000, span);
  }

  #end(entry: ReconcileEndEntry): void {
    const { at, outcome, afterMs, error, durationMs } = entry;
    const { span } = this.#runningOf(entry) ?? {};
    this.#remember(entry.id, this.#causesOf(entry));
    for (const cause of entry.causes) this.#running.delete(cause);
    if (span === undefined) return;
    span.setAttribute("pintle.outcome", outcome);
    if (afterMs !== undefined) span.setAttribute("pintle.requeue_after_ms", afterMs);
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    span.end(instantOf(at));
    this.#exemplify("controller_runtime_reconcile_time_seconds", entry, durationMs / 1000, span);
    this.#exemplify("workqueue_work_duration_seconds", entry, durationMs / 1000, span);
  }

  #write(entry: WriteEntry): SpanContext {
    const { at, verb, object, subresource, fieldManager, answer, durationMs } = entry;
    const of = subresource === undefined ? object.resource : `${object.resource}/${subresource}`;
    const { context: parent = ROOT_CONTEXT, at: earliest = -Infinity } = this.#runningOf(entry) ?? {};
    const span = this.#tracer.startSpan(`${verb} ${of}`, {
      kind: SpanKind.CLIENT,
      // Durations are exact and times whole milliseconds, so the difference may lie before the reconcile.
      startTime: instantOf(Math.max(at - durationMs, earliest)),
      attributes: {
        ...primaryOf(entry),
        ...attributesOf(object),
        "pintle.verb": verb,
        ...fieldManager === undefined ? {} : { "pintle.field_manager": fieldManager },
        "pintle.answer": answer.kind,
        ...answer.kind === "stored" && answer.resourceVersion !== undefined
          ? { "k8s.object.resource_version": answer.resourceVersion }
          : {},
        ...answer.kind === "failed" && answer.code !== undefined ? { "http.response.status_code": answer.code } : {},
      },
    }, parent);
    if (answer.kind === "failed") span.setStatus({ code: SpanStatusCode.ERROR, message: answer.message });
    span.end(instantOf(at));
    return span.spanContext();
  }

  #review(entry: ReviewEntry): SpanContext {
    const { at, webhook, path, operation, object, isAllowed, traceparent = "", durationMs } = entry;
    // The API server that traces its requests says in which trace it calls.
    const caller = parseTraceparent(traceparent);
    const parent = caller === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, caller);
    const span = this.#tracer.startSpan(`${webhook} ${object.resource}`, {
      kind: SpanKind.SERVER,
      startTime: instantOf(at - durationMs),
      links: this.#causesOf(entry).map((context) => ({ context })),
      attributes: {
        ...attributesOf(object),
        "url.path": path,
        ...operation === undefined ? {} : { "pintle.operation": operation },
        "pintle.allowed": isAllowed,
      },
    }, parent);
    span.end(instantOf(at));
    return span.spanContext();
  }

  #runningOf({ causes }: EntryBase) {
    for (const cause of causes) {
      const running = this.#running.get(cause);
      if (running !== undefined) return running;
    }
    return undefined;
  }

  #addEvent(entry: Entry, name: string, attributes: Readonly<Record<string, string>>): void {
    this.#runningOf(entry)?.span.addEvent(name, { ...attributes }, instantOf(entry.at));
  }

  /** The spans that the causes of an entry belong to, each once. */
  #causesOf({ causes }: EntryBase): readonly SpanContext[] {
    if (causes.length === 0) return none;
    const bySpan = new Map<string, SpanContext>();
    for (const cause of causes) {
      for (const context of this.#known.get(cause) ?? none) bySpan.set(context.spanId, context);
    }
    return [...bySpan.values()].slice(-maxLinks);
  }

  #remember(id: EntryId, contexts: readonly SpanContext[]): void {
    if (contexts.length === 0) return;
    this.#known.set(id, contexts);
    if (this.#known.size <= maxRemembered) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }

  #exemplify(metric: string, { at, controller = "" }: EntryBase, value: number, span: Span): void {
    const { traceId, spanId, traceFlags } = span.spanContext();
    if ((traceFlags & TraceFlags.SAMPLED) === 0) return;
    const labels = { trace_id: traceId, span_id: spanId };
    this.#metrics.setExemplar(metric, { controller }, { value, at, labels });
  }
}

/** Seconds and nanoseconds: the SDK takes a small number for a time since the start of the process. */
function instantOf(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/** The primary object of an entry. */
function primaryOf({ controller, key }: EntryBase): Readonly<Record<string, string>> {
  return {
    ...controller === undefined ? {} : { "pintle.controller": controller },
    ...key === undefined ? {} : { "pintle.key": key },
  };
}

function attributesOf({ resource, kind, key }: ObjectRef): Readonly<Record<string, string>> {
  return {
    "k8s.object.resource": resource,
    "k8s.object.kind": kind,
    ...key === undefined ? {} : { "k8s.object.key": key },
  };
}

/** An annotation with a trace: `traceparent`, also with a prefix such as `trace.example.dev/traceparent`. */
const traceAnnotation = /^metadata\.annotations(?:\.traceparent|\["(?:[^"]{0,253}\/)?traceparent"\])$/;
/** W3C Trace Context. */
const traceparent = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** The traces that a new or a changed annotation names: the peer that wrote it says in which trace it did. */
function namedTraces({ fields = [], traceparent }: ChangeEntry): readonly SpanContext[] {
  const changed = fields.flatMap(({ path, to }) => traceAnnotation.test(path) && typeof to === "string" ? [to] : []);
  return [...changed, ...(traceparent === undefined ? [] : [traceparent])].flatMap((text) =>
    parseTraceparent(text) ?? []
  );
}

/** Reads a traceparent; undefined when it is none. */
export function parseTraceparent(text: string): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.exec(text) ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(context) ? context : undefined;
}
