package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	kjson "sigs.k8s.io/json"
)

// op is one step of a schedule request. Node is a name, or an object for add_node; Pod a "namespace/name", or an
// object for place.
type op struct {
	Op   string          `json:"op"`
	Node json.RawMessage `json:"node"`
	Pod  json.RawMessage `json:"pod"`
	Pods []string        `json:"pods"`
}

// placement is what became of one pod: Node is empty where it stays pending, and Message then says why in the
// scheduler's words.
type placement struct {
	Pod      string                `json:"pod"`
	Node     string                `json:"node"`
	Message  string                `json:"message,omitempty"`
	Rejected map[string]*rejection `json:"rejected,omitempty"`
}

// scheduleAnswer carries the steps out in order. The cluster keeps its new state if the request named it.
func (w *world) scheduleAnswer(req *request) (any, error) {
	seed := int64(0)
	w.sched.Extenders = nil
	if req.Seed != nil {
		seed = *req.Seed
		randomTies(w.sched)
	}
	rand.Seed(seed) //nolint:staticcheck // The scheduler breaks ties with the global source.
	steps := make([][]placement, 0, len(req.Ops))
	for i, step := range req.Ops {
		done, err := w.carryOut(step, req.Explain)
		if err != nil {
			return nil, fmt.Errorf("ops[%d] %s: %w", i, step.Op, err)
		}
		steps = append(steps, done)
	}
	answer := map[string]any{"steps": steps}
	if req.Assignments {
		answer["assignments"] = w.assignments()
	}
	return answer, nil
}

func (w *world) carryOut(step op, explain bool) ([]placement, error) {
	switch step.Op {
	case "place":
		pod, err := decodePod(step.Pod)
		if err != nil {
			return nil, err
		}
		if err := w.put(pod); err != nil {
			return nil, err
		}
		return w.placeAll([]*v1.Pod{pod}, explain)
	case "retry":
		return w.placeAll(w.pendingPods(), explain)
	case "evict", "delete_pod":
		return w.evict(step, explain)
	case "add_node":
		node := &v1.Node{}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(step.Node, node); err != nil {
			return nil, err
		}
		return []placement{}, w.put(node)
	case "cordon", "uncordon", "drain", "remove_node":
		return w.nodeStep(step, explain)
	}
	return nil, errors.New("unknown: place, evict, delete_pod, drain, retry, cordon, uncordon, remove_node, add_node")
}

func (w *world) nodeStep(step op, explain bool) ([]placement, error) {
	name, err := text(step.Node)
	if err != nil {
		return nil, err
	}
	item, exists, err := w.objects.of(&v1.Node{}).GetStore().GetByKey(name)
	if err != nil || !exists {
		return nil, fmt.Errorf("no node %q", name)
	}
	node := item.(*v1.Node)
	if step.Op == "remove_node" {
		return []placement{}, w.objects.of(node).remove(node)
	}
	if err := w.put(cordoned(node, step.Op != "uncordon")); err != nil || step.Op != "drain" {
		return []placement{}, err
	}
	evicted := []*v1.Pod{}
	for _, pod := range w.pods() {
		if pod.Spec.NodeName == name && evictable(pod) {
			evicted = append(evicted, pod)
		}
	}
	return w.replace(byPriority(evicted), explain)
}

// cordoned sets the field and the taint that the node lifecycle controller sets with it.
func cordoned(node *v1.Node, on bool) *v1.Node {
	node = node.DeepCopy()
	node.Spec.Unschedulable = on
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t v1.Taint) bool {
		return t.Key == v1.TaintNodeUnschedulable
	})
	if on {
		taint := v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}
		node.Spec.Taints = append(node.Spec.Taints, taint)
	}
	return node
}

// evictable leaves out what kubectl drain leaves on the node: pods of DaemonSets and mirror pods.
func evictable(pod *v1.Pod) bool {
	if _, mirror := pod.Annotations[v1.MirrorPodAnnotationKey]; mirror {
		return false
	}
	return !slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" })
}

