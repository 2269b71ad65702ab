// operations: OpenAPI v2 describes the kind and the parameters of a patch of a Deployment. Older kubectl versions read it.
package main

import (
	"fmt"
	"strings"

	openapi "github.com/google/gnostic-models/openapiv2"
)

func readOperations(paths []*openapi.NamedPathItem) error {
	for _, path := range paths {
		if path.GetName() != "/apis/apps/v1/namespaces/{namespace}/deployments/{name}" {
			continue
		}
		patch := path.GetValue().GetPatch()
		for _, extension := range patch.GetVendorExtension() {
			isKind := extension.GetName() == "x-kubernetes-group-version-kind"
			if isKind && !strings.Contains(extension.GetValue().GetYaml(), "Deployment") {
				return fmt.Errorf("the kind of a patch is %s", extension.GetValue().GetYaml())
			}
		}
		for _, item := range patch.GetParameters() {
			parameter := item.GetParameter().GetNonBodyParameter().GetQueryParameterSubSchema()
			if parameter.GetName() == "fieldValidation" && parameter.GetType() == "string" {
				return nil
			}
		}
	}
	return fmt.Errorf("OpenAPI v2 does not have the parameter fieldValidation of a patch")
}
