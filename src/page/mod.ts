/** The page of a running operator: its files, and the headers that bind a browser to this server. */
export { pageResponse } from "./page_response.ts";
