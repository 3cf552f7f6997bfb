package rest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"io"
	"io/fs"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/weirstream/weir/internal/metrics"
)

// An answer is what a handler gives for a request that succeeds.
type answer struct {
	status int
	body   any     // written as JSON
	file   fs.File // or its content, as text; closed once written
	octets []byte  // or as it is; nil: not
}

func ok(body any) (answer, error) { return answer{status: http.StatusOK, body: body}, nil }

func accepted() (answer, error) { return answer{status: http.StatusAccepted, body: empty{}}, nil }

// empty is the body of an answer that says no more than its status.
type empty struct{}

const jsonType = "application/json; charset=UTF-8"

var jsonOptions = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true))

// encode gives the text of a body.
func encode(body any) ([]byte, error) { return json.Marshal(body, jsonOptions) }

func (s *Server) write(w http.ResponseWriter, r *http.Request, a answer) {
	if a.file != nil {
		s.writeFile(w, r, a.file)
		return
	}
	if a.octets != nil {
		write(w, a.status, "application/octet-stream", a.octets)
		return
	}
	text, err := encode(a.body)
	if err != nil {
		s.writeFailure(w, s.failureOf(r, err))
		return
	}
	writeJSON(w, a.status, text)
}

// errorBody is the body of an answer that refuses.
type errorBody struct {
	Errors []string `json:"errors"`
}

// writeFailure writes the errors. One without a text is written with no body
// at all.
func (s *Server) writeFailure(w http.ResponseWriter, f *failure) {
	if len(f.lines) == 0 {
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(f.status)
		return
	}
	texts := []string{f.Error()}
	if f.status == http.StatusInternalServerError {
		texts = f.lines
	}
	text, err := encode(errorBody{texts})
	if err != nil { // strings can always be written
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	writeJSON(w, f.status, text)
}

func writeJSON(w http.ResponseWriter, status int, text []byte) { write(w, status, jsonType, text) }

func write(w http.ResponseWriter, status int, contentType string, text []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client is gone, and there is nobody to tell
}

// writeFile writes the file as it is now; what is added meanwhile is left out.
func (s *Server) writeFile(w http.ResponseWriter, r *http.Request, file fs.File) {
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		s.writeFailure(w, s.failureOf(r, err))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.CopyN(w, file, info.Size()); err != nil {
		s.Logger.Debug("log file not sent to its end", "path", r.URL.Path, "error", err)
	}
}

// double is a number that Flink writes with a fraction, as Java does, and as the
// string NaN when it is none.
type double float64

func (d double) MarshalJSONTo(e *jsontext.Encoder) error {
	text := metrics.FormatDouble(float64(d))
	if math.IsNaN(float64(d)) || math.IsInf(float64(d), 0) {
		return e.WriteToken(jsontext.String(text))
	}
	return e.WriteValue(jsontext.Value(text))
}

// millis is a time as Flink writes it; -1: not yet.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return -1
	}
	return t.UnixMilli()
}

// stamp is a time in one of Flink's maps of timestamps; 0: never.
func stamp(t time.Time) int64 { return max(millis(t), 0) }
