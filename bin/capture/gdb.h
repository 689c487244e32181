/* SPDX-License-Identifier: MIT */
/*
 * A client of gdb's remote protocol, which reads memory.  On the other side is a stub: gdbserver, QEMU, or the server
 * of a debug probe.
 *
 * The stub is not trusted: it may send anything, or nothing.  Each wait has a limit, and each reply a largest size.
 * After a fault, `fault` says what happened, and all functions fail.
 */
#ifndef TXTRACE_CAPTURE_GDB_H
#define TXTRACE_CAPTURE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GDB_PACKET_MAX 16384

struct gdb {
	int fd; /* -1: not open */
	int timeout_ms;
	size_t packet_max; /* of the stub */
	bool needs_no_ack;
	bool can_non_stop, is_non_stop;
	bool can_auxv;
	bool is_running; /* the target */
	bool has_ended;	 /* the target has */
	char fault[160]; /* empty: none */
	size_t in_from, in_end;
	unsigned char in[4096];
	size_t length; /* of the last reply */
	char reply[GDB_PACKET_MAX + 1];
};

/* Connect to HOST:PORT.  After a failure, print a message and return false. */
bool gdb_open(struct gdb *gdb, const char *address, int timeout_ms);

/* Begin with a connection in fd, which the structure then owns.  Return false after a fault. */
bool gdb_begin(struct gdb *gdb, int fd, int timeout_ms);

/* Let the target run on if it should, and close the connection. */
void gdb_close(struct gdb *gdb);

/* Read memory.  Return the number of bytes; fewer than size: gdb->fault says why. */
size_t gdb_read(struct gdb *gdb, uint64_t address, void *to, size_t size);

/* Stop the target, or let it run.  Return false after a fault, or if the target has ended. */
bool gdb_halt(struct gdb *gdb);
bool gdb_continue(struct gdb *gdb);

/* Let the target run, in a way in which its memory can be read meanwhile, if the stub has one. */
bool gdb_continue_live(struct gdb *gdb);

/* Find an entry of the auxiliary vector of a Linux program with words of this size.  Return false if there is none. */
bool gdb_auxv(struct gdb *gdb, uint64_t type, size_t word_size, bool is_big, uint64_t *value);

#endif
