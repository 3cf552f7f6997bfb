package sqlgateway

import (
	"encoding/json/v2"

	"github.com/weirstream/weir/internal/sqlgateway/wire"
)

// info says what the server is. Clients read the product as Flink's.
func (s *Server) info(*request) ([]byte, error) {
	dst := wire.AppendText([]byte(`{"productName":"Apache Flink","version":`), s.Version)
	return append(dst, '}'), nil
}

func apiVersions(*request) ([]byte, error) {
	return []byte(`{"versions":["V1","V2","V3","V4"]}`), nil
}

// openSession begins a session.
func (s *Server) openSession(r *request) ([]byte, error) {
	var body struct {
		SessionName string            `json:"sessionName"`
		Properties  map[string]string `json:"properties"`
	}
	if err := r.decode(&body); err != nil {
		return nil, err
	}
	handle, err := s.clients.begin(r.Context(), body.SessionName, body.Properties)
	if err != nil {
		const what = gatewayException + "Failed to openSession."
		return nil, serverFailed(append([]string{what}, lines(err)...)...)
	}
	return field("sessionHandle", handle), nil
}

// sessionSettings gives all keys and values of a session.
func (s *Server) sessionSettings(r *request) ([]byte, error) {
	c, err := s.client(r, "Failed to getSessionConfig.")
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]map[string]string{"properties": c.session.Settings()}, json.Deterministic(true))
}

// heartbeat keeps a session from being idle.
func (s *Server) heartbeat(r *request) ([]byte, error) {
	if _, err := s.client(r, "Failed to getSessionConfig."); err != nil {
		return nil, err
	}
	return []byte("{}"), nil
}

func (s *Server) closeSession(r *request) ([]byte, error) {
	const what = "Failed to closeSession."
	handle, err := r.handle("session_handle")
	if err != nil {
		return nil, err
	}
	found, err := s.clients.close(handle)
	switch {
	case !found:
		return nil, noSession(r, what, handle)
	case err != nil:
		return nil, handlerFailed(what, lines(err)...)
	}
	return field("status", closed), nil
}
