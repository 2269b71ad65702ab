/** The overview: each controller with its small plots, what needs attention, and the caches. */
import { useMemo } from "preact/hooks";
import { bytesText, countText, durationText, numberText, timeText } from "../data/format.ts";
import type { KnownObject, Model, Work } from "../data/model.ts";
import { percentile95, seriesOf, Stats, type Window } from "../data/stats.ts";
import { useModel, useNow } from "../parts/hooks.ts";
import { escaped } from "../../src/observe/safe_text.ts";
import { ObjectLink, State } from "../parts/bits.tsx";
import { Plot } from "../parts/plot.tsx";

const liveWindowMs = 5 * 60_000;
const maxAttention = 50;

export function Overview({ model }: { readonly model: Model }) {
  const version = useModel(model);
  const now = useNow(model);
  const window = useMemo(() => windowOf(model, now), [version, Math.floor(now / 1_000)]);
  const attention = useMemo(() => attentionOf(model), [version]);
  return (
    <main class="overview">
      <h1 class="hidden">Overview</h1>
      <Attention items={attention} now={now} />
      <Controllers model={model} window={window} attention={attention} />
      <Caches model={model} now={now} />
    </main>
  );
}

function windowOf({ source, entries }: Model, now: number): Window {
  if (source.kind === "process") return { from: now - liveWindowMs, to: now };
  const from = entries[0]?.at ?? now - 1_000;
  return { from, to: Math.max(now, from + 1_000) };
}

