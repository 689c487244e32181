/* SPDX-License-Identifier: MIT */
#include "input/unpack.h"

#include <stdlib.h>
#include <string.h>
#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_LZMA
#include <lzma.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/memory.h"

#define IN_BYTES 65536
#define LZMA_MEMORY (UINT64_C(256) << 20)

#define FAULT_DATA "its compressed data are damaged"
#define FAULT_END "its compressed data end early"

enum kind { KIND_NONE, KIND_GZIP, KIND_XZ, KIND_ZSTD };

struct unpacker {
	enum kind kind;
	const struct stream *file;
	uint64_t ratio;
	bool is_between; /* the data may end here */
	bool is_done;
#if HAVE_ZLIB
	z_stream gzip;
#endif
#if HAVE_LZMA
	lzma_stream xz;
#endif
#if HAVE_ZSTD
	ZSTD_DStream *zstd;
#endif
	size_t from, size; /* bytes of `in` that are not unpacked yet */
	unsigned char in[IN_BYTES];
};

static enum kind kind_of(const unsigned char *bytes, size_t size)
{
	if (size >= 4 && memcmp(bytes, "\x1F\x8B\x08", 3) == 0)
		return KIND_GZIP;
	if (size >= 6 && memcmp(bytes, "\xFD" "7zXZ", 6) == 0)
		return KIND_XZ;
	return size >= 4 && memcmp(bytes, "\x28\xB5\x2F\xFD", 4) == 0 ? KIND_ZSTD : KIND_NONE;
}

const char *unpack_kind(const unsigned char *bytes, size_t size)
{
	static const char *const names[] = {NULL, "gzip", "xz", "zstd"};

	return names[kind_of(bytes, size)];
}

/* Each of these functions unpacks what is in `in`, and returns the number of bytes that it wrote to `to`. */

#if HAVE_ZLIB
static size_t unpack_gzip(struct stream *stream, struct unpacker *unpacker, void *to, size_t size)
{
	z_stream *gzip = &unpacker->gzip;
	int result;

	/* A file may have several parts, and zeros after the last. */
	if (unpacker->is_between) {
		if (unpacker->size == 0 || unpacker->in[unpacker->from] != 0x1F) {
			unpacker->is_done = true;
			return 0;
		}
		inflateReset(gzip);
		unpacker->is_between = false;
	}
	gzip->next_in = unpacker->in + unpacker->from;
	gzip->avail_in = (uInt)unpacker->size;
	gzip->next_out = to;
	gzip->avail_out = (uInt)size;
	result = inflate(gzip, Z_NO_FLUSH);
	unpacker->from += unpacker->size - gzip->avail_in;
	unpacker->size = gzip->avail_in;
	unpacker->is_between = result == Z_STREAM_END;
	if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
		stream->fault = FAULT_DATA;
	return size - gzip->avail_out;
}
#endif

#if HAVE_LZMA
static size_t unpack_xz(struct stream *stream, struct unpacker *unpacker, void *to, size_t size)
{
	lzma_stream *xz = &unpacker->xz;
	lzma_ret result;

	xz->next_in = unpacker->in + unpacker->from;
	xz->avail_in = unpacker->size;
	xz->next_out = to;
	xz->avail_out = size;
	result = lzma_code(xz, unpacker->size == 0 ? LZMA_FINISH : LZMA_RUN);
	unpacker->from += unpacker->size - xz->avail_in;
	unpacker->size = xz->avail_in;
	unpacker->is_done = unpacker->is_between = result == LZMA_STREAM_END;
	if (result == LZMA_MEMLIMIT_ERROR)
		stream->fault = "it needs more than 256 MiB of memory to unpack";
	else if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR)
		stream->fault = FAULT_DATA;
	return size - xz->avail_out;
}
#endif

#if HAVE_ZSTD
static size_t unpack_zstd(struct stream *stream, struct unpacker *unpacker, void *to, size_t size)
{
	ZSTD_inBuffer in = {unpacker->in + unpacker->from, unpacker->size, 0};
	ZSTD_outBuffer out = {to, size, 0};
	size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);

	unpacker->from += in.pos;
	unpacker->size -= in.pos;
	/* Without progress it repeats that it needs more input, also directly after a frame. */
	if (in.pos > 0 || out.pos > 0)
		unpacker->is_between = result == 0;
	if (ZSTD_isError(result))
		stream->fault = FAULT_DATA;
	return out.pos;
}
#endif

