// reconcile: a manager with a Foo controller that owns Deployments; three writes for each new Foo: the Deployment, the
// status, an Event. idle: the same manager on an empty cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

type fooReconciler struct {
	client client.Client
	// finished counts the Foos whose three writes were made.
	finished atomic.Int64
	// reconciles counts the calls of Reconcile.
	reconciles atomic.Int64
	// wanted is the number of Foos after which allDone is closed.
	wanted  int64
	allDone chan struct{}
}

func reconcileCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("reconcile", flag.ExitOnError)
	objects := flags.Int64("objects", 5000, "number of Foos to be reconciled")
	workers := flags.Int("workers", 10, "reconciles at a time")
	_ = flags.Parse(args)
	reconciler := &fooReconciler{wanted: *objects, allDone: make(chan struct{})}
	failed, err := startFooManager(ctx, reconciler, *workers)
	if err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	case <-reconciler.allDone:
	}
	if err := report(map[string]any{"kind": "reconciled", "objects": reconciler.finished.Load(), "reconciles": reconciler.reconciles.Load()}); err != nil {
		return err
	}
	return untilStdinEnds()
}

func idleCommand(ctx context.Context, _ []string) error {
	if _, err := startFooManager(ctx, &fooReconciler{}, 2); err != nil {
		return err
	}
	if err := report(map[string]any{"kind": "synced", "objects": 0}); err != nil {
		return err
	}
	return untilStdinEnds()
}

// newManager serves nothing and logs nothing: the cases compare engines, not endpoints.
func newManager() (manager.Manager, error) {
	config, err := restConfig()
	if err != nil {
		return nil, err
	}
	return ctrl.NewManager(config, ctrl.Options{
		Scheme:  newScheme(),
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
	})
}

// startFooManager returns once the caches are synced; the manager's end, if it comes, is sent to the channel.
func startFooManager(ctx context.Context, reconciler *fooReconciler, workers int) (<-chan error, error) {
	mgr, err := newManager()
	if err != nil {
		return nil, err
	}
	reconciler.client = mgr.GetClient()
	err = ctrl.NewControllerManagedBy(mgr).
		For(&Foo{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(reconciler)
	if err != nil {
		return nil, err
	}
	return startManager(ctx, mgr, &Foo{}, &appsv1.Deployment{})
}

// startManager asks for the informers by name: before the controllers have, an empty cache would count as synced.
func startManager(ctx context.Context, mgr manager.Manager, watched ...client.Object) (<-chan error, error) {
	for _, object := range watched {
		if _, err := mgr.GetCache().GetInformer(ctx, object); err != nil {
			return nil, err
		}
	}
	failed := make(chan error, 1)
	go func() { failed <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, errors.New("Cannot sync the cache: it was stopped")
	}
	return failed, nil
}

func (r *fooReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.reconciles.Add(1)
	foo := &Foo{}
	if err := r.client.Get(ctx, request.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	key := client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}
	if err := r.client.Get(ctx, key, &appsv1.Deployment{}); apierrors.IsNotFound(err) {
		if err := r.client.Create(ctx, desiredDeployment(foo)); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
	} else if err != nil {
		return ctrl.Result{}, err
	}
	if foo.Status.AvailableReplicas == foo.Spec.Replicas {
		return ctrl.Result{}, nil
	}
	foo.Status.AvailableReplicas = foo.Spec.Replicas
	if err := r.client.Status().Update(ctx, foo); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.client.Create(ctx, syncedEvent(foo)); err != nil {
		return ctrl.Result{}, err
	}
	if r.finished.Add(1) == r.wanted {
		close(r.allDone)
	}
	return ctrl.Result{}, nil
}

func desiredDeployment(foo *Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       foo.Namespace,
			Name:            foo.Spec.DeploymentName,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, fooVersion.WithKind("Foo"))},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(foo.Spec.Replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
}

// syncedEvent is written by the reconciler itself: the recorder's queue would drop and merge some of 5,000 at once.
func syncedEvent(foo *Foo) *corev1.Event {
	now := metav1.Now()
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: foo.Namespace, Name: fmt.Sprintf("%s.%x", foo.Name, now.UnixNano())},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: fooVersion.String(), Kind: "Foo",
			Namespace: foo.Namespace, Name: foo.Name, UID: foo.UID, ResourceVersion: foo.ResourceVersion,
		},
		Reason: "Synced", Message: "Foo synced successfully", Type: corev1.EventTypeNormal,
		Source:         corev1.EventSource{Component: "bench"},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
}
