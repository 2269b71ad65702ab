/** Random valid objects from schemas, and the tests of conversions that are made of them. */
export { assertRoundTrips, type RoundTripOptions } from "./round_trips.ts";
