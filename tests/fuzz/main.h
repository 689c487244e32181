/* SPDX-License-Identifier: MIT */
/*
 * The main function of a fuzz target: for AFL++, and, without a fuzzer, for files named on the command line.  libFuzzer
 * has its own.  The target includes this after LLVMFuzzerTestOneInput(), defines INPUT_MAX, and defines use_input(),
 * which gets each file.
 */
#ifndef PX_TESTS_FUZZ_MAIN_H
#define PX_TESTS_FUZZ_MAIN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined __AFL_FUZZ_TESTCASE_LEN
__AFL_FUZZ_INIT();

int main(void)
{
	unsigned char *input = __AFL_FUZZ_TESTCASE_BUF;

	while (__AFL_LOOP(UINT_MAX))
		LLVMFuzzerTestOneInput(input, (size_t)__AFL_FUZZ_TESTCASE_LEN);
	return 0;
}
#elif !defined FUZZ_WITH_LIBFUZZER
static void use_input(uint8_t *input, size_t size);

int main(int argc, char **argv)
{
	static uint8_t input[INPUT_MAX];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		size_t size;

		if (!file) {
			perror(argv[i]);
			exit(1);
		}
		size = fread(input, 1, sizeof(input), file);
		fclose(file);
		use_input(input, size);
	}
	printf("%d inputs, none of which did any harm\n", argc - 1);
	return 0;
}
#endif

#endif
