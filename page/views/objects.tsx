/** The objects as a tree of owners, and the selected one beside it. */
import { useMemo, useState } from "preact/hooks";
import type { Api } from "../data/api.ts";
import { type Model, objectId } from "../data/model.ts";
import { stateOf, type TreeRow, treeRows } from "../data/tree.ts";
import { Message, Name, State } from "../parts/bits.tsx";
import { useModel } from "../parts/hooks.ts";
import { goTo } from "../parts/route.ts";
import { VirtualList } from "../parts/virtual_list.tsx";
import { ObjectView } from "./object.tsx";

interface ObjectsProps {
  readonly model: Model;
  readonly api: Api;
  readonly query: string;
  readonly resource?: string;
  readonly objectKey?: string;
}

export function Objects({ model, api, query, resource, objectKey }: ObjectsProps) {
  const version = useModel(model);
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => treeRows(model, query, collapsed), [version, query, collapsed]);
  const selected = resource === undefined || objectKey === undefined ? undefined : objectId(resource, objectKey);
  const setExpanded = (id: string, isExpanded: boolean) => {
    const next = new Set(collapsed);
    if (isExpanded) next.delete(id);
    else next.add(id);
    setCollapsed(next);
  };
  const show = ({ object: { ref, key } }: TreeRow, isStep: boolean) =>
    goTo({ view: "objects", resource: ref.resource, key, query }, { isStep });
  return (
    <main class={`split ${selected === undefined ? "" : "has-detail"}`}>
      <h1 class="hidden">Objects</h1>
      <section class="pane list-pane" aria-label="Objects">
        <div class="pane-head">
          <span>{rows.length.toLocaleString("en-US")} {query === "" ? "objects" : "shown"}</span>
          {model.hasMoreObjects ? <span class="pale">more are not shown</span> : null}
        </div>
        {rows.length === 0 ? <NoObjects model={model} query={query} /> : (
          <VirtualList
            label="Objects, each below its owner"
            role="tree"
            rows={rows}
            rowHeight={30}
            idOf={({ object }) => object.id}
            selected={selected}
            onSelect={(row, how) => show(row, how === "key" && selected !== undefined)}
            onOpen={() => document.querySelector<HTMLElement>("#detail")?.focus()}
            onKey={({ object, hasChildren, isExpanded }, event) => {
              if (!hasChildren || (event.key !== "ArrowLeft" && event.key !== "ArrowRight")) return;
              event.preventDefault();
              if (isExpanded !== (event.key === "ArrowRight")) setExpanded(object.id, event.key === "ArrowRight");
            }}
            roleOf={({ depth, hasChildren, isExpanded, position, siblings }) => ({
              role: "treeitem",
              "aria-level": depth + 1,
              ...(hasChildren ? { "aria-expanded": isExpanded } : {}),
              "aria-setsize": siblings,
              "aria-posinset": position,
            })}
          >
            {(row) => <ObjectLine row={row} onToggle={() => setExpanded(row.object.id, !row.isExpanded)} />}
          </VirtualList>
        )}
      </section>
      <section class="pane detail-pane" aria-label="Object" id="detail" tabIndex={-1}>
        {resource === undefined || objectKey === undefined
          ? (
            <Message title="No object is selected">
              <p>
                Choose one, or press <kbd>j</kbd> and <kbd>k</kbd>.
              </p>
            </Message>
          )
          : <ObjectView key={selected} {...{ model, api, resource, objectKey }} />}
      </section>
    </main>
  );
}

function ObjectLine({ row, onToggle }: { readonly row: TreeRow; readonly onToggle: () => void }) {
  const { object, depth, hasChildren, isExpanded } = row;
  const { text, tone } = stateOf(object);
  return (
    <div class={`object-line ${object.isDeleted ? "is-deleted" : ""}`} style={{ paddingLeft: `${10 + depth * 18}px` }}>
      <span
        class={`twist ${hasChildren ? isExpanded ? "open" : "closed" : ""}`}
        aria-hidden="true"
        onClick={(event) => {
          if (!hasChildren) {
            return;
          }
          event.stopPropagation();
          onToggle();
        }}
      />
      <span class="kind">{object.ref.kind}</span>
      <Name of={object.key} />
      <State text={text} tone={tone} />
    </div>
  );
}

function NoObjects({ model, query }: { readonly model: Model; readonly query: string }) {
  if (query !== "") {
    return (
      <Message title="Nothing matches">
        <p>
          No object has “{query}” in its kind, name or state. <kbd>Esc</kbd> clears the search.
        </p>
      </Message>
    );
  }
  if (!model.isComplete) return <Message title="Reading the recording…" />;
  return (
    <Message title="There are no objects yet">
      <p>They appear when the controllers see the first ones.</p>
    </Message>
  );
}
