/** Lines of a diff: `+` and `-` at the beginning of a line say what was added and removed, a space what stayed. */
import { useState } from "preact/hooks";
import { escaped } from "../../src/observe/safe_text.ts";

/** Lines that are shown before a user asks for all. */
const maxLines = 40;

export function LineDiff({ lines, label }: { readonly lines: readonly string[]; readonly label: string }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, maxLines);
  return (
    <div class="lines">
      <pre tabIndex={0} aria-label={label}>
        {shown.map((line, index) => <span key={index} class={`line ${kindOf(line)}`}>{`${escaped(line)}\n`}</span>)}
      </pre>
      {shown.length < lines.length
        ? (
          <button type="button" class="diff-more" onClick={() => setWhole(true)}>
            Show {lines.length - shown.length} more lines
          </button>
        )
        : null}
    </div>
  );
}

function kindOf(line: string): string {
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
}
