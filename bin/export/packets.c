/* SPDX-License-Identifier: MIT */
#include "export/packets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#if HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/files.h"
#include "base/memory.h"
#include "base/message.h"
#include "export/wire.h"

/* Readers want less than 512 KB in a packet. */
#define COMPRESS_BYTES 262144
#define FIELD_PACKET 1
#define FIELD_COMPRESSED 50

static void put_through(struct packets *packets, const void *bytes, size_t size)
{
	if (packets->text)
		text_put(packets->text, bytes, size);
	else if (fwrite(bytes, 1, size, packets->file) != size && !packets->error)
		packets->error = errno;
	packets->size += size;
}

bool packets_can_compress(void)
{
	return HAVE_ZLIB;
}

#if HAVE_ZLIB
static void compress_all(struct packets *packets)
{
	uLongf length = compressBound(packets->used);
	unsigned char *deflated = must(malloc(length));
	unsigned char inner[2 * VARINT_BYTES], outer[2 * VARINT_BYTES];
	size_t inner_size, outer_size;

	if (compress2(deflated, &length, packets->bytes, packets->used, Z_DEFAULT_COMPRESSION) != Z_OK)
		must(NULL);
	inner_size = put_length(inner, FIELD_COMPRESSED, length);
	outer_size = put_length(outer, FIELD_PACKET, inner_size + length);
	put_through(packets, outer, outer_size);
	put_through(packets, inner, inner_size);
	put_through(packets, deflated, length);
	free(deflated);
}
#else
static void compress_all(struct packets *packets)
{
	(void)packets;
}
#endif

bool packets_begin(struct packets *packets, struct text *text, bool compresses)
{
	*packets = (struct packets){.text = text, .compresses = compresses};
	if (text)
		return true;
	packets->file = tmpfile();
	if (!packets->file)
		message_error(errno, "temporary file");
	return packets->file != NULL;
}

void packets_put(struct packets *packets, const void *bytes, size_t size)
{
	if (!packets->compresses) {
		put_through(packets, bytes, size);
		return;
	}
	if (size > packets->room - packets->used) {
		packets->room = 2 * (packets->used + size);
		packets->bytes = must(realloc(packets->bytes, packets->room));
	}
	memcpy(packets->bytes + packets->used, bytes, size);
	packets->used += size;
}

void packets_end_packet(struct packets *packets)
{
	if (packets->used >= COMPRESS_BYTES)
		packets_flush(packets);
}

void packets_flush(struct packets *packets)
{
	if (packets->used > 0)
		compress_all(packets);
	packets->used = 0;
}

bool packets_copy(struct packets *packets, struct text *text)
{
	char bytes[OUTPUT_BYTES];
	uint64_t left = packets->size;
	size_t size;

	if (!packets->error && fseeko(packets->file, 0, SEEK_SET) != 0)
		packets->error = errno;
	while (!packets->error && left > 0 && (size = fread(bytes, 1, sizeof(bytes), packets->file)) > 0) {
		text_put(text, bytes, size);
		left -= size < left ? size : left;
	}
	if (!packets->error && left > 0)
		packets->error = EIO;
	if (packets->error)
		message_error(packets->error, "temporary file");
	return !packets->error;
}

void packets_free(struct packets *packets)
{
	if (packets->file)
		fclose(packets->file);
	free(packets->bytes);
}
