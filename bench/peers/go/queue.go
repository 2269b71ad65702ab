// queue: operations a second of client-go's workqueue, one goroutine, a queue of its own for each round, the median of
// the rounds. bench/ours/queue.ts does the same with the same keys.
package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
)

const (
	queueKeys   = 100_000
	queueRounds = 21
	// warmUpRounds are not counted: a compiler at run time is through with its work after them.
	warmUpRounds = 10
)

type queueOfKeys = workqueue.TypedRateLimitingInterface[string]

func queueCommand(context.Context, []string) error {
	keys := make([]string, queueKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%d/object-%d", i%97, i)
	}
	rates := map[string]float64{
		"addTakeDone":          medianRate(keys, addGetDone),
		"addRateLimitedForget": medianRate(keys, addRateLimitedForget),
		"addAfter":             medianRate(keys, addAfter),
	}
	if err := report(map[string]any{"kind": "rates", "perSecond": rates}); err != nil {
		return err
	}
	return untilStdinEnds()
}

func medianRate(keys []string, operate func(queueOfKeys, []string)) float64 {
	rates := make([]float64, 0, queueRounds)
	for round := range warmUpRounds + queueRounds {
		limiter := workqueue.DefaultTypedControllerRateLimiter[string]()
		queue := workqueue.NewTypedRateLimitingQueue(limiter)
		startedAt := time.Now()
		operate(queue, keys)
		if round >= warmUpRounds {
			rates = append(rates, float64(len(keys))/time.Since(startedAt).Seconds())
		}
		queue.ShutDown()
	}
	slices.Sort(rates)
	return rates[queueRounds/2]
}

func addGetDone(queue queueOfKeys, keys []string) {
	for _, key := range keys {
		queue.Add(key)
		item, _ := queue.Get()
		queue.Done(item)
	}
}

func addRateLimitedForget(queue queueOfKeys, keys []string) {
	for _, key := range keys {
		queue.AddRateLimited(key)
		queue.Forget(key)
	}
}

func addAfter(queue queueOfKeys, keys []string) {
	for i, key := range keys {
		queue.AddAfter(key, time.Minute+time.Duration((i*7919)%60_000)*time.Millisecond)
	}
}
