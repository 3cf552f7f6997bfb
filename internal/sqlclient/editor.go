package sqlclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/reeflective/readline"

	"github.com/weirstream/weir/internal/sql/parse"
)

// Interactive carries out what a person types, until they have had enough. A statement
// that fails does not end it.
func (c *Client) Interactive(ctx context.Context) error {
	c.printf("%sCommand history file path: %s\n\n", banner, c.History)
	shell := readline.NewShell()
	tells, already := tellsCursor(c.Terminal, c.Out)
	if err := shell.Config.Set("cursor-position-probe", tells); err != nil {
		return fmt.Errorf("configure the line editor: %w", err)
	}
	shell.Keys.Feed(false, []rune(already)...)
	shell.Prompt.Primary(func() string { return prompt })
	shell.Prompt.Secondary(func() string { return morePrompt })
	shell.AcceptMultiline = func(line []rune) bool { return typed(string(line)) }
	shell.Completer = func(line []rune, cursor int) readline.Completions { return c.complete(ctx, line, cursor) }
	if c.Color {
		shell.SyntaxHighlighter = func(line []rune) string { return highlight(string(line)) }
	}
	if c.History != "" {
		shell.History.AddFromFile("statements", c.History)
	}
	for ctx.Err() == nil {
		text, err := shell.Readline()
		switch {
		case errors.Is(err, readline.ErrInterrupt):
			continue // it empties the line
		case errors.Is(err, io.EOF):
			c.printf("\n")
			return nil
		case err != nil:
			return fmt.Errorf("read from the terminal: %w", err)
		}
		if errors.Is(c.typed(ctx, text), errQuit) {
			return nil
		}
	}
	return ctx.Err()
}

// typed reports whether what was typed can be carried out: it ends a statement, or is a
// word that needs no end.
func typed(text string) bool {
	switch strings.ToUpper(bare(text)) {
	case "QUIT", "EXIT", "HELP", "CLEAR":
		return true
	}
	return complete(text)
}

// typed carries out what was typed at once.
func (c *Client) typed(ctx context.Context, text string) error {
	for _, p := range parse.Split(text) {
		c.printf("\n")
		err := c.run(ctx, p.Text)
		if errors.Is(err, errQuit) {
			return err
		}
		c.printf("\n")
		if err != nil {
			return err // what was typed behind it may depend on it
		}
	}
	return nil
}

// Pipe carries out statements as they come, up to the first that fails, which it returns
// as a Failed.
func (c *Client) Pipe(ctx context.Context, in io.Reader) error {
	lines := bufio.NewReader(in)
	text, first := "", 1
	for {
		line, err := lines.ReadString('\n')
		text += line
		switch {
		case errors.Is(err, io.EOF):
			return c.lastPart(ctx, text, first)
		case err != nil:
			return fmt.Errorf("read statements: %w", err)
		case strings.TrimSpace(text) == "" || !typed(text):
			continue
		}
		if err := c.part(ctx, text, first); errors.Is(err, errQuit) {
			return nil
		} else if err != nil {
			return err
		}
		text, first = "", first+strings.Count(text, "\n")
	}
}

// completeTimeout bounds how long a person waits for completions.
const completeTimeout = 2 * time.Second

// complete asks the gateway what may stand where the cursor is.
func (c *Client) complete(ctx context.Context, line []rune, cursor int) readline.Completions {
	ctx, cancel := context.WithTimeout(ctx, completeTimeout)
	defer cancel()
	text := string(line[:cursor])
	candidates, err := c.Gateway.Complete(ctx, text+string(line[cursor:]), len(text))
	if err != nil {
		return readline.CompleteMessage("no completions: %s", err)
	}
	prefix := lastName(text)
	var fitting []string
	for _, candidate := range candidates {
		if len(candidate) >= len(prefix) && strings.EqualFold(candidate[:len(prefix)], prefix) {
			fitting = append(fitting, candidate)
		}
	}
	all := readline.CompleteValues(fitting...)
	all.PREFIX = prefix
	return all
}

// lastName is the name, with what qualifies it, that a text ends in.
func lastName(text string) string {
	i := len(text)
	for i > 0 && (isWord(text[i-1]) || text[i-1] == '.' || text[i-1] == '`') {
		i--
	}
	return text[i:]
}
