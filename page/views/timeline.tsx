/** All entries of the recording, newest first, and the selected one with its causes and effects. */
import { useMemo } from "preact/hooks";
import type { Entry } from "../../src/observe/mod.ts";
import { dateText, entryText, entryTone, objectText, preciseTime } from "../data/format.ts";
import type { Api } from "../data/api.ts";
import type { Model } from "../data/model.ts";
import { Fields, Message, ObjectLink, State } from "../parts/bits.tsx";
import { useKeys, useModel } from "../parts/hooks.ts";
import { goTo } from "../parts/route.ts";
import { Moment } from "./moment.tsx";
import { VirtualList } from "../parts/virtual_list.tsx";

interface TimelineProps {
  readonly model: Model;
  readonly api: Api;
  readonly query: string;
  readonly id?: number;
}

export function Timeline({ model, api, query, id }: TimelineProps) {
  const version = useModel(model);
  const rows = useMemo(() => matching(model.entries, query), [version, query]);
  const entry = id === undefined ? undefined : model.find(id);
  const { dropped, isFirstMissing, isTruncated } = model.source;
  return (
    <main class={`split timeline ${entry === undefined ? "" : "has-detail"}`}>
      <h1 class="hidden">Timeline</h1>
      <section class="pane list-pane" aria-label="Entries">
        <div class="pane-head">
          <span>{rows.length.toLocaleString("en-US")} entries, newest first</span>
          {dropped > 0 ? <span class="pale">{dropped.toLocaleString("en-US")} older ones are not shown</span> : null}
          {isFirstMissing ? <span class="pale">the first files are gone</span> : null}
          {isTruncated ? <span class="pale">the last line of the file was cut</span> : null}
        </div>
        {rows.length === 0
          ? <Message title={model.isComplete ? "No entry matches" : "Reading the recording…"} />
          : (
            <VirtualList
              label="Entries, newest first"
              role="listbox"
              rows={rows}
              rowHeight={30}
              idOf={(row) => String(row.id)}
              selected={id === undefined ? undefined : String(id)}
              onSelect={(row, how) =>
                goTo({ view: "timeline", id: row.id, query }, { isStep: how === "key" && id !== undefined })}
              onOpen={() => document.querySelector<HTMLElement>("#detail")?.focus()}
              roleOf={() => ({ role: "option" })}
            >
              {(row) => <EntryLine entry={row} />}
            </VirtualList>
          )}
      </section>
      <section class="pane detail-pane" aria-label="Entry" id="detail" tabIndex={-1}>
        {entry === undefined
          ? (
            <Message title={id === undefined ? "No entry is selected" : `There is no entry ${id}`}>
              <p>
                {id === undefined
                  ? "Choose one to see what led to it, and what it led to."
                  : "It was dropped, or is of another recording."}
              </p>
            </Message>
          )
          : <EntryView key={entry.id} {...{ model, api, entry, query, rows }} />}
      </section>
    </main>
  );
}

