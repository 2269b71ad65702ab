// discovery: reads groups, kinds and OpenAPI v2 and v3, like kubectl and Helm.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

func discover(_ context.Context, config *rest.Config) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	version, err := client.ServerVersion()
	if err != nil {
		return err
	}
	if version.Major != "1" {
		return fmt.Errorf("version %s", version)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return err
	}
	if mapping.Resource.Resource != "deployments" {
		return fmt.Errorf("Deployment is %s", mapping.Resource)
	}
	if err := readSwagger(client); err != nil {
		return err
	}
	return readOpenAPI(client)
}

// readSwagger reads OpenAPI v2, which client-go requests only in protobuf.
func readSwagger(client *discovery.DiscoveryClient) error {
	document, err := client.OpenAPISchema()
	if err != nil {
		return err
	}
	for _, definition := range document.GetDefinitions().GetAdditionalProperties() {
		if definition.GetName() != "io.k8s.api.apps.v1.DeploymentSpec" {
			continue
		}
		for _, property := range definition.GetValue().GetProperties().GetAdditionalProperties() {
			if property.GetName() == "replicas" && property.GetValue().GetFormat() == "int32" {
				return readOperations(document.GetPaths().GetPath())
			}
		}
	}
	return fmt.Errorf("OpenAPI v2 does not have the replicas of a Deployment")
}

func readOpenAPI(client *discovery.DiscoveryClient) error {
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	text, err := paths["apis/apps/v1"].Schema("application/json")
	if err != nil {
		return err
	}
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return err
	}
	if document.Components.Schemas["io.k8s.api.apps.v1.Deployment"] == nil {
		return fmt.Errorf("OpenAPI v3 does not have Deployment")
	}
	return nil
}
