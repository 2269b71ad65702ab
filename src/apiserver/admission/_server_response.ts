/** What client-go, and with it the real server, says of an HTTP answer that is no success. Texts of apimachinery `api/errors`. */

const byCode: ReadonlyMap<number, string> = new Map([
  [400, "the server rejected our request for an unknown reason"],
  [401, "the server has asked for the client to provide credentials"],
  [404, "the server could not find the requested resource"],
  [405, "the server does not allow this method on the requested resource"],
  [409, "the server reported a conflict"],
  [422, "the server rejected our request due to an error in our request"],
  [429, "the server has received too many requests and has asked us to try again later"],
  [503, "the server is currently unable to handle the request"],
  [504, "the server was unable to return a response in the time allotted, but may still be processing the request"],
]);

/** @param said the body, where it is text */
export function unexpectedAnswer(code: number, said: string): string {
  const text = said === "" ? "unknown" : said;
  if (code === 406 && text === "unknown") {
    return "the server was unable to respond with a content type that the client supports";
  }
  if (code === 403 || code === 406 || code === 415) return text;
  const known = byCode.get(code);
  if (known !== undefined) return known;
  if (code < 500) return `the server responded with the status code ${code} but did not return more information`;
  return `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
}
