/* SPDX-License-Identifier: MIT */
/* The script that loads a trace into ClickHouse.  The build makes load.c of load.sh. */
#ifndef TXTRACE_EXPORT_CLICKHOUSE_LOAD_H
#define TXTRACE_EXPORT_CLICKHOUSE_LOAD_H

#include <stddef.h>

extern const unsigned char clickhouse_load[];
extern const size_t clickhouse_load_size;

#endif
