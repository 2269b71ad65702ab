/** The page of a running operator, of a recording. See docs/adr/0016. */
import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./parts/theme.ts";

applyTheme();
const place = document.querySelector("#app");
if (place !== null) render(<App />, place);
