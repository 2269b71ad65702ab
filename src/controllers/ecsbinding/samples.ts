/** What shows ecsbinding at work; examples/ecsbinding.yaml says the same for people. */
export const ecsbindingSamples = [{
  apiVersion: "hopegi.com/v1",
  kind: "EcsBinding",
  metadata: { name: "machine-1" },
  spec: { id: "i-0123456789", name: "first machine", nodename: "worker-1", innerip: "10.0.0.11" },
}];
