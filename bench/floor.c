/* SPDX-License-Identifier: MIT */
#include "floor.h"

__attribute__((visibility("default"))) void bench_floor_empty(unsigned int id, const void *data,
							      size_t length)
{
	(void)id, (void)data, (void)length;
}

__attribute__((visibility("default"))) uint64_t bench_floor_stamp(unsigned int id, const void *data,
								  size_t length)
{
	(void)id, (void)data, (void)length;
	return bench_counter();
}
