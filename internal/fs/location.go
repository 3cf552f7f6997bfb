package fs

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
)

// A Location names a file or a directory of a file system: "file:/data/chk-1/a",
// "mem:/a". It is canonical: it has a scheme, its path begins with a slash, and
// has neither empty elements nor "." nor "..". The zero Location names nothing.
type Location string

// Parse reads a location as people write it: a path, which is one of the local
// file system, or a URL: file:/a, file:///a, file://localhost/a, mem:/a,
// s3://bucket/a.
func Parse(text string) (Location, error) {
	bad := func(why string) (Location, error) { return "", fmt.Errorf("location %q: %s", text, why) }
	if text == "" {
		return bad("is empty")
	}
	if strings.HasPrefix(text, "/") {
		return Location("file:" + path.Clean(text)), nil
	}
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !schemeLike(scheme) {
		return bad("want an absolute path, or a URL such as file:///data/checkpoints")
	}
	scheme = strings.ToLower(scheme)
	authority := ""
	if strings.HasPrefix(rest, "//") {
		authority, rest, _ = strings.Cut(rest[2:], "/")
		rest = "/" + rest
	}
	switch {
	case scheme == "file" && authority != "" && authority != "localhost":
		return bad("names the host " + authority + "; a file: URL has none, as in file:///data/checkpoints")
	case !strings.HasPrefix(rest, "/"):
		return bad("its path is not absolute")
	case strings.ContainsRune(rest, 0):
		return bad("its path has a zero byte")
	}
	if unescaped, err := url.PathUnescape(rest); err == nil && scheme == "file" {
		rest = unescaped
	}
	rest = path.Clean(rest)
	if scheme != "file" && authority != "" {
		return Location(scheme + "://" + authority + rest), nil
	}
	return Location(scheme + ":" + rest), nil
}

// schemeLike reports whether text is a scheme and not the beginning of a path.
func schemeLike(text string) bool {
	for i, r := range text {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || !('0' <= r && r <= '9' || r == '+' || r == '-' || r == '.')) {
			return false
		}
	}
	return text != ""
}

// Scheme is the part before the first colon.
func (l Location) Scheme() string {
	scheme, _, _ := strings.Cut(string(l), ":")
	return scheme
}

// Path is the location within its file system, which begins with a slash.
func (l Location) Path() string {
	_, rest, _ := strings.Cut(string(l), ":")
	if strings.HasPrefix(rest, "//") {
		if slash := strings.IndexByte(rest[2:], '/'); slash >= 0 {
			return rest[2+slash:]
		}
		return "/"
	}
	return rest
}

// Join gives what elements name below the location. It panics on no element;
// one that would lead out of the location stays in it.
func (l Location) Join(elements ...string) Location {
	base := string(l)
	for _, e := range elements {
		base = strings.TrimSuffix(base, "/") + path.Clean("/"+e)
	}
	return Location(base)
}

// Parent is the directory the location is in; that of a root is the root.
func (l Location) Parent() Location {
	p := l.Path()
	return Location(strings.TrimSuffix(string(l), p) + path.Dir(p))
}

// Base is the last element of the path.
func (l Location) Base() string { return path.Base(l.Path()) }

// Under gives the path from dir to the location, and whether it lies below it.
func (l Location) Under(dir Location) (string, bool) {
	rest, ok := strings.CutPrefix(string(l), strings.TrimSuffix(string(dir), "/")+"/")
	return rest, ok && rest != ""
}

func (l Location) String() string { return string(l) }

// errNoLocation is the misuse of a zero Location.
var errNoLocation = errors.New("no location is given")
