/**
 * VirtualList: a list of any length with rows of one height. Only the rows that can be seen are in the document, and a few around
 * them.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "./hooks.ts";

/** Rows above and below those that can be seen. */
const margin = 8;

/** What a row says about itself to assistive technology. */
export interface RowRole {
  readonly role: "treeitem" | "option";
  readonly "aria-level"?: number;
  readonly "aria-expanded"?: boolean;
  readonly "aria-setsize"?: number;
  readonly "aria-posinset"?: number;
}

interface VirtualListProps<T> {
  readonly label: string;
  readonly role: "tree" | "listbox";
  readonly rows: readonly T[];
  readonly rowHeight: number;
  readonly idOf: (row: T) => string;
  readonly selected: string | undefined;
  /** The selection moves with j and k, and a click. */
  readonly onSelect: (row: T, how: "key" | "click") => void;
  /** Enter. */
  readonly onOpen?: (row: T) => void;
  /** Further keys of the selected row. */
  readonly onKey?: (row: T, event: KeyboardEvent) => void;
  readonly roleOf: (row: T) => RowRole;
  readonly children: (row: T) => ComponentChildren;
}

export function VirtualList<T>(props: VirtualListProps<T>) {
  const { label, role, rows, rowHeight, idOf, selected, roleOf } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  const index = useMemo(
    () => selected === undefined ? -1 : rows.findIndex((row) => idOf(row) === selected),
    [rows, selected],
  );

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    setHeight(element.clientHeight);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || index < 0) return;
    const [from, to] = [index * rowHeight, (index + 1) * rowHeight];
    if (from < element.scrollTop) element.scrollTop = from;
    else if (to > element.scrollTop + element.clientHeight) element.scrollTop = to - element.clientHeight;
  }, [selected, index < 0]);

  // Keys may come faster than the address of the view changes, and before the browser has drawn what was selected.
  const current = useRef(selected);
  useLayoutEffect(() => void (current.current = selected), [selected]);

  useKeys((event) => {
    const at = rows.findIndex((one) => idOf(one) === current.current);
    const step = stepOf(event.key, Math.max(1, Math.floor(height / rowHeight) - 1));
    const row = rows[at];
    if (step !== undefined) {
      event.preventDefault();
      const target = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
      if (target === undefined) return;
      current.current = idOf(target);
      props.onSelect(target, "key");
    } else if (
      event.key === "Enter" && row !== undefined && !(event.target instanceof HTMLButtonElement) &&
      !(event.target instanceof HTMLAnchorElement)
    ) {
      event.preventDefault();
      props.onOpen?.(row);
    } else if (row !== undefined) props.onKey?.(row, event);
  });

  const first = Math.max(0, Math.floor(top / rowHeight) - margin);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + margin);
  const isShown = index >= first && index < last;
  return (
    <div
      ref={scroller}
      class="list"
      role={role}
      aria-label={label}
      tabIndex={0}
      aria-activedescendant={isShown ? domId(selected ?? "") : undefined}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="list-space" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, offset) => {
          const id = idOf(row);
          return (
            <div
              key={id}
              id={domId(id)}
              class="row"
              aria-selected={id === selected}
              style={{ transform: `translateY(${(first + offset) * rowHeight}px)`, height: `${rowHeight}px` }}
              onClick={() => props.onSelect(row, "click")}
              {...roleOf(row)}
            >
              {props.children(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function stepOf(key: string, page: number): number | undefined {
  switch (key) {
    case "j":
    case "ArrowDown":
      return 1;
    case "k":
    case "ArrowUp":
      return -1;
    case "PageDown":
      return page;
    case "PageUp":
      return -page;
    case "Home":
      return -Infinity;
    case "End":
      return Infinity;
    default:
      return undefined;
  }
}

/** An id without the spaces that a list of ids separates. */
function domId(id: string): string {
  return `row:${id.replaceAll(" ", ":")}`;
}
