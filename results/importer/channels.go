package importer

import (
	"strings"

	"serialtiming/results"
)

// channel is one stream of a file while it is read.
type channel struct {
	Channel
	aliases []string
	marks   results.Flags // line errors that would be marked in it
	taken   bool          // Options allow it; whether it is the one, Source decides
}

// channels knows the streams of one file. Looking up the one that was seen
// last costs one comparison.
type channels struct {
	asked string
	all   []*channel
	index map[string]*channel
	last  *channel
	full  *channel // takes what comes beyond the limit
}

// More names than this are no channels but a column of something else.
const (
	maxChannels    = 1000
	maxChannelName = 1000 // bytes
)

func newChannels(asked string) *channels {
	return &channels{asked: asked, index: map[string]*channel{}}
}

// get finds a channel by the bytes of its name, or makes it.
func (c *channels) get(name []byte) *channel {
	if c.last != nil && c.last.Name == string(name) {
		return c.last
	}
	ch := c.index[string(name)]
	if ch == nil {
		ch = c.add(string(name), false)
	}
	c.last = ch
	return ch
}

// add makes a channel, or gives the one of that name.
func (c *channels) add(name string, listed bool, aliases ...string) *channel {
	if ch := c.index[name]; ch != nil {
		return ch
	}
	if len(c.all) >= maxChannels || len(name) > maxChannelName {
		return c.overflow()
	}
	ch := &channel{Channel: Channel{Name: name, Listed: listed}, aliases: aliases}
	ch.taken = c.matches(ch)
	c.index[name] = ch
	c.all = append(c.all, ch)
	return ch
}

func (c *channels) overflow() *channel {
	if c.full == nil {
		c.full = &channel{Channel: Channel{Name: "(more)", Listed: true}}
		c.all = append(c.all, c.full)
	}
	return c.full
}

func (c *channels) matches(ch *channel) bool {
	if c.asked == "" {
		return !ch.Listed
	}
	if strings.EqualFold(ch.Name, c.asked) {
		return true
	}
	for _, a := range ch.aliases {
		if strings.EqualFold(a, c.asked) {
			return true
		}
	}
	return false
}

func (c *channels) list() []Channel {
	out := make([]Channel, 0, len(c.all))
	for _, ch := range c.all {
		out = append(out, ch.Channel)
	}
	return out
}
