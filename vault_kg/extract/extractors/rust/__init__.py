"""Rust: functions, types and their `impl` blocks, traits, inline modules and `use`."""
