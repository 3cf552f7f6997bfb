package text

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const hexUpper = "0123456789ABCDEF"

// URLEncode appends s as a value of application/x-www-form-urlencoded.
func URLEncode(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '*':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', hexUpper[c>>4], hexUpper[c&15])
		}
	}
	return dst
}

// URLDecode is the opposite of URLEncode; it has no answer if a % is not before two
// digits. Bytes that are no UTF-8 become the replacement character.
func URLDecode(dst, s []byte) ([]byte, bool) {
	from := len(dst)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			dst = append(dst, ' ')
		case '%':
			if i+2 >= len(s) || unhex(s[i+1]) < 0 || unhex(s[i+2]) < 0 {
				return dst[:from], false
			}
			dst = append(dst, byte(unhex(s[i+1])<<4|unhex(s[i+2])))
			i += 2
		default:
			dst = append(dst, s[i])
		}
	}
	if !utf8.Valid(dst[from:]) {
		dst = appendValid(dst[:from], bytes.Clone(dst[from:]))
	}
	return dst, true
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// protocols are those an address may have.
var protocols = map[string]bool{"http": true, "https": true, "ftp": true, "file": true, "jar": true, "mailto": true, "jrt": true, "jmod": true}

// address is what Java's URL makes of a text. has tells which of the parts that may be
// missing are there.
type address struct {
	protocol, authority, userInfo, host, path, query, ref string
	hasAuthority, hasUserInfo, hasQuery, hasRef           bool
}

// parseAddress splits an address; not every text is one.
func parseAddress(s string) (a address, ok bool) {
	s = strings.Trim(s, " \t\n\r\f\v\x00")
	i := strings.IndexAny(s, ":/")
	if i < 0 || s[i] != ':' {
		return a, false
	}
	a.protocol = strings.ToLower(s[:i])
	if !protocols[a.protocol] {
		return a, false
	}
	s = s[i+1:]
	s, a.ref, a.hasRef = strings.Cut(s, "#")
	s, a.query, a.hasQuery = strings.Cut(s, "?")
	if rest, found := strings.CutPrefix(s, "//"); found {
		a.hasAuthority = true
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			a.authority, s = rest[:i], rest[i:]
		} else {
			a.authority, s = rest, ""
		}
		if !a.splitAuthority() {
			return a, false
		}
	}
	a.path = s
	return a, true
}

func (a *address) splitAuthority() bool {
	a.host = a.authority
	if i := strings.IndexByte(a.host, '@'); i >= 0 && i == strings.LastIndexByte(a.host, '@') {
		a.userInfo, a.host, a.hasUserInfo = a.host[:i], a.host[i+1:], true
	} else if i >= 0 {
		a.host = ""
	}
	if strings.HasPrefix(a.host, "[") {
		end := strings.IndexByte(a.host, ']')
		if end < 2 {
			return false
		}
		if rest := a.host[end+1:]; rest != "" && !validPort(rest) {
			return false
		}
		a.host = a.host[:end+1]
		return true
	}
	if i := strings.IndexByte(a.host, ':'); i >= 0 {
		if !validPort(a.host[i:]) {
			return false
		}
		a.host = a.host[:i]
	}
	return true
}

// validPort reports whether s is a colon with digits or nothing behind.
func validPort(s string) bool {
	return s[0] == ':' && strings.Trim(s[1:], "0123456789") == "" && len(s) < 11
}

// ParseURL is a part of an address: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or
// USERINFO. What is no address, or has no such part, gives no answer.
func ParseURL(s, part []byte) (string, bool) {
	a, ok := parseAddress(string(s))
	if !ok {
		return "", false
	}
	switch string(part) {
	case "HOST":
		return a.host, true
	case "PATH":
		return a.path, true
	case "QUERY":
		return a.query, a.hasQuery
	case "REF":
		return a.ref, a.hasRef
	case "PROTOCOL":
		return a.protocol, true
	case "FILE":
		if a.hasQuery {
			return a.path + "?" + a.query, true
		}
		return a.path, true
	case "AUTHORITY":
		return a.authority, a.hasAuthority
	case "USERINFO":
		return a.userInfo, a.hasUserInfo
	}
	return "", false
}

// ParseURLKey is the value of a key of an address's QUERY, as it is written.
func ParseURLKey(s, part, key []byte) (string, bool) {
	query, ok := ParseURL(s, part)
	if !ok || string(part) != "QUERY" {
		return "", false
	}
	for pair := range strings.SplitSeq(query, "&") {
		if value, ok := strings.CutPrefix(pair, string(key)+"="); ok {
			return value, true
		}
	}
	return "", false
}
