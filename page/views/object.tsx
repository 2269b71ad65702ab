/** One object: its state, why it waits, when it is tried again, its family, and the chains of causes with what changed. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Explanation, WhyNot } from "../../src/explain/mod.ts";
import { type Api, Problem } from "../data/api.ts";
import { countText, dateText, durationText, timeText } from "../data/format.ts";
import { type KnownObject, type Model, objectId, type Work } from "../data/model.ts";
import { family, stateOf } from "../data/tree.ts";
import { Fields, Message, Name, ObjectLink, State } from "../parts/bits.tsx";
import { useModel, useNow } from "../parts/hooks.ts";
import { retryText } from "./overview.tsx";

interface ObjectViewProps {
  readonly model: Model;
  readonly api: Api;
  readonly resource: string;
  readonly objectKey: string;
}

/** The answers of `why` and `why --not`. */
interface Answers {
  readonly explanation?: Explanation;
  readonly whyNot?: WhyNot;
  readonly problem?: Problem;
}

const maxChains = 50;
const maxOwned = 60;

export function ObjectView({ model, api, resource, objectKey }: ObjectViewProps) {
  const version = useModel(model);
  const now = useNow(model);
  const answers = useAnswers(api, { resource, objectKey, version });
  const object = model.objects.get(objectId(resource, objectKey));
  const kind = object?.ref.kind ?? answers.explanation?.object?.kind ?? resource;
  return (
    <article class="object">
      <header class="object-head">
        <p class="kind-line">
          <span class="kind">{kind}</span> <span class="pale mono">{resource}</span>
        </p>
        <h2>
          <Name of={objectKey} />
        </h2>
        {object === undefined ? null : <Facts object={object} now={now} />}
      </header>
      <Reasons answers={answers} />
      {object === undefined ? null : <Family model={model} object={object} />}
      <History model={model} answers={answers} now={now} />
    </article>
  );
}

