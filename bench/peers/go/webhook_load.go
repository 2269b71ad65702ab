// webhook-load: AdmissionReviews as a kube-apiserver sends them, one CREATE of a Foo each, to a webhook that is called
// over HTTP/1.1, as the kube-apiserver calls webhooks. Open loop at a rate: a review is sent when its time has come,
// whether or not the ones before it were answered. Without a rate it is a closed loop: so many at a time, each as soon as
// the one before it was answered.
//
// An answer counts when it repeats the UID, allows, and patches the replicas; anything else counts as failed.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
)

// reviewer sends reviews and keeps what became of them.
type reviewer struct {
	client *http.Client
	url    string

	mutex  sync.Mutex
	micros []int64
	failed []string
}

func webhookLoadCommand(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("webhook-load", flag.ExitOnError)
	url := flags.String("url", "", "https://host:port/path of the webhook")
	ca := flags.String("ca", "", "file with the certificates that are trusted")
	rate := flags.Int("rate", 0, "reviews a second; 0: as many as are answered")
	seconds := flags.Float64("seconds", 5, "how long")
	parallel := flags.Int("parallel", 16, "reviews at a time, without a rate")
	fresh := flags.Bool("fresh", false, "a connection of its own for each review")
	_ = flags.Parse(args)
	client, err := webhookClient(*ca, *fresh)
	if err != nil {
		return err
	}
	r := &reviewer{client: client, url: *url}
	duration := time.Duration(*seconds * float64(time.Second))
	begunAt := time.Now()
	if *rate > 0 {
		r.openLoop(ctx, *rate, duration)
	} else {
		r.closedLoop(ctx, *parallel, duration)
	}
	line := map[string]any{"kind": "reviewed", "micros": r.micros, "failed": len(r.failed), "ms": time.Since(begunAt).Milliseconds()}
	if len(r.failed) > 0 {
		line["firstFailure"] = r.failed[0]
	}
	return report(line)
}

func webhookClient(caPath string, isFresh bool) (*http.Client, error) {
	pem, err := os.ReadFile(caPath)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("Cannot read certificates of %q: there are none", caPath)
	}
	transport := &http.Transport{
		// Set, so that HTTP/2 is not offered.
		TLSClientConfig:     &tls.Config{RootCAs: roots, NextProtos: []string{"http/1.1"}},
		DisableKeepAlives:   isFresh,
		MaxIdleConnsPerHost: 100,
	}
	return &http.Client{Transport: transport, Timeout: 10 * time.Second}, nil
}

func (r *reviewer) openLoop(ctx context.Context, rate int, duration time.Duration) {
	interval := time.Second / time.Duration(rate)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var running sync.WaitGroup
	for number := range int(duration / interval) {
		<-ticker.C
		running.Go(func() { r.review(ctx, number) })
	}
	running.Wait()
}

func (r *reviewer) closedLoop(ctx context.Context, parallel int, duration time.Duration) {
	end := time.Now().Add(duration)
	var running sync.WaitGroup
	for worker := range parallel {
		running.Go(func() {
			for number := worker; time.Now().Before(end); number += parallel {
				r.review(ctx, number)
			}
		})
	}
	running.Wait()
}

func (r *reviewer) review(ctx context.Context, number int) {
	uid, body := reviewBody(number)
	sentAt := time.Now()
	err := r.ask(ctx, uid, body)
	micros := time.Since(sentAt).Microseconds()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil {
		r.failed = append(r.failed, err.Error())
		return
	}
	r.micros = append(r.micros, micros)
}

func (r *reviewer) ask(ctx context.Context, uid string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"?timeout=10s", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	review := admissionv1.AdmissionReview{}
	if err := json.Unmarshal(text, &review); err != nil {
		return fmt.Errorf("%s: %s: %w", answer.Status, text, err)
	}
	isPatched := review.Response != nil && bytes.Contains(review.Response.Patch, []byte(`"/spec/replicas"`))
	if !isPatched || string(review.Response.UID) != uid || !review.Response.Allowed {
		return fmt.Errorf("%s: %s", answer.Status, text)
	}
	return nil
}

// reviewBody is what a kube-apiserver 1.36 sends when `kubectl create` makes a Foo without replicas.
func reviewBody(number int) (uid string, body []byte) {
	uid = fmt.Sprintf("0f5b3f6e-8d0c-4f5e-9a53-%012d", number)
	name := fooName(number)
	kind := `{"group":"samplecontroller.k8s.io","version":"v1alpha1","kind":"Foo"}`
	resource := `{"group":"samplecontroller.k8s.io","version":"v1alpha1","resource":"foos"}`
	object := fmt.Sprintf(`{"apiVersion":%q,"kind":"Foo","metadata":{"name":%q,"namespace":"default",`+
		`"creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"uid":%q,`+
		`"labels":{"app.kubernetes.io/name":"web-%d","app.kubernetes.io/part-of":"shop-%d","team":"team-%d"},`+
		`"annotations":{"example.dev/contact":"team-%d@example.dev","example.dev/description":"the web front of the shop"},`+
		`"managedFields":[{"manager":"kubectl-create","operation":"Update","apiVersion":%q,"time":"2026-01-01T00:00:00Z",`+
		`"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:example.dev/contact":{},`+
		`"f:example.dev/description":{}},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/part-of":{},`+
		`"f:team":{}}},"f:spec":{".":{},"f:deploymentName":{}}}}]},`+
		`"spec":{"deploymentName":%q},"status":{"availableReplicas":0}}`,
		fooVersion.String(), name, uid, number%97, number%11, number%7, number%7, fooVersion.String(), name)
	body = fmt.Appendf(nil, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":%q,"kind":%s,`+
		`"resource":%s,"requestKind":%s,"requestResource":%s,"name":%q,"namespace":"default","operation":"CREATE",`+
		`"userInfo":{"username":"kubernetes-admin","groups":["system:masters","system:authenticated"]},`+
		`"object":%s,"oldObject":null,"dryRun":false,`+
		`"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"kubectl-create"}}}`,
		uid, kind, resource, kind, resource, name, object)
	return uid, body
}
