/**
 * TopScreen: `top` on a terminal. It asks the process once per interval, and draws at once when a key is pressed or the
 * terminal gets another size.
 *
 * Guarantees: a process that does not answer does not end it: the last reading stays, with the reason; keys are answered
 * while a request is on its way.
 */
import { type Clock, scope } from "../../async/mod.ts";
import type { Line } from "../../observe/mod.ts";
import type { LineReader } from "../../runtime/mod.ts";
import { count, type Screen } from "../output/mod.ts";
import type { Reading } from "./sample.ts";
import { maxScroll, screenLines, selected, sortColumns, type View } from "./view.ts";

/** Options of {@link runTopScreen}. */
export interface TopScreenOptions {
  readonly screen: Screen;
  readonly stdin: LineReader;
  readonly clock: Clock;
  /** The name of the program. */
  readonly name: string;
  readonly intervalMs: number;
  readonly view: View;
  readonly read: (signal: AbortSignal) => Promise<Reading>;
}

const maxFilterChars = 200;

/** Shows readings until the user ends it or `signal` aborts. @throws what the first reading throws */
export async function runTopScreen(options: TopScreenOptions, signal: AbortSignal): Promise<void> {
  using stopping = scope(signal);
  const { stdin, clock, intervalMs, read, screen } = options;
  const state = new TopState(options, () => stopping.abort());
  state.update(await read(stopping.signal));
  using _keys = stdin.isTerminal ? stdin.readKeys?.((key) => state.press(key)) : undefined;
  screen.onResize(() => state.draw());
  while (!stopping.signal.aborted) {
    state.draw();
    await clock.sleep(intervalMs, stopping.signal).catch(() => {});
    if (stopping.signal.aborted) return;
    await read(stopping.signal).then((reading) => state.update(reading), (error: unknown) => state.fail(error));
  }
}

class TopState {
  readonly #options: TopScreenOptions;
  readonly #quit: () => void;
  #view: View;
  /** The text while a filter is typed. */
  #typed: string | undefined;
  #reading: Reading | undefined;
  #problem: string | undefined;

  constructor(options: TopScreenOptions, quit: () => void) {
    this.#options = options;
    this.#quit = quit;
    this.#view = options.view;
  }

  update(reading: Reading): void {
    this.#reading = reading;
    this.#problem = undefined;
  }

  fail(error: unknown): void {
    this.#problem = error instanceof Error ? error.message : String(error);
  }

  press(key: string): void {
    if (key === "ctrl-c") return this.#quit();
    if (key === "ctrl-l") this.#options.screen.redraw();
    else if (this.#typed !== undefined) this.#type(this.#typed, key);
    else this.#command(key);
    this.draw();
  }

  draw(): void {
    const { screen } = this.#options;
    if (this.#reading === undefined) return;
    const reading = selected(this.#reading, { ...this.#view, filter: this.#typed ?? this.#view.filter });
    const scrolled = Math.min(this.#view.scrolled, maxScroll(reading, screen.rows));
    if (scrolled !== this.#view.scrolled) this.#view = { ...this.#view, scrolled };
    screen.show(screenLines(reading, { rows: screen.rows, top: this.#top(reading), bottom: this.#bottom(), scrolled }));
  }

  #command(key: string): void {
    const { sortBy, isReversed, scrolled } = this.#view;
    switch (key) {
      case "q":
        return this.#quit();
      case "s":
        this.#view = {
          ...this.#view,
          sortBy: sortColumns[(sortColumns.indexOf(sortBy) + 1) % sortColumns.length] ?? "name",
        };
        return;
      case "r":
        this.#view = { ...this.#view, isReversed: !isReversed };
        return;
      case "/":
        this.#typed = this.#view.filter;
        return;
      case "escape":
        this.#view = { ...this.#view, filter: "", scrolled: 0 };
        return;
      case "down":
      case "pagedown":
        this.#view = { ...this.#view, scrolled: scrolled + (key === "down" ? 1 : 10) };
        return;
      case "up":
      case "pageup":
        this.#view = { ...this.#view, scrolled: Math.max(0, scrolled - (key === "up" ? 1 : 10)) };
        return;
    }
  }

  /** A filter works while it is typed; Enter keeps it, Escape restores the one before. */
  #type(typed: string, key: string): void {
    if (key === "enter") {
      this.#view = { ...this.#view, filter: typed, scrolled: 0 };
      this.#typed = undefined;
    } else if (key === "escape") this.#typed = undefined;
    else if (key === "backspace") this.#typed = [...typed].slice(0, -1).join("");
    else if ([...key].length === 1 && typed.length < maxFilterChars) this.#typed = typed + key;
  }

  #top({ now, address, controllers, failingKeys, moreFailingKeys }: Reading): Line {
    const { name, intervalMs } = this.#options;
    const facts = [
      `${name} top`,
      address,
      `${new Date(now).toISOString().slice(11, 19)}Z, every ${intervalMs / 1_000} s`,
      count(controllers.length, "controller"),
      count(failingKeys.length + moreFailingKeys, "failing key"),
    ].join("   ");
    return this.#problem === undefined ? facts : [{ text: `! ${this.#problem}`, tone: "error" }];
  }

  #bottom(): Line {
    if (this.#typed !== undefined) return { text: `filter: ${this.#typed}_   Enter keep   Esc cancel`, tone: "strong" };
    const { sortBy, isReversed, filter } = this.#view;
    const order = `s sort: ${sortBy}${isReversed ? " reversed" : ""}   r reverse`;
    const found = filter === "" ? "/ filter" : `/ filter: ${filter}   Esc all`;
    return { text: `q quit   ${order}   ${found}   ↑↓ scroll keys`, tone: "muted" };
  }
}