/** Asks again when something has happened, but one question at a time. */
function useAnswers(
  api: Api,
  { resource, objectKey, version }: {
    readonly resource: string;
    readonly objectKey: string;
    readonly version: number;
  },
): Answers {
  const [answers, setAnswers] = useState<Answers>({});
  const asking = useRef<{ isBusy: boolean; isStale: boolean; isGone: boolean }>({
    isBusy: false,
    isStale: false,
    isGone: false,
  });
  useEffect(() => {
    const state = asking.current;
    const ask = async () => {
      if (state.isBusy) {
        state.isStale = true;
        return;
      }
      state.isBusy = true;
      state.isStale = false;
      const query = new URLSearchParams({ kind: resource, key: objectKey, limit: String(maxChains) });
      const [explanation, whyNot] = await Promise.all([
        api.get<Explanation>(`debug/why?${query}`).catch(problemOf),
        api.get<WhyNot>(`debug/why?${query}&not`).catch(problemOf),
      ]);
      if (state.isGone) return;
      setAnswers({
        ...(explanation instanceof Problem ? { problem: explanation } : { explanation }),
        ...(whyNot instanceof Problem ? {} : { whyNot }),
      });
      // The next question waits a little: an answer is of the whole recording.
      setTimeout(() => {
        state.isBusy = false;
        if (state.isStale && !state.isGone) void ask();
      }, 1_000);
    };
    void ask();
  }, [version]);
  useEffect(() => () => void (asking.current.isGone = true), []);
  return answers;
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

function Facts({ object, now }: { readonly object: KnownObject; readonly now: number }) {
  const { row, work, touchedAt } = object;
  const state = stateOf(object);
  return (
    <dl class="facts">
      <div>
        <dt>State</dt>
        <dd>{state.text === "" ? <span class="pale">not known</span> : <State {...state} />}</dd>
      </div>
      {row?.state === undefined || row.state.text === state.text ? null : (
        <div>
          <dt>Status</dt>
          <dd>
            <State text={row.state.text} tone={row.state.tone} />
          </dd>
        </div>
      )}
      {[...work.values()].map((one) => <WorkFacts key={one.controller} work={one} now={now} />)}
      {touchedAt === 0 ? null : (
        <div>
          <dt>Last seen</dt>
          <dd class="tabular">{timeText(touchedAt)}</dd>
        </div>
      )}
      {row?.resourceVersion === undefined ? null : (
        <div>
          <dt>Version</dt>
          <dd class="mono">{row.resourceVersion}</dd>
        </div>
      )}
    </dl>
  );
}

function WorkFacts({ work, now }: { readonly work: Work; readonly now: number }) {
  const { controller, state, nextAt, retries = 0 } = work;
  const retry = retryText(work, now);
  return (
    <>
      <div>
        <dt>Controller</dt>
        <dd>
          {controller}{" "}
          <span class="pale">{state}{retries > 0 ? `, ${countText(retries, "failure")} in a row` : ""}</span>
        </dd>
      </div>
      {retry === "" ? null : (
        <div>
          <dt>Next attempt</dt>
          <dd class="tabular">
            {retry} {nextAt === undefined || nextAt <= now ? null : <span class="pale">at {timeText(nextAt)}</span>}
          </dd>
        </div>
      )}
    </>
  );
}

/** Why nothing happens: the answer of `why --not`. */
function Reasons({ answers: { whyNot, problem } }: { readonly answers: Answers }) {
  if (problem !== undefined && problem.kind !== "missing") {
    return <div class="callout tone-bad" role="alert">{problem.message}</div>;
  }
  const [first, ...others] = whyNot?.reasons ?? [];
  if (first === undefined) return null;
  const isProblem = /fail|parked|backoff|cache|standby|namespace|cached|retr/.test(first.kind);
  return (
    <section class={`callout ${isProblem ? "tone-warning" : "tone-neutral"}`} aria-labelledby="why-not">
      <h3 id="why-not">Why nothing happens now</h3>
      <p class="reason">{sentence(first.text)}</p>
      {others.map(({ text }) => <p class="reason pale" key={text}>{sentence(text)}</p>)}
    </section>
  );
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

function Family({ model, object }: { readonly model: Model; readonly object: KnownObject }) {
  const { owners, owned } = family(model, object.id);
  if (owners.length === 0 && owned.length === 0) return null;
  return (
    <section class="family" aria-label="Owners and owned objects">
      {owners.length === 0 ? null : (
        <div class="family-line">
          <h3>Owned by</h3>
          <ul>
            {owners.map(({ id, ref }) => (
              <li key={id}>
                <ObjectLink of={ref} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {owned.length === 0 ? null : (
        <div class="family-line">
          <h3>Owns</h3>
          <ul>
            {owned.slice(0, maxOwned).map(({ id, ref }) => (
              <li key={id}>
                <ObjectLink of={ref} />
              </li>
            ))}
            {owned.length > maxOwned ? <li class="pale">and {owned.length - maxOwned} more</li> : null}
          </ul>
        </div>
      )}
    </section>
  );
}

const outcomes = {
  done: { text: "reconciled", tone: "good" },
  unchanged: { text: "nothing to do", tone: "neutral" },
  failed: { text: "failed", tone: "bad" },
  running: { text: "running", tone: "busy" },
  ignored: { text: "ignored", tone: "neutral" },
  reviewed: { text: "reviewed", tone: "neutral" },
} as const;

/** The chains of causes, newest first: the answer of `why`. */
function History({ model, answers, now }: { readonly model: Model; readonly answers: Answers; readonly now: number }) {
  const { explanation, problem } = answers;
  if (explanation === undefined) {
    return problem?.kind === "missing"
      ? (
        <Message title="Nothing is recorded">
          <p>{problem.message}</p>
        </Message>
      )
      : null;
  }
  const { chains, notes } = explanation;
  return (
    <section class="history" aria-labelledby="history">
      <h3 id="history">What happened, newest first</h3>
      {chains.length === 0 ? <p class="empty">Nothing about this object is recorded.</p> : (
        <ol class="chains">
          {chains.map((chain) => {
            const { text, tone } = outcomes[chain.outcome];
            return (
              <li class={`chain tone-${tone}`} key={chain.steps.map(({ entries }) => entries.join()).join("|")}>
                <div class="chain-head">
                  <time dateTime={new Date(chain.at).toISOString()} title={dateText(chain.at)}>
                    {timeText(chain.at)}
                  </time>
                  <State text={text} tone={tone} />
                  <span class="pale">{now - chain.at >= 1_000 ? `${durationText(now - chain.at)} ago` : "now"}</span>
                </div>
                <ol class="steps">
                  {chain.steps.map((step, index) => (
                    <li class={`step step-${step.kind}`} key={index}>
                      <a
                        class="step-text"
                        href={`#/timeline/${step.entries.at(-1) ?? ""}`}
                        title="Show it in the timeline"
                      >
                        {step.text}
                      </a>
                      {step.kind === "cause" ? <Changes model={model} entries={step.entries} /> : null}
                    </li>
                  ))}
                </ol>
              </li>
            );
          })}
        </ol>
      )}
      {notes.map((note) => <p class="note pale" key={note}>{note}</p>)}
    </section>
  );
}

/** The fields that the entries of a step changed. */
function Changes({ model, entries }: { readonly model: Model; readonly entries: readonly number[] }) {
  const changes = new Map(entries.flatMap((id) => {
    const entry = model.find(id);
    // The same change again is one.
    return entry?.kind === "change" && (entry.fields?.length ?? 0) > 0
      ? [[JSON.stringify(entry.fields), entry] as const]
      : [];
  }));
  if (changes.size === 0) return null;
  return (
    <>
      {[...changes.values()].slice(0, 3).map(({ id, fields = [], moreFields }) => (
        <Fields key={id} fields={fields} more={moreFields} />
      ))}
    </>
  );
}
