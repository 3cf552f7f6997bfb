package sqlclient

import "strings"

// keywords are the words that are shown as such.
var keywords = func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq(`ADD ALL ALTER ANALYZE AND ANTI ARRAY AS ASC BEGIN BETWEEN BY CALL CASE CAST CATALOG CATALOGS CHECK COLUMNS
		COMMENT COMPILE CONSTRAINT CREATE CROSS CUBE CURRENT DATABASE DATABASES DELETE DESC DESCRIBE DISTINCT DROP ELSE END ENFORCED ESCAPE EXCEPT
		EXECUTE EXISTS EXPLAIN EXTENDED FALSE FETCH FILTER FIRST FOLLOWING FOR FROM FULL FUNCTION FUNCTIONS GROUP GROUPING HAVING IF IN INNER INSERT
		INTERSECT INTERVAL INTO IS JOBS JOIN KEY LAST LATERAL LEFT LIKE LIMIT LOAD MAP MATCH_RECOGNIZE MODULE MODULES NATURAL NOT NULL NULLS OF OFFSET
		ON OR ORDER OUTER OVER OVERWRITE PARTITION PARTITIONED PARTITIONS PLAN PRECEDING PRIMARY RANGE RENAME REPLACE RESET RIGHT ROLLUP ROW ROWS
		SELECT SEMI SET SETS SHOW STATEMENT STOP SYSTEM TABLE TABLES TABLESAMPLE TEMPORARY THEN TO TRUE TRUNCATE TRY_CAST UNION UNIQUE UNLOAD UNNEST
		UPDATE USE USING VALUES VIEW VIEWS WATERMARK WHEN WHERE WINDOW WITH WITHIN WITHOUT`) {
		all[w] = true
	}
	return all
}()

// The colours of what a person types.
const (
	keywordColor = "\x1b[1;34m"
	stringColor  = "\x1b[32m"
	commentColor = "\x1b[90m"
)

// highlight puts colours into a text. It changes nothing else.
func highlight(text string) string {
	var b strings.Builder
	l := lexer{text: text}
	for {
		t, ok := l.next()
		if !ok {
			return b.String()
		}
		part, color := text[t.start:t.end], ""
		switch {
		case t.kind == word && keywords[strings.ToUpper(part)]:
			color = keywordColor
		case part[0] == '\'':
			color = stringColor
		case t.kind == comment || t.kind == unfinished && part[0] == '/':
			color = commentColor
		}
		if color == "" {
			b.WriteString(part)
			continue
		}
		b.WriteString(color + part + noColor)
	}
}
