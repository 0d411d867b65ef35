# see below; completed later
