"""JavaScript and TypeScript, JSX and TSX among them: one walk over two grammars."""
