// latency: how long after its update a Foo's reconcile begins. The writer (update.go) puts its clock into an annotation,
// the reconciler subtracts it from its own; both run on one machine, so it is one clock.
package main

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// stampAnnotation holds the nanoseconds since 1970 at which the update was sent.
const stampAnnotation = "bench.pintle.dev/sent-at"

type latencies struct {
	// since leaves out what was stamped for a program that ran before this one.
	since   int64
	mutex   sync.Mutex
	seen    map[int64]struct{}
	updates []timedUpdate
}

func latencyCommand(ctx context.Context, _ []string) error {
	mgr, err := newManager()
	if err != nil {
		return err
	}
	measured := &latencies{since: time.Now().UnixNano(), seen: map[int64]struct{}{}}
	measure := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		begunAt := time.Now().UnixNano()
		foo := &Foo{}
		if err := mgr.GetClient().Get(ctx, request.NamespacedName, foo); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		measured.add(foo.Annotations[stampAnnotation], begunAt)
		return ctrl.Result{}, nil
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&Foo{}).Complete(reconcile.Func(measure)); err != nil {
		return err
	}
	if _, err := startManager(ctx, mgr, &Foo{}); err != nil {
		return err
	}
	if err := report(map[string]any{"kind": "synced", "objects": 0}); err != nil {
		return err
	}
	if err := untilAsked(); err != nil {
		return err
	}
	if err := report(map[string]any{"kind": "latencies", "updates": measured.all()}); err != nil {
		return err
	}
	return untilStdinEnds()
}

// add counts every update once, however often its Foo is reconciled.
func (l *latencies) add(stamp string, begunAt int64) {
	sentAt, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || sentAt < l.since {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if _, isSeen := l.seen[sentAt]; isSeen {
		return
	}
	l.seen[sentAt] = struct{}{}
	l.updates = append(l.updates, timedUpdate{SentAt: sentAt / 1000, Micros: (begunAt - sentAt) / 1000})
}

func (l *latencies) all() []timedUpdate {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return slices.Clone(l.updates)
}
