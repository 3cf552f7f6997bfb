package sqlclient

import (
	"fmt"
	"strings"
)

// banner greets a person.
const banner = `
 __      __    _        ___  ___  _
 \ \    / /__ (_)_ _   / __|/ _ \| |
  \ \/\/ / -_)| | '_|  \__ \ (_) | |__
   \_/\_/\___||_|_|    |___/\__\_\____|

        Welcome! Enter 'HELP;' to list all available commands. 'QUIT;' to exit.

`

const (
	prompt     = "Flink SQL> "
	morePrompt = "> "
)

// commands are what HELP tells of.
var commands = [][2]string{
	{"HELP", "Prints the available commands."},
	{"QUIT/EXIT", "Quits the SQL CLI client."},
	{"CLEAR", "Clears the current terminal."},
	{"SET", `Sets a session configuration property. Syntax: "SET '<key>'='<value>';". Use "SET;" for listing all properties.`},
	{"RESET", `Resets a session configuration property. Syntax: "RESET '<key>';". Use "RESET;" for reset all session properties.`},
	{"INSERT INTO", "Inserts the results of a SQL SELECT query into a declared table sink."},
	{"INSERT OVERWRITE", "Inserts the results of a SQL SELECT query into a declared table sink and overwrite existing data."},
	{"SELECT", "Executes a SQL SELECT query on the Flink cluster."},
	{"EXPLAIN", "Describes the execution plan of a query or table with the given name."},
	{"BEGIN STATEMENT SET", `Begins a statement set. Syntax: "BEGIN STATEMENT SET;"`},
	{"END", `Ends a statement set. Syntax: "END;"`},
}

// help is what HELP prints.
func help() string {
	var b strings.Builder
	b.WriteString("The following commands are available:\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "%-19s\t\t%s\n", c[0], c[1])
	}
	b.WriteString("\nHint: Make sure that a statement ends with \";\" for finalizing (multi-line) statements.\n" +
		"You can also type any Flink SQL statement, please visit https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/table/sql/overview/ for more details.\n")
	return b.String()
}

// onlyTableau refuses a result mode that needs a terminal.
const onlyTableau = "org.apache.flink.table.client.gateway.SqlExecutionException: In non-interactive mode, it only supports to use TABLEAU as value of " +
	"sql-client.execution.result-mode when execute query. Please add 'SET sql-client.execution.result-mode=TABLEAU;' in the sql file."

// The colours of messages.
const (
	infoColor  = "\x1b[34;1m"
	errorColor = "\x1b[31;1m"
	noColor    = "\x1b[0m"
)

func (c *Client) info(text string) { c.message(infoColor, "[INFO] "+text) }

func (c *Client) failed(text string) {
	c.message(errorColor, "[ERROR] Could not execute SQL statement. Reason:\n"+text)
}

func (c *Client) message(color, text string) {
	if c.Color {
		text = color + text + noColor
	}
	c.printf("%s\n", text)
}

func (c *Client) printf(format string, args ...any) {
	fmt.Fprintf(c.Out, format, args...)
}
