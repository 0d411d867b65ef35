"""C and C++: one walk over two grammars; headers are read as C++."""