function matching(entries: readonly Entry[], query: string): readonly Entry[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = words.length === 0 ? entries : entries.filter((entry) => {
    const object = "object" in entry && entry.object !== undefined ? objectText(entry.object) : "";
    const text = `${entry.kind} ${entry.controller ?? ""} ${entry.key ?? ""} ${object} ${entryText(entry)}`
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return found.toReversed();
}

function EntryLine({ entry }: { readonly entry: Entry }) {
  return (
    <div class="entry-line">
      <span class="tabular pale">{preciseTime(entry.at)}</span>
      <span class={`entry-kind tone-${entryTone(entry)}`}>{entry.kind}</span>
      <span class="entry-about">{aboutText(entry)}</span>
      <span class="entry-text">{entryText(entry)}</span>
    </div>
  );
}

function aboutText(entry: Entry): string {
  if ("object" in entry && entry.object?.key !== undefined) return objectText(entry.object);
  return entry.key ?? entry.controller ?? "";
}

function EntryView({ model, api, entry, query, rows }: {
  readonly model: Model;
  readonly api: Api;
  readonly entry: Entry;
  readonly query: string;
  /** The entries of the list, newest first. */
  readonly rows: readonly Entry[];
}) {
  const { id, at, kind, causes, controller, key } = entry;
  const primary = model.primaryOf(controller, key);
  const show = (other: number) => goTo({ view: "timeline", id: other, query });
  useKeys((event) => {
    if (event.key === "[" && causes[0] !== undefined) show(causes[0]);
    const [effect] = model.effectsOf(id);
    if (event.key === "]" && effect !== undefined) show(effect);
  });
  return (
    <article class="object">
      <Stepper {...{ entry, rows, show }} />
      <header class="object-head">
        <p class="kind-line">
          <State text={kind} tone={entryTone(entry)} /> <span class="pale tabular">entry {id}</span>
        </p>
        <h2 class="entry-title">{entryText(entry)}</h2>
        <dl class="facts">
          <div>
            <dt>Time</dt>
            <dd class="tabular" title={dateText(at)}>{preciseTime(at)}</dd>
          </div>
          {"object" in entry && entry.object !== undefined
            ? (
              <div>
                <dt>Object</dt>
                <dd>
                  <ObjectLink of={entry.object} />
                </dd>
              </div>
            )
            : null}
          {entry.process === undefined ? null : (
            <div>
              <dt>Process</dt>
              <dd>{entry.process}</dd>
            </div>
          )}
          {controller === undefined ? null : (
            <div>
              <dt>Controller</dt>
              <dd>{controller}</dd>
            </div>
          )}
          {primary === undefined ? null : (
            <div>
              <dt>For</dt>
              <dd>
                <ObjectLink of={primary} />
              </dd>
            </div>
          )}
          {entry.kind === "change" && entry.by !== undefined && entry.by.length > 0
            ? (
              <div>
                <dt>By</dt>
                <dd>
                  {entry.by.map(({ manager, operation }) => `${manager ?? "?"} (${operation ?? "?"})`).join(", ")}
                </dd>
              </div>
            )
            : null}
          {entry.kind === "change" && entry.resourceVersion !== undefined
            ? (
              <div>
                <dt>Version</dt>
                <dd class="mono">{entry.resourceVersion}</dd>
              </div>
            )
            : null}
        </dl>
      </header>
      {entry.kind === "change" ? <Fields fields={entry.fields ?? []} more={entry.moreFields} /> : null}
      {entry.kind === "write" && entry.body !== undefined
        ? <pre class="body" tabIndex={0} aria-label="What was sent">{JSON.stringify(entry.body, undefined, 2)}</pre>
        : null}
      <Linked title="Led to it" ids={causes} model={model} />
      <Linked title="It led to" ids={model.effectsOf(id)} model={model} />
      {model.source.hasStates ? <Moment api={api} entry={entry} /> : null}
    </article>
  );
}

/** Goes through the entries of the list in the order of time. */
function Stepper({ entry, rows, show }: {
  readonly entry: Entry;
  readonly rows: readonly Entry[];
  readonly show: (id: number) => void;
}) {
  const place = rows.findIndex(({ id }) => id === entry.id);
  if (place < 0) return null;
  const [earlier, later] = [rows[place + 1], rows[place - 1]];
  return (
    <div class="stepper" role="group" aria-label="Steps in time">
      <button type="button" disabled={earlier === undefined} onClick={() => earlier && show(earlier.id)}>
        Earlier
      </button>
      <button type="button" disabled={later === undefined} onClick={() => later && show(later.id)}>Later</button>
      <span class="pale tabular">{rows.length - place} of {rows.length}</span>
    </div>
  );
}

const maxLinked = 40;

function Linked(
  { title, ids, model }: { readonly title: string; readonly ids: readonly number[]; readonly model: Model },
) {
  if (ids.length === 0) return null;
  return (
    <section class="linked" aria-label={title}>
      <h3>{title}</h3>
      <ol>
        {ids.slice(0, maxLinked).map((id) => {
          const entry = model.find(id);
          return (
            <li key={id}>
              {entry === undefined
                ? <span class="pale">entry {id}, which is older than the recording</span>
                : (
                  <a class="entry-line" href={`#/timeline/${id}`}>
                    <span class="tabular pale">{preciseTime(entry.at)}</span>
                    <span class={`entry-kind tone-${entryTone(entry)}`}>{entry.kind}</span>
                    <span class="entry-about">{aboutText(entry)}</span>
                    <span class="entry-text">{entryText(entry)}</span>
                  </a>
                )}
            </li>
          );
        })}
      </ol>
      {ids.length > maxLinked ? <p class="empty">and {ids.length - maxLinked} more</p> : null}
    </section>
  );
}
