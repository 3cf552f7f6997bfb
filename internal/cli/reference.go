package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/config"
)

// docs/reference/configuration.md is what `weir config reference` prints.
//
//go:generate sh -c "go run github.com/weirstream/weir/cmd/weir config reference > ../../docs/reference/configuration.md"

func (p *invocation) configReference() *cobra.Command {
	return &cobra.Command{
		Use: "reference", Short: "Print the reference of all options, as Markdown", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(p.out, reference())
			return err
		},
	}
}

const referenceBegin = `# Configuration reference

This page is generated from the declarations in package ` + "`config`" + ` by ` + "`make docs`" + `. The keys are Flink's, with Flink's units and
defaults; our own begin with ` + "`weir.`" + `. Nested and flat keys mean the same. ` + "`weir config explain KEY`" + ` says the same of one key, and what
it is set to; ` + "`weir config check FILE`" + ` reports everything that is wrong with a file.

A later source wins: the default, ` + "`config.yaml`" + `, the environment variable ` + "`WEIR_PROPERTIES`" + ` (lines of ` + "`key: value`" + `), ` + "`-D key=value`" + `.

## When a change takes effect

| takes effect | which means |
|---|---|
| now | with the next command, which reads the configuration itself |
| now (SIGHUP) | when a running process gets the signal SIGHUP: ` + "`kill -HUP PID`" + `, with the pid from ` + "`weir cluster status`" + ` |
| with the next job | ` + "`weir run`" + ` reads the configuration for each job and sends these settings along; a job that is submitted otherwise takes those its JobManager started with |
| after a restart of the process | the process that reads it, JobManager or TaskManager, has to be started again |

## Options

`

// reference is the page of all options.
func reference() string {
	var b strings.Builder
	b.WriteString(referenceBegin)
	var effective, inert []config.Info
	for _, o := range config.Options() {
		if o.NoEffect == "" {
			effective = append(effective, o)
		} else {
			inert = append(inert, o)
		}
	}
	slices.SortStableFunc(effective, func(x, y config.Info) int { return cmp.Compare(groupOf(x.Key), groupOf(y.Key)) })
	for i, o := range effective {
		group := groupOf(o.Key)
		if i == 0 || groupOf(effective[i-1].Key) != group {
			fmt.Fprintf(&b, "### %s\n\n| key | type, default | takes effect | meaning |\n|---|---|---|---|\n", group)
		}
		fmt.Fprintf(&b, "| `%s` | %s, %s | %s | %s |\n", o.Key, o.Type, code(o.Default), o.Effect, meaning(o))
		if i+1 < len(effective) && groupOf(effective[i+1].Key) != group {
			b.WriteString("\n")
		}
	}
	b.WriteString("\n## Options that are accepted and have no effect here\n\nA file written for Flink loads. What these keys ask for is not done, because:\n\n")
	writeReasons(&b, inert)
	return b.String()
}

// groupOf is the first word of a key; keys of one word stand together.
func groupOf(key string) string {
	group, _, below := strings.Cut(key, ".")
	if !below {
		return "others"
	}
	return group
}

func code(text string) string {
	if text == "(none)" || text == "" {
		return "none"
	}
	return "`" + strings.ReplaceAll(text, "|", "\\|") + "`"
}

func meaning(o config.Info) string {
	text := strings.ReplaceAll(o.Doc, "|", "\\|")
	if strings.HasPrefix(o.Forms, "one of ") {
		text += " O" + o.Forms[1:] + "."
	}
	if len(o.FallbackKeys) > 0 {
		text += " Where it is not set, " + names(o.FallbackKeys, " or else ") + " holds."
	}
	switch len(o.OldKeys) {
	case 0:
	case 1:
		text += " Old name: " + names(o.OldKeys, "") + "."
	default:
		text += " Old names: " + names(o.OldKeys, ", ") + "."
	}
	return text
}

func names(keys []string, between string) string {
	quoted := make([]string, len(keys))
	for i, k := range keys {
		quoted[i] = "`" + k + "`"
	}
	return strings.Join(quoted, between)
}

// writeReasons lists keys by the reason why they do nothing, in the order of
// their first keys.
func writeReasons(b *strings.Builder, inert []config.Info) {
	byReason := config.WithoutEffect()
	for _, o := range inert {
		byReason[o.NoEffect] = append(byReason[o.NoEffect], o.Key)
	}
	reasons := slices.Collect(maps.Keys(byReason))
	for _, keys := range byReason { // order: each is sorted for itself
		slices.Sort(keys)
	}
	slices.SortFunc(reasons, func(x, y string) int { return cmp.Compare(byReason[x][0], byReason[y][0]) })
	for _, why := range reasons {
		fmt.Fprintf(b, "* %s: %s\n", why, names(byReason[why], ", "))
	}
}
