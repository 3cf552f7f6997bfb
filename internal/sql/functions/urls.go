package functions

import (
	"github.com/weirstream/weir/internal/sql/expr"
	sqltext "github.com/weirstream/weir/internal/sql/text"
	"github.com/weirstream/weir/types"
)

// urls are the functions on addresses, and those that ask what a text is.
func urls() []*expr.Function {
	asks := func(name, doc string, f func(s []byte) bool, number bool) *expr.Function {
		infer := func(s *expr.Site) (types.Type, error) {
			if len(s.Args) == 1 && s.Kind(0).IsNumeric() {
				return boolean.NotNull(), nil
			}
			return giving("t", always(boolean.NotNull()))(s)
		}
		return own(function(name, "string", name+"(s)", doc, infer, computing(func(r row) (bool, bool) {
			if r.null(0) {
				return false, true
			}
			if r.args[0].Offsets == nil {
				return number, true
			}
			return f(r.bytes(0)), true
		})))
	}
	return []*expr.Function{
		function("URL_ENCODE", "string", "URL_ENCODE(s)", "The text as a value of a form.", giving("t!", always(text)), appending(func(dst []byte, r row) ([]byte, bool) { return sqltext.URLEncode(dst, r.bytes(0)), true })),
		function("URL_DECODE", "string", "URL_DECODE(s)", "The text that is a value of a form.", giving("t!", always(text)), appending(func(dst []byte, r row) ([]byte, bool) { return sqltext.URLDecode(dst, r.bytes(0)) })),
		function("PARSE_URL", "string", "PARSE_URL(url, part[, key])", "A part of an address: HOST, PATH, QUERY, REF, PROTOCOL, AUTHORITY, FILE or USERINFO.", giving("tt?t", always(text)), appending(parseURL)),
		function("INET_ATON", "string", "INET_ATON(s)", "The number of an IPv4 address.", giving("t!", always(long)), computing(func(r row) (int64, bool) { return sqltext.InetAton(r.bytes(0)) })),
		function("INET_NTOA", "string", "INET_NTOA(n)", "The IPv4 address of a number.", giving("I!", always(text)), appending(func(dst []byte, r row) ([]byte, bool) { return sqltext.InetNtoa(dst, r.int(0)) })),
		asks("IS_ALPHA", "Whether all characters are letters.", sqltext.IsAlpha, false),
		asks("IS_DECIMAL", "Whether the text is a number.", sqltext.IsDecimal, true),
		asks("IS_DIGIT", "Whether all characters are digits.", sqltext.IsDigit, true),
	}
}

func parseURL(dst []byte, r row) ([]byte, bool) {
	var part string
	var ok bool
	if r.has(2) {
		part, ok = sqltext.ParseURLKey(r.bytes(0), r.bytes(1), r.bytes(2))
	} else {
		part, ok = sqltext.ParseURL(r.bytes(0), r.bytes(1))
	}
	return append(dst, part...), ok
}
