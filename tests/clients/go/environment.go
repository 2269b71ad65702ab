// environment: the servers that controller-runtime's envtest starts from KUBEBUILDER_ASSETS, and users that it makes by
// client certificates.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.go.pintle.dev}
spec:
  group: go.pintle.dev
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, minimum: 1}}}}}}
`

// withEnvironment starts the servers, calls run with an administrator's config, and stops them.
func withEnvironment(ctx context.Context, run func(config *rest.Config)) error {
	folder, err := os.MkdirTemp("", "envtest-crds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, "widgets.yaml"), []byte(widgetDefinition), 0o600); err != nil {
		return err
	}
	environment := &envtest.Environment{CRDDirectoryPaths: []string{folder}, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	if err != nil {
		return err
	}
	fmt.Println("started by envtest")
	config.QPS = -1
	run(config)
	if err := useDefinition(ctx, config); err != nil {
		return fmt.Errorf("use a kind of the folder: %w", err)
	}
	fmt.Println("a kind of CRDDirectoryPaths")
	if err := limitUser(ctx, environment, config); err != nil {
		return fmt.Errorf("add a user: %w", err)
	}
	fmt.Println("a user by certificate, limited by RBAC")
	return environment.Stop()
}

func useDefinition(ctx context.Context, config *rest.Config) error {
	direct, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	widget := func(size int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "go.pintle.dev/v1", "kind": "Widget",
			"metadata": map[string]any{"namespace": "default", "name": fmt.Sprintf("size-%d", size)},
			"spec":     map[string]any{"size": size},
		}}
	}
	if err := direct.Create(ctx, widget(0)); !apierrors.IsInvalid(err) {
		return fmt.Errorf("expected an invalid object to be refused, got %v", err)
	}
	return direct.Create(ctx, widget(1))
}

// limitUser adds a user with a group, and lets the group list Pods.
func limitUser(ctx context.Context, environment *envtest.Environment, config *rest.Config) error {
	admin, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	user, err := environment.AddUser(envtest.User{Name: "reader", Groups: []string{"readers"}}, nil)
	if err != nil {
		return err
	}
	limited, err := client.New(user.Config(), client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	in := client.InNamespace("default")
	if err := limited.List(ctx, &corev1.PodList{}, in); !apierrors.IsForbidden(err) {
		return fmt.Errorf("expected the list to be forbidden, got %v", err)
	}
	meta := metav1.ObjectMeta{Namespace: "default", Name: "readers"}
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}}
	if err := admin.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}); err != nil {
		return err
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "readers"}},
	}
	if err := admin.Create(ctx, binding); err != nil {
		return err
	}
	return limited.List(ctx, &corev1.PodList{}, in)
}
