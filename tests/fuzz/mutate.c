/* SPDX-License-Identifier: MIT */
/*
 * mutate NR FILE...: open each file NR times with a few bytes changed at random, as tests/fuzz/open.c opens files.  The
 * changes are the same each time.  Half of them have the check sums of the frames renewed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST (1 << 20)
#define CHANGES_MOST 6
#define HEAD_BYTES 2048 /* half of the changes are in the first bytes: headers, and the commit of a short log */

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static uint64_t state = 0x9E3779B97F4A7C15;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void change(uint8_t *bytes, size_t size)
{
	static const uint8_t edges[] = {0, 1, 0x7F, 0x80, 0xFF};
	size_t room = next() % 2 && size > HEAD_BYTES ? HEAD_BYTES : size;

	for (uint64_t nr = 1 + next() % CHANGES_MOST; nr > 0; nr--) {
		size_t at = next() % room;

		bytes[at] = next() % 2 ? edges[next() % sizeof(edges)] : (uint8_t)next();
	}
}

int main(int argc, char **argv)
{
	static uint8_t whole[SIZE_MOST], changed[1 + SIZE_MOST];
	unsigned long rounds = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;

	for (int i = 2; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		size_t size = file ? fread(whole, 1, sizeof(whole), file) : 0;

		if (size == 0) {
			fprintf(stderr, "mutate: cannot read %s\n", argv[i]);
			return 2;
		}
		fclose(file);
		for (unsigned long round = 0; round < rounds; round++) {
			changed[0] = round % 2 ? 2 : 0;
			memcpy(changed + 1, whole, size);
			if (round > 1)
				change(changed + 1, size);
			LLVMFuzzerTestOneInput(changed, 1 + size);
		}
	}
	return 0;
}
