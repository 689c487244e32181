#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints preload/wrappers.def with its comments, without the rows that are not for this machine. In the build directory.
printf '#include "config.h"\n#include "wrappers.def"\n' | ${CC:-cc} -E -P -C -I. -I"${srcdir:-.}/preload" -x c -
