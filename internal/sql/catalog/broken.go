package catalog

// broken is a catalog that cannot be opened: whatever is asked of it, it says why.
type broken struct{ why error }

// Databases says why.
func (b broken) Databases() ([]string, error) { return nil, b.why }

// Database says why.
func (b broken) Database(string) (*Database, error) { return nil, b.why }

// PutDatabase says why.
func (b broken) PutDatabase(string, *Database) error { return b.why }

// DropDatabase says why.
func (b broken) DropDatabase(string) error { return b.why }

// Tables says why.
func (b broken) Tables(string) ([]string, error) { return nil, b.why }

// Table says why.
func (b broken) Table(string, string) (*Table, error) { return nil, b.why }

// PutTable says why.
func (b broken) PutTable(string, string, *Table) error { return b.why }

// DropTable says why.
func (b broken) DropTable(string, string) error { return b.why }

// Functions says why.
func (b broken) Functions(string) ([]string, error) { return nil, b.why }

// Function says why.
func (b broken) Function(string, string) (*Function, error) { return nil, b.why }

// PutFunction says why.
func (b broken) PutFunction(string, string, *Function) error { return b.why }

// DropFunction says why.
func (b broken) DropFunction(string, string) error { return b.why }