static size_t unpack_some(struct stream *stream, struct unpacker *unpacker, void *to, size_t size)
{
	switch (unpacker->kind) {
#if HAVE_ZLIB
	case KIND_GZIP:
		return unpack_gzip(stream, unpacker, to, size);
#endif
#if HAVE_LZMA
	case KIND_XZ:
		return unpack_xz(stream, unpacker, to, size);
#endif
#if HAVE_ZSTD
	case KIND_ZSTD:
		return unpack_zstd(stream, unpacker, to, size);
#endif
	default:
		return 0;
	}
}

static bool is_bomb(const struct stream *stream, const struct unpacker *unpacker)
{
	uint64_t file = unpacker->file->position;

	return stream->position > UNPACK_FREE && stream->position / unpacker->ratio > file;
}

static size_t pull_unpacked(struct stream *stream, void *to, size_t size)
{
	struct unpacker *unpacker = stream->unpacker;
	size_t n = 0;

	if (is_bomb(stream, unpacker)) {
		stream->fault = "it unpacks to far more than memory would (txtrace extract --ratio sets the limit)";
		return 0;
	}
	if (size > 1u << 20)
		size = 1u << 20;
	while (n == 0 && !unpacker->is_done && !stream->fault) {
		bool is_end = false;

		if (unpacker->size == 0) {
			unpacker->from = 0;
			unpacker->size = stream_read(stream->below, unpacker->in, IN_BYTES);
			is_end = unpacker->size == 0;
		}
		n = unpack_some(stream, unpacker, to, size);
		if (is_end && n == 0) {
			unpacker->is_done = true;
			if (!unpacker->is_between && !stream->fault)
				stream->fault = stream->below->fault ? stream->below->fault : FAULT_END;
		}
	}
	return n;
}

static void close_unpacked(struct stream *stream)
{
	struct unpacker *unpacker = stream->unpacker;

#if HAVE_ZLIB
	if (unpacker->kind == KIND_GZIP)
		inflateEnd(&unpacker->gzip);
#endif
#if HAVE_LZMA
	if (unpacker->kind == KIND_XZ)
		lzma_end(&unpacker->xz);
#endif
#if HAVE_ZSTD
	if (unpacker->kind == KIND_ZSTD)
		ZSTD_freeDStream(unpacker->zstd);
#endif
	free(unpacker);
}

/* Return NULL, or why this kind cannot be unpacked. */
static const char *begin(struct unpacker *unpacker)
{
	switch (unpacker->kind) {
#if HAVE_ZLIB
	case KIND_GZIP:
		return inflateInit2(&unpacker->gzip, 15 + 16) == Z_OK ? NULL : "no memory to unpack it";
#endif
#if HAVE_LZMA
	case KIND_XZ:
		return lzma_stream_decoder(&unpacker->xz, LZMA_MEMORY, LZMA_CONCATENATED) == LZMA_OK ?
			       NULL :
			       "no memory to unpack it";
#endif
#if HAVE_ZSTD
	case KIND_ZSTD:
		unpacker->zstd = ZSTD_createDStream();
		return unpacker->zstd ? NULL : "no memory to unpack it";
#endif
	default:
		return "txtrace was built without the library that unpacks it";
	}
}

bool unpack_open(struct stream *stream, struct stream *below, const struct stream *file, uint64_t ratio,
		 const char **fault)
{
	struct unpacker *unpacker = must(calloc(1, sizeof(*unpacker)));
	const unsigned char *bytes;
	size_t size = stream_peek(below, &bytes);

	unpacker->kind = kind_of(bytes, size);
	unpacker->file = file;
	unpacker->ratio = ratio;
	*fault = begin(unpacker);
	if (*fault) {
		free(unpacker);
		return false;
	}
	memset(stream, 0, sizeof(*stream));
	stream->pull = pull_unpacked;
	stream->close = close_unpacked;
	stream->below = below;
	stream->fd = -1;
	stream->size = UINT64_MAX;
	stream->unpacker = unpacker;
	return true;
}
