/* SPDX-License-Identifier: MIT */
/* Names of C++ and Rust as the programmer wrote them. */
#ifndef TXTRACE_TRACE_DEMANGLE_H
#define TXTRACE_TRACE_DEMANGLE_H

/*
 * Return the name for a symbol: "bank::vault" for "_ZN4bank5vaultE".  Symbols of C, symbols of Rust's newer scheme
 * (_R...), and all symbols if the library of C++ is missing, stay as they are.  A version such as "@GLIBC_2.2.5" is
 * left out.  Free the result with free().
 */
char *demangle(const char *symbol);

#endif
