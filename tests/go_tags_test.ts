import { checksOf, readTags } from "../tasks/_go_tags.ts";
import { assertEquals, assertThrows, test } from "./testing.ts";

test("readTags() finds the checks of fields, of embedded structs and of enums, and no others", () => {
  const { structs, enums } = readTags(`package v1

// +k8s:deepcopy-gen=true
type Claim struct {
	metav1.TypeMeta \`json:",inline"\`
	// Requests are what is claimed.
	//
	// +listType=atomic
	// +k8s:alpha(since: "1.36")=+k8s:unique=map
	// +k8s:alpha(since: "1.36")=+k8s:listMapKey=name
	// +k8s:alpha(since: "1.36")=+k8s:maxItems=32
	Requests []Request \`json:"requests" protobuf:"bytes,1"\`
	Hidden string \`json:"-"\`

	// +k8s:required
	Mode Mode \`json:"mode,omitempty"\`
}

// +k8s:enum
type Mode string

const (
	ModeB Mode = "B"
	ModeA      = Mode("A")
)
`);
  assertEquals(structs.get("Claim")?.map(({ name, elementType, checks }) => [name, elementType, checks]), [
    ["", "metav1.TypeMeta", []],
    ["requests", "Request", ["unique=name", "maxItems=32"]],
    ["mode", "Mode", ["required"]],
  ]);
  assertEquals([...enums], [["Mode", ["A", "B"]]]);
});

test("checksOf() resolves feature gates and members of unions, and rejects a tag that is not known", () => {
  assertEquals(
    checksOf([
      "ifEnabled(Zero)=+k8s:minimum=0",
      "ifDisabled(Zero)=+k8s:minimum=1",
      'member("Queue")=+k8s:required',
      "eachKey=+k8s:format=k8s-short-name",
      'format="k8s-long-name"',
    ]),
    ["minimum=1", "when=Queue:required", "keyFormat=k8s-short-name", "format=k8s-long-name"],
  );
  assertThrows(() => checksOf(["lunchTime=12"]), /tag \+k8s:lunchTime=12: it is not known/);
});
