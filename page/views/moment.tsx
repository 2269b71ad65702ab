/** The state of the world after an entry of a recording: the objects, and one of them with what the entry changed in it. */
import { structuredPatch } from "diff";
import { useEffect, useState } from "preact/hooks";
import type { Entry } from "../../src/observe/mod.ts";
import type { ObjectRow } from "../../src/manager/debug/object_row.ts";
import { type Api, Problem } from "../data/api.ts";
import { countText } from "../data/format.ts";
import { Name, State } from "../parts/bits.tsx";
import { LineDiff } from "../parts/line_diff.tsx";

const maxRows = 60;

export function Moment({ api, entry }: { readonly api: Api; readonly entry: Entry }) {
  const [rows, setRows] = useState<readonly ObjectRow[]>();
  const [chosen, setChosen] = useState(() => objectOf(entry));
  useEffect(() => {
    const stopping = new AbortController();
    api.get<{ readonly objects: readonly ObjectRow[] }>(`debug/objects?at=${entry.id}`, stopping.signal).then(
      ({ objects }) => setRows(objects.toSorted((a, b) => (b.entry ?? 0) - (a.entry ?? 0))),
      (error) => {
        if (!(error instanceof Problem) && !stopping.signal.aborted) throw error;
      },
    );
    return () => stopping.abort();
  }, [entry.id]);
  return (
    <section class="moment" aria-labelledby="moment">
      <h3 id="moment">The world after this entry</h3>
      {chosen === undefined ? null : (
        <ObjectText
          key={`${chosen.resource} ${chosen.key}`}
          {...{ api, entry }}
          resource={chosen.resource}
          objectKey={chosen.key}
          kind={chosen.kind}
        />
      )}
      {rows === undefined ? null : rows.length === 0 ? <p class="empty">No object is known at this moment.</p> : (
        <>
          <p class="pale small">{countText(rows.length, "object")}, the ones that changed last first</p>
          <ul class="moment-rows">
            {rows.slice(0, maxRows).map((row) => (
              <li key={`${row.resource} ${row.key}`} class={row.entry === entry.id ? "is-changed" : ""}>
                <button
                  type="button"
                  aria-pressed={row.resource === chosen?.resource && row.key === chosen.key}
                  onClick={() =>
                    setChosen({ resource: row.resource, key: row.key, kind: row.kind })}
                >
                  <span class="kind">{row.kind}</span> <Name of={row.key} />
                  {row.state === undefined ? null : <State text={row.state.text} tone={row.state.tone} />}
                </button>
              </li>
            ))}
          </ul>
          {rows.length > maxRows ? <p class="empty">and {rows.length - maxRows} more</p> : null}
        </>
      )}
    </section>
  );
}

interface Chosen {
  readonly resource: string;
  readonly key: string;
  readonly kind: string;
}

function objectOf(entry: Entry): Chosen | undefined {
  if (!("object" in entry) || entry.object?.key === undefined) return undefined;
  const { resource, key, kind } = entry.object;
  return { resource, key, kind };
}

/** An object at a moment: what the entry changed in it, or the whole object if it changed nothing. */
function ObjectText({ api, entry, resource, objectKey, kind }: {
  readonly api: Api;
  readonly entry: Entry;
  readonly resource: string;
  readonly objectKey: string;
  readonly kind: string;
}) {
  const [texts, setTexts] = useState<{ readonly before: string; readonly after: string }>();
  useEffect(() => {
    const stopping = new AbortController();
    const textAt = (at: number) => {
      const query = new URLSearchParams({ resource, key: objectKey, at: String(at) });
      return api.get<{ readonly text: string }>(`debug/object?${query}`, stopping.signal).then(
        ({ text }) => text,
        noText,
      );
    };
    Promise.all([textAt(entry.id - 1), textAt(entry.id)]).then(
      ([before, after]) => setTexts({ before, after }),
      (error) => {
        if (!stopping.signal.aborted) throw error;
      },
    );
    return () => stopping.abort();
  }, [entry.id]);
  if (texts === undefined) return null;
  const { before, after } = texts;
  const isChanged = before !== after;
  const name = `${kind} ${objectKey}`;
  if (before === "" && after === "") return <p class="empty">{name} does not exist at this moment.</p>;
  return (
    <div class="moment-object">
      <p class="moment-title">
        <span class="kind">{kind}</span> <Name of={objectKey} />{" "}
        <span class="pale">
          {isChanged ? before === "" ? "is new" : after === "" ? "is gone" : "has changed" : "as it is"}
        </span>
      </p>
      <LineDiff
        label={`${name} at this moment`}
        lines={isChanged ? changedLines(before, after) : after.trimEnd().split("\n").map((line) => ` ${line}`)}
      />
    </div>
  );
}

function noText(error: unknown): string {
  if (error instanceof Problem) return "";
  throw error;
}

function changedLines(before: string, after: string): readonly string[] {
  return structuredPatch("", "", before, after, undefined, undefined, { context: 4 }).hunks
    .flatMap(({ lines }, index) => [...(index === 0 ? [] : ["@@"]), ...lines])
    .filter((line) => !line.startsWith("\\"));
}
