// manager: a controller-runtime manager with leader election. It reconciles a custom resource and owns Deployments.
package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var siteKind = schema.GroupVersionKind{Group: "go.pintle.dev", Version: "v1", Kind: "Site"}

func manage(ctx context.Context, config *rest.Config) error {
	direct, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		return err
	}
	if err := defineSite(ctx, direct); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        clientgoscheme.Scheme,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "site.go.pintle.dev",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	reconciler := &siteReconciler{client: manager.GetClient()}
	err = ctrl.NewControllerManagedBy(manager).Named("site").For(newSite("")).Owns(&appsv1.Deployment{}).Complete(reconciler)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	err = observeSite(ctx, direct)
	stop()
	if failure := <-ended; err == nil {
		err = failure
	}
	return err
}

func newSite(name string) *unstructured.Unstructured {
	site := &unstructured.Unstructured{}
	site.SetGroupVersionKind(siteKind)
	site.SetNamespace(namespace)
	site.SetName(name)
	return site
}

type siteReconciler struct {
	client client.Client
}

// Reconcile creates one Deployment for each Site, and writes the number of ready replicas to the status of the Site.
func (reconciler *siteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := newSite(request.Name)
	if err := reconciler.client.Get(ctx, request.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	deployment := newDeployment(request.Name, 2)
	if err := ctrl.SetControllerReference(site, deployment, clientgoscheme.Scheme); err != nil {
		return ctrl.Result{}, err
	}
	var found appsv1.Deployment
	err := reconciler.client.Get(ctx, request.NamespacedName, &found)
	if apierrors.IsNotFound(err) {
		err = client.IgnoreAlreadyExists(reconciler.client.Create(ctx, deployment))
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	base := site.DeepCopy()
	ready := int64(found.Status.ReadyReplicas)
	if err := unstructured.SetNestedField(site.Object, ready, "status", "readyReplicas"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, reconciler.client.Status().Patch(ctx, site, client.MergeFrom(base))
}

// observeSite creates a Site, and checks that its Deployment is created, recreated after a deletion, and deleted with it.
func observeSite(ctx context.Context, direct client.Client) error {
	if err := direct.Create(ctx, newSite("home")); err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: namespace, Name: "home"}
	isReady := func() (bool, error) {
		site := newSite("home")
		if err := direct.Get(ctx, key, site); err != nil {
			return false, err
		}
		ready, _, err := unstructured.NestedInt64(site.Object, "status", "readyReplicas")
		return ready == 2, err
	}
	if err := until(ctx, "the Site is ready", isReady); err != nil {
		return err
	}
	var first appsv1.Deployment
	if err := direct.Get(ctx, key, &first); err != nil {
		return err
	}
	if err := direct.Delete(ctx, &first); err != nil {
		return err
	}
	err := until(ctx, "the Deployment is recreated", func() (bool, error) {
		var again appsv1.Deployment
		err := direct.Get(ctx, key, &again)
		return err == nil && again.UID != first.UID, client.IgnoreNotFound(err)
	})
	if err != nil {
		return err
	}
	if err := direct.Delete(ctx, newSite("home"), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		return err
	}
	return until(ctx, "the Deployment is deleted with its Site", func() (bool, error) {
		var left appsv1.Deployment
		err := direct.Get(ctx, key, &left)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

func defineSite(ctx context.Context, direct client.Client) error {
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	status := object(map[string]any{"readyReplicas": map[string]any{"type": "integer"}})
	version := map[string]any{
		"name": siteKind.Version, "served": true, "storage": true,
		"schema":       map[string]any{"openAPIV3Schema": object(map[string]any{"status": status})},
		"subresources": map[string]any{"status": map[string]any{}},
	}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "sites." + siteKind.Group},
		"spec": map[string]any{
			"group": siteKind.Group, "scope": "Namespaced", "versions": []any{version},
			"names": map[string]any{"plural": "sites", "singular": "site", "kind": siteKind.Kind, "listKind": "SiteList"},
		},
	}}
	if err := direct.Create(ctx, definition); err != nil {
		return err
	}
	return until(ctx, "the definition is served", func() (bool, error) {
		err := direct.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "none"}, newSite("none"))
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if meta.IsNoMatchError(err) {
			return false, nil
		}
		return false, fmt.Errorf("get of a Site that does not exist: %w", err)
	})
}
