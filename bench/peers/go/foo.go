// Foo as Go sees it: the typed form that controller-gen would make, written out.
package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

var fooVersion = schema.GroupVersion{Group: "samplecontroller.k8s.io", Version: "v1alpha1"}

type FooSpec struct {
	DeploymentName string `json:"deploymentName"`
	Replicas       int32  `json:"replicas"`
}

type FooStatus struct {
	AvailableReplicas int32 `json:"availableReplicas"`
}

type Foo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   FooSpec   `json:"spec"`
	Status FooStatus `json:"status,omitempty"`
}

type FooList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Foo `json:"items"`
}

func (foo *Foo) DeepCopy() *Foo {
	out := new(Foo)
	*out = *foo
	foo.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

func (foo *Foo) DeepCopyObject() runtime.Object { return foo.DeepCopy() }

func (list *FooList) DeepCopyObject() runtime.Object {
	out := &FooList{TypeMeta: list.TypeMeta}
	list.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Foo, len(list.Items))
	for i := range list.Items {
		out.Items[i] = *list.Items[i].DeepCopy()
	}
	return out
}

// newScheme knows the kinds of Kubernetes and Foo, as a kubebuilder project's main.go builds it.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	scheme.AddKnownTypes(fooVersion, &Foo{}, &FooList{})
	metav1.AddToGroupVersion(scheme, fooVersion)
	return scheme
}
