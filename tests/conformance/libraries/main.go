// Applies patches and tracks managed fields with the Kubernetes libraries, for ../go_libraries_test.ts. It reads one request
// per line from stdin and writes one response per line to stdout, both as JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	group = "example.dev"
	kind  = "Thing"
)

var hub = schema.GroupVersion{Group: group, Version: "v1"}

type request struct {
	Operation string                  `json:"operation"`
	OpenAPI   map[string]*spec.Schema `json:"openAPI"`
	Writes    []write                 `json:"writes"`
	Kind      string                  `json:"kind"`
	Object    json.RawMessage         `json:"object"`
	Patch     json.RawMessage         `json:"patch"`
}

// write is an apply or an update of a Thing in one of its versions.
type write struct {
	How         string                 `json:"how"`
	Version     string                 `json:"version"`
	Manager     string                 `json:"manager"`
	IsForced    bool                   `json:"isForced"`
	Subresource string                 `json:"subresource"`
	Object      map[string]interface{} `json:"object"`
}

type response struct {
	Result json.RawMessage `json:"result,omitempty"`
	Live   interface{}     `json:"live,omitempty"`
	Status interface{}     `json:"status,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// things creates, defaults and converts Things. Only conversion does something: spec.alpha of v1 is spec.beta in v2.
type things struct{}

func (things) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	thing := &unstructured.Unstructured{Object: map[string]interface{}{}}
	thing.SetGroupVersionKind(gvk)
	return thing, nil
}

func (things) Default(runtime.Object) {}

func (things) Convert(_, _, _ interface{}) error { return fmt.Errorf("not supported") }

func (things) ConvertFieldLabel(schema.GroupVersionKind, string, string) (string, string, error) {
	return "", "", fmt.Errorf("not supported")
}

func (things) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	thing := in.(*unstructured.Unstructured)
	from := thing.GroupVersionKind()
	to, found := target.KindForGroupVersionKinds([]schema.GroupVersionKind{
		from, {Group: group, Version: "v1", Kind: kind}, {Group: group, Version: "v2", Kind: kind},
	})
	if !found {
		return nil, runtime.NewNotRegisteredGVKErrForTarget("things", from, target)
	}
	if to.Version == from.Version {
		return thing, nil
	}
	thing = thing.DeepCopy()
	thing.SetGroupVersionKind(to)
	before, after := "alpha", "beta"
	if to.Version == "v1" {
		before, after = after, before
	}
	if spec, isMap := thing.Object["spec"].(map[string]interface{}); isMap {
		if value, has := spec[before]; has {
			delete(spec, before)
			spec[after] = value
		}
	}
	return thing, nil
}

func managerOf(types managedfields.TypeConverter, w write) *managedfields.FieldManager {
	reset := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	if w.Subresource != "" {
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
	}
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, version := range []string{"v1", "v2"} {
		filters[fieldpath.APIVersion(group+"/"+version)] = fieldpath.NewExcludeSetFilter(reset)
	}
	gvk := schema.GroupVersionKind{Group: group, Version: w.Version, Kind: kind}
	manager, err := managedfields.NewDefaultCRDFieldManager(
		types, things{}, things{}, things{}, gvk, hub, w.Subresource, filters)
	if err != nil {
		panic(err)
	}
	return manager
}

// history writes one Thing several times and returns it after each write.
func history(types managedfields.TypeConverter, writes []write) []response {
	responses := []response{}
	var live *unstructured.Unstructured
	for _, w := range writes {
		gvk := schema.GroupVersionKind{Group: group, Version: w.Version, Kind: kind}
		object := &unstructured.Unstructured{Object: integers(w.Object).(map[string]interface{})}
		object.SetGroupVersionKind(gvk)
		before := live
		if before == nil {
			fresh, _ := things{}.New(gvk)
			before = fresh.(*unstructured.Unstructured)
		}
		var after runtime.Object
		var err error
		if w.How == "apply" {
			after, err = managerOf(types, w).Apply(before.DeepCopy(), object, w.Manager, w.IsForced)
		} else {
			object.SetUID(before.GetUID())
			after, err = managerOf(types, w).Update(before.DeepCopy(), object, w.Manager)
		}
		if err != nil {
			responses = append(responses, failure(err))
			continue
		}
		after.(*unstructured.Unstructured).SetUID("u")
		stored, err := things{}.ConvertToVersion(after, hub)
		if err != nil {
			panic(err)
		}
		live = stored.(*unstructured.Unstructured)
		responses = append(responses, response{Live: live.DeepCopy().Object})
	}
	return responses
}

func failure(err error) response {
	if status, is := err.(apierrors.APIStatus); is {
		return response{Status: status.Status(), Error: err.Error()}
	}
	return response{Error: err.Error()}
}

// integers converts whole numbers to int64, as the API server decodes them.
func integers(value interface{}) interface{} {
	switch typed := value.(type) {
	case float64:
		if typed == float64(int64(typed)) {
			return int64(typed)
		}
	case map[string]interface{}:
		for key := range typed {
			typed[key] = integers(typed[key])
		}
	case []interface{}:
		for index := range typed {
			typed[index] = integers(typed[index])
		}
	}
	return value
}

func builtin(kind string) interface{} {
	switch kind {
	case "Deployment":
		return appsv1.Deployment{}
	case "Service":
		return corev1.Service{}
	default:
		return corev1.Pod{}
	}
}

func patched(q request) ([]byte, error) {
	switch q.Operation {
	case "json":
		patch, err := jsonpatch.DecodePatch(q.Patch)
		if err != nil {
			return nil, err
		}
		return patch.Apply(q.Object)
	case "merge":
		return jsonpatch.MergePatch(q.Object, q.Patch)
	case "strategic":
		return strategicpatch.StrategicMergePatch(q.Object, q.Patch, builtin(q.Kind))
	case "difference":
		return strategicpatch.CreateTwoWayMergePatch(q.Object, q.Patch, builtin(q.Kind))
	default:
		return nil, fmt.Errorf("unknown operation %q", q.Operation)
	}
}

func handle(types *managedfields.TypeConverter, q request) (result interface{}) {
	defer func() {
		if cause := recover(); cause != nil {
			result = response{Error: fmt.Sprint("panic: ", cause)}
		}
	}()
	switch q.Operation {
	case "types":
		made, err := managedfields.NewTypeConverter(q.OpenAPI, false)
		if err != nil {
			return failure(err)
		}
		*types = made
		return response{}
	case "history":
		return history(*types, q.Writes)
	default:
		after, err := patched(q)
		if err != nil {
			return failure(err)
		}
		return response{Result: after}
	}
}

func main() {
	requests := bufio.NewReader(os.Stdin)
	responses := json.NewEncoder(os.Stdout)
	var types managedfields.TypeConverter
	for {
		line, err := requests.ReadBytes('\n')
		if err != nil {
			return
		}
		var q request
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		if err := responses.Encode(handle(&types, q)); err != nil {
			panic(err)
		}
	}
}
