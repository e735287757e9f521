package importer

// tableFlags says whether an option is given that makes a file a table.
func (o Options) tableFlags() bool { return o.TimeColumn > 0 || o.TimeUnit != "" || o.Deltas }

// refuses gives the flag of the first option given that a format has no use
// for, "" when there is none. openTable itself judges the sample rate.
func (im *importer) refuses(o Options) string {
	switch {
	case im.Name == tableName:
		return ""
	case o.TimeUnit != "":
		return "--time-unit"
	case o.TimeColumn > 0:
		return "--time-column"
	case o.Deltas && im.Class != ClassLine:
		return "--deltas"
	case o.SampleRate > 0 && im.Name != "sigrok":
		return "--samplerate"
	}
	return ""
}

const tableName = "table"

// orTable gives the format that is meant when the options of a table are given
// and the head looks like found, nil for none: the table where it can be one.
// A bare stamp at the beginning of a line (ts) is a table's first column too,
// unless text follows it; a dressed one is not. Lines may hold differences.
func orTable(in *input, found *importer) *importer {
	table := lookup(tableName)
	switch {
	case found == nil:
		return table
	case found.Name == "ts":
		if found.refuses(in.opt) == "" && textBehind(in) {
			return found
		}
		return table
	case found.Class == ClassLine && found.refuses(in.opt) == "":
		return found
	}
	if _, why := planTable(in.head, in.opt); why != "" {
		return found
	}
	return table
}

// textBehind says whether what follows the times is text and no character.
func textBehind(in *input) bool {
	p, why := planTable(in.head, in.opt)
	if why != "" || p.value >= 0 {
		return false
	}
	for _, row := range tableRows(in.head) {
		if len(p.cutText(row)) > 1 {
			return true
		}
	}
	return false
}
