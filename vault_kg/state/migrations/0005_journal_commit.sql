-- What a commit holds is asked for by its id: the vault as it stood then, marks, and what a pull brings.

CREATE INDEX journal_commit ON journal (commit_id) WHERE commit_id IS NOT NULL;
