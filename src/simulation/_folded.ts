/** folded(): a timeline in which what happens again and again is told once, so that a person reads what matters. */

/** As many lines of one kind in a row are told. */
const told = 4;
const numbers = /\d+/g;

/** Leaves out lines that differ from those before them in numbers alone. */
export function folded(timeline: string): string {
  const kept: string[] = [];
  let [kind, count] = ["", 0];
  const close = () => {
    if (count > told) kept.push(`${" ".repeat(13)}... and ${count - told} times more`);
  };
  for (const line of timeline.split("\n")) {
    const next = line.replaceAll(numbers, "#").trimStart();
    if (next !== kind) {
      close();
      [kind, count] = [next, 0];
    }
    count++;
    if (count <= told) kept.push(line);
  }
  close();
  return kept.join("\n");
}
