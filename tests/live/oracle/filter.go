package main

import (
	"encoding/json"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// rejection says who turned a node down. Stage is PreFilter (the pod on every node), PreFilterResult (a node outside
// the set that PreFilter named) or Filter.
type rejection struct {
	Plugin  string   `json:"plugin"`
	Stage   string   `json:"stage"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

type nodeVerdict struct {
	Verdict   string                `json:"verdict"`
	FirstFail *rejection            `json:"first_fail,omitempty"`
	Alone     map[string]*rejection `json:"alone"`
}

// phase is the outcome of PreFilter and Filter for one pod.
type phase struct {
	state    *framework.CycleState
	feasible []fwk.NodeInfo
	rejected map[string]*rejection
}

// about puts a question about one pod to the cluster as it is, without the pod where it is in there.
func (w *world) about(raw json.RawMessage, question func(*v1.Pod) (any, error)) (any, error) {
	if name, err := text(raw); err == nil {
		here, err := w.podNamed(name)
		if err != nil {
			return nil, err
		}
		informer := w.objects.of(here)
		if err := informer.remove(here); err != nil {
			return nil, err
		}
		defer informer.put(here)
		return w.question(unbound(here), question)
	}
	pod, err := decodePod(raw)
	if err != nil {
		return nil, err
	}
	return w.question(pod, question)
}

func (w *world) question(pod *v1.Pod, question func(*v1.Pod) (any, error)) (any, error) {
	if err := w.snapshot(); err != nil {
		return nil, err
	}
	return question(pod)
}

// unbound is the pod as its controller would make it anew. The statuses name the claims made from its templates.
func unbound(pod *v1.Pod) *v1.Pod {
	fresh := pod.DeepCopy()
	fresh.DeletionTimestamp = nil
	fresh.Spec.NodeName = ""
	fresh.Status = v1.PodStatus{Phase: v1.PodPending, ResourceClaimStatuses: pod.Status.ResourceClaimStatuses}
	return fresh
}

// filterAnswer runs the whole phase once, then each of its plugins as the only one of a profile.
func (w *world) filterAnswer(pod *v1.Pod) (any, error) {
	whole, err := w.filter(w.profile(v1.DefaultSchedulerName), pod)
	if err != nil {
		return nil, err
	}
	nodes := map[string]*nodeVerdict{}
	for _, info := range whole.feasible {
		nodes[info.Node().Name] = &nodeVerdict{Verdict: "pass", Alone: map[string]*rejection{}}
	}
	for name, why := range whole.rejected {
		nodes[name] = &nodeVerdict{Verdict: "fail", FirstFail: why, Alone: map[string]*rejection{}}
	}
	plugins, err := filterPlugins()
	if err != nil {
		return nil, err
	}
	for _, plugin := range plugins {
		alone, err := w.filter(w.profile(plugin), pod)
		if err != nil {
			return nil, err
		}
		for name, why := range alone.rejected {
			nodes[name].Alone[plugin] = why
		}
	}
	return map[string]any{"nodes": nodes}, nil
}

// filter asks one profile about the pod on every node of the snapshot, each node on its own.
func (w *world) filter(profile framework.Framework, pod *v1.Pod) (*phase, error) {
	nodes, err := profile.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, err
	}
	out := &phase{state: framework.NewCycleState(), rejected: map[string]*rejection{}}
	allowed, status, namers := profile.RunPreFilterPlugins(w.ctx, out.state, pod)
	for _, info := range nodes {
		name := info.Node().Name
		switch {
		case !status.IsSuccess():
			out.rejected[name] = rejectionOf("PreFilter", status)
			if plugins := namers.UnsortedList(); status.Plugin() == "" && len(plugins) > 0 {
				// The sets that several plugins named have no node in common; the status names no plugin then.
				slices.Sort(plugins)
				out.rejected[name].Plugin = strings.Join(plugins, ",")
			}
		case !allowed.AllNodes() && !allowed.NodeNames.Has(name):
			plugins := namers.UnsortedList()
			slices.Sort(plugins)
			out.rejected[name] = &rejection{
				strings.Join(plugins, ","), "PreFilterResult", fwk.UnschedulableAndUnresolvable.String(), []string{},
			}
		default:
			if verdict := profile.RunFilterPlugins(w.ctx, out.state, pod, info); verdict.IsSuccess() {
				out.feasible = append(out.feasible, info)
			} else {
				out.rejected[name] = rejectionOf("Filter", verdict)
			}
		}
	}
	return out, nil
}

func rejectionOf(stage string, status *fwk.Status) *rejection {
	return &rejection{status.Plugin(), stage, status.Code().String(), append([]string{}, status.Reasons()...)}
}
