/* SPDX-License-Identifier: MIT */
#include "support/sparse.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/common.h"

struct px_test_extents px_test_find_extents(int fd, uint64_t size)
{
	struct px_test_extents extents = {.nr = 0};
	off_t at = 0, length = (off_t)size;

	while (at < length && (at = lseek(fd, at, SEEK_DATA)) >= 0 && at < length) {
		off_t end = lseek(fd, at, SEEK_HOLE);

		if (end <= at || end > length) /* it has changed meanwhile */
			end = length;
		extents.data = realloc(extents.data, (extents.nr + 1) * sizeof(*extents.data));
		ck_assert_ptr_nonnull(extents.data);
		extents.data[extents.nr++] = (struct px_test_extent){at, end};
		at = end;
	}
	return extents;
}

unsigned char *px_test_copy_extents(int fd, uint64_t size, const struct px_test_extents *extents)
{
	unsigned char *bytes = calloc(1, size);

	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < extents->nr; i++) {
		off_t at = extents->data[i].begin, end = extents->data[i].end;

		while (at < end) {
			ssize_t got = pread(fd, bytes + at, (size_t)(end - at), at);

			ck_assert_msg(got >= 0, "cannot read the file");
			if (got == 0) {
				free(bytes);
				return NULL;
			}
			at += got;
		}
	}
	return bytes;
}

static bool equal_extents(const struct px_test_extents *a, const struct px_test_extents *b)
{
	return a->nr == b->nr && (a->nr == 0 || memcmp(a->data, b->data, a->nr * sizeof(*a->data)) == 0);
}

bool px_test_is_copy(const unsigned char *bytes, int fd, uint64_t size, const struct px_test_extents *extents)
{
	static unsigned char piece[1 << 16];
	struct px_test_extents now = px_test_find_extents(fd, px_test_file_size(fd));
	bool is_equal = px_test_file_size(fd) == size && equal_extents(&now, extents);

	free(now.data);
	for (size_t i = 0; is_equal && i < extents->nr; i++) {
		off_t at = extents->data[i].begin, end = extents->data[i].end;

		while (is_equal && at < end) {
			size_t wanted = end - at < (off_t)sizeof(piece) ? (size_t)(end - at) : sizeof(piece);
			ssize_t got = pread(fd, piece, wanted, at);

			ck_assert_msg(got >= 0, "cannot read the file");
			is_equal = got > 0 && memcmp(bytes + at, piece, (size_t)got) == 0;
			at += got;
		}
	}
	return is_equal;
}

void px_test_put_extents(int fd, const unsigned char *bytes, uint64_t size, const struct px_test_extents *extents)
{
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	for (size_t i = 0; i < extents->nr; i++) {
		const struct px_test_extent *data = &extents->data[i];
		size_t length = (size_t)(data->end - data->begin);

		ck_assert_int_eq(pwrite(fd, bytes + data->begin, length, data->begin), (ssize_t)length);
	}
}
