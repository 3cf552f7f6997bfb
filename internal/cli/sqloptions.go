package cli

import (
	"slices"
	"strings"
)

// sqlOptions are the arguments of `weir sql`, which has Flink's options.
type sqlOptions struct {
	gateway  bool
	endpoint string
	file     string
	init     string
	history  string
	session  string
	dynamic  []string // -D
	help     bool
	version  bool
}

// The options of `weir sql` by all their names. Those with a value take it from the next
// argument, or after an equals sign.
var (
	sqlValues = map[string]string{
		"-e": "endpoint", "--endpoint": "endpoint", "-f": "file", "--file": "file", "-i": "init", "--init": "init", "-hist": "history", "--history": "history",
		"-s": "session", "--session": "session", "-D": "dynamic", "--define": "dynamic", "--config-dir": "config", "-m": "manager", "--jobmanager": "manager",
	}
	sqlFlags = map[string]string{"-h": "help", "--help": "help", "-v": "version", "--version": "version"}
	// sqlRefused are Flink's options for which there is nothing here, and why.
	sqlRefused = map[string]string{
		"-j": noJars, "--jar": noJars, "-l": noJars, "--library": noJars,
		"-pyarch": noPython, "--pyArchives": noPython, "-pyclientexec": noPython, "--pyClientExecutable": noPython, "-pyexec": noPython, "--pyExecutable": noPython,
		"-pyfs": noPython, "--pyFiles": noPython, "-pypath": noPython, "--pyPythonPath": noPython, "-pyreq": noPython, "--pyRequirements": noPython,
	}
)

const (
	noJars   = "a JAR holds code for a Java virtual machine, and there is none here; connectors and formats are built in"
	noPython = "functions in Python cannot be called in this version; functions are written in Go"
)

const sqlHelp = `weir sql [MODE] [OPTIONS]

The following options are available:

Mode "embedded" (default) submits jobs from the local machine.

  Syntax: [embedded] [OPTIONS]

Mode "gateway" connects to an SQL gateway. It is chosen by -e, too.

  Syntax: gateway [OPTIONS]

Options of both modes:
     -D <key=val>                          A setting of the session; may be repeated.
     -f,--file <script file>               Carry out the statements of a file, up to
                                           the first that fails.
     -h,--help                             Show this text.
     -hist,--history <file>                The file with the statements that were typed.
     -i,--init <file>                      A file with statements that prepare the
                                           session; no query and no INSERT.
     -s,--session <identifier>             What the session is called.
     -v,--version                          Show the version.
Options of the mode "gateway":
     -e,--endpoint <host:port>             The address of the SQL gateway.

Statements are read from the terminal, from -f or from standard input.
`

// parseSQL reads the arguments of `weir sql`. p gets what is every verb's.
func (p *invocation) parseSQL(args []string) (sqlOptions, error) {
	o := sqlOptions{session: "default"}
	into := map[string]*string{"endpoint": &o.endpoint, "file": &o.file, "init": &o.init, "history": &o.history, "session": &o.session, "config": &p.dir, "manager": &p.manager}
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, value, given := strings.Cut(a, "=")
		if rest, ok := strings.CutPrefix(a, "-D"); ok && rest != "" {
			name, value, given = "-D", rest, true
		}
		switch {
		case sqlRefused[name] != "":
			return o, usage("weir sql %s: %s.", name, sqlRefused[name])
		case sqlFlags[a] == "help":
			o.help = true
		case sqlFlags[a] == "version":
			o.version = true
		case sqlValues[name] != "":
			if !given {
				if i++; i == len(args) {
					return o, usage("Missing argument for option: %s", strings.TrimLeft(name, "-"))
				}
				value = args[i]
			}
			if sqlValues[name] == "dynamic" {
				o.dynamic = append(o.dynamic, value)
			} else {
				*into[sqlValues[name]] = value
			}
		case i == 0 && slices.Contains([]string{"embedded", "gateway"}, a):
			o.gateway = a == "gateway"
		default:
			return o, usage("weir sql: %q is neither a mode nor an option.\n\n%s", a, sqlHelp)
		}
	}
	switch {
	case o.help, o.version:
	case o.gateway && o.endpoint == "":
		return o, usage("Please specify the address of the SQL Gateway with command line option '-e,--endpoint <SQL Gateway address>' in the gateway mode.")
	case o.endpoint != "":
		o.gateway = true
	}
	return o, nil
}