// evict removes the pods of a step, all of them first, then places a fresh copy of each.
func (w *world) evict(step op, explain bool) ([]placement, error) {
	names := step.Pods
	if len(step.Pod) > 0 {
		name, err := text(step.Pod)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	pods := make([]*v1.Pod, 0, len(names))
	for _, name := range names {
		pod, err := w.podNamed(name)
		if err != nil {
			return nil, err
		}
		pods = append(pods, pod)
	}
	if step.Op == "evict" {
		return w.replace(pods, explain)
	}
	for _, pod := range pods {
		if err := w.removePod(pod); err != nil {
			return nil, err
		}
	}
	return []placement{}, nil
}

// replace does what a controller does after evictions: each pod goes, then a fresh one of the same name is scheduled.
func (w *world) replace(pods []*v1.Pod, explain bool) ([]placement, error) {
	for _, pod := range pods {
		if err := w.removePod(pod); err != nil {
			return nil, err
		}
	}
	fresh := make([]*v1.Pod, 0, len(pods))
	for _, pod := range pods {
		copied := unbound(pod)
		copied.UID = types.UID(fmt.Sprintf("%s+%d", strings.SplitN(string(pod.UID), "+", 2)[0], w.versions))
		if err := w.put(copied); err != nil {
			return nil, err
		}
		fresh = append(fresh, copied)
	}
	return w.placeAll(fresh, explain)
}

func (w *world) removePod(pod *v1.Pod) error {
	if state, ok := w.placed[pod.UID]; ok {
		w.profile(v1.DefaultSchedulerName).RunReservePluginsUnreserve(w.ctx, state, pod, pod.Spec.NodeName)
		delete(w.placed, pod.UID)
	}
	if err := w.objects.of(pod).remove(pod); err != nil {
		return err
	}
	return w.releaseClaims(pod)
}

// releaseClaims does the resource claim controller's work: a claim that nobody reserves any more is deallocated.
func (w *world) releaseClaims(pod *v1.Pod) error {
	informer := w.objects.of(&resourcev1.ResourceClaim{})
	if informer == nil || len(pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	for _, item := range informer.GetStore().List() {
		claim := item.(*resourcev1.ResourceClaim).DeepCopy()
		before := len(claim.Status.ReservedFor)
		claim.Status.ReservedFor = slices.DeleteFunc(claim.Status.ReservedFor, func(user resourcev1.ResourceClaimConsumerReference) bool {
			return user.UID == pod.UID
		})
		if len(claim.Status.ReservedFor) == before {
			continue
		}
		if len(claim.Status.ReservedFor) == 0 {
			claim.Status.Allocation = nil
		}
		if err := w.put(claim); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) placeAll(pods []*v1.Pod, explain bool) ([]placement, error) {
	done := make([]placement, 0, len(pods))
	for _, pod := range pods {
		one, err := w.place(pod, explain)
		if err != nil {
			return nil, err
		}
		done = append(done, one)
	}
	return done, nil
}

// place runs one scheduling cycle and binds. There is no preemption: PostFilter does not run.
func (w *world) place(pod *v1.Pod, explain bool) (placement, error) {
	out := placement{Pod: pod.Namespace + "/" + pod.Name}
	if err := w.snapshot(); err != nil {
		return out, err
	}
	profile := w.profile(v1.DefaultSchedulerName)
	state := framework.NewCycleState()
	host, err := schedule(w.ctx, w.sched, profile, state, pod)
	var misfit *framework.FitError
	switch {
	case errors.As(err, &misfit):
		out.Message = misfit.Error()
		if explain {
			passed, err := w.filter(profile, pod)
			if err != nil {
				return out, err
			}
			out.Rejected = passed.rejected
		}
		return out, nil
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		out.Message = err.Error()
		return out, nil
	case err != nil:
		return out, err
	}
	bound := pod.DeepCopy()
	bound.Spec.NodeName = host
	if status := profile.RunReservePluginsReserve(w.ctx, state, bound, host); !status.IsSuccess() {
		profile.RunReservePluginsUnreserve(w.ctx, state, bound, host)
		out.Message = status.Message()
		return out, nil
	}
	w.placed[bound.UID] = state
	bound.Status.Phase = v1.PodRunning
	out.Node = host
	return out, w.put(bound)
}

func (w *world) podNamed(name string) (*v1.Pod, error) {
	item, exists, err := w.objects.of(&v1.Pod{}).GetStore().GetByKey(name)
	if err != nil || !exists {
		return nil, fmt.Errorf("no unfinished pod %q (namespace/name)", name)
	}
	return item.(*v1.Pod), nil
}

func (w *world) pods() []*v1.Pod {
	pods := []*v1.Pod{}
	for _, item := range w.objects.of(&v1.Pod{}).GetStore().List() {
		pods = append(pods, item.(*v1.Pod))
	}
	return pods
}

func (w *world) pendingPods() []*v1.Pod {
	return byPriority(slices.DeleteFunc(w.pods(), func(p *v1.Pod) bool {
		return p.Spec.NodeName != "" || p.DeletionTimestamp != nil || len(p.Spec.SchedulingGates) > 0
	}))
}

// byPriority is the scheduling queue's order, names standing in for the time at which a pod was queued.
func byPriority(pods []*v1.Pod) []*v1.Pod {
	slices.SortFunc(pods, func(a, b *v1.Pod) int {
		return cmp.Or(
			cmp.Compare(corev1.PodPriority(b), corev1.PodPriority(a)),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return pods
}

func (w *world) assignments() map[string]string {
	where := map[string]string{}
	for _, pod := range w.pods() {
		where[pod.Namespace+"/"+pod.Name] = pod.Spec.NodeName
	}
	return where
}

func text(raw json.RawMessage) (string, error) {
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return "", fmt.Errorf("a name is wanted: %w", err)
	}
	return name, nil
}
