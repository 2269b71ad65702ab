// suite: the tests of an operator on the envtest of controller-runtime, as kubebuilder lays them out: the servers start, a
// CRD is installed, a manager runs, then specs follow one after the other, and all of it ends. Each spec has a namespace of
// its own, in which it creates Foos, watches until the operator has reconciled them, updates them, and deletes them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const foosPerSpec = 5

func suiteCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("suite", flag.ExitOnError)
	assets := flags.String("assets", "", "folder with etcd and kube-apiserver")
	crd := flags.String("crd", "", "file with the CRD of Foo")
	specs := flags.Int("specs", 60, "number of specs")
	_ = flags.Parse(args)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begunAt := time.Now()
	environment := &envtest.Environment{BinaryAssetsDirectory: *assets, CRDDirectoryPaths: []string{*crd}, ErrorIfCRDPathMissing: true}
	config, err := environment.Start()
	if err != nil {
		return err
	}
	failure := runSpecs(ctx, config, *specs)
	peak, peakErr := peakOfChildren()
	cancel()
	if err := errors.Join(failure, peakErr, environment.Stop()); err != nil {
		return err
	}
	return report(map[string]any{
		"kind": "suite", "specs": *specs, "ms": float64(time.Since(begunAt).Microseconds()) / 1000,
		"cpuMs": cpuOfAll().Milliseconds(), "serversMaxRssBytes": peak,
	})
}

func runSpecs(ctx context.Context, config *rest.Config, specs int) error {
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: newScheme(), Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	reconciler := &fooReconciler{client: mgr.GetClient(), wanted: -1}
	err = ctrl.NewControllerManagedBy(mgr).
		For(&Foo{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Complete(reconciler)
	if err != nil {
		return err
	}
	if _, err := startManager(ctx, mgr, &Foo{}, &appsv1.Deployment{}); err != nil {
		return err
	}
	direct, err := client.NewWithWatch(config, client.Options{Scheme: newScheme()})
	if err != nil {
		return err
	}
	for spec := range specs {
		if err := runSpec(ctx, direct, fmt.Sprintf("spec-%d", spec)); err != nil {
			return fmt.Errorf("spec %d: %w", spec, err)
		}
	}
	return nil
}

func runSpec(ctx context.Context, direct client.WithWatch, namespace string) error {
	if err := direct.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	watcher, err := direct.Watch(ctx, &FooList{}, client.InNamespace(namespace))
	if err != nil {
		return err
	}
	defer watcher.Stop()
	foos := make([]*Foo, foosPerSpec)
	for i := range foos {
		name := fmt.Sprintf("foo-%d", i)
		foos[i] = &Foo{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       FooSpec{DeploymentName: name, Replicas: 1},
		}
		if err := direct.Create(ctx, foos[i]); err != nil {
			return err
		}
	}
	if err := untilReconciled(watcher, 1); err != nil {
		return err
	}
	for _, foo := range foos {
		patch := client.MergeFrom(foo.DeepCopy())
		foo.Spec.Replicas = 2
		if err := direct.Patch(ctx, foo, patch); err != nil {
			return err
		}
	}
	if err := untilReconciled(watcher, 2); err != nil {
		return err
	}
	list := &appsv1.DeploymentList{}
	if err := direct.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(list.Items) != foosPerSpec {
		return fmt.Errorf("there are %d Deployments", len(list.Items))
	}
	return direct.DeleteAllOf(ctx, &Foo{}, client.InNamespace(namespace))
}

// untilReconciled reads events until every Foo has a status with these replicas.
func untilReconciled(watcher watch.Interface, replicas int32) error {
	done := map[string]bool{}
	for event := range watcher.ResultChan() {
		foo, isFoo := event.Object.(*Foo)
		if !isFoo {
			return fmt.Errorf("Cannot watch Foos: %v", event.Object)
		}
		if foo.Status.AvailableReplicas == replicas {
			done[foo.Name] = true
		}
		if len(done) == foosPerSpec {
			return nil
		}
	}
	return errors.New("Cannot watch Foos: the watch has ended")
}

// cpuOfAll is what this process and its ended children have used.
func cpuOfAll() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if syscall.Getrusage(who, &usage) == nil {
			total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
	}
	return total
}

// peakOfChildren adds up the largest resident memory that each server has had.
func peakOfChildren() (int64, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		return 0, err
	}
	var total int64
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		if field(string(text), "PPid") == strconv.Itoa(os.Getpid()) {
			kibibytes, err := strconv.ParseInt(strings.TrimSuffix(field(string(text), "VmHWM"), " kB"), 10, 64)
			if err != nil {
				return 0, err
			}
			total += kibibytes * 1024
		}
	}
	return total, nil
}

func field(status, name string) string {
	for line := range strings.Lines(status) {
		if value, isIt := strings.CutPrefix(line, name+":"); isIt {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
