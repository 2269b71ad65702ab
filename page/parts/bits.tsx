/** Small parts: a state with its dot, a kind, a link to an object, changed fields, a message that fills a view. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { FieldChange, ObjectRef } from "../../src/observe/mod.ts";
import { escaped } from "../../src/observe/safe_text.ts";
import { valueText } from "../data/format.ts";
import { objectLink } from "./route.ts";

export type Tone = "good" | "warning" | "bad" | "neutral" | "busy" | "accent";

/** A word with a dot: the colour repeats what the word says. */
export function State({ text, tone, title }: { readonly text: string; readonly tone: Tone; readonly title?: string }) {
  return text === "" ? null : <span class={`state tone-${tone}`} title={title}>{escaped(text)}</span>;
}

/** `default/` is paler than the name. */
export function Name({ of: name }: { readonly of: string }) {
  // What would hide or turn the text around is shown as what it is.
  const of = escaped(name);
  const slash = of.indexOf("/");
  return slash === -1 ? <span class="name">{of}</span> : (
    <span class="name">
      <span class="pale">{of.slice(0, slash + 1)}</span>
      {of.slice(slash + 1)}
    </span>
  );
}

export function ObjectLink({ of }: { readonly of: ObjectRef }) {
  if (of.key === undefined || of.resource === "") return <span class="mono">{of.resource || of.kind}</span>;
  return (
    <a class="object-link" href={objectLink(of.resource, of.key)}>
      <span class="kind">{of.kind}</span> <Name of={of.key} />
    </a>
  );
}

/** Fields that are shown before a user asks for all. */
const maxFields = 4;

/** Changed fields with the value before and after. */
export function Fields({ fields, more = 0 }: { readonly fields: readonly FieldChange[]; readonly more?: number }) {
  const [isWhole, setWhole] = useState(false);
  if (fields.length === 0) return null;
  const shown = isWhole ? fields : fields.slice(0, maxFields);
  const left = fields.length - shown.length;
  return (
    <div class="diff">
      {shown.map(({ path, from, to }) => (
        <div class="diff-field" key={path}>
          <span class="diff-path">{escaped(path)}</span>
          {from === undefined ? null : (
            <del>
              <span class="sign" aria-hidden="true">−</span>
              {valueText(from)}
            </del>
          )}
          {to === undefined ? null : (
            <ins>
              <span class="sign" aria-hidden="true">+</span>
              {valueText(to)}
            </ins>
          )}
        </div>
      ))}
      {left > 0
        ? <button type="button" class="diff-more" onClick={() => setWhole(true)}>Show {left} more</button>
        : more > 0
        ? <div class="diff-more">and {more} more, which the recording does not have</div>
        : null}
    </div>
  );
}

/** What is shown in place of a view, with what to do. */
export function Message({ title, children, isAlert = false }: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly isAlert?: boolean;
}) {
  return (
    <div class="message" role={isAlert ? "alert" : undefined}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
