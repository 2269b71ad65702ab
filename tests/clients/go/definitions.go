// definitions: the clientset of apiextensions writes a CustomResourceDefinition in the content type of its configuration.
package main

import (
	"context"
	"fmt"
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// newDefinition has a schema with each of the types that JSON writes in two ways.
func newDefinition() *apiextensionsv1.CustomResourceDefinition {
	text := apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"a"`)}}
	properties := map[string]apiextensionsv1.JSONSchemaProps{
		"list":   {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}},
		"map":    {Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &text}},
		"number": {Type: "integer", Maximum: ptr.To(7.0), Enum: []apiextensionsv1.JSON{{Raw: []byte("1")}, {Raw: []byte("7")}}},
		"any":    {XPreserveUnknownFields: ptr.To(true)},
	}
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.wire.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "wire.example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name:    "v1",
				Served:  true,
				Storage: true,
				Schema:  &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
	}
}

func writeDefinition(ctx context.Context, config *rest.Config) error {
	client, err := apiextensions.NewForConfig(config)
	if err != nil {
		return err
	}
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	desired := newDefinition()
	created, err := definitions.Create(ctx, desired, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(created.Spec.Versions[0].Schema, desired.Spec.Versions[0].Schema) {
		return fmt.Errorf("the schema was returned as %v", created.Spec.Versions[0].Schema)
	}
	established := func() (bool, error) {
		found, err := definitions.Get(ctx, desired.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, condition := range found.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	}
	if err := until(ctx, "the definition is established", established); err != nil {
		return err
	}
	return definitions.Delete(ctx, desired.Name, metav1.DeleteOptions{})
}
