package cli

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/weirstream/weir/config"
)

// configuration explains options and checks files of them.
func (p *invocation) configuration() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Explain an option, or check a configuration file",
		Args: noArguments, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(p.configExplain(), p.configCheck(), p.configReference())
	return c
}

// explained is what `config explain --json` prints.
type explained struct {
	Key     string            `json:"key"`
	Options []explainedOption `json:"options"`
	// Current is the present name of an old one that nothing here reads.
	Current string `json:"currentName,omitempty"`
	User    bool   `json:"userKey"`
	// Effect is false when nothing comes of the key; Why says why.
	Effect bool   `json:"hasEffect"`
	Why    string `json:"why,omitempty"`
}

type explainedOption struct {
	Key          string            `json:"key"`
	Meaning      string            `json:"meaning"`
	Type         string            `json:"type"`
	Forms        string            `json:"forms"`
	Default      string            `json:"default"`
	TakesEffect  string            `json:"takesEffect"`
	OldNames     []string          `json:"oldNames"`
	FallbackKeys []string          `json:"fallbackKeys"`
	Set          *explainedSetting `json:"set,omitempty"` // absent: at its default
}

type explainedSetting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Why    string `json:"whyNoEffect,omitempty"`
}

func (p *invocation) configExplain() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "explain KEY", Short: "Tell what an option means, its default, and when a change takes effect",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("config explain: got %d arguments, want one KEY, such as taskmanager.numberOfTaskSlots", len(args))
			}
			e, err := config.Explain(args[0])
			if unknown, ok := errors.AsType[*config.Error](err); ok {
				return &exit{code: exitConfig, err: errors.New(unknown.Problems[0].String())}
			}
			// A configuration that is refused cannot tell what the option is set
			// to; what the option means does not depend on it.
			cfg, refused := p.config()
			if asJSON {
				return p.json(explanation(e, cfg))
			}
			p.printExplanation(e, cfg)
			if refused != nil {
				fmt.Fprintf(p.err, "What it is set to cannot be told: %v\n", refused)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func explanation(e config.Explanation, cfg *config.Config) explained {
	x := explained{Key: e.Key, Options: []explainedOption{}, Current: e.Current, User: e.User, Effect: e.Why == "", Why: e.Why}
	for _, o := range e.Options {
		option := explainedOption{
			Key: o.Key, Meaning: o.Doc, Type: o.Type, Forms: o.Forms, Default: o.Default, TakesEffect: o.Effect.String(),
			OldNames: o.OldKeys, FallbackKeys: o.FallbackKeys,
		}
		if s, set := cfg.Setting(o.Key); set {
			option.Set = &explainedSetting{s.Name, s.Value, s.Origin, s.Why}
		}
		x.Options = append(x.Options, option)
	}
	return x
}

const acceptedInVain = "accepted, no effect here, because "

func (p *invocation) printExplanation(e config.Explanation, cfg *config.Config) {
	switch {
	case e.User:
		fmt.Fprintf(p.out, "%s\n  An option of your own program, which reads it; nothing else does.\n", e.Key)
	case len(e.Options) == 0 && e.Current != "":
		fmt.Fprintf(p.out, "%s\n  The old name of %s, an option of Flink's: %s%s.\n", e.Key, e.Current, acceptedInVain, e.Why)
	case len(e.Options) == 0:
		fmt.Fprintf(p.out, "%s\n  An option of Flink's: %s%s.\n", e.Key, acceptedInVain, e.Why)
	}
	for _, o := range e.Options {
		p.printOption(e.Key, o, cfg)
	}
}

func (p *invocation) printOption(asked string, o config.Info, cfg *config.Config) {
	fmt.Fprintln(p.out, o.Key)
	if strings.HasPrefix(asked, o.Key+".") {
		fmt.Fprintf(p.out, "  %s is one entry of it.\n", asked)
	} else if asked != o.Key {
		fmt.Fprintf(p.out, "  %s is an old name of it.\n", asked)
	}
	fmt.Fprintf(p.out, "  %s\n", o.Doc)
	table := tabwriter.NewWriter(p.out, 0, 4, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(table, "  %s\t%s\n", name, text) }
	row("type", o.Type+": "+o.Forms)
	row("default", o.Default)
	effect := o.Effect.String()
	if o.NoEffect != "" {
		effect = "never: " + acceptedInVain + o.NoEffect
	}
	if s, set := cfg.Setting(o.Key); set {
		row("set to", settingText(o, s))
		if s.Why != "" && o.NoEffect == "" {
			effect = "never with this value: " + acceptedInVain + s.Why
		}
	}
	row("takes effect", effect)
	if len(o.OldKeys) > 0 {
		row("old names", strings.Join(o.OldKeys, ", "))
	}
	if len(o.FallbackKeys) > 0 {
		row("if not set", strings.Join(o.FallbackKeys, ", else ")+" holds")
	}
	table.Flush()
}

// settingText says what an option is set to and where.
func settingText(o config.Info, s config.Setting) string {
	text := s.Value
	if s.Origin != "" {
		text += "  (" + s.Origin + ")"
	}
	if s.Name != o.Key {
		text += "  as " + s.Name
	}
	return text
}

func (p *invocation) configCheck() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check FILE", Short: "Report everything that is wrong with a configuration file",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("config check: got %d arguments, want one FILE, such as %s", len(args), "conf/config.yaml")
			}
			cfg, err := config.Check(args[0], p.dynamic)
			if asJSON {
				return p.checkedJSON(args[0], cfg, err)
			}
			if err != nil {
				return err
			}
			p.printChecked(args[0], cfg)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func (p *invocation) printChecked(file string, cfg *config.Config) {
	fmt.Fprintf(p.out, "%s: no problems.\n", file)
	ignored := cfg.Ignored()
	if len(ignored) == 0 {
		return
	}
	fmt.Fprintf(p.out, "Settings without effect: %d\n", len(ignored))
	for _, i := range ignored {
		fmt.Fprintf(p.out, "  %s: %s%s\n", i.Key, acceptedInVain, i.Why)
	}
}

// checkedJSON prints what is wrong as JSON, and gives the exit code it means.
func (p *invocation) checkedJSON(file string, cfg *config.Config, err error) error {
	type problem struct {
		Origin string `json:"origin"`
		Key    string `json:"key"`
		Value  string `json:"value"`
		What   string `json:"what"`
		Fix    string `json:"fix"`
	}
	type ignored struct {
		Key string `json:"key"`
		Why string `json:"why"`
	}
	told := struct {
		File     string    `json:"file"`
		Problems []problem `json:"problems"`
		Ignored  []ignored `json:"ignored"`
	}{file, []problem{}, []ignored{}}
	refused, isRefused := errors.AsType[*config.Error](err)
	if isRefused {
		for _, x := range refused.Problems {
			told.Problems = append(told.Problems, problem{x.Origin, x.Key, x.Value, x.What, x.Fix})
		}
	}
	for _, x := range cfg.Ignored() {
		told.Ignored = append(told.Ignored, ignored{x.Key, x.Why})
	}
	if err := p.json(told); err != nil {
		return err
	}
	if isRefused {
		return &exit{code: exitConfig}
	}
	return nil
}
