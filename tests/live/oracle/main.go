// Oracle answers what kube-scheduler's own code says about a cluster given as JSON.
//
// It links the scheduler, hands it the objects of a request through informers that live in memory, and asks its
// framework. One JSON request a line on standard input, one JSON answer a line on standard output, in order.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/version"
)

func main() {
	gates := flag.String("feature-gates", "", "gates that differ from the version's defaults: Name=true,Other=false")
	flag.Parse()
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := serve(bufio.NewReaderSize(os.Stdin, 1<<20), bufio.NewWriter(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers until the input ends.
func serve(in *bufio.Reader, out *bufio.Writer) error {
	desk := &desk{kept: map[string]*world{}}
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(desk.answer(line)); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// desk holds the clusters that requests asked to keep, by name.
type desk struct {
	kept map[string]*world
}

type failure struct {
	ID    json.RawMessage `json:"id,omitempty"`
	Error string          `json:"error"`
}

// answer turns whatever goes wrong, a panic of the scheduler included, into an answer: the caller holds a pipe.
func (d *desk) answer(line []byte) (result any) {
	req := &request{}
	defer func() {
		if fault := recover(); fault != nil {
			result = failure{req.ID, fmt.Sprintf("panic: %v\n%s", fault, debug.Stack())}
		}
	}()
	if err := req.decode(line); err != nil {
		return failure{req.ID, err.Error()}
	}
	body, err := d.dispatch(req)
	if err != nil {
		return failure{req.ID, err.Error()}
	}
	return struct {
		ID     json.RawMessage `json:"id,omitempty"`
		Answer any             `json:"answer"`
	}{req.ID, body}
}

func (d *desk) dispatch(req *request) (any, error) {
	switch req.Request {
	case "version":
		return describe()
	case "forget":
		return d.forget(req.Cluster)
	}
	w, err := d.world(req)
	if err != nil {
		return nil, err
	}
	if req.Cluster == "" {
		defer w.close()
	}
	switch req.Request {
	case "keep":
		return map[string]string{"kept": req.Cluster}, nil
	case "filter":
		return w.about(req.Pod, w.filterAnswer)
	case "score":
		return w.about(req.Pod, w.scoreAnswer)
	case "schedule":
		return w.scheduleAnswer(req)
	}
	return nil, fmt.Errorf("unknown request %q: version, filter, score, schedule, keep, forget", req.Request)
}

// world gives the cluster that the request names, or builds one from its objects: to keep, or for this request alone.
func (d *desk) world(req *request) (*world, error) {
	w, known := d.kept[req.Cluster]
	switch {
	case req.Request == "keep" && (known || req.Cluster == ""):
		return nil, fmt.Errorf("a cluster to keep needs a name that is free, not %q", req.Cluster)
	case req.Request == "keep":
		w, err := newWorld(req)
		if err == nil {
			d.kept[req.Cluster] = w
		}
		return w, err
	case req.Cluster == "":
		return newWorld(req)
	case !known:
		return nil, fmt.Errorf("no cluster %q is kept", req.Cluster)
	case len(req.objects) > 0:
		return nil, fmt.Errorf("cluster %q is kept already: a request to it carries no objects", req.Cluster)
	}
	return w, nil
}

func (d *desk) forget(name string) (any, error) {
	w, ok := d.kept[name]
	if !ok {
		return nil, fmt.Errorf("no cluster %q is kept", name)
	}
	w.close()
	delete(d.kept, name)
	return map[string]string{"forgotten": name}, nil
}

func describe() (any, error) {
	alone, err := filterPlugins()
	if err != nil {
		return nil, err
	}
	return map[string]any{"version": version.Get().GitVersion, "filter_plugins": alone}, nil
}
