/* SPDX-License-Identifier: MIT */
#include "base/program.h"

#include <string.h>
#include <sys/auxv.h>

uint32_t px_program_number(void)
{
	uint64_t random[2] = {0}, hash;
	const void *bytes = (const void *)getauxval(AT_RANDOM);

	if (bytes)
		memcpy(random, bytes, sizeof(random));
	hash = (random[0] ^ (random[1] << 29 | random[1] >> 35)) * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ hash >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
	return bytes ? (uint32_t)(hash >> 32) | 1 : 0;
}
