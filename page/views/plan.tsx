/** The plan: what the controllers would write now, with the diff of each object, and the keys that have no plan. */
import { useEffect, useState } from "preact/hooks";
import { escaped } from "../../src/observe/safe_text.ts";
import type { PlanAnswer, PlanProblem, PlanRow } from "../../src/manager/debug/plan_answers.ts";
import type { Api } from "../data/api.ts";
import { countText } from "../data/format.ts";
import type { Model } from "../data/model.ts";
import { type Plans, type PlanState, summaryText } from "../data/plan.ts";
import { Message, Name, State, type Tone } from "../parts/bits.tsx";
import { LineDiff } from "../parts/line_diff.tsx";

/** Objects that are shown before a user asks for more. */
const pageSize = 100;

export function Plan({ plans, api, model }: { readonly plans: Plans; readonly api: Api; readonly model: Model }) {
  const [state, setState] = useState(plans.state);
  useEffect(() => {
    const update = () => setState(plans.state);
    update();
    return plans.subscribe(update);
  }, [plans]);
  if (model.source.canPlan !== true) {
    return (
      <main class="overview">
        <h1 class="hidden">Plan</h1>
        <Message title="A recording has no plan">
          <p>A process that runs computes one. For a cluster, use the command plan.</p>
        </Message>
      </main>
    );
  }
  const isComputing = state.kind === "computing";
  return (
    <main class="overview plan" aria-busy={isComputing}>
      <h1 class="hidden">Plan</h1>
      <section aria-labelledby="plan">
        <header class="section-head">
          <h2 id="plan">What the controllers would write now</h2>
          <button type="button" class="primary" disabled={isComputing} onClick={() => void plans.compute(api)}>
            {isComputing ? "Computing the plan" : "Compute the plan"}
          </button>
        </header>
        <p class="pale">
          A copy of the cluster is read, and the controllers run on it in another process until nothing is left to do.
          Nothing is written to the cluster.
        </p>
        <div role="status">
          <Outcome state={state} />
        </div>
      </section>
      {state.kind === "complete" ? <Answer answer={state.answer} /> : null}
    </main>
  );
}

/** One sentence about how far the plan is. */
function Outcome({ state }: { readonly state: PlanState }) {
  switch (state.kind) {
    case "none":
      return null;
    case "computing":
      return <p class="plan-outcome">Computing the plan…</p>;
    case "failed":
      return (
        <p class="plan-outcome">
          <State text={state.isBusy ? "busy" : "no plan"} tone={state.isBusy ? "warning" : "bad"} />{" "}
          {escaped(state.problem)}
        </p>
      );
    case "complete": {
      const { answer } = state;
      return (
        <>
          <p class="plan-outcome">
            <strong>{summaryText(answer) || "No changes"}</strong>{" "}
            <span class="pale">
              {countText(answer.keys, "key")} of {answer.controllers.map(escaped).join(", ") || "no controller"}, as of
              {" "}
              {escaped(answer.time.slice(11, 19))} UTC
            </span>
          </p>
          {answer.leftOut.map(({ controller, keys }) => (
            <p key={controller} class="plan-outcome">
              <State text="incomplete" tone="warning" /> {countText(keys, "more key")} of {escaped(controller)}{" "}
              left out: the limit is {countText(answer.keys, "key")}
            </p>
          ))}
          {answer.notes.map((note) => <p key={note} class="plan-outcome pale">{escaped(note)}</p>)}
        </>
      );
    }
    default:
      return state satisfies never;
  }
}

function Answer({ answer }: { readonly answer: PlanAnswer }) {
  const [shown, setShown] = useState(pageSize);
  const { changes, failing, endless, warnings } = answer;
  return (
    <>
      <Problems id="failing" title="Keys without a plan: their reconcile fails" tone="bad" problems={failing} />
      <Problems id="endless" title="Keys that would go on for ever" tone="warning" problems={endless} />
      {changes.length === 0 ? null : (
        <section aria-labelledby="changes">
          <header class="section-head">
            <h2 id="changes">Changes</h2>
            <span class="count">{changes.length}</span>
          </header>
          <ul class="plan-changes">
            {changes.slice(0, shown).map((change) => (
              <Change key={`${change.apiVersion} ${change.kind} ${change.namespace} ${change.name}`} change={change} />
            ))}
          </ul>
          {changes.length > shown
            ? (
              <button type="button" onClick={() => setShown(shown + pageSize)}>
                Show {Math.min(pageSize, changes.length - shown)} of {changes.length - shown} more
              </button>
            )
            : null}
        </section>
      )}
      <Problems id="warnings" title="Events that would warn" tone="warning" problems={warnings} />
    </>
  );
}

const tones = { delete: "bad", replace: "bad", update: "warning", create: "good" } as const satisfies Record<
  PlanRow["action"],
  Tone
>;

function Change({ change }: { readonly change: PlanRow }) {
  const { action, kind, namespace, name, by, waitsFor = [], diff } = change;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  return (
    <li>
      <p class="plan-title">
        <State text={action} tone={tones[action]} /> <span class="kind">{escaped(kind)}</span> <Name of={key} />{" "}
        <span class="pale small">by {by.map(escaped).join(", ")}</span>
      </p>
      {waitsFor.length === 0 ? null : <p class="pale small">waits for {waitsFor.map(escaped).join(", ")}</p>}
      {diff === undefined
        ? <p class="empty">The plan is too large to show this diff. The command plan shows it.</p>
        : diff.some((line) => line.startsWith("@@"))
        ? <LineDiff label={`Diff of ${escaped(kind)} ${escaped(key)}`} lines={diff.filter((line) => !isHead(line))} />
        : <p class="empty">Only values that are masked here differ.</p>}
    </li>
  );
}

/** The names of the two files: the title says the same. */
function isHead(line: string): boolean {
  return /^(--- LIVE\/|\+\+\+ PLAN\/)/.test(line);
}

function Problems({ id, title, tone, problems }: {
  readonly id: string;
  readonly title: string;
  readonly tone: Tone;
  readonly problems: readonly PlanProblem[];
}) {
  if (problems.length === 0) return null;
  return (
    <section aria-labelledby={id}>
      <header class="section-head">
        <h2 id={id}>{title}</h2>
        <span class="count">{problems.length}</span>
      </header>
      <ul class="attention">
        {problems.slice(0, pageSize).map(({ controller, key, problem }, index) => (
          <li key={index}>
            <State text={escaped(controller)} tone={tone} />
            <span class="attention-name">
              <Name of={key} />
            </span>
            <span class="attention-text">{escaped(problem)}</span>
          </li>
        ))}
      </ul>
      {problems.length > pageSize ? <p class="empty">and {problems.length - pageSize} more</p> : null}
    </section>
  );
}
