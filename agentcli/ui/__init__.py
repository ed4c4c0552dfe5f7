"""Front ends.  They draw the event stream and answer questions; nothing below knows them."""
