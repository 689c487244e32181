/* SPDX-License-Identifier: MIT */
#ifndef TXTRACE_TRACE_DEMANGLE_RUST_H
#define TXTRACE_TRACE_DEMANGLE_RUST_H

/*
 * Return the name in the source for a symbol of Rust's newer scheme (version 0), without hashes and lifetimes, as a
 * copy for the caller to free.  Return NULL if the symbol has another scheme, or parts that this function does not
 * know.
 */
char *demangle_rust(const char *symbol);

#endif
