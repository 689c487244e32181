/* SPDX-License-Identifier: MIT */
/*
 * Bytes in sequence: of a file, of a pipe, of a part of another stream, or of compressed data (input/unpack.h).  A
 * stream uses a fixed amount of memory.
 *
 * A fault of the data does not end the program: the stream ends there, and `fault` says why.
 */
#ifndef TXTRACE_INPUT_STREAM_H
#define TXTRACE_INPUT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_PEEK 1024

struct stream {
	/* Read up to size bytes.  0: the end, or a fault. */
	size_t (*pull)(struct stream *stream, void *to, size_t size);
	void (*close)(struct stream *stream);
	struct stream *below; /* the stream from which pull() reads; NULL: a descriptor */
	int fd;
	bool is_seekable;   /* stream_seek() can go back */
	uint64_t begin;	    /* the position in `below`, or in the file, at which this stream begins */
	uint64_t size;	    /* the stream ends there; UINT64_MAX: where `below` ends */
	uint64_t position;  /* of the next byte that stream_read() returns */
	const char *fault;  /* why the stream ended early, or NULL */
	int error;	    /* the error number of a read that failed, or 0 */
	void *unpacker;	    /* input/unpack.c */
	size_t nr_peeked, peeked_from;
	unsigned char peeked[STREAM_PEEK];
};

/* Open a file; "-" is standard input.  After a failure, print a message and return false. */
bool stream_open(struct stream *stream, const char *path);

/* Open the next `size` bytes of another stream.  Nobody may use that stream until this one is closed. */
void stream_open_part(struct stream *stream, struct stream *below, uint64_t size);

/* Close the stream, but not the stream below it. */
void stream_close(struct stream *stream);

/* Read until there are size bytes or the stream ends.  Return the number of bytes. */
size_t stream_read(struct stream *stream, void *to, size_t size);

/* Look at the next bytes, at most STREAM_PEEK, without taking them.  *bytes stays valid until the next call. */
size_t stream_peek(struct stream *stream, const unsigned char **bytes);

/*
 * Go to a position.  A stream that is not seekable reads the bytes before it, and cannot go back.  Return false if the
 * stream cannot go there or ends before.
 */
bool stream_seek(struct stream *stream, uint64_t position);

/* Return the number of bytes of a stream that is seekable, or UINT64_MAX if it is unknown. */
uint64_t stream_length(const struct stream *stream);

#endif
