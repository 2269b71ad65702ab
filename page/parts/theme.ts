/** The theme: as the system says, or as the user has chosen, which this browser keeps. */
import { useEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";

const storageKey = "theme";
const order: readonly Theme[] = ["system", "light", "dark"];

/** Applies the theme before the first view is drawn. */
export function applyTheme(theme: Theme = storedTheme()): void {
  const isDark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.shown = isDark ? "dark" : "light";
}

/** The theme, and a function that changes it to the next one. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState(storedTheme);
  const [, setShown] = useState("");
  useEffect(() => {
    const update = () => {
      applyTheme();
      setShown(document.documentElement.dataset.shown ?? "");
    };
    update();
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", update);
    return () => system.removeEventListener("change", update);
  }, [theme]);
  return [theme, () => {
    const next = order[(order.indexOf(storedTheme()) + 1) % order.length] ?? "system";
    localStorage.setItem(storageKey, next);
    applyTheme(next);
    setTheme(next);
  }];
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return order.find((theme) => theme === stored) ?? "system";
}