function Controllers({ model, window, attention }: {
  readonly model: Model;
  readonly window: Window;
  readonly attention: readonly AttentionItem[];
}) {
  const names = [...model.stats.keys()];
  const span = model.source.kind === "process" ? "the last 5 minutes" : `all ${durationText(window.to - window.from)}`;
  return (
    <section aria-labelledby="controllers">
      <header class="section-head">
        <h2 id="controllers">Controllers</h2>
        <span class="pale">{span}</span>
      </header>
      {names.length === 0
        ? <p class="empty">This program has no controllers.</p>
        : (
          <div class="table-scroll" role="group" aria-label="Table of controllers" tabIndex={0}>
            <table class="controllers">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">State</th>
                  <th scope="col">
                    Throughput <span class="unit">per s</span>
                  </th>
                  <th scope="col">
                    Failures <span class="unit">per s</span>
                  </th>
                  <th scope="col">
                    Queue <span class="unit">keys ready</span>
                  </th>
                  <th scope="col">
                    Lag <span class="unit">change to start</span>
                  </th>
                  <th scope="col">
                    Duration <span class="unit">p95</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {names.map((name) => (
                  <ControllerRow key={name} {...{ model, name, window }} failing={failing(attention, name)} />
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  );
}

function failing(attention: readonly AttentionItem[], name: string): number {
  return attention.filter(({ work }) => work?.controller === name && work.state === "failing").length;
}

function ControllerRow({ model, name, window, failing }: {
  readonly model: Model;
  readonly name: string;
  readonly window: Window;
  readonly failing: number;
}) {
  const stats = model.stats.get(name) ?? new Stats();
  const queue = model.live?.queues.find(({ controller }) => controller === name);
  const kind = model.source.controllers.find((one) => one.name === name)?.primary.kind;
  const ends = seriesOf(stats.ends, window, "rate");
  const failures = seriesOf(stats.failures, window, "rate");
  const depths = seriesOf(stats.depths, window, "last");
  const lags = seriesOf(stats.lags, window, "max");
  const rate = (count: number) => numberText(count * 1_000 / (window.to - window.from));
  const inWindow = (samples: Stats["ends"]) => samples.filter(({ at }) => at >= window.from).length;
  const [lag, duration] = [percentile95(stats.lags, window), percentile95(stats.durations, window)];
  const depth = queue?.queued ?? stats.depths.at(-1)?.value ?? 0;
  return (
    <tr>
      <th scope="row">
        <span class="strong">{name}</span>
        {kind === undefined ? null : <span class="pale sub">{kind}</span>}
      </th>
      <td>
        <State {...controllerState(queue, failing)} />
        {queue === undefined ? null : (
          <span class="pale sub">
            {[
              `${queue.running + queue.runningDirty} running`,
              ...(queue.waiting > 0 ? [`${queue.waiting} waiting`] : []),
              ...(queue.parked > 0 ? [`${queue.parked} parked`] : []),
            ].join(" · ")}
          </span>
        )}
      </td>
      <td>
        <Plot
          name="Reconciles per second"
          series={ends}
          value={rate(inWindow(stats.ends))}
          tone="accent"
          format={numberText}
        />
      </td>
      <td>
        <Plot
          name="Failures per second"
          series={failures}
          value={rate(inWindow(stats.failures))}
          tone={stats.failures.length > 0 ? "bad" : "neutral"}
          format={numberText}
        />
      </td>
      <td>
        <Plot name="Keys ready" series={depths} value={numberText(depth)} tone="warning" format={numberText} />
      </td>
      <td>
        <Plot
          name="Milliseconds from change to start"
          series={lags}
          value={lag === undefined ? "–" : durationText(lag)}
          tone="neutral"
          format={durationText}
        />
      </td>
      <td class="number">{duration === undefined ? "–" : durationText(duration)}</td>
    </tr>
  );
}

function controllerState(queue: { readonly isRunning: boolean } | undefined, failing: number) {
  if (queue?.isRunning === false) return { text: "standby", tone: "neutral" } as const;
  if (failing > 0) return { text: `${failing} failing`, tone: "bad" } as const;
  return { text: queue === undefined ? "recorded" : "running", tone: "good" } as const;
}

/** What a person should look at. */
interface AttentionItem {
  readonly object?: KnownObject;
  readonly work?: Work;
  readonly title: string;
  readonly text: string;
  readonly state: "failing" | "parked" | "not following" | "violated";
  /** Where more about it is, if it is not about an object. */
  readonly link?: string;
}

function attentionOf({ objects, live, violations }: Model): readonly AttentionItem[] {
  const items: AttentionItem[] = violations.map(({ id, what, detail = "" }) => ({
    title: what,
    text: detail,
    state: "violated",
    link: `#/timeline/${id}`,
  }));
  for (const { name, problem } of live?.caches ?? []) {
    if (problem !== undefined) items.push({ title: name, text: problem, state: "not following" });
  }
  for (const object of objects.values()) {
    for (const work of object.work.values()) {
      if ((work.state !== "failing" && work.state !== "parked") || object.isDeleted) continue;
      items.push({ object, work, title: object.key, text: work.reason ?? "no reason is known", state: work.state });
    }
  }
  return items;
}

function Attention({ items, now }: { readonly items: readonly AttentionItem[]; readonly now: number }) {
  if (items.length === 0) return null;
  const shown = items.slice(0, maxAttention);
  return (
    <section aria-labelledby="attention">
      <header class="section-head">
        <h2 id="attention">Needs attention</h2>
        <span class="count">{items.length}</span>
      </header>
      <ul class="attention">
        {shown.map(({ object, work, title, text, state, link }) => (
          <li key={`${state} ${work?.controller} ${object?.id ?? title}`}>
            <State text={state} tone={state === "parked" ? "warning" : "bad"} />
            <span class="attention-name">
              {object !== undefined
                ? <ObjectLink of={object.ref} />
                : link !== undefined
                ? <a class="object-link" href={link}>{escaped(title)}</a>
                : escaped(title)}
            </span>
            <span class="attention-text">{escaped(text)}</span>
            <span class="pale number">{work === undefined ? "" : retryText(work, now)}</span>
          </li>
        ))}
      </ul>
      {items.length > maxAttention ? <p class="empty">and {items.length - maxAttention} more</p> : null}
    </section>
  );
}

/** `retry in 3 s`. */
export function retryText({ state, nextAt }: Work, now: number): string {
  if (nextAt === undefined) return state === "failing" ? "not tried again" : "";
  return nextAt > now ? `next in ${durationText(nextAt - now)}` : `due since ${timeText(nextAt)}`;
}

function Caches({ model, now }: { readonly model: Model; readonly now: number }) {
  const { live } = model;
  if (live === undefined) return null;
  return (
    <section aria-labelledby="caches">
      <header class="section-head">
        <h2 id="caches">Caches</h2>
        <span class="pale">{countText(live.caches.reduce((sum, { objects }) => sum + objects, 0), "object")}</span>
      </header>
      <div class="table-scroll" role="group" aria-label="Table of caches" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Kind</th>
              <th scope="col">State</th>
              <th scope="col" class="number">Objects</th>
              <th scope="col" class="number">Size</th>
              <th scope="col" class="number">
                Last proof <span class="unit">seconds ago</span>
              </th>
              <th scope="col" class="number">
                Behind <span class="unit">versions</span>
              </th>
              <th scope="col" class="number">
                Own writes <span class="unit">not seen yet</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {live.caches.map((
              { name, state, problem, nextAttemptAt, objects, bytes, hasSynced, ...rest },
            ) => (
              <tr key={name}>
                <th scope="row" class="mono">{name}</th>
                <td>
                  <State
                    text={problem === undefined ? hasSynced ? "follows" : state : "not following"}
                    tone={problem === undefined ? hasSynced ? "good" : "busy" : "bad"}
                  />
                  {nextAttemptAt === undefined
                    ? null
                    : <span class="pale sub">next try in {durationText(nextAttemptAt - now)}</span>}
                </td>
                <td class="number">{objects.toLocaleString("en-US")}</td>
                <td class="number">{bytesText(bytes)}</td>
                <td class="number">{rest.lagSeconds === undefined ? "–" : Math.round(rest.lagSeconds)}</td>
                <td class="number">{rest.versionsBehind ?? "–"}</td>
                <td class="number">{rest.unconfirmedWrites}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
