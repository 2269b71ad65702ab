// An operator in Go, as the program of docs/guide/simulate_any_operator.md: a Website has a ConfigMap with its page and a
// Service. It has one bug that no test with a cluster finds: see reconcile below.
package main

import (
	"context"
	"flag"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var websiteKind = schema.GroupVersionKind{Group: "examples.pintle.dev", Version: "v1", Kind: "Website"}

type reconciler struct {
	client.Client
}

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	website := &unstructured.Unstructured{}
	website.SetGroupVersionKind(websiteKind)
	if err := r.Get(ctx, request.NamespacedName, website); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if website.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	page, _, _ := unstructured.NestedString(website.Object, "spec", "page")
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name},
		Data:       map[string]string{"index.html": page},
	}
	if err := controllerutil.SetControllerReference(website, config, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	err := r.Create(ctx, config)
	if apierrors.IsAlreadyExists(err) {
		// The bug: the ConfigMap is taken as proof that the Service exists, too. A crash between the two creates leaves the
		// Website without its Service for ever.
		return ctrl.Result{}, r.Update(ctx, config)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"website": request.Name},
			Ports:    []corev1.ServicePort{{Port: 80}},
		},
	}
	if err := controllerutil.SetControllerReference(website, service, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Create(ctx, service)
}

func main() {
	metrics := flag.String("metrics-bind-address", ":8080", "where metrics are served")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: *metrics},
	})
	if err != nil {
		os.Exit(1)
	}
	website := &unstructured.Unstructured{}
	website.SetGroupVersionKind(websiteKind)
	if err := ctrl.NewControllerManagedBy(manager).For(website).Owns(&corev1.ConfigMap{}).
		Complete(reconciler{manager.GetClient()}); err != nil {
		os.Exit(1)
	}
	if err := manager.Start(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
