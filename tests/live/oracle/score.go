package main

import (
	v1 "k8s.io/api/core/v1"
)

type pluginScore struct {
	Normalized int64 `json:"normalized"`
	Weight     int64 `json:"weight"`
	Weighted   int64 `json:"weighted"`
}

type nodeScore struct {
	Total   int64                  `json:"total"`
	Plugins map[string]pluginScore `json:"plugins"`
}

// scoreAnswer scores every node that passes Filter. A plugin that has nothing to say about the pod is skipped by the
// scheduler and absent here: it would add the same to every node.
func (w *world) scoreAnswer(pod *v1.Pod) (any, error) {
	profile := w.profile(v1.DefaultSchedulerName)
	passed, err := w.filter(profile, pod)
	if err != nil {
		return nil, err
	}
	weights := map[string]int64{}
	for _, p := range profile.ListPlugins().Score.Enabled {
		weights[p.Name] = int64(p.Weight)
	}
	nodes := map[string]nodeScore{}
	answer := map[string]any{"nodes": nodes, "rejected": passed.rejected}
	if len(passed.feasible) == 0 {
		return answer, nil
	}
	if status := profile.RunPreScorePlugins(w.ctx, passed.state, pod, passed.feasible); !status.IsSuccess() {
		return nil, status.AsError()
	}
	scores, status := profile.RunScorePlugins(w.ctx, passed.state, pod, passed.feasible)
	if !status.IsSuccess() {
		return nil, status.AsError()
	}
	for _, node := range scores {
		plugins := map[string]pluginScore{}
		for _, s := range node.Scores {
			plugins[s.Name] = pluginScore{s.Score / weights[s.Name], weights[s.Name], s.Score}
		}
		nodes[node.Name] = nodeScore{node.TotalScore, plugins}
	}
	return answer, nil
}
